"""Writing by a tensor of indices: ``scatter``, ``scatter_add``, ``scatter_reduce`` and ``index_reduce``.

Such a tensor is as in ``gather``, and every place is checked before anything is
written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.dtypes import DIFFERENTIABLE, FLOATS
from autokit.ops import complex_numbers
from autokit.ops.dims import place_of
from autokit.ops.errors import describe, require_tensor
from autokit.ops.gather import (
    add_along,
    checked_index,
    in_one_dimension,
    plain_gather,
    require_vector,
    whole_index,
    zero,
)
from autokit.ops.gpu.arrays import like
from autokit.ops.gpu.bounds import outside
from autokit.ops.gpu.ufuncs import combine_at
from autokit.ops.guards import guard, guards
from autokit.ops.index import spread_out, writable_copy
from autokit.ops.names import Names
from autokit.ops.operands import fitting
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import unchanged
from autokit.tensor import Tensor, new_tensor


def _scattered(a: Any, values: Any, dim: int, index: Any) -> Any:
    result = writable_copy(a)
    if not result.ndim:
        if index.size:
            result[...] = np.reshape(values, -1)[-1] if np.ndim(values) else values
    elif index.size:
        if np.ndim(values):
            values = values[tuple([slice(0, size) for size in index.shape])]
        result[whole_index(index.shape, dim, index)] = values
    return result


def _in_corner(g: Any, shape: tuple[int, ...]) -> Any:
    """``g`` with zeros behind it, up to ``shape``."""
    if tuple(g.shape) == tuple(shape):
        return g
    return on(spread_out, g, shape=shape, index=tuple([slice(0, size) for size in g.shape]))


@operation(
    "scatter",
    "{a}, with {src} put at given places",
    a=derivative(
        "1 at the places kept",
        lambda g, dim, index: on(plain_scatter, g, zero(g), dim=dim, index=index),
    ),
    src=derivative(
        "1 at the places written",
        lambda g, shape, dim, index: (
            _in_corner(on(plain_gather, g, dim=dim, index=index), shape)
            if shape
            else on(plain_gather, g, dim=dim, index=index).sum()
        ),
    ),
    name="scatter",
    backward=lambda node: "ScatterBackward0" if node.settings["by_tensor"] else "ScatterBackward1",
)
def plain_scatter(a, src, /, dim, index, by_tensor=False):
    """See :func:`scatter`."""
    return _scattered(a, src, dim, index)


@operation(
    "scatter+",
    "{a}, with {src} added at given places",
    a=derivative("1", unchanged),
    src=derivative(
        "1 at the places written",
        lambda g, shape, dim, index: (
            _in_corner(on(plain_gather, g, dim=dim, index=index), shape)
            if shape
            else on(plain_gather, g, dim=dim, index=index).sum()
        ),
    ),
    name="scatter_add",
)
def plain_scatter_add(a, src, /, dim, index):
    """See :func:`scatter_add`."""
    return add_along(writable_copy(a), dim, index, src)


def _source(name: str, input: Tensor, axis: int, places: np.ndarray, src: Tensor) -> Tensor:
    """``src``, checked: it has an element for each index, of the dtype of ``input``."""
    own, given = input.array.shape or (1,), src.array.shape or (1,)
    sizes = places.shape or (1,)
    if not places.size:
        src = src.reshape(-1)[:0].reshape(places.shape)
        given = sizes
    if len(given) != len(sizes):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for place, (index, size, source) in enumerate(zip(sizes, own, given)):
        if index > source or (index > size and place != axis):
            raise RuntimeError(
                f"Expected index {list(places.shape)} to be no larger than self "
                f"{list(input.array.shape)} apart from dimension {axis} and to be no larger size "
                f"than src {list(src.array.shape)}"
            )
    if src.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype: they are {input.dtype.name} and "
            f"{src.dtype.name}"
        )
    if not input.array.ndim and src.array.size > places.size:  # what no index names does not take part
        src = src.reshape(-1)[: places.size]
    return in_one_dimension(src, input.array.shape)


@guards("index")
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
    RuntimeError
        If a place is not there, or shapes or dtypes do not fit.
    """
    if value is not None:
        src = value
    axis, places = checked_index("scatter", input, dim, index, "self")
    if isinstance(src, Tensor):
        src = _source("scatter", input, axis, places, src)
    elif not isinstance(src, int | float | complex | np.generic):
        raise TypeError(f"scatter() takes a Tensor or a number to write, not {type(src).__name__}")
    else:
        src = fitting(src, input.array.dtype)
        own = input.array.shape
        if any(index > size for at, (index, size) in enumerate(zip(places.shape, own)) if at != axis):
            raise RuntimeError(
                f"Expected index {list(places.shape)} to be no larger than self {list(own)} apart from "
                f"dimension {axis}"
            )
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        if not isinstance(src, Tensor):
            src = new_tensor(like(np.full_like, input.array, src, shape=places.shape))
        return scatter_reduce(input, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce])
    if not isinstance(src, Tensor):
        filler = new_tensor(like(np.full_like, input.array, src, shape=()))
        return plain_scatter(input, filler, dim=axis, index=places, by_tensor=False)
    return plain_scatter(input, src, dim=axis, index=places, by_tensor=True)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy in which ``src[i, j]`` is added to ``input[i, index[i, j]]`` for ``dim=1``; repeats add up."""
    axis, places = checked_index("scatter_add", input, dim, index, "self")
    require_tensor("scatter_add", src, "src", 3)
    src = _source("scatter", input, axis, places, src)
    made = plain_scatter_add(input, src, dim=axis, index=places)
    if src._requires_grad:
        guard(made, [index])
    return made


_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@guards("index")
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy in which each place holds the sum, product, mean or extreme of what ``src`` brings to it.

    Parameters
    ----------
    input, dim, index, src
        As for :func:`scatter_add`.
    reduce : {"sum", "prod", "mean", "amax", "amin"}
    include_self : bool
        Let the element that stands there take part.
    """
    axis, places = checked_index("scatter_reduce", input, dim, index, "self")
    require_tensor("scatter_reduce", src, "src", 3)
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    src = _source("scatter", input, axis, places, src)
    if reduce == "mean" and input.array.dtype.kind == "b":
        raise NotImplementedError("scatter_reduce: bools have no mean: convert them with .float()")
    shape = input.array.shape
    if not shape:
        row = input.reshape(1).clone()  # which a change in place of the input leaves as it is
        whole = scatter_reduce(row, 0, index.reshape(-1), src.reshape(-1), reduce, include_self=include_self)
        return whole.reshape(())
    return plain_scatter_reduce(input, src, dim=axis, index=places, reduce=reduce, include_self=include_self)


def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy in which the slices that a vector names hold what slices of ``source`` bring to them.

    Parameters
    ----------
    dim : int
    index : Tensor
        For each slice of ``source`` along ``dim``, which slice of ``input`` it goes to.
    source : Tensor
    reduce : {"prod", "mean", "amax", "amin"}
    include_self : bool
        Let the elements that stand there take part.

    Raises
    ------
    RuntimeError, IndexError
        If there is no such reduction, or the shapes or indices do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.ones(2).index_reduce(0, torch.tensor([0, 0]), torch.tensor([2.0, 3.0]), "prod")
    tensor([6., 1.])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    require_tensor("index_reduce", index, "index", 2)
    require_tensor("index_reduce", source, "source", 3)
    axis = place_of(dim, input.array.ndim, "index_reduce")
    require_vector("index_reduce_", index)
    if source.array.ndim and axis >= source.array.ndim:
        raise RuntimeError(
            f"index_reduce_(): Indexing dim {axis} is out of bounds of the source tensor: {describe(source)}"
        )
    count = source.array.shape[axis] if source.array.ndim else 1
    if index.array.size != count:
        raise RuntimeError(
            "index_reduce(): Number of indices should be equal to source.size(dim): there are "
            f"{index.array.size} of them for {describe(source)}"
        )
    if source.array.dtype != input.array.dtype:
        raise RuntimeError("index_reduce(): self and source must have the same scalar type")
    others = [shape[:axis] + shape[axis + 1 :] for shape in (input.array.shape, source.array.shape)]
    if others[0] != others[1] or input.array.ndim != source.array.ndim:
        raise RuntimeError(
            f"index_reduce(): {describe(input)} and {describe(source)} may differ along dimension "
            f"{axis} alone"
        )
    if input.array.dtype.kind in "bc" and (not include_self or input.array.ndim < 2):
        loop = "index_func_" if include_self else "index_reduce_func_exclude_input_init"
        kind = "Bool" if input.array.dtype.kind == "b" else "ComplexFloat"
        raise NotImplementedError(f"\"{loop}\" not implemented for '{kind}': {describe(input)}")
    if not input.array.ndim:
        whole = input[None].index_reduce(
            0, index.reshape(-1), source.reshape(-1), reduce, include_self=include_self
        )
        return whole.reshape(())
    size = input.array.shape[axis]
    wrong = outside(index.array, 0, size)
    if wrong is not None:
        raise IndexError(f"index out of range in self: {wrong}, where dimension {axis} has the size {size}")
    along = [1] * source.array.ndim
    along[axis] = -1
    return scatter_reduce(
        input, dim, index.reshape(along).expand(source.shape), source, reduce, include_self=include_self
    )


_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def _start(reduce: str, dtype: np.dtype) -> Any:
    """What changes nothing in a reduction."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in FLOATS:
        return -np.inf if reduce == "amax" else np.inf
    return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max


def _arrivals(shape: tuple[int, ...], dim: int, index: Any, include_self: bool) -> np.ndarray:
    """How many elements meet at each place."""
    counts = like(np.full_like, index, int(include_self), np.int64, shape=shape)
    return add_along(counts, dim, index, np.ones_like(index, np.int64))


def _reduce_gradients(
    g: Any, a: Any, src: Any, out: Any, dim: int, index: Any, reduce: str, include_self: bool
) -> tuple[Any, Any]:
    """The gradients of all five reductions: what met at a place shares the gradient that arrives there."""

    def take(x: Any) -> Any:
        return on(plain_gather, x, dim=dim, index=index)

    def product(x: Any, y: Any) -> Any:
        return on(plain_scatter_reduce, x, y, dim=dim, index=index, reduce="prod", include_self=include_self)

    shape = tuple(a.shape)
    part = src[tuple([slice(0, size) for size in index.shape])]
    if reduce == "sum":
        own, given = g, take(g)
    elif reduce == "mean":
        own = g / np.maximum(_arrivals(shape, dim, index, include_self), 1).astype(_numpy_dtype(g))
        given = take(own)
    elif reduce == "prod":
        # The product of the others: a quotient where no factor is 0, else the product with a 1 for the 0.
        factor = np.where(a == 0, 1, a)
        own = g * product(factor, part) / factor
        zeros = _array(part) == 0
        zeros_met = add_along(like(np.zeros_like, index, np.float64, shape=shape), dim, index, zeros)[
            whole_index(index.shape, dim, index)
        ]
        alone = zeros & (zeros_met == 1)
        others = product(a, np.where(alone, 1, part))
        given = np.where(alone, take(g * others), take(g * out) / np.where(zeros, 1, part))
    else:
        mine, theirs = (_array(a) == _array(out)) & include_self, _array(part) == _array(take(out))
        met = add_along(mine.astype(_numpy_dtype(g)), dim, index, theirs)
        shares = np.where(np.isnan(_array(out)), 0, np.maximum(met, 1))  # nothing equals a NaN: it is 0 / 0
        share = g / shares.astype(met.dtype)
        own, given = mine * share, theirs * take(share)
    if not include_self:
        own = np.where(_arrivals(shape, dim, index, False) > 0, 0, g)
    return own, _in_corner(given, tuple(src.shape))


def _array(x: Any) -> Any:
    return x.array if isinstance(x, Tensor) else x


def _numpy_dtype(x: Any) -> np.dtype:
    return _array(x).dtype


@operation(
    "scatter",
    "{a} and {src}, brought together",
    joint=derivative("its part", _reduce_gradients),
    name="scatter_reduce",
)
def plain_scatter_reduce(a, src, /, dim, index, reduce, include_self=True):
    """See :func:`scatter_reduce`."""
    if a.dtype.kind == "c" and reduce in ("amax", "amin"):
        complex_numbers.refuse(f"scatter_{reduce}", (a,))
    result = writable_copy(a)
    if not index.size:
        return result
    places = whole_index(index.shape, dim, index)
    if not include_self:
        result[places] = _start(reduce, a.dtype)
    part = src[tuple([slice(0, size) for size in index.shape])]
    if _UFUNCS[reduce] is np.add:
        add_along(result, dim, index, part)
    else:
        combine_at(_UFUNCS[reduce], result, places, part)
    if reduce == "mean":
        counts = np.maximum(_arrivals(a.shape, dim, index, include_self), 1)
        divide = np.true_divide if a.dtype.kind in DIFFERENTIABLE else np.floor_divide
        return divide(result, counts.astype(a.dtype))
    return result


NAMES = Names(
    both="index_reduce scatter scatter_add scatter_reduce",
    in_place="index_reduce scatter scatter_add scatter_reduce",
)
