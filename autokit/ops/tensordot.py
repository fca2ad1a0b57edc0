"""Products of tensors over paired dimensions: an :mod:`~autokit.ops.einsum` whose names are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.einsum import Labels, contract_all, without_broadcasts
from autokit.ops.errors import describe, dimension_error
from autokit.ops.matrices import require_tensors
from autokit.ops.names import Names
from autokit.ops.own_copies import is_copied
from autokit.tensor import Tensor


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """The sums of products over dimensions of ``a`` paired with dimensions of ``b``.

    Parameters
    ----------
    a, b : Tensor
    dims : int or two sequences of int
        How many last dimensions of ``a`` meet the first ones of ``b``; or
        which of ``a``, and which of ``b``.

    Raises
    ------
    RuntimeError
        If paired sizes differ.
    ValueError
        If ``dims`` holds another number of lists than two.
    """
    require_tensors("tensordot", a=a, b=b)
    if isinstance(dims, Tensor):
        if dims.array.size > 1 and dims.array.shape[0] != 2:
            raise AssertionError(
                f"dims tensor must have size 2 in first dimension, got {dims.array.shape[0]}: a row of "
                "dimensions for each operand"
            )
        dims = dims.tolist() if dims.array.size > 1 else int(dims.item())
    left_dims, right_dims = _paired(a, b, dims)
    if a.array.dtype != b.array.dtype:
        raise RuntimeError(f"both inputs should have same dtype: {describe(a)} and {describe(b)}")
    if a.array.dtype.kind == "b":
        raise NotImplementedError("\"tensordot\" not implemented for 'Bool': convert with .int() or .float()")
    count, ndim = len(left_dims), a.array.ndim
    left = list(range(count, count + ndim))
    right = list(range(count + ndim, count + ndim + b.array.ndim))
    for number, (i, j) in enumerate(zip(left_dims, right_dims)):
        left[i] = right[j] = number  # in the order in which they were given
    out = [n for n in left if n not in right] + [n for n in right if n not in left]
    tensors, names = _paired_sizes(a, b, left, right, left_dims, right_dims)

    def copied(*_: Any) -> dict[int, Tensor]:
        return _copied(a, b, left_dims, right_dims)

    # What was summed alone is of int64, and PyTorch's sums here are of the operands' dtype.
    return contract_all(tensors, names, tuple(out), copied).to(a.dtype)


def _copied(a: Tensor, b: Tensor, left_dims: list[int], right_dims: list[int]) -> dict[int, Tensor]:
    """The operands that PyTorch sums or copies to make matrices of them, by their places."""
    left, right = a.array, b.array
    rest = [
        [dim for dim in range(each.ndim) if dim not in dims]
        for each, dims in ((left, left_dims), (right, right_dims))
    ]
    by_elements = left_dims and all(
        each.shape[dim] == 1 for each, dims in zip((left, right), rest) for dim in dims
    )
    paired = [(left.shape[i], right.shape[j]) for i, j in zip(left_dims, right_dims)]
    summed = any(n == 1 for _, n in paired), any(m == 1 != n for m, n in paired)
    found = {}
    for place, (tensor, dims) in enumerate(((a, left_dims), (b, right_dims))):
        copied = not by_elements and is_copied(tensor.array, (rest[place], dims))
        if tensor.array.__class__ is np.ndarray and (summed[place] or copied):
            found[place] = tensor
    return found


def _paired(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    """The paired dimensions of both."""
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.array.ndim, b.array.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(-dims, 0)), list(range(dims))
    if not isinstance(dims, tuple | list):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing "
            f"two lists, but got dims={dims}"
        )
    if len(dims) != 2:
        few = f"not enough values to unpack (expected 2, got {len(dims)})"
        raise ValueError(
            f"{few if len(dims) < 2 else 'too many values to unpack (expected 2)'}: dims holds a list of "
            f"dimensions for each operand, but it is {dims}"
        )
    for part in dims:
        if not isinstance(part, tuple | list) or not all(isinstance(place, int) for place in part):
            raise TypeError(
                f"tensordot(): argument 'dims_self' (position 3) must be tuple of ints, not {part!r}: dims "
                "is a number, or a list of dimensions for each of both"
            )
    lists = [list(each) for each in dims]
    if len(lists[0]) != len(lists[1]):
        raise RuntimeError(f"both dimension lists should have same length, got {dims}")
    for tensor, places in zip((a, b), lists):
        for at, place in enumerate(places):
            if not -tensor.array.ndim <= place < tensor.array.ndim:
                raise dimension_error(place, tensor.array.ndim, describe(tensor))
            places[at] = place % tensor.array.ndim
            if places[at] in places[:at]:
                raise RuntimeError(f"dim {places[at]} appears multiple times in the list of dims")
    return lists[0], lists[1]


def _paired_sizes(
    a: Tensor, b: Tensor, left: list[int], right: list[int], left_dims: list[int], right_dims: list[int]
) -> tuple[list[Tensor], list[Labels]]:
    """Both operands with their labels; where one of a pair of sizes is 1, the other is summed alone."""
    for i, j in zip(left_dims, right_dims):
        m, n = a.array.shape[i], b.array.shape[j]
        if m != n and 1 not in (m, n):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim {i} and second has "
                f"size {n} in dim {j}: {describe(a)} and {describe(b)}"
            )
    return without_broadcasts([a, b], [tuple(left), tuple(right)])


NAMES = Names(functions="tensordot")
