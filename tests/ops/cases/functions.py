"""Cases of the functions of each element: exponentials, trigonometry, rounding, special functions."""

from __future__ import annotations

import numpy as np

from tests.ops.case import B, I, P, R, otherwise
from tests.ops.case import case as c

UNIT = np.array([-0.9, -0.3, 0.1, 0.5, 0.95])
ENDS = np.array([0.0, 0.5, 3.0, 15.0, np.inf, -1.0])
AWKWARD = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.0, 30.0])


def _of(name: str, *arrays: np.ndarray) -> list:
    """A function and its method on each of the arrays."""
    cases = [c(name, lambda T, a: getattr(T, name)(a), array) for array in arrays]
    return [*cases, c(name, lambda T, a: getattr(a, name)(), arrays[0])]


EXPONENTIAL = [
    *[each for name in ("exp2", "expm1") for each in _of(name, R(2, 3), I(3), B(2), R(0), R())],
    *[each for name in ("log2", "log10", "log1p", "rsqrt", "reciprocal") for each in _of(name, P(2, 3), P())],
    c("reciprocal", lambda T, a: T.reciprocal(a), np.array([1, 2, -4])),
    c("rsqrt", lambda T, a: T.rsqrt(a), np.array([1, 2, 0])),
    c("logaddexp", lambda T, a, b: T.logaddexp(a, b), R(2, 3), R(3)),
    c("logaddexp", lambda T, a, b: a.logaddexp(b), np.array([1000.0, -1000.0]), np.array([1000.0, -999.0])),
    c("logaddexp2", lambda T, a, b: T.logaddexp2(a, b), R(2, 3), R(3)),
    c("xlogy", lambda T, a, b: T.xlogy(a, b), R(2, 3), P(3)),
    c("xlogy", lambda T, a: T.xlogy(a, 2.0), R(3)),
    c("xlogy", lambda T, a: T.xlogy(2.0, a), P(3)),
    c(
        "xlogy",
        lambda T, a, b: T.xlogy(a, b),
        np.array([0.0, 0.0, 0.0, 1.0]),
        np.array([0.0, -1.0, np.nan, 2.0]),
    ),
    c("xlogy", lambda T, a: T.special.xlogy(a, 3), I(4)),
    c("logit", lambda T, a: T.logit(a), np.array([0.1, 0.5, 0.9])),
    c("logit", lambda T, a: T.logit(a, eps=0.2), np.array([0.1, 0.5, 0.9, -1.0])),
    c("logit", lambda T, a: a.logit(1e-3), np.array([0.0, 0.25, 1.0])),
]

TRIGONOMETRY = [
    *[
        each
        for name in ("tan", "sinh", "cosh", "asinh", "atan", "sinc")
        for each in _of(name, R(2, 3), I(3), R())
    ],
    *[each for name in ("asin", "acos", "atanh") for each in _of(name, UNIT, I(3))],
    *_of("acosh", P(3) + 1),
    *[
        c(alias, lambda T, a, alias=alias: getattr(T, alias)(a), UNIT)
        for alias in ("arcsin", "arccos", "arctan", "arcsinh", "arctanh")
    ],
    c("arccosh", lambda T, a: T.arccosh(a), P(3) + 1),
    c("atan2", lambda T, a, b: T.atan2(a, b), R(2, 3), R(3)),
    c("atan2", lambda T, a, b: T.atan2(a, b), I(4), I(4)),
    c("arctan2", lambda T, a, b: a.arctan2(b), R(3), R(3)),
    c("deg2rad", lambda T, a: T.deg2rad(a), R(3)),
    c("deg2rad", lambda T, a: T.deg2rad(a), I(3)),
    c("rad2deg", lambda T, a: a.rad2deg(), R(3)),
    c("hypot", lambda T, a, b: T.hypot(a, b), R(2, 3), R(3)),
    c("angle", lambda T, a: T.angle(a), R(3)),
    c("angle", lambda T, a: a.angle(), AWKWARD),
    c("angle", lambda T, a: T.angle(a), I(4)),
]

ROUNDING = [
    *[each for name in ("ceil", "trunc", "sgn", "round") for each in _of(name, R(2, 3), I(3), AWKWARD)],
    *[each for name in ("frac", "fix") for each in _of(name, R(2, 3))],
    c("round", lambda T, a: T.round(a, decimals=1), R(5)),
    c("round", lambda T, a: a.round(decimals=-1), R(5) * 100),
    c("round", lambda T, a: T.round(a), np.array([0.5, 1.5, 2.5, -0.5])),
    c("signbit", lambda T, a: T.signbit(a), AWKWARD),
    c("signbit", lambda T, a: a.signbit(), I(4)),
    c("copysign", lambda T, a, b: T.copysign(a, b), R(2, 3), R(3)),
    c("copysign", lambda T, a: a.copysign(-1.0), R(3)),
    c(
        "copysign",
        lambda T, a, b: T.copysign(a.detach(), b),
        np.array([0.0, -0.0, 1.0]),
        np.array([-1.0, 1.0, -0.0]),
    ),
    c("heaviside", lambda T, a, b: T.heaviside(a.detach(), b.detach()), AWKWARD[:5], R(1)),
    c("nextafter", lambda T, a, b: T.nextafter(a.detach(), b.detach()), R(3), R(3)),
    c("nan_to_num", lambda T, a: T.nan_to_num(a), AWKWARD),
    c("nan_to_num", lambda T, a: a.nan_to_num(1.0, posinf=2.0, neginf=-3.0), AWKWARD),
    c("nan_to_num", lambda T, a: T.nan_to_num(a), I(3)),
]

MORE_ARITHMETIC = [
    c("square", lambda T, a: T.square(a), R(2, 3)),
    c("square", lambda T, a: a.square(), I(3)),
    c("positive", lambda T, a: T.positive(a), R(3)),
    c("positive", lambda T, a: +a, R(3)),
    otherwise("rsub", lambda T, a, b: T.rsub(a, b), R(2, 3), R(3)),
    c("rsub", lambda T, a: T.rsub(a, 2), R(3)),
    otherwise("rsub", lambda T, a: T.rsub(a, 2, alpha=3), R(3)),
    c("fmod", lambda T, a, b: T.fmod(a, b), R(2, 3), P(3)),
    c("fmod", lambda T, a: a.fmod(0.3), R(4)),
    c("fmod", lambda T, a: a.fmod(3), I(6)),
    c("float_power", lambda T, a, b: T.float_power(a, b), P(3), R(3)),
    c("float_power", lambda T, a: a.float_power(2), I(3)),
    c("float_power", lambda T, a: T.float_power(2, a), R(3)),
    otherwise("ldexp", lambda T, a, b: T.ldexp(a, b), R(3), [0, 1, 2]),
    otherwise("ldexp", lambda T, a, b: T.ldexp(a, b), I(3), I(3)),
    c("gcd", lambda T, a, b: T.gcd(a, b), I(6) * 6, I(6) * 4),
    c("lcm", lambda T, a, b: a.lcm(b), I(6), I(6)),
    c("fmax", lambda T, a, b: T.fmax(a, b), [1.0, np.nan, 2.0, np.nan], [1.0, 3.0, np.nan, np.nan]),
    c("fmin", lambda T, a, b: a.fmin(b), [1.0, np.nan, 2.0, 5.0], [1.0, 3.0, np.nan, 4.0]),
    c("maximum", lambda T, a, b: T.maximum(a, b), np.array([1.0, np.nan, 2.0]), np.array([1.0, 3.0, np.nan])),
    c("minimum", lambda T, a, b: T.minimum(a, b), np.array([1.0, np.nan, 2.0]), np.array([1.0, 3.0, np.nan])),
    c("addcmul", lambda T, a, b, d: T.addcmul(a, b, d), R(2, 3), R(3), R(2, 1)),
    c("addcmul", lambda T, a, b, d: a.addcmul(b, d, value=0.5), R(3), R(3), R(3)),
    c("addcmul", lambda T, a, b, d: T.addcmul(a, b, d, value=2), I(3), I(3), I(3)),
    c("addcdiv", lambda T, a, b, d: T.addcdiv(a, b, d), R(2, 3), R(3), P(2, 1)),
    c("addcdiv", lambda T, a, b, d: a.addcdiv(b, d, value=-0.5), R(3), R(3), P(3)),
    c("lerp", lambda T, a, b: T.lerp(a, b, 0.3), R(2, 3), R(3)),
    c("lerp", lambda T, a, b: a.lerp(b, 0.8), R(3), R(3)),
    c("lerp", lambda T, a, b, w: T.lerp(a, b, w), R(2, 3), R(3), P(3)),
    c("clamp_min", lambda T, a: T.clamp_min(a, 0.1), R(4)),
    c("clamp_max", lambda T, a: a.clamp_max(0.1), R(4)),
    c("clamp_min", lambda T, a, b: T.clamp_min(a, b), R(4), R(4)),
    c("clamp_max", lambda T, a, b: T.clamp_max(a, b), R(2, 4), R(4)),
    c(
        "clamp",
        lambda T, a, b, d: T.clamp(a, b, d),
        [1.0, 2.0, 3.0, 0.0],
        [1.0, 3.0, 0.0, 2.0],
        [2.0, 1.0, 3.0, 2.0],
    ),
    otherwise("clamp", lambda T, a, b: T.clamp(a, min=b), np.array([1.0, 2.0]), np.array([1.0, 3.0])),
]

SPECIAL = [
    *[each for name in ("erf", "erfc", "i0") for each in _of(name, R(2, 3), I(3), R(3) * 4)],
    *_of("erfinv", UNIT),
    *[each for name in ("lgamma", "digamma") for each in _of(name, P(2, 3), P(4) * 8, -UNIT - 1)],
    c("polygamma", lambda T, a: T.polygamma(1, a), P(3)),
    c("polygamma", lambda T, a: a.polygamma(2), P(3)),
    c("polygamma", lambda T, a: T.polygamma(0, a), P(3)),
    otherwise("polygamma_", lambda T, a: (a * 1).polygamma_(1), P(3)),
    otherwise("mvlgamma", lambda T, a: T.mvlgamma(a, 2), P(3) + 2),
    otherwise("mvlgamma", lambda T, a: a.mvlgamma(3), P(3) + 2),
    *[
        c(name, lambda T, a, name=name: getattr(T.special, name)(a), array)
        for name in (
            "i0e",
            "i1",
            "i1e",
            "erfcx",
            "log_ndtr",
            "expit",
            "psi",
            "gammaln",
            "exp2",
            "expm1",
            "log1p",
            "entr",
            "sinc",
        )
        for array in (P(2, 3), P(3) * 3)
    ],
    otherwise("round", lambda T, a: T.special.round(a, decimals=2), R(3)),
    c("float_power_", lambda T, a: (a.double() * 1).float_power_(1.5), P(3)),
    *[
        c(f"{name}_", lambda T, a, name=name: getattr(T, f"{name}_")(a.detach()), P(3))
        for name in ("asinh", "atanh", "arcsinh", "arctanh")
    ],
    otherwise("ndtr", lambda T, a: T.special.ndtr(a), R(3)),
    c("ndtri", lambda T, a: T.special.ndtri(a), np.array([0.01, 0.3, 0.5, 0.99])),
    c("xlog1py", lambda T, a, b: T.special.xlog1py(a, b), R(3), P(3)),
    otherwise("zeta", lambda T, a, b: T.special.zeta(a.detach(), b.detach()), P(3) + 1, P(3)),
    *[  # PyTorch gives these no gradient, and says nothing of it.
        c(name, lambda T, a, name=name: getattr(T.special, name)(a.detach()), array)
        for name in (
            *("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0"),
            *(f"modified_bessel_{name}" for name in ("i0", "i1", "k0", "k1")),
            *("scaled_modified_bessel_k0", "scaled_modified_bessel_k1"),
        )
        for array in (R(2, 3), P(4), I(3) / 2)  # where PyTorch's own are exact
    ],
]

GAMMA_AND_POLYNOMIALS = [
    *(
        otherwise(name, lambda T, a, x, n=name: getattr(T, n)(a.detach(), x), P(3, 1) * scale, P(4) * scale)
        for name in ("igamma", "igammac")
        for scale in (1, 8)
    ),
    *(
        c(name, lambda T, a, x, n=name: getattr(T, n)(a.detach(), x.detach()), ENDS[:, None], ENDS)
        for name in ("igamma", "igammac")
    ),
    *(
        otherwise(
            name,
            lambda T, x, name=name: getattr(x * 1, name)(T.tensor(0.5, dtype=x.dtype)).detach(),
            P(3),
        )
        for name in ("igamma_", "igammac_")
    ),
    *(
        c(name, lambda T, x, n, f=name: getattr(T.special, f)(x.detach(), n), R(3, 1), np.arange(-1, 6))
        for name in (
            *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
            *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"),
            "legendre_polynomial_p",
        )
    ),
]

CASES = [*GAMMA_AND_POLYNOMIALS, *EXPONENTIAL, *TRIGONOMETRY, *ROUNDING, *MORE_ARITHMETIC, *SPECIAL]
CASES += [  # some nodes of in-place forms have a number of their own in PyTorch
    otherwise(f"{name}_", lambda T, a, name=name: getattr(T, f"{name}_")(a * 1), P(2, 3) / 3)
    for name in [
        "abs",
        "acos",
        "asin",
        "atan",
        "ceil",
        "cos",
        "cosh",
        "deg2rad",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "fix",
        "floor",
        "frac",
        "i0",
        "log",
        "log10",
        "log1p",
        "log2",
        "logit",
        "nan_to_num",
        "neg",
        "rad2deg",
        "reciprocal",
        "relu",
        "round",
        "rsqrt",
        "selu",
        "celu",
        "sigmoid",
        "sin",
        "sinc",
        "sinh",
        "sqrt",
        "square",
        "tan",
        "tanh",
        "trunc",
    ]
]
