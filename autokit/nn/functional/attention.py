"""Attention: averages of values, weighted by how well queries fit keys."""

from __future__ import annotations

import math

import numpy as np

from autokit.nn.functional.dropout import dropout
from autokit.nn.functional.loss import require_tensors
from autokit.ops.elementwise import where
from autokit.ops.errors import describe
from autokit.ops.linalg import matmul
from autokit.ops.soft_extremes import softmax
from autokit.tensor import Tensor, new_tensor


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """``softmax(query @ key.T * scale + mask) @ value``; ``scale`` is 1 / √(width) by default.

    Parameters
    ----------
    query, key, value : Tensor
        Of shapes (..., L, E), (..., S, E) and (..., S, Ev).
    attn_mask : Tensor, optional
        Bools, true where a query may look, or numbers to add.
    is_causal : bool
        Let each query look at the keys up to its own place only.

    References
    ----------
    A. Vaswani et al., "Attention Is All You Need", NIPS 2017.
    """
    require_tensors("scaled_dot_product_attention", query=query, key=key, value=value)
    if is_causal and attn_mask is not None:
        raise RuntimeError("is_causal makes the mask itself: give attn_mask or is_causal, not both")
    width = query.array.shape[-1]
    scores = matmul(query, key.transpose(-2, -1)) * (1 / math.sqrt(width) if scale is None else scale)
    if is_causal:
        attn_mask = new_tensor(np.tri(*scores.array.shape[-2:], dtype=bool))
    if attn_mask is not None:
        if attn_mask.array.dtype.kind == "b":
            scores = where(attn_mask, scores, -math.inf)
        elif attn_mask.array.dtype == query.array.dtype:
            scores = scores + attn_mask
        else:
            raise RuntimeError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                f"{describe(attn_mask)}"
            )
        blocked = np.isneginf(scores.array).all(axis=-1, keepdims=True)
        if blocked.any():  # a query that may look nowhere gets zeros
            blocked = new_tensor(blocked)
            weights = where(blocked, 0.0, softmax(where(blocked, 0.0, scores), -1))
            return matmul(dropout(weights, dropout_p), value)
    return matmul(dropout(softmax(scores, -1), dropout_p), value)
