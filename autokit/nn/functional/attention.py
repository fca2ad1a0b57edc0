"""Attention: averages of values, weighted by how well queries fit keys."""

from __future__ import annotations

import math

import numpy as np

from autokit.devices import module_of
from autokit.dtypes import FLOATS
from autokit.nn.functional.dropout import dropout
from autokit.ops.attention import attention, is_large, mask_to_add
from autokit.ops.choices import where
from autokit.ops.complex_numbers import require_real
from autokit.ops.direct import direct
from autokit.ops.errors import describe
from autokit.ops.gpu import attention as attention_gpu
from autokit.ops.gpu.arrays import any_known, is_on_cpu
from autokit.ops.linalg import matmul
from autokit.ops.soft_extremes import softmax
from autokit.ops.unusual import carefully
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import SMALL, thread


@carefully
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

    Raises
    ------
    RuntimeError
        If shapes, dtypes or settings do not fit.

    References
    ----------
    A. Vaswani et al., "Attention Is All You Need", NIPS 2017.
    J. Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head
    Checkpoints", EMNLP 2023.
    """
    _check_operands(query, key, value, attn_mask)
    if not value.array.size or not query.array.shape[-2]:
        return _of_nothing(query, key, value)
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    if is_causal and getattr(attn_mask, "variant", None) is not None:
        raise ValueError("CausalBias should not be used with causal=True: it is a causal mask itself")
    if (
        is_causal
        and attn_mask is not None
        and (dropout_p > 0 or not _take_two_masks(query, key, value, attn_mask))
    ):
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True, which "
            "makes a mask itself; with four dimensions of the same sizes and no dropout both count"
        )
    if attn_mask is not None and attn_mask.array.dtype.kind != "b":
        attn_mask = attn_mask.to(query.dtype)
    if enable_gqa:
        _require_heads(query, key, value)
        key, value = _for_all_heads(query, key), _for_all_heads(query, value)
    width = query.array.shape[-1]
    factor = 1 / math.sqrt(width or 1) if scale is None else scale
    if not dropout_p:
        known = _of_many_weights(query, key, value, attn_mask, is_causal, factor)
        if known is None:
            known = attention_gpu.attend_apart(query, key, value, attn_mask, is_causal, factor)
        if known is not None:
            return known
    scores = matmul(query, key.transpose(-2, -1)) * factor
    masks = [] if attn_mask is None else [attn_mask]
    if is_causal:
        masks.append(new_tensor(module_of(scores.array).tri(*scores.array.shape[-2:], dtype=bool)))
    for mask in masks:
        shape = scores.array.shape
        scores = where(mask, scores, -math.inf) if mask.array.dtype.kind == "b" else scores + mask
        if scores.array.shape != shape:
            raise RuntimeError(
                f"output with shape {list(shape)} doesn't match the broadcast shape "
                f"{list(scores.array.shape)}: {describe(mask)} is a mask for more scores than there are"
            )
    if masks and (attn_mask is not None or is_on_cpu(scores.array)):
        blocked = np.isneginf(scores.array).all(axis=-1, keepdims=True)
        if any_known(blocked):
            nowhere = new_tensor(blocked)
            weights = where(nowhere, 0.0, softmax(where(nowhere, 0.0, scores), -1))
            return matmul(dropout(weights, dropout_p), value)
    return matmul(dropout(softmax(scores, -1), dropout_p), value)


def _of_nothing(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Zeros for each query, where there are no queries or no values."""
    nothing = [each.reshape(-1)[:0].sum() for each in (query, key, value)]
    shape = (*query.array.shape[:-1], value.array.shape[-1])
    return sum(nothing, query.new_zeros(shape))


def _take_two_masks(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> bool:
    """Whether these are heads of images, of the same sizes, for which a mask and causality both count."""
    q, k, v = (each.array.shape for each in (query, key, value))
    side_by_side = all(each.stride(-1) == 1 for each in (query, key, value))
    is_plain = not mask._requires_grad and mask.array.ndim in (2, 4)
    return len(q) == 4 and q[:2] == k[:2] == v[:2] and q[3] == k[3] == v[3] and side_by_side and is_plain


def _of_many_weights(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor | None:
    """Attention in one step; None where the weights are few or to be kept, or a query may look nowhere."""
    keys = None if mask is None else mask.array
    if not is_large(query.array, key.array, value.array, keys) or thread.state.keep != SMALL:
        return None
    if mask is not None and mask._requires_grad:
        return None
    added = mask_to_add(keys, is_causal, query.array, key.array)
    if added is not None and np.isneginf(added).all(axis=1).any():
        return None
    return direct(
        attention, (query, key, value), {"mask": added, "causal": False, "scale": scale, "weights": None}
    )


def _check_operands(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
    """Raise where the operands of attention do not fit, as PyTorch does."""
    operands = {"query": query, "key": key, "value": value}
    if len({each.array.dtype for each in operands.values()}) > 1:
        kinds = " ".join(f"{name}.dtype: {each.dtype.name}" for name, each in operands.items())
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got {kinds}: convert with .to(...)"
        )
    if min(each.array.ndim for each in operands.values()) < 2:
        dims = " ".join(f"{name}.dim: {each.array.ndim}" for name, each in operands.items())
        raise RuntimeError(f"Expected query, key, and value to all be at least 2 dimensional, but got {dims}")
    require_real("softmax", query)
    if query.array.dtype.kind not in FLOATS:
        raise RuntimeError(
            f"expected scalar type Float but found {query.dtype.name}: {describe(query)}; convert "
            "with .float()"
        )
    if mask is not None and mask.array.dtype not in (np.bool_, np.float32, query.array.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"{describe(mask)} for {describe(query)}"
        )


def _require_heads(*operands: Tensor) -> None:
    for each in operands:
        if each.array.ndim < 3:
            raise IndexError(
                "Dimension out of range: with enable_gqa the heads are in the third dimension from the end, "
                f"and {describe(each)} has no such dimension"
            )


def _for_all_heads(query: Tensor, shared: Tensor) -> Tensor:
    """``shared`` with each head repeated for all heads of ``query`` that it serves."""
    heads, own = query.array.shape[-3], shared.array.shape[-3]
    if not own or heads % own:
        raise RuntimeError(
            f"Number of heads in key and value must divide the number of heads in query: {own} and {heads}"
        )
    return shared.repeat_interleave(heads // own, -3)
