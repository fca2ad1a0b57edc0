"""Rounding, the parts of a number, and its sign.  All are flat but for steps: their slopes are 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.dtypes import BY_NUMPY, FLOATS
from autokit.limits import finfo
from autokit.ops.blocks import in_blocks, replace
from autokit.ops.complex_numbers import is_complex
from autokit.ops.elementwise import abs, floor, sign  # noqa: F401 - for their in-place functions
from autokit.ops.errors import refuse_bools_in, require_floats, require_tensor
from autokit.ops.gpu.arrays import like
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.operands import taking_numbers
from autokit.ops.operation import derivative, operation
from autokit.ops.operators import flat, is_number, no_derivative
from autokit.ops.recording import unchanged
from autokit.tensor import Tensor


@operation("⌈ ⌉", "⌈{a}⌉", a=flat)
def ceil(a, /):
    """Each element rounded up."""
    refuse_bools_in("ceil_vml_cpu", a)
    return np.ceil(a)


@operation("trunc", "{a} rounded towards 0", a=flat)
def trunc(a, /):
    """Each element rounded towards 0."""
    refuse_bools_in("trunc_vml_cpu", a)
    return np.trunc(a)


def _frac(a: Any) -> Any:
    require_floats("frac_cpu", a)
    return a - np.trunc(a)


def _frac_of_block(a: Any, into: Any, /) -> None:
    np.subtract(a, np.trunc(a, out=into), out=into)


@operation(
    "frac",
    "{a} − trunc {a}",
    a=derivative("1", unchanged),
    on_arrays=in_blocks(_frac, _frac_of_block, "native_arithmetic.frac"),
)
def frac(a, /):
    """What is left of each element after the point, with its sign."""
    return _frac(a)


@operation(
    "round",
    "{a} rounded",
    a=flat,
    name="round",
    backward=lambda node: f"RoundBackward{int(node.settings['decimals'] != 0)}",
    elementwise=True,
)
def rounded(a, /, decimals=0):
    """See :func:`round`."""
    refuse_bools_in("round_vml_cpu", a)
    return np.round(a, decimals)


def round(input: Tensor, *, decimals: int | None = None) -> Tensor:
    """Each element rounded to ``decimals`` places, or to a whole number; a half goes to the even neighbour.

    Raises
    ------
    NotImplementedError
        If integers are to be rounded to a number of places.
    """
    if decimals is not None:
        require_floats("round_cpu" if decimals else "round_vml_cpu", input.array)
    return rounded(input, decimals=decimals or 0)


@operation("−?", "is the sign of {a} minus")
def signbit(a, /):
    """Where the sign is minus, that of −0 included."""
    return np.signbit(a) if a.dtype.kind in FLOATS else a < 0


@guards(results=(0,))
@operation(
    "copysign",
    "|{a}| with the sign of {b}",
    a=derivative("{out} / {a}", lambda g, a, out: g * np.where(a == 0, 0.0, out / np.where(a == 0, 1.0, a))),
    b=flat,
    floating=True,
    backward=lambda node: f"CopysignBackward{int(is_number(node, 1))}",
)
def copysign(a, b, /):
    """The size of ``input`` with the sign of ``other``."""
    return np.copysign(a, b)


@operation(
    "step",
    "0, {b} or 1 by the sign of {a}",
    a=no_derivative("heaviside"),
    b=no_derivative("heaviside"),
    name="heaviside",
    backward="NotImplemented",
)
def plain_heaviside(a, b, /):
    """See :func:`heaviside`."""
    return np.where(a == 0, b, a > 0).astype(a.dtype)


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 where ``input`` is negative, 1 where it is positive, and ``values`` where it is 0."""
    require_tensor("heaviside", values, "values")
    if input.array.dtype != values.array.dtype:
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes: "
            f"{input.dtype.name} and {values.dtype.name}; convert one with .to(...)"
        )
    return plain_heaviside(input, values)


@operation(
    "next",
    "the neighbour of {a} towards {b}",
    a=derivative("1 where it moves, else 0", lambda g, a, b: g * np.where(a == b, 0.0, 1.0)),
    b=flat,
    own_precision=True,
)
def nextafter(a, b, /):
    """The next number that the dtype knows, from ``input`` towards ``other``."""
    require_floats("nextafter_cpu", a)
    return np.nextafter(a, b)


def _of_finite(g: Any, a: Any) -> Any:
    if is_complex(a):
        return _of_finite(np.real(g), np.real(a)) + 1j * _of_finite(np.imag(g), np.imag(a))
    return g * np.where(np.isfinite(a), 1.0, 0.0)


@operation(
    "nan → 0",
    "{a}, without nan and inf",
    a=derivative("1 where {a} is finite, else 0", _of_finite),
    own_precision=True,
    elementwise=True,
)
def nan_to_num(a, /, nan=None, posinf=None, neginf=None):
    """Each element, with numbers in place of NaN (0) and of ±inf (the largest and smallest of the dtype)."""
    if a.dtype.kind == "c":
        result = np.empty_like(a)
        result.real, result.imag = [_without_nan(part, nan, posinf, neginf) for part in (a.real, a.imag)]
        return result
    return _without_nan(a, nan, posinf, neginf)


def _without_nan(a: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """The same of an array of real numbers."""
    if a.dtype.kind not in FLOATS:
        return a.copy()
    largest = finfo(BY_NUMPY[a.dtype]).max
    most, least = largest if posinf is None else posinf, -largest if neginf is None else neginf
    return _finite(a, most, least, nan or 0.0)


def _with_numbers(a: Any, most: float, least: float, nan: float) -> Any:
    """``a`` with these in the place of ∞, −∞ and NaN."""
    for place, number in zip((a == np.inf, a == -np.inf, a != a), (most, least, nan)):
        a = np.where(place, like(np.full_like, a, number, shape=()), a)
    return a


def _with_numbers_of_block(a: Any, into: Any, /, *numbers: float) -> None:
    into[...] = a
    for place, number in zip((a == np.inf, a == -np.inf, a != a), numbers):
        replace(place, number, into)


_finite = in_blocks(_with_numbers, _with_numbers_of_block, "native_arithmetic.finite")


NAMES = Names(
    both="ceil copysign frac heaviside nan_to_num nextafter round signbit trunc",
    in_place="ceil copysign frac heaviside nan_to_num nextafter round trunc",
    in_place_functions="abs ceil floor frac nan_to_num round trunc",
    aliases={"fix": "trunc"},
    numpy={
        np.ceil: ceil,
        np.trunc: trunc,
        np.round: lambda a, decimals=0: round(a, decimals=decimals or None),
        np.rint: round,
        np.signbit: signbit,
        np.copysign: taking_numbers(copysign),
        np.nan_to_num: nan_to_num,
        np.nextafter: taking_numbers(nextafter),
        np.heaviside: taking_numbers(heaviside),
    },
)
