"""Learning rates that fall along half a wave of the cosine."""

from __future__ import annotations

import math
from typing import Any

from autokit.optim.lr_scheduler.scheduler import LRScheduler, rates
from autokit.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    r"""The learning rate falls along a cosine, slowly at the start and at the end.

    .. math::
        \eta_t = \eta_{\min} + \tfrac{1}{2} (\eta_0 - \eta_{\min}) (1 + \cos(\pi\, t / T_{\max}))

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    T_max : int
        After how many epochs the lowest rate is reached; after that many more, it is the first again.
    eta_min : float
        The lowest rate.
    last_epoch : int
        See :class:`LRScheduler`.

    References
    ----------
    I. Loshchilov and F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The present learning rates, carried on along the cosine."""
        self._warn_outside_of_step()
        if self._is_initial:
            return rates(self.optimizer, "lr")
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        present = rates(self.optimizer, "lr")
        if (self.last_epoch - 1 - self.T_max) % (
            2 * self.T_max
        ) == 0:  # up from the lowest, which is no factor
            first = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                lr + (base - self.eta_min) * first for lr, base in zip(present, self.base_lrs, strict=True)
            ]
        height, before = self._height(self.last_epoch), self._height(self.last_epoch - 1)
        return [height / before * (lr - self.eta_min) + self.eta_min for lr in present]

    def _height(self, epoch: float) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _get_closed_form_lr(self) -> list[Any]:
        height = self._height(self.last_epoch)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""The learning rate falls along a cosine, and starts anew each time that it has reached the lowest.

    .. math::
        \eta_t = \eta_{\min} + \tfrac{1}{2} (\eta_0 - \eta_{\min}) (1 + \cos(\pi\, T_{\text{cur}} / T_i))

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    T_0 : int
        How many epochs the first fall takes.
    T_mult : int
        How many times longer each fall takes than the one before it.
    eta_min : float
        The lowest rate.
    last_epoch : int
        See :class:`LRScheduler`.

    References
    ----------
    I. Loshchilov and F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates for the place in the present fall."""
        self._warn_outside_of_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch; or to ``epoch``, which may be a fraction: once for each batch."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._find(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            values = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(values)

    def _find(self, epoch: float) -> None:
        """Find the fall that ``epoch`` is in, and the place in it."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            falls = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**falls - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**falls
