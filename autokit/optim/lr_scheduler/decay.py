"""Learning rates that fall, or warm up, from epoch to epoch: by a factor, or by any function of the epoch."""

from __future__ import annotations

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


class ConstantLR(FactorScheduler):
    """The learning rate times ``factor`` for the first ``total_iters`` epochs, then as it was.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    factor : float
        From 0 to 1.
    total_iters : int
        For how many epochs.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"factor must be in [0, 1], got {factor}")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1


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


class PolynomialLR(FactorScheduler):
    r"""The learning rate falls to 0 as :math:`(1 - \text{epoch} / \text{total\_iters})^\text{power}`.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    total_iters : int
        After how many epochs it is 0.
    power : float
        1 for a straight line.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return (left / before) ** self.power


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
