"""What distributions of one's own use, under PyTorch's name of the file."""

from __future__ import annotations

from typing import Any

from autokit.distributions.distribution import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    probs_to_logits,
)
from autokit.distributions.distribution import sum_rightmost as _sum_rightmost
from autokit.missing import names_of
from autokit.nn import functional as F
from autokit.ops.draws import normal
from autokit.ops.filled import ones, zeros
from autokit.tensor import Tensor

__getattr__ = names_of("torch.distributions.utils")

__all__ = [
    "_standard_normal",
    "_sum_rightmost",
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
]


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Chances of yes from log-odds, or chances that sum to 1 from their logarithms."""
    return F.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Numbers of mean 0 and deviation 1, as distributions of one's own draw them for ``rsample``."""
    return normal(zeros(shape, dtype=dtype, device=device), ones(shape, dtype=dtype, device=device))
