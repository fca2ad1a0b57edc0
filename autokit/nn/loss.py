"""Losses as modules: they hold the settings of the functions of the same names."""

from __future__ import annotations

from autokit.nn import functional
from autokit.nn.functional.loss import chosen_reduction
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
        return functional.cross_entropy(
            input,
            target,
            self._buffers["weight"],
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


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
