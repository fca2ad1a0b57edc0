"""Products of matrices and vectors, among them the function of a linear layer.

With C = A B, a change of the factors changes C by dA B + A dB; so, with G the gradient of C, the gradients of
A and of B are G Bᵀ and Aᵀ G [1]_.

References
----------
.. [1] M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
   differentiation", 2008, section 2.2.2.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from autokit.base.errors import one_dim, require_tensor
from autokit.engine.operation import derivative, on, operation, unchanged
from autokit.engine.tensor import Tensor
from autokit.ops.arithmetic import mul
from autokit.ops.einsum import einsum
from autokit.ops.names import Names, binary_operator


def _require_factors(name: str, a: Any, b: Any, dims: tuple[int, int] | None = None) -> None:
    """Raise unless the arrays ``a`` and ``b`` have a product, and ``dims`` dimensions where given."""
    if dims is not None and (a.ndim, b.ndim) != dims:
        raise RuntimeError(
            f"{name}() takes tensors of {dims[0]} and {dims[1]} dimensions, but the shapes are "
            f"{list(a.shape)} and {list(b.shape)}; torch.matmul takes other shapes"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}(): expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}; convert "
            "one with .to(dtype)"
        )
    if a.dtype.kind == "b":
        raise NotImplementedError(f'"{name}" not implemented for bool: convert with .int() or .float()')
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        left, right = ("x".join(map(str, factor.shape)) for factor in (a, b))
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({left} and {right}): the last size of the first, "
            f"{a.shape[-1]}, must be the {'last but one' if b.ndim > 1 else 'size'} of the second"
        )


_OF_MATRICES = {
    "a": "Row i of {a} made row i of {out}: its gradient is "
    "the upstream gradient of that row times {b} transposed",
    "b": "Row j of {b} was multiplied by column j of {a}: its gradient adds up the rows of the upstream "
    "gradient, row i times the number in row i of that column",
}
"""What the two derivatives of a product of matrices do."""


@operation(
    "@",
    "{a} @ {b}",
    a=derivative("· {b}ᵀ", lambda g, b: g @ b.T),
    b=derivative("{a}ᵀ ·", lambda g, a: a.T @ g),
    mixed=True,
    words=_OF_MATRICES,
)
def mm(a, b, /):
    """The product of two matrices, (n×m) and (m×p)."""
    _require_factors("mm", a, b, (2, 2))
    return a @ b


@operation(
    "@",
    "{a} @ {b}",
    a=derivative("· {b}ᵀ", lambda g, b: g.reshape((-1, 1)) * b),
    b=derivative("{a}ᵀ ·", lambda g, a: a.T @ g),
    mixed=True,
    words=_OF_MATRICES,
)
def mv(a, b, /):
    """The product of a matrix (n×m) and a vector (m)."""
    _require_factors("mv", a, b, (2, 1))
    return a @ b


@operation(
    "·",
    "{a} · {b}",
    a=derivative("{b}", lambda g, b: g * b),
    b=derivative("{a}", lambda g, a: g * a),
    mixed=True,
)
def dot(a, b, /):
    """The sum of the products of two vectors of one length."""
    _require_factors("dot", a, b, (1, 1))
    return a @ b


def rows_of(a: Any) -> Any:
    """All rows of a batch of matrices, as one matrix."""
    return a if a.ndim == 2 else a.reshape((math.prod(a.shape[:-1]), a.shape[-1]))


def _product(a: Any, b: Any) -> Any:
    """``a @ b``; a batch times one matrix is computed as one large product of all rows."""
    if a.ndim > 2 and b.ndim == 2:
        return (rows_of(a) @ b).reshape((*a.shape[:-1], b.shape[1]))
    return a @ b


def _gradient_of_right(g: Any, a: Any, b: Any) -> Any:
    if b.ndim == 2:
        return rows_of(a).T @ rows_of(g)
    return np.swapaxes(a, -1, -2) @ g


_OF_BATCHES: dict[str, Any] = {
    "a": derivative("· {b}ᵀ", lambda g, b: _product(g, np.swapaxes(b, -1, -2))),
    "b": derivative("{a}ᵀ ·", _gradient_of_right),
    "mixed": True,
    "words": _OF_MATRICES,
}


@operation("@", "{a} @ {b}", **_OF_BATCHES)
def bmm(a, b, /):
    """The products of matrices pair by pair, (b×n×m) and (b×m×p)."""
    _require_factors("bmm", a, b, (3, 3))
    if a.shape[0] != b.shape[0]:
        raise RuntimeError(
            f"bmm(): both batches must have the same number of matrices, but there are {a.shape[0]} and "
            f"{b.shape[0]}"
        )
    return a @ b


@operation("@", "{a} @ {b}", name="matmul", **_OF_BATCHES)
def _batched(a, b, /):
    """Matrices times matrices, one pair for each index of the leading dimensions, which broadcast."""
    _require_factors("matmul", a, b)
    return _product(a, b)


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product: of two vectors their dot product; leading dimensions are a batch.

    A vector counts as a row on the left and as a column on the right, and loses that dimension again. Batch
    dimensions broadcast.

    Raises
    ------
    RuntimeError
        If the inner sizes or the dtypes differ, a batch does not broadcast, or a tensor has no dimensions.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.matmul(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    require_tensor("matmul", input)
    require_tensor("matmul", other, "other", 1)
    left, right = input.array.ndim, other.array.ndim
    if left == 2 and right == 2:
        return mm(input, other)
    if not left or not right:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D; a number "
            "multiplies with *"
        )
    if right == 1:
        if left > 2:
            return _batched(input, other.unsqueeze(1)).squeeze(-1)
        return mv(input, other) if left == 2 else dot(input, other)
    if left == 1:
        row = input.unsqueeze(0)
        return (mm if right == 2 else _batched)(row, other).squeeze(-2)
    return _batched(input, other)


# ---------------------------------------------------------------- the linear layer


FEW_ROWS = 4096
"""Up to so many rows are summed by a product with ones."""


@lru_cache(maxsize=64)
def ones_beside(count: int, dtype: np.dtype) -> np.ndarray:
    """``count`` ones, to sum rows or columns by a product; they are kept for the next sum."""
    return np.ones(count, dtype)


def _sum_of_rows(g: np.ndarray) -> np.ndarray:
    """The sum of the rows by a product with ones, four times as fast as NumPy's sum: for the MLP rows."""
    rows = rows_of(g)
    if rows.__class__ is np.ndarray and len(rows) <= FEW_ROWS:
        return ones_beside(len(rows), rows.dtype).dot(rows)
    return rows.sum(0)


# A call of `dot` costs less than `@`, which matters for the MLP rows.
def _gradient_of_input(g: Any, weight: Any) -> Any:
    return g.dot(weight) if g.ndim == 2 else _product(g, weight)


def _gradient_of_weight(g: Any, input: Any) -> Any:
    return g.T.dot(input) if g.ndim == 2 else rows_of(g).T.dot(rows_of(input))


@operation(
    "linear",
    "{input} · {weight}ᵀ + {bias}",
    input=derivative("· {weight}", lambda g, weight: _product(g, weight), _gradient_of_input),
    weight=derivative("gᵀ · {input}", lambda g, input: rows_of(g).T @ rows_of(input), _gradient_of_weight),
    bias=derivative("1", unchanged, _sum_of_rows),
    words={
        "input": "Entry j of a row of {input} gets the sum over all outputs i of the upstream gradient "
        "times {weight}[i, j]",
        "weight": "Row i of the gradient of {weight} is the upstream gradient of output i "
        "times the numbers of {input}, summed over {rows}",
        "bias": "The gradient of {bias} is the upstream gradient, summed over {rows}",
    },
    mixed=True,
    backward="AddmmBackward0",
)
def linear(input, weight, bias=None, /):
    """``input @ weight.T + bias``.

    Parameters
    ----------
    input : Tensor
        Of shape (..., in).
    weight : Tensor
        Of shape (out, in).
    bias : Tensor, optional
        Of shape (out,).

    Raises
    ------
    RuntimeError
        If the last dimension of ``input`` is not ``in``, or the dtypes differ.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.nn.functional.linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0]]), torch.tensor([0.5]))
    tensor([[3.5000]])
    """
    if input.dtype != weight.dtype or weight.ndim != 2 or input.shape[-1:] != weight.shape[1:]:
        raise _linear_error(input, weight)
    out = input.dot(weight.T) if input.ndim == 2 else _product(input, weight.T)
    if bias is None:
        return out
    if bias.dtype != weight.dtype or bias.shape != weight.shape[:1]:
        raise RuntimeError(
            f"a linear layer's weight, {weight.dtype} of shape {list(weight.shape)}, needs a bias of that "
            f"dtype with an element a row, not {bias.dtype} of shape {list(bias.shape)}"
        )
    out += bias
    return out


def _linear_error(input: Any, weight: Any) -> RuntimeError:
    if input.dtype != weight.dtype:
        return RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {input.dtype} for the input and "
            f"{weight.dtype} for the weight: convert the input with .to(torch.{weight.dtype})"
        )
    if not input.ndim or weight.ndim != 2:
        return RuntimeError(
            "linear takes an input of shape (..., in) and a weight of shape (out, in), but they are of "
            f"shapes {list(input.shape)} and {list(weight.shape)}"
        )
    rows, features = math.prod(input.shape[:-1]), input.shape[-1]
    outputs, wanted = weight.shape
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{features} and {wanted}x{outputs}): the input, "
        f"of shape {list(input.shape)}, has {features} features, and the weight is for {wanted}"
    )


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each pair of vectors, and each output ``k``.

    The inputs are of shapes (..., in1) and (..., in2), the weight is (out, in1, in2), the result (..., out).
    """
    result = einsum("...i,kij,...j->...k", input1, weight, input2)
    return result if bias is None else result + bias


# ---------------------------------------------------------------- sums with a product


def _added(input: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    """``beta · input + alpha · product``; with ``beta=0`` the input is left out, even where it is NaN."""
    size, given = product.array.shape, input.array.shape
    missing = len(size) - len(given)
    if missing < 0 or any(m not in (1, n) for m, n in zip(given, size[missing:])):
        raise RuntimeError(
            f"The expanded size of the tensor must match the product's: shape {list(input.shape)} does not "
            f"expand to {list(size)}"
        )
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return (input if beta == 1 else input * beta) + product


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta · input + alpha · (mat1 @ mat2)``; ``input`` is expanded to the product's shape."""
    return _added(input, mm(mat1, mat2), beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta · input + alpha · (mat @ vec)``, for a matrix and a vector."""
    return _added(input, mv(mat, vec), beta, alpha)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta · input + alpha · (batch1 @ batch2)``, for batches of matrices."""
    return _added(input, bmm(batch1, batch2), beta, alpha)


# ---------------------------------------------------------------- other products


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of the first vector (down the rows) and one of the second (columns)."""
    if input.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(f"outer: Expected 1-D tensors, but got {input.ndim}-D and {vec2.ndim}-D")
    return mul(input.unsqueeze(1), vec2)


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker's product: ``other`` once for each element of ``input``, in blocks.

    >>> import autokit as torch
    >>> torch.kron(torch.eye(2), torch.tensor([[1.0, 2.0]]))
    tensor([[1., 2., 0., 0.],
            [0., 0., 1., 2.]])
    """
    ndim = max(input.ndim, other.ndim)
    left = (1,) * (ndim - input.ndim) + input.array.shape
    right = (1,) * (ndim - other.ndim) + other.array.shape
    blocks = input.reshape([size for rows in left for size in (rows, 1)])
    inside = other.reshape([size for rows in right for size in (1, rows)])
    return mul(blocks, inside).reshape([m * n for m, n in zip(left, right)])


@operation(
    "×",
    "{a} × {b}",
    a=derivative("{b} ×", lambda g, b, dim: on(linalg_cross, b, g, dim=dim)),
    b=derivative("× {a}", lambda g, a, dim: on(linalg_cross, g, a, dim=dim)),
    name="cross",
    backward="LinalgCrossBackward0",
)
def linalg_cross(a, b, /, dim=-1):
    """The cross product of vectors of three elements, which lie along ``dim``."""
    if a.ndim != b.ndim or a.shape[one_dim(dim, a.ndim)] != 3 or b.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3, but the shapes are "
            f"{list(a.shape)} and {list(b.shape)}"
        )
    return np.cross(a, b, axis=dim)


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross product of vectors of three elements along ``dim``, by default the first of size 3."""
    if dim is None:
        if 3 not in input.shape:
            raise RuntimeError(f"no dimension of size 3 in input, whose shape is {list(input.shape)}")
        dim = input.array.shape.index(3)
    return linalg_cross(input, other, dim=dim)


def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return input.diagonal().sum()


NAMES = Names(
    both="addmm addmv baddbmm bmm cross dot kron matmul mm mv outer trace",
    functions="bilinear",
    functional="bilinear linear",
    in_place="addmm addmv baddbmm",
    aliases={"ger": "outer", "vdot": "dot"},
    numpy={np.matmul: matmul, np.dot: matmul, np.outer: outer, np.cross: linalg_cross, np.trace: trace},
)


def _operator(input: Tensor, other: Any) -> Any:
    """``input @ other``; another class may define the reflected operator."""
    if isinstance(other, np.ndarray):
        return np.matmul(input, other)  # which promotes dtypes, and comes back here
    answers = hasattr(type(other), "__rmatmul__") and not isinstance(other, Tensor)
    return NotImplemented if answers else matmul(input, other)


matmul.operator = _operator  # type: ignore[attr-defined]
OPERATORS = binary_operator("matmul", matmul)
