"""The incomplete gamma functions: what share of Γ(a) = ∫ tᵃ⁻¹ e⁻ᵗ dt lies below x, and above it.

References
----------
W. Gautschi, "A computational procedure for incomplete gamma functions",
ACM TOMS 5(4), 1979: a series below a + 1, and a continued fraction beyond,
here by the method of W. J. Lentz, Applied Optics 15, 1976.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.approximations import lgamma as log_gamma
from autokit.ops.errors import require_floats
from autokit.ops.gpu.arrays import any_of, is_on_cpu, special
from autokit.ops.inplace import in_place
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.operators import no_derivative
from autokit.ops.special import lgamma

_MANY = 10_000
"""After so many terms the rest is left out: it is below rounding unless ``a`` is beyond 10⁷."""


def _series(a: Any, x: Any) -> Any:
    """Σ xⁿ / (a (a + 1) … (a + n))."""
    term = total = 1 / a
    for n in range(1, _MANY):
        term = term * x / (a + n)
        total = total + term
        if not any_of(np.abs(term) > np.abs(total) * 1e-17):
            break
    return total


def _fraction(a: Any, x: Any) -> Any:
    """1 / (x + 1 − a − 1 (1 − a) / (x + 3 − a − 2 (2 − a) / (x + 5 − a − …)))."""
    b = x + 1 - a
    c = np.full_like(b, 1e300)
    d = total = 1 / b
    for n in range(1, _MANY):
        step = n * (a - n)
        b = b + 2
        d = 1 / (step * d + b)
        c = b + step / c
        total = total * c * d
        if not any_of(np.abs(c * d - 1) > 1e-16):
            break
    return total


def _shares(a: Any, x: Any) -> tuple[Any, Any]:
    """The shares below x and above it."""
    own = x.dtype
    a, x = a.astype(np.float64), x.astype(np.float64)
    if not is_on_cpu(a):
        return special("gammainc", a, x).astype(own), special("gammaincc", a, x).astype(own)
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    below = inside & (x < a + 1)
    a_low, x_low = np.where(below, a, 1.0), np.where(below, x, 1.0)
    a_high, x_high = np.where(inside & ~below, a, 1.0), np.where(inside & ~below, x, 3.0)
    with np.errstate(all="ignore"):
        low = _series(a_low, x_low) * np.exp(a_low * np.log(x_low) - x_low - log_gamma(a_low))
        high = _fraction(a_high, x_high) * np.exp(a_high * np.log(x_high) - x_high - log_gamma(a_high))
    share = np.where(below, low, 1 - high)
    rest = np.where(below, 1 - low, high)
    # At the ends: all lies above 0, nothing beyond infinity, and for a = 0 everything is at 0.
    nothing = ((x == 0) & (a > 0)) | (np.isinf(a) & (a > 0) & np.isfinite(x) & (x >= 0))
    everything = (np.isinf(x) & (x > 0) & np.isfinite(a) & (a >= 0)) | ((a == 0) & (x > 0))
    for place, of_share in ((nothing, 0.0), (everything, 1.0), (~(inside | nothing | everything), np.nan)):
        share, rest = np.where(place, of_share, share), np.where(place, 1 - of_share, rest)
    return share.astype(own), rest.astype(own)


def _density(a: Any, x: Any) -> Any:
    """How fast the share below grows with x: xᵃ⁻¹ e⁻ˣ / Γ(a)."""
    return np.exp((a - 1) * np.log(x) - x - on(lgamma, a))


@operation(
    "P",
    "the share of Γ({a}) below {x}",
    a=no_derivative("igamma", has_slope=True),
    x=derivative("{x}^({a} − 1) · exp(−{x}) / Γ({a})", lambda g, a, x: g * _density(a, x)),
)
def igamma(a, x, /):
    """The lower incomplete gamma function ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a); as in PyTorch without a derivative by a."""
    require_floats("igamma_cpu", a)
    return _shares(a, x)[0]


@operation(
    "Q",
    "the share of Γ({a}) above {x}",
    a=no_derivative("igammac", has_slope=True),
    x=derivative("−{x}^({a} − 1) · exp(−{x}) / Γ({a})", lambda g, a, x: -g * _density(a, x)),
)
def igammac(a, x, /):
    """The upper incomplete gamma function ∫ₓ^∞ tᵃ⁻¹ e⁻ᵗ dt / Γ(a); it has no derivative by a either."""
    require_floats("igammac_cpu", a)
    return _shares(a, x)[1]


NAMES = Names(
    both="igamma igammac",
    other_methods={"igamma_": in_place(igamma), "igammac_": in_place(igammac)},
)
