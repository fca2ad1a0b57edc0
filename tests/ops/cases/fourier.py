"""Cases of Fourier transforms; ``test_complex`` gives each complex numbers too."""

from __future__ import annotations

from typing import Any

from tests.ops.case import Case, I, P, R, otherwise
from tests.ops.case import case as c

ALONG_ONE: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((3, 4), {}),
    ((3, 5), {}),
    ((5,), {"n": 3}),
    ((5,), {"n": 8}),
    ((4, 2), {"dim": 0}),
    ((4, 3), {"dim": 0, "norm": "ortho"}),
    ((2, 6), {"norm": "forward", "n": 5}),
]

ALONG_SEVERAL: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((3, 4), {}),
    ((2, 3, 5), {}),
    ((4, 3), {"s": (2, 4)}),
    ((2, 3, 4), {"dim": (0, 2), "norm": "ortho"}),
    ((3, 3, 4), {"dim": (2, 0), "s": (5, 4), "norm": "forward"}),
]

ONE = "fft ifft rfft irfft hfft ihfft"
SEVERAL = "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft2 ihfft2 hfftn ihfftn"


def _one(name: str, shape: tuple[int, ...], settings: dict[str, Any]) -> Case:
    return c(f"fft.{name}", lambda T, a: getattr(T.fft, name)(a, **settings), R(*shape))


CASES = [
    *(_one(name, *way) for name in ONE.split() for way in ALONG_ONE),
    *(_one(name, *way) for name in SEVERAL.split() for way in ALONG_SEVERAL),
    *(_one(name, (3, 4), {}) for name in ("fftshift", "ifftshift")),
    c("fft.fft", lambda T, a: T.fft.fft(T.complex(a, a * 2)), R(5)),
    c("fft.ifftn", lambda T, a: T.fft.ifftn(T.complex(a, a * 2)), R(2, 3)),
    c("fft.irfft", lambda T, a: T.fft.irfft(T.fft.rfft(a), 5), R(5)),
    c("fft.fft", lambda T, a: T.fft.fft(a), I(4)),
    c("fft.fftn", lambda T, a: T.fft.fftn(a, dim=()), R(2, 2)),
    c("fft.rfft", lambda T, a: T.fft.rfft(a).abs().square().sum(), R(6)),
    otherwise("fft.fftfreq", lambda T: [T.fft.fftfreq(n, d=0.3) for n in (0, 1, 4, 5)]),
    otherwise("fft.rfftfreq", lambda T: [T.fft.rfftfreq(n, 2, dtype=T.float64) for n in (0, 1, 4, 5)]),
    c("fft.fftshift", lambda T, a: T.fft.fftshift(a, dim=1), R(2, 5)),
    c("fft.ifftshift", lambda T, a: T.fft.ifftshift(a, dim=(1,)), R(2, 5)),
    otherwise("stft", lambda T, a, w: T.stft(a, 8, window=w, return_complex=True), R(20), P(8)),
    otherwise("stft", lambda T, a: a.stft(6, 2, 4, T.hann_window(4), return_complex=True), R(2, 15)),
    otherwise(
        "stft",
        lambda T, a: T.stft(a, 6, 3, center=False, normalized=True, onesided=False, return_complex=False),
        R(15),
    ),
    otherwise("istft", lambda T, a, w: T.istft(T.complex(a, a.flip(0)), 8, 3, window=w), R(5, 4), P(8)),
    otherwise("istft", lambda T, a: T.complex(a, a.flip(1)).istft(6, 2, 4, length=12), R(2, 4, 7)),
    otherwise(
        "istft",
        lambda T, a: T.istft(T.complex(a, -a), 6, center=False, normalized=True, onesided=False),
        R(6, 4),
    ),
]
