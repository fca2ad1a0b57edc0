"""Attention with many weights as one operation: of queries, keys and values, and of no single score.

The weights of a sequence grow with the square of its length, and are then
most of what a training step would hold.  On a CPU none is kept: a few heads at
a time, they stay in the cache, and are found again on the way back.  On a GPU,
where each operation costs the program more than most of them cost the GPU,
they are kept (:mod:`autokit.ops.gpu.attention`).  The lines that compute are
the same, and serve tensors, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.ops.blocks import BLOCK, loop_over_rows, pieces, reusing
from autokit.ops.gpu.arrays import counting
from autokit.ops.gpu.products import product
from autokit.ops.gpu.rows import over_rows
from autokit.ops.half import in_dtype, wide
from autokit.ops.operation import derivative, operation
from autokit.ops.soft_extremes import (
    largest,
    plain_softmax,
    shares_below,
    slope_of_softmax,
    softmax_gradient_of_rows,
    softmax_of_rows,
)
from autokit.tensor import Tensor

# ---------------------------------------------------------------- what is computed, of arrays and tensors


def weights_of(query: Any, key: Any, mask: Any, causal: bool, scale: float | None) -> Any:
    """How much each query looks at each key, (..., L, S).

    ``mask`` says where a query may look, or is added to the scores; if ``causal``, each query looks at the
    keys up to its own place only.  A ``scale`` of None is 1.
    """
    scores = product(query, key.swapaxes(-1, -2))
    beside = (1,) * (len(scores.shape) - 2)
    at = before = None
    if causal:
        array = query.array if isinstance(query, Tensor) else query
        at = counting(array, query.shape[-2]).reshape((*beside, -1, 1))
        before = counting(array, key.shape[-2]).reshape((*beside, 1, -1))
    if mask is not None:
        mask = mask.reshape((1,) * (len(scores.shape) - mask.ndim) + mask.shape)
    if isinstance(scores, Tensor):
        return plain_softmax(_masked(scores, mask, at, before, scale), len(scores.shape) - 1)
    if scores.__class__ is np.ndarray:
        logits = _masked(scores, mask, at, before, scale)
        return _by_rows("native_loops.softmax", softmax_of_rows, logits)
    return _shares(scores, mask, at, before, scale, axes=(scores.ndim - 1,))


def _masked(scores: Any, mask: Any, at: Any, before: Any, scale: Any) -> Any:
    """The scores, scaled, and −∞ where a query, at its place ``at``, may not look at the key ``before``."""
    if scale is not None:
        scores = scores * scale
    if mask is not None:
        is_added = mask.dtype.kind != "b"
        scores = reusing(scores, np.add, scores, mask) if is_added else np.where(mask, scores, -np.inf)
    return scores if at is None else np.where(before <= at, scores, -np.inf)


@over_rows
def _shares(scores, mask, at, before, scale, /, axes):
    """The softmax of the scores, in float32 at least; 0 where a query may look nowhere."""
    logits = _masked(wide(scores), mask, at, before, scale)
    top = largest(logits, axes)
    nowhere = top == -np.inf
    shares = np.where(nowhere, 0.0, shares_below(logits, np.where(nowhere, 0.0, top), axes))
    return in_dtype(shares, scores.dtype)


@over_rows
def _slope_of_scores(slope, weights, scale, /, axes):
    made = slope_of_softmax(wide(slope), wide(weights), axes=axes)
    return in_dtype(made if scale is None else made * scale, slope.dtype)


def gradients_of(
    g: Any,
    query: Any,
    key: Any,
    value: Any,
    weights: Any,
    scale: float | None,
    into: tuple[Any, Any, Any] = (None, None, None),
) -> tuple[Any, Any, Any]:
    """The gradients of query, key and value, written ``into`` arrays where these are given."""
    by_query, by_key, by_value = into
    slope = product(g, value.swapaxes(-1, -2))
    by_value = product(weights.swapaxes(-1, -2), g, by_value)
    if slope.__class__ is np.ndarray and scale is None:
        slope = _by_rows("native_loops.softmax_gradient", softmax_gradient_of_rows, slope, weights)
    else:
        slope = _slope_of_scores(slope, weights, scale, axes=(len(slope.shape) - 1,))
    return product(slope, key, by_query), product(slope.swapaxes(-1, -2), query, by_key), by_value


def _by_rows(native: str, of_rows: Any, *arrays: Any) -> Any:
    """What ``of_rows`` makes of the rows of all matrices, or a compiled loop."""
    made = np.empty_like(arrays[0])
    rows = [each.reshape((-1, each.shape[-1])) for each in (*arrays, made)]
    if not loop_over_rows(native, *rows):
        of_rows(*rows)
    return made


def _gradients(
    g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, weights: Any
) -> tuple[Any, Any, Any]:
    """By the operations that have derivatives."""
    return gradients_of(g, query, key, value, weights_of(query, key, mask, causal, scale), scale)


# ---------------------------------------------------------------- on a CPU, a few heads at a time


def is_large(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Whether arrays of attention have so many weights that :func:`attention` pays on a CPU, and fit it."""
    arrays = (query, key, value)
    heads, count = query.shape[:-2], query.shape[-2] * key.shape[-2]
    return (
        all(each.__class__ is np.ndarray and each.shape[:-2] == heads for each in arrays)
        and len(heads) > 0
        and math.prod(heads) * count >= BLOCK
        and query.dtype in (np.float32, np.float64)
        and query.shape[-1] == key.shape[-1]
        and key.shape[-2] == value.shape[-2]
        and (
            mask is None
            or (mask.__class__ is np.ndarray and mask.size == count == math.prod(mask.shape[-2:]))
        )
    )


def mask_to_add(mask: Any, causal: bool, query: Any, key: Any) -> Any:
    """One matrix to add to the scores of each head, −∞ where a query may not look; None if there is none.

    Parameters
    ----------
    mask : array or None
        Bools, true where a query may look, or numbers to add.
    causal : bool
        Whether each query looks at the keys up to its own place only.
    """
    shape = (query.shape[-2], key.shape[-2])
    added: Any = None
    if mask is not None:
        added = np.where(mask, 0, -np.inf) if mask.dtype.kind == "b" else mask
        added = added.reshape(shape).astype(query.dtype, copy=False)
    if causal:
        added = np.where(np.tri(*shape, dtype=bool), 0 if added is None else added, -np.inf)
        added = added.astype(query.dtype, copy=False)
    return added


def _in_heads(array: Any) -> Any:
    return array.reshape((-1, *array.shape[-2:]))


def _heads_at_a_time(query: Any, key: Any) -> list[slice]:
    each = max(query.shape[1] * key.shape[1], 1)
    return pieces(len(query), max(BLOCK // each, 1))


def _gradients_on_arrays(
    g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, weights: Any
) -> tuple[Any, Any, Any]:
    if weights is not None:
        return gradients_of(g, query, key, value, weights, float(scale))
    made = [np.empty(each.shape, each.dtype) for each in (query, key, value)]
    g, query, key, value, *into = map(_in_heads, (g, query, key, value, *made))
    for piece in _heads_at_a_time(query, key):
        # To scale queries and keys, not scores, gives the same and takes less.
        q, k = query[piece] * scale, key[piece] * scale
        weights = weights_of(q, key[piece], mask, False, None)
        gradients_of(g[piece], q, k, value[piece], weights, None, tuple([each[piece] for each in into]))  # type: ignore[arg-type]
    return tuple(made)  # type: ignore[return-value]


FORMULA = "softmax({query} · {key}ᵀ · scale + mask) · {value}"
LOCAL = {
    "query": "(p ⊙ (g · {value}ᵀ − its mean by p)) · {key} · scale",
    "key": "(p ⊙ (g · {value}ᵀ − its mean by p))ᵀ · {query} · scale",
    "value": "pᵀ · g",
}
"""The local derivatives, by p, the weights."""

_NAMES = "ScaledDotProductFlashAttentionForCpuBackward0", "ScaledDotProductEfficientAttentionBackward0"


@operation(
    "attention",
    FORMULA,
    joint=derivative(LOCAL, _gradients, _gradients_on_arrays),
    backward=lambda node: _NAMES[node.settings["weights"] is not None],  # type: ignore[index]
)
def attention(query, key, value, /, mask=None, causal=False, scale=1.0, weights=None):
    """The average of the values for each query, weighted by how well it fits each key.

    On a CPU ``mask`` is a matrix that is added to the scores of each head, see :func:`mask_to_add`.  On a GPU
    the ``weights`` are known, see :func:`weights_of`.

    References
    ----------
    M. N. Rabe and C. Staats, "Self-attention Does Not Need O(n²) Memory", 2021.
    """
    if weights is not None:
        return product(weights, value)
    out = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    query, key, value, averages = map(_in_heads, (query, key, value, out))
    for piece in _heads_at_a_time(query, key):
        weights = weights_of(query[piece] * scale, key[piece], mask, False, None)
        product(weights, value[piece], averages[piece])
    return out
