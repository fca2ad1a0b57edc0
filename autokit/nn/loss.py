"""Losses as modules: they hold the settings of the functions of the same names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from autokit.nn import functional
from autokit.nn.distance import PairwiseDistance
from autokit.nn.functional.loss import cross_entropy
from autokit.nn.functional.loss_checks import chosen_reduction
from autokit.nn.module import Module
from autokit.tensor import Tensor


class _Loss(Module):
    """A loss: ``reduction`` is ``"mean"``, ``"sum"`` or ``"none"``."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = chosen_reduction(reduction, size_average, reduce)


class _WeightedLoss(_Loss):
    """A loss with a factor for each class or element."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _OfPairs(_Loss):
    """A loss of predictions and targets: a function of :mod:`autokit.nn.functional` and its settings.

    Attributes
    ----------
    function : callable
        What ``forward`` calls.
    settings : tuple of str
        The attributes that it takes besides ``reduction``.
    """

    function: ClassVar[Callable[..., Tensor]]
    settings: ClassVar[tuple[str, ...]] = ()

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Call the function of the same name in :mod:`autokit.nn.functional`."""
        settings = {name: getattr(self, name) for name in self.settings}
        return self.function(input, target, reduction=self.reduction, **settings)


class MSELoss(_Loss):
    """The mean of the squared differences.

    >>> import autokit as torch
    >>> MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.mse_loss`."""
        return functional.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The mean of the absolute differences."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.l1_loss`."""
        return functional.l1_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """The negative log-likelihood of classes under log-probabilities."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.nll_loss`."""
        return functional.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """The older name of :class:`NLLLoss`, for images."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


class CrossEntropyLoss(_WeightedLoss):
    """How surprising the classes are, under the probabilities that the logits stand for.

    >>> import autokit as torch
    >>> CrossEntropyLoss()(torch.tensor([[2.0, 0.0]]), torch.tensor([0]))
    tensor(0.1269)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.cross_entropy`."""
        own = self.__dict__  # where attributes are found sooner
        weight, ignored = own["_buffers"]["weight"], own["ignore_index"]
        reduction, smoothing = own["reduction"], own["label_smoothing"]
        try:
            return cross_entropy(input, target, weight, None, ignored, None, reduction, smoothing)
        except (AttributeError, TypeError):
            # The package's function looks at all types first, and says which argument is wrong.
            return functional.cross_entropy(input, target, weight, None, ignored, None, reduction, smoothing)


class BCELoss(_WeightedLoss):
    """How surprising yes-or-no targets are, under probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.binary_cross_entropy`."""
        return functional.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """:class:`BCELoss` after a sigmoid, in one step that cannot overflow."""

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.binary_cross_entropy_with_logits`."""
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


# ---------------------------------------------------------------- differences, bent


class SmoothL1Loss(_OfPairs):
    """Half the squared difference where that is below ``beta``, over ``beta``; else the absolute one."""

    function = staticmethod(functional.smooth_l1_loss)
    settings = ("beta",)

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_OfPairs):
    """Half the squared difference where that is below ``delta``, else a line that goes on from there."""

    function = staticmethod(functional.huber_loss)
    settings = ("delta",)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta


# ---------------------------------------------------------------- likelihoods


class KLDivLoss(_OfPairs):
    """How far the log-probabilities of ``input`` are from ``target``: ``target · (log target - input)``.

    ``reduction="batchmean"`` gives the divergence per sample; ``log_target``
    says that the target is logarithms too.
    """

    function = staticmethod(functional.kl_div)
    settings = ("log_target",)

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        by_sample = reduction == "batchmean"  # which this loss alone knows
        super().__init__(size_average, reduce, "mean" if by_sample else reduction)
        if by_sample:
            self.reduction = reduction
        self.log_target = log_target


class PoissonNLLLoss(_Loss):
    """The negative log-likelihood of counts under a Poisson distribution with the rate ``exp(input)``."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.poisson_nll_loss`."""
        return functional.poisson_nll_loss(
            log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """The negative log-likelihood of targets under normal distributions of given mean and variance."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """See :func:`~autokit.nn.functional.gaussian_nll_loss`."""
        return functional.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class CTCLoss(_Loss):
    """The negative log-likelihood of shorter sequences, over all ways to stretch them to the input's length.

    Parameters
    ----------
    blank : int
        The class that stands for nothing.
    reduction : str
        ``"none"``, ``"sum"``, or ``"mean"`` of the losses divided by the targets' lengths.
    zero_infinity : bool
        Count as 0 where the input is too short for its target.

    References
    ----------
    A. Graves et al., "Connectionist Temporal Classification", ICML 2006.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        """See :func:`~autokit.nn.functional.ctc_loss`."""
        return functional.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )


# ---------------------------------------------------------------- margins


class SoftMarginLoss(_OfPairs):
    """``log(1 + exp(-target · input))``, for targets of 1 and -1."""

    function = staticmethod(functional.soft_margin_loss)


class HingeEmbeddingLoss(_OfPairs):
    """The input itself where the target is 1; where it is -1, what the input lacks of ``margin``."""

    function = staticmethod(functional.hinge_embedding_loss)
    settings = ("margin",)

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MultiLabelMarginLoss(_OfPairs):
    """What the score of each right class lacks of a lead of 1 over each wrong one."""

    function = staticmethod(functional.multilabel_margin_loss)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over the classes of :class:`BCEWithLogitsLoss`, for samples of several classes each."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.multilabel_soft_margin_loss`."""
        return functional.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiMarginLoss(_WeightedLoss):
    """What the score of the right class lacks of a lead of ``margin`` over each other, to the power ``p``."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"only p == 1 and p == 2 supported, not {p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.multi_margin_loss`."""
        return functional.multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class MarginRankingLoss(HingeEmbeddingLoss):
    """What the first input lacks of a lead of ``margin`` over the second; a target of -1 swaps them."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        """See :func:`~autokit.nn.functional.margin_ranking_loss`."""
        return functional.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class CosineEmbeddingLoss(MarginRankingLoss):
    """How far vectors are from pointing the same way, or, where the target is -1, another way."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        """See :func:`~autokit.nn.functional.cosine_embedding_loss`."""
        return functional.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """By how much less than ``margin`` the anchor is nearer to the positive than to the negative.

    Distances are ``p``-norms; ``swap`` takes the negative's distance from the
    positive where that is smaller.

    References
    ----------
    V. Balntas et al., "Learning Shallow Convolutional Feature Descriptors with
    Triplet Losses", BMVC 2016.
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        _require_margin("TripletMarginLoss", margin)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.triplet_margin_loss`."""
        return functional.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """:class:`TripletMarginLoss` with a distance of one's own."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        _require_margin("TripletMarginWithDistanceLoss", margin)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.triplet_margin_with_distance_loss`."""
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


def _require_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
