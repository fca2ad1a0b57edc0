"""The same elements under another shape or order: views, which share their memory.

Each step along a dimension jumps over a fixed number of elements in memory,
the dimension's *stride*.  A view has a shape and strides of its own, and moves
nothing; ``reshape`` and ``flatten`` copy where no strides would do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.autograd.node import Node
from autokit.ops.blocks import copy_into
from autokit.ops.create import legacy_array
from autokit.ops.dims import one_dim, place_of, places_of, sizes_of, whole
from autokit.ops.errors import describe, require_tensor
from autokit.ops.index import spread_out
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import share_storage, unchanged
from autokit.ops.strides import strided
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor

# ---------------------------------------------------------------- another shape


def _in_shape(g: Any, shape: tuple[int, ...]) -> Any:
    """``g.reshape(shape)``; if that takes a copy, it is of that shape, so that a leaf can keep it."""
    if g.flags.c_contiguous or g.__class__ is not np.ndarray or not any(g.strides):
        return g.reshape(shape)
    made = np.empty(shape, g.dtype)
    copy_into(g, made.reshape(g.shape))
    return made


def _view_or_copy(node: Node) -> str:
    """PyTorch's name: it makes a view without a check of a copy that is its own."""
    source, made = node.operand(0), node.output
    if source is None or made.__class__ is not np.ndarray or not made.size:
        return "ViewBackward0"  # large values are not kept
    return "ViewBackward0" if np.may_share_memory(made, source.array) else "UnsafeViewBackward0"


@operation(
    "shape",
    "{a} in another shape",
    a=derivative("1", lambda g, shape: g.reshape(shape), _in_shape),
    view=True,
    name="view",
    backward=_view_or_copy,
)
def plain_reshape(a, /, size):
    """See :func:`reshape`."""
    try:
        return a.reshape(size)
    except ValueError as error:
        raise _wrong_shape(a, size) from error


def _wrong_shape(a: Any, size: tuple[int, ...]) -> RuntimeError:
    if size.count(-1) > 1:
        return RuntimeError("only one dimension can be inferred")
    for place, one in enumerate(size):
        if one < -1:
            return RuntimeError(f"invalid shape dimension {one} at index {place} of shape {list(size)}")
    if not a.size and -1 in size and 0 in size:
        return RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension "
            "size -1 can be any value and is ambiguous"
        )
    return RuntimeError(
        f"shape '{list(size)}' is invalid for input of size {a.size}"
        + (": the sizes must multiply to it" if -1 not in size else "")
    )


def reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """The elements in the same order under another shape; one size may be -1, found from the others.

    A view where strides allow it, else a copy.

    Raises
    ------
    RuntimeError
        If the number of elements would change.
    """
    return _reshape(input, sizes_of(sizes if shape is None else (shape,), "reshape", "shape"))


def _reshape(input: Tensor, size: tuple[int, ...]) -> Tensor:
    if size.__class__ is tuple and min(size, default=0) < -1:
        raise _wrong_shape(input.array, size)
    return plain_reshape(input, size=size)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the shape of ``other``, by :func:`reshape`."""
    require_tensor("reshape_as", other)
    return _reshape(input, other.array.shape)


def view(input: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """As :func:`reshape`, but never a copy; with a dtype, the bytes read anew.

    Raises
    ------
    RuntimeError
        If the number of elements would change, or no strides give that shape.
    """
    from autokit import dtypes

    if dtype is None and len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        dtype = shape[0]
    if dtype is not None:
        return _bytes_as(input, dtype)
    result = _reshape(input, sizes_of(shape if size is None else (size,), "view"))
    if result.array.size and not np.may_share_memory(result.array, input.array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two contiguous subspaces). Use .reshape(...) instead: it copies where it must. Got "
            f"{describe(input)}"
        )
    return result


def _bytes_as(input: Tensor, dtype: Any) -> Tensor:
    a = input.array
    before, after = a.itemsize, dtype.itemsize
    if before != after:
        if not a.ndim:
            raise RuntimeError(
                f"self.dim() cannot be 0 to view {input.dtype.name} as {dtype.name} (different element sizes)"
            )
        if a.shape[-1] * before % after:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {after // before} to view {input.dtype.name} as "
                f"{dtype.name} (different element sizes), but got {a.shape[-1]}"
            )
        if a.strides[-1] != before:
            raise RuntimeError(
                f"self.stride(-1) must be 1 to view {input.dtype.name} as {dtype.name} (different element "
                f"sizes), but got {a.strides[-1] // before}"
            )
        for place, step in enumerate(a.strides[:-1]):
            if step % after:
                raise RuntimeError(
                    f"self.stride({place}) must be divisible by {after // before} to view "
                    f"{input.dtype.name} as {dtype.name} (different element sizes), but got {step // before}"
                )
    return share_storage(input.detach(), new_tensor(a.view(dtype.numpy)))  # bytes have no gradient


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the shape of ``other``, by :func:`view`."""
    require_tensor("view_as", other)
    return view(input, other.array.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from ``start_dim`` to ``end_dim`` as one; the tensor itself where it is one."""
    shape = input.array.shape
    first, last = place_of(start_dim, len(shape)), place_of(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return _reshape(input, (1,))
    if first == last:
        return input
    middle = 1
    for size in shape[first : last + 1]:
        middle *= size
    return _reshape(input, (*shape[:first], middle, *shape[last + 1 :]))


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Dimension ``dim`` as several of these ``sizes``; one of them may be -1."""
    shape, dim = input.array.shape, one_dim(dim, "unflatten")
    if not isinstance(sizes, tuple | list) and (isinstance(sizes, Tensor) or sizes):
        raise TypeError(
            f"unflatten(): argument 'sizes' (position 2) must be tuple of ints, not {type(sizes).__name__}"
        )
    sizes = sizes_of((sizes or (),), "unflatten", "sizes")
    if not shape:
        raise RuntimeError(f"unflatten: {describe(input)} has no dimensions to be taken apart")
    place = place_of(dim, len(shape), "unflatten")
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    known = 1
    for size in sizes:
        known *= size if size != -1 else 1
    fits = known == shape[place] if -1 not in sizes else known and shape[place] % known == 0
    if not fits or sizes.count(-1) > 1:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {place} "
            f"({shape[place]}) in the input tensor"
        )
    sizes = tuple([shape[place] // known if size == -1 else size for size in sizes])
    return view(input, (*shape[:place], *sizes, *shape[place + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension: a view where their order in memory is that already."""
    return _reshape(input.contiguous(), (-1,)) if input.array.size else _reshape(input, (0,))


_KIND_OF_SQUEEZE = {type(None): 0, int: 1}


@operation(
    "squeeze",
    "{a} without sizes of 1",
    a=derivative("1", lambda g, shape: g.reshape(shape)),
    view=True,
    backward=lambda node: f"SqueezeBackward{_KIND_OF_SQUEEZE.get(type(node.settings['dim']), 2)}",
)
def squeeze(a, /, dim=None):
    """The dimensions of size 1 taken out: all of them, or only ``dim``, one or several."""
    dims = range(a.ndim) if dim is None else places_of(dim, a.ndim, "squeeze")
    ones = tuple([place for place in dims if a.ndim and a.shape[place] == 1])
    return a.squeeze(ones) if ones else a[...]


@operation(
    "unsqueeze", "{a} with a size of 1", a=derivative("1", lambda g, shape: g.reshape(shape)), view=True
)
def unsqueeze(a, /, dim):
    """A dimension of size 1 put in at ``dim``."""
    place = place_of(dim, a.ndim + 1, "unsqueeze")
    # NumPy's own np.expand_dims gives other strides where the elements do not lie in order.
    step = a.strides[place] * a.shape[place] if place < a.ndim else a.itemsize
    shape = (*a.shape[:place], 1, *a.shape[place:])
    if a.flags.c_contiguous:
        return a.reshape(shape)
    return strided(a, shape, (*a.strides[:place], step, *a.strides[place:]))


# ---------------------------------------------------------------- the same again


@operation("=", "{a}", a=derivative("1", unchanged), view=True, name="alias")
def plain_alias(a, /):
    """What ``Tensor(...)`` makes of a tensor."""
    return a[...]


def legacy_tensor(data: tuple[Any, ...], dtype: Any = None) -> Tensor:
    """What ``Tensor(...)`` makes: of sizes or a sequence a new tensor, of a tensor a view of it."""
    array = legacy_array(data, dtype)
    return plain_alias(data[0]) if len(data) == 1 and isinstance(data[0], Tensor) else new_tensor(array)


# ---------------------------------------------------------------- another order


@operation(
    "ᵀ",
    "{a}ᵀ",
    a=derivative("ᵀ", lambda g, shape, dim0, dim1: np.swapaxes(g, dim0, dim1) if shape else g),
    view=True,
)
def transpose(a, /, dim0, dim1):
    """The dimensions ``dim0`` and ``dim1`` exchanged."""
    dim0, dim1 = place_of(dim0, a.ndim, "transpose"), place_of(dim1, a.ndim, "transpose")
    return np.swapaxes(a, dim0, dim1) if a.ndim else a[...]


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
    a=derivative(
        "the order undone",
        lambda g, dims: np.transpose(g, tuple(int(d) for d in np.argsort([d % len(dims) for d in dims]))),
    ),
    view=True,
    name="permute",
)
def plain_permute(a, /, dims):
    """See :func:`permute`."""
    if len(dims) != a.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {a.ndim} is not equal to len(dims) = "
            f"{len(dims)}"
        )
    places = [place_of(dim, a.ndim, "permute") for dim in dims]
    if len(set(places)) < len(places):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return np.transpose(a, places)


def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """The dimensions in another order: the new dimension ``i`` is the old ``dims[i]``."""
    return plain_permute(input, dims=sizes_of(order if dims is None else (dims,), "permute", "dims"))


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """The dimension ``source`` moved to the place ``destination``, or several; others keep their order."""
    if isinstance(source, int) != isinstance(destination, int):
        raise TypeError(
            "movedim() received an invalid combination of arguments: source and destination are two ints or "
            f"two tuples, and not {type(source).__name__} and {type(destination).__name__}"
        )
    ndim = input.array.ndim
    moved = []
    for name, dims in (("source", source), ("destination", destination)):
        dims = list(dims) if isinstance(dims, tuple | list) else [dims]
        places = [place_of(dim, ndim, "movedim") for dim in dims]
        if len(set(places)) < len(places):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({dims})")
        moved.append(places)
    if len(moved[0]) != len(moved[1]):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({moved[0]} dims) should contain the same number of dims as destination ({moved[1]} dims)"
        )
    if not ndim:
        return _reshape(input, ())
    order = [place for place in range(ndim) if place not in moved[0]]
    for to, place in sorted(zip(moved[1], moved[0])):
        order.insert(to, place)
    return plain_permute(input, dims=tuple(order))


# ---------------------------------------------------------------- parts


def _slices(dim: int, start: int, length: int) -> tuple[slice, ...]:
    return (*(slice(None),) * dim, slice(start, start + length))


@operation(
    "[ ]",
    "a part of {a}",
    a=derivative(
        "1 inside of the part",
        lambda g, shape, dim, start, length: on(
            spread_out, g, shape=shape, index=_slices(dim, start, length)
        ),
    ),
    view=True,
    name="narrow",
    backward=lambda node: node.settings["made_by"],
)
def plain_narrow(a, /, dim, start, length, made_by="SliceBackward0"):
    """See :func:`narrow`."""
    return a[_slices(dim, start, length)]


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """``length`` places of dimension ``dim``, from ``start`` on."""
    if not input.array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.array.ndim or start.array.dtype.kind not in "ui"):
        raise RuntimeError(f"start must be an 0-dim integral Tensor, but is {describe(start)}")
    place = place_of(dim, input.array.ndim, "narrow")
    start, length = whole(start, "start", "narrow"), whole(length, "length", "narrow")
    size = input.array.shape[place]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start += size * (start < 0)
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return plain_narrow(input, dim=place, start=start, length=length)


@operation(
    "[ ]",
    "{a} at one place",
    a=derivative(
        "1 at that place",
        lambda g, shape, dim, index: on(spread_out, g, shape=shape, index=(*(slice(None),) * dim, index)),
    ),
    view=True,
    name="select",
    backward=lambda node: node.settings["made_by"],
)
def plain_select(a, /, dim, index, made_by="SelectBackward0"):
    """See :func:`select`."""
    return a[(*(slice(None),) * dim, index, ...)]


def select(input: Tensor, dim: int, index: Any) -> Tensor:
    """What stands at ``index`` along dimension ``dim``, without that dimension."""
    shape = input.array.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    place, index = place_of(dim, len(shape), "select"), whole(index, "index", "select")
    if not -shape[place] <= index < shape[place]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {place}"
        )
    return plain_select(input, dim=place, index=index % shape[place])


# ---------------------------------------------------------------- the dimensions turned


def T(self: Tensor) -> Tensor:
    """The dimensions in the opposite order."""
    if self.array.ndim not in (0, 2):
        warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and "
            "it will throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
        )
    return self.permute(tuple(reversed(range(self.array.ndim))))


def mT(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    if not self.array.ndim:
        warn("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.")
        return self
    if self.array.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self.array.ndim}-D tensor."
        )
    return self.transpose(-2, -1)


NAMES = Names(
    both="flatten movedim narrow permute ravel reshape select squeeze t transpose unflatten unsqueeze",
    methods="reshape_as view view_as",
    properties="T mT",
    aliases={"moveaxis": "movedim", "swapaxes": "transpose", "swapdims": "transpose"},
    numpy={
        np.reshape: reshape,
        np.transpose: lambda a, axes=None: permute(a, axes or tuple(reversed(range(a.ndim)))),
        np.swapaxes: transpose,
        np.moveaxis: movedim,
        np.squeeze: lambda a, axis=None: squeeze(a, axis),
        np.ravel: ravel,
        np.expand_dims: unsqueeze,
    },
)
