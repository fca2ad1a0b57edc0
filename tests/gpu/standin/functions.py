"""The stand-in's functions: NumPy's, where CuPy has one of that name with those parameters."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.gpu.standin.arrays import (
    arrays_in,
    bare,
    call_ufunc,
    ndarray,
    refuse_axis_of_none,
    wrapped,
    wrapped_around,
)
from tests.gpu.standin.notes import NAMES
from tests.gpu.standin.ufuncs import keywords_of_ufunc


def call(owner: str, name: str, function: Any, arguments: Any, keywords: Any) -> Any:
    """``function`` with what CuPy's function of that name takes."""
    takes = NAMES[owner][name]
    if takes == "ufunc" and isinstance(function, np.ufunc):
        keywords_of_ufunc(name, keywords)
        count = function.nin
        outputs = {"out": arguments[count:]} if arguments[count:] else {}
        return call_ufunc(function, arguments[:count], keywords | outputs)
    if "kwargs" not in takes and not keywords.keys() <= set(takes):
        raise TypeError(f"{owner}.{name} takes no {keywords.keys() - set(takes)}, only {takes}")
    if len(arguments) > len(takes) and not any(name.startswith("*") for name in takes):
        raise TypeError(f"{owner}.{name} takes {takes}")
    if name in _LIKE and "shape" in keywords and not keywords["shape"]:
        keywords = keywords | {"shape": None}  # CuPy takes an empty shape for none
    if name == "solve":
        _refuse_batches(*arguments)
    refuse_axis_of_none(arguments, keywords, name)
    if name == "take":
        keywords = keywords | {"mode": "wrap"}  # as an index beyond the end does
    values, named = tuple(map(bare, arguments)), {key: bare(value) for key, value in keywords.items()}
    every = (*arguments, *keywords.values())
    if name in ("put_along_axis", "copyto", "place", "fill_diagonal"):
        return function(*values, **named)
    with np.errstate(all="ignore"):
        try:
            result = function(*values, **named)
        except np.linalg.LinAlgError as error:
            if linalg_raises() or not re.search("singular|positive", str(error).lower()):
                raise
            result = np.zeros_like(values[-1])  # what cuSOLVER leaves behind
    if name in ("size", "ndim", "shape", "may_share_memory", "shares_memory"):
        return result
    return wrapped(result, arrays_in(every))


_linalg: list[str] = ["ignore"]


@contextmanager
def errstate(*, linalg: str) -> Iterator[None]:
    """``cupyx.errstate``: whether matrices raise that cuSOLVER failed on."""
    _linalg.append(linalg)
    try:
        yield
    finally:
        _linalg.pop()


def linalg_raises() -> bool:
    return _linalg[-1] == "raise"


def _refuse_batches(a: Any, b: Any) -> None:
    if b.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b")


_LIKE = {"empty_like", "full_like", "ones_like", "zeros_like"}


_ON_THE_CPU = {"result_type", "promote_types", "can_cast", "min_scalar_type", "broadcast_shapes"}


def function_of(owner: str, name: str, numpy_function: Any) -> Any:
    if name in _ON_THE_CPU:
        return numpy_function

    @functools.wraps(numpy_function, assigned=("__name__", "__doc__"), updated=())
    def apply(*arguments: Any, **keywords: Any) -> Any:
        return call(owner, name, numpy_function, arguments, keywords)

    if isinstance(numpy_function, np.ufunc):
        apply.at = lambda *inputs: call_method(numpy_function, "at", inputs, {})  # type: ignore[attr-defined]
    return apply


_ADDS = {"int32", "int64", "uint32", "uint64", "float16", "float32", "float64"}
_COMPARES = {"int32", "int64", "uint32", "uint64", "float32", "float64"}
_METHODS: dict[str, dict[np.ufunc, set[str] | None]] = {
    "at": {np.add: _ADDS, np.maximum: _COMPARES, np.minimum: _COMPARES},
    "accumulate": {np.add: None, np.multiply: None},
    "reduceat": {np.add: None},
}
"""The methods that CuPy's ufuncs have, and in which dtypes, where not in all."""


def call_method(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A method of a ufunc: CuPy has few."""
    array = inputs[0]
    if ufunc not in _METHODS.get(method, {}):
        raise NotImplementedError(f"`cupy_{ufunc.__name__}.{method}` is not supported yet")
    kinds = _METHODS[method][ufunc]
    if kinds is not None and array.dtype.name not in kinds:
        raise TypeError(f"cupy.{ufunc.__name__}.{method} only supports {', '.join(kinds)} as data type")
    if method == "at":
        _, index, values = inputs
        return ufunc.at(array.host, wrapped_around(array.host, index), bare(values))
    return wrapped(getattr(ufunc, method)(*map(bare, inputs), **keywords))


def from_host(value: Any, dtype: Any = None, copy: bool = True) -> ndarray:
    """``cupy.array`` and ``cupy.asarray``, which alone bring a NumPy array to the GPU."""
    if not isinstance(value, ndarray):
        return ndarray(np.array(value, dtype=dtype))
    if not copy and (dtype is None or value.dtype == dtype):
        return value
    made = value.copy()
    return made if dtype is None or made.dtype == dtype else made.astype(dtype)
