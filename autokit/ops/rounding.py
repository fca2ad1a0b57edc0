"""Rounding, absolute values and signs of each element; a rounded value is constant except for jumps."""

from __future__ import annotations

import numpy as np

from autokit.engine.operation import derivative, operation, unchanged
from autokit.engine.tensor import Tensor
from autokit.ops.arithmetic import flat
from autokit.ops.names import Names


@operation("| |", "|{a}|", a=derivative("sign of {a}", lambda g, a: g * np.sign(a)))
def abs(a, /):
    """The absolute value of each element; at 0, where it has a kink, its derivative is 0."""
    return np.abs(a)


@operation("sign", "sign of {a}", a=flat)
def sign(a, /):
    """−1, 0 or 1 for each element."""
    return np.sign(a)


@operation("⌊ ⌋", "⌊{a}⌋", a=flat)
def floor(a, /):
    """Each element rounded down."""
    return np.floor(a)


@operation("⌈ ⌉", "⌈{a}⌉", a=flat)
def ceil(a, /):
    """Each element rounded up."""
    return np.ceil(a)


@operation("trunc", "{a} rounded towards 0", a=flat)
def trunc(a, /):
    """Each element rounded towards 0."""
    return np.trunc(a)


@operation("frac", "{a} − trunc {a}", a=derivative("1", unchanged))
def frac(a, /):
    """The part of each element after the decimal point, with the element's sign."""
    return a - np.trunc(a)


@operation("round", "{a} rounded", a=flat, name="round")
def rounded(a, /, decimals=0):
    """Each element rounded to ``decimals`` places."""
    return np.round(a, decimals)


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Each element rounded to ``decimals`` places; a half goes to the even neighbour.

    >>> import autokit as torch
    >>> torch.round(torch.tensor([0.5, 1.5, 2.345]))
    tensor([0., 2., 2.])
    """
    return rounded(input, decimals)


@operation(
    "copysign",
    "|{a}| with the sign of {b}",
    a=derivative("{out} / {a}", lambda g, a, out: g * np.where(a == 0, 0, out / np.where(a == 0, 1, a))),
    b=flat,
    floating=True,
)
def copysign(a, b, /):
    """The size of ``input`` with the sign of ``other``."""
    return np.copysign(a, b)


@operation("step", "0, {values} or 1 by the sign of {input}")
def heaviside(input, values, /):
    """0 where ``input`` is negative, 1 where it is positive, and ``values`` where it is 0."""
    return np.where(input == 0, values, input > 0).astype(input.dtype)


@operation(
    "nan → 0",
    "{a}, without nan and inf",
    a=derivative("1 where {a} is finite, else 0", lambda g, a: np.where(np.isfinite(a), g, 0)),
)
def nan_to_num(a, /, nan=0.0, posinf=None, neginf=None):
    """Each element, with numbers in place of NaN (0) and of ±∞ (the largest and smallest of the dtype)."""
    return np.nan_to_num(a, nan=nan, posinf=posinf, neginf=neginf)


_OF_ONE = "abs ceil floor frac nan_to_num round sign trunc"

NAMES = Names(
    both=_OF_ONE + " copysign heaviside",
    in_place=_OF_ONE + " copysign",
    in_place_functions="abs ceil floor frac nan_to_num round trunc",
    aliases={"absolute": "abs", "fix": "trunc", "sgn": "sign"},
    numpy={
        np.absolute: abs,
        np.sign: sign,
        np.floor: floor,
        np.ceil: ceil,
        np.trunc: trunc,
        np.round: rounded,
        np.rint: rounded,
        np.copysign: copysign,
        np.heaviside: heaviside,
        np.nan_to_num: nan_to_num,
    },
)

OPERATORS = {"__abs__": abs}
"""Python's functions of numbers, for tensors."""
