"""Stochastic gradient descent: each step subtracts the gradient times the learning rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor
from autokit.optim.optimizer import Group, Optimizer, Params, checked


class SGD(Optimizer):
    r"""Stochastic gradient descent, with momentum where asked for.

    Every step subtracts from each parameter its gradient times ``lr``. With momentum it subtracts the
    *velocity* in place of the gradient: a running sum in which each earlier gradient counts ``momentum``
    times less.

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

    Raises
    ------
    ValueError
        If a setting is negative, or there is nothing to train.

    References
    ----------
    I. Sutskever, J. Martens, G. Dahl and G. Hinton, "On the importance of initialization and momentum in deep
    learning", ICML 2013.

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
    ) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        settings = checked(lr=lr, momentum=momentum, weight_decay=weight_decay)
        settings.update(dampening=dampening, nesterov=nesterov, maximize=maximize)
        super().__init__(params, settings)

    def initial_state(self, array: Any, gradient: Any, group: Group) -> dict[str, Any]:
        """The velocity from which the first step gets to the gradient itself."""
        if not group["momentum"]:
            return {}
        if not group["dampening"]:
            return {"momentum_buffer": np.zeros_like(array)}
        return {"momentum_buffer": gradient * (group["dampening"] / group["momentum"])}

    def update(self, array: Any, gradient: Any, state: dict[str, Any], group: Group) -> None:
        """The formula."""
        momentum = group["momentum"]
        if momentum:
            velocity = state["momentum_buffer"]
            velocity *= momentum
            velocity += gradient * (1 - group["dampening"]) if group["dampening"] else gradient
            gradient = gradient + momentum * velocity if group["nesterov"] else velocity
        array -= group["lr"] * gradient
