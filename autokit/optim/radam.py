"""RAdam: Adam that waits with scaling its steps until it has seen enough gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.optim.adam import numbers_of_averages, take_in
from autokit.optim.elementwise import ElementwiseOptimizer, zeros_for
from autokit.optim.optimizer import Params, check_betas, check_not_negative, check_one_element, number_of
from autokit.tensor import Tensor


class RAdam(ElementwiseOptimizer):
    r"""Rectified Adam: the first steps, whose average of squares says little yet, are not divided by it.

    .. math::
        m_t &= \beta_1 m_{t-1} + (1 - \beta_1)\, g_t, \quad
        v_t = \beta_2 v_{t-1} + (1 - \beta_2)\, g_t^2, \quad
        \hat m_t = m_t / (1 - \beta_1^t) \\
        \rho_\infty &= \frac{2}{1 - \beta_2} - 1, \quad
        \rho_t = \rho_\infty - \frac{2 t \beta_2^t}{1 - \beta_2^t} \\
        r_t &= \sqrt{\frac{(\rho_t - 4)(\rho_t - 2)\, \rho_\infty}
                          {(\rho_\infty - 4)(\rho_\infty - 2)\, \rho_t}} \\
        \theta_t &= \theta_{t-1} - \text{lr} \cdot \hat m_t \cdot
        \begin{cases}
            r_t \sqrt{1 - \beta_2^t} \,/\, (\sqrt{v_t} + \epsilon) & \text{if } \rho_t > 5 \\
            1 & \text{otherwise}
        \end{cases}

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
    L. Liu, H. Jiang, P. He, W. Chen, X. Liu, J. Gao and J. Han, "On the variance of the adaptive learning
    rate and beyond", ICLR 2020.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
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
        check_not_negative(weight_decay=weight_decay)
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, settings)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return zeros_for(param, "exp_avg", "exp_avg_sq")

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        lr, step = number_of(group["lr"]), state["step"]
        beta1, beta2 = group["betas"]
        correction = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction  # of the average: as of how many gradients
        rectification = None
        if length > 5:
            rectification = math.sqrt(
                (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            ) * math.sqrt(correction)
        return {
            **numbers_of_averages(group),
            "rate": lr / (1 - beta1**step),
            "eps": group["eps"],
            "rectification": rectification,
        }

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        mean, mean_square = state["exp_avg"], state["exp_avg_sq"]
        take_in(array, gradient, mean, mean_square, by)

        change = mean * by["rate"]
        if by["rectification"] is not None:
            divisor = np.sqrt(mean_square)
            divisor += by["eps"]
            change /= divisor
            change *= by["rectification"]
        array -= change
