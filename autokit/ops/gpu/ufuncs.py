"""Methods of ufuncs that CuPy has in some dtypes only, or not at all; and quotients, rounded otherwise there.

It adds at places in few dtypes, multiplies there in none, has running results
of sums and products alone, and results of runs, ``reduceat``, of sums alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.devices import module_of, on_a_gpu
from autokit.dtypes import FLOATS
from autokit.ops.gpu.arrays import is_on_cpu
from autokit.ops.gpu.kernels import fused

# ------------------------------------------------------------ the methods of ufuncs

_ADDS = {"int32", "int64", "uint32", "uint64", "float16", "float32", "float64"}
"""The dtypes in which CuPy adds at places."""

_COMPARES = {"int32", "int64", "uint32", "uint64", "float32", "float64"}
"""The dtypes in which it takes the larger there, or the smaller."""


def add_at(array: Any, places: Any, values: Any) -> None:
    """``np.add.at``: add ``values`` into ``array``; places that are named twice get both."""
    combine_at(np.add, array, places, values)


def combine_at(ufunc: np.ufunc, array: Any, places: Any, values: Any) -> None:
    """``ufunc.at(array, places, values)``, for sums, products, and the larger or smaller of two."""
    if is_on_cpu(array):
        ufunc.at(array, places, values)
        return
    module, kind = module_of(array), array.dtype
    if ufunc is np.multiply:
        _multiply_at(array, places, values)
        return
    combine = getattr(module, ufunc.__name__).at  # NumPy's own is handed on too, but with no tuple of places
    if kind.name in (_ADDS if ufunc is np.add else _COMPARES):
        combine(array, places, values)
    elif kind.kind == "c":
        values = module.asarray(values, kind)
        combine(array.real, places, values.real)
        combine(array.imag, places, values.imag)
    else:
        wide = array.astype(np.float32 if kind.kind in FLOATS else np.int32)
        combine(wide, places, module.asarray(values).astype(wide.dtype))
        array[...] = wide.astype(kind)


def _multiply_at(array: Any, places: Any, values: Any) -> None:
    """Products at places: of the sizes by their logarithms, and of the signs by counting them."""
    module = module_of(array)
    values = np.broadcast_to(module.asarray(values), array[places].shape).astype(np.float64)
    sizes, signs, zeros = (module.zeros(array.shape, np.float64) for _ in range(3))
    is_zero = values == 0
    module.add.at(sizes, places, np.log(np.abs(np.where(is_zero, 1.0, values))))
    module.add.at(signs, places, (values < 0).astype(np.float64))
    module.add.at(zeros, places, is_zero.astype(np.float64))
    products = np.where(zeros > 0, 0.0, np.where(signs % 2 == 1, -1.0, 1.0) * np.exp(sizes))
    products = array.astype(np.float64) * products
    array[...] = (np.rint(products) if array.dtype.kind in "iu" else products).astype(array.dtype)


def accumulate(ufunc: Callable[..., Any], array: Any, axis: int, dtype: Any = None) -> Any:
    """``ufunc.accumulate``: the running result of an associative ``ufunc``, or function, along a dimension.

    Where there is none, each pass combines every element with the one that is
    1, 2, 4, … places before it, so that a few passes reach all of them
    (Hillis and Steele, Data parallel algorithms, 1986).
    """
    if is_on_cpu(array) and isinstance(ufunc, np.ufunc):
        return ufunc.accumulate(array, axis=axis, dtype=dtype)
    if ufunc is np.add or ufunc is np.multiply:
        return (np.cumsum if ufunc is np.add else np.cumprod)(array, axis=axis, dtype=dtype)
    run = array.astype(array.dtype if dtype is None else dtype)
    step, lead = 1, (slice(None),) * (axis % array.ndim)
    while step < array.shape[axis]:
        later, earlier = (*lead, slice(step, None)), (*lead, slice(None, -step))
        run[later] = ufunc(run[earlier], run[later])
        step *= 2
    return run


def reduceat(ufunc: np.ufunc, array: Any, starts: Any, axis: int = 0) -> Any:
    """``ufunc.reduceat`` along a dimension: a result for each run of elements between ``starts``, none empty.

    ``starts`` lies beside ``array``.
    """
    if is_on_cpu(array):
        return ufunc.reduceat(array, starts, axis=axis)
    module = module_of(array)
    size = array.shape[axis]
    marks = module.zeros(size, np.int64)
    marks[starts] = 1
    runs = np.cumsum(marks) - 1
    rows = np.moveaxis(array, axis, 0)
    if ufunc is np.add or ufunc is np.multiply:
        total = module.full((len(starts), *rows.shape[1:]), ufunc.identity, array.dtype)
    else:  # the first of each run, which taken again changes nothing
        total = rows[starts].copy()
    of_numbers = np.maximum if ufunc is np.fmax else np.minimum if ufunc is np.fmin else ufunc
    combine_at(of_numbers, total, runs, rows)
    return np.moveaxis(total, 0, axis)


# ------------------------------------------------------------ quotients


def floor_divide(a: Any, b: Any) -> Any:
    """``np.floor_divide``; of floats on a GPU by what is left over, which CuPy does not look at.

    There ⌊1.0 / 0.1⌋ would be 10, since the quotient is rounded first.
    """
    return down_by_rest(a, b) if on_a_gpu(a) and a.dtype.kind == "f" else np.floor_divide(a, b)


def remainder(a: Any, b: Any) -> Any:
    """``np.remainder``; of floats on a GPU by ``fmod``: CuPy's of an infinite ``b`` is NaN.

    A remainder of 0 has the sign of ``a``, as in PyTorch, where NumPy gives it that of ``b``.
    """
    if a.dtype.kind != "f":
        return np.remainder(a, b)
    if on_a_gpu(a):
        return _left_over(a, b)
    rest = np.remainder(a, b)
    nothing = rest == 0
    if isinstance(rest, np.ndarray | np.generic) and not nothing.any():
        return rest
    return np.where(nothing, np.copysign(rest, a), rest)


@fused
def _left_over(a, b, /):
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((b < 0) != (rest < 0)), rest + b, rest)


@fused
def down_by_rest(a, b, /):
    rest = np.fmod(a, b)
    quotient = (a - rest) / b - ((rest != 0) & ((b < 0) != (rest < 0)))
    down = np.floor(quotient)
    down = np.where(quotient == 0, np.copysign(down, a / b), down + (quotient - down > 0.5))
    return np.where(b == 0, a / b, down)
