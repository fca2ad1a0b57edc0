"""Reshaping: the elements of a tensor in another shape, or with its dimensions in another order.

Almost all results are *views*: they share the memory of the tensor, and no element is copied.  Memory is one
row of numbers; the *strides* of a view say how far apart in that row neighbours along each dimension are.
Only ``reshape`` and ``flatten`` copy, and only where no strides give the new shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base.errors import broadcast_error, describe, dims_of, one_dim, require_tensor, sizes_of
from autokit.base.size import Size
from autokit.engine.inplace import mark_changed, refuse_change
from autokit.engine.operation import derivative, operation, unchanged
from autokit.engine.record import storage_of
from autokit.engine.tensor import Tensor
from autokit.ops.names import Names

# ---------------------------------------------------------------- another shape


@operation(
    "shape",
    "{a} in another shape",
    a=derivative("1", lambda g, shape: g.reshape(shape)),
    view=True,
    name="view",
)
def plain_reshape(a, /, size):
    """See :func:`reshape`."""
    try:
        if min(size, default=0) >= -1:
            return a.reshape(size)
    except ValueError:
        pass
    raise RuntimeError(
        f"shape '{list(size)}' is invalid for input of size {a.size}: the sizes must multiply to it, and one "
        "of them may be -1, which stands for what is left"
    )


def reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """The elements in the same order under another shape; one size may be -1, found from the others.

    A view where strides allow it, else a copy.

    Raises
    ------
    RuntimeError
        If the number of elements would change.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    return plain_reshape(input, size=sizes_of(sizes if shape is None else (shape,), "reshape"))


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the shape of ``other``, by :func:`reshape`."""
    require_tensor("reshape_as", other, "other", 1)
    return plain_reshape(input, size=other.array.shape)


def view(input: Tensor, *shape: Any, size: Any = None) -> Tensor:
    """As :func:`reshape`, but never a copy.

    Raises
    ------
    RuntimeError
        If the number of elements would change, or no strides give that shape.
    """
    result = plain_reshape(input, size=sizes_of(shape if size is None else (size,), "view"))
    if result.array.size and not np.may_share_memory(result.array, input.array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two contiguous subspaces). Use .reshape(...) instead: it copies where it must. Got "
            f"{describe(input)}"
        )
    return result


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the shape of ``other``, by :func:`view`."""
    require_tensor("view_as", other, "other", 1)
    return view(input, other.array.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from ``start_dim`` to ``end_dim`` as one; the tensor itself where it is one."""
    shape = input.array.shape
    first = one_dim(start_dim, len(shape))
    last = one_dim(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if shape and first == last:
        return input
    middle = int(np.prod(shape[first : last + 1]))
    return plain_reshape(input, size=(*shape[:first], middle, *shape[last + 1 :]))


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Dimension ``dim`` as several of these ``sizes``; one of them may be -1."""
    shape, place = input.array.shape, one_dim(dim, input.array.ndim)
    sizes = sizes_of((sizes,), "unflatten")
    rest = int(np.prod([size for size in sizes if size != -1]))
    if sizes.count(-1) == 1 and rest:
        sizes = tuple([shape[place] // rest if size == -1 else size for size in sizes])
    if not shape or not sizes or int(np.prod(sizes)) != shape[place]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {place} in "
            f"{describe(input)}"
        )
    return view(input, (*shape[:place], *sizes, *shape[place + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension, by :func:`reshape`."""
    return plain_reshape(input, size=(input.array.size,))


@operation(
    "squeeze", "{a} without sizes of 1", a=derivative("1", lambda g, shape: g.reshape(shape)), view=True
)
def squeeze(a, /, dim=None):
    """Leave out dimensions of size 1: all of them, or only ``dim``, one or several."""
    return a.squeeze(tuple([place for place in dims_of(dim, a.ndim) if a.shape[place] == 1]))


@operation(
    "unsqueeze", "{a} with a size of 1", a=derivative("1", lambda g, shape: g.reshape(shape)), view=True
)
def unsqueeze(a, /, dim):
    """Insert a dimension of size 1 at ``dim``.

    >>> import autokit as torch
    >>> torch.arange(3).unsqueeze(1)
    tensor([[0],
            [1],
            [2]])
    """
    place = one_dim(dim, a.ndim + 1)
    return a.reshape((*a.shape[:place], 1, *a.shape[place:]))


# ---------------------------------------------------------------- another order of dimensions


@operation(
    "ᵀ",
    "{a}ᵀ",
    a=derivative("ᵀ", lambda g, dim0, dim1: np.swapaxes(g, dim0, dim1) if g.ndim else g),
    view=True,
)
def transpose(a, /, dim0, dim1):
    """Exchange the dimensions ``dim0`` and ``dim1``."""
    return np.swapaxes(a, one_dim(dim0, a.ndim), one_dim(dim1, a.ndim)) if a.ndim else a[...]


@operation("ᵀ", "{a}ᵀ", a=derivative("ᵀ", lambda g: np.transpose(g)), view=True)
def t(a, /):
    """The transpose of a matrix; a vector as it is."""
    if a.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {a.ndim}D; use .mT or .permute(...)"
        )
    return a.transpose()


@operation(
    "permute",
    "{a}, dimensions reordered",
    a=derivative("the order undone", lambda g, dims: np.transpose(g, tuple(map(int, np.argsort(dims))))),
    view=True,
    name="permute",
)
def plain_permute(a, /, dims):
    """See :func:`permute`."""
    return np.transpose(a, dims)


def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """The dimensions in another order: the new dimension ``i`` is the old ``dims[i]``.

    >>> import autokit as torch
    >>> torch.zeros(2, 3, 5).permute(2, 0, 1).shape
    torch.Size([5, 2, 3])
    """
    sizes = sizes_of(order if dims is None else (dims,), "permute")
    if len(sizes) != input.array.ndim:
        raise RuntimeError(
            f"permute: the order {list(sizes)} must name each of the {input.array.ndim} dimensions of "
            f"{describe(input)} once"
        )
    return plain_permute(input, dims=dims_of(sizes, input.array.ndim))


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Move the dimension ``source`` to the place ``destination``, or several; others keep their order."""
    ndim = input.array.ndim
    start, end = dims_of(source, ndim), dims_of(destination, ndim)
    if len(start) != len(end):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: there are {len(start)} of them in source, and "
            f"{len(end)} in destination"
        )
    order = [place for place in range(ndim) if place not in start]
    for to, place in sorted(zip(end, start)):
        order.insert(to, place)
    return plain_permute(input, dims=tuple(order))


def T(self: Tensor) -> Tensor:
    """The dimensions in the opposite order: the transpose of a matrix."""
    return plain_permute(self, dims=tuple(reversed(range(self.array.ndim))))


def mT(self: Tensor) -> Tensor:
    """The last two dimensions exchanged: the transposes of a batch of matrices."""
    if self.array.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self.array.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


def H(self: Tensor) -> Tensor:
    """The transpose of a matrix, which of real numbers is the conjugate transpose too."""
    return t(self)


# ---------------------------------------------------------------- repeating without a copy


@operation(
    "expand",
    "{a} repeated",
    a=derivative("1", unchanged),
    words={"a": "Each copy of a value passes its upstream gradient on to that value"},
    view=True,
    name="expand",
)
def plain_expand(a, /, size):
    """See :func:`expand`."""
    return np.broadcast_to(a, size) if a.shape != size else a[...]


def expand(input: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """A view in which dimensions of size 1 are repeated; -1 leaves a size as it is.

    One number in memory then is several elements, so the view cannot be changed in place.

    Raises
    ------
    RuntimeError
        If another size would change.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    wanted = sizes_of(sizes if size is None else (size,), "expand")
    shape = input.array.shape
    new = len(wanted) - len(shape)
    if new < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(wanted)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(shape)}): {describe(input)}"
        )
    old = (-1,) * new + shape
    full = tuple([have if want == -1 else want for want, have in zip(wanted, old)])
    for place, (want, have) in enumerate(zip(full, old)):
        if want < 0 or (want != have and have not in (1, -1)):
            raise RuntimeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) at "
                f"non-singleton dimension {place}. Target sizes: {list(wanted)}, tensor sizes: {list(shape)}"
            )
    return plain_expand(input, size=full)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` expanded to the shape of ``other``."""
    require_tensor("expand_as", other, "other", 1)
    return expand(input, other.array.shape)


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """``input`` expanded to ``size``."""
    return expand(input, size)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to; RuntimeError if they do not."""
    try:
        return Size(np.broadcast_shapes(*shapes))
    except ValueError:
        raise broadcast_error([(one,) if isinstance(one, int) else tuple(one) for one in shapes]) from None


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors, expanded to the shape that they broadcast to."""
    shape = tuple(broadcast_shapes(*[tensor.array.shape for tensor in tensors]))
    return tuple([tensor if tensor.array.shape == shape else expand(tensor, shape) for tensor in tensors])


# ---------------------------------------------------------------- another shape in place


def _of_itself(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The form with a trailing underscore, as ``x.squeeze_()``: the tensor itself gets the other shape."""

    def apply(input: Tensor, *arguments: Any, **settings: Any) -> Tensor:
        refuse_change(input)
        _refuse_followed(input, f"{function.__name__}_")
        result = function(input, *arguments, **settings)
        input.array, input._node = result.array, result._node
        if input._base is not None:
            input.__dict__["_steps"] = result.__dict__["_steps"]
        mark_changed(input)
        return input

    apply.__name__ = apply.__qualname__ = f"{function.__name__}_"
    apply.__doc__ = f"As :func:`{function.__name__}`, but the tensor itself gets the new shape."
    return apply


def _refuse_followed(tensor: Tensor, name: str) -> None:
    """Raise if other tensors are views of ``tensor``: they could not follow a change of its shape."""
    if any(view is not None and view._base is tensor for view in [ref() for ref in storage_of(tensor).views]):
        raise RuntimeError(
            f"{name}: other tensors are views of {describe(tensor)}, and cannot follow it there: "
            f"use {name.removesuffix('_')}, which gives a new tensor"
        )


unsqueeze_, squeeze_ = _of_itself(unsqueeze), _of_itself(squeeze)
transpose_, t_ = _of_itself(transpose), _of_itself(t)


def resize_(self: Tensor, *sizes: Any) -> Tensor:
    """Give the tensor another size: its first elements, in order, and zeros where there are too few."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    _refuse_followed(self, "resize_")
    size = sizes_of(sizes, "resize_")
    memory, count = self.array.reshape(-1), int(np.prod(size))
    if count > memory.size:
        memory = np.concatenate([memory, np.zeros_like(memory, shape=count - memory.size)])
    self.array = memory[:count].reshape(size)
    mark_changed(self)
    return self


NAMES = Names(
    both="broadcast_to expand_as flatten movedim permute ravel reshape squeeze t transpose unflatten "
    "unsqueeze",
    functions="broadcast_shapes broadcast_tensors",
    methods="expand reshape_as resize_ squeeze_ t_ transpose_ unsqueeze_ view view_as",
    properties="H T mT",
    aliases={"moveaxis": "movedim", "swapaxes": "transpose", "swapdims": "transpose"},
    other_methods={"resize": reshape},
    numpy={
        np.broadcast_to: broadcast_to,
        np.expand_dims: unsqueeze,
        np.moveaxis: movedim,
        np.ravel: ravel,
        np.reshape: reshape,
        np.squeeze: squeeze,
        np.swapaxes: transpose,
        np.transpose: lambda a, axes=None: T(a) if axes is None else permute(a, axes),
    },
)
