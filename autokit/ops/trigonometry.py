"""Trigonometric and hyperbolic functions of each element, and their inverses; angles are in radians."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.ops.blocks import in_blocks
from autokit.ops.complex_numbers import is_complex
from autokit.ops.elementwise import cos, sin, tanh  # noqa: F401 - for their in-place functions
from autokit.ops.errors import require_floats
from autokit.ops.names import Names
from autokit.ops.operands import taking_numbers
from autokit.ops.operation import derivative, operation
from autokit.ops.operators import flat


@operation("tan", "tan {a}", a=derivative("1 + {out}²", lambda g, out: g * (1 + out * out)), floating=True)
def tan(a, /):
    """The tangent of each element."""
    return np.tan(a)


def _root_below_1(a: Any) -> Any:
    """√(1 − a²).

    On a branch cut of complex numbers the sign of a zero part tells the side. It is kept here, and in asinh
    too, by subtracting: z + 1 has an imaginary part of +0 for either zero.
    """
    return np.sqrt(-(a * a - 1) if is_complex(a) else 1 - a * a)


def _root_above_1(a: Any) -> Any:
    """√(a² − 1); of complex numbers √(a − 1) · √(a + 1), which has the right sign on the left, too."""
    return np.sqrt(a - 1) * np.sqrt(a - -1) if is_complex(a) else np.sqrt(a * a - 1)


@operation(
    "asin", "asin {a}", a=derivative("1 / √(1 − {a}²)", lambda g, a: g / _root_below_1(a)), floating=True
)
def asin(a, /):
    """The angle whose sine is each element; NaN outside [−1, 1]."""
    return np.arcsin(a)


@operation(
    "acos", "acos {a}", a=derivative("−1 / √(1 − {a}²)", lambda g, a: -g / _root_below_1(a)), floating=True
)
def acos(a, /):
    """The angle whose cosine is each element; NaN outside [−1, 1]."""
    return np.arccos(a)


@operation("atan", "atan {a}", a=derivative("1 / (1 + {a}²)", lambda g, a: g / (1 + a * a)), floating=True)
def atan(a, /):
    """The angle whose tangent is each element."""
    return np.arctan(a)


@operation(
    "atan2",
    "atan2({a}, {b})",
    a=derivative("{b} / ({a}² + {b}²)", lambda g, a, b: _turn(g * b, a, b)),
    b=derivative("−{a} / ({a}² + {b}²)", lambda g, a, b: _turn(g * -a, a, b)),
    floating=True,
)
def atan2(a, b, /):
    """The angle of the point with the height ``input`` and the width ``other``, from −π to π."""
    return np.arctan2(a, b)


def _turn(part: Any, a: Any, b: Any) -> Any:
    square = a * a + b * b  # 0 at the origin, where PyTorch takes the slope for 0
    return part * np.where(square == 0, 0.0, 1 / np.where(square == 0, 1.0, square))


@operation("sinh", "sinh {a}", a=derivative("cosh {a}", lambda g, a: g * np.cosh(a)), floating=True)
def sinh(a, /):
    """The hyperbolic sine of each element."""
    return np.sinh(a)


@operation("cosh", "cosh {a}", a=derivative("sinh {a}", lambda g, a: g * np.sinh(a)), floating=True)
def cosh(a, /):
    """The hyperbolic cosine of each element."""
    return np.cosh(a)


@operation(
    "asinh", "asinh {a}", a=derivative("1 / √({a}² + 1)", lambda g, a: g / np.sqrt(a * a - -1)), floating=True
)
def asinh(a, /):
    """The inverse hyperbolic sine of each element."""
    return np.arcsinh(a)


@operation(
    "acosh", "acosh {a}", a=derivative("1 / √({a}² − 1)", lambda g, a: g / _root_above_1(a)), floating=True
)
def acosh(a, /):
    """The inverse hyperbolic cosine of each element; NaN below 1."""
    return np.arccosh(a)


@operation("atanh", "atanh {a}", a=derivative("1 / (1 − {a}²)", lambda g, a: g / (1 - a * a)), floating=True)
def atanh(a, /):
    """The inverse hyperbolic tangent of each element; infinite at ±1."""
    return np.arctanh(a)


def _slope_of_sinc(g: Any, a: Any) -> Any:
    # Near 0 the quotient loses its digits, and its derivative more of them: there the series stands for it.
    near = np.abs(a) < 0.01
    x = math.pi * np.where(near, 1.0, a)
    small = math.pi * np.where(near, a, 0.0)
    square = small * small
    series = g * math.pi * small * (square * (1 / 30 - square / 840) - 1 / 3)
    return np.where(near, series, g * (x * np.cos(x) - np.sin(x)) / (x * x / math.pi))


@operation(
    "sinc",
    "sin(π{a}) / (π{a})",
    a=derivative("(cos(π{a}) − {out}) / {a}", _slope_of_sinc),
    floating=True,
)
def sinc(a, /):
    """sin(πx) / (πx) of each element x, and 1 at 0."""
    return np.sinc(a).astype(a.dtype)


@operation(
    "rad",
    "{a} · π/180",
    a=derivative("π/180", lambda g: g * (math.pi / 180)),
    floating=True,
    backward="Deg2RadBackward0",
)
def deg2rad(a, /):
    """Degrees to radians."""
    return a * (math.pi / 180)


@operation(
    "deg",
    "{a} · 180/π",
    a=derivative("180/π", lambda g: g * (180 / math.pi)),
    floating=True,
    backward="Rad2DegBackward0",
)
def rad2deg(a, /):
    """Radians to degrees."""
    return a * (180 / math.pi)


def _hypot(a: Any, b: Any) -> Any:
    require_floats("hypot_cpu", a)
    return np.hypot(a, b)


def _hypot_of_block(a: Any, b: Any, into: Any, /) -> None:
    np.hypot(a, b, out=into)


@operation(
    "hypot",
    "√({a}² + {b}²)",
    a=derivative("{a} / {out}", lambda g, a, out: g * (a / out)),
    b=derivative("{b} / {out}", lambda g, b, out: g * (b / out)),
    on_arrays=in_blocks(_hypot, _hypot_of_block, "native_arithmetic.hypot"),
)
def hypot(a, b, /):
    """The length of the hypotenuse over the legs ``input`` and ``other``."""
    return _hypot(a, b)


@operation("∠", "0 or π by the sign of {a}", a=flat, floating=True)
def angle(a, /):
    """The angle of each number in the plane: 0 if it is positive, π if it is negative."""
    if a.dtype.kind == "c":
        return np.angle(a)
    return np.where(np.isnan(a), a, np.where(a < 0, math.pi, 0.0)).astype(a.dtype)


_ALL = "acos acosh asin asinh atan atan2 atanh cosh deg2rad hypot rad2deg sinc sinh tan"

NAMES = Names(
    both=_ALL + " angle",
    in_place=_ALL,
    in_place_functions="acos acosh asin asinh atan atanh cos cosh deg2rad rad2deg sin sinc sinh tan tanh",
    aliases={
        "arccos": "acos",
        "arccosh": "acosh",
        "arcsin": "asin",
        "arcsinh": "asinh",
        "arctan": "atan",
        "arctan2": "atan2",
        "arctanh": "atanh",
    },
    numpy={
        np.tan: tan,
        np.arcsin: asin,
        np.arccos: acos,
        np.arctan: atan,
        np.arctan2: taking_numbers(atan2),
        np.sinh: sinh,
        np.cosh: cosh,
        np.arcsinh: asinh,
        np.arccosh: acosh,
        np.arctanh: atanh,
        np.sinc: sinc,
        np.deg2rad: deg2rad,
        np.radians: deg2rad,
        np.rad2deg: rad2deg,
        np.degrees: rad2deg,
        np.hypot: taking_numbers(hypot),
    },
)
