"""Self-attention in several heads on a GPU, between two layers: one operation from the projections on.

Every operation costs a GPU's program more than most of them cost the GPU.  What
heads do between the projection of queries, keys and values, which is one
product, and that of what they found, is here a single operation in few kernels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import contiguous, on_a_gpu
from autokit.ops.direct import direct
from autokit.ops.gpu_kernels import counting, fused
from autokit.ops.matmul_gpu import product
from autokit.ops.operation import derivative, on, operation
from autokit.ops.soft_extremes import plain_softmax
from autokit.tensor import Tensor
from autokit.thread_state import SMALL, thread


def is_worth_it(input: Any, heads: int, *masks: Tensor | None) -> bool:
    """Whether :func:`attend` takes the place of the single operations: so many weights no picture shows."""
    times, samples, _ = input.shape
    return (
        on_a_gpu(input)
        and input.dtype.char in "efd"
        and samples * heads * times * times > SMALL
        and thread.state.keep == SMALL
        and not any([mask is not None and mask._requires_grad for mask in masks])
    )


def attend(projected: Tensor, heads: int, mask: Tensor | None, causal: bool) -> Tensor:
    """What the heads find, (L, N, E), from queries, keys and values beside each other, (L, N, 3 · E).

    ``mask`` is added to the scores (N, heads, L, L), to which it broadcasts; if ``causal``, each query looks
    at the keys up to its own place only.
    """
    array = projected.array
    times, samples, width = array.shape
    head = width // (3 * heads)
    parts = contiguous(array.reshape((times, samples, 3, heads, head)).transpose((2, 1, 3, 0, 4)))
    added = None if mask is None else mask.array.astype(array.dtype, copy=False)
    settings = {"heads": heads, "mask": added, "causal": causal, "parts": parts}
    weights = _weights(parts, added, causal)
    return direct(attention_of_heads, (projected,), settings | {"weights": weights})


def _weights(parts: Any, mask: Any, causal: bool) -> Any:
    """How much each query of each head looks at each key, (N, heads, L, L)."""
    query, key = parts[0], parts[1]
    times, head = query.shape[-2:]
    places = counting(query, times) if causal else None
    at, before = (None, None) if places is None else (places[:, None], places[None])
    given = product(query, key.swapaxes(-1, -2)), mask, at, before, 1 / math.sqrt(head or 1), -math.inf
    top = _largest(*given, axis=3)[..., None]
    return _shares(*given, top, _total(*given, top, axis=3)[..., None])


def _logits(scores: Any, mask: Any, at: Any, before: Any, scale: Any, never: Any) -> Any:
    """The scores in float32 at least, scaled and masked."""
    logits = (scores.astype(np.float32) if scores.dtype == np.float16 else scores) * scale
    if mask is not None:
        logits = logits + mask
    return logits if at is None else np.where(before <= at, logits, never)


def _exponentials(top: Any, *given: Any) -> Any:
    """Of the logits less the largest one of their row; 0 throughout where a query may look nowhere."""
    never = given[-1]
    return np.exp(_logits(*given) - np.where(top == never, 0, top))


@fused
def _largest(scores, mask, at, before, scale, never, /, axis):
    return np.max(_logits(scores, mask, at, before, scale, never), axis=axis)


@fused
def _total(scores, mask, at, before, scale, never, top, /, axis):
    return np.sum(_exponentials(top, scores, mask, at, before, scale, never), axis=axis)


@fused
def _shares(scores, mask, at, before, scale, never, top, total, /):
    shares = _exponentials(top, scores, mask, at, before, scale, never) / total
    return np.where(total == 0, 0, shares).astype(scores.dtype)


@fused
def _weighted(slope, weights, /, axis):
    wide = np.float32 if slope.dtype == np.float16 else slope.dtype
    return np.sum(slope.astype(wide) * weights.astype(wide), axis=axis)


@fused
def _by_scores(slope, weights, total, scale, /):
    return (weights * (slope - total) * scale).astype(slope.dtype)


def _gradient(g: Any, a: Any, heads: int, mask: Any, causal: bool, parts: Any, weights: Any) -> Any:
    """By the operations that have derivatives."""
    times, samples, width = a.shape
    head = width // (3 * heads)
    whole = np.transpose(a.reshape((times, samples, 3, heads, head)), (2, 1, 3, 0, 4))
    query, key, value = whole[0], whole[1], whole[2]
    by_found = np.transpose(g.reshape((times, samples, heads, head)), (1, 2, 0, 3))
    scale = 1 / math.sqrt(head or 1)
    scores = query @ np.swapaxes(key, -2, -1) * scale
    if mask is not None:
        scores = scores + mask
    if causal:
        places = counting(a.array if isinstance(a, Tensor) else a, times)
        scores = scores + np.where(places[None] <= places[:, None], 0.0, -np.inf).astype(scores.array.dtype)
    shares = on(plain_softmax, scores, dim=3)
    slope = by_found @ np.swapaxes(value, -2, -1)
    slope = shares * (slope - (slope * shares).sum(axis=-1, keepdims=True)) * scale
    made = slope @ key, np.swapaxes(slope, -2, -1) @ query, np.swapaxes(shares, -2, -1) @ by_found
    return np.transpose(np.stack(made), (3, 1, 0, 2, 4)).reshape(tuple(a.shape))


def _gradient_on_arrays(g: Any, a: Any, heads: int, mask: Any, causal: bool, parts: Any, weights: Any) -> Any:
    times, samples, _ = a.shape
    query, key, value = parts[0], parts[1], parts[2]
    head = query.shape[-1]
    by_found = g.reshape((times, samples, heads, head)).transpose((1, 2, 0, 3))
    made = np.empty_like(parts)
    slope = product(by_found, value.swapaxes(-1, -2))
    total = _weighted(slope, weights, axis=3)[..., None]
    product(weights.swapaxes(-1, -2), by_found, made[2])
    slope = _by_scores(slope, weights, total, 1 / math.sqrt(head or 1))
    product(slope, key, made[0])
    product(slope.swapaxes(-1, -2), query, made[1])
    return made.transpose((3, 1, 0, 2, 4)).reshape(a.shape)


@operation(
    "attention",
    "softmax(q · kᵀ / √d + mask) · v of {a}",
    a=derivative("the gradients of q, k and v beside each other", _gradient, _gradient_on_arrays),
    backward="ScaledDotProductEfficientAttentionBackward0",
)
def attention_of_heads(a, /, heads, mask, causal, parts, weights):
    """See :func:`attend`: ``parts`` and ``weights`` are what it made of ``a`` on the way."""
    times, samples, width = a.shape
    found = product(weights, parts[2]).transpose((2, 0, 1, 3))
    return found.reshape((times, samples, width // 3))
