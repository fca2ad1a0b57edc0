"""Learning rates by a function of the epoch that the user gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.optim.lr_scheduler.scheduler import LRScheduler, own, state_of_function
from autokit.optim.optimizer import Optimizer

Function = Callable[[int], float]


class _OfFunctions(LRScheduler):
    """Base of the schedulers that hold a function for each group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Function | list[Function], last_epoch: int = -1
    ) -> None:
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, list | tuple):
            if len(lr_lambda) != groups:
                raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows, except for the optimizer and for functions that are no objects."""
        state = super().state_dict()
        del state["lr_lambdas"]  # PyTorch's stand at the end
        return {**state, "lr_lambdas": [state_of_function(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; the functions themselves stay."""
        functions = self.lr_lambdas
        super().load_state_dict(state_dict)
        self.lr_lambdas = functions
        for function, state in zip(functions, state_dict["lr_lambdas"], strict=True):
            if state is not None:
                vars(function).update(state)


class LambdaLR(_OfFunctions):
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

    def get_lr(self) -> list[Any]:
        """The first learning rates, each times its function of the epoch."""
        self._warn_outside_of_step()
        return [
            base * function(self.last_epoch)
            for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class MultiplicativeLR(_OfFunctions):
    """At each epoch, the learning rate times a function of the epoch.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    lr_lambda : callable, or list of callables
        The factor of an epoch; or one function for each group.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def get_lr(self) -> list[Any]:
        """The present learning rates, each times its function of the epoch."""
        self._warn_outside_of_step()
        groups = self.optimizer.param_groups
        if self._is_initial:
            return [own(group["lr"]) for group in groups]
        return [
            own(group["lr"]) * function(self.last_epoch)
            for function, group in zip(self.lr_lambdas, groups, strict=True)
        ]
