"""Attention in several heads at once, between projections: each head looks for something else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.dtypes import FLOATS
from autokit.nn.functional.attention import scaled_dot_product_attention
from autokit.nn.functional.dropout import dropout
from autokit.nn.functional.linear import linear
from autokit.ops.errors import describe
from autokit.ops.filled import zeros
from autokit.ops.gpu import attention as attention_gpu
from autokit.ops.join import cat
from autokit.ops.linalg import matmul
from autokit.ops.pad import pad
from autokit.ops.soft_extremes import softmax
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor


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
    by_hint = is_causal and key_padding_mask is None and not need_weights
    padding, mask = _numbers_to_add(query, key_padding_mask, attn_mask, is_causal, by_hint)
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    head = width // num_heads
    if head * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    num_heads = int(num_heads)
    heads = samples * num_heads
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    dropout_p = dropout_p if training else 0.0
    others = any([each is not None for each in (bias_k, bias_v, static_k, static_v, weights)])
    if query is key is value and not (need_weights or add_zero_attn or dropout_p or others):
        found = _at_once(query, in_proj_weight, in_proj_bias, num_heads, mask, padding, by_hint)
        if found is not None:
            out = linear(found, out_proj_weight, out_proj_bias)
            return out if batched else out.squeeze(1), None
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, weights)
    if mask is not None:
        mask = _mask_of_all_heads(mask, times, key.array.shape[0], heads)
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
        return projected.reshape(projected.array.shape[0], heads, head).transpose(0, 1)

    q = by_head(q)
    k = by_head(k) if static_k is None else _checked_static("k", static_k, heads, head)
    v = by_head(v) if static_v is None else _checked_static("v", static_v, heads, head)
    if add_zero_attn:
        nothing = zeros(heads, 1, head, dtype=k.dtype, device=k.device)
        k, v = cat([k, nothing], dim=1), cat([v, nothing], dim=1)
        mask, padding = _with_one_more(mask), _with_one_more(padding)
    if padding is not None:
        mask = _joined(mask, padding, samples, num_heads, k.array.shape[1])
    if need_weights:
        found, looks = _looked_for(q, k, v, mask, dropout_p)
    else:
        found, looks = _found(q, k, v, mask, dropout_p, by_hint, (samples, num_heads)), None
    rows = linear(found.reshape(times * samples, width), out_proj_weight, out_proj_bias)
    out = rows.reshape(times, samples, rows.array.shape[1])
    out = out if batched else out.squeeze(1)
    if looks is None:
        return out, None
    looks = looks.reshape(samples, num_heads, *looks.array.shape[1:])
    if average_attn_weights:
        looks = looks.mean(1)
    return out, looks if batched else looks.squeeze(0)


def _looked_for(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float
) -> tuple[Tensor, Tensor]:
    """What the heads find, (L, N · heads, E / heads), and how much each query looks at each key."""
    scores = matmul(q * math.sqrt(1 / q.array.shape[-1]), k.transpose(-2, -1))
    looks = softmax(scores if mask is None else scores + mask, -1)
    if dropout_p > 0:
        looks = dropout(looks, dropout_p)
    return matmul(looks, v).transpose(0, 1), looks


def _found(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    sizes: tuple[int, int],
) -> Tensor:
    """What the heads find, (L, N, heads, E / heads), where nobody asks how much each query looks at."""

    def by_sample(each: Tensor) -> Tensor:
        """From (N · heads, S, E / heads) to (N, heads, S, E / heads)."""
        return each.reshape(*sizes, *each.array.shape[1:])

    if mask is not None:
        mask = mask.unsqueeze(0) if len(mask.array) == 1 else by_sample(mask)
    operands = (by_sample(q), by_sample(k), by_sample(v))
    return scaled_dot_product_attention(*operands, mask, dropout_p, is_causal).permute(2, 0, 1, 3)


def _at_once(
    query: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    num_heads: int,
    mask: Tensor | None,
    padding: Tensor | None,
    is_causal: bool,
) -> Tensor | None:
    """What the heads find, (L, N, E), from all projections as they lie side by side; None but on a GPU."""
    times, samples, width = query.array.shape
    if weight is None or weight.array.shape != (3 * width, width):
        return None
    if not attention_gpu.is_worth_it(query.array, num_heads, mask, padding):
        return None
    if mask is not None:
        mask = _mask_of_all_heads(mask, times, times, samples * num_heads)
    if padding is not None:
        mask = _joined(mask, padding, samples, num_heads, times)
    if mask is not None:
        mask = mask.unsqueeze(0) if len(mask.array) == 1 else mask.reshape(samples, num_heads, -1, times)
    return attention_gpu.attend(linear(query, weight, bias), num_heads, mask, is_causal)


def _numbers_to_add(
    query: Tensor, padding: Tensor | None, mask: Tensor | None, is_causal: bool, by_hint: bool
) -> tuple[Tensor | None, Tensor | None]:
    """Both masks as numbers to add to the scores; none for the second where the hint says what it is."""
    if padding is not None and mask is not None and padding.dtype != mask.dtype:
        warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both "
            "instead.",
        )
    padding = _to_add("key_padding_mask", padding, query)
    if is_causal and mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    return padding, None if by_hint else _to_add("attn_mask", mask, query)


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
