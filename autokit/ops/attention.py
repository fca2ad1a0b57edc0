"""Attention: for each query an average of the values, weighted by how well the query fits their keys.

References
----------
A. Vaswani et al., "Attention Is All You Need", NIPS 2017.
J. Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints",
EMNLP 2023.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, expected, require_tensor
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.choose import where
from autokit.ops.dropout import dropout
from autokit.ops.names import Names
from autokit.ops.product import matmul
from autokit.ops.softmax import softmax


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale + mask) @ value``; ``scale`` is 1 / √(width) by default.

    Parameters
    ----------
    query, key, value : Tensor
        Of shapes (..., L, E), (..., S, E) and (..., S, Ev).
    attn_mask : Tensor, optional
        Bools, true where a query may look, or numbers to add.  A query that may look nowhere gets zeros.
    dropout_p : float
        The probability at which each weight is dropped, in training or not.
    is_causal : bool
        Let each query look at the keys up to its own place only.
    scale : float, optional
        What the products are multiplied by.
    enable_gqa : bool
        Let a head of ``key`` and ``value`` serve several neighbouring heads of ``query``; the heads are in
        the third dimension from the end.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        query_heads, heads = query.shape[-3], key.shape[-3]
        if not heads or query_heads % heads:
            raise RuntimeError(
                f"Number of heads in key and value must divide the number of heads in query: {heads} and "
                f"{query_heads}"
            )
        key, value = [each.repeat_interleave(query_heads // heads, -3) for each in (key, value)]
    width = query.shape[-1]
    scores = matmul(query * (1 / math.sqrt(width or 1) if scale is None else scale), key.transpose(-2, -1))
    if is_causal:
        attn_mask = new_tensor(module_of(scores).tri(*scores.shape[-2:], dtype=bool))
    if attn_mask is None:
        weights = softmax(scores, -1)
    else:
        is_bool = attn_mask.array.dtype.kind == "b"
        scores = where(attn_mask, scores, -math.inf) if is_bool else scores + attn_mask
        blocked = ~attn_mask.array if is_bool else np.isneginf(attn_mask.array)
        nowhere = new_tensor(blocked.all(axis=-1, keepdims=True))
        if expected(~nowhere.array.any()):
            weights = softmax(scores, -1)
        else:  # a softmax over nothing would be NaN
            weights = where(nowhere, 0.0, softmax(where(nowhere, 0.0, scores), -1))
    return matmul(dropout(weights, dropout_p) if dropout_p else weights, value)


def _check(query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
    for place, (name, each) in enumerate((("query", query), ("key", key), ("value", value))):
        require_tensor("scaled_dot_product_attention", each, name, place)
    shapes = f"{describe(query)}, {describe(key)} and {describe(value)}"
    if len({each.dtype for each in (query, key, value)}) > 1:
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got {shapes}")
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be at least 2 dimensional, but got {shapes}"
        )
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise RuntimeError(
            f"attention takes queries (..., L, E), keys (..., S, E) and values (..., S, Ev), but got {shapes}"
        )
    if mask is not None and is_causal:
        raise RuntimeError(
            "Explicit attn_mask should not be set when is_causal=True, which makes a mask itself"
        )
    if mask is not None and mask.array.dtype not in (np.bool_, np.float32, query.array.dtype):
        raise RuntimeError(
            f"Expected attn_mask dtype to be bool or to match query dtype, but got {describe(mask)} for "
            f"{shapes}"
        )


NAMES = Names(functional="scaled_dot_product_attention")
