"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.errors import describe
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.tensor import Tensor


@operation(
    "@",
    "{a} @ {b}",
    a=derivative("· {b}ᵀ", lambda g, b: g @ np.transpose(b)),
    b=derivative("{a}ᵀ ·", lambda g, a: np.transpose(a) @ g),
    name="mm",
    reduces=True,
)
def plain_mm(a, b, /):
    """See :func:`mm`."""
    return a @ b


@operation(
    "@",
    "{a} @ {b}",
    a=derivative("· {b}ᵀ", lambda g, b: g.reshape((-1, 1)) * b),
    b=derivative("{a}ᵀ ·", lambda g, a: np.transpose(a) @ g),
    name="mv",
    reduces=True,
)
def plain_mv(a, b, /):
    """A matrix times a vector."""
    return a @ b


@operation(
    "·",
    "{a} · {b}",
    a=derivative("{b}", lambda g, b: g * b),
    b=derivative("{a}", lambda g, a: g * a),
    name="dot",
    reduces=True,
)
def plain_dot(a, b, /):
    """See :func:`dot`."""
    return a @ b


@operation(
    "@",
    "{a} @ {b}",
    a=derivative("· {b}ᵀ", lambda g, b: g @ np.swapaxes(b, -1, -2)),
    b=derivative("{a}ᵀ ·", lambda g, a: np.swapaxes(a, -1, -2) @ g),
    name="bmm",
    reduces=True,
)
def batched_mm(a, b, /):
    """Matrices times matrices, one pair for each index of the leading dimensions, which broadcast."""
    return a @ b


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, (n×m) and (m×p).

    Raises
    ------
    RuntimeError
        If one is no matrix, or the inner sizes differ.
    """
    _tensors("mm", input, mat2)
    for place, tensor in (("self", input), ("mat2", mat2)):
        if tensor.array.ndim != 2:
            raise RuntimeError(
                f"{place} must be a matrix: {describe(tensor)}; torch.matmul takes other shapes"
            )
    _check_inner(input, mat2)
    return plain_mm(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix (n×m) and a vector (m)."""
    _tensors("mv", input, vec)
    if input.array.ndim != 2 or vec.array.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {describe(input)} and {describe(vec)}")
    _check_inner(input, vec)
    return plain_mv(input, vec)


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors of one length."""
    _tensors("dot", input, tensor)
    if input.array.ndim != 1 or tensor.array.ndim != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {input.array.ndim}D and {tensor.array.ndim}D tensors: "
            f"{describe(input)} and {describe(tensor)}; torch.matmul takes other shapes"
        )
    if input.array.shape != tensor.array.shape:
        raise RuntimeError(
            "inconsistent tensor size, expected tensor "
            f"[{input.array.shape[0]}] and src [{tensor.array.shape[0]}] to have the same number of "
            f"elements: {describe(input)} and {describe(tensor)}"
        )
    return plain_dot(input, tensor)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of matrices pair by pair, (b×n×m) and (b×m×p)."""
    _tensors("bmm", input, mat2)
    if input.array.ndim != 3 or mat2.array.ndim != 3:
        raise RuntimeError(f"batch1 and batch2 must be 3D tensors: {describe(input)} and {describe(mat2)}")
    if input.array.shape[0] != mat2.array.shape[0] or input.array.shape[2] != mat2.array.shape[1]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{input.array.shape[0]}, {input.array.shape[2]}] but got: "
            f"[{mat2.array.shape[0]}, {mat2.array.shape[1]}]. Got {describe(input)} and {describe(mat2)}"
        )
    return batched_mm(input, mat2)


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product of tensors: of vectors their dot product; leading dimensions are a batch.

    A vector counts as a row on the left and as a column on the right, and
    loses that dimension again.  Batch dimensions broadcast.

    Raises
    ------
    RuntimeError
        If the inner sizes differ, a batch does not broadcast, or a tensor has no dimensions.
    """
    _tensors("matmul", input, other)
    left, right = input.array.ndim, other.array.ndim
    if left == 2 and right == 2:
        _check_inner(input, other)
        return plain_mm(input, other)
    if not left or not right:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D: "
            f"{describe(input)} and {describe(other)}; a number multiplies with *"
        )
    if left == 1 and right == 1:
        return dot(input, other)
    if left == 2 and right == 1:
        _check_inner(input, other)
        return plain_mv(input, other)
    _check_inner(input, other)
    if left == 1:
        return batched_mm(input.unsqueeze(0), other).squeeze(-2)
    if right == 1:
        return batched_mm(input, other.unsqueeze(1)).squeeze(-1)
    return batched_mm(input, other)


def _tensors(name: str, *values: Any) -> None:
    for place, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{('input', 'other')[place]}' (position {place + 1}) must be Tensor, "
                f"not {type(value).__name__}; make one with torch.tensor(...)"
            )
    first, second = values
    if first.array.dtype != second.array.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {first.dtype.name} != {second.dtype.name}: "
            f"convert one of {describe(first)} and {describe(second)} with .to(dtype)"
        )


def _check_inner(a: Tensor, b: Tensor) -> None:
    inner = b.array.shape[0] if b.array.ndim == 1 else b.array.shape[-2]
    if a.array.shape[-1] == inner:
        return
    if b.array.ndim == 1:
        raise RuntimeError(
            f"size mismatch, got input ({a.array.shape[0]}), mat ({'x'.join(map(str, a.array.shape))}), "
            f"vec ({b.array.shape[0]}): {describe(a)} and {describe(b)}"
        )
    left = (1, *a.array.shape)[-2:] if a.array.ndim == 1 else a.array.shape
    flat = (int(np.prod(left[:-1])), left[-1])
    raise RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({flat[0]}x{flat[1]} and {inner}x{b.array.shape[-1]}): "
        f"{describe(a)} and {describe(b)}; the last size of the first must be the last but one of the second"
    )


NAMES = Names(both="bmm dot matmul mm mv", numpy={np.matmul: matmul, np.dot: matmul})
