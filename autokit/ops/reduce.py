"""Operations that make many elements into one: sums, means, extremes, variances, soft extremes."""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.ops.convert import cast
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.return_types import return_type
from autokit.ops.scatter import scatter_zeros
from autokit.ops.shape import expand_to
from autokit.tensor import Tensor

Dim = int | Sequence[int] | None


def _axes(dim: Dim) -> int | tuple[int, ...] | None:
    """NumPy's ``axis`` for PyTorch's ``dim``, where an empty list stands for all."""
    if dim is None or isinstance(dim, int):
        return dim
    return tuple(dim) or None


def _reduced(dim: Dim, ndim: int) -> Sequence[int]:
    """The places of the dimensions that ``dim`` names, counted from the front."""
    axes = _axes(dim)
    if axes is None or not ndim:
        return range(ndim)
    return [place % ndim for place in ((axes,) if isinstance(axes, int) else axes)]


def restored(reduced: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool) -> Any:
    """A reduced value with the reduced dimensions back, of size 1."""
    if keepdim:
        return reduced
    gone = _reduced(dim, len(shape))
    return reduced.reshape(tuple([1 if place in gone else size for place, size in enumerate(shape)]))


def _spread(g: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool) -> Any:
    """The gradient of a sum: each element that was summed gets the whole gradient of the sum."""
    return expand_to(restored(g, shape, dim, keepdim), shape)


def _count(shape: tuple[int, ...], dim: Dim) -> int:
    """How many elements go into each result."""
    return math.prod([shape[place] for place in _reduced(dim, len(shape))])


def _by_dim(name: str) -> Any:
    """PyTorch names a reduction over given dimensions apart from one over all."""
    return lambda node: f"{name}Backward{0 if node.settings['dim'] is None else 1}"


# ---------------------------------------------------------------- sums and means


@operation("Σ", "Σ {a}", name="sum", a=derivative("1", _spread), backward=_by_dim("Sum"))
def plain_sum(a, /, dim=None, keepdim=False):
    """See :func:`sum`."""
    return a.sum(axis=_axes(dim), keepdims=keepdim, dtype=np.int64 if a.dtype.kind in "bui" else None)


def sum(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The sum of all elements, or along ``dim``; integers and bools sum to int64.

    Parameters
    ----------
    input : Tensor
    dim : int or sequence of int, optional
        What to sum over (also ``axis``); all without it.
    keepdim : bool
        Keep the summed dimensions, with size 1 (also ``keepdims``).
    dtype : dtype, optional
        Convert first.

    Raises
    ------
    IndexError
        If there is no such dimension.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0)
    tensor([4., 6.])
    """
    return plain_sum(converted(input, dtype), dim, keepdim)


def converted(input: Tensor, dtype: dtypes.dtype | None) -> Tensor:
    return input if dtype is None or input.dtype == dtype else cast(input, dtype=dtypes.as_dtype(dtype).numpy)


@operation(
    "mean",
    "mean {a}",
    name="mean",
    a=derivative(
        "1 / n",
        lambda g, shape, dim, keepdim: _spread(g / builtins.max(_count(shape, dim), 1), shape, dim, keepdim),
    ),
    backward=_by_dim("Mean"),
)
def plain_mean(a, /, dim=None, keepdim=False):
    """See :func:`mean`."""
    if a.dtype.kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {dtypes.BY_NUMPY[a.dtype].name}; convert it with .float()"
        )
    return a.sum(axis=_axes(dim), keepdims=keepdim) / a.dtype.type(_count(a.shape, dim))


def mean(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The mean of all elements, or along ``dim``.

    Raises
    ------
    RuntimeError
        If the elements are no floating point numbers.
    """
    return plain_mean(converted(input, dtype), dim, keepdim)


def _variance_gradient(
    g: Any, a: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool, correction: float
) -> Any:
    freedom = _count(shape, dim) - correction
    centre = a.mean(axis=_axes(dim), keepdims=True)
    # Without a degree of freedom the variance itself is nan or inf, and so is its gradient.
    factor = 2 / freedom if freedom > 0 else float("nan")
    return restored(g, shape, dim, keepdim) * (a - centre) * factor


@operation(
    "var",
    "variance of {a}",
    name="var",
    a=derivative("2 ({a} − mean) / (n − correction)", _variance_gradient),
)
def plain_var(a, /, dim=None, keepdim=False, correction=1):
    """See :func:`var`."""
    return _variance(a, dim, keepdim, correction)


def _variance(a: Any, dim: Dim, keepdim: bool, correction: float) -> Any:
    if a.dtype.kind != "f":
        raise RuntimeError(
            "std and var only support floating point and complex dtypes; convert it with .float()"
        )
    count = _count(a.shape, dim)
    if count <= correction:
        warnings.warn(
            "var(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
            UserWarning,
            stacklevel=4,
        )
    if not a.size:
        return a.sum(axis=_axes(dim), keepdims=keepdim) * np.nan
    centred = a - a.mean(axis=_axes(dim), keepdims=True)
    squares = (centred * centred).sum(axis=_axes(dim), keepdims=keepdim)
    return squares / squares.dtype.type(builtins.max(count - correction, 0))


def _deviation_gradient(
    g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool, correction: float
) -> Any:
    # Where all elements are equal the deviation is at its minimum: 0 is a subgradient.
    slope = np.where(out == 0, 0.0, g / (2 * np.where(out == 0, 1.0, out)))
    return _variance_gradient(slope, a, shape, dim, keepdim, correction)


@operation(
    "std",
    "deviation of {a}",
    name="std",
    a=derivative("({a} − mean) / ((n − correction) · {out})", _deviation_gradient),
)
def plain_std(a, /, dim=None, keepdim=False, correction=1):
    """See :func:`std`."""
    return np.sqrt(_variance(a, dim, keepdim, correction))


def var(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float = 1,
) -> Tensor:
    """The variance: the mean squared distance from the mean, over ``n - correction``.

    PyTorch's default ``correction=1`` is the sample variance; NumPy's is 0.
    ``unbiased=False`` is the older spelling of ``correction=0``.
    """
    dim, correction = _older_spelling(dim, unbiased, correction)
    return plain_var(input, dim, keepdim, correction)


def std(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float = 1,
) -> Tensor:
    """The standard deviation: the square root of :func:`var`."""
    dim, correction = _older_spelling(dim, unbiased, correction)
    return plain_std(input, dim, keepdim, correction)


def _older_spelling(dim: Any, unbiased: bool | None, correction: float) -> tuple[Any, float]:
    if isinstance(dim, bool):  # var(False)
        dim, unbiased = None, dim
    return dim, correction if unbiased is None else int(unbiased)


# ---------------------------------------------------------------- extremes


def shared_among_ties(g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool) -> Any:
    top = restored(out, shape, dim, keepdim)
    hits = (a == top) | ((a != a) & (top != top))
    hits = np.where(hits, np.ones_like(a), np.zeros_like(a))
    return restored(g, shape, dim, keepdim) * (hits / hits.sum(axis=_axes(dim), keepdims=True))


def _full_extreme_name(name: str) -> Any:
    return lambda node: f"{name}Backward1" if node.settings["dim"] is None else f"A{name.lower()}Backward0"


@operation(
    "max",
    "max {a}",
    a=derivative("1 at the maximum, shared among ties", shared_among_ties),
    backward=_full_extreme_name("Max"),
)
def amax(a, /, dim=(), keepdim=False):
    """The largest element, of all or along ``dim``; ties share the gradient."""
    _some(a, dim, "max")
    return a.max(axis=_axes(dim), keepdims=keepdim)


@operation(
    "min",
    "min {a}",
    a=derivative("1 at the minimum, shared among ties", shared_among_ties),
    backward=_full_extreme_name("Min"),
)
def amin(a, /, dim=(), keepdim=False):
    """The smallest element, of all or along ``dim``; ties share the gradient."""
    _some(a, dim, "min")
    return a.min(axis=_axes(dim), keepdims=keepdim)


def _some(a: Any, dim: Dim, name: str) -> None:
    if not a.size and not _count(a.shape, dim):
        if _axes(dim) is None:
            kind = IndexError if name.startswith("arg") else RuntimeError
            raise kind(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                f"reduction dim with the 'dim' argument; the tensor is of shape {a.shape}"
            )
        raise IndexError(
            f"{name}(): Expected reduction dim {dim} to have non-zero size; the shape is {a.shape}"
        )


@operation("argmax", "place of max {a}")
def argmax(a, /, dim=None, keepdim=False):
    """The place of the largest element: of all, flattened, or along ``dim``; NaN counts as largest."""
    _some(a, dim, "argmax")
    return a.argmax(axis=dim, keepdims=keepdim)


@operation("argmin", "place of min {a}")
def argmin(a, /, dim=None, keepdim=False):
    """The place of the smallest element: of all, flattened, or along ``dim``; NaN counts as smallest."""
    _some(a, dim, "argmin")
    return a.argmin(axis=dim, keepdims=keepdim)


def _to_the_place(g: Any, shape: tuple[int, ...], dim: int, keepdim: bool, index: Any) -> Any:
    places = restored(index, shape, dim, keepdim)
    return (
        on(scatter_zeros, restored(g, shape, dim, keepdim), shape=shape, dim=dim, index=places)
        if shape
        else g
    )


def _along(name: str) -> Any:
    """The operation behind ``max(dim)``: it reads the places that were found, one for each result."""

    @operation(
        name,
        f"{name} {{a}}",
        a=derivative(f"1 at the place of the {name}imum, else 0", _to_the_place),
        name=f"{name}_along",
        backward=f"{name.capitalize()}Backward0",
    )
    def taken(a, /, dim, keepdim, index):
        """The elements of ``a`` at the places ``index`` along ``dim``."""
        if not a.ndim:
            return a.copy()
        return np.take_along_axis(a, restored(index, a.shape, dim, keepdim), dim).reshape(index.shape)

    return taken


_max_along, _min_along = _along("max"), _along("min")


MaxResult = return_type("max", "values", "indices")
MinResult = return_type("min", "values", "indices")


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element of all; with ``dim`` a pair of values and indices; of two tensors :func:`maximum`.

    The whole maximum shares its gradient among ties; along a dimension all of
    it goes to the index returned.
    """
    return _extreme(input, dim if other is None else other, keepdim, amax, _max_along, argmax, MaxResult)


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element of all; with ``dim`` a pair of values and indices; of two :func:`minimum`."""
    return _extreme(input, dim if other is None else other, keepdim, amin, _min_along, argmin, MinResult)


def _extreme(input: Any, dim: Any, keepdim: bool, whole: Any, along: Any, place: Any, pair: Any) -> Any:
    from autokit.ops import elementwise

    if isinstance(dim, Tensor):
        return (elementwise.maximum if pair is MaxResult else elementwise.minimum)(input, dim)
    if dim is None:
        return whole(input, None)
    indices = place(input, dim, keepdim)
    return pair(along(input, dim, keepdim, indices.array), indices)


# ---------------------------------------------------------------- soft extremes


def _top(a: Any, dim: Dim) -> Any:
    """The largest element along ``dim``: taken off first, no exponential overflows."""
    return a.max(axis=_axes(dim), keepdims=True) if a.size else a.sum(axis=_axes(dim), keepdims=True)


@operation(
    "logsumexp",
    "log Σ exp {a}",
    a=derivative(
        "exp({a} − {out})",
        lambda g, a, out, shape, dim, keepdim: (
            restored(g, shape, dim, keepdim) * np.exp(a - restored(out, shape, dim, keepdim))
        ),
    ),
    floating=True,
)
def logsumexp(a, /, dim, keepdim=False):
    """The logarithm of the sum of exponentials along ``dim``, also where these would overflow."""
    top = _top(a, dim)
    top = np.where(np.isfinite(top), top, 0)
    total = np.log(np.exp(a - top).sum(axis=_axes(dim), keepdims=True)) + top
    return total if keepdim else total.reshape(a.sum(axis=_axes(dim)).shape)


@operation(
    "softmax",
    "softmax {a}",
    name="softmax",
    a=derivative(
        "diag(p) − p pᵀ, where p = {out}",
        lambda g, out, dim: out * (g - (g * out).sum(axis=dim, keepdims=True)),
    ),
    floating=True,
)
def plain_softmax(a, /, dim):
    """See :func:`softmax`."""
    exponentials = np.exp(a - _top(a, dim))
    return exponentials / exponentials.sum(axis=dim, keepdims=True)


@operation(
    "log softmax",
    "log softmax {a}",
    name="log_softmax",
    a=derivative(
        "I − 1 pᵀ, where p = exp {out}",
        lambda g, out, dim: g - np.exp(out) * g.sum(axis=dim, keepdims=True),
    ),
    floating=True,
)
def plain_log_softmax(a, /, dim):
    """See :func:`log_softmax`."""
    shifted = a - _top(a, dim)
    return shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))


def softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """Positive numbers that sum to 1 along ``dim``: exponentials over their sum."""
    return plain_softmax(converted(input, dtype), dim)


def log_softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, computed without leaving the logarithms."""
    return plain_log_softmax(converted(input, dtype), dim)


def _answer(true: Any, a: Any) -> Any:
    """True or false; for bytes, which were PyTorch's bools once, as bytes."""
    return true.astype(a.dtype) if a.dtype == np.uint8 else true


@operation("all", "all {a}")
def all(a, /, dim=None, keepdim=False):
    """Whether all elements are true."""
    return _answer(a.all(axis=_axes(dim), keepdims=keepdim), a)


@operation("any", "any {a}")
def any(a, /, dim=None, keepdim=False):
    """Whether one element is true."""
    return _answer(a.any(axis=_axes(dim), keepdims=keepdim), a)


NAMES = Names(
    both="all amax amin any argmax argmin log_softmax logsumexp max mean min softmax std sum var",
    numpy={np.sum: sum, np.mean: mean},
)
