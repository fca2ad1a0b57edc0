"""``cat`` and ``stack`` join tensors to one; ``split`` and ``unbind`` cut a tensor into parts.

Parts are views of the tensor: they share its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autokit.base.errors import describe, is_tensor, one_dim, sizes_of
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor
from autokit.ops.index import along, select_part
from autokit.ops.names import Names
from autokit.ops.shape import reshape, unsqueeze

# ---------------------------------------------------------------- joining


def _parts_of_cat(g: Any, dim: int, sizes: tuple[int, ...]) -> list[Any]:
    ends = np.cumsum(sizes).tolist()
    return [g[along(dim, slice(end - size, end))] for size, end in zip(sizes, ends)]


_WORDS = {"tensors": "Each part gets its own part of the upstream gradient"}


@operation("cat", "{tensors}, joined", joint=derivative("its part", _parts_of_cat), words=_WORDS, name="cat")
def plain_cat(*tensors, dim, sizes):
    """See :func:`cat`; ``sizes`` are those along ``dim``, all that the backward pass needs."""
    return np.concatenate(tensors, axis=dim)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along the existing dimension ``dim``.

    Raises
    ------
    RuntimeError
        If a size differs along another dimension.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.cat([torch.zeros(2, 1), torch.ones(2, 2)], dim=1)
    tensor([[0., 1., 1.],
            [0., 1., 1.]])
    """
    tensors = _some_tensors(tensors, "cat")
    shapes = [tensor.array.shape for tensor in tensors]
    if (0,) in shapes and any(len(shape) > 1 for shape in shapes):
        # an empty tensor adds its dtype alone, so that a loop may begin with one
        hole = list(next(s for s in shapes if len(s) > 1))
        hole[one_dim(dim, len(hole))] = 0
        return cat([reshape(x, hole) if x.shape == (0,) else x for x in tensors], dim)
    if not all(shapes):
        raise RuntimeError("zero-dimensional tensor cannot be concatenated: torch.stack([...]) joins numbers")
    dim = one_dim(dim, len(shapes[0]))
    others = {shape[:dim] + shape[dim + 1 :] for shape in shapes}
    if len(others) > 1 or len({*map(len, shapes)}) > 1:
        raise RuntimeError(
            f"Sizes of tensors must match except in dimension {dim}: "
            f"{', '.join(describe(tensor) for tensor in tensors)}"
        )
    return plain_cat(*tensors, dim=dim, sizes=tuple([shape[dim] for shape in shapes]))


def _some_tensors(tensors: Any, name: str) -> Sequence[Tensor]:
    if is_tensor(tensors):
        raise TypeError(
            f"{name}(): argument 'tensors' must be tuple of Tensors, not Tensor: put it into a list"
        )
    tensors = tuple(tensors)
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}(): expected Tensor as element {place}, but got {type(tensor).__name__}")
    if not tensors:
        kind = ValueError if name == "cat" else RuntimeError
        raise kind(f"{name} expects a non-empty list of tensors")
    return tensors


def _parts_of_stack(g: Any, dim: int) -> list[Any]:
    return [g[along(dim, place)] for place in range(g.shape[dim])]


@operation(
    "stack", "{tensors}, stacked", joint=derivative("its part", _parts_of_stack), words=_WORDS, name="stack"
)
def plain_stack(*tensors, dim):
    """See :func:`stack`."""
    return np.stack(tensors, axis=dim)


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape, side by side along a new dimension ``dim``.

    >>> import autokit as torch
    >>> torch.stack([torch.zeros(2), torch.ones(2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    tensors = _some_tensors(tensors, "stack")
    shape = tensors[0].array.shape
    for place, tensor in enumerate(tensors):
        if tensor.array.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 "
                f"and {list(tensor.array.shape)} at entry {place}"
            )
    return plain_stack(*tensors, dim=one_dim(dim, len(shape) + 1))


def atleast_1d(*tensors: Any) -> Any:
    """A tensor without dimensions as a vector; others as they are."""
    return _each(tensors, lambda x: x if x.array.ndim else reshape(x, 1))


def atleast_2d(*tensors: Any) -> Any:
    """A tensor of fewer dimensions as a matrix of one row."""
    return _each(tensors, lambda x: x if x.array.ndim > 1 else reshape(x, 1, -1))


def atleast_3d(*tensors: Any) -> Any:
    """A tensor of fewer dimensions with dimensions of size 1 around: a matrix gets one behind it."""

    def form(x: Tensor) -> Tensor:
        if x.array.ndim > 2:
            return x
        return unsqueeze(x, -1) if x.array.ndim == 2 else reshape(x, 1, -1, 1)

    return _each(tensors, form)


def _each(tensors: tuple[Any, ...], form: Callable[[Tensor], Tensor]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return form(tensors[0])
    return tuple(map(form, tensors[0] if len(tensors) == 1 else tensors))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other: along dimension 1, vectors along their only one."""
    tensors = [atleast_1d(each) for each in tensors]
    return cat(tensors, 0 if tensors[0].array.ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: along dimension 0, vectors as rows."""
    return cat([atleast_2d(each) for each in tensors], 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors behind each other: along dimension 2."""
    return cat([atleast_3d(each) for each in tensors], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other, vectors as columns."""
    return cat([each if each.array.ndim > 1 else reshape(each, -1, 1) for each in tensors], 1)


# ---------------------------------------------------------------- parts


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """``length`` places of dimension ``dim``, from ``start`` on."""
    place, start = one_dim(dim, input.array.ndim), int(start)
    size = input.array.shape[place]
    start += size * (start < 0)
    if not 0 <= start <= start + length <= size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return _between(input, place, start, start + length)


def _between(input: Tensor, dim: int, start: int, end: int) -> Tensor:
    return select_part(input, index=along(dim, slice(start, max(start, end))))


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """What stands at ``index`` along dimension ``dim``, without that dimension."""
    return input[along(one_dim(dim, input.array.ndim), int(index))]


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The tensors that stand one after the other along ``dim``, without that dimension."""
    place = _dim_of_parts("unbind", input, dim)
    return tuple([input[along(place, index)] for index in range(input.array.shape[place])])


def _dim_of_parts(name: str, input: Tensor, dim: int) -> int:
    if not input.array.ndim:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor: {describe(input)}")
    return one_dim(dim, input.array.ndim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
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
    place = _dim_of_parts("split", tensor, dim)
    wanted = split_size_or_sections
    size = tensor.array.shape[place]
    if isinstance(wanted, tuple | list):
        sections = sizes_of((wanted,), "split")
        if sum(sections) != size or min(sections, default=0) < 0:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at "
                f"dimension {place}), but got split_sizes={list(sections)}"
            )
        return _cut(tensor, place, np.cumsum(sections).tolist()[:-1])
    (step,) = sizes_of((wanted,), "split")
    if step < 0 or (not step and size):
        raise RuntimeError(f"split expects a split_size above 0, but got split_size={step}")
    return _cut(tensor, place, [*range(step, size, step)] if size else [])


def _cut(input: Tensor, dim: int, places: Sequence[int]) -> tuple[Tensor, ...]:
    """The parts between ``places`` along ``dim``."""
    ends = [*places, input.array.shape[dim]]
    return tuple([_between(input, dim, start, end) for start, end in zip([0, *places], ends)])


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` parts of one size along ``dim``, the last maybe smaller."""
    place = _dim_of_parts("chunk", input, dim)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = input.array.shape[place]
    return split(input, -(-size // chunks) if size else [0] * chunks, place)


NAMES = Names(
    both="chunk narrow select split unbind",
    functions="atleast_1d atleast_2d atleast_3d cat column_stack dstack hstack stack vstack",
    aliases={"concat": "cat", "concatenate": "cat", "row_stack": "vstack"},
    numpy={
        np.concatenate: lambda arrays, axis=0: cat(arrays, axis),
        np.stack: lambda arrays, axis=0: stack(arrays, axis),
    },
)
