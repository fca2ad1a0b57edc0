"""Attention on a GPU as one operation in few kernels: of queries, keys and values, or of their projection.

Every operation costs a GPU's program more than most of them cost the GPU.  What
heads do between the projection of queries, keys and values, which is one
product, and that of what they found, is here a single operation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import contiguous, on_a_gpu
from autokit.ops.attention import FORMULA, LOCAL
from autokit.ops.direct import direct
from autokit.ops.gpu.arrays import counting
from autokit.ops.gpu.products import product
from autokit.ops.gpu.rows import over_rows
from autokit.ops.operation import derivative, on, operation
from autokit.ops.soft_extremes import plain_softmax
from autokit.tensor import Tensor
from autokit.thread_state import SMALL, thread


def is_worth_it(input: Any, heads: int, *masks: Tensor | None) -> bool:
    """Whether :func:`attend` takes the place of the single operations: so many weights no picture shows."""
    times, samples, _ = input.shape
    return on_a_gpu(input) and _fits(input, samples * heads * times * times, masks)


def _fits(input: Any, weights: int, masks: tuple[Tensor | None, ...]) -> bool:
    return (
        input.dtype.char in "efd"
        and weights > SMALL
        and thread.state.keep == SMALL
        and not any([mask is not None and mask._requires_grad for mask in masks])
    )


def attend_apart(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> Tensor | None:
    """The averages of the values, (..., L, E), by the weights (..., L, S); None where that is of no use.

    ``mask`` is added to the scores, or says where a query may look.
    """
    added = None if mask is None else mask.array
    q, k, v = query.array, key.array, value.array
    arrays = [each for each in (q, k, v, added) if each is not None]
    lead = q.shape[:-2]
    if not all(map(on_a_gpu, arrays)) or len({each.device.id for each in arrays}) > 1 or not lead:
        return None
    if not lead == k.shape[:-2] == v.shape[:-2] or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        return None
    scores = *q.shape[:-1], k.shape[-2]
    if not _fits(q, math.prod(scores), (mask,)) or (added is not None and not _reaches(added.shape, scores)):
        return None
    weights = _weights(q, k, added, causal, scale)
    settings = {"mask": added, "causal": causal, "scale": scale, "weights": weights}
    return direct(attention_apart, (query, key, value), settings)


def _reaches(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an array of ``shape`` is for one of shape ``whole``, element by element."""
    pairs = zip(reversed(shape), reversed(whole))
    return len(shape) <= len(whole) and all(size in (1, other) for size, other in pairs)


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
    weights = _weights(parts[0], parts[1], added, causal, 1 / math.sqrt(head or 1))
    return direct(attention_of_heads, (projected,), settings | {"weights": weights})


def _weights(query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    """How much each query looks at each key, (..., L, S)."""
    scores = product(query, key.swapaxes(-1, -2))
    beside = (1,) * (scores.ndim - 2)
    at, before = (
        (each.reshape(beside + each.shape) for each in _places(query, key)) if causal else (None, None)
    )
    if mask is not None:
        mask = mask.reshape((1,) * (scores.ndim - mask.ndim) + mask.shape)
    return _shares(scores, mask, at, before, float(scale), axes=(scores.ndim - 1,))


def _places(query: Any, key: Any) -> tuple[Any, Any]:
    """The number of each query in a column, and of each key in a row."""
    return counting(query, query.shape[-2])[:, None], counting(query, key.shape[-2])[None]


@over_rows
def _shares(scores, mask, at, before, scale, /, axes):
    """The softmax of the scores, scaled and masked, in float32 at least; 0 where a query may look nowhere."""
    logits = (scores.astype(np.float32) if scores.dtype == np.float16 else scores) * scale
    if mask is not None:
        logits = np.where(mask, logits, -np.inf) if mask.dtype.kind == "b" else logits + mask
    if at is not None:
        logits = np.where(before <= at, logits, -np.inf)
    top = logits.max(axis=axes, keepdims=True)
    exponentials = np.exp(logits - np.where(top == -np.inf, 0.0, top))
    total = exponentials.sum(axis=axes, keepdims=True)
    return np.where(total == 0, 0.0, exponentials / total).astype(scores.dtype)


@over_rows
def _by_scores(slope, weights, scale, /, axes):
    wide = np.float32 if slope.dtype == np.float16 else slope.dtype
    total = (slope.astype(wide) * weights.astype(wide)).sum(axis=axes, keepdims=True)
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
    product(weights.swapaxes(-1, -2), by_found, made[2])
    slope = _by_scores(slope, weights, 1 / math.sqrt(head or 1), axes=(3,))
    product(slope, key, made[0])
    product(slope.swapaxes(-1, -2), query, made[1])
    return made.transpose((3, 1, 0, 2, 4)).reshape(a.shape)


def _gradients_apart(
    g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, weights: Any
) -> tuple[Any, Any, Any]:
    """By the operations that have derivatives."""
    scores = query @ np.swapaxes(key, -2, -1) * scale
    for added in _added(query, key, mask, causal):
        scores = scores + added
    shares = on(plain_softmax, scores, dim=len(scores.shape) - 1)
    slope = g @ np.swapaxes(value, -2, -1)
    slope = shares * (slope - (slope * shares).sum(axis=-1, keepdims=True)) * scale
    return slope @ key, np.swapaxes(slope, -2, -1) @ query, np.swapaxes(shares, -2, -1) @ g


def _added(query: Any, key: Any, mask: Any, causal: bool) -> list[Any]:
    """What the masks add to the scores: 0, or −∞ where a query may not look."""
    q, k = (each.array if isinstance(each, Tensor) else each for each in (query, key))
    allowed = [mask] if mask is not None and mask.dtype.kind == "b" else []
    if causal:
        at, before = _places(q, k)
        allowed.append(before <= at)
    numbers = [mask] if mask is not None and mask.dtype.kind != "b" else []
    return numbers + [np.where(each, 0.0, -np.inf).astype(q.dtype) for each in allowed]


def _gradients_apart_on_arrays(
    g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, weights: Any
) -> tuple[Any, Any, Any]:
    slope = product(g, value.swapaxes(-1, -2))
    slope = _by_scores(slope, weights, float(scale), axes=(weights.ndim - 1,))
    turned = slope.swapaxes(-1, -2)
    return product(slope, key), product(turned, query), product(weights.swapaxes(-1, -2), g)


@operation(
    "attention",
    FORMULA,
    joint=derivative(
        LOCAL,
        _gradients_apart,
        _gradients_apart_on_arrays,
    ),
    backward="ScaledDotProductEfficientAttentionBackward0",
)
def attention_apart(query, key, value, /, mask, causal, scale, weights):
    """See :func:`attend_apart`, which made the ``weights``."""
    return product(weights, value)


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
