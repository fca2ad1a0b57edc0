"""Joining tensors to one, and splitting one into parts: ``cat``, ``stack``, ``split``, ``unbind``.

Parts are views of the whole, which keep its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autokit.devices import channels_last_or_contiguous, contiguous, module_of
from autokit.meta_array import META
from autokit.ops.dims import one_dim, place_of, sizes_of, whole
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype
from autokit.ops.operation import derivative, operation
from autokit.ops.operators import with_dtype
from autokit.ops.shape import plain_narrow, plain_select, reshape, unsqueeze
from autokit.ops.unusual import refuse_beside_meta
from autokit.ops.views import no_views, one_of_several
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL

# ---------------------------------------------------------------- joining


Shapes = tuple[tuple[int, ...], ...]
"""Of all operands: the way back needs no more of them, so that they may be changed in place, or let go."""


def _cat_gradients(g: Any, dim: int, shapes: Shapes) -> list[Any]:
    ends = np.cumsum([shape[dim] for shape in shapes])
    lead = (slice(None),) * (dim % len(g.shape))
    return [g[(*lead, slice(int(end) - shape[dim], int(end)))] for shape, end in zip(shapes, ends)]


@operation(
    "cat",
    "{tensors}, joined",
    joint=derivative("its own part", _cat_gradients),
    name="cat",
    layout=channels_last_or_contiguous,
)
def plain_cat(*tensors, dim=0, shapes=()):
    """See :func:`cat`."""
    try:
        return np.concatenate(tensors, axis=dim)
    except ValueError as error:
        raise _cannot_join([tensor.shape for tensor in tensors], dim) from error


def _cannot_join(shapes: list[tuple[int, ...]], dim: int) -> Exception:
    first = shapes[0]
    for number, shape in enumerate(shapes):
        if not shape:
            return RuntimeError(f"zero-dimensional tensor (at position {number}) cannot be concatenated")
        if len(shape) != len(first):
            return RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
    dim = place_of(dim, len(first), "cat")
    for number, shape in enumerate(shapes):
        for place, (size, other) in enumerate(zip(first, shape)):
            if size != other and place != dim:
                return RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {size} but got "
                    f"size {other} for tensor number {number} in the list. The shapes are "
                    + ", ".join(str(tuple(each)) for each in shapes)
                )
    return RuntimeError(f"the shapes {shapes} cannot be joined")


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
        # Its dtype counts nevertheless, and so does that of the whole.
        common = common_dtype(list(tensors))
        tensors = [with_dtype(each, common) for each in tensors if each.array.shape != (0,)]
    return plain_cat(*tensors, dim=whole(dim, "dim", "cat"), shapes=_shapes_of(tensors))


def _shapes_of(tensors: Sequence[Tensor]) -> Shapes:
    return tuple([each.array.shape for each in tensors])


def _some_tensors(tensors: Any, name: str) -> Sequence[Tensor]:
    if isinstance(tensors, Tensor):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor; write "
            f"{name}([a, b])"
        )
    if not isinstance(tensors, tuple | list):
        try:
            tensors = tuple(tensors)
        except TypeError:
            raise TypeError(
                f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                f"{type(tensors).__name__}"
            ) from None
    if not tensors:
        if name == "cat":
            raise ValueError("torch.cat(): expected a non-empty list of Tensors")
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {place} in argument 0, but got {type(tensor).__name__}"
            )
    return tensors


def _stack_gradients(g: Any, dim: int) -> list[Any]:
    place = dim % len(g.shape)
    return [g[(*(slice(None),) * place, each)] for each in range(g.shape[place])]


@operation(
    "stack",
    "{tensors}, stacked",
    joint=derivative("its own part", _stack_gradients),
    name="stack",
    layout=contiguous,
)
def plain_stack(*tensors, dim=0):
    """See :func:`stack`."""
    shape = tensors[0].shape
    for place, tensor in enumerate(tensors):
        if tensor.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 "
                f"and {list(tensor.shape)} at entry {place}"
            )
    if dim.__class__ is int and dim == 0 and shape:  # twice as fast as np.stack
        return np.concatenate(tensors).reshape(len(tensors), *shape)
    return np.stack(tensors, axis=place_of(dim, len(shape) + 1, "stack"))


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape, side by side along a new dimension ``dim``."""
    return plain_stack(*_some_tensors(tensors, "stack"), dim=dim)


def atleast_1d(*tensors: Any) -> Any:
    """A tensor without dimensions as a vector; others as they are."""
    return _each(tensors, lambda x: x if x.array.ndim else reshape(x, 1))


def atleast_2d(*tensors: Any) -> Any:
    """A tensor of fewer dimensions as a matrix of one row."""
    return _each(
        tensors, lambda x: x if x.array.ndim > 1 else unsqueeze(x, 0) if x.array.ndim else reshape(x, 1, 1)
    )


def _3d(x: Tensor) -> Tensor:
    if x.array.ndim > 2:
        return x
    if not x.array.ndim:
        return reshape(x, 1, 1, 1)
    return unsqueeze(x if x.array.ndim == 2 else unsqueeze(x, 0), -1)


def atleast_3d(*tensors: Any) -> Any:
    """A tensor of fewer dimensions with dimensions of size 1 around: a matrix gets one behind it."""
    return _each(tensors, _3d)


def _each(tensors: tuple[Any, ...], form: Callable[[Tensor], Tensor]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return form(tensors[0])
    several = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    return tuple([form(each) for each in _some_tensors(several, "atleast")]) if several else ()


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other: along dimension 1, vectors along their only one."""
    tensors = [atleast_1d(each) for each in _some_tensors(tensors, "hstack")]
    return cat(tensors, 0 if tensors[0].array.ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: along dimension 0, vectors as rows."""
    return cat([atleast_2d(each) for each in _some_tensors(tensors, "vstack")], 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors behind each other: along dimension 2."""
    return cat([atleast_3d(each) for each in _some_tensors(tensors, "dstack")], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other, vectors as columns."""
    columns = [
        each if each.array.ndim > 1 else reshape(each, -1, 1)
        for each in _some_tensors(tensors, "column_stack")
    ]
    return cat(columns, 1)


def _block_gradients(g: Any, shapes: Shapes) -> list[Any]:
    gradients, row, column = [], 0, 0
    for shape in shapes:
        rows, columns = _as_matrix(shape)
        gradients.append(g[row : row + rows, column : column + columns].reshape(shape))
        row, column = row + rows, column + columns
    return gradients


def _as_matrix(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*(1,) * (2 - len(shape)), *shape)


@operation(
    "blocks",
    "{tensors} along a diagonal",
    joint=derivative("its own block", _block_gradients),
    name="block_diag",
)
def plain_block_diag(*tensors, shapes=()):
    """See :func:`block_diag`."""
    for place, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {place} has "
                f"{tensor.ndim} dimensions"
            )
    shapes = [_as_matrix(tensor.shape) for tensor in tensors]
    size = (sum(shape[0] for shape in shapes), sum(shape[1] for shape in shapes))
    result = np.zeros_like(tensors[0], shape=size, order="C")
    row = column = 0
    for tensor, (rows, columns) in zip(tensors, shapes):
        result[row : row + rows, column : column + columns] = tensor
        row, column = row + rows, column + columns
    return result


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix of zeros with the tensors, as matrices, along its diagonal."""
    from autokit.ops.filled import zeros

    if not tensors:
        return zeros(1, 0)
    return plain_block_diag(*_some_tensors(tensors, "block_diag"), shapes=_shapes_of(tensors))


# ---------------------------------------------------------------- splitting


def _cut(input: Tensor, dim: int, ends: Sequence[int], made_by: str) -> list[Tensor]:
    starts = [0, *ends[:-1]]
    return [
        plain_narrow(input, dim=dim, start=start, length=max(end - start, 0), made_by=made_by)
        for start, end in zip(starts, ends)
    ]


def split(
    tensor: Tensor, split_size_or_sections: Any = None, dim: int = 0, **settings: Any
) -> tuple[Tensor, ...]:
    """Parts of one size along ``dim``, the last maybe smaller; or parts of the sizes in a list.

    Raises
    ------
    RuntimeError
        If the sizes of a list do not add up to the size of the dimension.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    wanted = settings.pop("split_size", split_size_or_sections)
    if settings or wanted is None:
        raise TypeError(f"split() takes a size or a list of sizes, and dim; got {sorted(settings)}")
    return one_of_several(_parts(tensor, wanted, dim))


def _parts(tensor: Tensor, wanted: Any, dim: int, unsafe: str = "") -> list[Tensor]:
    if not tensor.array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    place = place_of(one_dim(dim, "split"), tensor.array.ndim, "split")
    size = tensor.array.shape[place]
    if isinstance(wanted, tuple | list):
        sections = sizes_of((wanted,), "split_with_sizes", "split_sizes")
        if sum(sections) != size or min(sections, default=0) < 0:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at "
                f"dimension {place}), but got split_sizes={list(sections)}"
            )
        ends = [int(end) for end in np.cumsum(sections)]
        return _cut(tensor, place, ends, f"{unsafe}SplitWithSizesBackward0")
    step = whole(wanted, "split_size", "split")
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    if not step and size:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    ends = [min(end, size) for end in range(step, size + step, step)] if size else [0]
    return _cut(tensor, place, ends, f"{unsafe}SplitBackward0")


def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As :func:`split`, but each part may be changed in place, which the others do not hear of."""
    return no_views(_parts(tensor, split_size, dim, "Unsafe"))


def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """:func:`unsafe_split` in parts of these sizes."""
    return no_views(_parts(input, list(split_sizes), dim, "Unsafe"))


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` parts of one size along ``dim``, the last maybe smaller."""
    return split(input, _size_of_chunks(input, chunks, dim), dim)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As :func:`chunk`, but each part may be changed in place, which the others do not hear of."""
    return no_views(_parts(input, _size_of_chunks(input, chunks, dim), dim, "Unsafe"))


def _size_of_chunks(input: Tensor, chunks: int, dim: int) -> Any:
    if not input.array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = input.array.shape[place_of(dim, input.array.ndim, "chunk")]
    return -(-size // chunks) if size else [0] * chunks


def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, sections: Any = None, indices: Any = None
) -> tuple[Tensor, ...]:
    """As many parts as asked for, of sizes that differ by 1 at most; or the parts between given places."""
    wanted = next((each for each in (indices_or_sections, sections, indices) if each is not None), None)
    if isinstance(wanted, Tensor):
        if wanted.array.dtype != np.int64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{wanted.dtype.name}: use .long()"
            )
        if wanted.array.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                f"one-dimensional tensor, but got a tensor with {wanted.array.ndim} dims"
            )
        wanted = wanted.tolist()
    if not input.array.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    place = place_of(dim, input.array.ndim, "tensor_split")
    size = input.array.shape[place]
    if not isinstance(wanted, tuple | list):
        count = whole(wanted, "sections", "tensor_split")
        if count <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        wanted = [size // count * part + min(size % count, part) for part in range(1, count)]
    cuts = [slice(start, end).indices(size) for start, end in zip([0, *wanted], [*wanted, size])]
    return tuple(
        [plain_narrow(input, dim=place, start=start, length=max(end - start, 0)) for start, end, _ in cuts]
    )


def _split_along(name: str, dim: int, least: int) -> Callable[[Tensor, Any], tuple[Tensor, ...]]:
    def along(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        ndim = input.array.ndim
        if ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                f"{ndim} dimensions!"
            )
        place = 0 if ndim == 1 else dim
        size = input.array.shape[place]
        if isinstance(indices_or_sections, int) and (indices_or_sections <= 0 or size % indices_or_sections):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {place}, but the size of the dimension "
                f"{size} is not divisible by the split_size {indices_or_sections}!"
            )
        return tensor_split(input, indices_or_sections, place)

    along.__name__ = along.__qualname__ = name
    along.__doc__ = f"Even parts, or the parts between given places, along dimension {dim}."
    return along


hsplit = _split_along("hsplit", 1, 1)
vsplit = _split_along("vsplit", 0, 2)
dsplit = _split_along("dsplit", 2, 3)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The tensors that stand one after the other along ``dim``, without that dimension."""
    if not input.array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    place = place_of(dim, input.array.ndim, "unbind")
    parts = [
        plain_select(input, dim=place, index=index, made_by="UnbindBackward0")
        for index in range(input.array.shape[place])
    ]
    return one_of_several(parts)


# ---------------------------------------------------------------- every combination


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """For each vector a grid that varies along its own dimension; ``"xy"`` exchanges the first two."""
    several = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    several = list(_some_tensors(tuple(several), "meshgrid"))
    if META in UNUSUAL:
        refuse_beside_meta("meshgrid", several)
    if indexing is None:
        warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument: "
            "'ij' is what happens without it.",
        )
    elif not isinstance(indexing, str):
        raise TypeError(f"meshgrid(): argument 'indexing' must be str, not {type(indexing).__name__}")
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if len({each.array.dtype for each in several}) > 1:
        raise RuntimeError(
            "meshgrid expects all tensors to have the same dtype, not "
            f"{', '.join(each.dtype.name for each in several)}; convert with .to(dtype)"
        )
    for each in several:
        if each.array.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {each.array.ndim}D"
            )
    exchanged = indexing == "xy" and len(several) > 1
    if exchanged:
        several[:2] = several[1::-1]
    shape = tuple([each.array.size for each in several])
    grids = []
    for place, each in enumerate(several):
        row = reshape(each, *(shape[place] if other == place else 1 for other in range(len(shape))))
        grids.append(row.expand(shape))
    if exchanged:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def _vectors(tensors: Sequence[Tensor]) -> None:
    for each in tensors:
        if each.array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(each.array.shape)}")


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every choice of one element of each vector, as rows; a single vector as it is."""
    _vectors(_some_tensors(tensors, "cartesian_prod"))
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(grid, -1) for grid in meshgrid(*tensors, indexing="ij")], 1)


@guards("input")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every choice of ``r`` elements of a vector in their order, as rows."""
    import itertools

    _vectors([input])
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if not r:
        return new_tensor(input.array[:0])
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input.array.size), r))
    places = module_of(input).asarray(rows, np.int64).reshape(-1, r)
    return stack([input[column] for column in places.T], 1)


NAMES = Names(
    both="chunk dsplit hsplit split tensor_split unbind unsafe_chunk unsafe_split "
    "unsafe_split_with_sizes vsplit",
    functions="atleast_1d atleast_2d atleast_3d block_diag cartesian_prod cat column_stack combinations "
    "dstack hstack meshgrid stack vstack",
    aliases={
        "concat": "cat",
        "concatenate": "cat",
        "row_stack": "vstack",
    },
    numpy={
        np.concatenate: lambda arrays, axis=0: cat(arrays, axis),
        np.stack: lambda arrays, axis=0: stack(arrays, axis),
    },
)
