"""A scheduler under which the learning rate falls when the training makes no more progress."""

from __future__ import annotations

import math
from typing import Any

from autokit.optim.lr_scheduler.scheduler import LRScheduler, for_each_group
from autokit.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Multiply the learning rate by ``factor`` whenever a measure has not got better for some epochs.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set; call ``step(loss)`` after each epoch.
    mode : {"min", "max"}
        Whether lower is better, or higher.
    factor : float
        Below 1.
    patience : int
        How many epochs without progress are allowed; after one more the rate falls.
    threshold : float
        How much better counts as better.
    threshold_mode : {"rel", "abs"}
        Whether ``threshold`` is a fraction of the best measure, or a difference from it.
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
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.min_lrs = for_each_group("min_lr", optimizer, min_lr)
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.eps = eps
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0
        self.last_epoch = 0
        self._last_lr = self._rates()

    @property
    def in_cooldown(self) -> bool:
        """Whether the last fall was so short a time ago that no epoch is counted."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any) -> None:  # type: ignore[override]
        """Note the measure of one more epoch, and lower the rates if there was no progress for too long."""
        measure = float(metrics)
        self.last_epoch += 1
        if self._is_better(measure):
            self.best = measure
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._set([self._lowered(rate, lowest) for rate, lowest in zip(self._rates(), self.min_lrs)])
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._rates()

    def _is_better(self, measure: float) -> bool:
        margin = -self.threshold if self.mode == "min" else self.threshold
        bound = self.best * (1 + margin) if self.threshold_mode == "rel" else self.best + margin
        return measure < bound if self.mode == "min" else measure > bound

    def _lowered(self, rate: Any, lowest: float) -> Any:
        lower = max(float(rate) * self.factor, lowest)
        return lower if float(rate) - lower > self.eps else rate
