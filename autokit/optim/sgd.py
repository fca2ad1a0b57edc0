"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.memory import clock
from autokit.ops.blocks import scalar
from autokit.ops.gpu.many import over_many
from autokit.ops.recording import storage_of
from autokit.optim.elementwise import PIECE, pieces
from autokit.optim.optimizer import (
    Line,
    Optimizer,
    Params,
    check_fused,
    check_not_negative,
    check_one_element,
    number_of,
)
from autokit.sparse_array import SparseArray
from autokit.tensor import Tensor, new_tensor

_ndarray = np.ndarray  # a module's own name is found sooner than NumPy's


class SGD(Optimizer):
    r"""Stochastic gradient descent, with momentum where asked for.

    Every step subtracts from each parameter its gradient times ``lr``.  With
    momentum it subtracts the *velocity* in place of the gradient: a running
    sum in which each earlier gradient counts ``momentum`` times less.

    .. math::
        g_t &\leftarrow g_t + \lambda\, \theta_{t-1}   && \text{with weight decay } \lambda \\
        b_t &= \text{momentum} \cdot b_{t-1} + (1 - \text{dampening})\, g_t, \quad b_1 = g_1 \\
        \theta_t &= \theta_{t-1} - \text{lr} \cdot b_t
            && \text{with Nesterov } g_t + \text{momentum} \cdot b_t \text{ in place of } b_t

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The learning rate.
    momentum : float
        How much of the velocity is kept from step to step.
    dampening : float
        How much less the new gradient counts in the velocity.
    weight_decay : float
        Adds this times the parameter to its gradient, which draws it to zero.
    nesterov : bool
        Look ahead by one more step of the velocity.
    maximize : bool
        Climb in place of descending.
    foreach, fused
        Which implementation PyTorch takes; here there is one for all.
    differentiable : bool
        Only False is supported.

    Raises
    ------
    ValueError
        If a setting is negative, or there is nothing to train.

    References
    ----------
    I. Sutskever, J. Martens, G. Dahl and G. Hinton, "On the importance of
    initialization and momentum in deep learning", ICML 2013.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor(4.0, requires_grad=True)
    >>> optimizer = SGD([x], lr=0.25)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> x
    tensor(2., requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        settings = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, settings)
        check_fused(fused, foreach)

    def _update(self, group: dict[str, Any], line: Line) -> None:
        lr, momentum, weight_decay = number_of(group["lr"]), group["momentum"], group["weight_decay"]
        if weight_decay:
            weight_decay = number_of(weight_decay)
        maximize = group["maximize"]
        change_made = (next(clock), *line)  # one for all: nothing is recorded while they are changed
        on_gpu: list[Any] = []
        kind = scale = None
        for param in group["params"]:
            gradient = param._grad
            if gradient is None:
                continue
            array, change = param.array, gradient.array
            if array.__class__ is not _ndarray:
                on_gpu.append(param)
                storage_of(param).note(change_made)
                continue
            if array.dtype is not kind:
                kind = array.dtype
                scale = scalar(-lr, kind)  # NumPy multiplies by it twice as fast as by a Python number
            if maximize:
                change = -change
            if weight_decay:
                change = change + (weight_decay * array).astype(array.dtype, copy=False)
            if momentum:
                change = self._velocity(param, change, group)
            if array.size <= PIECE or change.__class__ is SparseArray:
                array += change * scale
            else:  # without another array as large as the parameter
                for part in pieces(array):
                    array[part] += change[part] * scale
            (param._storage or storage_of(param)).note(change_made)
        if on_gpu:
            self._update_on_gpu(on_gpu, lr, weight_decay, group)

    def _update_on_gpu(
        self, params: list[Any], lr: float, weight_decay: float, group: dict[str, Any]
    ) -> None:
        """One step of all parameters, in one kernel; those without a velocity yet in another one."""
        momentum = group["momentum"] or None
        begun: list[Any] = []
        new: list[Any] = []
        for param in params:
            array, gradient, velocity = param.array, param._grad.array, None
            rows = begun
            if momentum is not None:
                state = self.state[param]
                if state.get("momentum_buffer") is None:
                    state["momentum_buffer"] = new_tensor(np.empty_like(array))
                    rows = new
                velocity = state["momentum_buffer"].array
            rows.append((array, gradient, velocity))
        numbers = lr, weight_decay or None, momentum, 1 - group["dampening"]
        settings = {"nesterov": group["nesterov"], "maximize": group["maximize"]}
        for rows, first in ((begun, False), (new, True)):
            if rows:
                _descend(rows, numbers, first=first, **settings)

    def _velocity(self, param: Any, gradient: Any, group: dict[str, Any]) -> Any:
        if gradient.__class__ is SparseArray:
            raise NotImplementedError(
                "SGD with momentum keeps a velocity for all rows, and so takes no sparse gradients here: "
                "leave out sparse=True, or use SparseAdam"
            )
        momentum = group["momentum"]
        state = self.state[param]
        if state.get("momentum_buffer") is None:
            state["momentum_buffer"] = new_tensor(gradient.copy())
            velocity = state["momentum_buffer"].array
        else:
            velocity = state["momentum_buffer"].array
            velocity *= momentum
            fresh = gradient if not group["dampening"] else (1 - group["dampening"]) * gradient
            velocity += fresh.astype(velocity.dtype, copy=False)
        if not group["nesterov"]:
            return velocity
        return gradient + (momentum * velocity).astype(velocity.dtype, copy=False)


@over_many
def _descend(
    array: Any,
    gradient: Any,
    velocity: Any,
    rate: float,
    decay: float | None,
    momentum: float | None,
    fresh: float,
    /,
    first: bool,
    nesterov: bool,
    maximize: bool,
) -> None:
    """The formula of :class:`SGD`, without the shortcuts that its method takes on the CPU."""
    change = -gradient if maximize else gradient
    if decay is not None:
        change = change + decay * array
    if velocity is not None:
        if first:
            velocity[...] = change
        else:
            velocity *= momentum
            velocity += fresh * change
        change = change + momentum * velocity if nesterov else velocity
    array -= rate * change
