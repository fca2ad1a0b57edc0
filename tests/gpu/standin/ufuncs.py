"""Which dtypes a ufunc of CuPy computes in, and returns: its own table decides, not NumPy's.

CuPy takes the first row of the table that the operands fit into.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tests.gpu.standin.notes import NAMES

_KEYWORDS = {"out", "dtype", "casting", "where"}
_STANDING = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_NUMBERS = {bool: ("b", bool), int: ("i", np.int64), float: ("f", np.float64), complex: ("c", np.complex128)}
_REFUSED = {
    "subtract": "cupy boolean subtract, the `-` operator, is deprecated",
    "negative": "The cupy boolean negative, the `-` operator, is not supported",
    "gcd": "gcd cannot be computed with boolean arrays",
}
"""What CuPy's table has a row for, and CuPy refuses of bools all the same."""


_QUOTIENTS = {
    "floor_divide": lambda a, b: np.floor(a / b),
    "remainder": lambda a, b: a - np.floor(a / b) * b,
}
"""How CuPy computes of floats, where NumPy looks at what is left over."""


def keywords_of_ufunc(name: str, keywords: dict[str, Any]) -> None:
    """Raise for what CuPy's ufuncs do not take."""
    if not keywords.keys() <= _KEYWORDS:
        raise TypeError(f"cupy.{name} takes no {keywords.keys() - _KEYWORDS}")


def applied(ufunc: Any, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """``ufunc`` of arrays and numbers, in the dtypes that CuPy computes it in."""
    rows = NAMES["cupy.ufunc"].get(ufunc.__name__)
    with np.errstate(all="ignore"):
        if rows is None or keywords.get("dtype") is not None or len(inputs) != ufunc.nin:
            return ufunc(*inputs, **keywords)
        taken, given = _row(rows, tuple(map(_standing_of, inputs)), ufunc.__name__)
        typed = [np.asarray(each, kind) for each, kind in zip(inputs, taken)]
        if set(taken) == {"?"} and ufunc.__name__ in _REFUSED:
            raise TypeError(_REFUSED[ufunc.__name__])
        if set(taken) == {"?"} and ufunc is np.positive:
            return typed[0].copy()
        compute = _QUOTIENTS.get(ufunc.__name__, ufunc) if given[0] in "efd" else ufunc
        if "out" in keywords and compute is ufunc:
            return ufunc(*typed, **keywords)
        made = compute(*typed) if compute is not ufunc else ufunc(*typed, **keywords)
        if "out" in keywords:
            keywords["out"][0][...] = made
            return keywords["out"][0]
        if isinstance(made, tuple):
            return tuple([np.asarray(each, kind) for each, kind in zip(made, given)])
        return np.asarray(made, given[0])


def _standing_of(value: Any) -> Any:
    """A Python number's type, which yields to arrays; of all else the dtype."""
    return value.__class__ if value.__class__ in _NUMBERS else np.asarray(value).dtype


@lru_cache(maxsize=4096)
def _row(rows: str, operands: tuple[Any, ...], name: str) -> tuple[str, str]:
    """The first row that fits, as the dtypes that it takes and gives."""
    of_arrays = [_STANDING.get(each.kind, 2) for each in operands if isinstance(each, np.dtype)]
    numbers = [each for each in operands if not isinstance(each, np.dtype)]
    highest = max([_STANDING[_NUMBERS[each][0]] for each in numbers], default=0)
    yields = bool(of_arrays) and highest <= max(of_arrays)
    for row in rows.split():
        taken, given = row.split(">")
        if all(_fits(each, np.dtype(kind), yields) for each, kind in zip(operands, taken)):
            return taken, given
    raise TypeError(f"Wrong type ({tuple(operands)}) of arguments for cupy_{name}")


def _fits(operand: Any, kind: np.dtype, yields: bool) -> bool:
    if isinstance(operand, np.dtype):
        return bool(np.can_cast(operand, kind))
    of_python, own = _NUMBERS[operand]
    if not yields:
        return bool(np.can_cast(own, kind))
    return _STANDING[of_python] <= _STANDING[kind.kind]
