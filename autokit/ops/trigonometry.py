"""Trigonometric and hyperbolic functions of each element, and their inverses; angles are in radians."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.engine.operation import derivative, operation
from autokit.ops.names import Names


@operation("sin", "sin {a}", a=derivative("cos {a}", lambda g, a: g * np.cos(a)), floating=True)
def sin(a, /):
    """The sine of each element."""
    return np.sin(a)


@operation("cos", "cos {a}", a=derivative("−sin {a}", lambda g, a: -g * np.sin(a)), floating=True)
def cos(a, /):
    """The cosine of each element."""
    return np.cos(a)


@operation("tan", "tan {a}", a=derivative("1 + {out}²", lambda g, out: g * (1 + out * out)), floating=True)
def tan(a, /):
    """The tangent of each element."""
    return np.tan(a)


@operation(
    "asin",
    "asin {a}",
    a=derivative("1 / √(1 − {a}²)", lambda g, a: g / np.sqrt(1 - a * a)),
    floating=True,
)
def asin(a, /):
    """The angle whose sine is each element; NaN outside [−1, 1]."""
    return np.arcsin(a)


@operation(
    "acos",
    "acos {a}",
    a=derivative("−1 / √(1 − {a}²)", lambda g, a: -g / np.sqrt(1 - a * a)),
    floating=True,
)
def acos(a, /):
    """The angle whose cosine is each element; NaN outside [−1, 1]."""
    return np.arccos(a)


@operation("atan", "atan {a}", a=derivative("1 / (1 + {a}²)", lambda g, a: g / (1 + a * a)), floating=True)
def atan(a, /):
    """The angle whose tangent is each element."""
    return np.arctan(a)


def _turn(g: Any, part: Any, a: Any, b: Any) -> Any:
    """``g · part / (a² + b²)``; at the origin, where no angle is defined, 0."""
    square = a * a + b * b
    return g * np.where(square == 0, 0, part / np.where(square == 0, 1, square))


@operation(
    "atan2",
    "atan2({a}, {b})",
    a=derivative("{b} / ({a}² + {b}²)", lambda g, a, b: _turn(g, b, a, b)),
    b=derivative("−{a} / ({a}² + {b}²)", lambda g, a, b: _turn(g, -a, a, b)),
    floating=True,
)
def atan2(a, b, /):
    """The angle of the point with the height ``input`` and the width ``other``, from −π to π."""
    return np.arctan2(a, b)


@operation("sinh", "sinh {a}", a=derivative("cosh {a}", lambda g, a: g * np.cosh(a)), floating=True)
def sinh(a, /):
    """The hyperbolic sine of each element."""
    return np.sinh(a)


@operation("cosh", "cosh {a}", a=derivative("sinh {a}", lambda g, a: g * np.sinh(a)), floating=True)
def cosh(a, /):
    """The hyperbolic cosine of each element."""
    return np.cosh(a)


# Operations on arrays alone take less time to start than `1 - out * out`, in which 1 is a number.
@operation(
    "tanh",
    "tanh {a}",
    a=derivative("1 − {out}²", lambda g, out: g - g * out * out),
    floating=True,
    fast=np.tanh,
)
def tanh(a, /):
    """The hyperbolic tangent of each element."""
    return np.tanh(a)


@operation(
    "asinh",
    "asinh {a}",
    a=derivative("1 / √({a}² + 1)", lambda g, a: g / np.sqrt(a * a + 1)),
    floating=True,
)
def asinh(a, /):
    """The inverse hyperbolic sine of each element."""
    return np.arcsinh(a)


@operation(
    "acosh",
    "acosh {a}",
    a=derivative("1 / √({a}² − 1)", lambda g, a: g / np.sqrt(a * a - 1)),
    floating=True,
)
def acosh(a, /):
    """The inverse hyperbolic cosine of each element; NaN below 1."""
    return np.arccosh(a)


@operation("atanh", "atanh {a}", a=derivative("1 / (1 − {a}²)", lambda g, a: g / (1 - a * a)), floating=True)
def atanh(a, /):
    """The inverse hyperbolic tangent of each element; infinite at ±1."""
    return np.arctanh(a)


@operation("rad", "{a} · π/180", a=derivative("π/180", lambda g: g * (math.pi / 180)), floating=True)
def deg2rad(a, /):
    """Degrees to radians."""
    return np.deg2rad(a)


@operation("deg", "{a} · 180/π", a=derivative("180/π", lambda g: g * (180 / math.pi)), floating=True)
def rad2deg(a, /):
    """Radians to degrees."""
    return np.rad2deg(a)


@operation(
    "hypot",
    "√({a}² + {b}²)",
    a=derivative("{a} / {out}", lambda g, a, out: g * (a / out)),
    b=derivative("{b} / {out}", lambda g, b, out: g * (b / out)),
    floating=True,
)
def hypot(a, b, /):
    """The length of the hypotenuse over the legs ``input`` and ``other``."""
    return np.hypot(a, b)


_OF_ONE = "acos acosh asin asinh atan atanh cos cosh deg2rad rad2deg sin sinh tan tanh"

NAMES = Names(
    both=_OF_ONE + " atan2 hypot",
    functional="tanh",
    in_place=_OF_ONE + " atan2 hypot",
    in_place_functions=_OF_ONE,
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
        np.sin: sin,
        np.cos: cos,
        np.tan: tan,
        np.arcsin: asin,
        np.arccos: acos,
        np.arctan: atan,
        np.arctan2: atan2,
        np.sinh: sinh,
        np.cosh: cosh,
        np.tanh: tanh,
        np.arcsinh: asinh,
        np.arccosh: acosh,
        np.arctanh: atanh,
        np.deg2rad: deg2rad,
        np.radians: deg2rad,
        np.rad2deg: rad2deg,
        np.degrees: rad2deg,
        np.hypot: hypot,
    },
)
