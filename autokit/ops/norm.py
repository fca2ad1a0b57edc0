"""Norms of vectors and matrices, distances, cosines, and tensors that are scaled to a norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.dtypes import dtype as Dtype
from autokit.base.errors import dims_of, require_floats, require_tensor
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.gpu import lacking
from autokit.ops.choose import where
from autokit.ops.decomposition import svdvals
from autokit.ops.names import Names, public
from autokit.ops.reduce import Dim, converted, restored
from autokit.ops.shape import broadcast_tensors
from autokit.ops.solve import inv, slogdet


def _norm_gradient(g: Any, a: Any, out: Any, shape: tuple[int, ...], p: float, dim: tuple[int, ...]) -> Any:
    g, out = restored(g, shape, dim), restored(out, shape, dim)
    if p == 0:
        return np.zeros_like(a)
    if p == 1:
        return g * np.sign(a)
    if math.isinf(p):  # where several elements are the largest, they share the gradient
        largest = np.where(np.abs(a) == out, np.sign(a), 0.0)
        return g * largest / np.maximum(np.abs(largest).sum(dim, keepdims=True), 1.0)
    # At the norm's kink, where all elements are 0, 0 is a subgradient.
    safe = np.where(out == 0, 1.0, out)
    if p == 2:
        return np.where(out == 0, 0.0, a * (g / safe))
    size = np.where(a == 0, 0.0, np.where(a == 0, 1.0, np.abs(a)) ** (p - 1))
    return np.where(out == 0, 0.0, np.sign(a) * size * (g / safe ** (p - 1)))


@operation(
    "‖ ‖",
    "‖{a}‖",
    a=derivative("sign {a} · (|{a}| / {out}) ^ (p − 1)", _norm_gradient),
    name="linalg_vector_norm",
)
def _norm(a, /, p=2.0, dim=(), keepdim=False):
    require_floats("linalg.vector_norm", a)
    if not dim:
        return (a != 0).astype(a.dtype) if p == 0 else np.abs(a)
    return lacking.vector_norm(a, p, dim, keepdim)


def vector_norm(
    x: Tensor, ord: float = 2, dim: Dim = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """The norm of all elements, or along ``dim``: the p-th root of the sum of their p-th powers.

    Parameters
    ----------
    x : Tensor
    ord : float
        p.  For ``inf`` the largest absolute value, for ``-inf`` the smallest, for 0 the number of elements
        that are not 0.
    dim : int or sequence of int, optional
        What to reduce; everything without it.
    keepdim : bool
        Keep the reduced dimensions, with size 1.
    dtype : dtype, optional
        Convert first.

    Notes
    -----
    Where all elements are 0 the norm has a kink; its gradient there is 0, as in PyTorch.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    require_tensor("linalg.vector_norm", x)
    x = converted(x, dtype)
    dims = dims_of(None if dim in ((), []) else dim, x.ndim)
    if (ord < 0 or ord == math.inf) and any(x.shape[place] == 0 for place in dims):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor: it has no identity"
        )
    return _norm(x, p=float(ord), dim=dims, keepdim=keepdim)


def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Dim = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
) -> Tensor:
    """The norm of all elements, or along ``dim``: the p-th root of the sum of their p-th powers.

    ``"fro"`` is 2; ``"nuc"`` is the sum of the singular values of matrices; for other values see
    ``torch.linalg.vector_norm``.
    """
    if p == "nuc":
        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)  # type: ignore[arg-type]
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm(): order {p!r} not supported; there are numbers, 'fro' and 'nuc'")
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)  # type: ignore[arg-type]


def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """The norm of each matrix.

    Parameters
    ----------
    A : Tensor
    ord : "fro", "nuc", inf, -inf, 1, -1, 2 or -2
        The root of the sum of squares; the sum of the singular values; the largest or smallest sum of a row's
        absolute values; that of a column; the largest or smallest singular value.
    dim : pair of int
        The dimensions of rows and of columns.
    keepdim : bool
        Keep these, with size 1.
    dtype : dtype, optional
        Convert first.
    """
    dims = dims_of(dim, A.ndim)
    if len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple, of rows and columns, not {dim}")
    A = converted(A, dtype)
    if ord == "fro":
        return vector_norm(A, 2, dims, keepdim)
    if ord in (1, -1, math.inf, -math.inf):
        summed, others = dims if abs(ord) == 1 else dims[::-1]  # type: ignore[arg-type]
        sums = vector_norm(A, 1, summed, True)
        result = sums.amax(others, True) if ord > 0 else sums.amin(others, True)  # type: ignore[operator]
    elif ord in ("nuc", 2, -2):
        values = svdvals(A.movedim(dims, (-2, -1)))
        result = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
        result = restored(result, A.array.shape, dims)
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return result if keepdim else result.squeeze(dims)


def linalg_norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """The norm of a vector or a matrix: ``vector_norm`` or ``matrix_norm``, by the number of dimensions.

    Without ``ord``, the root of the sum of squares, of everything or along ``dim``. With it, ``dim`` names
    one dimension for vectors and two for matrices; without ``dim``, the tensor itself is the one or the
    other.
    """
    count = A.ndim if dim is None else len(dims_of(dim, A.ndim))
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if count > 2:
        raise RuntimeError(
            f"linalg.norm: ord is for vectors or matrices, not {count} dimensions: give one or two by dim"
        )
    if count == 2 or isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)  # type: ignore[arg-type]
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """The condition number: how much a relative error of B may grow in the solution of A X = B.

    For 2, the default, it is the largest over the smallest singular value; for another order ``p`` of
    ``matrix_norm``, the norm of A times that of its inverse. It is infinite for a singular matrix.
    """
    if p in (None, 2, -2):
        values = svdvals(A)
        ends = values[..., 0], values[..., -1]
        return ends[1] / ends[0] if p == -2 else ends[0] / ends[1]
    singular = slogdet(A).sign == 0
    identity = new_tensor(module_of(A).eye(A.shape[-1], dtype=A.array.dtype))
    inverse = inv(where(singular[..., None, None], identity, A))
    return where(singular, math.inf, matrix_norm(A, p) * matrix_norm(inverse, p))  # type: ignore[arg-type]


# ---------------------------------------------------------------- distances


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of ``input - other``."""
    return vector_norm(input - other, p)


def _euclidean_gradient(g: Any, a: Any, b: Any, out: Any) -> Any:
    weights = np.where(out == 0, 0.0, g / np.where(out == 0, 1.0, out))
    return a * weights.sum(-1)[..., None] - weights @ b


@operation(
    "‖ − ‖",
    "‖{a} − {b}‖, of all pairs of rows",
    a=derivative("({a} − {b}) / {out}", _euclidean_gradient),
    b=derivative(
        "({b} − {a}) / {out}",
        lambda g, a, b, out: _euclidean_gradient(np.swapaxes(g, -1, -2), b, a, np.swapaxes(out, -1, -2)),
    ),
    name="euclidean_distances",
    backward="CdistBackward0",
)
def _euclidean_distances(a, b, /):
    """The distances of all rows of ``a`` from all of ``b``, by ``|a|² + |b|² − 2 a·b``."""
    centre = b.mean(axis=-2, keepdims=True)  # distances stay, and less is lost to rounding
    a, b = a - centre, b - centre
    squares = (a * a).sum(axis=-1)[..., :, None] + (b * b).sum(axis=-1)[..., None, :]
    squares -= 2 * (a @ np.swapaxes(b, -1, -2))
    return np.sqrt(np.maximum(squares, 0))


_MANY_ROWS = 25
"""Above this number of rows, Euclidean distances are computed through a product."""


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """The distances of all rows of ``x1`` from all rows of ``x2``, in the p-norm.

    Parameters
    ----------
    x1, x2 : Tensor
        Of shapes (..., P, M) and (..., R, M).
    p : float
        At least 0.

    Returns
    -------
    Tensor
        Of shape (..., P, R).

    Examples
    --------
    >>> import autokit as torch
    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    for name, x in (("X1", x1), ("X2", x2)):
        require_tensor("cdist", x, name.lower())
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
        require_floats("cdist", x.array)
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values; got {p}")
    if p == 2 and max(x1.shape[-2], x2.shape[-2]) > _MANY_ROWS and x2.numel():
        return _euclidean_distances(x1, x2)
    return vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between ``x1`` and ``x2`` along ``dim``.

    Norms below ``eps`` count as ``eps``, so that nothing is divided by 0.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.cosine_similarity(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0]), dim=0)
    tensor(0.7071)
    """
    x1, x2 = broadcast_tensors(x1, x2)
    first, second = (x / vector_norm(x, 2, dim, True).clamp_min(eps) for x in (x1, x2))
    return (first * second).sum(dim)


# ---------------------------------------------------------------- scaling to a norm


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``input`` over its p-norm along ``dim``, which becomes 1; a norm below ``eps`` counts as ``eps``."""
    return input / vector_norm(input, p, dim, True).clamp_min(eps)


NAMES = Names(
    both="dist norm",
    functions="cdist cosine_similarity pairwise_distance",
    functional="cosine_similarity normalize pairwise_distance",
    numpy={np.linalg.norm: public(linalg_norm)},
)
