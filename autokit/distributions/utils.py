"""What distributions of one's own use, under PyTorch's name of the file."""

from __future__ import annotations

from autokit.distributions.distribution import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    probs_to_logits,
)
from autokit.missing import names_of
from autokit.nn import functional as F
from autokit.tensor import Tensor

__getattr__ = names_of("torch.distributions.utils")

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits"]


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Chances of yes from log-odds, or chances that sum to 1 from their logarithms."""
    return F.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)
