"""Error functions, gamma functions and Bessel functions; ``torch.special`` shows them under its names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.ops import approximations as by
from autokit.ops import hurwitz
from autokit.ops.blocks import in_blocks
from autokit.ops.gpu.arrays import like
from autokit.ops.guards import guards
from autokit.ops.inplace import in_place
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.own_copies import outliving
from autokit.tensor import Tensor

# ---------------------------------------------------------------- error functions

_BELL = 2 / math.sqrt(math.pi)


def _of_erf(g: Any, a: Any) -> Any:
    return g * (_BELL * np.exp(-a * a))


def _of_erf_of_block(g: Any, a: Any, into: Any, /) -> None:
    np.multiply(a, a, out=into)
    np.negative(into, out=into)
    np.exp(into, out=into)
    into *= _BELL
    into *= g


def _erf_of_block(a: Any, into: Any, /) -> None:
    into[...] = by.erf(a)


@operation(
    "erf",
    "erf {a}",
    a=derivative("2/√π · exp(−{a}²)", _of_erf, in_blocks(_of_erf, _of_erf_of_block)),
    floating=True,
    on_arrays=in_blocks(by.erf, _erf_of_block),
)
def erf(a, /):
    """The error function 2/√π · ∫ exp(−t²) dt from 0 to each element, after Cody (1969)."""
    return by.erf(a)


@operation(
    "erfc",
    "1 − erf {a}",
    a=derivative("−2/√π · exp(−{a}²)", lambda g, a: g * (-_BELL * np.exp(-a * a))),
    floating=True,
)
def erfc(a, /):
    """1 − erf(x) of each element x, exact where that is small."""
    return by.erfc(a)


@operation(
    "erfcx",
    "exp({a}²) · erfc {a}",
    a=derivative("2 · {a} · {out} − 2/√π", lambda g, a, out: g * (2 * a * out - _BELL)),
    floating=True,
    backward="SpecialErfcxBackward0",
)
def erfcx(a, /):
    """exp(x²) · erfc(x) of each element x."""
    return by.erfcx(a)


@operation(
    "erf⁻¹",
    "erf⁻¹ {a}",
    # By the operand, as in PyTorch: the result may be scaled and shifted in place.
    a=derivative("√π/2 · exp((erf⁻¹ {a})²)", lambda g, a: g * (np.exp(on(erfinv, a) ** 2) / _BELL)),
    floating=True,
)
def erfinv(a, /):
    """Where the error function is each element; NaN outside [−1, 1]."""
    return by.erfinv(a)


@outliving  # PyTorch keeps what its steps make
@operation(
    "Φ",
    "Φ({a})",
    a=derivative("exp(−{a}²/2) / √(2π)", lambda g, a: g * (np.exp(a * a * -0.5) / math.sqrt(2 * math.pi))),
    floating=True,
)
def ndtr(a, /):
    """The distribution function of the standard normal distribution."""
    return by.erfc(a * -math.sqrt(0.5)) / 2


@guards(results=(0,))
@operation(
    "log Φ",
    "log Φ({a})",
    a=derivative(
        "√(2/π) / erfcx(−{a}/√2)", lambda g, a: g * (math.sqrt(2 / math.pi) / on(erfcx, a * -math.sqrt(0.5)))
    ),
    floating=True,
    backward="SpecialLogNdtrBackward0",
)
def log_ndtr(a, /):
    """The logarithm of :func:`ndtr`, exact far to the left."""
    return by.log_ndtr(a)


@operation(
    "Φ⁻¹",
    "Φ⁻¹({a})",
    a=derivative(
        "√(2π) · exp({out}²/2)", lambda g, out: g * (math.sqrt(2 * math.pi) * np.exp(out * out / 2))
    ),
    floating=True,
    backward="SpecialNdtriBackward0",
)
def ndtri(a, /):
    """Where the standard normal distribution function is each element, after Acklam (2003)."""
    return by.ndtri(a)


# ---------------------------------------------------------------- gamma functions


@operation("log Γ", "log |Γ({a})|", a=derivative("ψ({a})", lambda g, a: g * on(digamma, a)), floating=True)
def lgamma(a, /):
    """The logarithm of |Γ|, by Stirling's series and, near its zeros 1 and 2, by Taylor's."""
    return by.lgamma(a)


@operation(
    "ψ", "ψ({a})", a=derivative("ψ′({a})", lambda g, a: g * on(plain_polygamma, a, n=1)), floating=True
)
def digamma(a, /):
    """ψ, the derivative of log Γ."""
    return by.digamma(a)


@operation(
    "ψ⁽ⁿ⁾",
    "ψ⁽ⁿ⁾({a})",
    a=derivative("ψ⁽ⁿ⁺¹⁾({a})", lambda g, a, n: g * on(plain_polygamma, a, n=n + 1)),
    floating=True,
    name="polygamma",
    elementwise=True,
)
def plain_polygamma(a, /, n=0):
    """See :func:`polygamma`."""
    if n == 0:
        return by.digamma(a)
    x = a.astype(np.float64)
    if n == 1:
        return by.trigamma(a)
    series = hurwitz.zeta(like(np.full_like, x, n + 1.0, shape=()), x)
    return ((-1) ** (n + 1) * math.factorial(n) * series).astype(a.dtype)


def polygamma(n: int, input: Tensor) -> Tensor:
    """The ``n``-th derivative of :func:`digamma`."""
    if not isinstance(n, int):
        raise TypeError(f"polygamma(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n: got {n}")
    return plain_polygamma(input, n)


def _polygamma_of(self: Tensor, n: int) -> Tensor:
    """The ``n``-th derivative of :func:`digamma`."""
    return polygamma(n, self)


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of matrices: Σ log Γ(x − j/2) over j < p, and p(p−1)/4 · log π."""
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, but it is {p}")
    if input.array.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor: convert it with .float()")
    total = lgamma(input) + p * (p - 1) / 4 * math.log(math.pi)
    for j in range(1, p):
        total = total + lgamma(input - j / 2)
    return total


def _refuse_exponent(g: Any) -> Any:
    raise NotImplementedError("the derivative for 'zeta' is not implemented: by its first argument, that is")


@operation(
    "ζ",
    "ζ({a}, {b})",
    a=derivative("not given", _refuse_exponent),
    b=derivative("−{a} · ζ({a} + 1, {b})", lambda g, a, b: g * (-a * on(zeta, a + 1, b))),
    floating=True,
    backward="SpecialZetaBackward0",
)
def zeta(a, b, /):
    """Hurwitz' zeta function Σ (k + b)^−a over k from 0; it has a gradient by b alone, as in PyTorch."""
    return hurwitz.zeta(a, b)


@operation(
    "−x log x",
    "−{a} · log {a}",
    a=derivative("−log {a} − 1", lambda g, a: g * (-np.log(a) - 1)),
    floating=True,
    backward="SpecialEntrBackward0",
)
def entr(a, /):
    """−x · log x of each element x: 0 at 0 and −∞ below."""
    return np.where(a == 0, 0, np.where(a < 0, -np.inf, -a * np.log(a))).astype(a.dtype)


# ---------------------------------------------------------------- Bessel functions


@operation("I₀", "I₀({a})", a=derivative("I₁({a})", lambda g, a: g * on(i1, a)), floating=True)
def i0(a, /):
    """The modified Bessel function of order 0."""
    return by.i0(a)


def _of_i1(g: Any, a: Any, out: Any) -> Any:
    zero = a == 0
    return g * np.where(zero, 0.5, on(i0, a) - out / np.where(zero, 1.0, a))


@operation(
    "I₁",
    "I₁({a})",
    a=derivative("I₀({a}) − {out} / {a}", _of_i1),
    floating=True,
    backward="SpecialI1Backward0",
)
def i1(a, /):
    """The modified Bessel function of order 1."""
    return by.i1(a)


@operation(
    "I₀ₑ",
    "I₀({a}) · exp −|{a}|",
    a=derivative("I₁ₑ({a}) − sign({a}) · {out}", lambda g, a, out: g * (on(i1e, a) - np.sign(a) * out)),
    floating=True,
    backward="SpecialI0EBackward0",
)
def i0e(a, /):
    """:func:`i0`, scaled by exp(−|x|)."""
    return by.i0e(a)


def _of_i1e(g: Any, a: Any, out: Any) -> Any:
    zero = a == 0
    return g * np.where(zero, 0.5, on(i0e, a) - out * (np.sign(a) + 1 / np.where(zero, 1.0, a)))


@operation(
    "I₁ₑ",
    "I₁({a}) · exp −|{a}|",
    a=derivative("I₀ₑ({a}) − {out} · (sign({a}) + 1 / {a})", _of_i1e),
    floating=True,
    backward="SpecialI1EBackward0",
)
def i1e(a, /):
    """:func:`i1`, scaled by exp(−|x|)."""
    return by.i1e(a)


NAMES = Names(
    both="digamma erf erfc erfinv i0 lgamma mvlgamma",
    functions="polygamma",
    other_methods={"polygamma": _polygamma_of, "polygamma_": in_place(_polygamma_of)},
    in_place="digamma erf erfc erfinv i0 lgamma mvlgamma",
    in_place_functions="erf erfc i0",
    numpy={np.i0: i0},
)
