"""Rprop: steps by the sign of the gradient alone, longer while it stays and shorter when it changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.optim.elementwise import ElementwiseOptimizer, full_for, zeros_for
from autokit.optim.optimizer import Params, check_not_negative, check_one_element, number_of
from autokit.tensor import Tensor


class Rprop(ElementwiseOptimizer):
    r"""Resilient backpropagation: steps by the sign of the gradient, of a size that each element adapts.

    Where the gradient keeps its sign, the step size :math:`\eta` grows; where
    it changes, a minimum was passed, so that the step size shrinks and the
    element waits for one step.  For gradients of all the data: those of small
    batches change their signs by chance.

    .. math::
        \eta_t &= \begin{cases}
            \min(\eta_{t-1}\, \eta_+,\; \eta_{\max}) & \text{if } g_{t-1} g_t > 0 \\
            \max(\eta_{t-1}\, \eta_-,\; \eta_{\min}), \text{ and } g_t \leftarrow 0
            & \text{if } g_{t-1} g_t < 0 \\
            \eta_{t-1} & \text{otherwise}
        \end{cases} \\
        \theta_t &= \theta_{t-1} - \eta_t\, \mathrm{sign}(g_t)

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The first step size.
    etas : (float, float)
        The factors :math:`\eta_-` and :math:`\eta_+`.
    step_sizes : (float, float)
        The smallest and the largest step size.
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
    M. Riedmiller and H. Braun, "A direct adaptive method for faster backpropagation learning: the RPROP
    algorithm", IEEE International Conference on Neural Networks, 1993.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        settings = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, settings)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {**zeros_for(param, "prev"), "step_size": full_for(param, number_of(group["lr"]))}

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        shrink, grow = group["etas"]
        least, most = group["step_sizes"]
        return {"shrink": shrink, "grow": grow, "least": least, "most": most}

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        previous, step_size = state["prev"], state["step_size"]
        agreement = gradient * previous
        turned = agreement < 0
        smaller = np.where(turned, step_size * by["shrink"], step_size)
        step_size[...] = np.where(agreement > 0, step_size * by["grow"], smaller)
        np.maximum(step_size, by["least"], out=step_size)
        np.minimum(step_size, by["most"], out=step_size)
        previous[...] = np.where(turned, 0, gradient)
        array -= np.sign(previous) * step_size
