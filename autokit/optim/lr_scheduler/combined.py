"""Several schedulers of one optimizer: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from autokit.optim.lr_scheduler.plateau import ReduceLROnPlateau
from autokit.optim.lr_scheduler.scheduler import LRScheduler, rates, set_rate
from autokit.optim.optimizer import Optimizer


class _OfSchedulers(LRScheduler):
    """Base of the schedulers that are made of others."""

    _schedulers: Sequence[LRScheduler]

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> None:
        name = type(self).__name__
        for place, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {place} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                    f"kwargs to be specified when calling `step`, but got one at index {place} in the "
                    "given schedulers sequence."
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {place} has {scheduler.optimizer}, which is "
                    f"different from {type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows, except for the optimizer, with the states of its schedulers."""
        states = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": states}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave."""
        schedulers = self._schedulers
        super().load_state_dict(state_dict)
        self._schedulers = schedulers
        for scheduler, state in zip(schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(_OfSchedulers):
    """One scheduler up to the first milestone, the next up to the second, and so on: a warm-up, then a decay.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer of all of them.
    schedulers : list of LRScheduler
        In their order.
    milestones : list of int
        At which epochs the next one takes over: one less than there are schedulers.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number "
                f"of milestone points, but got number of schedulers {len(schedulers)} and the number of "
                f"milestones to be equal to {len(milestones)}"
            )
        self._schedulers: list[LRScheduler] = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each scheduler made its first step when it was made; only the first of them may have.
        for group in optimizer.param_groups:
            set_rate(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Count the first steps of the schedulers back, also of those inside of others."""
        scheduler = self if sched is None else sched
        if hasattr(scheduler, "_schedulers"):
            for inner in scheduler._schedulers:
                self.recursive_undo(inner)
        elif hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch, with the scheduler whose turn it is."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_OfSchedulers):
    """All schedulers at each epoch, each changing the rates that the one before it left.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
        In their order.
    optimizer : Optimizer, optional
        Their optimizer.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = rates(optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch, with all of them."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = rates(self.optimizer, "lr")
