"""Adam, and AdamW: steps scaled by running averages of the gradient and of its square."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.optim.elementwise import ElementwiseOptimizer, average_square, move_towards, zeros_for
from autokit.optim.optimizer import (
    Params,
    check_betas,
    check_fused,
    check_not_negative,
    check_one_element,
    number_of,
)
from autokit.tensor import Tensor


class Adam(ElementwiseOptimizer):
    r"""Adaptive moment estimation: each element has its own step size, made from its own gradients.

    With gradient :math:`g_t` of parameter :math:`\theta` at step :math:`t`, and :math:`m_0 = v_0 = 0`:

    .. math::
        m_t &= \beta_1 m_{t-1} + (1 - \beta_1)\, g_t            && \text{average of the gradients} \\
        v_t &= \beta_2 v_{t-1} + (1 - \beta_2)\, g_t^2          && \text{average of their squares} \\
        \hat m_t &= m_t / (1 - \beta_1^t), \quad
        \hat v_t = v_t / (1 - \beta_2^t)                        && \text{corrected for the start at 0} \\
        \theta_t &= \theta_{t-1} - \text{lr} \cdot \hat m_t / (\sqrt{\hat v_t} + \epsilon)

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The learning rate: about how far an element moves in one step.
    betas : (float, float)
        How much of the two averages is kept from step to step.
    eps : float
        Keeps the division finite where the gradients were 0.
    weight_decay : float
        Adds this times the parameter to its gradient, before the averages.
    amsgrad : bool
        Divide by the largest :math:`v` seen so far.
    maximize : bool
        Climb in place of descending.
    decoupled_weight_decay : bool
        Shrink the parameter directly, as :class:`AdamW` does.
    foreach, fused
        Which implementation PyTorch takes; here there is one for all.
    capturable : bool
        For CUDA graphs; refused by the step of a parameter on the CPU.
    differentiable : bool
        Only False is supported.

    Raises
    ------
    ValueError
        If a setting is out of its range, or there is nothing to train.

    References
    ----------
    D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    S. J. Reddi, S. Kale and S. Kumar, "On the convergence of Adam and beyond", ICLR 2018 (``amsgrad``).

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([3.0, -0.01], requires_grad=True)
    >>> optimizer = Adam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()  # a steep and a flat slope: both move by lr at first
    >>> x
    tensor([2.9000, 0.0900], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_one_element(lr=lr)
        check_not_negative(lr=lr, eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        if not all(isinstance(beta, float) for beta in betas):
            if not all(isinstance(beta, Tensor) for beta in betas):
                raise ValueError("betas must be either both floats or both Tensors")
            if foreach and not capturable:
                raise ValueError(
                    "betas[0] as a Tensor is not supported for capturable=False and foreach=True"
                )
        settings = {
            "lr": lr,
            "betas": tuple(betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, settings)
        check_fused(fused, foreach)

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")
        return zeros_for(param, *names)

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        step = state["step"]
        beta1, beta2 = map(number_of, group["betas"])
        return {
            **numbers_of_averages(group),
            # The corrections of both averages are single numbers, so they are applied where it costs least.
            "correction": math.sqrt(1 - beta2**step),
            "eps": group["eps"],
            "rate": number_of(group["lr"]) / (1 - beta1**step),
        }

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        mean, mean_square = state["exp_avg"], state["exp_avg_sq"]
        take_in(array, gradient, mean, mean_square, by)
        if "max_exp_avg_sq" in state:
            mean_square = np.maximum(state["max_exp_avg_sq"], mean_square, out=state["max_exp_avg_sq"])

        divisor = np.sqrt(mean_square)
        divisor /= by["correction"]
        divisor += by["eps"]
        change = np.divide(mean, divisor, out=divisor)
        change *= by["rate"]
        array -= change


class AdamW(Adam):
    r"""Adam with decoupled weight decay: the parameter shrinks by a rate that the gradients do not scale.

    .. math::
        \theta_t = (1 - \text{lr} \cdot \lambda)\, \theta_{t-1}
                   - \text{lr} \cdot \hat m_t / (\sqrt{\hat v_t} + \epsilon)

    with the averages of :class:`Adam`, whose parameters these are.  In Adam
    the decay is part of the gradient, so that elements with large gradients
    decay less.

    References
    ----------
    I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", ICLR 2019.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = AdamW([x], lr=0.1, weight_decay=0.5)
    >>> x.grad = torch.zeros(1)
    >>> optimizer.step()
    >>> x
    tensor([0.9500], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True  # the state may be one that Adam saved


def numbers_of_averages(group: dict[str, Any]) -> dict[str, float | None]:
    """The numbers that :func:`take_in` needs, from the settings of a group."""
    lr, weight_decay = number_of(group["lr"]), group["weight_decay"]
    decoupled = group["decoupled_weight_decay"]
    beta1, beta2 = map(number_of, group["betas"])
    return {
        "shrink": 1 - lr * weight_decay if weight_decay and decoupled else None,
        "decay": weight_decay if weight_decay and not decoupled else None,
        "way": 1 - beta1,
        "kept": beta2,
        "fresh": 1 - beta2,
    }


def take_in(array: Any, gradient: Any, mean: Any, mean_square: Any, by: dict[str, Any]) -> Any:
    """Take ``gradient`` into both averages, in place, and decay the parameter's ``array``.

    This is what every step of Adam and its relatives begins with.  Returns the gradient that the averages
    took in: with the weight decay, unless that shrank ``array`` directly.
    """
    if by["shrink"] is not None:
        array *= by["shrink"]
    elif by["decay"] is not None:
        gradient = gradient + by["decay"] * array
    move_towards(mean, gradient, by["way"])
    average_square(mean_square, gradient, by["kept"], by["fresh"])
    return gradient
