"""Multi-head attention: queries, keys and values are projected, and attention is computed for each head.

References
----------
A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.base.errors import describe
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.attention import scaled_dot_product_attention
from autokit.ops.create import zeros
from autokit.ops.dropout import dropout
from autokit.ops.join import cat
from autokit.ops.pad import pad
from autokit.ops.product import linear
from autokit.ops.softmax import softmax


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
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention in several heads at once, each with a part of the features.

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
        The projection of the results of all heads, (E, E) and (E,).
    key_padding_mask : Tensor, optional
        Of shape (N, S): bools, true where a key does not count, or numbers to add.
    need_weights, average_attn_weights : bool
        Give the weights too; their mean over the heads, or those of each head.
    attn_mask : Tensor, optional
        Of shape (L, S) or (N · num_heads, L, S): bools, true where a query may *not* look, or numbers to add.
    use_separate_proj_weight : bool
        Take ``q_proj_weight``, ``k_proj_weight`` and ``v_proj_weight`` in place of ``in_proj_weight``, for
        keys and values of other widths.
    is_causal : bool
        Says that ``attn_mask`` is the causal one.

    Returns
    -------
    Tensor
        Of shape (L, N, E), or without N.
    Tensor or None
        The weights, of shape (N, L, S) or (N, num_heads, L, S), or without N.
    """
    batched = query.dim() == 3
    _check(query, key, value, key_padding_mask, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    mask = _joined_masks(query, key, attn_mask, key_padding_mask, num_heads)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, separate)
    if not batched:
        q, k, v = q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)
    times, samples, width = q.shape
    keys = k.shape[0]
    if bias_k is not None and bias_v is not None:
        k = cat([k, bias_k.repeat(1, samples, 1)])
        v = cat([v, bias_v.repeat(1, samples, 1)])

    def by_head(x: Tensor) -> Tensor:
        """From (S, N, E) to (N, heads, S, E / heads)."""
        return x.reshape(-1, samples, num_heads, width // num_heads).permute(1, 2, 0, 3)

    q, k, v = by_head(q), by_head(k), by_head(v)
    if add_zero_attn:
        nothing = zeros(samples, num_heads, 1, width // num_heads, dtype=k.dtype, device=k.device)
        k, v = cat([k, nothing], 2), cat([v, nothing], 2)
    if mask is not None and k.shape[2] > keys:  # the added keys count for every query
        mask = pad(mask, (0, k.shape[2] - keys))
    found, weights = _attend(q, k, v, mask, dropout_p if training else 0.0, need_weights)
    rows = found.permute(2, 0, 1, 3).reshape(times * samples, width)
    out = linear(rows, out_proj_weight, out_proj_bias).reshape(times, samples, -1)
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if not batched:
        return out.squeeze(1), None if weights is None else weights.squeeze(0)
    return out, weights


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, need_weights: bool
) -> tuple[Tensor, Tensor | None]:
    """The results of the heads, (N, heads, L, E / heads), and the weight of each key for each query."""
    if not need_weights:
        return scaled_dot_product_attention(q, k, v, mask, dropout_p), None
    scores = (q * math.sqrt(1 / q.shape[-1])) @ k.transpose(-2, -1)
    weights = dropout(softmax(scores if mask is None else scores + mask, -1), dropout_p)
    return weights @ v, weights


def _projected(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    joint: Tensor | None,
    bias: Tensor | None,
    separate: tuple[Tensor | None, ...] | None,
) -> list[Tensor]:
    """Query, key and value after their projections, whose weights are one matrix or three."""
    if separate is None and query is key is value:  # one product in place of three
        return list(linear(query, joint, bias).chunk(3, -1))  # type: ignore[arg-type]
    weights: Any = joint.chunk(3) if separate is None else separate  # type: ignore[union-attr]
    biases: Any = (None, None, None) if bias is None else bias.chunk(3)
    return [linear(*parts) for parts in zip((query, key, value), weights, biases)]


def _joined_masks(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, padding: Tensor | None, heads: int
) -> Tensor | None:
    """Both masks as numbers to add to the scores, of a shape that broadcasts to (N, heads, L, S)."""
    times, keys = query.shape[0], key.shape[0]
    samples = query.shape[1] if query.dim() == 3 else 1
    joined = None
    if attn_mask is not None:
        shapes = ((times, keys), (samples * heads, times, keys))
        if attn_mask.shape not in shapes:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be "
                f"{shapes[0]}, or {shapes[1]} for a mask for each head"
            )
        of_heads = (1, 1) if attn_mask.dim() == 2 else (samples, heads)
        joined = _to_add("attn_mask", attn_mask, query).reshape(*of_heads, times, keys)
    if padding is not None:
        added = _to_add("key_padding_mask", padding, query).reshape(samples, 1, 1, keys)
        joined = added if joined is None else joined + added
    return joined


def _to_add(name: str, mask: Tensor, query: Tensor) -> Tensor:
    """A mask as numbers to add to the scores: minus infinity where it was true."""
    if mask.dtype.is_floating_point:
        return mask
    if mask.array.dtype.kind != "b":
        raise AssertionError(f"only bool and floating types of {name} are supported: {describe(mask)}")
    return new_tensor(np.where(mask.array, -np.inf, 0).astype(query.array.dtype))


def _check(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, width: int, heads: int) -> None:
    """Raise if the shapes do not fit together."""
    ndim = query.dim()
    if ndim not in (2, 3) or key.dim() != ndim or value.dim() != ndim:
        raise AssertionError(
            "query, key and value should be unbatched 2D or batched 3D tensors, but received "
            f"{ndim}-D, {key.dim()}-D and {value.dim()}-D ones"
        )
    if query.size(-1) != width:
        raise AssertionError(f"was expecting embedding dimension of {width}, but got {query.size(-1)}")
    if width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:-1]} do not match value's {value.shape[:-1]}"
        )
    wanted = (*key.shape[1:-1], key.shape[0])
    if padding is not None and padding.shape != wanted:
        raise AssertionError(
            f"For {ndim}-D `query`, expected `key_padding_mask` to be of shape {wanted}, one for each key, "
            f"but found {tuple(padding.shape)}"
        )
