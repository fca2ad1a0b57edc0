"""Sums of a tensor and a product: ``beta · input + alpha · (a @ b)``, the sums of BLAS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.ops.complex_numbers import is_complex
from autokit.ops.errors import describe
from autokit.ops.linalg import _check_inner
from autokit.ops.matrices import require_tensors, title, transposed
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype, fitting
from autokit.ops.operation import derivative, operation
from autokit.ops.operators import with_dtype
from autokit.tensor import Tensor

Product = Callable[[Any, Any], Any]


def _scaled(value: Any, factor: float) -> Any:
    return value if factor == 1 else value * factor


def _sum_with(name: str, product: Product, by_left: Product, by_right: Product) -> Any:
    """The rule of ``beta · input + alpha · product(left, right)``, from the product and its derivatives."""

    @operation(
        "+ @",
        "β · {input} + α · ({left} @ {right})",
        input=derivative("β", lambda g, beta: _scaled(g, beta)),
        left=derivative("α · {right}ᵀ", lambda g, right, alpha: _scaled(by_left(g, right), alpha)),
        right=derivative("α · {left}ᵀ", lambda g, left, alpha: _scaled(by_right(g, left), alpha)),
        name=name,
    )
    def rule(input, left, right, /, beta=1, alpha=1):
        """``beta · input + alpha · (left @ right)``."""
        result = product(left, right)
        if alpha != 1:
            result *= alpha
        # A factor of 0 leaves the input out, so that what is not a number in it does no harm.
        return result if beta == 0 else result + _scaled(input, beta)

    return rule


def _sum_of_products(a: Any, b: Any) -> Any:
    """The sum over the batch of ``a @ b``, as one product of wide matrices."""
    count, rows, inner = a.shape
    return np.transpose(a, (1, 0, 2)).reshape((rows, count * inner)) @ b.reshape((count * inner, b.shape[2]))


plain_addmm = _sum_with(
    "addmm",
    lambda a, b: a @ b,
    lambda g, b: g @ np.transpose(b),
    lambda g, a: np.transpose(a) @ g,
)
plain_addmv = _sum_with(
    "addmv",
    lambda a, b: a @ b,
    lambda g, b: g.reshape((-1, 1)) * b,
    lambda g, a: np.transpose(a) @ g,
)
plain_addr = _sum_with(
    "addr",
    lambda a, b: a.reshape((-1, 1)) * b,
    lambda g, b: g @ b,
    lambda g, a: np.transpose(g) @ a,
)
plain_baddbmm = _sum_with(
    "baddbmm",
    lambda a, b: a @ b,
    lambda g, b: g @ transposed(b),
    lambda g, a: transposed(a) @ g,
)
plain_addbmm = _sum_with(
    "addbmm",
    _sum_of_products,
    lambda g, b: g @ transposed(b),
    lambda g, a: transposed(a) @ g,
)


def _add(
    rule: Any, shape: tuple[int, ...], operands: tuple[Tensor, ...], beta: float, alpha: float
) -> Tensor:
    """Apply ``rule`` where the first operand expands to ``shape``, that of the product."""
    kind = operands[0].array.dtype
    for factor in (beta, alpha):
        if isinstance(factor, complex) and not any(map(is_complex, operands)):
            raise RuntimeError(
                f"value cannot be converted to type float without overflow: {factor}, where all else is real"
            )
    if rule is plain_addr:
        kind = common_dtype(operands)
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if isinstance(factor, bool) and kind.kind != "b":
                raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
            if kind.kind in "bui" and isinstance(factor, float):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point number: it is "
                    f"{factor}"
                )
        operands = tuple(with_dtype(each, kind) for each in operands)
    elif kind.kind == "b" and all(
        # PyTorch does not look at the second batch of baddbmm before it refuses bools.
        each.array.dtype == kind
        for each in operands[: 2 if rule is plain_baddbmm else 3]
    ):
        raise NotImplementedError(
            f"\"{rule.operation.name}_impl_cpu_\" not implemented for 'Bool': convert with .int() or .float()"
        )
    for tensor in operands[1:]:
        if tensor.array.dtype != operands[0].array.dtype:
            raise RuntimeError(
                f"self and mat2 must have the same dtype, but got {title(operands[0])} and {title(tensor)}: "
                f"convert one of {describe(operands[0])} and {describe(tensor)} with .to(dtype)"
            )
    if kind.kind == "b":
        beta, alpha = bool(beta), bool(alpha)
    elif kind.kind in "ui":
        beta, alpha = int(fitting(beta, kind)), int(fitting(alpha, kind))
    own = operands[0].array.shape
    if len(own) > len(shape):
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(shape)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(own)}): {describe(operands[0])} is added to a product of shape "
            f"{list(shape)}"
        )
    for place in range(-1, -len(own) - 1, -1):
        if own[place] not in (1, shape[place]):
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[place]}) must match the existing size "
                f"({own[place]}) at non-singleton dimension {len(shape) + place}.  Target sizes: "
                f"{list(shape)}.  Tensor sizes: {list(own)}. {describe(operands[0])} is added to a product "
                "of another shape"
            )
    return rule(*operands, beta=beta, alpha=alpha)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta · input + alpha · (mat1 @ mat2)``, for matrices; ``input`` is expanded to the product's shape.

    With ``beta=0``, ``input`` is left out altogether, NaN and all.
    """
    require_tensors("addmm", input=input, mat1=mat1, mat2=mat2)
    for name, tensor in (("mat1", mat1), ("mat2", mat2)):
        if tensor.array.ndim != 2:
            raise RuntimeError(
                f"{name} must be a matrix, got {tensor.array.ndim}-D tensor: {describe(tensor)}"
            )
    _check_inner(mat1, mat2)
    shape = (mat1.array.shape[0], mat2.array.shape[1])
    return _add(plain_addmm, shape, (input, mat1, mat2), beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta · input + alpha · (mat @ vec)``, for a matrix and a vector."""
    require_tensors("addmv", input=input, mat=mat, vec=vec)
    dims = input.array.ndim, mat.array.ndim, vec.array.ndim
    if dims[0] > 1 or dims[1:] != (2, 1):
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {dims[0]}, {dims[1]}, {dims[2]}: {describe(input)}, "
            f"{describe(mat)} and {describe(vec)}"
        )
    rows, columns = mat.array.shape
    if vec.array.shape[0] != columns or (dims[0] and input.array.shape[0] not in (1, rows)):
        raise RuntimeError(
            f"size mismatch, got input ({input.array.size}), mat ({rows}x{columns}), vec "
            f"({vec.array.shape[0]}): {describe(input)}, {describe(mat)} and {describe(vec)}"
        )
    return _add(plain_addmv, (rows,), (input, mat, vec), beta, alpha)


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta · input + alpha · outer(vec1, vec2)``."""
    require_tensors("addr", input=input, vec1=vec1, vec2=vec2)
    for name, tensor in (("vec1", vec1), ("vec2", vec2)):
        if tensor.array.ndim != 1:
            raise RuntimeError(
                f"addr: Expected 1-D argument {name}, but got {tensor.array.ndim}-D: {describe(tensor)}"
            )
    shape = (vec1.array.shape[0], vec2.array.shape[0])
    return _add(plain_addr, shape, (input, vec1, vec2), beta, alpha)


def _check_two_batches(batch1: Tensor, batch2: Tensor) -> None:
    for name, tensor, asked in (("batch1", batch1, 2), ("batch2", batch2, 3)):
        if tensor.array.ndim != 3:
            # PyTorch asks for a size that there is not, before it counts the dimensions.
            kind = IndexError if tensor.array.ndim < asked else RuntimeError
            raise kind(f"{name} must be a 3D tensor: {describe(tensor)}")
    left, right = batch1.array.shape, batch2.array.shape
    if left[0] != right[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {left[0]} and {right[0]}: "
            f"{describe(batch1)} and {describe(batch2)}"
        )
    if left[2] != right[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({left[1]}x{left[2]} and {right[1]}x{right[2]}): "
            f"{describe(batch1)} and {describe(batch2)}"
        )


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta · input + alpha · (batch1 @ batch2)``, for batches of matrices."""
    require_tensors("baddbmm", input=input, batch1=batch1, batch2=batch2)
    _check_two_batches(batch1, batch2)
    shape = (*batch1.array.shape[:2], batch2.array.shape[2])
    return _add(plain_baddbmm, shape, (input, batch1, batch2), beta, alpha)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta · input + alpha · Σ (batch1 @ batch2)``, summed over the batch."""
    require_tensors("addbmm", input=input, batch1=batch1, batch2=batch2)
    _check_two_batches(batch1, batch2)
    shape = (batch1.array.shape[1], batch2.array.shape[2])
    return _add(plain_addbmm, shape, (input, batch1, batch2), beta, alpha)


NAMES = Names(
    both="addbmm addmm addmv addr baddbmm",
    in_place="addbmm addmm addmv addr baddbmm",
    in_place_functions="addmv",
)
