"""Learning rates that fall along half a wave of the cosine."""

from __future__ import annotations

import math
from typing import Any

from autokit.optim.lr_scheduler.scheduler import LRScheduler
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
        present = self._rates()
        if self._is_initial:
            return present
        before, height = [1 + math.cos(math.pi * (self.last_epoch - back) / self.T_max) for back in (1, 0)]
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the lowest, no factor leads up
            return [
                lr + (base - self.eta_min) * height / 2
                for lr, base in zip(present, self.base_lrs, strict=True)
            ]
        return [height / before * (lr - self.eta_min) + self.eta_min for lr in present]


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
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if value < 1 or not isinstance(value, int):
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self._find(last_epoch + 1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates for the place in the present fall."""
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch; or to ``epoch``, which may be a fraction: once for each batch."""
        if epoch is None:
            epoch = self.last_epoch + 1
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self._find(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())

    def _find(self, epoch: float) -> None:
        """Find the fall that ``epoch`` is in, and the place in it."""
        self.T_i, self.T_cur = self.T_0, epoch
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
