"""How a draw moves with a parameter, its place in the distribution kept: gradients of Beta and Dirichlet.

A draw x stands at the place F(x; a) of its distribution.  If the parameter a
changes and the place shall not, then dx/da = -(∂F/∂a) / (∂F/∂x): nothing is asked
of how x was drawn.

References
----------
M. Figurnov, S. Mohamed and A. Mnih, "Implicit reparameterization gradients",
Advances in Neural Information Processing Systems 31 (2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import autokit
from autokit.autograd import Function
from autokit.autograd.function import once_differentiable
from autokit.devices import beside, to_numpy
from autokit.tensor import Tensor, new_tensor

_STEP = 1e-100
"""An imaginary step: the derivative of a function of real numbers is the imaginary part of its change."""

_TERMS = 5000
"""Enough for parameters up to some millions: as many are needed as their square root tells."""


def _fraction(x: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The continued fraction of the incomplete beta function, and its logarithm's derivative.

    The derivative is by the one of a and b that has an imaginary step.  It is evaluated from its first term
    on by Lentz's method, for x below (a + 1) / (a + b + 2), where it converges fast (NIST Digital Library of
    Mathematical Functions, 8.17.22).
    """
    upper: Any = np.ones(x.shape, complex)
    lower = 1 / (1 - (a + b) * x / (a + 1))
    value = lower.copy()
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for term in (even, odd):
            lower, upper = 1 / (1 + term * lower), 1 + term / upper
            value = value * lower * upper
        if np.allclose([value.real, value.imag], [before.real, before.imag], rtol=1e-14, atol=0):
            break
    return value.real, value.imag / _STEP / value.real


def beta_slope(x: Any, a: Any, b: Any) -> Any:
    """dx/da of draws ``x`` from beta distributions, over 1 - x; in float64.

    From the nearer end of the distribution, so that no digits cancel.
    """
    x, a, b = (np.asarray(each, np.float64) for each in (x, a, b))
    low = x < (a + 1) / (a + b + 2)
    value, change = np.empty(x.shape), np.empty(x.shape)
    value[low], change[low] = _fraction(x[low], a[low] + 1j * _STEP, b[low])
    value[~low], change[~low] = _fraction(1 - x[~low], b[~low], a[~low] + 1j * _STEP)
    logs = np.log(x) + to_numpy((autokit.digamma(new_tensor(a + b)) - autokit.digamma(new_tensor(a))).array)
    slope = np.where(low, -x / a * (logs - 1 / a + change), x / b * (logs + change)) * value
    return np.where(np.isnan(slope), 0, slope)


class _Dirichlet(Function):
    """Draws that sum to 1, and how they move: each as in a beta distribution, while the others give way."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor, drawn: Tensor) -> Tensor:
        ctx.save_for_backward(drawn, concentration)
        return drawn.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        drawn, concentration = ctx.saved_tensors
        x, a = to_numpy(drawn.array).astype(np.float64), to_numpy(concentration.array).astype(np.float64)
        slope = beta_slope(x, a, a.sum(-1, keepdims=True) - a).astype(drawn.array.dtype)
        given_way = (drawn * grad).sum(-1, True)
        return new_tensor(beside(drawn.array, slope)) * (grad - given_way), None


def moving(drawn: Tensor, concentration: Tensor) -> Tensor:
    """``drawn`` from Dirichlet distributions, with a gradient to ``concentration``."""
    return _Dirichlet.apply(concentration, drawn)
