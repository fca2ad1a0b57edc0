"""Smooth relatives of the maximum: softmax, its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import contiguous
from autokit.ops.blocks import in_rows, loop_over_rows, ones, reusing, starts
from autokit.ops.dims import place_of
from autokit.ops.errors import kind_of
from autokit.ops.gpu.kernels import fused
from autokit.ops.gpu.rows import over_rows
from autokit.ops.names import Names
from autokit.ops.native import is_large
from autokit.ops.operation import derivative, operation
from autokit.ops.reduce import Dim, added, checked, places_reduced, require_operand, restored
from autokit.tensor import Tensor

# A module's own names are found sooner than NumPy's.
_ndarray, _exp, _log, _largest = np.ndarray, np.exp, np.log, np.maximum.reduce
_subtract = np.subtract

# ---------------------------------------------------------------- formulas, on a GPU one kernel each


def largest(a: Any, axes: Any) -> Any:
    """The largest element along ``axes``, which stay: taken off first, no exponential overflows."""
    if a.__class__ is _ndarray and a.size:
        return _largest(a, axis=axes, keepdims=True)  # which begins sooner than the method max()
    return a.max(axis=axes, keepdims=True) if a.size else a.sum(axis=axes, keepdims=True)


def _added(a: Any, axes: Any) -> Any:
    """The sum along ``axes``, which stay; of the rows of a matrix as a product, the soonest begun."""
    if a.__class__ is not _ndarray:
        return a.sum(axis=axes, keepdims=True)
    if a.ndim == 2 and axes == 1 and a.shape[1] <= _FEW:
        return a.dot(ones(a.shape[1], a.dtype)).reshape((-1, 1))
    return added(a, axes, True)


_FEW = 256


def shares_below(a: Any, top: Any, axes: Any) -> Any:
    """Exponentials over their sum along ``axes``, where ``top`` was taken off."""
    exponentials = a - top
    exponentials = reusing(exponentials, np.exp, exponentials)
    return reusing(exponentials, np.divide, exponentials, _added(exponentials, axes))


@over_rows
def _softmax_of(a, /, axes):
    return shares_below(a, largest(a, axes), axes)


@over_rows
def slope_of_softmax(g, out, /, axes):
    slope = g * out
    slope = reusing(slope, np.subtract, g, _added(slope, axes))
    return reusing(slope, np.multiply, slope, out)


@over_rows
def _log_softmax_of(a, /, axes):
    shifted = a - largest(a, axes)
    return reusing(shifted, np.subtract, shifted, np.log(_added(np.exp(shifted), axes)))


@over_rows
def _slope_of_log_softmax(g, out, /, axes):
    slope = np.exp(out)
    slope = reusing(slope, np.multiply, slope, _added(g, axes))
    return reusing(slope, np.subtract, g, slope)


@over_rows
def _logsumexp_of(a, /, axes):
    top = largest(a, axes)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.log(np.exp(a - top).sum(axis=axes, keepdims=True)) + top


@fused
def _slope_of_logsumexp(g, a, out, /):
    return g * np.exp(a - out)


# ---------------------------------------------------------------- the logarithm of a sum of exponentials


def _logsumexp(a: Any, dim: Dim, keepdim: bool = False) -> Any:
    return _logsumexp_of(a, axes=tuple(places_reduced(dim, a.ndim)), keepdims=keepdim)


def _logsumexp_on_arrays(a: Any, dim: Dim, keepdim: bool = False) -> Any:
    rows = _rows(a, dim)
    if rows is not None:
        top, total = np.empty((2, len(rows), 1), rows.dtype)
        if loop_over_rows("native_loops.shifts", rows, top, total) and np.isfinite(top).all():
            return (np.log(total) + top).reshape((*a.shape[:-1], 1) if keepdim else a.shape[:-1])
    return _logsumexp(a, dim, keepdim)


def _rows(a: Any, dim: Dim) -> Any:
    """``a`` as a matrix whose rows lie along ``dim``, where it is a large array; else None."""
    if a.__class__ is _ndarray and is_large(a) and a.flags.c_contiguous and dim in (-1, a.ndim - 1):
        return a.reshape(-1, a.shape[-1])
    return None


def _of_logsumexp(g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool) -> Any:
    return _slope_of_logsumexp(restored(g, shape, dim, keepdim), a, restored(out, shape, dim, keepdim))


def _of_logsumexp_on_arrays(g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool) -> Any:
    rows = _rows(a, dim)
    if rows is not None and g.dtype == out.dtype == a.dtype:
        result = np.empty(shape, a.dtype)
        beside = [np.ascontiguousarray(each).reshape(-1, 1) for each in (out, g)]
        if loop_over_rows("native_loops.shares", rows, *beside, result.reshape(rows.shape)):
            return result
    return _of_logsumexp(g, a, out, shape, dim, keepdim)


@operation(
    "logsumexp",
    "log Σ exp {a}",
    a=derivative("exp({a} − {out})", _of_logsumexp, _of_logsumexp_on_arrays),
    floating=True,
    name="logsumexp",
    layout=contiguous,
    on_arrays=_logsumexp_on_arrays,
)
def plain_logsumexp(a, /, dim, keepdim=False):
    """See :func:`logsumexp`."""
    return _logsumexp(a, dim, keepdim)


def logsumexp(input: Tensor, dim: Dim, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials along ``dim``, also where these would overflow."""
    return plain_logsumexp(input, checked("logsumexp", input, dim, keepdim), keepdim)


# ---------------------------------------------------------------- softmax


def _columns_of_few(a: Any, dim: int) -> int:
    """The length of the rows of ``a`` where these are so few and short that NumPy takes longer to begin.

    So it is with the largest of each row, and where a row meets one number.  0 for all other arrays.
    """
    if a.__class__ is not _ndarray or dim != 1 or a.ndim != 2 or not 0 < a.size <= _FEW_ELEMENTS:
        return 0
    columns = a.shape[1]
    return columns if columns <= _VERY_FEW else 0


_VERY_FEW = 32
_FEW_ELEMENTS = 1024


def _top_beside(a: Any, columns: int) -> Any:
    """The largest of each row of a small matrix, beside each of its elements."""
    return a.take(a.argmax(1) + starts(len(a), columns)).repeat(columns).reshape(-1, columns)


def _sum_beside(a: Any, columns: int) -> Any:
    """The sum of each row of a small matrix, beside each of its elements."""
    return a.dot(ones((columns, columns), a.dtype))


def _softmax(a: Any, dim: int) -> Any:
    columns = _columns_of_few(a, dim)
    if columns:
        exponentials = np.exp(a - _top_beside(a, columns))
        return exponentials / _sum_beside(exponentials, columns)
    return _softmax_of(a, axes=dim)


def exponentials_of_rows(a: Any, into: Any) -> tuple[Any, Any]:
    """Write exp(a − shift) for the rows of ``a``; also returns the shifts and the sums of the rows.

    Taking the largest element off each row costs half as much as all the
    exponentials.  Where these neither overflow nor vanish, the shift is 0.
    """
    if a.max() <= _LARGEST:
        total = np.einsum("ij->i", np.exp(a, out=into))[:, None]
        if total.min() >= _LEAST:
            return np.zeros_like(total), total
    top = a.max(axis=1, keepdims=True)
    np.subtract(a, top, out=into)
    return top, np.einsum("ij->i", np.exp(into, out=into))[:, None]


_LARGEST = 60.0
"""Thousands of exponentials of it are in the range of float32."""

_LEAST = 0.01
"""The least sum whose parts are, as far as they count, in that range."""


def softmax_of_rows(a: Any, into: Any) -> None:
    into /= exponentials_of_rows(a, into)[1]


def _softmax_gradient(g: Any, out: Any, dim: int) -> Any:
    columns = _columns_of_few(out, dim)
    if columns:
        return (g - _sum_beside(g * out, columns)) * out
    return slope_of_softmax(g, out, axes=dim)


def softmax_gradient_of_rows(g: Any, out: Any, into: Any) -> None:
    np.subtract(g, np.vecdot(g, out)[:, None], out=into)
    into *= out


@operation(
    "softmax",
    "exp {a} / Σ exp {a}",
    name="softmax",
    layout=contiguous,
    a=derivative(
        "diag({out}) − {out} {out}ᵀ",
        lambda g, out, dim: slope_of_softmax(g, out, axes=dim),
        in_rows(_softmax_gradient, softmax_gradient_of_rows, "native_loops.softmax_gradient"),
    ),
    on_arrays=in_rows(_softmax, softmax_of_rows, "native_loops.softmax"),
)
def plain_softmax(a, /, dim):
    """See :func:`softmax`."""
    return _softmax(a, dim)


# ---------------------------------------------------------------- its logarithm


def _log_softmax(a: Any, dim: int) -> Any:
    return _log_softmax_of(a, axes=dim)


def _log_softmax_of_rows(a: Any, into: Any) -> None:
    # With each row's largest element at 0, the logarithm of a probability near 1 keeps its digits.
    np.subtract(a, a.max(axis=1, keepdims=True), out=into)
    into -= np.log(np.einsum("ij->i", np.exp(into)))[:, None]


def _log_softmax_gradient(g: Any, out: Any, dim: int) -> Any:
    return _slope_of_log_softmax(g, out, axes=dim)


def _log_softmax_gradient_of_rows(g: Any, out: Any, into: Any) -> None:
    np.exp(out, out=into)
    into *= np.einsum("ij->i", g)[:, None]
    np.subtract(g, into, out=into)


_log_softmax_by_rows = in_rows(_log_softmax, _log_softmax_of_rows, "native_loops.log_softmax")
_log_softmax_gradient_by_rows = in_rows(
    _log_softmax_gradient, _log_softmax_gradient_of_rows, "native_loops.log_softmax_gradient"
)


def _log_softmax_on_arrays(a: Any, dim: int) -> Any:
    columns = _columns_of_few(a, dim)
    if columns:
        shifted = a - _top_beside(a, columns)
        total = _sum_beside(_exp(shifted), columns)
        shifted -= _log(total, total)
        return shifted
    return _log_softmax_by_rows(a, dim)


def _log_softmax_gradient_on_arrays(g: Any, out: Any, dim: int) -> Any:
    columns = _columns_of_few(out, dim)
    if columns:
        slope = _exp(out)
        slope *= _sum_beside(g, columns)
        return _subtract(g, slope, slope)
    return _log_softmax_gradient_by_rows(g, out, dim)


@operation(
    "log softmax",
    "{a} − log Σ exp {a}",
    name="log_softmax",
    layout=contiguous,
    a=derivative(
        "I − 1 exp({out})ᵀ",
        lambda g, out, dim: _slope_of_log_softmax(g, out, axes=dim),
        _log_softmax_gradient_on_arrays,
    ),
    on_arrays=_log_softmax_on_arrays,
    fitting=True,
)
def plain_log_softmax(a, /, dim):
    """See :func:`log_softmax`."""
    return _log_softmax(a, dim)


def _floating(name: str, input: Tensor, dim: Any, dtype: dtypes.dtype | None) -> tuple[Tensor, int]:
    """The floating point numbers to take the softmax of, and the dimension counted from the front."""
    require_operand(name, input)
    place = place_of(dim, input.array.ndim, name)
    if dtype is not None:
        input = input.to(dtype)
    if input.array.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise NotImplementedError(
            f"\"{name}_kernel_impl\" not implemented for '{kind_of(input.array)}'; convert it with .float()"
        )
    return input, place


def softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """Positive numbers that sum to 1 along ``dim``: exponentials over their sum."""
    return plain_softmax(*_floating("softmax", input, dim, dtype))


def log_softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, computed without leaving the logarithms."""
    return plain_log_softmax(*_floating("log_softmax", input, dim, dtype))


NAMES = Names(both="log_softmax logsumexp softmax")
