"""Attention on a GPU as one operation in few kernels: of queries, keys and values, or of their projection.

Every operation costs a GPU's program more than most of them cost the GPU.  What
heads do between the projection of queries, keys and values, which is one
product, and that of what they found, is here a single operation.  What it
computes is in :mod:`autokit.ops.attention`; here is when it pays, and how the
heads lie in the projection.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import contiguous, on_a_gpu
from autokit.ops.attention import attention, gradients_of, weights_of
from autokit.ops.direct import direct
from autokit.ops.gpu.products import product
from autokit.ops.operation import derivative, operation
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
    weights = weights_of(q, k, added, causal, float(scale))
    settings = {"mask": added, "causal": causal, "scale": scale, "weights": weights}
    return direct(attention, (query, key, value), settings)


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
    parts = contiguous(_parts(array, heads))
    added = None if mask is None else mask.array.astype(array.dtype, copy=False)
    settings = {"heads": heads, "mask": added, "causal": causal, "parts": parts}
    weights = weights_of(parts[0], parts[1], added, causal, _scale(parts))
    return direct(attention_of_heads, (projected,), settings | {"weights": weights})


def _parts(projected: Any, heads: int) -> Any:
    """Queries, keys and values, (3, N, heads, L, E / heads), of an array or a tensor (L, N, 3 · E)."""
    times, samples, width = projected.shape
    apart = projected.reshape((times, samples, 3, heads, width // (3 * heads)))
    return np.transpose(apart, (2, 1, 3, 0, 4))


def _together(parts: Any) -> Any:
    """The reverse of :func:`_parts`."""
    _, samples, heads, times, width = parts.shape
    return np.transpose(parts, (3, 1, 0, 2, 4)).reshape((times, samples, 3 * heads * width))


def _by_head(found: Any, heads: int) -> Any:
    """(L, N, E) as (N, heads, L, E / heads)."""
    times, samples, width = found.shape
    return np.transpose(found.reshape((times, samples, heads, width // heads)), (1, 2, 0, 3))


def _scale(parts: Any) -> float:
    return 1 / math.sqrt(parts.shape[-1] or 1)


def _gradient(g: Any, a: Any, heads: int, mask: Any, causal: bool, parts: Any, weights: Any) -> Any:
    """By the operations that have derivatives."""
    parts = _parts(a, heads)
    query, key, value, scale = parts[0], parts[1], parts[2], _scale(parts)
    weights = weights_of(query, key, mask, causal, scale)
    return _together(np.stack(gradients_of(_by_head(g, heads), query, key, value, weights, scale)))


def _gradient_on_arrays(g: Any, a: Any, heads: int, mask: Any, causal: bool, parts: Any, weights: Any) -> Any:
    made = np.empty_like(parts)
    into = made[0], made[1], made[2]
    gradients_of(_by_head(g, heads), parts[0], parts[1], parts[2], weights, _scale(parts), into)
    return _together(made)


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
