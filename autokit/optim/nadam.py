"""NAdam: Adam that looks one step of its momentum ahead, as Nesterov's method does."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.optim.adam import numbers_of_averages, take_in
from autokit.optim.elementwise import ElementwiseOptimizer, scalar, zeros_for
from autokit.optim.optimizer import Params, check_betas, check_not_negative, check_one_element, number_of
from autokit.tensor import Tensor


class NAdam(ElementwiseOptimizer):
    r"""Adam with Nesterov momentum: the step takes the momentum as it will be after this gradient.

    .. math::
        \mu_t &= \beta_1 \left(1 - \tfrac{1}{2}\, 0.96^{t \psi}\right), \quad
        M_t = \mu_1 \mu_2 \cdots \mu_t \\
        m_t &= \beta_1 m_{t-1} + (1 - \beta_1)\, g_t, \quad
        v_t = \beta_2 v_{t-1} + (1 - \beta_2)\, g_t^2, \quad
        \hat v_t = v_t / (1 - \beta_2^t) \\
        \hat m_t &= \frac{\mu_{t+1}}{1 - M_{t+1}}\, m_t + \frac{1 - \mu_t}{1 - M_t}\, g_t \\
        \theta_t &= \theta_{t-1} - \text{lr} \cdot \hat m_t / (\sqrt{\hat v_t} + \epsilon)

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The learning rate.
    betas : (float, float)
        How much of the two averages is kept from step to step.
    eps : float
        Keeps the division finite where the gradients were 0.
    weight_decay : float
        Adds this times the parameter to its gradient; or see ``decoupled_weight_decay``.
    momentum_decay : float
        :math:`\psi`: how fast the momentum grows to :math:`\beta_1` over the steps.
    decoupled_weight_decay : bool
        Shrink the parameter directly, as :class:`AdamW` does.
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
    T. Dozat, "Incorporating Nesterov momentum into Adam", ICLR 2016 workshop.
    """

    _numbers = ("step", "mu_product")

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr, eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, settings)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"mu_product": scalar(1.0), **zeros_for(param, "exp_avg", "exp_avg_sq")}

    def _before(self, state: dict[str, Tensor], group: dict[str, Any]) -> None:
        state["mu_product"].array *= _momentum(state["step"].array.item(), group)

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        lr, step = number_of(group["lr"]), state["step"]
        beta2 = group["betas"][1]
        product, next_momentum = state["mu_product"], _momentum(step + 1, group)
        return {
            **numbers_of_averages(group),
            "correction": 1 - beta2**step,
            "eps": group["eps"],
            "of_gradient": lr * (1 - _momentum(step, group)) / (1 - product),
            "of_mean": lr * next_momentum / (1 - product * next_momentum),
        }

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        mean, mean_square = state["exp_avg"], state["exp_avg_sq"]
        gradient = take_in(array, gradient, mean, mean_square, by)

        divisor = mean_square / by["correction"]
        np.sqrt(divisor, out=divisor)
        divisor += by["eps"]
        array -= by["of_gradient"] * gradient / divisor
        array -= by["of_mean"] * mean / divisor


def _momentum(step: float, group: dict[str, Any]) -> float:
    return group["betas"][0] * (1 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
