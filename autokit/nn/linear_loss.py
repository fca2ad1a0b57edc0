"""The last linear layer and the cross entropy of its logits as one loss."""

from __future__ import annotations

import math
from typing import Any

from autokit.nn import functional
from autokit.nn.linear import Linear
from autokit.nn.loss import _WeightedLoss
from autokit.tensor import Tensor


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of the logits that a linear layer of its own makes of the input.

    Parameters
    ----------
    in_features, num_classes : int
        The width of the input, and how many classes there are.
    out_features : tuple of int
        Further dimensions of the logits, each place of which has a class of its own.
    bias : bool
        Whether the linear layer has one.
    weight, reduction, ignore_index, label_smoothing
        As for :class:`CrossEntropyLoss`.
    options : None
        PyTorch computes in chunks by it, to save memory, which is not done here.

    Examples
    --------
    >>> import autokit as torch
    >>> loss = LinearCrossEntropyLoss(5, 3)
    >>> loss(torch.ones(2, 5), torch.tensor([0, 2])).shape
    torch.Size([])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: None = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if label_smoothing < 0 or label_smoothing > 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See :func:`~autokit.nn.functional.linear_cross_entropy`."""
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return functional.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
