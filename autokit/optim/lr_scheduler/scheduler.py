"""What all learning rate schedulers share: they count epochs, and set the rates of an optimizer's groups."""

from __future__ import annotations

import types
import warnings
from typing import Any

from autokit.autograd.modes import no_grad
from autokit.optim.optimizer import Optimizer, number_of
from autokit.shown import by_type
from autokit.tensor import Tensor

Rate = float | Tensor
"""A learning rate: a number, or a tensor that the optimizer reads at each step."""

EPOCH_IS_DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from "
    "None, the closed form is used instead of the new chainable form, where available."
)
_SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


class LRScheduler:
    """Base of the learning rate schedulers; a subclass defines :meth:`get_lr`.

    A scheduler sets the learning rates when it is made, and anew at each
    :meth:`step`, which is called after the optimizer's.  Most change the rate
    that they find, so that several of them may work on one optimizer.

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
        How many steps were made.

    Raises
    ------
    TypeError
        If what is given is no optimizer.
    KeyError
        If a training is resumed whose groups do not know their first learning rate.

    Examples
    --------
    A plan of one's own: the learning rate falls as one over the root of the epoch.

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

    __repr__ = by_type

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for place, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{place}] when resuming scheduler "
                    "with last_epoch >= 0.\nThis typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly loaded the "
                    "optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs: list[Any] = rates(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        if not optimizer._scheduled:
            optimizer._scheduled, optimizer._stepped = True, False
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the first learning rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_last_lr(self) -> list[Any]:
        """The learning rates that were set last, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates of epoch ``last_epoch``, one for each group; :meth:`step` calls this."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say its learning rates: define get_lr(self)"
        )

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch; or to ``epoch``, which is deprecated. Comes after the optimizer's step."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_IS_DEPRECATED, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _warn_of_order(self) -> None:
        if "step" in vars(self.optimizer):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call `optimizer.step()` before "
                f"`lr_scheduler.step()`. {_SEE}",
                UserWarning,
                stacklevel=3,
            )
        elif not self.optimizer._stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and "
                "later, you should call them in the opposite order: `optimizer.step()` before "
                "`lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the "
                f"first value of the learning rate schedule. {_SEE}",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch; those of ``epoch`` directly, where a formula is known."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._get_lr_called_within_step = True
        try:
            if epoch is not None and hasattr(self, "_get_closed_form_lr"):
                values = self._get_closed_form_lr()
            else:
                values = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(values)

    def _set(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_rate(group, "lr", value)
        self._last_lr: list[Any] = rates(self.optimizer, "lr")

    def _warn_outside_of_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows, except for the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave."""
        vars(self).update(state_dict)


_LRScheduler = LRScheduler
"""Its name before PyTorch 2."""


class FactorScheduler(LRScheduler):
    """Base of the schedulers that multiply the learning rate they find; a subclass defines ``_factor()``."""

    def _factor(self) -> float:
        """What to multiply by on the way from the last epoch to this one."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """The present learning rates, times the factor of this epoch."""
        self._warn_outside_of_step()
        factor = self._factor()
        return [own(group["lr"]) * factor for group in self.optimizer.param_groups]


def check_optimizer(optimizer: Any) -> None:
    """Raise PyTorch's error where ``optimizer`` is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def own(value: Any) -> Any:
    """A copy of a learning rate that is a tensor; a number as it is."""
    return value.detach().clone() if isinstance(value, Tensor) else value


def rates(optimizer: Optimizer, name: str) -> list[Any]:
    """The setting ``name`` of each group."""
    return [own(group[name]) for group in optimizer.param_groups]


def set_rate(group: dict[str, Any], name: str, value: Any) -> None:
    """Change a setting of a group: in place where it is a tensor."""
    if isinstance(group[name], Tensor):
        with no_grad():
            group[name].fill_(number_of(value))
    else:
        group[name] = value


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """``value``, one for all groups or a list, as a list with one for each group."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [own(value) for _ in range(groups)]
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {groups}."
        )
    return [own(each) for each in value]


def state_of_function(function: Any) -> dict[str, Any] | None:
    """What to save of a function: the attributes of a callable object, nothing of a plain function."""
    return None if isinstance(function, types.FunctionType) else vars(function).copy()
