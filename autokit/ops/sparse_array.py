"""Computing with arrays that hold only some of their elements, with their places: :class:`SparseArray`.

A tensor around one is a sparse tensor.  Nothing else is different about it: the
rules of operations speak NumPy, and NumPy lets an array of another kind answer
for itself (NEP 13 and 18).  What is linear and keeps the zeros is answered here:
products with matrices and numbers, sums and transposes.  All else is refused,
and says that ``to_dense()`` helps.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autokit.ops.gpu.arrays import known, like
from autokit.ops.gpu.ufuncs import add_at, reduceat
from autokit.sparse_array import Sparse


class Refused(NotImplementedError, AttributeError):
    """This is not to be had of a sparse tensor."""


class SparseArray(Sparse, NDArrayOperatorsMixin):
    """A sparse array that answers NumPy's questions; see :class:`~autokit.sparse_array.Sparse`."""

    __slots__ = ()
    __array_priority__ = 1000  # CuPy's arrays leave operators to it
    base = None
    flags = SimpleNamespace(c_contiguous=True, writeable=True)
    __hash__ = object.__hash__

    strides = property(lambda self: np.empty(self.shape, self.dtype).strides)
    T = property(lambda self: self.transpose())

    def __getattr__(self, name: str) -> Any:
        raise _refused(name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.dense(), dtype)

    def __getitem__(self, index: Any) -> Any:
        if index is Ellipsis or index.__class__ is tuple and len(index) == 1 and index[0] is Ellipsis:
            return self
        raise _refused("[...]")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise _refused("[...] =")

    # ------------------------------------------------------------ other forms

    def dense(self) -> Any:
        """All elements, the zeros too."""
        if not len(self.indices):
            return self.values.sum(axis=0, dtype=self.dtype)
        made = like(np.zeros_like, self.values, shape=self.shape)
        add_at(made, tuple(self.indices), self.values)
        return made

    def coalesce(self) -> SparseArray:
        """The same with places in order, each named once."""
        if self.coalesced:
            return self
        if len(self.indices):
            flat = np.ravel_multi_index(tuple(self.indices), self.shape[: len(self.indices)])
        else:  # a number, where all values stand
            flat = like(np.zeros_like, self.values, shape=self.values.shape[:1], dtype=np.int64)
        order = np.argsort(flat, kind="stable")
        starts = _starts(flat[order])
        sums = reduceat(np.add, self.values[order], starts).astype(self.dtype, copy=False)
        return SparseArray(self.indices[:, order[starts]], sums, self.shape, True)

    def places_in(self, dense: Any) -> Any:
        """What stands in the array ``dense`` at these places."""
        return dense[tuple(self.indices)]

    def copy(self, order: str = "K") -> SparseArray:
        return self.with_parts(lambda part: part.copy())

    def astype(self, dtype: Any, *, copy: bool = True, **_: Any) -> SparseArray:
        return self.with_values(self.values.astype(dtype, copy=copy))

    def transpose(self, *axes: Any) -> SparseArray:
        named = axes[0] if axes and axes[0].__class__ in (tuple, list) else axes
        order = [axis % self.ndim for axis in named] or list(range(self.ndim))[::-1]
        if len(self.indices) != self.ndim:
            raise _refused("transpose")
        places = np.stack([self.indices[axis] for axis in order]) if order else self.indices
        kept = self.coalesced and order == sorted(order)
        return SparseArray(places, self.values, tuple(self.shape[axis] for axis in order), kept)

    def sum(self, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
        if axis is None or axis == ():
            return self.values.sum()
        return self.dense().sum(axis=axis, keepdims=keepdims)

    # ------------------------------------------------------------ what NumPy asks

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **_: Any) -> Any:
        if method == "__call__":
            if ufunc in (np.add, np.subtract) and out is not None and out[0] is inputs[0]:
                made = _add_into(out[0], inputs[1] if ufunc is np.add else -inputs[1])
            else:
                made = self._compute(ufunc, inputs)
            if made is not NotImplemented:
                if out is None or out[0].__class__ is SparseArray:
                    return made
                if made is not out[0]:
                    out[0][...] = made
                return out[0]
        raise _refused(ufunc.__name__)

    def _compute(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc in (np.negative, np.conjugate):
            return self.with_values(ufunc(self.values))
        if len(inputs) != 2:
            return NotImplemented
        a, b = inputs
        if ufunc is np.matmul:
            if b.__class__ is SparseArray:
                if a.__class__ is SparseArray:
                    return sparse_of(_product(a, b.dense()))
                return np.swapaxes(_product(b.transpose(), np.swapaxes(a, -1, -2)), -1, -2)
            return _product(a, b)
        if ufunc in (np.add, np.subtract):
            return _sum(a, b if ufunc is np.add else -b)
        both = a.__class__ is b.__class__
        if ufunc is np.multiply and not both:
            return _scaled(self, b if a is self else a, ufunc)
        if ufunc is np.multiply:
            return a.with_values(a.values * a.places_in(b.dense()))
        if ufunc is np.true_divide and a is self and not both:
            return _scaled(self, b, ufunc)
        return NotImplemented

    def __array_function__(self, function: Any, types: Any, given: Any, settings: Any) -> Any:
        answer = _FUNCTIONS.get(function)
        if answer is None:
            raise _refused(function.__name__)
        return answer(*given, **settings)


def _refused(name: str) -> Refused:
    return Refused(
        f"{name}: a sparse tensor is not supported here. It takes part in matrix products, sums and products "
        "with numbers, and is a gradient for SGD and SparseAdam alone; .to_dense() makes a tensor for "
        "everything else, and functions of its .coalesce().values() keep it sparse"
    )


def sparse_of(dense: Any, dims: int | None = None) -> SparseArray:
    """The elements of ``dense`` that are not 0, with their places along the first ``dims`` dimensions."""
    if not dense.ndim:
        nowhere = like(np.zeros_like, dense, shape=(0, 1), dtype=np.int64)
        return SparseArray(nowhere, dense.reshape(1), ())
    rest = tuple(range(dense.ndim if dims is None else dims, dense.ndim))
    kept = (dense != 0).any(axis=rest) if rest else dense
    places = np.stack(np.nonzero(kept))
    return SparseArray(places, dense[tuple(places)], dense.shape, True)


def _starts(places: Any) -> Any:
    """Where a run of equal ``places`` starts."""
    starts = np.ones_like(places, dtype=bool)
    starts[1:] = places[1:] != places[:-1]
    return np.flatnonzero(starts)


def _product(a: SparseArray, b: Any) -> Any:
    """The matrix ``a`` times a dense vector or matrix: rows of ``b``, weighted and added up."""
    if a.ndim != 2 or len(a.indices) != 2 or b.ndim > 2:
        raise _refused("matmul")
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"{a.shape} and {b.shape}")  # the rule says more
    columns = b[:, np.newaxis] if b.ndim == 1 else b
    shape = a.shape[0], columns.shape[1]
    made = like(np.zeros_like, columns, shape=shape, dtype=np.result_type(a.dtype, b.dtype))
    (row, column), values = a.indices, a.values
    if not a.coalesced:
        order = np.argsort(row, kind="stable")
        row, column, values = row[order], column[order], values[order]
    if len(row):
        starts = _starts(row)
        made[row[starts]] = reduceat(np.add, values[:, None] * columns[column], starts)
    return made.reshape((a.shape[0], *b.shape[1:]))


def _scaled(a: SparseArray, by: Any, ufunc: Any) -> SparseArray:
    shape = getattr(by, "shape", ())
    if shape and shape != (1,) * len(shape):
        if shape != a.shape:
            raise _refused(ufunc.__name__)
        by = a.places_in(by)
    elif shape:
        by = by.reshape(())
    return a.with_values(ufunc(a.values, by))


def _add_into(a: Any, b: Any) -> Any:
    """``a += b``."""
    if a.__class__ is SparseArray or b.__class__ is not SparseArray or a.shape != b.shape:
        return _sum(a, b)
    b = b.coalesce()
    a[tuple(b.indices)] += b.values
    return a


def _sum(a: Any, b: Any) -> Any:
    if a.__class__ is b.__class__:
        if a.shape != b.shape or len(a.indices) != len(b.indices):
            raise _refused("add")
        in_order = a.coalesced and b.coalesced and a.indices.shape == b.indices.shape
        if a.indices is b.indices or in_order and known(a.indices == b.indices):
            return a.with_values(a.values + b.values)
        places = np.concatenate([a.indices, b.indices], axis=1)
        return SparseArray(places, np.concatenate([a.values, b.values]), a.shape)
    if a.__class__ is SparseArray:
        a, b = b, a
    if getattr(a, "shape", ()) != b.shape:
        raise RuntimeError(
            "add(sparse, dense) is not supported. Use add(dense, sparse) of the same shape instead."
        )
    return _add_into(a.astype(np.result_type(a.dtype, b.dtype)), b)


def _swapped(a: SparseArray, one: int, other: int) -> SparseArray:
    order = list(range(a.ndim))
    order[one], order[other] = order[other], order[one]
    return a.transpose(order)


_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.transpose: lambda a, axes=None: a.transpose(*(axes or ())),
    np.swapaxes: _swapped,
    np.sum: lambda a, axis=None, keepdims=False, **_: a.sum(axis, keepdims),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
}
"""What NumPy's functions do to these arrays; all others are refused."""
