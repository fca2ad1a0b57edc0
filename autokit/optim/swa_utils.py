"""Averages of a network's parameters over its training, which often do better than the last ones.

Stochastic weight averaging (SWA) counts each of the averaged networks alike;
an exponential moving average (EMA) counts the recent ones more.

References
----------
P. Izmailov, D. Podoprikhin, T. Garipov, D. Vetrov and A. G. Wilson, "Averaging weights leads to wider optima
and better generalization", UAI 2018.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

from autokit.autograd.modes import no_grad
from autokit.nn.module import Module
from autokit.ops.create import tensor
from autokit.optim.lr_scheduler.cycles import check_annealing
from autokit.optim.lr_scheduler.scheduler import LRScheduler, for_each_group, own
from autokit.optim.optimizer import Optimizer
from autokit.tensor import Tensor

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Tensor, Tensor, Any], Tensor]:
    """A function for :class:`AveragedModel` that keeps the part ``decay`` of an average, at each update."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return ema_param * decay + current_param * (1 - decay)

    return ema_update


def get_swa_avg_fn() -> Callable[[Tensor, Tensor, Any], Tensor]:
    """A function for :class:`AveragedModel` in whose average each network counts alike."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]:
    """As :func:`get_ema_avg_fn`, for lists of parameters, changed in place."""
    return _for_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]:
    """As :func:`get_swa_avg_fn`, for lists of parameters, changed in place."""
    return _for_lists(get_swa_avg_fn())


def _for_lists(update: Callable[..., Any]) -> Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]:
    @no_grad()
    def update_all(averaged: Sequence[Tensor], current: Sequence[Tensor], num_averaged: Any) -> None:
        for average, value in zip(averaged, current, strict=True):
            average.copy_(update(average, value, num_averaged))

    return update_all


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of a network whose parameters are averages of the network's.

    Parameters
    ----------
    model : Module
        The network; the copy is its ``module``.
    device : device, optional
        Where the copy is to be.
    avg_fn : callable, optional
        Gives the new average, of the average, the parameter, and the number of networks averaged so far.
        By default each counts alike.
    multi_avg_fn : callable, optional
        As ``avg_fn``, for lists of all averages and parameters, which it changes in place.
    use_buffers : bool
        Average the buffers too, such as the running means of a batch normalization; otherwise copy them.

    Examples
    --------
    >>> import autokit as torch
    >>> model = torch.nn.Linear(1, 1, bias=False)
    >>> averaged = AveragedModel(model)
    >>> for value in (1.0, 2.0, 6.0):
    ...     with torch.no_grad():
    ...         _ = model.weight.fill_(value)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Tensor] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged network computes."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the parameters of ``model`` into the averages; the first time, they are the averages."""
        averages = [each.detach() for each in self._averaged(self.module)]
        values = [each.detach() for each in self._averaged(model)]
        values = [value.to(average.device) for value, average in zip(values, averages, strict=True)]
        if self.n_averaged.item() == 0:
            for average, value in zip(averages, values, strict=True):
                average.copy_(value)
        elif averages:
            update = self.multi_avg_fn or _for_lists(self.avg_fn or get_swa_avg_fn())
            update(averages, values, self.n_averaged)
        if not self.use_buffers:
            for kept, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.copy_(buffer.to(kept.device))
        self.n_averaged += 1

    def _averaged(self, model: Module) -> Iterable[Tensor]:
        return chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running means and variances of a network's batch normalizations anew, over all data.

    Parameters
    ----------
    loader : iterable
        Gives batches: tensors, or lists and tuples whose first element is what the network takes.
    model : Module
        The network, such as an :class:`AveragedModel` that was never run on data.
    device : device, optional
        Where to put the batches.
    """
    momenta = {
        module: module.momentum for module in model.modules() if hasattr(module, "reset_running_stats")
    }
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # of all batches alike
    for batch in loader:
        given = batch[0] if isinstance(batch, list | tuple) else batch
        model(given if device is None else given.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """The learning rate goes to a fixed one, at which the averaging takes place, and stays there.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    swa_lr : float or list
        The fixed rate, for all groups or for each.
    anneal_epochs : int
        How many epochs it takes to get there.
    anneal_strategy : {"cos", "linear"}
        Along a cosine, or evenly.
    last_epoch : int
        See :class:`LRScheduler`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, rate in zip(
            optimizer.param_groups, for_each_group("swa_lr", optimizer, swa_lr), strict=True
        ):
            group["swa_lr"] = rate
        check_annealing(anneal_strategy)
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, epoch: float) -> float:
        """Which part of the way is behind after ``epoch`` epochs."""
        done = max(0, min(1, epoch / max(1, self.anneal_epochs)))
        return done if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * done)) / 2

    def get_lr(self) -> list[Any]:
        """The present learning rates, carried on towards the fixed ones."""
        self._warn_outside_of_step()
        epoch = self._step_count - 1
        if self.anneal_epochs == 0:
            epoch = max(1, epoch)
        before, now = self._share(epoch - 1), self._share(epoch)
        found = []
        for group in self.optimizer.param_groups:
            fixed = group["swa_lr"]
            first = fixed if before == 1 else (own(group["lr"]) - before * fixed) / (1 - before)
            found.append(fixed * now + first * (1 - now))
        return found
