"""Reading and writing at places that a vector names: whole slices, or elements of the flattened tensor."""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from autokit.devices import laid_as
from autokit.ops.bounds import at_first_places, check_bounds, index_error, leaves_nothing
from autokit.ops.complex_numbers import is_complex
from autokit.ops.dims import place_of
from autokit.ops.errors import broadcast_shape, describe, kind_of, require_tensor
from autokit.ops.gather import require_vector, within, zero
from autokit.ops.gpu.arrays import like
from autokit.ops.gpu.bounds import outside, refuse_outside
from autokit.ops.guards import guard, guards
from autokit.ops.index import (
    add_at,
    guarded_by_index,
    plain_getitem,
    plain_index,
    shape_at,
    spread_out,
    writable_copy,
)
from autokit.ops.index import put as put_at
from autokit.ops.names import Names
from autokit.ops.operands import fitting
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import apart, unchanged
from autokit.ops.reduce import converted
from autokit.tensor import Tensor, new_tensor

# ---------------------------------------------------------------- whole slices, by a vector of places


def _checked_vector(name: str, input: Tensor, dim: Any, index: Any) -> tuple[int, np.ndarray]:
    require_tensor(name, index, "index", 2)
    axis = place_of(dim, input.array.ndim, name)
    require_vector(name, index)
    learns = name != "index_select" or input._requires_grad
    return axis, apart(index.array, learns).reshape(-1)


def slices_at(dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, index)


@operation(
    "[ ]",
    "{a} at given places",
    a=derivative(
        "1 at the places read",
        lambda g, shape, dim, index: on(spread_out, g, shape=shape, index=slices_at(dim, index)),
    ),
    name="index_select",
    linear=True,
)
def plain_index_select(a, /, dim, index):
    """See :func:`index_select`."""
    return np.take(a, index, axis=dim)


@guards("index")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of ``input`` along ``dim`` that a vector of places names, in its order.

    Raises
    ------
    IndexError
        If a place is not there; negative ones are not known here.
    """
    axis, places = _checked_vector("index_select", input, dim, index)
    if not input.array.ndim:
        if places.size != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {places.size} value(s)"
            )
        return input[None].index_select(0, index).reshape(())
    size = input.array.shape[axis]
    kind: type[Exception] = IndexError if not axis and (size or input.array.ndim == 1) else RuntimeError
    refuse_outside(places, 0, size, partial(_no_such_slice, kind, size, ref(input)))
    return plain_index_select(input, dim=axis, index=places)


def _no_such_slice(kind: type[Exception], size: int, input: ref[Tensor], wrong: int) -> Exception:
    tensor = input()
    of = "self" if tensor is None else describe(tensor)
    return kind(f"index out of range in self: {wrong} is not in 0 to {size - 1}, the places of {of}")


@operation(
    "[ ]+=",
    "{a}, with {source} added at given places",
    a=derivative("1", unchanged),
    source=derivative(
        "alpha at the places written",
        lambda g, dim, index, alpha: on(plain_index_select, g, dim=dim, index=index) * alpha,
    ),
    name="index_add",
)
def plain_index_add(a, source, /, dim, index, alpha=1):
    """See :func:`index_add`."""
    result = writable_copy(a)
    add_at(result, slices_at(dim, index), source * a.dtype.type(fitting(alpha, a.dtype)))
    return result


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy with the slices of ``source``, times ``alpha``, added at the places that a vector names."""
    axis, places = _checked_vector("index_add_", input, dim, index)
    require_tensor("index_add", source, "source", 3)
    if source.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"index_add_(): self ({kind_of(input)}) and source ({kind_of(source)}) must have the "
            "same scalar type"
        )
    given = source.array.shape[axis] if axis < source.array.ndim else 1
    if places.size != given and (input.array.ndim or source.array.ndim):
        raise RuntimeError(
            f"index_add_(): Number of indices ({places.size}) should be equal to source.size(dim): "
            f"({given}), for dim: {axis}"
        )
    own = input.array.shape
    if source.array.ndim != len(own) or any(
        a != b for d, (a, b) in enumerate(zip(own, source.array.shape)) if d != axis
    ):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(own)} source.shape = {list(source.array.shape)}"
        )
    if not own:
        if places.size != 1:
            raise IndexError(
                f"index_add_(): {places.size} indices for {describe(source)}: {describe(input)} has one place"
            )
        if outside(places, 0, 1) is not None:
            raise IndexError(f"index out of range in self: {describe(input)} has one place, 0")
        return input[None].index_add(0, index, source[None], alpha=alpha).reshape(())
    if not input.array.size and len(own) > 1:  # there is nothing to add to, and PyTorch looks at no places
        return input.clone()
    single_elements = input.array.size == own[axis]
    within(places, axis, own[axis], IndexError if single_elements else RuntimeError)
    made = plain_index_add(input, source, dim=axis, index=places, alpha=alpha)
    if source._requires_grad:
        guard(made, [index, source])
    return made


@operation(
    "[ ]=",
    "{a}, with {source} at given places",
    a=derivative(
        "1 at the places kept",
        lambda g, dim, index: on(plain_index_fill, g, zero(g), dim=dim, index=index),
    ),
    source=derivative(
        "1 at the places written",
        lambda g, shape, dim, index: on(plain_index_select, g, dim=dim, index=index).reshape(shape),
    ),
    name="index_copy",
)
def plain_index_copy(a, source, /, dim, index):
    """See :func:`index_copy`."""
    result = writable_copy(a)
    result[slices_at(dim, index)] = source
    return result


@guards("index", learning="source")
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy with the slices of ``source`` at the places that a vector names."""
    axis, places = _checked_vector("index_copy_", input, dim, index)
    require_tensor("index_copy", source, "source", 3)
    if not source.array.ndim and places.size != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element (got {places.size})"
        )
    if source.array.ndim and input.array.ndim and source.array.ndim != input.array.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match: "
            f"{describe(source)} and {describe(input)}"
        )
    if index.array.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {kind_of(index)}")
    if source.array.dtype != input.array.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{kind_of(input)} and (source) {kind_of(source)}"
        )
    if source.array.ndim < 2 and not input.array.ndim:
        return input[None].index_copy(0, index, source.reshape(-1)).reshape(())
    own, theirs = list(input.array.shape), list(source.array.shape)
    if (theirs or len(own) > 1) and own[:axis] + own[axis + 1 :] != theirs[:axis] + theirs[axis + 1 :]:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{own[:axis] + own[axis + 1 :]} at dimension {axis} and source slice shape: "
            f"{theirs[:axis] + theirs[axis + 1 :]} at dimension {axis}."
        )
    given = source.array.shape[axis] if axis < source.array.ndim else 1
    if places.size != given:
        raise IndexError(
            f"index_copy_(): Number of indices ({places.size}) should be equal to source.size(dim) ({given})"
        )
    size = own[axis]
    wrong = outside(places, 0, size)
    if wrong is not None:
        raise IndexError(
            f"index_copy_(): index {wrong} is out of bounds for dimension {axis} with size {size}"
        )
    return plain_index_copy(input, source, dim=axis, index=places)


@operation(
    "[ ]=",
    "{a}, with {value} at given places",
    a=derivative(
        "1 at the places kept",
        lambda g, dim, index: on(plain_index_fill, g, zero(g), dim=dim, index=index),
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
    result = writable_copy(a, "K")
    if result.ndim:
        result[slices_at(dim, index)] = value
    elif index.size:
        result[...] = value
    return result


@guards("index")
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with ``value``, a number or a tensor without dimensions, in the slices that a vector names."""
    require_tensor("index_fill", index, "index", 2)
    _require_single("index_fill_", value)
    if index.array.dtype != np.int64:
        raise IndexError(f"index_fill_(): Expected dtype int64 for index: {describe(index)}; use .long()")
    if (isinstance(value, complex) or isinstance(value, Tensor) and is_complex(value)) and not is_complex(
        input
    ):
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    place_of(dim, input.array.ndim, "index_fill_")
    if index.array.ndim > 1:
        raise RuntimeError(f"Index has to be a vector/scalar: it is {describe(index)}")
    axis, places = _checked_vector("index_fill_", input, dim, index)
    value, by_tensor = single("index_fill_", input, value)
    size = input.array.shape[axis] if input.array.ndim else 1
    within(places, axis, size, IndexError, -size)
    places = np.where(places < 0, places + size, places)
    return plain_index_fill(input, value, dim=axis, index=places, by_tensor=by_tensor)


def _require_single(name: str, value: Any) -> None:
    if isinstance(value, Tensor) and value.array.ndim:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with {value.array.ndim} "
            "dimension(s)."
        )


def single(name: str, input: Tensor, value: Any) -> tuple[Tensor, bool]:
    """A number, or a tensor of one, as a tensor of the dtype of ``input``; and whether it was a tensor."""
    _require_single(name, value)
    if isinstance(value, Tensor):
        if value.array.dtype == input.array.dtype:
            return value, True
        fitting(value.item(), input.array.dtype)
        return converted(value, input.dtype), True
    if not isinstance(value, int | float | complex | np.generic):
        raise TypeError(f"{name}: the value must be a number or a Tensor, not {type(value).__name__}")
    return new_tensor(like(np.full_like, input.array, fitting(value, input.array.dtype), shape=())), False


# ---------------------------------------------------------------- any index, or the flattened tensor


@operation(
    "[ ]+=",
    "{a}, with {value} added at […]",
    a=derivative("1", unchanged),
    value=derivative("1 at the places written", lambda g, index: on(plain_getitem, g, index=index)),
    name="index_put",
)
def put_added(a, value, /, index):
    """A copy of ``a`` with ``value`` added at ``index``; places named twice get both."""
    result = writable_copy(a, "K")
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
    require_tensor("index_put", values, "values", 2)
    for place, each in enumerate(indices):
        if each is not None and not isinstance(each, Tensor):
            raise TypeError(
                f"expected Tensor as element {place} in argument 1, but got {type(each).__name__}: "
                "x[…] = values takes numbers and slices, too"
            )
    if len(indices) > max(input.array.ndim, 0):
        raise IndexError(
            f"too many indices for tensor of dimension {input.array.ndim} (got {len(indices)}): "
            f"{describe(input)}"
        )
    _check_masks(input, indices)
    for each in indices:
        if isinstance(each, Tensor) and each.array.dtype.name not in _INDICES:
            raise IndexError(
                f"tensors used as indices must be long, int, byte or bool tensors: {describe(each)}"
            )
    index = plain_index(input, tuple(indices) or (...,))
    part = shape_at(input, tuple([0 if entry.__class__ is int else entry for entry in index]))
    if values.array.dtype != input.array.dtype and _fills_a_mask(indices, values, accumulate):
        values = single("index_put_", input, values.reshape(()))[0]
    if values.array.dtype != input.array.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{kind_of(input)} for the destination and {kind_of(values)} for the source."
        )
    if broadcast_shape(values.array.shape, part) != part:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.array.shape)} cannot be broadcast to "
            f"indexing result of shape {list(part)}"
        )
    check_bounds(input.array.shape, index)
    if leaves_nothing(input.array.shape, index):
        index = at_first_places(index)
    try:
        made = (put_added if accumulate else put_at)(input, values, index=index)
    except IndexError as error:
        raise index_error(input, index, error) from None
    return guarded_by_index(made, indices)


def _fills_a_mask(indices: Any, values: Tensor, accumulate: bool) -> bool:
    """Whether one number goes where one mask is true: then it may be of another dtype, as in masked_fill."""
    given = [each for each in indices if each is not None]
    return (
        not accumulate
        and values.array.size == 1
        and len(given) == 1
        and given[0].array.dtype.name in ("bool", "uint8")
    )


def _check_masks(input: Tensor, indices: Any) -> None:
    """Raise unless each mask among ``indices`` has the shape of the dimensions that it stands for."""
    place, shape = 0, input.array.shape
    for each in indices:
        if not isinstance(each, Tensor) or each.array.dtype.name not in ("bool", "uint8"):
            place += 1
            continue
        mask = each.array.shape
        if mask != shape[place : place + len(mask)]:
            raise IndexError(
                f"The shape of the mask {list(mask)} at index {place} does not match the shape of the "
                f"indexed tensor {list(shape)} at index {place}"
            )
        place += len(mask)


_INDICES = ("int64", "int32", "uint8", "bool")
"""The dtypes of what may stand in ``x[…]``."""


def _flat_places(name: str, input: Tensor, index: Any) -> np.ndarray:
    """The places ``index`` in the flattened tensor, counted from the front."""
    require_tensor(name, index, "index", 1)
    places, size = index.array, input.array.size
    if places.dtype != np.int64:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {kind_of(index)}: use .long()"
        )
    wrong = outside(places, -size, size)
    if wrong is not None:
        raise IndexError(f"out of range: tried to access index {wrong} on a tensor of {size} elements.")
    return np.where(places < 0, places + size, places)


@operation(
    "[ ]",
    "{a} at given places",
    a=derivative(
        "1 at the places read",
        lambda g, shape, index: on(spread_out, g, shape=(count_of(shape),), index=(index,)).reshape(shape),
    ),
    name="take",
    linear=True,
)
def plain_take(a, /, index):
    """See :func:`take`."""
    return np.take(a.reshape(-1), index)


def count_of(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


@guards("input", "index")
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
    return laid_as(a, result.reshape(a.shape))


def _zeros_for(g: Any, index: Any) -> Any:
    return like(np.zeros_like, g, shape=index.shape)


@guards("index", learning="source")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with ``source`` at places counted through the flattened tensor, or added there."""
    require_tensor("put_", index, "index", 1)
    require_tensor("put_", source, "source", 2)
    if index.array.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {kind_of(index)}: use .long()")
    if source.array.dtype != input.array.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{kind_of(input)} and source.dtype = {kind_of(source)}"
        )
    if source.array.size != index.array.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.array.size}, index.numel() = {index.array.size}"
        )
    places = _flat_places("put_", input, index)
    return plain_put(input, source, index=places, accumulate=accumulate)


NAMES = Names(
    both="index_add index_copy index_fill index_put index_select put take",
    in_place="index_add index_copy index_fill index_put put",
    numpy={
        np.take: lambda a, indices, axis=None: (
            take(a, indices) if axis is None else index_select(a, axis, indices)
        ),
    },
)
