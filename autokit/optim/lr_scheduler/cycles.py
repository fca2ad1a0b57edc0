"""Schedulers under which the learning rate rises and falls, while the momentum falls and rises."""

from __future__ import annotations

import math
from typing import Any

from autokit.optim.lr_scheduler.scheduler import LRScheduler, for_each_group
from autokit.optim.optimizer import Optimizer


class _WithMomentum(LRScheduler):
    """Base of the schedulers that change the momentum too: the setting ``momentum``, or the first beta."""

    def _begin_momentum(
        self, optimizer: Optimizer, cycle: bool, lowest: Any, highest: Any, last_epoch: int
    ) -> None:
        """Set the bounds of each group's momentum if it is to change, as ``cycle`` says."""
        self.cycle_momentum, self.use_beta1 = cycle, "betas" in optimizer.defaults
        if not cycle:
            return
        if not self.use_beta1 and "momentum" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        tops = for_each_group("max_momentum", optimizer, highest)
        bottoms = for_each_group("base_momentum", optimizer, lowest)
        if last_epoch == -1:
            for group, top, bottom in zip(optimizer.param_groups, tops, bottoms, strict=True):
                self._set_momentum(group, top)
                group["max_momentum"], group["base_momentum"] = top, bottom

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """The learning rate goes evenly up and down between two bounds, step by step, again and again.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set; call ``step()`` after each batch.
    base_lr, max_lr : float or list
        The bounds, for all groups or for each.
    step_size_up, step_size_down : int
        How many steps it takes up and down; as many down as up by default.
    mode : {"triangular", "triangular2", "exp_range"}
        All cycles are equal; each is half as high as the one before; or the height falls by the factor
        ``gamma`` with each step.
    gamma : float
        For ``exp_range``.
    cycle_momentum : bool
        Let the momentum go down while the rate goes up.
    base_momentum, max_momentum : float or list
        Its bounds.
    last_epoch : int
        See :class:`LRScheduler`; it counts batches here.

    References
    ----------
    L. N. Smith, "Cyclical learning rates for training neural networks", WACV 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        *,
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(f"mode must be 'triangular', 'triangular2' or 'exp_range', got {mode!r}")
        lowest = for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, lowest, strict=True):
                group["lr"] = rate
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        self.total_size = step_size_up + (step_size_up if step_size_down is None else step_size_down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma = mode, gamma
        self._begin_momentum(optimizer, cycle_momentum, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def _scale(self, cycle: int) -> float:
        """How high the cycle number ``cycle`` is, from 1."""
        if self.mode == "exp_range":
            return self.gamma**self.last_epoch
        return 1.0 if self.mode == "triangular" else 0.5 ** (cycle - 1)

    def get_lr(self) -> list[Any]:
        """The learning rates for the present point of the cycle; sets the momentum too."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        up = place <= self.step_ratio
        height = place / self.step_ratio if up else (place - 1) / (self.step_ratio - 1)
        height *= self._scale(cycle)
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                bottom, top = group["base_momentum"], group["max_momentum"]
                self._set_momentum(group, top - (top - bottom) * height)
        return [
            bottom + (top - bottom) * height for bottom, top in zip(self.base_lrs, self.max_lrs, strict=True)
        ]


class OneCycleLR(_WithMomentum):
    """One rise of the learning rate to a high one, and one long fall to nearly nothing: "super-convergence".

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set; call ``step()`` after each batch.
    max_lr : float or list
        The highest rate, for all groups or for each.
    total_steps : int, optional
        How many steps there are; or give ``epochs`` and ``steps_per_epoch``.
    epochs, steps_per_epoch : int, optional
        Whose product it is.
    pct_start : float
        The part of the steps that the rise takes, from 0 to 1.
    anneal_strategy : {"cos", "linear"}
        Along a cosine, or evenly.
    cycle_momentum : bool
        Let the momentum go down while the rate goes up.
    base_momentum, max_momentum : float or list
        Its bounds.
    div_factor : float
        The first rate is ``max_lr / div_factor``.
    final_div_factor : float
        The last rate is the first divided by this.
    three_phase : bool
        Fall to the first rate as fast as it rose, and to the last one then.
    last_epoch : int
        See :class:`LRScheduler`; it counts batches here.

    Raises
    ------
    ValueError
        If a setting is out of its range, or there are more than ``total_steps`` steps.

    References
    ----------
    L. N. Smith and N. Topin, "Super-convergence: very fast training of neural networks using large learning
    rates", arXiv:1708.07120, 2018.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        highest = for_each_group("max_lr", optimizer, max_lr)
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self.total_steps = total_steps
        self._phases = self._phases_of(pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self._begin_momentum(optimizer, cycle_momentum, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _phases_of(self, pct_start: float, three_phase: bool) -> list[tuple[float, str, str, str, str]]:
        """For each phase its last step, and the settings of a group between which rate and momentum move."""
        peak = float(pct_start * self.total_steps) - 1
        last = self.total_steps - 1
        high, low = "max_momentum", "base_momentum"
        phases = [(peak, "initial_lr", "max_lr", high, low)]
        if three_phase:
            phases.append((float(2 * pct_start * self.total_steps) - 2, "max_lr", "initial_lr", low, high))
            phases.append((last, "initial_lr", "min_lr", high, high))
        else:
            phases.append((last, "max_lr", "min_lr", low, high))
        return phases

    def get_lr(self) -> list[Any]:
        """The learning rates for the present step of the cycle; sets the momentum too."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        start = 0.0
        for phase in self._phases:
            if step <= phase[0] or phase is self._phases[-1]:
                break
            start = phase[0]
        end, first_lr, last_lr, first_momentum, last_momentum = phase
        done = (step - start) / (end - start)
        found = []
        for group in self.optimizer.param_groups:
            found.append(self._between(group[first_lr], group[last_lr], done))
            if self.cycle_momentum:
                momentum = self._between(group[first_momentum], group[last_momentum], done)
                self._set_momentum(group, momentum)
        return found

    def _between(self, start: Any, end: Any, done: float) -> Any:
        """The value between ``start`` and ``end`` when the fraction ``done`` of the phase is over."""
        if self._anneal_func_type == "linear":
            return (end - start) * done + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)
