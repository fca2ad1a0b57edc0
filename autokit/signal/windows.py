"""Windows: curves of ``M`` numbers that fade a piece of a signal out at both ends.

Each takes ``sym``: true for a curve that is the same from both ends, to design
a filter; false for one period of an endless one, to take a spectrum.  The
formulas are in F. J. Harris, "On the use of windows for harmonic analysis with
the discrete Fourier transform", 1978.

>>> import autokit as torch
>>> torch.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from autokit import dtypes
from autokit.ops import FUNCTIONS
from autokit.tensor import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]

Dtype = dtypes.dtype | None
_DOUBLE = dtypes.BY_NAME["float64"]
_arange, _linspace, _ones, _tensor = (FUNCTIONS[name] for name in ("arange", "linspace", "ones", "tensor"))


def _window(curve: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``curve(M, sym, ...)`` as PyTorch has it: checked, of a dtype, on a device, 1 where it is alone."""

    @wraps(curve)
    def apply(
        M: int,
        *,
        sym: bool = True,
        dtype: Dtype = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        **settings: Any,
    ) -> Tensor:
        name = curve.__name__
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not None and layout.name != "strided":
            raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        dtype = dtype or dtypes.get_default_dtype()
        if dtype.name not in ("float32", "float64"):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        if M < 2 and settings.get("center") is None:
            curve(2, sym, **settings)  # it refuses what it would refuse of a longer one
            made = _ones(M)
        else:
            made = curve(M, sym, **settings)
        made = made.to(device, dtype) if device is not None else made.to(dtype)
        return made.requires_grad_(requires_grad)

    return apply


def _line(first: float, step: float, M: int) -> Tensor:
    return _linspace(first, first + (M - 1) * step, M, dtype=_DOUBLE)


def _positive(name: str, value: float) -> float:
    if value <= 0:
        raise ValueError(f"{name} must be positive, got: {value} instead.")
    return value


def _cosines(M: int, sym: bool, a: list[float]) -> Tensor:
    """The sum of (−1)ⁱ aᵢ cos(i x) for x from 0 to 2π."""
    angles = _line(0, 2 * math.pi / (M - 1 if sym else M), M)
    signs = _tensor([(-1) ** i * weight for i, weight in enumerate(a)], dtype=_DOUBLE)
    numbers = _arange(len(a), dtype=_DOUBLE)
    return (signs[:, None] * (numbers[:, None] * angles).cos()).sum(0)


@_window
def bartlett(M: int, sym: bool) -> Tensor:
    """A triangle: 1 − |x| for x from −1 to 1."""
    return 1 - _line(-1, 2 / (M - 1 if sym else M), M).abs()


@_window
def blackman(M: int, sym: bool) -> Tensor:
    """0.42 − 0.5 cos x + 0.08 cos 2x for x from 0 to 2π."""
    return _cosines(M, sym, [0.42, 0.5, 0.08])


@_window
def cosine(M: int, sym: bool) -> Tensor:
    """Half a wave: sin x for x from 0 to π, at the middles of M equal parts."""
    step = math.pi / (M if sym else M + 1)
    return _line(0.5 * step, step, M).sin()


@_window
def exponential(M: int, sym: bool, center: float | None = None, tau: float = 1.0) -> Tensor:
    """e to the power of −|n − center| / ``tau``; a ``center`` may be given where ``sym`` is false."""
    _positive("Tau", tau)
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (M - 1 if sym else M) / 2 if center is None else center
    return (-_line(-middle / tau, 1 / tau, M).abs()).exp()


@_window
def gaussian(M: int, sym: bool, std: float = 1.0) -> Tensor:
    """The bell curve of this standard deviation, in numbers of samples."""
    step = 1 / (_positive("Standard deviation", std) * math.sqrt(2))
    return (-(_line(-(M - 1 if sym else M) / 2 * step, step, M) ** 2)).exp()


@_window
def general_cosine(M: int, sym: bool, a: Iterable[float]) -> Tensor:
    """The sum of (−1)ⁱ aᵢ cos(i x) for x from 0 to 2π."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    return _cosines(M, sym, weights)


@_window
def general_hamming(M: int, sym: bool, alpha: float = 0.54) -> Tensor:
    """``alpha`` − (1 − ``alpha``) cos x for x from 0 to 2π."""
    return _cosines(M, sym, [alpha, 1 - alpha])


@_window
def hamming(M: int, sym: bool) -> Tensor:
    """0.54 − 0.46 cos x for x from 0 to 2π."""
    return _cosines(M, sym, [0.54, 0.46])


@_window
def hann(M: int, sym: bool) -> Tensor:
    """0.5 − 0.5 cos x for x from 0 to 2π."""
    return _cosines(M, sym, [0.5, 0.5])


@_window
def kaiser(M: int, sym: bool, beta: float = 12.0) -> Tensor:
    """I₀(√(β² − x²)) / I₀(β) for x from −β to β, of the modified Bessel function I₀."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    x = _line(-beta, 2 * beta / (M - 1 if sym else M), M)
    bessel = FUNCTIONS["i0"]
    return bessel((beta**2 - x**2).clamp(min=0).sqrt()) / bessel(_tensor(beta, dtype=_DOUBLE))


@_window
def nuttall(M: int, sym: bool) -> Tensor:
    """The sum of four cosines whose side lobes are the lowest."""
    return _cosines(M, sym, [0.3635819, 0.4891775, 0.1365995, 0.0106411])
