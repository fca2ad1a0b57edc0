"""Attention: averages of values, weighted by how well queries fit keys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.dtypes import FLOATS
from autokit.nn.functional.dropout import dropout
from autokit.nn.functional.linear import linear
from autokit.ops import attention_gpu
from autokit.ops.attention import attention, is_large, mask_to_add
from autokit.ops.choices import where
from autokit.ops.direct import direct
from autokit.ops.errors import describe
from autokit.ops.filled import zeros
from autokit.ops.gpu import any_known, is_on_cpu
from autokit.ops.join import cat
from autokit.ops.linalg import matmul
from autokit.ops.pad import pad
from autokit.ops.soft_extremes import softmax
from autokit.ops.unusual import carefully
from autokit.ops.warn import warn
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
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    of_images = query.array.ndim == key.array.ndim == value.array.ndim == 4
    if is_causal and attn_mask is not None and (not of_images or dropout_p > 0):
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True, which "
            "makes a mask itself; with four dimensions and no dropout both count"
        )
    if attn_mask is not None and attn_mask.array.dtype.kind != "b":
        attn_mask = attn_mask.to(query.dtype)
    if enable_gqa:
        key, value = _for_all_heads(query, key), _for_all_heads(query, value)
    width = query.array.shape[-1]
    factor = 1 / math.sqrt(width or 1) if scale is None else scale
    if not dropout_p:
        known = _of_many_weights(query, key, value, attn_mask, is_causal, factor)
        if known is not None:
            return known
    scores = matmul(query, key.transpose(-2, -1)) * factor
    masks = [] if attn_mask is None else [attn_mask]
    if is_causal:
        masks.append(new_tensor(module_of(scores.array).tri(*scores.array.shape[-2:], dtype=bool)))
    for mask in masks:
        scores = where(mask, scores, -math.inf) if mask.array.dtype.kind == "b" else scores + mask
    if masks and (attn_mask is not None or is_on_cpu(scores.array)):
        blocked = np.isneginf(scores.array).all(axis=-1, keepdims=True)
        if any_known(blocked):
            nowhere = new_tensor(blocked)
            weights = where(nowhere, 0.0, softmax(where(nowhere, 0.0, scores), -1))
            return matmul(dropout(weights, dropout_p), value)
    return matmul(dropout(softmax(scores, -1), dropout_p), value)


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
    return direct(attention, (query, key, value), {"mask": added, "scale": scale})


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


def _for_all_heads(query: Tensor, shared: Tensor) -> Tensor:
    """``shared`` with each head repeated for all heads of ``query`` that it serves."""
    if query.array.ndim < 3 or shared.array.ndim < 3:
        raise IndexError(
            "Dimension out of range: with enable_gqa the heads are in the third dimension from the end, and "
            f"{describe(query)}, {describe(shared)} have no such dimension in both"
        )
    heads, own = query.array.shape[-3], shared.array.shape[-3]
    if not own or heads % own:
        raise RuntimeError(
            f"Number of heads in key and value must divide the number of heads in query: {own} and {heads}"
        )
    return shared.repeat_interleave(heads // own, -3)


# ---------------------------------------------------------------- with projections, in several heads


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention in several heads at once, each with its own part of the features.

    Parameters
    ----------
    query, key, value : Tensor
        Of shapes (L, N, E), (S, N, E) and (S, N, E), or the same without N.
    embed_dim_to_check : int
        E, which the heads share evenly.
    num_heads : int
        How many heads there are.
    in_proj_weight, in_proj_bias : Tensor, optional
        The projections of query, key and value, one below the other: (3 · E, E) and (3 · E,).
    bias_k, bias_v : Tensor, optional
        One more key and value for each sample, (1, 1, E).
    add_zero_attn : bool
        Add one more key and value of zeros.
    dropout_p, training : float, bool
        While training, drop each weight with this probability.
    out_proj_weight, out_proj_bias : Tensor
        The projection of what the heads found, (E, E) and (E,).
    key_padding_mask : Tensor, optional
        Of shape (N, S): bools, true where a key does not count, or numbers to add.
    need_weights, average_attn_weights : bool
        Give the weights too; their mean over the heads, or those of each head.
    attn_mask : Tensor, optional
        Of shape (L, S) or (N · num_heads, L, S): bools, true where a query may *not* look, or numbers to add.
    use_separate_proj_weight : bool
        Take ``q_proj_weight``, ``k_proj_weight`` and ``v_proj_weight`` in place of ``in_proj_weight``; keys
        and values may then have sizes of their own.
    static_k, static_v : Tensor, optional
        Stand in for the projected keys and values, (N · num_heads, S, E / num_heads).
    is_causal : bool
        A hint that ``attn_mask`` is the causal one, which may then not be looked at.

    Returns
    -------
    Tensor
        Of shape (L, N, E), or without N.
    Tensor or None
        The weights, of shape (N, L, S) or (N, num_heads, L, S), or without N.

    Raises
    ------
    AssertionError, RuntimeError
        If shapes or settings do not fit.

    References
    ----------
    A. Vaswani et al., "Attention Is All You Need", NIPS 2017, section 3.2.2.
    """
    batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    times, samples, width = query.array.shape
    if key_padding_mask is not None and attn_mask is not None and key_padding_mask.dtype != attn_mask.dtype:
        warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both "
            "instead.",
        )
    padding = _to_add("key_padding_mask", key_padding_mask, query)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    by_hint = is_causal and padding is None and not need_weights
    mask = None if by_hint else _to_add("attn_mask", attn_mask, query)
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    head = width // num_heads
    if head * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    num_heads = int(num_heads)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    plain = query is key is value and not (need_weights or add_zero_attn or dropout_p and training)
    if (
        plain
        and all([each is None for each in (bias_k, bias_v, static_k, static_v, weights)])
        and in_proj_weight is not None
        and in_proj_weight.array.shape == (3 * width, width)
        and attention_gpu.is_worth_it(query.array, num_heads, mask, padding)
    ):
        if mask is not None:
            mask = _mask_of_all_heads(mask, times, times, samples * num_heads)
        if padding is not None:
            mask = _joined(mask, padding, samples, num_heads, times)
        if mask is not None:
            mask = mask.unsqueeze(0) if len(mask.array) == 1 else mask.reshape(samples, num_heads, -1, times)
        found = attention_gpu.attend(linear(query, in_proj_weight, in_proj_bias), num_heads, mask, by_hint)
        out = linear(found, out_proj_weight, out_proj_bias)
        return out if batched else out.squeeze(1), None
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, weights)
    if mask is not None:
        mask = _mask_of_all_heads(mask, times, key.array.shape[0], samples * num_heads)
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError(f"bias cannot be added to static {'value' if static_k is None else 'key'}.")
        k, v = cat([k, bias_k.repeat(1, samples, 1)]), cat([v, bias_v.repeat(1, samples, 1)])
        mask, padding = _with_one_more(mask), _with_one_more(padding)
    elif bias_k is not None or bias_v is not None:
        given, missing = "kv" if bias_v is None else "vk"
        raise AssertionError(f"bias_{given} is set but bias_{missing} is None")

    def by_head(projected: Tensor) -> Tensor:
        """From (S, N, E) to (N · heads, S, E / heads)."""
        return projected.reshape(projected.array.shape[0], samples * num_heads, head).transpose(0, 1)

    q = by_head(q)
    k = by_head(k) if static_k is None else _checked_static("k", static_k, samples * num_heads, head)
    v = by_head(v) if static_v is None else _checked_static("v", static_v, samples * num_heads, head)
    if add_zero_attn:
        nothing = zeros(samples * num_heads, 1, head, dtype=k.dtype, device=k.device)
        k, v = cat([k, nothing], dim=1), cat([v, nothing], dim=1)
        mask, padding = _with_one_more(mask), _with_one_more(padding)
    keys = k.array.shape[1]
    if padding is not None:
        mask = _joined(mask, padding, samples, num_heads, keys)
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        scores = matmul(q * math.sqrt(1 / head), k.transpose(-2, -1))
        found_weights = softmax(scores if mask is None else scores + mask, -1)
        if dropout_p > 0:
            found_weights = dropout(found_weights, dropout_p)
        found = matmul(found_weights, v).transpose(0, 1)
    else:
        if mask is not None:
            mask = mask.unsqueeze(0) if len(mask.array) == 1 else mask.reshape(samples, num_heads, -1, keys)
        q, k, v = (each.reshape(samples, num_heads, -1, head) for each in (q, k, v))
        found = scaled_dot_product_attention(q, k, v, mask, dropout_p, by_hint).permute(2, 0, 1, 3)
    rows = linear(found.reshape(times * samples, width), out_proj_weight, out_proj_bias)
    out = rows.reshape(times, samples, -1)
    out = out if batched else out.squeeze(1)
    if not need_weights:
        return out, None
    found_weights = found_weights.reshape(samples, num_heads, times, keys)
    if average_attn_weights:
        found_weights = found_weights.mean(1)
    return out, found_weights if batched else found_weights.squeeze(0)


def _is_batched(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int
) -> bool:
    """Whether there is a dimension of samples; raises where the others do not agree."""
    ndim = query.array.ndim
    if ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor"
        )
    kind = f"For {'batched (3-D)' if ndim == 3 else 'unbatched (2-D)'} `query`, expected"
    if key.array.ndim != ndim or value.array.ndim != ndim:
        raise AssertionError(
            f"{kind} `key` and `value` to be {ndim}-D but found {key.array.ndim}-D and {value.array.ndim}-D "
            "tensors respectively"
        )
    if padding is not None and padding.array.ndim != ndim - 1:
        raise AssertionError(
            f"{kind} `key_padding_mask` to be `None` or {ndim - 1}-D but found {padding.array.ndim}-D tensor "
            "instead"
        )
    if mask is not None and mask.array.ndim not in (2, 3):
        raise AssertionError(
            f"{kind} `attn_mask` to be `None`, 2-D or 3-D but found {mask.array.ndim}-D tensor instead"
        )
    if mask is not None and ndim == 2 and mask.array.ndim == 3:
        expected = (heads, query.array.shape[0], key.array.shape[0])
        if mask.array.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {mask.shape}")
    return ndim == 3


def _to_add(name: str, mask: Tensor | None, query: Tensor) -> Tensor | None:
    """A mask as numbers to add to the scores: minus infinity where it was true."""
    if mask is None or mask.array.dtype.kind in FLOATS:
        return mask
    if mask.array.dtype.kind != "b":
        raise AssertionError(f"only bool and floating types of {name} are supported: {describe(mask)}")
    return new_tensor(np.where(mask.array, -np.inf, 0).astype(query.array.dtype))


def _projected(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    together: Tensor | None,
    bias: Tensor | None,
    apart: tuple[Tensor | None, Tensor | None, Tensor | None] | None,
) -> list[Tensor]:
    """Query, key and value after their projections, whose weights are given together or apart."""
    names, given = ("query", "key", "value"), (query, key, value)
    width = query.array.shape[-1]
    for name, weight in zip(names, apart or ()):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name[0]}_proj_weight is None")
    if apart is None:
        if key.array.shape != value.array.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if together is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        if query is key is value:  # one product in place of three
            return list(linear(query, together, bias).chunk(3, -1))
        return [linear(*parts) for parts in zip(given, together.chunk(3), _thirds(bias))]
    if key.array.shape[:2] != value.array.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    biases = _thirds(bias)
    for name, each, weight, own in zip(names, given, apart, biases):
        assert weight is not None
        expected = (width, each.array.shape[-1])
        if weight.array.shape != expected:
            raise AssertionError(f"expecting {name} weights shape of {expected}, but got {weight.shape}")
        if own is not None and own.array.shape != (width,):
            raise AssertionError(f"expecting {name} bias shape of {(width,)}, but got {own.shape}")
    return [linear(*parts) for parts in zip(given, apart, biases)]  # type: ignore[arg-type]


def _thirds(bias: Tensor | None) -> Any:
    return (None, None, None) if bias is None else bias.chunk(3)


def _mask_of_all_heads(mask: Tensor, times: int, keys: int, heads: int) -> Tensor:
    """``mask`` in three dimensions, checked."""
    ndim = mask.array.ndim
    expected = (heads, times, keys)[3 - ndim :]
    if mask.array.shape != expected:
        raise RuntimeError(f"The shape of the {ndim}D attn_mask is {mask.shape}, but should be {expected}.")
    return mask if ndim == 3 else mask.unsqueeze(0)


def _with_one_more(mask: Tensor | None) -> Tensor | None:
    """``mask`` for one more key, which counts."""
    return None if mask is None else pad(mask, (0, 1))


def _checked_static(name: str, static: Tensor, heads: int, head: int) -> Tensor:
    for place, size in ((0, heads), (2, head)):
        if static.size(place) != size:
            raise AssertionError(
                f"expecting static_{name}.size({place}) of {size}, but got {static.size(place)}"
            )
    return static


def _joined(mask: Tensor | None, padding: Tensor, samples: int, heads: int, keys: int) -> Tensor:
    """Both masks as one, of shape (N · heads, 1 or L, S)."""
    for place, size in enumerate((samples, keys)):
        if padding.array.shape[place] != size:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{place}] to be {size}, but got {padding.array.shape[place]}"
            )
    of_heads: Any = padding.reshape(samples, 1, 1, keys).expand(-1, heads, -1, -1)
    of_heads = of_heads.reshape(samples * heads, 1, keys)
    return of_heads if mask is None else mask + of_heads
