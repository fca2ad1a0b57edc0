"""``torch.nn.attention.flex_attention``: attention whose scores a function of one's own changes.

PyTorch makes one kernel of that function and attention; here all scores are computed, and the function runs
on all of them at once, as in a :func:`~autokit.func.vmap`.

References
----------
J. Dong et al., "Flex Attention: A Programming Model for Generating Optimized Attention Kernels", 2024,
arXiv:2412.05496.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from autokit.dtypes import BY_NAME
from autokit.missing import names_of
from autokit.nn.attention.block_mask import (
    BlockMask,
    _sliced_mask_mod_error,
    and_masks,
    create_block_mask,
    create_mask,
    noop_mask,
    or_masks,
    over_all,
)
from autokit.ops import FUNCTIONS
from autokit.ops.warn import warn
from autokit.tensor import Tensor

__getattr__ = names_of("torch.nn.attention.flex_attention")

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

T = FUNCTIONS
_score_mod_signature = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
_mask_mod_signature = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
_told = False


class FlexKernelOptions(dict[str, Any]):
    """What PyTorch's kernels are told; here it changes nothing."""


class AuxRequest(NamedTuple):
    """What is wanted beside the output: the logarithms of the sums, and the largest scores."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for by an :class:`AuxRequest`, None for the rest."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query · keyᵀ · scale)) · value, where ``block_mask`` lets a query look.

    It has a gradient, by what ``score_mod`` uses too, where PyTorch has none on a CPU.

    Parameters
    ----------
    query : Tensor
        (B, Hq, L, E)
    key, value : Tensor
        (B, Hkv, S, E) and (B, Hkv, S, Ev); with ``block_mask`` their batch may be 1.
    score_mod : callable, optional
        Takes a score and its indices, ``(score, b, h, q_idx, kv_idx)``, tensors without dimensions, and
        returns the score to use.
    block_mask : BlockMask, optional
        Made by :func:`create_block_mask`.
    scale : float, optional
        1/√E without it.
    enable_gqa : bool
        Let several heads of queries share a head of keys and values: Hq is a multiple of Hkv.
    return_lse : bool
        Return the logarithm of the sum of the scores' exponentials too; ``return_aux`` is newer.
    kernel_options : dict, optional
        Accepted for PyTorch's sake, and without effect.
    return_aux : AuxRequest, optional
        What else to return.

    Returns
    -------
    Tensor
        (B, Hq, L, Ev); zeros for a query that may look nowhere.  With ``return_lse`` a pair of it and the
        logarithms, (B, Hq, L); with ``return_aux`` a pair of it and an :class:`AuxOutput`.

    Raises
    ------
    ValueError
        If sizes do not fit together, or the mask was made for another number of queries or keys.
    NotImplementedError
        If the tensors have not four dimensions.
    RuntimeError
        If the mask is part of another one, and has no mask_mod of its own.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.nn.attention.flex_attention import create_block_mask, flex_attention
    >>> query, key, value = torch.zeros(1, 1, 3, 2), torch.zeros(1, 1, 3, 2), torch.eye(3)[None, None]
    >>> causal = create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 3, 3)
    >>> flex_attention(query, key, value, lambda score, b, h, q, kv: score + (kv == 0) * 9.0, causal)
    tensor([[[[1.0000e+00, 0.0000e+00, 0.0000e+00],
              [9.9988e-01, 1.2339e-04, 0.0000e+00],
              [9.9975e-01, 1.2338e-04, 1.2338e-04]]]])
    """
    _check_tensors(query, key, value, enable_gqa, block_mask)
    if block_mask is not None:
        _check_mask(block_mask, query, key)
    _check_options(kernel_options or {})
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    if return_lse:
        _tell_of_return_aux()
    batch, heads = query.shape[:2]
    if key.shape[0] not in (1, batch):
        raise RuntimeError(f"Bq and Bkv must broadcast. Got Bq={batch} and Bkv={key.shape[0]}")
    shared = heads // key.shape[1]
    key, value = (
        (each.repeat_interleave(shared, 1) if shared > 1 else each).expand(batch, -1, -1, -1)
        for each in (key, value)
    )
    kind = BY_NAME["float64" if query.dtype == BY_NAME["float64"] else "float32"]
    scores = query.to(kind) @ key.to(kind).mT
    scores = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    sizes, device = scores.shape, query.device
    if score_mod is not None:
        scores = over_all(score_mod, scores, sizes=sizes, device=device)
    if block_mask is not None:
        allowed = over_all(block_mask.mask_mod, sizes=sizes, device=device)
        scores = T["where"](allowed, scores, -math.inf)
    # A query that may look nowhere gets zeros, and sends no gradient.
    nowhere = (scores == -math.inf).all(-1, keepdim=True)
    safe = T["where"](nowhere, 0.0, scores)
    weights = T["where"](nowhere, 0.0, safe.softmax(-1))
    out = weights.to(query.dtype) @ value.to(query.dtype)
    wanted = return_aux or AuxRequest(lse=return_lse)
    lse = None
    if wanted.lse and nowhere.numel():
        lse = T["where"](nowhere[..., 0], -math.inf, safe.logsumexp(-1))
    if return_aux is None:
        return (out, lse) if return_lse else out
    return out, AuxOutput(lse, scores.amax(-1) if wanted.max_scores else None)


def _tell_of_return_aux() -> None:
    global _told
    if not _told:
        _told = True
        warn("return_lse is deprecated: use return_aux=AuxRequest(lse=True) instead.", FutureWarning)


def _check_tensors(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool, block_mask: Any) -> None:
    every = (query, key, value)
    if len({each.device for each in every}) > 1:
        devices = ", ".join(str(each.device) for each in every)
        raise ValueError(f"Expected query, key, and value to have the same device type, but got {devices}.")
    if any(each.dim() < 2 for each in every):
        dims = ", ".join(str(each.dim()) for each in every)
        raise ValueError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but they have {dims}."
        )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.shape[-1]} and E={key.shape[-1]}."
        )
    if any(each.dim() != 4 for each in every):
        shapes = ", ".join(str(list(each.shape)) for each in every)
        raise NotImplementedError(
            f"NYI: query, key, and value must be 4D tensors, (batch, heads, length, size): they are {shapes}"
        )
    heads, own_heads = query.shape[1], key.shape[1]
    if not enable_gqa and heads != own_heads:
        raise ValueError(
            "Expect query and key/value to have the same number of heads but got "
            f"Hq={heads} and Hkv={own_heads}. Try setting enable_gqa=True for GQA."
        )
    if enable_gqa and heads % own_heads:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={heads} and Hkv={own_heads}."
        )
    batch, own_batch = query.shape[0], key.shape[0]
    if batch != own_batch and (block_mask is None or block_mask.kv_num_blocks.shape[0] != batch):
        of_mask = None if block_mask is None else block_mask.kv_num_blocks.shape[0]
        raise ValueError(
            "Expect query and key/value to have the same batch size, or block_mask and query to have it, but "
            f"got Bq={batch}, Bkv={own_batch}, B_block_mask={of_mask}."
        )


def _check_mask(block_mask: BlockMask, query: Tensor, key: Tensor) -> None:
    if block_mask.mask_mod is _sliced_mask_mod_error:
        raise RuntimeError(
            "Cannot use mask_mod from a sliced BlockMask: give it a mask_mod for its own indices first"
        )
    made, given = block_mask.shape[-2:], (query.shape[-2], key.shape[-2])
    if made != given:
        smaller = made[0] < given[0] or made[1] < given[1]
        what_to_do = (
            "As the block mask was created for a smaller length than you're using it for, you likely need to "
            "create a new block mask."
            if smaller
            else "As the block mask was created for a larger length than you're using it for, you can either "
            "create a new block mask with the correct length, or crop it by block_mask._adjust(q_len, kv)."
        )
        raise ValueError(
            f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={given[0]} and "
            f"kv_len={given[1]}. {what_to_do}"
        )
    if query.device != block_mask.kv_num_blocks.device:
        raise RuntimeError(
            "Expect q/k/v and block_mask to be on the same device but got "
            f"{query.device} and {block_mask.kv_num_blocks.device}."
        )


def _check_options(options: dict[str, Any]) -> None:
    backends = ("AUTO", "TRITON", "FLASH", "TRITON_DECODE")
    if "BACKEND" in options and options.get("FORCE_USE_FLEX_ATTENTION"):
        raise RuntimeError(
            "BACKEND cannot be combined with legacy FORCE_USE_FLEX_ATTENTION: give BACKEND alone."
        )
    if options.get("BACKEND", "AUTO") not in backends:
        raise ValueError(f"Invalid BACKEND value '{options['BACKEND']}'. Must be one of {backends}")
