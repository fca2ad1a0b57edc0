"""Orthogonal polynomials, as ``torch.special`` has them: Chebyshev's, Hermite's, Laguerre's and Legendre's.

Each polynomial is found from the two before it.  As in PyTorch they have no derivative.

References
----------
M. Abramowitz and I. A. Stegun, *Handbook of Mathematical Functions*, 1964, section 22.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.ops.gpu import ask
from autokit.ops.operation import operation

FUNCTIONS: dict[str, Any] = {}
"""The polynomials by their names in ``torch.special``."""

Recurrence = Callable[[Any, int, Any, Any], Any]


def _polynomial(
    name: str, symbol: str, words: str, first: Callable[[Any], Any], following: Recurrence
) -> None:
    def forward(input, n, /):  # type: ignore[no-untyped-def]
        return _evaluated(input, n, first, following)

    forward.__name__ = name
    forward.__doc__ = f"{words} of degree ``n`` at each element; 0 for a negative degree."
    FUNCTIONS[name] = operation(symbol, f"{symbol} of degree {{n}} at {{input}}", floating=True, name=name)(
        forward
    )


def _evaluated(x: Any, n: Any, first: Callable[[Any], Any], following: Recurrence) -> Any:
    degrees = np.trunc(n)
    before, now = np.ones_like(x), first(x)
    found = np.where(degrees == 0, before, np.where(degrees == 1, now, np.zeros_like(x)))
    for degree in range(1, int(ask(degrees.max())) if degrees.size else 0):
        before, now = now, following(x, degree, now, before)
        found = np.where(degrees == degree + 1, now, found)
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

for _kind, _first in _CHEBYSHEV.items():
    _words = f"Chebyshev's polynomial of the {_KINDS[_kind]} kind"
    _polynomial(f"chebyshev_polynomial_{_kind}", _kind.upper(), _words, _first, _double)
    _polynomial(
        f"shifted_chebyshev_polynomial_{_kind}",
        f"{_kind.upper()}*",
        f"{_words}, moved from [−1, 1] to [0, 1],",
        lambda x, first=_first: first(2 * x - 1),  # type: ignore[misc]
        lambda x, degree, now, before: _double(2 * x - 1, degree, now, before),
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
