"""Adamax: Adam with the largest recent gradient in place of an average of squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.optim.elementwise import ElementwiseOptimizer, move_towards, zeros_for
from autokit.optim.optimizer import Params, check_betas, check_not_negative, check_one_element, number_of
from autokit.tensor import Tensor


class Adamax(ElementwiseOptimizer):
    r"""Adam with the infinity norm: each step is divided by the largest recent gradient of the element.

    .. math::
        m_t &= \beta_1 m_{t-1} + (1 - \beta_1)\, g_t \\
        u_t &= \max(\beta_2 u_{t-1},\; |g_t| + \epsilon) \\
        \theta_t &= \theta_{t-1} - \frac{\text{lr}}{1 - \beta_1^t} \cdot \frac{m_t}{u_t}

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The learning rate: the farthest that an element moves in one step.
    betas : (float, float)
        How much of the average, and of the largest gradient, is kept from step to step.
    eps : float
        Keeps the division finite where the gradients were 0.
    weight_decay : float
        Adds this times the parameter to its gradient.
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
    D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, section 7.1.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr, eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, settings)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return zeros_for(param, "exp_avg", "exp_inf")

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        beta1, beta2 = group["betas"]
        return {
            "decay": group["weight_decay"] or None,
            "way": 1 - beta1,
            "kept": beta2,
            "eps": group["eps"],
            "rate": number_of(group["lr"]) / (1 - beta1 ** state["step"]),
        }

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        mean, largest = state["exp_avg"], state["exp_inf"]
        if by["decay"] is not None:
            gradient = gradient + by["decay"] * array
        move_towards(mean, gradient, by["way"])
        largest *= by["kept"]
        size = np.abs(gradient)
        size += by["eps"]
        np.maximum(largest, size, out=largest)
        change = np.divide(mean, largest, out=size)
        change *= by["rate"]
        array -= change
