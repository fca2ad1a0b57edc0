"""Averaged stochastic gradient descent: the answer is the average of the places that it went through."""

from __future__ import annotations

from typing import Any

from autokit.optim.elementwise import ElementwiseOptimizer, move_towards, scalar, zeros_for
from autokit.optim.optimizer import Params, check_not_negative, check_one_element, number_of
from autokit.tensor import Tensor


class ASGD(ElementwiseOptimizer):
    r"""Gradient descent that also averages the parameters over its steps, under ``state[param]["ax"]``.

    .. math::
        \theta_t &= (1 - \lambda \eta_{t-1})\, \theta_{t-1} - \eta_{t-1}\, g_t \\
        a_t &= a_{t-1} + \mu_{t-1} (\theta_t - a_{t-1}) \\
        \eta_t &= \frac{\text{lr}}{(1 + \lambda \cdot \text{lr} \cdot t)^\alpha}, \quad
        \mu_t = \frac{1}{\max(1,\, t - t_0)}

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The first learning rate :math:`\eta_0`.
    lambd : float
        :math:`\lambda`: how fast the learning rate decays, and the parameters with it.
    alpha : float
        The power of the decay.
    t0 : float
        The step at which averaging starts.
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
    B. T. Polyak and A. B. Juditsky, "Acceleration of stochastic approximation by averaging", SIAM Journal on
    Control and Optimization 30, 1992.
    """

    _numbers = ("step", "eta", "mu")

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr, weight_decay=weight_decay)
        settings = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, settings)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"eta": scalar(number_of(group["lr"])), "mu": scalar(1.0), **zeros_for(param, "ax")}

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        return {
            "decay": group["weight_decay"] or None,
            "shrink": 1 - group["lambd"] * state["eta"],
            "rate": state["eta"],
            "way": None if state["mu"] == 1 else state["mu"],
        }

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        if by["decay"] is not None:
            gradient = gradient + by["decay"] * array
        array *= by["shrink"]
        array -= by["rate"] * gradient
        if by["way"] is None:
            state["ax"][...] = array
        else:
            move_towards(state["ax"], array, by["way"])

    def _after(self, state: dict[str, Tensor], group: dict[str, Any]) -> None:
        lr, step = number_of(group["lr"]), state["step"].array.item()
        state["eta"].array[...] = scalar(lr / (1 + group["lambd"] * lr * step) ** group["alpha"]).array
        state["mu"].array[...] = scalar(1 / max(1, step - group["t0"])).array
