"""Orthogonal polynomials, as ``torch.special`` has them: Chebyshev's, Hermite's, Laguerre's and Legendre's.

Each polynomial is found from the two before it, Chebyshev's of a high degree from its angle.  As in
PyTorch they have no derivative.

References
----------
M. Abramowitz and I. A. Stegun, *Handbook of Mathematical Functions*, 1964, section 22.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.ops.gpu.arrays import ask
from autokit.ops.operation import operation

FUNCTIONS: dict[str, Any] = {}
"""The polynomials by their names in ``torch.special``."""

Recurrence = Callable[[Any, int, Any, Any], Any]
ByAngle = Callable[[Any, Any], Any]
"""A polynomial at the cosine of an angle, from its degree and that angle."""


def _polynomial(
    name: str,
    symbol: str,
    words: str,
    first: Callable[[Any], Any],
    following: Recurrence,
    by_angle: ByAngle | None = None,
    cosine: Callable[[Any], Any] = lambda x: x,
) -> None:
    def forward(input, other, /):  # type: ignore[no-untyped-def]
        degrees = _degrees(other)
        if by_angle is None:
            return _by_recurrence(input, degrees, first, following)
        # The recurrence loses digits with each degree, and would take as many steps.
        inside = np.abs(cosine(input)) <= 1
        near = _by_recurrence(input, np.where(inside & (degrees > 8), 0.0, degrees), first, following)
        far = by_angle(degrees, np.arccos(np.where(inside, cosine(input), 0)))
        return np.where(inside & (degrees > 8), far, near).astype(input.dtype, copy=False)

    forward.__name__ = name
    forward.__doc__ = f"{words} of degree ``other`` at each element; 0 for a negative degree."
    FUNCTIONS[name] = operation(
        symbol, f"{symbol} of degree {{other}} at {{input}}", floating=True, name=name
    )(forward)


def _degrees(n: Any) -> Any:
    """The whole part of each degree; what is no number counts as below 0."""
    return np.where(np.isfinite(n), np.trunc(n), -1.0)


def _by_recurrence(x: Any, degrees: Any, first: Callable[[Any], Any], following: Recurrence) -> Any:
    before, now = np.ones_like(x), first(x)
    found = np.where(degrees == 0, before, np.where(degrees == 1, now, np.zeros_like(x)))
    for degree in range(1, int(ask(degrees.max())) if degrees.size else 0):
        before, now = now, following(x, degree, now, before)
        found = np.where(degrees == degree + 1, now, found)
        if degree % 64 == 0 and ask((np.isnan(now) | (degrees <= degree)).all()):  # those that go on stay NaN
            return np.where(degrees > degree, now, found)
    return found


def _double(x: Any, degree: int, now: Any, before: Any) -> Any:
    return 2 * x * now - before


_CHEBYSHEV: dict[str, Callable[[Any], Any]] = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
_KINDS = {"t": "first", "u": "second", "v": "third", "w": "fourth"}


def _sines(many: Any, once: Any, at_zero: Any, angle: Any) -> Any:
    """sin(many · angle) / sin(once · angle), and its limit at the angles 0 and π."""
    below = np.sin(once * angle)
    sign = np.where((angle > 1) & (at_zero % 2 == 0), -1.0, 1.0)
    none = (angle == 0) | (angle == angle.dtype.type(np.pi)) & (once == 1)
    return np.where(none, at_zero * sign, np.sin(many * angle) / np.where(none, 1, below))


_BY_ANGLE: dict[str, ByAngle] = {
    "t": lambda n, angle: np.where(
        angle == angle.dtype.type(np.pi), np.where(n % 2 == 0, 1.0, -1.0), np.cos(n * angle)
    ),
    "u": lambda n, angle: _sines(n + 1, 1, n + 1, angle),
    "v": lambda n, angle: np.where(n % 2 == 0, 1.0, -1.0) * _sines(n + 0.5, 0.5, 2 * n + 1, np.pi - angle),
    "w": lambda n, angle: _sines(n + 0.5, 0.5, 2 * n + 1, angle),
}
"""J. C. Mason and D. C. Handscomb, *Chebyshev Polynomials*, 2003, section 1.2."""

for _kind, _first in _CHEBYSHEV.items():
    _words = f"Chebyshev's polynomial of the {_KINDS[_kind]} kind"
    _polynomial(f"chebyshev_polynomial_{_kind}", _kind.upper(), _words, _first, _double, _BY_ANGLE[_kind])
    _polynomial(
        f"shifted_chebyshev_polynomial_{_kind}",
        f"{_kind.upper()}*",
        f"{_words}, moved from [−1, 1] to [0, 1],",
        lambda x, first=_first: first(2 * x - 1),  # type: ignore[misc]
        lambda x, degree, now, before: _double(2 * x - 1, degree, now, before),
        _BY_ANGLE[_kind],
        lambda x: 2 * x - 1,
    )

_polynomial(
    "hermite_polynomial_h",
    "H",
    "The physicists' Hermite polynomial",
    lambda x: 2 * x,
    lambda x, degree, now, before: 2 * x * now - 2 * degree * before,
)
_polynomial(
    "hermite_polynomial_he",
    "He",
    "The probabilists' Hermite polynomial",
    lambda x: x,
    lambda x, degree, now, before: x * now - degree * before,
)
_polynomial(
    "laguerre_polynomial_l",
    "L",
    "Laguerre's polynomial",
    lambda x: 1 - x,
    lambda x, degree, now, before: ((2 * degree + 1 - x) * now - degree * before) / (degree + 1),
)
_polynomial(
    "legendre_polynomial_p",
    "P",
    "Legendre's polynomial",
    lambda x: x,
    lambda x, degree, now, before: ((2 * degree + 1) * x * now - degree * before) / (degree + 1),
)
