"""Special functions beside PyTorch: calls, gradients, and how exact they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.ops import bessel
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
    "T.special.airy_ai(x=x)",
    "T.special.airy_ai(i)",
    "T.special.bessel_j0(i)",
    "T.special.modified_bessel_k1(i)",
]

WRONG = [
    "T.erf(1.)",
    "T.polygamma(-1,x)",
    "T.polygamma(1.,x)",
    "T.mvlgamma(x,0)",
    "T.special.airy_ai(1.)",
    "T.special.airy_ai(input=x)",
    "T.special.bessel_j0(1.)",
    "T.special.bessel_y1(T.ones(2, dtype=T.complex64))",
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


# ---------------------------------------------------------------- Bessel and Airy functions


SWINGING: dict[str, Any] = {
    "bessel_j0": lambda mp, x: mp.besselj(0, x),
    "bessel_j1": lambda mp, x: mp.besselj(1, x),
    "bessel_y0": lambda mp, x: mp.bessely(0, x),
    "bessel_y1": lambda mp, x: mp.bessely(1, x),
    "spherical_bessel_j0": lambda mp, x: mp.sin(x) / x,
}
FALLING: dict[str, Any] = {
    "modified_bessel_k0": lambda mp, x: mp.besselk(0, x),
    "modified_bessel_k1": lambda mp, x: mp.besselk(1, x),
    "scaled_modified_bessel_k0": lambda mp, x: mp.exp(x) * mp.besselk(0, x),
    "scaled_modified_bessel_k1": lambda mp, x: mp.exp(x) * mp.besselk(1, x),
}
"""Functions of ``torch.special``, and what computes them in 30 digits."""

BESSEL = ["airy_ai", *SWINGING, *FALLING, "modified_bessel_i0", "modified_bessel_i1"]
POSITIVE = np.concatenate([np.linspace(0.05, 20, 200), np.logspace(-300, 2.8, 60), [1e5, 1e10]])


def _exact(function: Any, points: np.ndarray) -> np.ndarray:
    require("mpmath")
    import mpmath

    with mpmath.workdps(30):
        return np.array([float(function(mpmath, mpmath.mpf(float(x)))) for x in points])


def _ours(name: str, x: np.ndarray) -> np.ndarray:
    return getattr(autokit.special, name)(autokit.tensor(x)).numpy()


@pytest.mark.parametrize("name", SWINGING)
def test_bessel_functions_that_swing_are_exact_to_14_digits_of_their_swing(name: str):
    exact = _exact(SWINGING[name], POSITIVE)
    swing = 1 / np.maximum(POSITIVE, 1) if name.startswith("s") else 1 / np.sqrt(np.maximum(POSITIVE, 1))
    found = _ours(name, POSITIVE)
    assert (np.abs(found - exact) <= 1e-14 * np.maximum(np.abs(exact), swing)).all()
    if "_j" in name:
        np.testing.assert_array_equal(_ours(name, -POSITIVE), -found if name == "bessel_j1" else found)


@pytest.mark.parametrize("name", FALLING)
def test_bessel_functions_that_fall_off_are_exact_to_13_digits(name: str):
    points = POSITIVE[POSITIVE < 600]
    np.testing.assert_allclose(_ours(name, points), _exact(FALLING[name], points), 1e-13)


def test_airys_function_and_its_slope_are_exact_to_the_rounding_of_their_angle():
    points = np.concatenate([np.linspace(-100, 100, 101), np.linspace(-4, 4, 161), [-1e-9, 1e-200, 0.0]])
    x = autokit.tensor(points, requires_grad=True)
    found = autokit.special.airy_ai(x)
    found.sum().backward()
    angle = 1 + 2 / 3 * np.abs(points) ** 1.5
    for order, values in enumerate((found.detach().numpy(), x.grad.numpy())):
        exact = _exact(lambda mp, x, n=order: mp.airyai(x, derivative=n), points)
        other = _exact(lambda mp, x, n=order: mp.airybi(x, derivative=n), np.minimum(points, 0))
        swing = np.where(points < 0, np.hypot(exact, other), np.abs(exact))  # as sine and cosine
        assert (np.abs(values - exact) <= 2e-15 * angle * swing).all()


@pytest.mark.parametrize("direction", [1, -1j])
@pytest.mark.parametrize("order", [0, 1, 1 / 3, 2 / 3])
def test_the_polynomial_stands_for_the_integral_at_all_places(order: float, direction: complex):
    sizes = np.concatenate([np.linspace(bessel._LEAST, 30, 500), np.logspace(1.5, 300, 20)])
    coefficients = bessel._fitted(order, direction)
    found = np.polyval(coefficients, 2 * bessel._LEAST / sizes - 1)
    np.testing.assert_allclose(found, bessel._integral(order, 1 / (direction * sizes)), rtol=5e-15)


@pytest.mark.parametrize("name", BESSEL)
def test_many_elements_are_those_of_each_by_itself_however_they_lie(name: str):
    x = np.random.RandomState(0).uniform(-4, 30, (3, 4000))
    found, few = _ours(name, x), _ours(name, x[:, :50])
    np.testing.assert_array_equal(found[:, :50], few)
    np.testing.assert_array_equal(_ours(name, x.T), found.T)
    rows = autokit.vmap(getattr(autokit.special, name))(autokit.tensor(x[:, :50]))
    np.testing.assert_array_equal(rows.numpy(), few)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", BESSEL)
def test_bessel_and_airy_functions_are_pytorchs(name: str, dtype: str):
    """Those that swing are exact to 3e-6 in PyTorch itself, between 2 and 13, as the tests above tell."""
    ends = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-30, -1e-30, -1e-3]
    x = np.array([*np.linspace(-30, 30, 601), *ends]).astype(dtype)
    theirs = getattr(torch.special, name)(torch.tensor(x)).numpy()
    tolerance = 3e-6 if dtype == "float32" or name in SWINGING or name == "airy_ai" else 1e-13
    np.testing.assert_allclose(_ours(name, x), theirs, tolerance, tolerance)
    assert _ours(name, x).dtype == dtype


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_and_airy_functions_have_the_derivatives_that_pytorch_lacks(name: str):
    points = [0.3, 0.9, 1.99, 2.01, 3.0, 20.0]
    function = getattr(autokit.special, name)
    if "_k" not in name and "_y" not in name:
        points += [-each for each in points] + [0.0, 1e-4]
    x = autokit.tensor(points, dtype=autokit.float64, requires_grad=True)
    assert autokit.autograd.gradcheck(function, (x,))
    assert autokit.autograd.gradgradcheck(function, (x,))


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_gamma_functions_next_to_their_poles_keep_how_near_they_are(name: str):
    near = [sign * 10.0**power for power in (-200, -30, -16, -8, -3) for sign in (1, -1)]
    numbers = [*near, -2 + 1e-5, -2 - 1e-5]
    made, expected = (
        getattr(library, name)(library.tensor(numbers, dtype=library.float64)) for library in (autokit, torch)
    )
    np.testing.assert_allclose(made.numpy(), expected.numpy(), rtol=1e-9)


LOOPS = ("erfc", "erfcx", "log_ndtr", "erfinv", "lgamma", "digamma", "i0", "i0e", "i1", "i1e")


@pytest.mark.parametrize("name", LOOPS)
def test_the_compiled_loops_are_exact_to_two_units_in_the_last_place(name: str):
    """Beside PyTorch in float64; near their own zeros 1e-14 of what is summed up is left."""
    require("numba")
    random = np.random.RandomState(0)
    numbers = random.standard_normal(40_000) * 10.0 ** random.uniform(-6, 3, 40_000)
    if name == "erfinv":
        numbers = np.tanh(numbers)
    single = np.append(numbers, np.repeat([0.0, -0.0, 1.0, 2.0, -1.0], 20)).astype(np.float32)
    with autokit.backends.numba.flags(enabled=True), np.errstate(all="ignore"):
        made = getattr(autokit.special, ALIASES.get(name, name))(autokit.from_numpy(single)).numpy()
        exact = getattr(torch.special, ALIASES.get(name, name))(torch.from_numpy(single).double()).numpy()
        rounded = exact.astype(np.float32)
        unit = np.spacing(np.abs(rounded)).astype(np.float64)
    counts = np.isfinite(rounded) & (np.abs(rounded) > 1e-37)
    assert (np.abs(made.astype(np.float64) - exact)[counts] <= 2 * unit[counts] + 1e-14).all()
    np.testing.assert_array_equal(made[~np.isfinite(rounded)], rounded[~np.isfinite(rounded)])


ALIASES = {"lgamma": "gammaln", "digamma": "psi"}
