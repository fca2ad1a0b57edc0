"""Attention with many weights as one operation, which keeps none and finds them again on the way back.

The weights of a sequence grow with the square of its length, and are then
most of what a training step would hold.  A few heads at a time, they stay in
the cache.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.ops.blocks import BLOCK, loop_over_rows, pieces
from autokit.ops.operation import derivative, on, operation
from autokit.ops.soft_extremes import exponentials_of_rows, plain_softmax


def is_large(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Whether arrays of attention have so many weights that :func:`attention` pays, and fit it."""
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


def _in_rows(array: Any) -> Any:
    return array.reshape((-1, array.shape[-1]))


def _heads_at_a_time(query: Any, key: Any) -> list[slice]:
    each = max(query.shape[1] * key.shape[1], 1)
    return pieces(len(query), max(BLOCK // each, 1))


def _weights(query: Any, key: Any, mask: Any, scale: float) -> Any:
    weights = np.matmul(query * scale, key.swapaxes(1, 2))
    if mask is not None:
        weights += mask
    made = np.empty_like(weights)
    if loop_over_rows("native_loops.softmax", _in_rows(weights), _in_rows(made)):
        return made
    _, totals = exponentials_of_rows(_in_rows(weights), _in_rows(made))
    made *= (1 / totals).reshape((*made.shape[:2], 1))
    return made


def _gradients(g: Any, query: Any, key: Any, value: Any, mask: Any, scale: float) -> tuple[Any, Any, Any]:
    """The gradients of query, key and value, by the operations that have derivatives."""
    scores = query @ key.swapaxes(-2, -1) * scale
    weights = on(plain_softmax, scores if mask is None else scores + mask, dim=len(scores.shape) - 1)
    by_weights = g @ value.swapaxes(-2, -1)
    by_scores = weights * (by_weights - (by_weights * weights).sum(axis=-1, keepdims=True)) * scale
    return by_scores @ key, by_scores.swapaxes(-2, -1) @ query, weights.swapaxes(-2, -1) @ g


def _gradients_on_arrays(
    g: Any, query: Any, key: Any, value: Any, mask: Any, scale: float
) -> tuple[Any, Any, Any]:
    made = [np.empty(each.shape, each.dtype) for each in (query, key, value)]
    by_query, by_key, by_value = map(_in_heads, made)
    g, query, key, value = map(_in_heads, (g, query, key, value))
    for piece in _heads_at_a_time(query, key):
        weights = _weights(query[piece], key[piece], mask, scale)
        np.matmul(weights.swapaxes(1, 2), g[piece], out=by_value[piece])
        slope = np.matmul(g[piece], value[piece].swapaxes(1, 2))
        changed = np.empty_like(slope)
        if loop_over_rows("native_loops.softmax_gradient", *map(_in_rows, (slope, weights, changed))):
            slope = changed
        else:
            slope -= np.vecdot(slope, weights)[:, :, None]
            slope *= weights
        np.matmul(slope, key[piece] * scale, out=by_query[piece])
        np.matmul(slope.swapaxes(1, 2), query[piece] * scale, out=by_key[piece])
    return tuple(made)  # type: ignore[return-value]


FORMULA = "softmax({query} · {key}ᵀ · scale + mask) · {value}"
LOCAL = {
    "query": "(p ⊙ (g · {value}ᵀ − its mean by p)) · {key} · scale",
    "key": "(p ⊙ (g · {value}ᵀ − its mean by p))ᵀ · {query} · scale",
    "value": "pᵀ · g",
}
"""What attention is, and its local derivatives by p, the weights: on a GPU too."""


@operation(
    "attention",
    FORMULA,
    joint=derivative(
        LOCAL,
        _gradients,
        _gradients_on_arrays,
    ),
    backward="ScaledDotProductFlashAttentionForCpuBackward0",
)
def attention(query, key, value, /, mask=None, scale=1.0):
    """The average of the values for each query, weighted by how well it fits each key.

    ``mask`` is a matrix that is added to the scores of each head, see :func:`mask_to_add`.

    References
    ----------
    M. N. Rabe and C. Staats, "Self-attention Does Not Need O(n²) Memory", 2021.
    """
    out = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    query, key, value, averages = map(_in_heads, (query, key, value, out))
    for piece in _heads_at_a_time(query, key):
        np.matmul(_weights(query[piece], key[piece], mask, scale), value[piece], out=averages[piece])
    return out
