"""Writing into a tensor: into all of it, at the places that indices give, or where a mask is true.

``scatter``, ``index_add``, ``masked_fill`` and similar functions return a changed copy; their forms with a
trailing underscore change the tensor itself. ``fill_``, ``zero_`` and ``copy_`` overwrite all of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, require_tensor
from autokit.engine.inplace import write
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.gpu.lacking import combine_at
from autokit.ops.gather import add_at_places, checked_index, corner, plain_gather
from autokit.ops.index import (
    along,
    as_element,
    checked_vector,
    in_two_steps,
    setitem,
    spread,
)
from autokit.ops.names import Names
from autokit.ops.triangle import diagonal

# ---------------------------------------------------------------- everywhere


def fill_(self: Tensor, value: Any) -> Tensor:
    """Set each element to ``value``, a number or a tensor without dimensions."""
    if not isinstance(value, Tensor):
        return write(self, ..., as_element(value, self))
    if value.array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.array.ndim} dimensions: copy_() copies many elements"
        )
    return write(self, ..., value)


def zero_(self: Tensor) -> Tensor:
    """Set each element to 0."""
    return write(self, ..., self.array.dtype.type(0))


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy the elements of ``src``, which may broadcast, have another dtype, or be on another device."""
    require_tensor("copy_", src, "other", 0)
    if src.array.ndim > self.array.ndim:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(src.shape)}"
        )
    setitem(self, ..., src)
    return self


def fill_diagonal_(self: Tensor, fill_value: float) -> Tensor:
    """Set the diagonal of a matrix to a number."""
    fill_(diagonal(self), fill_value)
    return self


# ---------------------------------------------------------------- an index for each element


def whole_index(index: Any, dim: int) -> tuple[Any, ...]:
    """The index for all dimensions, from one along ``dim``: along the others an element keeps its place."""
    places = list(module_of(index).ogrid[tuple([slice(size) for size in index.shape])])
    places[dim] = index
    return tuple(places)


def _source(name: str, input: Tensor, index: Tensor, src: Any) -> Any:
    """The part of ``src`` that has an element for each index; a number as it is."""
    if not isinstance(src, Tensor):
        return as_element(src, input)
    fits = [want <= have for have, want in zip(src.array.shape, index.array.shape)]
    if src.array.ndim != index.array.ndim or not all(fits):
        raise RuntimeError(f"{name}(): src has an element for each index: {describe(src)}, {describe(index)}")
    if src.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype: {describe(input)}, {describe(src)}"
        )
    part = corner(src.array.shape, index.array.shape)
    return src[part] if part else src


def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """A copy in which ``input[i, index[i, j]] = src[i, j]`` for ``dim=1``; a number goes to each place.

    Parameters
    ----------
    input : Tensor
    dim : int
    index : Tensor of int64
        As many dimensions as ``input``.
    src : Tensor or number
        What to write (a number also as ``value``).
    reduce : {"add", "multiply"}, optional
        Change the elements by ``src`` instead; see :func:`scatter_reduce`.

    Raises
    ------
    RuntimeError, IndexError
        If shapes or dtypes do not fit, or a place is not there.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.zeros(2, 3).scatter(1, torch.tensor([[2], [0]]), 1.0)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    dim = checked_index("scatter", input, dim, index)
    src = _source("scatter", input, index, src if value is None else value)
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        src = src if isinstance(src, Tensor) else index.to(input.dtype) * 0 + src
        return scatter_reduce(input, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce])
    return write(input.clone(), whole_index(index.array.copy(), dim) or ..., src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy in which ``src[i, j]`` is added to ``input[i, index[i, j]]`` for ``dim=1``; repeats add up."""
    dim = checked_index("scatter_add", input, dim, index)
    require_tensor("scatter_add", src, "src", 3)
    src = _source("scatter_add", input, index, src)
    shape = input.array.shape
    added = add_at_places(src, index, dim=dim, size=shape[dim]) if shape else src
    return input + (added if added.array.shape == shape else _in_corner(added, shape))


def _in_corner(part: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``part`` with zeros behind it, up to ``shape``."""
    return spread(part, shape=shape, index=tuple([slice(size) for size in part.array.shape]))


_UFUNCS = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "amax": -np.inf, "amin": np.inf}
"""The neutral element of each reduction: combined with it, a value stays the same."""


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy in which each place holds the sum, product, mean or extreme of the elements of ``src`` for it.

    Parameters
    ----------
    input, dim, index, src
        As for :func:`scatter_add`.
    reduce : {"sum", "prod", "mean", "amax", "amin"}
    include_self : bool
        Let the element that stands there take part.
    """
    if reduce not in _NEUTRAL:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    dim = checked_index("scatter_reduce", input, dim, index)
    require_tensor("scatter_reduce", src, "src", 3)
    src = _source("scatter_reduce", input, index, src)
    start = input if include_self else scatter(input, dim, index, _neutral(reduce, input.array.dtype))
    if reduce in _UFUNCS:
        return plain_scatter_reduce(start, src, index, dim=dim, reduce=reduce)
    total = scatter_add(start, dim, index, src)
    if reduce == "sum":
        return total
    ones = [new_tensor(np.ones_like(each.array)) for each in (input, src)]
    counts = scatter_reduce(ones[0], dim, index, ones[1], "sum", include_self=include_self)
    return total / counts if input.array.dtype.kind == "f" else total.floor_divide(counts)


def _neutral(reduce: str, dtype: np.dtype) -> Any:
    value = _NEUTRAL[reduce]
    if np.isfinite(value) or dtype.kind == "f":
        return value
    if dtype.kind == "b":
        return value > 0
    return np.iinfo(dtype).min if value < 0 else np.iinfo(dtype).max


def _shares(g: Any, a: Any, src: Any, index: Any, out: Any, dim: int, reduce: str) -> tuple[Any, Any, None]:
    """The gradients of :func:`plain_scatter_reduce`."""

    def read(x: Any) -> Any:
        return on(plain_gather, x, index, dim=dim)

    def added(x: Any) -> Any:
        return on(add_at_places, x, index, dim=dim, size=a.shape[dim])

    if reduce == "prod":
        # The product of the other factors: the quotient, unless the factor is 0, which is left out then.
        zeros, zero = src == 0, a == 0
        met = added(zeros * 1.0) + zero
        rest = on(
            plain_scatter_reduce,
            np.where(zero, 1.0, a),
            np.where(zeros, 1.0, src),
            index,
            dim=dim,
            reduce=reduce,
        )
        by_a = np.where(met == zero, rest, 0.0) / np.where(zero, 1.0, a)
        by_src = np.where(read(met) == zeros, read(rest), 0.0) / np.where(zeros, 1.0, src)
        return g * by_a, read(g) * by_src, None
    # Those that are extreme at one place share the gradient.
    mine, theirs = a == out, src == read(out)
    share = g / np.maximum(added(theirs * 1.0) + mine, 1.0)
    return mine * share, theirs * read(share), None


@operation(
    "scatter",
    "{a} and {src}, brought together",
    joint=derivative({"a": "its part", "src": "its part"}, _shares),
    mixed=True,
    name="scatter_reduce",
)
def plain_scatter_reduce(a, src, index, /, dim, reduce):
    """The product or extreme at each place, for an ``index`` of the sizes of ``a`` except along ``dim``."""
    result = a.copy()
    combine_at(_UFUNCS[reduce], result, whole_index(index, dim), src)
    return result


# ---------------------------------------------------------------- a vector of places


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy with the slices of ``source``, times ``alpha``, added at the places that a vector names.

    >>> import autokit as torch
    >>> torch.zeros(3).index_add(0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 4.0]))
    tensor([3., 0., 4.])
    """
    dim = checked_vector("index_add", input, dim, index)
    _require_slices("index_add", input, dim, index, source)
    source = source if alpha == 1 else source * alpha
    return input + spread(source, shape=input.array.shape, index=along(dim, index.array.copy()))


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with ``value``, a number or a tensor without dimensions, in the slices that a vector names."""
    dim = checked_vector("index_fill", input, dim, index, -input.array.shape[dim])
    return write(input.clone(), along(dim, index.array.copy()), _single("index_fill_", input, value))


def _require_slices(name: str, input: Tensor, dim: int, index: Tensor, source: Any) -> None:
    require_tensor(name, source, "source", 3)
    wanted = (*input.array.shape[:dim], index.array.size, *input.array.shape[dim + 1 :])
    if source.array.shape != wanted or source.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"{name}(): the source has a slice for each place that the index names, in the dtype of the "
            f"tensor: {input.dtype.name}, shape {list(wanted)}. Got {describe(source)}"
        )


def _single(name: str, input: Tensor, value: Any) -> Any:
    """A number as a scalar of the dtype of ``input``; a tensor only if it has no dimensions."""
    if not isinstance(value, Tensor):
        return as_element(value, input)
    if value.array.ndim:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with {value.array.ndim} "
            "dimension(s)."
        )
    return value.to(input.dtype)


# ---------------------------------------------------------------- any index, or the flattened tensor


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with ``values`` at ``input[indices]``, or with ``accumulate`` added to what is there."""
    if not isinstance(indices, tuple | list):
        raise TypeError(f"index_put(): 'indices' must be tuple of Tensors, not {type(indices).__name__}")
    require_tensor("index_put", values, "values", 2)
    if accumulate:
        _, picks = in_two_steps(input, tuple(indices), copies=True)
        part = np.empty(input.array.shape, bool)[picks].shape
        return input + spread(values.expand(part), shape=input.array.shape, index=picks)
    result = input.clone()
    result[tuple(indices)] = values
    return result


# ---------------------------------------------------------------- a mask


@operation(
    "mask",
    "{a}, and {value} where {mask}",
    a=derivative("1 outside of the mask", lambda g, mask: np.where(mask, 0, g)),
    value=derivative("1 in the mask", lambda g, mask: np.where(mask, g, 0)),
    mixed=True,
    name="masked_fill",
)
def plain_masked_fill(a, mask, value, /):
    """See :func:`masked_fill`."""
    return np.where(mask, value, a)


def _require_mask(name: str, mask: Any) -> None:
    require_tensor(name, mask, "mask", 1)
    if mask.array.dtype.kind != "b":
        raise RuntimeError(
            f"{name} only supports boolean masks, and not {describe(mask)}: compare, as in x > 0"
        )


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input``, with ``value``, a number or a tensor without dimensions, where ``mask`` is true.

    Raises
    ------
    RuntimeError
        If the mask is not of bools, or does not broadcast with ``input``.
    """
    _require_mask("masked_fill_", mask)
    return plain_masked_fill(input, mask, _single("masked_fill_", input, value))


_NAMES = "index_add index_fill index_put masked_fill scatter scatter_add scatter_reduce"
NAMES = Names(both=_NAMES, in_place=_NAMES, methods="copy_ fill_ fill_diagonal_ zero_")
