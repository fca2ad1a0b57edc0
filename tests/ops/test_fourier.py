"""Fourier transforms: their errors beside PyTorch's, what they mean, and a network that mixes words so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.ops.beside import refusals
from tests.support import require

WRONG = {
    "no points": lambda T, x: T.fft.fft(x, n=0),
    "points below none": lambda T, x: T.fft.rfft(x, n=-1),
    "no such dimension": lambda T, x: T.fft.fft(x, dim=5),
    "no dimensions": lambda T, x: T.fft.ifft(x.sum()),
    "no such norm": lambda T, x: T.fft.fft(x, norm="foo"),
    "half precision": lambda T, x: T.fft.fft(x.half()),
    "complex for rfft": lambda T, x: T.fft.rfft(x * 1j),
    "complex for rfftn": lambda T, x: T.fft.rfftn(x * 1j),
    "complex for ihfft": lambda T, x: T.fft.ihfft(x * 1j),
    "nothing for irfft": lambda T, x: T.fft.irfft(x[:, :1]),
    "one dimension for two": lambda T, x: T.fft.fft2(x[0]),
    "a dimension twice": lambda T, x: T.fft.fft2(x, dim=(0, 0)),
    "two lengths": lambda T, x: T.fft.fftn(x, s=(2,), dim=(0, 1)),
    "too many sizes": lambda T, x: T.fft.fftn(x, s=(2, 3, 4)),
    "no axis": lambda T, x: T.fft.rfftn(x, dim=()),
    "no tensor": lambda T, x: T.fft.fft([1.0, 2.0]),
    "half a point": lambda T, x: T.fft.fft(x, n=2.5),
    "frequencies in integers": lambda T, x: T.fft.fftfreq(4, dtype=T.int64),
    "fewer than no frequencies": lambda T, x: T.fft.fftfreq(-1),
}

WRONG_PIECES = {
    "complex or pairs": lambda T, x: T.stft(x, 8),
    "no piece": lambda T, x: T.stft(x, 0, return_complex=True),
    "no step": lambda T, x: T.stft(x, 8, hop_length=0, return_complex=True),
    "a window longer than a piece": lambda T, x: T.stft(x, 8, win_length=9, return_complex=True),
    "another window": lambda T, x: T.stft(x, 8, window=T.ones(7), return_complex=True),
    "a piece longer than the signal": lambda T, x: T.stft(x[:3], 8, return_complex=True),
    "half of a complex transform": lambda T, x: T.stft(x * 1j, 8, onesided=True),
    "pieces of real numbers": lambda T, x: T.istft(T.ones(5, 4), 8),
    "other pieces": lambda T, x: T.istft(T.ones(5, 4) * 1j, 6),
    "places without weight": lambda T, x: T.istft(
        T.ones(5, 4) * 1j, 8, window=T.hann_window(8), center=False
    ),
    "a window of nothing": lambda T, x: T.hann_window(-1),
    "a window of integers": lambda T, x: T.hamming_window(4, dtype=T.int64),
    "half a window": lambda T, x: T.blackman_window(2.5),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_pytorchs(name: str):
    require("torch")
    ours, theirs = refusals(lambda T: WRONG[name](T, T.ones(3, 4)))
    assert theirs.split(":")[0].removeprefix("fft_") in ours


@pytest.mark.parametrize("name", WRONG_PIECES)
def test_errors_of_pieces_are_of_pytorchs_type(name: str):
    require("torch")
    refusals(lambda T: WRONG_PIECES[name](T, T.ones(20)))


@given(st.integers(2, 12), st.data())
def test_a_signal_comes_back_from_its_pieces(size: int, data: st.DataObject):
    hop = data.draw(st.integers(1, (size + 1) // 2))
    length = data.draw(st.integers(size, 40))
    x = autokit.tensor(np.random.RandomState(length).normal(size=length))
    window = autokit.hamming_window(size, dtype=autokit.float64)
    pieces = autokit.stft(x, size, hop, window=window, return_complex=True)
    back = autokit.istft(pieces, size, hop, window=window)
    assert autokit.allclose(back, x[: len(back)])


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_a_transform_is_its_sum_of_waves_and_comes_back(size: int, seed: int):
    random = np.random.RandomState(seed)
    x = autokit.tensor(random.normal(size=size) + 1j * random.normal(size=size))
    places = autokit.arange(size, dtype=autokit.float64)
    waves = autokit.polar(
        autokit.ones(size, size, dtype=autokit.float64), -2 * np.pi * places.outer(places) / size
    )
    assert autokit.allclose(autokit.fft.fft(x), waves @ x)
    assert autokit.allclose(autokit.fft.ifft(autokit.fft.fft(x)), x)
    energy = autokit.fft.fft(x, norm="ortho").abs().square().sum()
    assert autokit.allclose(energy, x.abs().square().sum())  # Parseval


def fnet(T: Any) -> list[float]:
    """A network that mixes the words of a sentence by a transform in place of attention, in 20 steps."""
    nn = T.nn
    T.manual_seed(0)

    class Block(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

        def forward(self, x: Any) -> Any:
            x = self.first(x + T.fft.fft(T.fft.fft(x, dim=-1), dim=-2).real)
            return self.second(x + self.feed(x))

    model = nn.Sequential(nn.Embedding(20, 8), Block(8), Block(8), nn.Linear(8, 20))
    words = T.randint(0, 20, (4, 6))
    optimizer = T.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(words).reshape(-1, 20), words.reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_network_of_fourier_transforms_learns_as_in_pytorch():
    require("torch")
    import torch

    ours, theirs = fnet(autokit), fnet(torch)
    np.testing.assert_allclose(ours, theirs, rtol=2e-5)
    assert ours[-1] < ours[0] / 2
