"""Special functions beside PyTorch: calls, gradients, and how exact they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autokit
from tests.ops.beside import assert_same_error, assert_same_gradients, assert_same_outcome
from tests.support import require

require("torch")
import torch  # noqa: E402

CALLS = [
    "T.mvlgamma(x,2)",
    "T.mvlgamma(x,9)",
    "T.erfinv(i)",
    "T.lgamma(i)",
    "T.digamma(i)",
    "T.special.zeta(x,2.)",
    "T.special.zeta(2.,x)",
    "T.special.xlog1py(x,2)",
    "T.special.expit(i)",
    "T.special.entr(i)",
    "T.special.i1(i)",
    "T.special.ndtri(x)",
    "T.special.polygamma(2,x)",
    "T.special.log_ndtr(i)",
    "T.special.erfcx(i)",
    "T.special.logit(x,.1)",
    "T.erf(h)",
    "T.lgamma(h)",
    "T.digamma(h)",
    "T.erfinv(h/4)",
    "T.i0(h)",
    "x.mvlgamma_(1)",
    "x.polygamma_(1)",
    "x.erfinv_()",
    "x.digamma_()",
]

WRONG = [
    "T.erf(1.)",
    "T.polygamma(-1,x)",
    "T.polygamma(1.,x)",
    "T.mvlgamma(x,0)",
]


@pytest.mark.parametrize("line", CALLS)
def test_a_call_gives_what_pytorch_gives(line: str):
    assert_same_outcome(line)


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_call_raises_what_pytorch_raises(line: str):
    assert_same_error(line)


SMOOTH_OR_BENT: dict[str, Any] = {
    "erf": lambda T, x: T.erf(x),
    "lgamma": lambda T, x: T.lgamma(x),
    "erfinv": lambda T, x: T.erfinv(x),
    "i0": lambda T, x: T.i0(x),
    "ndtr": lambda T, x: T.special.ndtr(x),
    "i0e": lambda T, x: T.special.i0e(x),
    "entr": lambda T, x: T.special.entr(x),
    "erfcx": lambda T, x: T.special.erfcx(x),
    "erfc": lambda T, x: T.erfc(x),
    "ndtri": lambda T, x: T.special.ndtri(x),
    "polygamma": lambda T, x: T.polygamma(1, x),
}


@pytest.mark.parametrize("seed", [1.0, 0.0, -2.5])
@pytest.mark.parametrize("name", SMOOTH_OR_BENT)
def test_gradients_at_kinks_zeros_infinities_and_nan_are_pytorchs(name: str, seed: float):
    assert_same_gradients(SMOOTH_OR_BENT[name], seed)


ACCURACY = {
    "erf": (np.linspace(-6, 6, 4001), 1e-15, 2e-7),
    "erfc": (np.linspace(-5, 9, 4001), 3e-14, 1e-6),
    "erfinv": (np.linspace(-0.99999, 0.99999, 4001), 1e-12, 2e-6),
    "lgamma": (np.linspace(0.01, 60, 4001), 1e-12, 2e-6),
    "digamma": (np.linspace(0.01, 60, 4001), 1e-12, 2e-6),
    "i0": (np.linspace(-40, 40, 4001), 1e-12, 2e-6),
    "special.i1": (np.linspace(-40, 40, 4001), 1e-12, 2e-6),
    "special.ndtri": (np.linspace(0.001, 0.999, 4001), 1e-12, 5e-6),
    "special.log_ndtr": (np.linspace(-20, 5, 4001), 1e-12, 5e-6),
    "special.erfcx": (np.linspace(-5, 50, 4001), 1e-12, 5e-6),
}
"""Where, and how near to PyTorch in float64 and in float32."""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ACCURACY)
def test_the_approximations_are_as_exact_as_pytorchs(name: str, dtype: str):
    points, *allowed = ACCURACY[name]
    tolerance = allowed[dtype == "float32"]
    found = []
    for library in (autokit, torch):
        function: Any = library
        for part in name.split("."):
            function = getattr(function, part)
        found.append(function(library.tensor(points.astype(dtype))).numpy())
    np.testing.assert_allclose(*found, rtol=tolerance, atol=tolerance)


def test_the_error_function_of_float32_is_exact_to_four_units_in_the_last_place():
    x = np.concatenate([np.linspace(-6, 6, 200_001), np.logspace(-30, 0, 10_000)]).astype(np.float32)
    exact = torch.erf(torch.tensor(x.astype(np.float64))).numpy()
    ours = autokit.erf(autokit.tensor(x)).numpy()
    assert (np.abs(ours - exact) <= 4 * np.spacing(np.abs(exact).astype(np.float32))).all()


@pytest.mark.parametrize("count", [1, 7, 40, 200])
def test_the_incomplete_gamma_function_of_a_whole_number_is_a_finite_sum(count: int):
    """Above x lies e⁻ˣ Σ xᵏ / k! over k < a; PyTorch loses seven digits where a and x are large and equal."""
    for x in (0.1 * count, float(count), 2.0 * count):
        above = math.fsum(math.exp(k * math.log(x) - x - math.lgamma(k + 1)) for k in range(count))
        a = autokit.tensor(float(count), dtype=autokit.float64)
        found = autokit.igammac(a, autokit.tensor(x, dtype=autokit.float64)).item()
        assert math.isclose(found, above, rel_tol=1e-11)
        below = autokit.special.gammainc(a, autokit.tensor(x, dtype=autokit.float64)).item()
        assert math.isclose(below + found, 1, rel_tol=1e-13)
