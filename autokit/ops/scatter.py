"""Reading and writing by tensors of indices, and by masks: ``gather``, ``scatter``, ``masked_fill``.

Three ways to say where: an *index tensor* for each element along one
dimension (``gather``, ``scatter``), a *vector of places* along one dimension
(``index_select``, ``index_add``), and a *mask*.  Every place is checked before
anything is read or written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.ops.dims import place_of
from autokit.ops.errors import broadcast_message, describe
from autokit.ops.index import add_at, out_of_bounds, plain_getitem, plain_index, plain_nonzero, spread_out
from autokit.ops.index import put as put_at
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor, new_tensor


def _zero(g: Any) -> Any:
    """A single 0 of the kind of ``g``."""
    return g.reshape(-1)[:0].sum()


def _kind(tensor: Tensor) -> str:
    """PyTorch's name for a dtype in these messages."""
    return {"float64": "Double", "float32": "Float", "float16": "Half", "int64": "Long", "int32": "Int"}.get(
        tensor.dtype.name, tensor.dtype.name.capitalize()
    )


def _require(name: str, argument: str, place: int, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {place}) must be Tensor, not {type(value).__name__}"
        )


# ---------------------------------------------------------------- an index for each element


def _beside(shape: tuple[int, ...], dim: int, index: Any) -> tuple[Any, ...]:
    """The whole index that an index along ``dim`` stands for: each element's own place elsewhere."""
    places: list[Any] = list(np.ix_(*[np.arange(size) for size in shape]))
    places[dim] = index
    return tuple(places)


@operation(
    "gather",
    "{a} at given places",
    a=derivative(
        "1 at the places taken",
        lambda g, shape, dim, index: on(scatter_zeros, g, shape=shape, dim=dim, index=index),
    ),
    mixed=True,
    name="gather",
)
def plain_gather(a, /, dim, index):
    """See :func:`gather`."""
    if not a.ndim:
        return np.broadcast_to(a, index.shape).copy()
    if a.shape[:dim] + a.shape[dim + 1 :] == index.shape[:dim] + index.shape[dim + 1 :]:
        return np.take_along_axis(a, index, axis=dim)
    return a[_beside(index.shape, dim, index)]


@operation(
    "scatter",
    "{a} put at given places",
    a=derivative("1 at the places put", lambda g, dim, index: on(plain_gather, g, dim=dim, index=index)),
    name="scatter_zeros",
)
def scatter_zeros(a, /, shape, dim, index):
    """Zeros of ``shape`` with the elements of ``a`` added at the places ``index`` along ``dim``."""
    return _add_along(np.zeros_like(a, shape=shape), dim, index, a)


def _add_along(result: Any, dim: int, index: Any, values: Any) -> Any:
    if not result.ndim:
        result += values.sum()
    elif index.size:
        lead = tuple([slice(0, size) for size in index.shape])
        add_at(result, _beside(index.shape, dim, index), values[lead])
    return result


def _checked_index(name: str, input: Tensor, dim: Any, index: Any, what: str) -> tuple[int, np.ndarray]:
    """The dimension from the front, and the index as an array, both checked."""
    _require(name, "index", 2, index)
    places, shape = index.array, input.array.shape
    axis = place_of(dim, len(shape), name)
    if places.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index: {describe(index)}")
    if (places.ndim or 1) != (len(shape) or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {what} tensor: it has {places.ndim}, "
            f"and the other {len(shape)}"
        )
    _within(places, axis, shape[axis] if shape else 1, RuntimeError)
    return axis, places


def _within(places: np.ndarray, dim: int, size: int, kind: type[Exception], least: int = 0) -> None:
    """Raise where one of ``places`` is not there."""
    if places.size and (places.min() < least or places.max() >= size):
        wrong = places[(places < least) | (places >= size)]
        raise out_of_bounds(int(wrong.reshape(-1)[0]), dim, size, kind)


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """The elements at the places ``index`` along ``dim``: ``input[i, index[i, j]]`` for ``dim=1``.

    Parameters
    ----------
    input : Tensor
    dim : int
    index : Tensor of int64
        As many dimensions as ``input``, and nowhere longer than it but along ``dim``.

    Raises
    ------
    RuntimeError
        If a place is not there, or the shapes do not fit.
    """
    axis, places = _checked_index("gather", input, dim, index, "input")
    for other, (own, size) in enumerate(zip(places.shape, input.array.shape)):
        if own > size and other != axis and places.size:
            raise RuntimeError(
                f"Size does not match at dimension {other} expected index {list(places.shape)} to be no "
                f"larger than self {list(input.array.shape)} apart from dimension {axis}"
            )
    return plain_gather(input, dim=axis, index=places)


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """As :func:`gather`, where the shapes broadcast; without ``dim``, from the flattened tensor."""
    _require("take_along_dim", "indices", 2, indices)
    if indices.array.dtype.kind != "i":
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {_kind(indices)}"
        )
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    if input.array.ndim != indices.array.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.array.ndim} dimensions for input, and {indices.array.ndim} dimensions for indices"
        )
    axis = place_of(dim, input.array.ndim, "take_along_dim")
    mine, theirs = list(input.array.shape), list(indices.array.shape)
    mine[axis] = theirs[axis] = 1
    try:
        common = list(np.broadcast_shapes(tuple(mine), tuple(theirs)))
    except ValueError:
        raise RuntimeError(broadcast_message(tuple(mine), tuple(theirs))) from None
    whole = [*common[:axis], input.array.shape[axis], *common[axis + 1 :]]
    index = [*common[:axis], indices.array.shape[axis], *common[axis + 1 :]]
    return gather(input.expand(whole), axis, indices.expand(index))


def _scattered(a: Any, values: Any, dim: int, index: Any) -> Any:
    result = a.copy()
    if not result.ndim:
        if index.size:
            result[...] = np.reshape(values, -1)[-1] if np.ndim(values) else values
    elif index.size:
        if np.ndim(values):
            values = values[tuple([slice(0, size) for size in index.shape])]
        result[_beside(index.shape, dim, index)] = values
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
        lambda g, dim, index: on(plain_scatter, g, _zero(g), dim=dim, index=index),
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
    a=derivative("1", lambda g: g),
    src=derivative(
        "1 at the places written",
        lambda g, shape, dim, index: _in_corner(on(plain_gather, g, dim=dim, index=index), shape),
    ),
    name="scatter_add",
)
def plain_scatter_add(a, src, /, dim, index):
    """See :func:`scatter_add`."""
    return _add_along(a.copy(), dim, index, src)


def _source(name: str, input: Tensor, axis: int, places: np.ndarray, src: Tensor) -> None:
    """Raise unless ``src`` has an element for each index, of the dtype of ``input``."""
    own, given = input.array.shape or (1,), src.array.shape or (1,)
    sizes = places.shape or (1,)
    if len(given) != len(sizes):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if places.size:
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
    axis, places = _checked_index("scatter", input, dim, index, "self")
    if isinstance(src, Tensor):
        _source("scatter", input, axis, places, src)
    elif not isinstance(src, int | float | complex | np.generic):
        raise TypeError(f"scatter() takes a Tensor or a number to write, not {type(src).__name__}")
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        if not isinstance(src, Tensor):
            src = new_tensor(np.full(places.shape, src, input.array.dtype))
        return scatter_reduce(input, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce])
    if not isinstance(src, Tensor):
        filler = new_tensor(np.asarray(src).astype(input.array.dtype))
        return plain_scatter(input, filler, dim=axis, index=places, by_tensor=False)
    return plain_scatter(input, src, dim=axis, index=places, by_tensor=True)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy in which ``src[i, j]`` is added to ``input[i, index[i, j]]`` for ``dim=1``; repeats add up."""
    axis, places = _checked_index("scatter_add", input, dim, index, "self")
    _require("scatter_add", "src", 3, src)
    _source("scatter", input, axis, places, src)
    return plain_scatter_add(input, src, dim=axis, index=places)


_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


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
    axis, places = _checked_index("scatter_reduce", input, dim, index, "self")
    _require("scatter_reduce", "src", 3, src)
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    _source("scatter", input, axis, places, src)
    shape = input.array.shape
    if not shape:
        whole = scatter_reduce(
            input.reshape(1), 0, index.reshape(-1), src.reshape(-1), reduce, include_self=include_self
        )
        return whole.reshape(())
    return plain_scatter_reduce(input, src, dim=axis, index=places, reduce=reduce, include_self=include_self)


_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def _start(reduce: str, dtype: np.dtype) -> Any:
    """What changes nothing in a reduction."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "f":
        return -np.inf if reduce == "amax" else np.inf
    return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max


def _arrivals(shape: tuple[int, ...], dim: int, index: Any, include_self: bool) -> np.ndarray:
    """How many elements meet at each place."""
    counts = np.full(shape, int(include_self))
    return _add_along(counts, dim, index, np.ones(index.shape, np.int64))


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
        zeros_met = _add_along(np.zeros(shape), dim, index, zeros)[_beside(index.shape, dim, index)]
        alone = zeros & (zeros_met == 1)
        others = product(a, np.where(alone, 1, part))
        given = np.where(alone, take(g * others), take(g * out) / np.where(zeros, 1, part))
    else:
        mine, theirs = (_array(a) == _array(out)) & include_self, _array(part) == _array(take(out))
        met = _add_along(mine.astype(_numpy_dtype(g)), dim, index, theirs)
        share = g / np.maximum(met, 1)
        own, given = np.where(mine, share, 0), np.where(theirs, take(share), 0)
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
    result = a.copy()
    if not index.size:
        return result
    places = _beside(index.shape, dim, index)
    if not include_self:
        result[places] = _start(reduce, a.dtype)
    part = src[tuple([slice(0, size) for size in index.shape])]
    if _UFUNCS[reduce] is np.add:
        _add_along(result, dim, index, part)
    else:
        _UFUNCS[reduce].at(result, places, part)
    if reduce == "mean":
        counts = np.maximum(_arrivals(a.shape, dim, index, include_self), 1)
        return result / counts.astype(a.dtype) if a.dtype.kind == "f" else result // counts.astype(a.dtype)
    return result


# ---------------------------------------------------------------- whole slices, by a vector of places


def _checked_vector(name: str, input: Tensor, dim: Any, index: Any) -> tuple[int, np.ndarray]:
    _require(name, "index", 2, index)
    axis, places = place_of(dim, input.array.ndim, name), index.array
    if places.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector; it is {describe(index)}")
    if places.dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {_kind(index)}: {describe(index)}"
        )
    return axis, places.reshape(-1)


def _at(dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, index)


@operation(
    "[ ]",
    "{a} at given places",
    a=derivative(
        "1 at the places read",
        lambda g, shape, dim, index: on(spread_out, g, shape=shape, index=_at(dim, index)),
    ),
    name="index_select",
)
def plain_index_select(a, /, dim, index):
    """See :func:`index_select`."""
    return np.take(a, index, axis=dim)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of ``input`` along ``dim`` that a vector of places names, in its order.

    Raises
    ------
    IndexError
        If a place is not there; negative ones are not known here.
    """
    axis, places = _checked_vector("index_select", input, dim, index)
    if not input.array.ndim:
        return input[None].index_select(0, index).reshape(())
    size = input.array.shape[axis]
    if places.size and (places.min() < 0 or places.max() >= size):
        raise IndexError(
            f"index out of range in self: the places are from 0 to {size - 1}, and index goes from "
            f"{places.min()} to {places.max()}; {describe(input)}"
        )
    return plain_index_select(input, dim=axis, index=places)


@operation(
    "[ ]+=",
    "{a}, with {source} added at given places",
    a=derivative("1", lambda g: g),
    source=derivative(
        "alpha at the places written",
        lambda g, dim, index, alpha: on(plain_index_select, g, dim=dim, index=index) * alpha,
    ),
    name="index_add",
)
def plain_index_add(a, source, /, dim, index, alpha=1):
    """See :func:`index_add`."""
    result = a.copy()
    add_at(result, _at(dim, index), source * np.asarray(alpha, a.dtype))
    return result


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy with the slices of ``source``, times ``alpha``, added at the places that a vector names."""
    axis, places = _checked_vector("index_add_", input, dim, index)
    _require("index_add", "source", 3, source)
    if source.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"index_add_(): self ({_kind(input)}) and source ({_kind(source)}) must have the same scalar type"
        )
    if not input.array.ndim:
        return input[None].index_add(0, index, source.reshape(-1), alpha=alpha).reshape(())
    given = source.array.shape[axis] if axis < source.array.ndim else 1
    if places.size != given:
        raise RuntimeError(
            f"index_add_(): Number of indices ({places.size}) should be equal to source.size(dim): "
            f"({given}), for dim: {axis}"
        )
    own = input.array.shape
    if source.array.ndim and (
        source.array.ndim != len(own)
        or any(a != b for d, (a, b) in enumerate(zip(own, source.array.shape)) if d != axis)
    ):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(own)} source.shape = {list(source.array.shape)}"
        )
    _within(places, axis, own[axis], RuntimeError)
    return plain_index_add(input, source, dim=axis, index=places, alpha=alpha)


@operation(
    "[ ]=",
    "{a}, with {source} at given places",
    a=derivative(
        "1 at the places kept",
        lambda g, dim, index: on(plain_index_fill, g, _zero(g), dim=dim, index=index),
    ),
    source=derivative(
        "1 at the places written",
        lambda g, shape, dim, index: on(plain_index_select, g, dim=dim, index=index).reshape(shape),
    ),
    name="index_copy",
)
def plain_index_copy(a, source, /, dim, index):
    """See :func:`index_copy`."""
    result = a.copy()
    result[_at(dim, index)] = source
    return result


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy with the slices of ``source`` at the places that a vector names."""
    axis, places = _checked_vector("index_copy_", input, dim, index)
    _require("index_copy", "source", 3, source)
    if source.array.dtype != input.array.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{_kind(input)} and (source) {_kind(source)}"
        )
    if not input.array.ndim:
        return input[None].index_copy(0, index, source.reshape(-1)).reshape(())
    given = source.array.shape[axis] if axis < source.array.ndim else 1
    if places.size != given:
        raise IndexError(
            f"index_copy_(): Number of indices ({places.size}) should be equal to source.size(dim) ({given})"
        )
    own, theirs = list(input.array.shape), list(source.array.shape)
    if theirs and own[:axis] + own[axis + 1 :] != theirs[:axis] + theirs[axis + 1 :]:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{own[:axis] + own[axis + 1 :]} at dimension {axis} and source slice shape: "
            f"{theirs[:axis] + theirs[axis + 1 :]} at dimension {axis}."
        )
    size = own[axis]
    if places.size and (places.min() < 0 or places.max() >= size):
        wrong = places[(places < 0) | (places >= size)][0]
        raise IndexError(
            f"index_copy_(): index {wrong} is out of bounds for dimension {axis} with size {size}"
        )
    return plain_index_copy(input, source, dim=axis, index=places)


@operation(
    "[ ]=",
    "{a}, with {value} at given places",
    a=derivative(
        "1 at the places kept",
        lambda g, dim, index: on(plain_index_fill, g, _zero(g), dim=dim, index=index),
    ),
    value=derivative(
        "1 at the places written",
        lambda g, dim, index: on(plain_index_select, g, dim=dim, index=np.unique(index)).sum(),
    ),
    name="index_fill",
    backward=lambda node: f"IndexFillBackward{int(node.settings['by_tensor'])}",
)
def plain_index_fill(a, value, /, dim, index, by_tensor=False):
    """See :func:`index_fill`."""
    result = a.copy()
    if result.ndim:
        result[_at(dim, index)] = value
    elif index.size:
        result[...] = value
    return result


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with ``value``, a number or a tensor without dimensions, in the slices that a vector names."""
    axis, places = _checked_vector("index_fill_", input, dim, index)
    size = input.array.shape[axis] if input.array.ndim else 1
    _within(places, axis, size, IndexError, -size)
    places = np.where(places < 0, places + size, places)
    value, by_tensor = _single("index_fill_", input, value)
    return plain_index_fill(input, value, dim=axis, index=places, by_tensor=by_tensor)


def _single(name: str, input: Tensor, value: Any) -> tuple[Tensor, bool]:
    """A number, or a tensor of one, as a tensor of the dtype of ``input``; and whether it was a tensor."""
    if isinstance(value, Tensor):
        if value.array.ndim:
            raise RuntimeError(
                f"{name} only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.array.ndim} dimension(s)."
            )
        if value.array.dtype == input.array.dtype:
            return value, True
        if dtypes.category(value.array.dtype) > dtypes.category(input.array.dtype):
            raise RuntimeError(f"value cannot be converted to type {_kind(input)} without overflow")
        return value.to(input.dtype), True
    if not isinstance(value, int | float | complex | np.generic):
        raise TypeError(f"{name}: the value must be a number or a Tensor, not {type(value).__name__}")
    return new_tensor(np.asarray(value).astype(input.array.dtype)), False


# ---------------------------------------------------------------- any index, or the flattened tensor


@operation(
    "[ ]+=",
    "{a}, with {value} added at […]",
    a=derivative("1", lambda g: g),
    value=derivative("1 at the places written", lambda g, index: on(plain_getitem, g, index=index)),
    name="index_put",
)
def put_added(a, value, /, index):
    """A copy of ``a`` with ``value`` added at ``index``; places named twice get both."""
    result = a.copy()
    add_at(result, index, value)
    return result


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with ``values`` at ``input[indices]``, or with ``accumulate`` added to what is there.

    Raises
    ------
    IndexError
        If a place is not there.
    RuntimeError
        If the values do not fit, or are of another dtype.
    """
    if not isinstance(indices, tuple | list):
        raise TypeError(
            f"index_put(): argument 'indices' (position 1) must be tuple of Tensors, not "
            f"{type(indices).__name__}"
        )
    _require("index_put", "values", 2, values)
    if values.array.dtype != input.array.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{_kind(input)} for the destination and {_kind(values)} for the source."
        )
    part = input.detach()[tuple(indices)]
    if broadcast_shape(values.array.shape, part.array.shape) != part.array.shape:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.array.shape)} cannot be broadcast to "
            f"indexing result of shape {list(part.array.shape)}"
        )
    index = plain_index(input, tuple(indices))
    return (put_added if accumulate else put_at)(input, values, index=index)


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """What these shapes broadcast to, or None."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _flat_places(name: str, input: Tensor, index: Any) -> np.ndarray:
    """The places ``index`` in the flattened tensor, counted from the front."""
    _require(name, "index", 1, index)
    places, size = index.array, input.array.size
    if places.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {_kind(index)}")
    if places.size and (places.min() < -size or places.max() >= size):
        wrong = places[(places < -size) | (places >= size)].reshape(-1)[0]
        raise IndexError(f"out of range: tried to access index {wrong} on a tensor of {size} elements.")
    return np.where(places < 0, places + size, places)


@operation(
    "[ ]",
    "{a} at given places",
    a=derivative(
        "1 at the places read",
        lambda g, shape, index: on(spread_out, g, shape=(_count(shape),), index=(index,)).reshape(shape),
    ),
    name="take",
)
def plain_take(a, /, index):
    """See :func:`take`."""
    return np.take(a.reshape(-1), index)


def _count(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at places counted through the flattened tensor, in the shape of ``index``."""
    return plain_take(input, index=_flat_places("take", input, index))


@operation(
    "[ ]=",
    "{a}, with {source} at given places",
    a=derivative(
        "1 at the places kept",
        lambda g, index, accumulate: (
            g if accumulate else on(plain_put, g, _zeros_for(g, index), index=index, accumulate=False)
        ),
    ),
    source=derivative(
        "1 at the places written", lambda g, shape, index: on(plain_take, g, index=index).reshape(shape)
    ),
    name="put",
)
def plain_put(a, source, /, index, accumulate=False):
    """See :func:`put_`."""
    result = a.copy().reshape(-1)
    if accumulate:
        add_at(result, (index.reshape(-1),), source.reshape(-1))
    else:
        result[index.reshape(-1)] = source.reshape(-1)
    return result.reshape(a.shape)


def _zeros_for(g: Any, index: Any) -> Any:
    return np.zeros_like(g, shape=index.shape)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with ``source`` at places counted through the flattened tensor, or added there."""
    places = _flat_places("put_", input, index)
    _require("put_", "source", 2, source)
    if source.array.dtype != input.array.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_kind(input)} and source.dtype = {_kind(source)}"
        )
    if source.array.size != places.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.array.size}, index.numel() = {places.size}"
        )
    return plain_put(input, source, index=places, accumulate=accumulate)


# ---------------------------------------------------------------- masks


def _checked_mask(name: str, mask: Any, words: str) -> np.ndarray:
    _require(name, "mask", 1, mask)
    if mask.array.dtype.kind != "b":
        raise RuntimeError(f"{words}; the mask is {describe(mask)}")
    return mask.array


@operation(
    "mask",
    "{a}, and {value} where the mask is",
    a=derivative("1 outside of the mask", lambda g, mask: np.where(mask, 0, g)),
    value=derivative("1 in the mask", lambda g, mask: np.where(mask, g, 0)),
    name="masked_fill",
    backward=lambda node: f"MaskedFillBackward{int(node.settings['by_tensor'])}",
)
def plain_masked_fill(a, value, /, mask, by_tensor=False):
    """See :func:`masked_fill`."""
    return np.where(mask, value, a)


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input``, with ``value``, a number or a tensor without dimensions, where ``mask`` is true.

    Raises
    ------
    RuntimeError
        If the mask is not of bools, or does not broadcast with ``input``.
    """
    places = _checked_mask(
        "masked_fill",
        mask,
        f"masked_fill_ only supports boolean masks, but got mask with dtype {getattr(mask, 'dtype', '')}",
    )
    value, by_tensor = _single("masked_fill_", input, value)
    if broadcast_shape(places.shape, input.array.shape) is None:
        raise RuntimeError(
            f"{broadcast_message(places.shape, input.array.shape)}. Got {describe(mask)}, {describe(input)}"
        )
    return plain_masked_fill(input, value, mask=places, by_tensor=by_tensor)


@operation(
    "mask",
    "{a}, and {source} one by one where the mask is",
    a=derivative("1 outside of the mask", lambda g, mask: np.where(mask, 0, g)),
    source=derivative(
        "1 for those that were used",
        lambda g, shape, mask: on(
            spread_out,
            on(plain_getitem, g, index=(mask,)),
            shape=(_count(shape),),
            index=(slice(0, int(mask.sum())),),
        ).reshape(shape),
    ),
    name="masked_scatter",
)
def plain_masked_scatter(a, source, /, mask):
    """See :func:`masked_scatter`."""
    result = np.broadcast_to(a, mask.shape).copy()
    result[mask] = source.reshape(-1)[: int(mask.sum())]
    return result


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input``, with the first elements of ``source``, in order, where ``mask`` is true."""
    places = _checked_mask(
        "masked_scatter",
        mask,
        "masked_scatter_ only supports boolean masks, but got mask with dtype "
        f"{_kind(mask) if isinstance(mask, Tensor) else ''}",
    )
    _require("masked_scatter", "source", 2, source)
    if source.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {_kind(input)} and "
            f"{_kind(source)}"
        )
    shape = broadcast_shape(places.shape, input.array.shape)
    if shape is None:
        raise RuntimeError(broadcast_message(places.shape, input.array.shape))
    whole = places if places.shape == shape else np.broadcast_to(places, shape).copy()
    if source.array.size < whole.sum():
        raise RuntimeError(
            f"Number of elements of source < number of ones in mask: {source.array.size} and {whole.sum()}"
        )
    return plain_masked_scatter(input, source, mask=whole)


@operation(
    "mask",
    "{a} where the mask is",
    a=derivative(
        "1 in the mask",
        lambda g, shape, mask: on(
            spread_out,
            g,
            shape=np.broadcast_shapes(shape, mask.shape),
            index=(np.broadcast_to(mask, np.broadcast_shapes(shape, mask.shape)),),
        ),
    ),
    name="masked_select",
)
def plain_masked_select(a, /, mask):
    """See :func:`masked_select`."""
    shape = np.broadcast_shapes(a.shape, mask.shape)
    return np.broadcast_to(a, shape)[np.broadcast_to(mask, shape)]


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where ``mask`` is true, as a vector; both broadcast."""
    places = _checked_mask("masked_select", mask, "masked_select: expected BoolTensor for mask")
    if broadcast_shape(places.shape, input.array.shape) is None:
        raise RuntimeError(broadcast_message(places.shape, input.array.shape))
    return plain_masked_select(input, mask=places)


# ---------------------------------------------------------------- a part exchanged


@operation(
    "[ ]=",
    "{a}, with {src} as a part",
    a=derivative("1 elsewhere", lambda g, index: on(put_at, g, _zero(g), index=index)),
    src=derivative("1 in that part", lambda g, index: on(plain_getitem, g, index=index)),
    name="select_scatter",
    backward=lambda node: node.settings["made_by"],
)
def plain_part_scatter(a, src, /, index, made_by):
    """See :func:`select_scatter`."""
    result = a.copy()
    result[index] = src
    return result


def _exchanged(input: Tensor, src: Tensor, index: tuple[Any, ...], made_by: str) -> Tensor:
    part = input.array[index].shape
    if src.array.shape != part:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.array.shape)}, "
            f"slice size = {list(part)}"
        )
    return plain_part_scatter(input, src, index=index, made_by=made_by)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of ``input`` with ``src`` at one place along ``dim``."""
    axis = place_of(dim, input.array.ndim, "select_scatter")
    size = input.array.shape[axis]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.array.shape)} at dimension "
            f"{axis}"
        )
    return _exchanged(input, src, _at(axis, index % size), "SelectScatterBackward0")


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """A copy of ``input`` with ``src`` in a slice along ``dim``."""
    axis = place_of(dim, input.array.ndim, "slice_scatter")
    return _exchanged(input, src, _at(axis, slice(start, end, step)), "SliceScatterBackward0")


# ---------------------------------------------------------------- where


def argwhere(input: Tensor) -> Tensor:
    """The places of the elements that are not 0, a row for each."""
    return plain_nonzero(input)


NAMES = Names(
    both="argwhere gather index_add index_copy index_fill index_put index_select masked_fill masked_scatter "
    "masked_select put scatter scatter_add scatter_reduce select_scatter slice_scatter take take_along_dim",
    in_place="index_add index_copy index_fill index_put masked_fill masked_scatter put scatter scatter_add "
    "scatter_reduce",
    numpy={
        np.take: lambda a, indices, axis=None: (
            take(a, indices) if axis is None else index_select(a, axis, indices)
        ),
        np.take_along_axis: lambda arr, indices, axis: take_along_dim(arr, indices, axis),
    },
)
