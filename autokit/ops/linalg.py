"""Products of matrices and vectors; ``matrix_chains`` multiplies several."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import contiguous, module_of
from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.blocks import as_they_lie
from autokit.ops.complex_parts import conj
from autokit.ops.dims import place_of
from autokit.ops.errors import broadcast_message, describe, refuse_bools_in
from autokit.ops.gpu.products import product
from autokit.ops.matrices import (
    c_name,
    require_tensors,
    title,
    transposed,
)
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.operators import mul
from autokit.ops.own_copies import of_product
from autokit.ops.triangle import diagonal
from autokit.ops.unusual import asks_for_care, with_care
from autokit.ops.warn import warn
from autokit.tensor import Tensor
from autokit.thread_state import UNUSUAL


@operation(
    "@",
    "{a} @ {b}",
    a=derivative("· {b}ᵀ", lambda g, b: g @ np.transpose(b)),
    b=derivative("{a}ᵀ ·", lambda g, a: np.transpose(a) @ g),
    name="mm",
    reduces=True,
    linear=True,
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
    linear=True,
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
    linear=True,
)
def plain_dot(a, b, /):
    """See :func:`dot`."""
    return a @ b


_OF_BATCHES: dict[str, Any] = {
    "a": derivative("· {b}ᵀ", lambda g, b: g @ transposed(b), lambda g, b: product(g, transposed(b))),
    "b": derivative("{a}ᵀ ·", lambda g, a: transposed(a) @ g, lambda g, a: product(transposed(a), g)),
    "reduces": True,
    "linear": True,
    "on_arrays": product,
}


@operation("@", "{a} @ {b}", name="bmm", **_OF_BATCHES)
def batched_mm(a, b, /):
    """Matrices times matrices, one pair for each index of the leading dimensions, which broadcast."""
    return a @ b


@operation("@", "{a} @ {b}", name="matmul", backward="UnsafeViewBackward0", **_OF_BATCHES)
def shaped_mm(a, b, /):
    """As :func:`batched_mm`, which PyTorch puts into another shape, and so calls otherwise."""
    return a @ b


def _rows(a: Any) -> Any:
    """All rows of a batch of matrices, as one matrix."""
    return a.reshape((-1, a.shape[-1])) if a.shape[-1] else a.reshape((int(np.prod(a.shape[:-1])), 0))


@operation(
    "@",
    "{a} @ {b}",
    a=derivative("· {b}ᵀ", lambda g, b: g @ np.transpose(b), lambda g, b: product(g, np.transpose(b))),
    b=derivative("{a}ᵀ ·", lambda g, a: np.transpose(_rows(a)) @ _rows(g)),
    name="folded_mm",
    reduces=True,
    backward="UnsafeViewBackward0",
    linear=True,
)
def folded_mm(a, b, /):
    """A batch of matrices times one matrix: one large product of all rows, where they lie in order."""
    if not a.flags.c_contiguous or not a.size:
        return product(a, b)
    return (_rows(a) @ b).reshape((*a.shape[:-1], b.shape[-1]))


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, (n×m) and (m×p).

    Raises
    ------
    RuntimeError
        If one is no matrix, the inner sizes differ, or the dtypes differ.

    Notes
    -----
    With C = A B, a change of the factors changes C by dA B + A dB; so the
    gradients are G Bᵀ and Aᵀ G [1]_.

    References
    ----------
    .. [1] M. B. Giles, "Collected matrix derivative results for forward and
       reverse mode algorithmic differentiation", 2008, section 2.2.2.
    """
    require_tensors("mm", input=input, mat2=mat2)
    for place, tensor in (("self", input), ("mat2", mat2)):
        if tensor.array.ndim != 2:
            raise RuntimeError(
                f"{place} must be a matrix: {describe(tensor)}; torch.matmul takes other shapes"
            )
    _check_kinds(input, mat2)
    _check_inner(input, mat2)
    return plain_mm(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix (n×m) and a vector (m)."""
    require_tensors("mv", input=input, vec=vec)
    if input.array.ndim != 2 or vec.array.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {describe(input)} and {describe(vec)}")
    _check_kinds(input, vec)
    _check_inner(input, vec)
    return plain_mv(input, vec)


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors of one length."""
    require_tensors("dot", input=input, tensor=tensor)
    if input.array.ndim != 1 or tensor.array.ndim != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {input.array.ndim}D and {tensor.array.ndim}D tensors: "
            f"{describe(input)} and {describe(tensor)}; torch.matmul takes other shapes"
        )
    _check_kinds(input, tensor)
    if input.array.shape != tensor.array.shape:
        raise RuntimeError(
            "inconsistent tensor size, expected tensor "
            f"[{input.array.shape[0]}] and src [{tensor.array.shape[0]}] to have the same number of "
            f"elements: {describe(input)} and {describe(tensor)}"
        )
    return plain_dot(input, tensor)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """As :func:`dot`, with the first vector conjugated where it is complex."""
    return dot(conj(input), other)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last dimensions, for all pairs of leading indices.

    A tensor without dimensions multiplies each element.
    """
    require_tensors("inner", input=input, other=other)
    if not input.array.ndim or not other.array.ndim:
        return mul(input, other)
    left, right = input.array.shape, other.array.shape
    if left[-1] != right[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(left)} and {list(right)}: {describe(input)} and {describe(other)}"
        )
    if len(left) == len(right) == 1:
        return dot(input, other)
    _check_kinds(input, other)
    if len(right) == 1:
        return matmul(input, other)
    if len(left) == 1:
        return matmul(other, input)
    return matmul(input, other.reshape(-1, right[-1]).t()).reshape((*left[:-1], *right[:-1]))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of the first vector (down the rows) and one of the second (columns)."""
    require_tensors("outer", input=input, vec2=vec2)
    for name, tensor in (("self", input), ("vec2", vec2)):
        if tensor.array.ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {name}, but got {tensor.array.ndim}-D: {describe(tensor)}"
            )
    with as_they_lie(vec2.array.size):
        return mul(input.unsqueeze(1), vec2)


@operation(
    "squeeze",
    "{a} without its row",
    a=derivative("1", lambda g: np.expand_dims(g, 0)),
    reduces=True,
    linear=True,
    backward="SqueezeBackward4",  # PyTorch does it in place
)
def drop_row(a, /):
    """The one row of a matrix, as a vector."""
    return a[0]


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of matrices pair by pair, (b×n×m) and (b×m×p)."""
    require_tensors("bmm", input=input, mat2=mat2)
    if input.array.ndim != 3 or mat2.array.ndim != 3:
        raise RuntimeError(f"batch1 and batch2 must be 3D tensors: {describe(input)} and {describe(mat2)}")
    if input.array.shape[0] != mat2.array.shape[0] or input.array.shape[2] != mat2.array.shape[1]:
        raise _batched_sizes(input, mat2)
    _check_kinds(input, mat2)
    return batched_mm(input, mat2)


def _batched_sizes(input: Tensor, mat2: Tensor) -> RuntimeError:
    found = list(mat2.array.shape[-3:-1]) if mat2.array.ndim > 2 else [1, mat2.array.shape[-2]]
    batch = input.array.shape[-3] if input.array.ndim > 2 else 1
    return RuntimeError(
        "Expected size for first two dimensions of batch2 tensor to be: "
        f"[{batch}, {input.array.shape[-1]}] but got: {found}. Got {describe(input)} and {describe(mat2)}"
    )


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product of tensors: of vectors their dot product; leading dimensions are a batch.

    A vector counts as a row on the left and as a column on the right, and
    loses that dimension again.  Batch dimensions broadcast.

    Raises
    ------
    RuntimeError
        If the inner sizes differ, a batch does not broadcast, or a tensor has no dimensions.
    """
    if UNUSUAL and asks_for_care(input):
        return with_care("matmul", matmul, (input, other), {})
    require_tensors("matmul", input=input, other=other)
    if input.array.dtype is not other.array.dtype or input.array.dtype.kind == "b":
        _check_kinds(input, other)
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
    if left > 2 and right > 2:
        _check_batches(input, other)
        return of_product(shaped_mm(input, other), input, other)
    _check_inner(input, other)
    if left == 2 and right == 1:
        return plain_mv(input, other)
    if left == 1:
        row = input.unsqueeze(0)
        if right == 2:
            return drop_row(plain_mm(row, other))
        return of_product(shaped_mm(row, other), row, other).squeeze(-2)
    if right == 1:
        column = other.unsqueeze(1)
        return of_product(folded_mm(input, column), input, column).squeeze(-1)
    return of_product((folded_mm if right == 2 else shaped_mm)(input, other), input, other)


def _check_batches(a: Tensor, b: Tensor) -> None:
    """Raise unless two batches of matrices fit."""
    left, right = a.array.shape, b.array.shape
    if left[:-2] != right[:-2]:
        for m, n in zip(reversed(left[:-2]), reversed(right[:-2])):
            if m != n and 1 not in (m, n):
                raise RuntimeError(
                    f"{broadcast_message(left[:-2], right[:-2])}. Got {describe(a)} and {describe(b)}"
                )
    if left[-1] != right[-2]:
        raise _batched_sizes(a, b)


def _check_kinds(a: Tensor, b: Tensor) -> None:
    """Raise unless both tensors have one dtype, of numbers."""
    if a.array.dtype.kind == "b" and a.array.ndim > 2 and b.array.ndim > 2:
        raise NotImplementedError(
            f"\"bmm\" not implemented for 'Bool': convert {describe(a)} and {describe(b)} with .float()"
        )
    if a.array.dtype != b.array.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}: "
            f"convert one of {describe(a)} and {describe(b)} with .to(dtype)"
        )
    if a.array.dtype.kind == "b":
        raise NotImplementedError(
            f"\"addmm_impl_cpu_\" not implemented for 'Bool': convert {describe(a)} and {describe(b)} with "
            ".int() or .float()"
        )


def _check_inner(a: Tensor, b: Tensor) -> None:
    inner = b.array.shape[0] if b.array.ndim == 1 else b.array.shape[-2]
    if a.array.shape[-1] == inner:
        return
    left = (1, *a.array.shape)[-2:] if a.array.ndim == 1 else a.array.shape
    flat = (int(np.prod(left[:-1])), left[-1])
    if b.array.ndim == 1:
        raise RuntimeError(
            f"size mismatch, got input ({flat[0]}), mat ({flat[0]}x{flat[1]}), "
            f"vec ({b.array.shape[0]}): {describe(a)} and {describe(b)}"
        )
    raise RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({flat[0]}x{flat[1]} and {inner}x{b.array.shape[-1]}): "
        f"{describe(a)} and {describe(b)}; the last size of the first must be the last but one of the second"
    )


# ---------------------------------------------------------------- other products


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker's product: ``other`` taken once for each element of ``input``, in blocks."""
    require_tensors("kron", input=input, other=other)
    ndim = max(input.array.ndim, other.array.ndim)
    left = (1,) * (ndim - input.array.ndim) + input.array.shape
    right = (1,) * (ndim - other.array.ndim) + other.array.shape
    blocks = input.reshape([size for each in left for size in (each, 1)])
    inside = other.reshape([size for each in right for size in (1, each)])
    return mul(blocks, inside).reshape([m * n for m, n in zip(left, right)])


@operation(
    "×",
    "{a} × {b}",
    a=derivative("{b} ×", lambda g, b, dim: np.cross(b, g, axis=dim)),
    b=derivative("× {a}", lambda g, a, dim: np.cross(g, a, axis=dim)),
    name="cross",
    backward="LinalgCrossBackward0",
    linear=True,
)
def plain_cross(a, b, /, dim):
    """See :func:`cross`."""
    return contiguous(np.cross(a, b, axis=dim))


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross product of vectors of three elements, which lie along ``dim``.

    Without ``dim``, along the first dimension of size 3.

    Raises
    ------
    RuntimeError
        If there is no dimension of size 3.
    """
    require_tensors("cross", input=input, other=other)
    if dim is None:
        warn(
            "Using torch.cross without specifying the dim arg is deprecated. Please either pass the dim "
            "explicitly or simply use torch.linalg.cross."
        )
        if 3 not in input.array.shape:
            raise RuntimeError(f"no dimension of size 3 in input: {describe(input)}")
        dim = input.array.shape.index(3)
    return linalg_cross(input, other, dim=dim)


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of three elements, which lie along ``dim``."""
    require_tensors("linalg.cross", input=input, other=other)
    if input.array.ndim != other.array.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions. Got "
            f"{describe(input)} and {describe(other)}"
        )
    dim = place_of(dim, input.array.ndim)
    sizes = input.array.shape[dim], other.array.shape[dim]
    if sizes != (3, 3):
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}"
        )
    refuse_bools_in("cross", input.array)
    if input.array.dtype != other.array.dtype:
        raise RuntimeError(
            f"linalg.cross: expected scalar type {input.dtype.name} but found {other.dtype.name}: "
            f"{describe(input)} and {describe(other)}"
        )
    return plain_cross(input, other, dim=dim)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of products along ``dim``, ``x`` conjugated; the other dimensions broadcast."""
    require_tensors("linalg.vecdot", x=x, y=y)
    for tensor in (x, y):
        if tensor.array.dtype.kind not in DIFFERENTIABLE:
            raise RuntimeError(
                "linalg.vecdot: Expected a floating point or complex tensor as input. Got "
                f"{title(tensor)}: convert it with .float()"
            )
    if x.array.dtype != y.array.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{title(x)} and y of type {title(y)} instead"
        )
    if x.array.ndim == y.array.ndim == 1 and x.array.size != y.array.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(x.shape)} and src {list(y.shape)} to have the "
            "same number of elements"
        )
    return mul(conj(x), y).sum(dim)


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonal of each matrix, as a view; see ``torch.diagonal``."""
    return diagonal(A, offset, dim1, dim2)


@operation(
    "tr",
    "trace {a}",
    a=derivative("I", lambda g, shape: np.where(module_of(g).eye(shape[0], shape[1], dtype=bool), g, 0)),
    name="trace",
    reduces=True,
    linear=True,
)
def plain_trace(a, /):
    """See :func:`trace`."""
    return np.trace(a, dtype=np.int64 if a.dtype.kind in "ui" else None)


def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    require_tensors("trace", input=input)
    if input.array.dtype.kind == "b":
        raise NotImplementedError("\"trace\" not implemented for 'Bool': convert it with .int()")
    if input.array.ndim != 2:
        raise RuntimeError(
            f"trace: expected a matrix, but got tensor with dim {input.array.ndim}: {describe(input)}"
        )
    return plain_trace(input)


NAMES = Names(
    both="bmm cross dot inner kron matmul mm mv outer trace vdot",
    aliases={"ger": "outer"},
    numpy={np.matmul: matmul, np.dot: matmul, np.cross: linalg_cross},
)
