"""Operations that move elements and change none: shapes, orders, joins and repetitions.

Where NumPy can, the result is a view of the same memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.ops.errors import describe, require_tensor
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor, new_tensor


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes, given one by one or as one sequence."""
    if len(shape) == 1 and isinstance(shape[0], tuple | list):
        shape = tuple(shape[0])
    return tuple(int(size) for size in shape)


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
        return a.reshape(size)
    except ValueError as error:
        known = [step for step in size if step != -1]
        if len(size) - len(known) > 1:
            raise RuntimeError("only one dimension can be inferred") from error
        raise RuntimeError(
            f"shape '{list(size)}' is invalid for input of size {a.size}"
            + (": the sizes must multiply to it" if len(known) == len(size) else "")
        ) from error


def reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """The elements in the same order under another shape; one size may be -1, found from the others.

    Raises
    ------
    RuntimeError
        If the number of elements would change.
    """
    return plain_reshape(input, size=_sizes(sizes if shape is None else shape))


def view(input: Tensor, *shape: Any) -> Any:
    """As :func:`reshape`, but never a copy; with a dtype, the bytes read anew."""
    from autokit import dtypes

    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        return new_tensor(input.array.view(shape[0].numpy))
    result = reshape(input, *shape)
    if result.array.size and not np.shares_memory(result.array, input.array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two contiguous subspaces). Use .reshape(...) instead: it copies where it must. Got "
            f"{describe(input)}"
        )
    return result


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the shape of ``other``."""
    require_tensor("view_as", other)
    return view(input, other.shape)


def _dim(dim: int, ndim: int) -> int:
    """``dim`` counted from the front."""
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        from autokit.ops.errors import dimension_error

        raise dimension_error(dim, ndim)
    return dim % max(ndim, 1)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from ``start_dim`` to ``end_dim`` as one."""
    shape = input.array.shape
    first, last = _dim(start_dim, len(shape)), _dim(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, 1)
    middle = 1
    for size in shape[first : last + 1]:
        middle *= size
    return reshape(input, (*shape[:first], middle, *shape[last + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return reshape(input, -1)


_KIND_OF_SQUEEZE = {type(None): 0, int: 1}


@operation(
    "squeeze",
    "{a} without sizes of 1",
    a=derivative("1", lambda g, shape: g.reshape(shape)),
    view=True,
    backward=lambda node: f"SqueezeBackward{_KIND_OF_SQUEEZE.get(type(node.settings['dim']), 2)}",
)
def squeeze(a, /, dim=None):
    """The dimensions of size 1 taken out: all of them, or only ``dim``."""
    if dim is None:
        return a.squeeze()
    dims = {_dim(d, a.ndim) for d in ((dim,) if isinstance(dim, int) else dim)}
    return a.reshape(tuple(size for place, size in enumerate(a.shape) if not (place in dims and size == 1)))


@operation(
    "unsqueeze", "{a} with a size of 1", a=derivative("1", lambda g, shape: g.reshape(shape)), view=True
)
def unsqueeze(a, /, dim):
    """A dimension of size 1 put in at ``dim``."""
    return np.expand_dims(a, dim)


@operation(
    "ᵀ",
    "{a}ᵀ",
    a=derivative("ᵀ", lambda g, shape, dim0, dim1: np.swapaxes(g, dim0, dim1) if shape else g),
    view=True,
)
def transpose(a, /, dim0, dim1):
    """The dimensions ``dim0`` and ``dim1`` exchanged."""
    return np.swapaxes(a, _dim(dim0, a.ndim), _dim(dim1, a.ndim)) if a.ndim else a[...]


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
    return np.transpose(a, dims)


def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """The dimensions in another order: the new dimension ``i`` is the old ``dims[i]``."""
    return plain_permute(input, dims=_sizes(order if dims is None else dims))


def expand_to(g: Any, shape: tuple[int, ...]) -> Any:
    """``g`` repeated along its dimensions of size 1 to ``shape``; for use in rules."""
    if isinstance(g, Tensor):
        return plain_expand(g, size=shape)
    if isinstance(g, np.ndarray | np.generic) and np.prod(shape, dtype=np.int64) <= _QUICKLY_FILLED:
        filled = np.empty(shape, g.dtype)
        filled[...] = g
        return filled
    return np.broadcast_to(g, shape)


_QUICKLY_FILLED = 4096
"""Up to this size filling an array is faster than setting up a view that repeats."""


@operation("expand", "{a} repeated", a=derivative("1", lambda g: g), view=True, name="expand")
def plain_expand(a, /, size):
    """See :func:`expand`."""
    return np.broadcast_to(a, size)


def expand(input: Tensor, *sizes: Any) -> Tensor:
    """A view in which dimensions of size 1 are repeated; -1 leaves a size as it is."""
    wanted = _sizes(sizes)
    own = (1,) * (len(wanted) - input.array.ndim) + input.array.shape
    return plain_expand(input, size=tuple(o if w == -1 else w for o, w in zip(own, wanted)))


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` expanded to the shape of ``other``."""
    return expand(input, other.shape)


# ---------------------------------------------------------------- joining


def _cat_gradients(g: Any, tensors: Sequence[Any], dim: int) -> list[Any]:
    ends = np.cumsum([tensor.shape[dim] for tensor in tensors])
    lead = (slice(None),) * (dim % len(g.shape))
    return [g[(*lead, slice(int(end) - tensor.shape[dim], int(end)))] for tensor, end in zip(tensors, ends)]


@operation("cat", "the tensors, joined", joint=derivative("its own part", _cat_gradients), name="cat")
def plain_cat(*tensors, dim=0):
    """See :func:`cat`."""
    try:
        return np.concatenate(tensors, axis=dim)
    except ValueError as error:
        if isinstance(error, np.exceptions.AxisError):
            raise
        raise RuntimeError(
            f"Sizes of tensors must match except in dimension {dim}. The shapes are "
            + ", ".join(str(tuple(tensor.shape)) for tensor in tensors)
        ) from error


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along the existing dimension ``dim``.

    Raises
    ------
    RuntimeError
        If a size differs along another dimension.
    """
    tensors = _some_tensors(tensors, "cat")
    if any([each.array.ndim != 1 for each in tensors]):
        # An empty list counts for nothing, so that a loop may begin with one.
        tensors = [each for each in tensors if each.array.shape != (0,)]
    return plain_cat(*tensors, dim=dim)


def _some_tensors(tensors: Any, name: str) -> Sequence[Tensor]:
    if isinstance(tensors, Tensor):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor; write "
            f"{name}([a, b])"
        )
    if not tensors:
        kind = ValueError if name == "cat" else RuntimeError
        raise kind(f"{name} expects a non-empty TensorList: expected a non-empty list of Tensors")
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {place} in argument 0, but got {type(tensor).__name__}"
            )
    return tensors


def _stack_gradients(g: Any, tensors: Sequence[Any], dim: int) -> list[Any]:
    lead = (slice(None),) * (dim % len(g.shape))
    return [g[(*lead, place)] for place in range(len(tensors))]


@operation("stack", "the tensors, stacked", joint=derivative("its own part", _stack_gradients), name="stack")
def plain_stack(*tensors, dim=0):
    """See :func:`stack`."""
    for place, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 "
                f"and {list(tensor.shape)} at entry {place}"
            )
    return np.stack(tensors, axis=dim)


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape, side by side along a new dimension ``dim``."""
    return plain_stack(*_some_tensors(tensors, "stack"), dim=dim)


# ---------------------------------------------------------------- along one dimension


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
    return np.take_along_axis(a, index, axis=dim)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Along ``dim``, the elements at the places ``index``, which has as many dimensions as ``input``."""
    places = index.array
    if places.dtype.kind != "i":
        raise RuntimeError(f"gather(): Expected dtype int64 for index, got {index.dtype.name}")
    if places.ndim != input.array.ndim:
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as input tensor: it has "
            f"{places.ndim}, and the input {input.array.ndim}"
        )
    axis = _dim(dim, input.array.ndim)
    size = input.array.shape[axis] if input.array.ndim else 1
    wrong = places[(places < 0) | (places >= size)]
    if wrong.size:
        raise RuntimeError(f"index {wrong.flat[0]} is out of bounds for dimension {dim} with size {size}")
    lead = tuple(slice(n) if place != axis else slice(None) for place, n in enumerate(places.shape))
    return plain_gather(input if places.shape == input.array.shape else input[lead], dim=axis, index=places)


@operation(
    "scatter",
    "{a} put at given places",
    a=derivative("1 at the places put", lambda g, dim, index: on(plain_gather, g, dim=dim, index=index)),
    name="scatter_add",
)
def scatter_zeros(a, /, shape, dim, index):
    """Zeros of ``shape`` with the elements of ``a`` added at the places ``index`` along ``dim``."""
    result = np.zeros(shape, a.dtype)
    places = list(np.ix_(*[np.arange(size) for size in index.shape]))
    places[dim] = index
    np.add.at(result, tuple(places), a)
    return result


def contiguous(input: Tensor) -> Tensor:
    """The same elements in the order of their indices: the tensor itself where they lie so already."""
    return input if input.is_contiguous() else input.clone()


NAMES = Names(
    both="flatten gather permute ravel reshape squeeze t transpose unsqueeze",
    functions="cat stack",
    methods="contiguous expand expand_as view view_as",
    aliases={"concat": "cat", "concatenate": "cat", "swapaxes": "transpose"},
    numpy={
        np.reshape: reshape,
        np.transpose: lambda a, axes=None: permute(a, axes or tuple(reversed(range(a.ndim)))),
        np.swapaxes: transpose,
        np.expand_dims: unsqueeze,
        np.concatenate: lambda arrays, axis=0: cat(arrays, axis),
        np.stack: lambda arrays, axis=0: stack(arrays, axis),
        np.broadcast_to: expand,
    },
)
