"""Special functions, which SciPy computes, beside PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import autokit
from tests.oracle import compare, compare_errors, elementwise, numbers

INSIDE = numbers(2, 3, seed=1, low=0.05, high=0.95)
NAMES = "erf erfc erfinv lgamma digamma i0 logit sinc"


test_values_dtypes_and_gradients = elementwise(NAMES, INSIDE)


@pytest.mark.parametrize(
    "name", ["erf", "erfc", "ndtr", "expit", "gammaln", "psi", "i0", "i1", "sinc", "log1p"]
)
def test_the_names_of_torch_special(name: str):
    wide = np.array([[-3.3, -0.7, 0.4], [1.6, 4.2, 7.7]])
    compare(lambda torch, a: getattr(torch.special, name)(a), wide, tolerance=1e-7)


def test_the_fast_error_function_of_float32_is_the_plain_one():
    rule = autokit.erf.operation
    points = np.concatenate([np.linspace(-8, 8, 4001), [1e-30, 1e3, -1e20, np.inf, -np.inf, np.nan]])
    points = points.astype(np.float32)
    np.testing.assert_allclose(rule.forward(points), rule.plain(points), rtol=5e-7)


def test_inverses_of_distribution_functions():
    compare(lambda torch, a: torch.special.ndtri(a), INSIDE, tolerance=1e-7)
    compare(lambda torch, a: torch.special.logit(a, 0.3), INSIDE)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_derivatives_of_the_digamma_function(n: int):
    compare(lambda torch, a: torch.polygamma(n, a), INSIDE, tolerance=1e-7)
    compare(lambda torch, a: a.polygamma(n), INSIDE.astype(np.float32), second=False, tolerance=1e-4)


def test_products_with_logarithms_are_zero_at_zero():
    compare(lambda torch, a, b: torch.xlogy(a, b), numbers(2, 3), INSIDE)
    zeros = np.array([0.0, 0.0, 2.0])
    compare(lambda torch, a, b: torch.xlogy(a, b) * 0, np.ones(2), np.array([0.0, 1.0]), second=False)
    compare(lambda torch, a, b: torch.xlogy(a, b), zeros, np.array([0.0, -1.0, 3.0]), second=False)


def test_sinc_is_curved_at_zero_where_pytorch_has_nan():
    x = autokit.tensor([0.0, 1e-30, 1e-8, 0.009], dtype=autokit.float64, requires_grad=True)
    (slope,) = autokit.autograd.grad(autokit.sinc(x).sum(), x, create_graph=True)
    (curvature,) = autokit.autograd.grad(slope.sum(), x)
    pi_x = np.pi * x.detach().numpy()
    series = -(np.pi**2) * (1 / 3 - pi_x**2 / 10 + pi_x**4 / 168)
    np.testing.assert_allclose(curvature.numpy(), series, rtol=1e-9)


def test_errors():
    assert "negative n" in compare_errors(lambda torch, a: torch.polygamma(-1, a), INSIDE)
    with pytest.raises(AttributeError, match="zeta"):
        autokit.special.zeta  # noqa: B018
