"""Short programs run by autokit and by PyTorch: what they show, and which errors they meet."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from tests.support import require

START = """
F, C = T.func, T.autograd.functional
def t(*rows): return T.tensor(rows, dtype=T.float64)
x, y = t(1.0, -2.0, 0.5), t(0.3, 1.0, -1.0)
A = t((1.0, 2.0, -1.0), (0.5, -1.0, 3.0))
s = T.tensor(0.7, dtype=T.float64)
w = T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True)
"""
"""What each program begins with; ``T`` is the library."""


def plain(value: Any) -> Any:
    """A value of either library in one form."""
    if hasattr(value, "detach"):
        rounded = np.round(value.detach().numpy().astype(float), 8 if value.itemsize == 8 else 4) + 0.0
        return (str(value.dtype), tuple(value.shape), value.requires_grad, rounded.tolist())
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, tuple | list) else value


def run(program: str, library: Any) -> list[Any]:
    """What ``program`` shows, and the types of the errors it meets."""
    shown: list[Any] = []

    def refused(function: Any, *arguments: Any, **more: Any) -> None:
        with pytest.raises(Exception) as caught:
            function(*arguments, **more)
        shown.append(caught.type.__name__)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {"T": library, "show": lambda *values: shown.extend(map(plain, values)), "refused": refused}
        exec(START + program, names)
    return shown


def assert_same(program: str) -> None:
    """``program`` shows something, and the same with PyTorch."""
    require("torch")
    import torch

    expected = run(program, torch)
    assert expected and run(program, autokit) == expected
