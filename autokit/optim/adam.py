"""Adam and its relatives divide a running average of the gradient by the root of one of its square.

AdamW decays the weights by a separate term, Adamax uses the largest recent gradient in place of the squares,
and NAdam looks one step of its momentum ahead, as Nesterov's method does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor
from autokit.optim.optimizer import Group, Optimizer, Params, checked, zeros


class Adam(Optimizer):
    r"""Adaptive moment estimation: the step size of each element is computed from that element's gradients.

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
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        settings = checked(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay)
        settings.update(amsgrad=amsgrad, maximize=maximize, decoupled_weight_decay=decoupled_weight_decay)
        super().__init__(params, settings)

    def initial_state(self, array: Any, gradient: Any, group: Group) -> dict[str, Any]:
        """Both averages, and with ``amsgrad`` the largest second one."""
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")
        return zeros(array, *names)

    def update(self, array: Any, gradient: Any, state: dict[str, Any], group: Group) -> None:
        """The formula."""
        (beta1, beta2), lr, step = group["betas"], group["lr"], state["step"].item()
        mean, mean_square = average(array, gradient, state, group)
        if group["amsgrad"]:
            mean_square = np.maximum(state["max_exp_avg_sq"], mean_square, out=state["max_exp_avg_sq"])
        # The corrections of both averages are numbers: applied to the result, they cost no further arrays.
        change = np.sqrt(mean_square)
        change /= (1 - beta2**step) ** 0.5
        change += group["eps"]
        change = mean / change
        change *= lr / (1 - beta1**step)
        array -= change


class AdamW(Adam):
    r"""Adam with decoupled weight decay: the parameter shrinks by a rate that the gradients do not scale.

    .. math::
        \theta_t = (1 - \text{lr} \cdot \lambda)\, \theta_{t-1}
                   - \text{lr} \cdot \hat m_t / (\sqrt{\hat v_t} + \epsilon)

    with the averages of :class:`Adam`, whose parameters these are. In Adam the decay is part of the gradient,
    so that elements with large gradients decay less.

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
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        settings: dict[str, Any] = {"maximize": maximize, "decoupled_weight_decay": True}
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **settings)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True  # the state may be one that Adam saved


class Adamax(Optimizer):
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
        *,
        maximize: bool = False,
    ) -> None:
        settings = checked(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize)
        super().__init__(params, settings)

    def initial_state(self, array: Any, gradient: Any, group: Group) -> dict[str, Any]:
        """The average, and the largest recent gradient."""
        return zeros(array, "exp_avg", "exp_inf")

    def update(self, array: Any, gradient: Any, state: dict[str, Any], group: Group) -> None:
        """The formula."""
        (beta1, beta2), mean, largest = group["betas"], state["exp_avg"], state["exp_inf"]
        mean *= beta1
        mean += (1 - beta1) * gradient
        largest *= beta2
        np.maximum(largest, np.abs(gradient) + group["eps"], out=largest)
        array -= group["lr"] / (1 - beta1 ** state["step"].item()) * mean / largest


class NAdam(Optimizer):
    r"""Adam with Nesterov momentum: the step uses the momentum as it will be after this gradient.

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

    Raises
    ------
    ValueError
        If a setting is out of its range, or there is nothing to train.

    References
    ----------
    T. Dozat, "Incorporating Nesterov momentum into Adam", ICLR 2016 workshop.
    """

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
        maximize: bool = False,
    ) -> None:
        settings = checked(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize)
        settings |= checked(momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay)
        super().__init__(params, settings)

    numbers = ("step", "mu_product")

    def initial_state(self, array: Any, gradient: Any, group: Group) -> dict[str, Any]:
        """The product of the momenta, and both averages."""
        return {**zeros(array, "exp_avg", "exp_avg_sq"), "mu_product": np.ones((), np.float32)}

    def update(self, array: Any, gradient: Any, state: dict[str, Any], group: Group) -> None:
        """The formula."""
        lr, step = group["lr"], state["step"].item()
        momentum = _momentum(step, group)
        ahead = _momentum(step + 1, group)
        state["mu_product"] *= momentum
        product = state["mu_product"].item()
        mean, mean_square = average(array, gradient, state, group)
        divisor = np.sqrt(mean_square / (1 - group["betas"][1] ** step)) + group["eps"]
        array -= lr * (1 - momentum) / (1 - product) * gradient / divisor
        array -= lr * ahead / (1 - product * ahead) * mean / divisor


def _momentum(step: float, group: Group) -> float:
    return group["betas"][0] * (1 - 0.5 * 0.96 ** (step * group["momentum_decay"]))


def average(array: Any, gradient: Any, state: dict[str, Any], group: Group) -> tuple[Any, Any]:
    """The running averages after ``gradient``, with which every step of Adam and its relatives begins.

    Decoupled weight decay shrinks ``array`` here.
    """
    (beta1, beta2), mean, mean_square = group["betas"], state["exp_avg"], state["exp_avg_sq"]
    if group["decoupled_weight_decay"]:
        array *= 1 - group["lr"] * group["weight_decay"]
    mean *= beta1
    mean += (1 - beta1) * gradient
    mean_square *= beta2
    mean_square += (1 - beta2) * gradient * gradient
    return mean, mean_square
