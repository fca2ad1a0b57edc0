"""How far apart, or how much alike, vectors are."""

from __future__ import annotations

from autokit.nn import functional
from autokit.nn.module import Module
from autokit.tensor import Tensor


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along ``dim``; 1 where they point the same way."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.cosine_similarity`."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The ``p``-norm of the difference of each pair of vectors."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.pairwise_distance`."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
