"""Adadelta: steps as large as the recent changes were, compared to the recent gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.optim.elementwise import ElementwiseOptimizer, average_square, zeros_for
from autokit.optim.optimizer import Params, check_not_negative, check_one_element, number_of
from autokit.tensor import Tensor


class Adadelta(ElementwiseOptimizer):
    r"""Adaptive learning rates from the gradients and the changes alone, with no learning rate to choose.

    .. math::
        v_t &= \rho v_{t-1} + (1 - \rho)\, g_t^2 \\
        \Delta_t &= \frac{\sqrt{u_{t-1} + \epsilon}}{\sqrt{v_t + \epsilon}}\, g_t \\
        u_t &= \rho u_{t-1} + (1 - \rho)\, \Delta_t^2 \\
        \theta_t &= \theta_{t-1} - \text{lr} \cdot \Delta_t

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        A factor of every change.
    rho : float
        How much of the two averages is kept from step to step.
    eps : float
        Added under the roots: it lets the first steps begin.
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
    M. D. Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701, 2012.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps=eps, weight_decay=weight_decay)
        settings = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, settings)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return zeros_for(param, "square_avg", "acc_delta")

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        return {
            "decay": group["weight_decay"] or None,
            "kept": group["rho"],
            "fresh": 1 - group["rho"],
            "eps": group["eps"],
            "rate": number_of(group["lr"]),
        }

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        if by["decay"] is not None:
            gradient = gradient + by["decay"] * array
        average_square(state["square_avg"], gradient, by["kept"], by["fresh"])
        change = np.sqrt(state["acc_delta"] + by["eps"])
        change /= np.sqrt(state["square_avg"] + by["eps"])
        change *= gradient
        average_square(state["acc_delta"], change, by["kept"], by["fresh"])
        change *= by["rate"]
        array -= change
