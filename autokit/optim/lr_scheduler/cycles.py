"""Learning rates that rise and fall, with the momentum going the other way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autokit.optim.lr_scheduler.scheduler import (
    LRScheduler,
    check_optimizer,
    for_each_group,
    set_rate,
    state_of_function,
)
from autokit.optim.optimizer import Optimizer


class _WithMomentum(LRScheduler):
    """Base of the schedulers that change the momentum too: it is called so, or is the first of the betas."""

    cycle_momentum: bool
    use_beta1: bool

    def _init_momentum(self, lowest: Any, highest: Any, last_epoch: int) -> tuple[list[Any], list[Any]]:
        """Give each group the bounds of its momentum, where it starts anew, and return them."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        tops = for_each_group("max_momentum", optimizer, highest)
        bottoms = for_each_group("base_momentum", optimizer, lowest)
        if last_epoch == -1:
            for group, top, bottom in zip(optimizer.param_groups, tops, bottoms, strict=True):
                self._set_momentum(group, top)
                group["max_momentum"], group["base_momentum"] = top, bottom
        return bottoms, tops

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
        All cycles alike; each half as high as the one before; or lower by ``gamma`` with each step.
    gamma : float
        For ``exp_range``.
    scale_fn : callable, optional
        In place of ``mode``: the height by the number of the cycle, from 1, or of the step.
    scale_mode : {"cycle", "iterations"}
        What ``scale_fn`` is given.
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
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        lowest = for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, lowest, strict=True):
                set_rate(group, "lr", rate)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            bounds = self._init_momentum(base_momentum, max_momentum, last_epoch)
            self.base_momentums, self.max_momentums = bounds
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """How high the cycle, or the step, number ``x`` is."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return self.gamma**x
        return 1.0 if self.mode == "triangular" else 1 / 2.0 ** (x - 1)

    def get_lr(self) -> list[Any]:
        """The learning rates for the place in the cycle; sets the momentum too."""
        self._warn_outside_of_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        up = place <= self.step_ratio
        height = place / self.step_ratio if up else (place - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, bottom, top in bounds:
                self._set_momentum(group, top - (top - bottom) * height * scale)
        return [
            bottom + (top - bottom) * height * scale
            for bottom, top in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows, except for the optimizer and a function that is no object."""
        function = self._scale_fn_custom
        return {
            **super().state_dict(),
            "_scale_fn_custom": None if function is None else state_of_function(function),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; the function itself stays."""
        function = self._scale_fn_custom
        super().load_state_dict(state_dict)
        self._scale_fn_custom = function
        if state_dict["_scale_fn_custom"] is not None:
            vars(function).update(state_dict["_scale_fn_custom"])


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
        If a setting is out of its range, or more than ``total_steps`` steps are made.

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
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if total_steps is not None:
            _check_positive("total_steps", total_steps)
            self.total_steps = total_steps
        elif epochs is not None and steps_per_epoch is not None:
            _check_positive("epochs", epochs)
            _check_positive("steps_per_epoch", steps_per_epoch)
            self.total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self._schedule_phases = self._phases(pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        check_annealing(anneal_strategy)
        self._anneal_func_type = anneal_strategy
        highest = for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._init_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _phases(self, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
        """For each phase its last step, and between which settings of a group it goes."""

        def phase(end: float, rates: tuple[str, str], momenta: tuple[str, str]) -> dict[str, Any]:
            return {
                "end_step": end,
                "start_lr": rates[0],
                "end_lr": rates[1],
                "start_momentum": momenta[0],
                "end_momentum": momenta[1],
            }

        peak, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        high, low = "max_momentum", "base_momentum"
        rise = phase(peak, ("initial_lr", "max_lr"), (high, low))
        if not three_phase:
            return [rise, phase(last, ("max_lr", "min_lr"), (low, high))]
        down_again = float(2 * pct_start * self.total_steps) - 2
        return [
            rise,
            phase(down_again, ("max_lr", "initial_lr"), (low, high)),
            phase(last, ("initial_lr", "min_lr"), (high, high)),
        ]

    def get_lr(self) -> list[Any]:
        """The learning rates for the place in the cycle; sets the momentum too."""
        self._warn_outside_of_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"]:
                break
            if phase is not self._schedule_phases[-1]:
                start = phase["end_step"]
        done = (step - start) / (phase["end_step"] - start)
        anneal = along_cosine if self._anneal_func_type == "cos" else along_line
        found = []
        for group in self.optimizer.param_groups:
            found.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], done))
            if self.cycle_momentum:
                between = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, anneal(*between, done))
        return found


def along_cosine(start: Any, end: Any, done: float) -> Any:
    """From ``start`` to ``end`` along half a wave, when the part ``done`` of the way is behind."""
    return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)


def along_line(start: Any, end: Any, done: float) -> Any:
    """From ``start`` to ``end`` evenly, when the part ``done`` of the way is behind."""
    return (end - start) * done + start


def check_annealing(strategy: str) -> None:
    """Raise PyTorch's error where ``strategy`` is neither "cos" nor "linear"."""
    if strategy not in ("cos", "linear"):
        raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {strategy}")


def _check_positive(name: str, value: Any) -> None:
    if value <= 0 or not isinstance(value, int):
        raise ValueError(f"Expected positive integer {name}, but got {value}")
