"""Norms, and what is measured with them: distances, cosines, and tensors scaled to a norm.

The norm itself is one rule, :func:`~autokit.ops.matrix_norms.plain_vector_norm`.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import beside, contiguous
from autokit.ops.complex_numbers import is_complex
from autokit.ops.dims import place_of
from autokit.ops.errors import broadcast_message, describe, kind_of
from autokit.ops.filled import number
from autokit.ops.matrix_norms import (
    matrix_norm,
    plain_vector_norm,
    require_elements,
    vector_norm,
    vector_norm_gradient,
)
from autokit.ops.names import Names
from autokit.ops.operands import refuse_bools
from autokit.ops.operation import derivative, on, operation
from autokit.ops.places import index_select
from autokit.ops.reduce import Dim, checked, converted, require_flag, require_operand, restored
from autokit.tensor import Tensor, new_tensor


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Dim = None,
    keepdim: bool = False,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The norm of all elements, or along ``dim``: the p-th root of the sum of their p-th powers.

    Parameters
    ----------
    input : Tensor
    p : float, "fro" or "nuc"
        For ``inf`` and ``-inf`` the largest and the smallest absolute value;
        for 0 how many elements are not 0; ``"fro"`` is 2; ``"nuc"`` is the sum
        of the singular values of matrices.
    dim : int or sequence of int, optional
        All dimensions without it.
    keepdim : bool
        Keep the dimensions, with size 1.
    dtype : dtype, optional
        Convert first.

    Notes
    -----
    The norm has a kink where all elements are 0; its gradient there is 0.
    """
    require_operand("norm", input)
    require_flag("linalg_vector_norm", "keepdim", keepdim)
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError(
            f"linalg.matrix_norm: Order {p} not supported. norm() knows 'fro', 'nuc' and numbers"
        )
    if isinstance(p, Tensor):
        if p._requires_grad:
            raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not Tensor")
        p = number(p, "norm", "p", 2)
    if p is not None and not isinstance(p, str | int | float | np.generic):
        raise TypeError(
            f"norm(): argument 'p' (position 2) must be Number, 'fro' or 'nuc', not {type(p).__name__}"
        )
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"norm(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    if p == "nuc":
        places = (-2, -1) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
        return matrix_norm(input, p, places, keepdim, dtype=dtype)
    if p == "fro" and isinstance(dim, tuple | list) and len(dim) > 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}: of more dimensions "
            "there is norm(x, 2, dim)"
        )
    dim = checked("norm", input, dim, keepdim)
    return vector_norm(input, 2 if p is None or p == "fro" else p, dim, keepdim, dtype=dtype)


# ---------------------------------------------------------------- distances


def _distance_gradient(g: Any, a: Any, b: Any, out: Any, p: float, dim: int | None, shared: bool) -> Any:
    difference = a - b
    shape = tuple(difference.shape)
    if shared or p != math.inf:
        return vector_norm_gradient(g, difference, out, shape, p, dim, False)
    largest = np.abs(difference) == restored(out, shape, dim, False)
    return np.where(largest, np.sign(difference) * restored(g, shape, dim, False), 0.0)


@operation(
    "‖ − ‖",
    "‖{a} − {b}‖",
    a=derivative("sign ({a} − {b}) · (|{a} − {b}| / {out}) ^ (p − 1)", _distance_gradient),
    b=derivative(
        "−sign ({a} − {b}) · (|{a} − {b}| / {out}) ^ (p − 1)",
        lambda g, a, b, out, p, dim, shared: -_distance_gradient(g, a, b, out, p, dim, shared),
    ),
    name="distance",
    backward=lambda node: node.settings["made_by"],
)
def plain_distance(a, b, /, p, dim, shared, made_by):
    """The norm of ``a - b``; where several differences are the largest, they may share the gradient of it."""
    return on(plain_vector_norm, a - b, ord=p, dim=dim)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of ``input - other``."""
    require_operand("dist", input)
    refuse_bools((input, other))
    if all(
        isinstance(each, Tensor) and each.array.dtype.kind not in dtypes.DIFFERENTIABLE
        for each in (input, other)
    ):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {kind_of(input.array)} "
            "instead; convert it with .float()"
        )
    if math.isinf(p) and p > 0:
        require_elements(input - other, p, None)
    return plain_distance(input, other, float(p), None, True, "DistBackward0")


_MANY = 25
"""Rows from which PyTorch, and this too, takes Euclidean distances through a product of matrices."""


def _euclidean_gradient(g: Any, a: Any, b: Any, out: Any) -> Any:
    weights = np.where(out == 0, 0.0, g / np.where(out == 0, 1.0, out))
    return a * weights.sum(axis=-1, keepdims=True) - weights @ b


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
    reduces=True,
)
def euclidean_distances(a, b, /):
    """The distances of all rows of ``a`` from all of ``b``, by ``|a|² + |b|² − 2 a·b``."""
    centre = b.mean(axis=-2, keepdims=True)  # distances stay, and less is lost to rounding
    a, b = a - centre, b - centre
    squares = (a * a).sum(axis=-1)[..., :, None] + (b * b).sum(axis=-1)[..., None, :]
    squares -= 2 * (a @ np.swapaxes(b, -1, -2))
    return np.sqrt(np.maximum(squares, 0, out=squares))


_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = _MODES[0]) -> Tensor:
    """The distances of all rows of ``x1`` from all rows of ``x2``, in the p-norm.

    Parameters
    ----------
    x1, x2 : Tensor
        Of shapes (..., P, M) and (..., R, M).
    p : float
        At least 0.
    compute_mode : str
        Whether Euclidean distances go through a product of matrices, which is
        faster and less precise; otherwise this is done from 26 rows on.

    Returns
    -------
    Tensor
        Of shape (..., P, R).
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode; it knows {_MODES}")
    require_operand("cdist", x1)
    if not isinstance(x2, Tensor):
        raise TypeError(f"cdist(): argument 'x2' (position 2) must be Tensor, not {type(x2).__name__}")
    a, b = x1.array, x2.array
    for name, array in (("X1", a), ("X2", b)):
        if array.dtype.kind not in dtypes.FLOATS:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {kind_of(array)}")
        if array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {array.ndim}D")
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected scalar type {kind_of(a)} but found {kind_of(b)}")
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values; got {p}")
    _fit(a.shape[:-2], b.shape[:-2])
    if not a.shape[-1]:  # without columns all distances are 0, for which the largest of none will not do
        p = 1.0
    many = builtins.max(a.shape[-2], b.shape[-2]) > _MANY
    if p == 2 and compute_mode != _MODES[2] and (many or compute_mode == _MODES[1]) and b.size:
        return euclidean_distances(x1, x2)
    return plain_distance(x1.unsqueeze(-2), x2.unsqueeze(-3), float(p), -1, False, "CdistBackward0")


def _fit(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        raise RuntimeError(broadcast_message(a, b)) from None


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances of all pairs of rows, each pair once: the upper triangle of ``cdist(x, x)``."""
    require_operand("pdist", input)
    if input.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.array.ndim}D")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values; got {p}")
    if is_complex(input):
        raise RuntimeError("pdist only supports floating-point dtypes: take the distances of x.abs()")
    pairs = np.triu_indices(input.array.shape[0], 1)
    first, second = (new_tensor(beside(input.array, each)) for each in pairs)
    rows = index_select(input, 0, first), index_select(input, 0, second)
    return plain_distance(*rows, float(p), -1, False, "PdistBackward0")


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
    require_operand("pairwise_distance", x1)
    return norm(x1 - x2 + float(eps), p, -1, keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between ``x1`` and ``x2`` along ``dim``.

    Norms below ``eps`` count as ``eps``, so that nothing is divided by 0.
    """
    require_operand("cosine_similarity", x1)
    require_operand("cosine_similarity", x2)
    a, b = x1.array, x2.array
    kinds_given = {a.dtype.kind, b.dtype.kind}
    if kinds_given.isdisjoint(dtypes.FLOATS) or "c" in kinds_given:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {kind_of(a)}; convert it with "
            ".float()"
        )
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps}")
    _fit(a.shape, b.shape)
    place = place_of(dim, builtins.max(a.ndim, b.ndim), "cosine_similarity")
    along = place - builtins.max(a.ndim, b.ndim)  # from behind, where the shapes are aligned
    kinds = [
        each.dtype if each.dtype.kind in dtypes.DIFFERENTIABLE else np.dtype(np.float16) for each in (a, b)
    ]
    common, shape = dtypes.BY_NUMPY[dtypes.promote(*kinds)], np.broadcast_shapes(a.shape, b.shape)
    wide = [converted(x, common).expand(shape) for x in (x1, x2)]
    first, second = (x / _at_least(vector_norm(x, 2, along, True), eps) for x in wide)
    return (first * second).sum(along)


def _at_least(norms: Tensor, eps: float) -> Tensor:
    """``norms`` raised to ``eps``, with the gradient of the norms themselves, as in PyTorch."""
    return norms + new_tensor(np.maximum(norms.array, norms.array.dtype.type(eps)) - norms.array)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``input`` over its p-norm along ``dim``, which becomes 1; a norm below ``eps`` counts as ``eps``."""
    require_operand("normalize", input)
    if input.array.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{kind_of(input)}: convert it with .float()"
        )
    return input / norm(input, p, dim, True).clamp_min(eps).expand_as(input)


# ---------------------------------------------------------------- scaling to a norm

_MARGIN = 1e-7


def _renorm_gradient(g: Any, a: Any, p: float, dim: int, maxnorm: float) -> Any:
    others = tuple([place for place in range(len(a.shape)) if place != dim])
    norms = on(plain_vector_norm, a, ord=p, dim=others, keepdim=True)
    over = norms > maxnorm
    factor = np.where(over, maxnorm / (norms + _MARGIN), 1.0)
    by_factor = (g * np.conjugate(a)).sum(axis=others, keepdims=True)
    by_factor = np.real(by_factor) if is_complex(a) else by_factor
    inward = np.where(over, -maxnorm / (norms + _MARGIN) ** 2, 0.0) * by_factor
    return g * factor + vector_norm_gradient(inward, a, norms, tuple(a.shape), p, others, True)


@operation(
    "renorm",
    "{a}, slices scaled to their largest norm",
    a=derivative("maxnorm / ‖{a}‖, and the slope of that", _renorm_gradient),
    name="renorm",
    layout=contiguous,
)
def plain_renorm(a, /, p, dim, maxnorm):
    """See :func:`renorm`."""
    others = tuple([place for place in range(a.ndim) if place != dim])
    norms = on(plain_vector_norm, a, ord=p, dim=others, keepdim=True)
    return a * np.where(norms > maxnorm, maxnorm / (norms + _MARGIN), 1).astype(norms.dtype)


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """``input`` with each slice at a place of ``dim`` scaled down until its p-norm is at most ``maxnorm``."""
    require_operand("renorm", input)
    a = input.array
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if a.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {a.ndim} dimensions")
    place = place_of(dim, a.ndim, "renorm")
    if a.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {kind_of(a)}: "
            "convert it with .float()"
        )
    if math.isinf(p) and 0 in (*a.shape[:place], *a.shape[place + 1 :]):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {p} norm of slices without elements: {describe(input)}"
        )
    return plain_renorm(input, float(p), place, maxnorm)


NAMES = Names(
    both="dist norm renorm",
    functions="cdist cosine_similarity pairwise_distance pdist",
    functional="cosine_similarity normalize pairwise_distance pdist",
    in_place="renorm",
)
