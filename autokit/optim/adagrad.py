"""Adagrad: steps that get smaller with all the gradients seen so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.optim.elementwise import ElementwiseOptimizer, full_for
from autokit.optim.optimizer import Params, check_fused, check_not_negative, check_one_element, number_of
from autokit.tensor import Tensor


class Adagrad(ElementwiseOptimizer):
    r"""Adaptive gradient: each element's steps shrink with the sum of its squared gradients.

    Elements that rarely get a gradient, such as the embeddings of rare
    words, keep taking large steps.

    .. math::
        G_t &= G_{t-1} + g_t^2 \\
        \theta_t &= \theta_{t-1} - \frac{\text{lr}}{1 + (t - 1) \cdot \text{lr\_decay}}
                    \cdot \frac{g_t}{\sqrt{G_t} + \epsilon}

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The learning rate.
    lr_decay : float
        How fast the learning rate decays over the steps.
    weight_decay : float
        Adds this times the parameter to its gradient.
    initial_accumulator_value : float
        :math:`G_0`.
    eps : float
        Keeps the division finite where the gradients were 0.
    maximize : bool
        Climb in place of descending.
    foreach, fused, differentiable
        As in :class:`Adam`.

    Raises
    ------
    ValueError
        If a setting is out of its range, or there is nothing to train.

    References
    ----------
    J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", Journal of Machine Learning Research 12, 2011.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        settings = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, settings)
        check_fused(fused, foreach)
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param] = self._begun(param, group)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"sum": full_for(param, self.defaults["initial_accumulator_value"])}

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        return {
            "decay": group["weight_decay"] or None,
            "eps": group["eps"],
            "rate": number_of(group["lr"]) / (1 + (state["step"] - 1) * group["lr_decay"]),
        }

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        if by["decay"] is not None:
            gradient = gradient + by["decay"] * array
        total = state["sum"]
        total += gradient * gradient
        divisor = np.sqrt(total)
        divisor += by["eps"]
        change = np.divide(gradient, divisor, out=divisor)
        change *= by["rate"]
        array -= change
