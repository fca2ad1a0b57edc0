"""A learning rate that falls when the training makes no more progress."""

from __future__ import annotations

import math
import warnings
from typing import Any

from autokit.optim.lr_scheduler.scheduler import (
    EPOCH_IS_DEPRECATED,
    LRScheduler,
    check_optimizer,
    rates,
    set_rate,
)
from autokit.optim.optimizer import Optimizer, number_of


class ReduceLROnPlateau(LRScheduler):
    """The learning rate times ``factor`` each time that a measure has not got better for some epochs.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set; call ``step(loss)`` after each epoch.
    mode : {"min", "max"}
        Whether lower is better, or higher.
    factor : float
        Below 1.
    patience : int
        After how many epochs without progress, if one more brings none, the rate falls.
    threshold : float
        How much better counts as better.
    threshold_mode : {"rel", "abs"}
        As a part of the best measure, or as a difference to it.
    cooldown : int
        For how many epochs after a fall nothing is counted.
    min_lr : float or list
        The lowest rate, for all groups or for each.
    eps : float
        A rate that would fall by no more than this stays.

    Examples
    --------
    >>> import autokit as torch
    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ReduceLROnPlateau(optimizer, patience=1)
    >>> for loss in [3.0, 2.0, 2.0, 2.0]:
    ...     scheduler.step(loss)
    ...     print(scheduler.get_last_lr())
    [1.0]
    [1.0]
    [1.0]
    [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        check_optimizer(optimizer)
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != groups:
                raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * groups
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = rates(optimizer, "lr")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _reset(self) -> None:
        """Forget the best measure and what was counted."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether the last fall was so shortly ago that nothing is counted."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Note the measure of one more epoch, and let the rates fall where there was no progress too long."""
        measure = float(number_of(metrics))
        if epoch is not None:
            warnings.warn(EPOCH_IS_DEPRECATED, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(measure, self.best):
            self.best = measure
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = rates(self.optimizer, "lr")

    def _is_better(self, measure: float, best: float) -> bool:
        lower = self.mode == "min"
        if self.threshold_mode == "rel":
            bound = best * (1.0 - self.threshold if lower else 1.0 + self.threshold)
        else:
            bound = best - self.threshold if lower else best + self.threshold
        return measure < bound if lower else measure > bound

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param "
                    "group being added to the optimizer. Please modify the `min_lrs` field to match the "
                    "length of the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, lowest in zip(groups, self.min_lrs, strict=True):
            before = float(number_of(group["lr"]))
            after = max(before * self.factor, lowest)
            if before - after > self.eps:
                set_rate(group, "lr", after)
