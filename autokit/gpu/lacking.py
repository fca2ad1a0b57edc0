"""Functions that CuPy lacks or computes otherwise than NumPy: here they give the same for arrays of both.

For NumPy's arrays they call NumPy's function; the other lines are for CuPy's arrays, on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import numpy as np

from autokit.base.devices import module_of, on_a_gpu
from autokit.base.errors import require

# ------------------------------------------------------------ methods of ufuncs

_AT_PLACES = {"int32", "int64", "float32", "float64"}
"""The dtypes for which CuPy has ``add.at`` and its like."""


def add_at(array: Any, places: Any, values: Any) -> None:
    """``np.add.at``: add ``values`` into ``array``; places that are named twice get both.

    >>> total = np.zeros(3)
    >>> add_at(total, np.array([0, 0, 2]), np.array([1.0, 2.0, 4.0]))
    >>> total
    array([3., 0., 4.])
    """
    combine_at(np.add, array, places, values)


def combine_at(ufunc: np.ufunc, array: Any, places: Any, values: Any) -> None:
    """``ufunc.at(array, places, values)``, for sums, products, and the larger or smaller of two."""
    if not on_a_gpu(array):
        ufunc.at(array, places, values)
    elif ufunc is np.multiply:
        _multiply_at(array, places, values)
    else:
        combine = getattr(module_of(array), ufunc.__name__).at  # NumPy's own refuses a tuple of places
        if array.dtype.name in _AT_PLACES:
            combine(array, places, values)
        else:
            wide = array.astype(np.float32 if array.dtype.kind == "f" else np.int32)
            combine(wide, places, module_of(array).asarray(values, wide.dtype))
            array[...] = wide.astype(array.dtype)


def _multiply_at(array: Any, places: Any, values: Any) -> None:
    """``np.multiply.at`` by sums: of the logarithms of the absolute values, and of the number of signs."""
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


def accumulate(ufunc: Callable[..., Any], array: Any, axis: int) -> Any:
    """``ufunc.accumulate``: the running result of an associative ``ufunc``, or function, along a dimension.

    CuPy has it for sums and products alone. For other functions, the passes over the array combine every
    element with the one that is 1, 2, 4, … places before it, so that log₂ n passes suffice (Hillis and
    Steele, Data parallel algorithms, 1986).
    """
    if isinstance(ufunc, np.ufunc) and not on_a_gpu(array):
        return ufunc.accumulate(array, axis=axis)
    if ufunc is np.add or ufunc is np.multiply:
        return (np.cumsum if ufunc is np.add else np.cumprod)(array, axis=axis)
    run = array.copy()
    step, lead = 1, (slice(None),) * (axis % array.ndim)
    while step < array.shape[axis]:
        later, earlier = (*lead, slice(step, None)), (*lead, slice(None, -step))
        run[later] = ufunc(run[earlier], run[later])
        step *= 2
    return run


# ------------------------------------------------------------ quotients


def floor_divide(a: Any, b: Any) -> Any:
    """``np.floor_divide``; for floats on a GPU (a − a mod b) / b.

    CuPy rounds the quotient before it rounds it down, so that ⌊1.0 / 0.1⌋ would be 10.
    """
    if not on_a_gpu(a) or a.dtype.kind != "f":
        return np.floor_divide(a, b)
    quotient = np.rint((a - remainder(a, b)) / b)
    return np.where(b == 0, a / b, quotient)


def remainder(a: Any, b: Any) -> Any:
    """``np.remainder``; for floats on a GPU by ``fmod``, as CuPy gives NaN for an infinite ``b``."""
    if not on_a_gpu(a) or a.dtype.kind != "f":
        return np.remainder(a, b)
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


# ------------------------------------------------------------ indices and shapes


def require_inside(places: Any, least: int, size: int, explain: Callable[[int], Exception]) -> None:
    """Raise ``explain`` of the first of ``places`` that is below ``least`` or not below ``size``.

    This waits for a GPU.

    >>> require_inside(np.array([0, -1, 5]), -3, 3, lambda wrong: IndexError(f"{wrong} is outside"))
    Traceback (most recent call last):
    IndexError: 5 is outside
    """
    if places.size:
        inside = (places.min() >= least) & (places.max() < size)
        require(inside, lambda given: explain(int(given[(given < least) | (given >= size)][0])), places)


def like(make: Callable[..., Any], array: Any, *values: Any, shape: tuple[int, ...], **settings: Any) -> Any:
    """``make(array, *values, shape=shape)`` for ``np.zeros_like`` or another; CuPy ignores a shape ``()``."""
    return make(array, *values, shape=shape or (1,), **settings).reshape(shape)


def largest(array: Any, dim: Any) -> Any:
    """The largest elements along ``dim``, which stays with size 1; −∞ where there are no elements."""
    if on_a_gpu(array):
        return (
            array.max(axis=dim, keepdims=True) if array.size else array.sum(axis=dim, keepdims=True) - np.inf
        )
    return array.max(axis=dim, keepdims=True, initial=-np.inf)


# ------------------------------------------------------------ linear algebra and special functions


def raising(array: Any) -> Any:
    """A context in which ``np.linalg`` raises an error where it fails, also for arrays on a GPU."""
    if not on_a_gpu(array):
        return nullcontext()
    import cupyx

    return cupyx.errstate(linalg="raise")


def vector_norm(array: Any, p: float, dim: tuple[int, ...], keepdims: bool) -> Any:
    """``np.linalg.vector_norm``: the p-th root of the sum of p-th powers, also for p = 0 and ±∞."""
    if not on_a_gpu(array):
        return np.linalg.vector_norm(array, axis=dim, keepdims=keepdims, ord=p)
    sizes = np.abs(array)
    if p in (np.inf, -np.inf):
        return (sizes.max if p > 0 else sizes.min)(axis=dim, keepdims=keepdims)
    if p == 0:
        return (sizes != 0).sum(axis=dim, keepdims=keepdims).astype(array.dtype)
    return (sizes**p).sum(axis=dim, keepdims=keepdims) ** (1 / p)


def solve(a: Any, b: Any) -> Any:
    """``np.linalg.solve`` for matrices on both sides, in batches that broadcast."""
    if on_a_gpu(a) and a.shape[:-2] != b.shape[:-2]:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(matrix, (*lead, *matrix.shape[-2:])) for matrix in (a, b))
    with raising(a):
        return np.linalg.solve(a, b)


def lstsq(a: Any, b: Any, rcond: float) -> tuple[Any, Any, Any]:
    """Solutions, ranks and singular values: ``np.linalg.lstsq``, and by the pseudoinverse for batches."""
    if a.ndim == b.ndim == 2 and a.size and b.size:
        solution, _, rank, values = np.linalg.lstsq(a, b, rcond)
        return solution, module_of(a).asarray(rank, np.int64), values
    values = np.linalg.svd(a, compute_uv=False)
    rank = (values > rcond * largest(values, -1)).sum(axis=-1)
    return np.linalg.pinv(a, rcond) @ b, rank, values


def special_functions(array: Any) -> ModuleType:
    """The module of SciPy's special functions for ``array``; it is imported when it is first needed."""
    if on_a_gpu(array):
        from cupyx.scipy import special
    else:
        from scipy import special
    return special


# ------------------------------------------------------------ calls of compiled programs

REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin"}
REDUCTIONS |= {"logical_and": "all", "logical_or": "any"}
"""CuPy's functions for the reductions of its elementwise functions."""


def placed(shape: tuple[int, ...], dtype: Any, arena: Any, offset: int) -> Any:
    """The array of this shape that begins so many bytes after the arena's first."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    return arena[offset : offset + size].view(dtype).reshape(shape)


class Ufunc:
    """A ufunc of CuPy's, called as one of NumPy's, and its reduction, which is another function there."""

    def __init__(self, cupy: Any, ufunc: np.ufunc) -> None:
        self.ufunc, self.compute = ufunc, getattr(cupy, ufunc.__name__)
        self.reduction: Any = getattr(cupy, REDUCTIONS.get(ufunc.__name__, ""), None)

    def __call__(self, *args: Any, out: Any = None, **settings: Any) -> Any:
        operands, places = args[: self.ufunc.nin], args[self.ufunc.nin :] if out is None else (out,)
        if self.ufunc is np.matmul and places:
            return self.compute(*operands, out=places[0])
        return self.compute(*operands, *places, **settings)

    def reduce(self, array: Any, initial: Any = None, **settings: Any) -> Any:
        """The reduction, which begins with ``initial`` if that is given."""
        result = self.reduction(array, **settings)
        return result if initial is None else self.compute(result, initial, result)
