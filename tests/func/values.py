"""The values that the programs of these tests compute with, in either library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def values(T: Any) -> SimpleNamespace:
    """A library ``T``, its transforms ``F`` and ``C``, vectors, a matrix, a number, and a leaf ``w``."""

    def t(*rows: Any) -> Any:
        return T.tensor(rows, dtype=T.float64)

    import importlib

    return SimpleNamespace(
        T=T,
        F=importlib.import_module(f"{T.__name__}.func"),
        C=T.autograd.functional,
        t=t,
        x=t(1.0, -2.0, 0.5),
        y=t(0.3, 1.0, -1.0),
        A=t((1.0, 2.0, -1.0), (0.5, -1.0, 3.0)),
        s=T.tensor(0.7, dtype=T.float64),
        w=T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True),
    )
