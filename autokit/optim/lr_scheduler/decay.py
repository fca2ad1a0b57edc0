"""Schedulers under which the learning rate falls, or rises at first as a warm-up, from epoch to epoch.

It is multiplied by factors, follows a cosine, or is any function of the epoch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from autokit.optim.lr_scheduler.scheduler import FactorScheduler, LRScheduler, for_each_group
from autokit.optim.optimizer import Optimizer


class StepLR(FactorScheduler):
    """Every ``step_size`` epochs, the learning rate times ``gamma``.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    step_size : int
        How many epochs pass from one fall to the next.
    gamma : float
        The factor.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1 if self.last_epoch == 0 or self.last_epoch % self.step_size else self.gamma


class MultiStepLR(FactorScheduler):
    """At each of some epochs, the learning rate times ``gamma``.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    milestones : iterable of int
        The epochs; one that comes twice counts twice.
    gamma : float
        The factor.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones: Counter[int] = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        times = self.milestones.get(self.last_epoch, 0)
        return self.gamma**times if times else 1


class LinearLR(FactorScheduler):
    """The learning rate times a factor that goes evenly from ``start_factor`` to ``end_factor``: a warm-up.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    start_factor : float
        The first factor, above 0 and up to 1.
    end_factor : float
        The last factor, from 0 to 1.
    total_iters : int
        After how many epochs the last factor is reached.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not (0 < start_factor <= 1 and 0 <= end_factor <= 1):
            raise ValueError(
                f"start_factor must be in (0, 1], got {start_factor}; end_factor in [0, 1], got {end_factor}"
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)


class ExponentialLR(FactorScheduler):
    """At each epoch, the learning rate times ``gamma``.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    gamma : float
        The factor.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1 if self._is_initial else self.gamma


class LambdaLR(LRScheduler):
    """The first learning rate times a function of the epoch.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    lr_lambda : callable, or list of callables
        The factor of an epoch; or one function for each group.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = for_each_group("lr_lambda", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The first learning rates, each times its function of the epoch."""
        return [
            base * function(self.last_epoch)
            for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


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
        """The present learning rates, moved on along the cosine by one epoch."""
        present = self._rates()
        if self._is_initial:
            return present
        before, height = [1 + math.cos(math.pi * (self.last_epoch - back) / self.T_max) for back in (1, 0)]
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # no factor leads up from 0
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
        """The learning rates for the present epoch of the present fall."""
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
        """Find the fall that ``epoch`` is in, and how many epochs of it are over."""
        self.T_i, self.T_cur = self.T_0, epoch
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
