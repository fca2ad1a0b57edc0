"""Reading and writing where a mask is true, and copies with one part exchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import beside, contiguous
from autokit.meta_array import is_meta
from autokit.ops.dims import place_of
from autokit.ops.errors import broadcast_message, broadcast_shape, describe, kind_of, require_tensor
from autokit.ops.gather import zero
from autokit.ops.gpu.arrays import ask
from autokit.ops.guards import guards
from autokit.ops.index import plain_getitem, plain_nonzero, spread_out, writable_copy
from autokit.ops.index import put as put_at
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.places import count_of, single, slices_at
from autokit.ops.recording import apart
from autokit.ops.reduce import converted
from autokit.ops.strides import checked_steps, owner_size, positions
from autokit.ops.strides import storage_offset as storage_offset_of
from autokit.tensor import Tensor, new_tensor

# ---------------------------------------------------------------- masks


def _checked_mask(name: str, mask: Any, words: str, *operands: Any) -> np.ndarray:
    require_tensor(name, mask, "mask", 1)
    if mask.array.dtype.kind != "b":
        raise RuntimeError(f"{words}; the mask is {describe(mask)}")
    return apart(mask.array, any(getattr(each, "_requires_grad", False) for each in operands))


@operation(
    "mask",
    "{a}, and {value} where the mask is",
    a=derivative("1 outside of the mask", lambda g, mask: np.where(mask, 0, g)),
    value=derivative("1 in the mask", lambda g, mask: np.where(mask, g, 0)),
    name="masked_fill",
    layout=contiguous,
    backward=lambda node: f"MaskedFillBackward{int(node.settings['by_tensor'])}",
)
def plain_masked_fill(a, value, /, mask, by_tensor=False):
    """See :func:`masked_fill`."""
    return np.where(mask, value, a)


@guards("mask")
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
        input,
        value,
    )
    value, by_tensor = single("masked_fill_", input, value)
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
            shape=(count_of(shape),),
            index=(slice(0, ask(mask.sum())),),
        ).reshape(shape),
    ),
    name="masked_scatter",
)
def plain_masked_scatter(a, source, /, mask):
    """See :func:`masked_scatter`."""
    result = np.broadcast_to(a, mask.shape).copy()
    result[mask] = source.reshape(-1)[: ask(mask.sum())]
    return result


@guards("mask")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input``, with the first elements of ``source``, in order, where ``mask`` is true."""
    places = _checked_mask(
        "masked_scatter",
        mask,
        "masked_scatter_ only supports boolean masks, but got mask with dtype "
        f"{kind_of(mask) if isinstance(mask, Tensor) else ''}",
        input,
        source,
    )
    require_tensor("masked_scatter", source, "source", 2)
    if source.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {kind_of(input)} and "
            f"{kind_of(source)}"
        )
    shape = broadcast_shape(places.shape, input.array.shape)
    if shape is None:
        raise RuntimeError(broadcast_message(places.shape, input.array.shape))
    whole = places if places.shape == shape else np.broadcast_to(places, shape).copy()
    needed = 0 if is_meta(whole) else ask(whole.sum())
    if source.array.size < needed:
        raise RuntimeError(
            f"Number of elements of source < number of ones in mask: {source.array.size} and {needed}"
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


@guards("input", "mask")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where ``mask`` is true, as a vector; both broadcast."""
    places = _checked_mask("masked_select", mask, "masked_select: expected BoolTensor for mask", input)
    if broadcast_shape(places.shape, input.array.shape) is None:
        raise RuntimeError(broadcast_message(places.shape, input.array.shape))
    return plain_masked_select(input, mask=places)


# ---------------------------------------------------------------- a part exchanged


@operation(
    "[ ]=",
    "{a}, with {src} as a part",
    a=derivative("1 elsewhere", lambda g, index: on(put_at, g, zero(g), index=index)),
    src=derivative("1 in that part", lambda g, index: on(plain_getitem, g, index=index)),
    name="select_scatter",
    backward=lambda node: node.settings["made_by"],
)
def plain_part_scatter(a, src, /, index, made_by):
    """See :func:`select_scatter`."""
    result = writable_copy(a, "K")
    result[index] = src
    return result


def _exchanged(input: Tensor, src: Tensor, index: tuple[Any, ...], made_by: str) -> Tensor:
    part = input.array[index].shape
    if src.array.shape != part:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.array.shape)}, "
            f"slice size = {list(part)}"
        )
    return plain_part_scatter(input, converted(src, input.dtype), index=index, made_by=made_by)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of ``input`` with ``src`` at one place along ``dim``."""
    if not input.array.ndim:
        raise IndexError(f"select() cannot be applied to a 0-dim tensor: {describe(input)}")
    axis = place_of(dim, input.array.ndim, "select_scatter")
    size = input.array.shape[axis]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.array.shape)} at dimension "
            f"{axis}"
        )
    return _exchanged(input, src, slices_at(axis, index % size), "SelectScatterBackward0")


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """A copy of ``input`` with ``src`` in a slice along ``dim``."""
    if not input.array.ndim:
        raise IndexError(f"slice() cannot be applied to a 0-dim tensor: {describe(input)}")
    axis = place_of(dim, input.array.ndim, "slice_scatter")
    if step <= 0:
        raise RuntimeError(f"slice step must be positive: it is {step}")
    return _exchanged(input, src, slices_at(axis, slice(start, end, step)), "SliceScatterBackward0")


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy of ``input`` with ``src`` where :func:`~autokit.as_strided` of the same sizes would look.

    What lies in the memory, but is no element of ``input``, is not in the copy.  Where several elements of
    ``src`` belong to one place the last one stays.

    Parameters
    ----------
    input : Tensor
    src : Tensor
        Of the shape ``size``.
    size, stride : sequence of int
    storage_offset : int, optional
        Where in memory the first one is written; where ``input`` begins without it.

    Raises
    ------
    RuntimeError
        If that reaches outside of the memory, or ``src`` has another shape.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.as_strided_scatter(torch.zeros(2, 3), torch.ones(2), (2,), (2,))
    tensor([[1., 0., 1.],
            [0., 0., 0.]])
    """
    if any(step == 0 < n - 1 for step, n in zip(input.stride(), input.shape)):
        input = input.contiguous()  # an expanded one has no place of its own for each element
    a, offset = input.array, storage_offset_of(input)
    extent = owner_size(a)
    size, stride, first = checked_steps(size, stride, storage_offset, offset, extent, a.itemsize)
    if src.array.shape != size:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.array.shape)}, "
            f"slice size = {list(size)}"
        )
    if any(step == 0 < n - 1 for step, n in zip(stride, size)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            f"location: the strides are {list(stride)}"
        )
    memory = np.full(extent, -1)
    memory[positions(a.shape, input.stride(), offset)] = np.arange(a.size).reshape(a.shape)
    places = memory[positions(size, stride, first)].reshape(-1)
    last = np.zeros(a.size + 1, np.int64)
    last[places] = np.arange(places.size)
    kept = np.flatnonzero((places >= 0) & (last[places] == np.arange(places.size)))
    index = np.unravel_index(places[kept], a.shape) if a.ndim else ()
    src = converted(src, input.dtype).reshape(-1)
    src = src if kept.size == places.size and kept.size else src[new_tensor(beside(a, kept))]
    return plain_part_scatter(
        input,
        src if a.ndim else src.sum(),
        index=tuple([beside(a, each) for each in index]),
        made_by="AsStridedScatterBackward0",
    )


# ---------------------------------------------------------------- where


def argwhere(input: Tensor) -> Tensor:
    """The places of the elements that are not 0, a row for each."""
    return plain_nonzero(input)


NAMES = Names(
    both="argwhere as_strided_scatter masked_fill masked_scatter masked_select select_scatter slice_scatter",
    in_place="masked_fill masked_scatter",
)
