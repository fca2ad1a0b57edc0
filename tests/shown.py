"""Programs of a few lines, run with either library: what they ``show``, what they meet and are warned of."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest


def shown_by(program: str, library: Any) -> list[Any]:
    """What ``program`` shows with ``library`` as ``T``, and the type and first words of the errors it meets.

    It calls ``show`` with values, ``refused`` with a function that is to raise and its arguments, and may go
    through what it was ``warned`` of.
    """
    shown: list[Any] = []

    def show(*values: Any) -> None:
        shown.extend(map(plain, values))

    def refused(function: Any, *arguments: Any) -> None:
        with pytest.raises(Exception) as caught:
            function(*arguments)
        kind = next(kind.__name__ for kind in caught.type.__mro__ if kind.__module__ == "builtins")
        shown.append((kind, str(caught.value).split(":")[0].split(" (")[0][:40]))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        class Warned:
            def __iter__(self) -> Iterator[Any]:
                return iter([(one.category.__name__, str(one.message)[:50]) for one in caught])

        exec(textwrap.dedent(program), {"T": library, "show": show, "refused": refused, "warned": Warned()})
    return shown


def plain(value: Any) -> Any:
    """A value of either library in one form."""
    if hasattr(value, "detach"):
        rounded = np.round(value.detach().numpy().astype(float), 10)
        return (str(value.dtype), tuple(value.shape), value.requires_grad, rounded.tolist())
    return [plain(one) for one in value] if isinstance(value, tuple | list) else value
