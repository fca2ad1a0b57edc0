"""Muon: the average of the gradients of a matrix, made almost orthogonal before it is taken as a step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.autograd.modes import no_grad
from autokit.dtypes import BY_NAME
from autokit.ops.filled import zeros_like
from autokit.ops.gpu.kernels import fused
from autokit.ops.recording import storage_of
from autokit.optim.optimizer import Line, Optimizer, Params, check_one_element, number_of

_ADJUSTMENTS = (None, "original", "match_rms_adamw")


class Muon(Optimizer):
    r"""Steps that go equally far in all directions of a matrix, for the weights of hidden layers.

    .. math::
        m_t &= \mu m_{t-1} + (1 - \mu) g_t, \quad
        u_t = \text{orthogonal}((1 - \mu) g_t + \mu m_t) \\
        \theta_t &= (1 - \text{lr} \cdot \lambda)\, \theta_{t-1}
        - \text{lr} \cdot \sqrt{\max(1, \text{rows} / \text{columns})}\, u_t

    Parameters
    ----------
    params : iterable
        Matrices; biases, embeddings and the rest are for another method, as AdamW.
    lr : float or Tensor
    weight_decay : float
        :math:`\lambda`, what each parameter loses in a step, as a part of ``lr``.
    momentum : float
        :math:`\mu`, how much of the average is kept.
    nesterov : bool
        Look ahead by one step, as above; else the average itself is taken.
    ns_coefficients : (float, float, float)
        Of the polynomial that moves all singular values toward 1.
    eps : float
        The least length to divide by.
    ns_steps : int
        How often the polynomial is applied.
    adjust_lr_fn : {"original", "match_rms_adamw"}, optional
        How far a step goes in matrices of different shapes: as above, or as far as AdamW's.

    Raises
    ------
    ValueError
        If a setting is out of its range, a parameter is no matrix, or there is nothing to train.

    Notes
    -----
    The polynomial is applied in bfloat16, as in PyTorch.

    References
    ----------
    K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024.
    J. Liu et al., "Muon is Scalable for LLM Training", arXiv:2502.16982, 2025.

    Examples
    --------
    >>> import autokit as torch
    >>> weight = torch.zeros(2, 2, requires_grad=True)
    >>> weight.grad = torch.tensor([[100.0, 0.0], [0.0, 1.0]])
    >>> Muon([weight], lr=0.1).step()
    >>> (weight.diagonal().abs() > 0.05).all()  # both directions alike
    tensor(True)
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_one_element(lr=lr)
        for words, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{words} should be >= 0 but is: {value}")
        if adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        settings = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, settings)
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{param.size()}"
                    )

    def _update(self, group: dict[str, Any], line: Line) -> None:
        lr, momentum = number_of(group["lr"]), group["momentum"]
        with no_grad():
            for param in group["params"]:
                gradient = param.grad
                if gradient is None:
                    continue
                if param.is_complex():
                    raise RuntimeError("Muon does not support complex parameters")
                state = self.state[param]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = zeros_like(gradient)
                average = state["momentum_buffer"].lerp_(gradient, 1 - momentum)
                step = gradient.lerp(average, momentum) if group["nesterov"] else average
                step = _orthogonal(step.array, group["ns_coefficients"], group["ns_steps"], group["eps"])
                rate = lr * _factor(group["adjust_lr_fn"], *param.shape)
                _take_step(param.array, step, 1 - lr * group["weight_decay"], rate)
                storage_of(param).change(*line)


def _orthogonal(matrix: Any, coefficients: tuple[float, ...], steps: int, least: float) -> Any:
    """``matrix`` with its singular values moved near 1 by a polynomial, as Newton and Schulz did.

    The numbers are those of bfloat16, in arrays of float32, which is what computes with them.
    """
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    first, third, fifth = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    turned = _rounded(matrix.T if tall else matrix)
    length = _rounded(np.sqrt(np.sum(turned * turned, keepdims=True)))
    turned = _rounded(turned / np.maximum(length, least))
    for _ in range(steps):
        squares = _rounded(turned @ turned.T)
        polynomial = _rounded(_combined(squares, squares @ squares, third, fifth))
        turned = _rounded(_combined(turned, polynomial @ turned, first, 1.0))
    return turned.T if tall else turned


def _rounded(array: Any) -> Any:
    return array.astype(BY_NAME["bfloat16"].numpy).astype(np.float32)


@fused
def _combined(a: Any, b: Any, first: float, second: float, /) -> Any:
    return a * first + b * second


@fused
def _take_step(array: Any, step: Any, kept: float, rate: float, /) -> None:
    array[...] = (array * kept - step * rate).astype(array.dtype)


def _factor(adjustment: str | None, rows: int, columns: int) -> float:
    if adjustment == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))
