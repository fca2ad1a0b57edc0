"""Losses, distances and similarities as modules, which keep the settings of the function that they call."""

from __future__ import annotations

import warnings
from typing import Any

from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn.layer import FunctionLayer

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelSoftMarginLoss",
    "NLLLoss",
    "PairwiseDistance",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
]


class _Loss(FunctionLayer):
    """A loss: ``reduction`` is ``"mean"``, ``"sum"``, or ``"none"`` for the loss of each element."""

    text = ""

    def __init__(
        self, *args: Any, size_average: bool | None = None, reduce: bool | None = None, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        if size_average is None and reduce is None:
            return
        self.reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{self.reduction}' instead.",
            stacklevel=2,
        )


class MSELoss(_Loss):
    """The mean of the squared differences.

    >>> import autokit as torch
    >>> MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """

    function = staticmethod(F.mse_loss)
    reduction: str = "mean"


class L1Loss(_Loss):
    """The mean of the absolute differences."""

    function = staticmethod(F.l1_loss)
    reduction: str = "mean"


class SmoothL1Loss(_Loss):
    """Half the squared difference where that is below ``beta``, over ``beta``; else the absolute one."""

    function = staticmethod(F.smooth_l1_loss)
    reduction: str = "mean"
    beta: float = 1.0


class HuberLoss(_Loss):
    """Half the squared difference where that is below ``delta``, else a line that goes on from there."""

    function = staticmethod(F.huber_loss)
    reduction: str = "mean"
    delta: float = 1.0


# ---------------------------------------------------------------- classes


class NLLLoss(_Loss):
    """The negative log-likelihood of classes under log-probabilities.

    ``weight`` is a factor for each class; targets equal to ``ignore_index`` do not count.
    """

    function = staticmethod(F.nll_loss)
    weight: Tensor | None = None
    ignore_index: int = -100
    reduction: str = "mean"


class CrossEntropyLoss(_Loss):
    """The cross entropy: the negative log-probability of the target class, by the softmax of the logits.

    ``weight`` is a factor for each class; targets equal to ``ignore_index`` do not count;
    ``label_smoothing`` is the part of each target that is spread over all classes.

    >>> import autokit as torch
    >>> CrossEntropyLoss()(torch.tensor([[2.0, 0.0]]), torch.tensor([0]))
    tensor(0.1269)
    """

    function = staticmethod(F.cross_entropy)
    weight: Tensor | None = None
    ignore_index: int = -100
    reduction: str = "mean"
    label_smoothing: float = 0.0


class BCELoss(_Loss):
    """The binary cross entropy: the negative logarithm of the probability of a target 0 or 1."""

    function = staticmethod(F.binary_cross_entropy)
    weight: Tensor | None = None
    reduction: str = "mean"


class BCEWithLogitsLoss(_Loss):
    """:class:`BCELoss` of a sigmoid, in one step that cannot overflow.

    ``pos_weight`` is a factor for the targets that are 1, as where these are rare.
    """

    function = staticmethod(F.binary_cross_entropy_with_logits)
    weight: Tensor | None = None
    reduction: str = "mean"
    pos_weight: Tensor | None = None


# ---------------------------------------------------------------- likelihoods


class KLDivLoss(_Loss):
    """How far the log-probabilities of ``input`` are from ``target``: ``target · (log target - input)``.

    ``reduction="batchmean"`` gives the divergence per sample; ``log_target``
    says that the target is logarithms too.
    """

    function = staticmethod(F.kl_div)
    reduction: str = "mean"
    log_target: bool = False


class PoissonNLLLoss(_Loss):
    """The negative log-likelihood of counts under a Poisson distribution with the rate ``exp(input)``."""

    function = staticmethod(F.poisson_nll_loss)
    log_input: bool = True
    full: bool = False
    eps: float = 1e-8
    reduction: str = "mean"


class GaussianNLLLoss(_Loss):
    """The negative log-likelihood of targets under normal distributions of given mean and variance."""

    function = staticmethod(F.gaussian_nll_loss)
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


# ---------------------------------------------------------------- margins


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-target · input))``, for targets of 1 and -1."""

    function = staticmethod(F.soft_margin_loss)
    reduction: str = "mean"


class HingeEmbeddingLoss(_Loss):
    """The input itself where the target is 1; where it is -1, ``max(margin - input, 0)``."""

    function = staticmethod(F.hinge_embedding_loss)
    margin: float = 1.0
    reduction: str = "mean"


class MultiLabelSoftMarginLoss(_Loss):
    """The mean over the classes of :class:`BCEWithLogitsLoss`, for samples of several classes each."""

    function = staticmethod(F.multilabel_soft_margin_loss)
    weight: Tensor | None = None
    reduction: str = "mean"


class MarginRankingLoss(_Loss):
    """``max(margin - target · (input1 - input2), 0)``: the first is to be larger for a target of 1."""

    function = staticmethod(F.margin_ranking_loss)
    margin: float = 0.0
    reduction: str = "mean"


class CosineEmbeddingLoss(_Loss):
    """One minus the cosine of two vectors where the target is 1; where it is -1, ``max(cos - margin, 0)``."""

    function = staticmethod(F.cosine_embedding_loss)
    margin: float = 0.0
    reduction: str = "mean"


class TripletMarginLoss(_Loss):
    """``max(d(anchor, positive) - d(anchor, negative) + margin, 0)``.

    Distances are ``p``-norms; ``swap`` takes the negative's distance from the
    positive where that is smaller.

    References
    ----------
    V. Balntas et al., "Learning Shallow Convolutional Feature Descriptors with
    Triplet Losses", BMVC 2016.
    """

    function = staticmethod(F.triplet_margin_loss)
    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    reduction: str = "mean"


# ---------------------------------------------------------------- distances and similarities


class CosineSimilarity(FunctionLayer):
    """The cosine of the angle between vectors along ``dim``; 1 where they point the same way."""

    function = staticmethod(F.cosine_similarity)
    text = ""
    dim: int = 1
    eps: float = 1e-8


class PairwiseDistance(FunctionLayer):
    """The ``p``-norm of the difference of each pair of vectors."""

    function = staticmethod(F.pairwise_distance)
    text = ""
    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False
