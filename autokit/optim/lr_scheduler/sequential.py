"""A scheduler that runs several others one after the other: a warm-up, then a decay, for example."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from autokit.optim.lr_scheduler.plateau import ReduceLROnPlateau
from autokit.optim.lr_scheduler.scheduler import LRScheduler
from autokit.optim.optimizer import Optimizer


class SequentialLR(LRScheduler):
    """One scheduler up to the first milestone, the next up to the second, and so on.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer of all of them.
    schedulers : list of LRScheduler
        In their order.
    milestones : list of int
        At which epochs the next one takes over: one less than there are schedulers.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.optim.lr_scheduler import ExponentialLR, LinearLR
    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> parts = [LinearLR(optimizer, 0.5, total_iters=2), ExponentialLR(optimizer, 0.5)]
    >>> scheduler = SequentialLR(optimizer, parts, milestones=[3])
    >>> for _ in range(5):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [0.5]
    [0.75]
    [1.0]
    [1.0]
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int]) -> None:
        if len(milestones) != len(schedulers) - 1:
            counts = f"{len(schedulers)} schedulers and {len(milestones)} milestones"
            raise ValueError(f"SequentialLR takes one milestone less than schedulers, but got {counts}")
        for place, scheduler in enumerate(schedulers):
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    "SequentialLR does not support `ReduceLROnPlateau`, whose step() needs the loss"
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"SequentialLR expects schedulers of the same optimizer, but number {place} has another"
                )
        self.optimizer = optimizer
        self._schedulers = schedulers
        self._milestones = milestones
        self._start()

    def _start(self, epoch: int = 0) -> None:
        self.last_epoch = epoch
        self._hand_over(bisect_right(self._milestones, epoch))

    def _hand_over(self, turn: int) -> None:
        """Start the scheduler number ``turn``, from the first learning rates."""
        self._set(self._rates("initial_lr"))
        self._schedulers[turn]._start()
        self._last_lr = self._rates()

    def step(self) -> None:
        """Go on to the next epoch, with the scheduler whose turn it is."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            self._hand_over(turn)
        else:
            self._schedulers[turn].step()
        self._last_lr = self._rates()

    def state_dict(self) -> dict[str, Any]:
        """The state of this scheduler, except for the optimizer, with the states of its schedulers."""
        states = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": states}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what :meth:`state_dict` returned."""
        super().load_state_dict(state_dict)
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)
