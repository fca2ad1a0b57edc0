"""RMSprop: steps divided by the root of the mean square of the recent gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.optim.elementwise import ElementwiseOptimizer, average_square, move_towards, zeros_for
from autokit.optim.optimizer import Params, check_not_negative, check_one_element, number_of
from autokit.tensor import Tensor


class RMSprop(ElementwiseOptimizer):
    r"""Root mean square propagation: each step is divided by the typical size of the element's gradients.

    .. math::
        v_t &= \alpha v_{t-1} + (1 - \alpha)\, g_t^2 \\
        \theta_t &= \theta_{t-1} - \text{lr} \cdot g_t / (\sqrt{v_t} + \epsilon)

    ``centered`` divides by the standard deviation of the gradients, the root
    of :math:`v_t - \bar g_t^2`, where :math:`\bar g_t` averages the gradients
    as :math:`v_t` their squares.  With ``momentum``, what is subtracted is a
    running sum :math:`b_t = \text{momentum} \cdot b_{t-1} + g_t / (\sqrt{v_t} + \epsilon)`.

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The learning rate.
    alpha : float
        How much of the average is kept from step to step.
    eps : float
        Keeps the division finite where the gradients were 0.
    weight_decay : float
        Adds this times the parameter to its gradient.
    momentum : float
        How much of the running sum is kept from step to step.
    centered : bool
        Divide by the standard deviation.
    maximize : bool
        Climb in place of descending.
    foreach, capturable, differentiable
        As in :class:`Adam`.

    Raises
    ------
    ValueError
        If a setting is out of its range, or there is nothing to train.

    References
    ----------
    T. Tieleman and G. Hinton, "Lecture 6.5: RMSprop", Neural Networks for Machine Learning, Coursera 2012.
    A. Graves, "Generating sequences with recurrent neural networks", arXiv:1308.0850, 2013 (``centered``).
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        settings = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, settings)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return zeros_for(param, *names)

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        return {
            "decay": group["weight_decay"] or None,
            "kept": group["alpha"],
            "fresh": 1 - group["alpha"],
            "eps": group["eps"],
            "momentum": group["momentum"] if group["momentum"] > 0 else None,
            "rate": number_of(group["lr"]),
        }

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        if by["decay"] is not None:
            gradient = gradient + by["decay"] * array
        average_square(state["square_avg"], gradient, by["kept"], by["fresh"])
        if "grad_avg" in state:
            move_towards(state["grad_avg"], gradient, by["fresh"])
            divisor = state["square_avg"] - state["grad_avg"] * state["grad_avg"]
        else:
            divisor = state["square_avg"].copy()
        np.sqrt(divisor, out=divisor)
        divisor += by["eps"]
        change = np.divide(gradient, divisor, out=divisor)
        if by["momentum"] is not None:
            velocity = state["momentum_buffer"]
            velocity *= by["momentum"]
            velocity += change
            change = velocity
        array -= by["rate"] * change
