"""Adagrad, RMSprop and Adadelta divide the gradient by the root of a sum of earlier squared gradients.

Adagrad sums the squares of all steps, RMSprop takes a running average of them, and Adadelta also multiplies
by the root of a running average of its squared changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor
from autokit.optim.optimizer import Group, Optimizer, Params, checked, zeros


class Adagrad(Optimizer):
    r"""Adaptive gradient: each element's steps shrink with the sum of its squared gradients.

    Elements that rarely get a gradient, such as the embeddings of rare words, keep taking large steps.

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
        *,
        maximize: bool = False,
    ) -> None:
        settings = checked(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay, maximize=maximize)
        settings |= checked(initial_accumulator_value=initial_accumulator_value)
        super().__init__(params, settings)

    def initial_state(self, array: Any, gradient: Any, group: Group) -> dict[str, Any]:
        """The sum before the first gradient."""
        state = zeros(array, "sum")
        state["sum"] += group["initial_accumulator_value"]
        return state

    def update(self, array: Any, gradient: Any, state: dict[str, Any], group: Group) -> None:
        """The formula."""
        total = state["sum"]
        total += gradient * gradient
        rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        array -= rate * gradient / (np.sqrt(total) + group["eps"])


class RMSprop(Optimizer):
    r"""Root mean square propagation: each step is divided by the typical size of the element's gradients.

    .. math::
        v_t &= \alpha v_{t-1} + (1 - \alpha)\, g_t^2 \\
        \theta_t &= \theta_{t-1} - \text{lr} \cdot g_t / (\sqrt{v_t} + \epsilon)

    ``centered`` divides by the standard deviation of the gradients, the root of :math:`v_t - \bar g_t^2`,
    where :math:`\bar g_t` averages the gradients as :math:`v_t` their squares. With ``momentum``, what is
    subtracted is a running sum
    :math:`b_t = \text{momentum} \cdot b_{t-1} + g_t / (\sqrt{v_t} + \epsilon)`.

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
        *,
        maximize: bool = False,
    ) -> None:
        settings = checked(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum)
        super().__init__(params, {**settings, "centered": centered, "maximize": maximize})

    def initial_state(self, array: Any, gradient: Any, group: Group) -> dict[str, Any]:
        """The average of the squares, and where they are asked for the running sum and the average."""
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return zeros(array, *names)

    def update(self, array: Any, gradient: Any, state: dict[str, Any], group: Group) -> None:
        """The formula."""
        alpha, square = group["alpha"], state["square_avg"]
        square *= alpha
        square += (1 - alpha) * gradient * gradient
        if group["centered"]:
            mean = state["grad_avg"]
            mean += (1 - alpha) * (gradient - mean)
            square = square - mean * mean
        change = gradient / (np.sqrt(square) + group["eps"])
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]
            velocity *= group["momentum"]
            velocity += change
            change = velocity
        array -= group["lr"] * change


class Adadelta(Optimizer):
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
        *,
        maximize: bool = False,
    ) -> None:
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        settings = checked(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize)
        super().__init__(params, settings)

    def initial_state(self, array: Any, gradient: Any, group: Group) -> dict[str, Any]:
        """The averages of the squares: of the gradients, and of the changes."""
        return zeros(array, "square_avg", "acc_delta")

    def update(self, array: Any, gradient: Any, state: dict[str, Any], group: Group) -> None:
        """The formula."""
        rho = group["rho"]
        eps = group["eps"]
        square = state["square_avg"]
        changes = state["acc_delta"]
        square *= rho
        square += (1 - rho) * gradient * gradient
        change = np.sqrt(changes + eps) / np.sqrt(square + eps) * gradient
        changes *= rho
        changes += (1 - rho) * change * change
        array -= group["lr"] * change
