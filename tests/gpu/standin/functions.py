"""The stand-in's functions: NumPy's, where CuPy has one of that name with those parameters."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tests.gpu.standin.arrays import (
    arrays_in,
    bare,
    call_ufunc,
    launched,
    ndarray,
    told,
    wrapped,
    wrapped_around,
)
from tests.gpu.standin.hardware import current
from tests.gpu.standin.kernels import Traced, fused_call
from tests.gpu.standin.notes import NAMES
from tests.gpu.standin.ufuncs import keywords_of_ufunc


def call(owner: str, name: str, function: Any, arguments: Any, keywords: Any) -> Any:
    """``function`` with what CuPy's function of that name takes."""
    if any(isinstance(each, Traced) for each in arguments):
        return fused_call(name, function, arguments, keywords)
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
    values, named = tuple(map(bare, arguments)), {key: bare(value) for key, value in keywords.items()}
    every = (*arguments, *keywords.values())
    if name in ("put_along_axis", "copyto", "place", "fill_diagonal"):
        launched(name, every)
        return function(*values, **named)
    with np.errstate(all="ignore"):
        result = function(*values, **named)
    if name in ("size", "ndim", "shape", "may_share_memory", "shares_memory"):
        return result
    return told(name, wrapped(result, arrays_in(every)), every)


_ON_THE_CPU = {"result_type", "promote_types", "can_cast", "min_scalar_type", "broadcast_shapes"}


def function_of(owner: str, name: str, numpy_function: Any) -> Any:
    if name in _ON_THE_CPU:
        return numpy_function

    @functools.wraps(numpy_function, assigned=("__name__", "__doc__"), updated=())
    def apply(*arguments: Any, **keywords: Any) -> Any:
        return call(owner, name, numpy_function, arguments, keywords)

    if isinstance(numpy_function, np.ufunc):
        apply.at = functools.partial(_at, numpy_function)  # type: ignore[attr-defined]
    return apply


_AT = {"int32", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"}


def _at(ufunc: np.ufunc, array: ndarray, index: Any, values: Any) -> None:
    """``cupy.add.at``, and two more: in the dtypes of CUDA's atomic operations."""
    if ufunc not in (np.add, np.maximum, np.minimum) or array.dtype.name not in _AT:
        raise TypeError(f"CuPy has no {ufunc.__name__}.at of {array.dtype}")
    launched(f"{ufunc.__name__}.at", (array, index, values))
    ufunc.at(array.host, wrapped_around(array.host, index), bare(values))


def from_host(value: Any, dtype: Any = None, copy: bool = True) -> ndarray:
    """``cupy.array`` and ``cupy.asarray``, which alone bring a NumPy array to the GPU."""
    if not isinstance(value, ndarray):
        launched("copy to the GPU", ())
        return ndarray(np.array(value, dtype=dtype))
    if value.place == current() and not copy and (dtype is None or value.dtype == dtype):
        return value
    launched("copy" if value.place == current() else "copy between GPUs", ())
    return ndarray(np.array(value.host, dtype=dtype))
