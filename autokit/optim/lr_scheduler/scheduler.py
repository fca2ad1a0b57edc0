"""The base class of the schedulers counts epochs and sets the learning rates of an optimizer's groups."""

from __future__ import annotations

import warnings
from typing import Any

from autokit.optim.optimizer import Optimizer


class LRScheduler:
    """Base of the learning rate schedulers; a subclass defines :meth:`get_lr`.

    A scheduler sets the learning rates when it is created, and anew at each :meth:`step`, which is called
    after the optimizer's. Most change the rate that they find, so that several of them may work on one
    optimizer.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    last_epoch : int
        The number of the last epoch, to resume a training; -1 starts a new one.

    Attributes
    ----------
    base_lrs : list
        The learning rate that each group started with.
    last_epoch : int
        How many steps were taken.

    Raises
    ------
    TypeError
        If ``optimizer`` is none.
    KeyError
        If a training is resumed and a group lacks its first learning rate.

    Examples
    --------
    A new schedule: the learning rate falls as one over the root of the epoch.

    >>> import autokit as torch
    >>> class InverseRoot(LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / (self.last_epoch + 1) ** 0.5 for lr in self.base_lrs]
    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=6.0)
    >>> scheduler = InverseRoot(optimizer)
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [3.0]
    """

    _unsaved = ("optimizer", "lr_lambdas", "_schedulers")
    _last_lr: list[Any]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for place, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{place}] when resuming scheduler "
                    "with last_epoch >= 0: load the optimizer's state first"
                )
        self.base_lrs = self._rates("initial_lr")
        self._step_count = 1
        self._start(last_epoch + 1)

    def __repr__(self) -> str:
        # Without an address, so that a notebook's stored output stays the same.
        return f"<{type(self).__module__}.{type(self).__qualname__}>"

    def get_last_lr(self) -> list[Any]:
        """The learning rates that were set last, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates of epoch ``last_epoch``, one for each group; :meth:`step` calls this."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say its learning rates: define get_lr(self)"
        )

    def step(self) -> None:
        """Go on to the next epoch; call it after the optimizer's step."""
        if self._step_count == 1 and not self.optimizer._stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: call them in the opposite "
                "order, or the first value of the learning rate schedule is skipped",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        self.last_epoch += 1
        self._set(self.get_lr())

    def _start(self, epoch: int = 0) -> None:
        """Set the first learning rates: at the beginning, or when this scheduler follows another one."""
        self.last_epoch = epoch
        self._is_initial = True
        self._set(self.get_lr())
        self._is_initial = False

    def _set(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            group["lr"] = value
        self._last_lr = values

    def _rates(self, name: str = "lr") -> list[Any]:
        return [group[name] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """The state of the scheduler: its attributes, except for the optimizer and functions."""
        return {name: value for name, value in vars(self).items() if name not in self._unsaved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what :meth:`state_dict` returned."""
        vars(self).update({name: value for name, value in state_dict.items() if name not in self._unsaved})


_LRScheduler = LRScheduler
"""Its name before PyTorch 2."""


class FactorScheduler(LRScheduler):
    """Base of the schedulers that multiply the learning rate they find; a subclass defines ``_factor()``."""

    def _factor(self) -> float:
        """The factor between the learning rates of the last epoch and of this one."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """The present learning rates, times the factor of this epoch."""
        factor = self._factor()
        return [rate * factor for rate in self._rates()]


def check_optimizer(optimizer: Any) -> None:
    """Raise where ``optimizer`` is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """``value``, one for all groups or a list, as a list with one for each group."""
    check_optimizer(optimizer)
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {groups}."
        )
    return list(value)
