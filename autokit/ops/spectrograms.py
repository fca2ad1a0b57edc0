"""Spectrograms: how much of each frequency a signal has at each time, and the signal from them."""

from __future__ import annotations

import numpy as np

from autokit.devices import beside
from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.complex_numbers import is_complex
from autokit.ops.complex_parts import view_as_real
from autokit.ops.errors import describe, require_tensor
from autokit.ops.gpu.arrays import any_of
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.pad import constant_pad_nd, pad
from autokit.ops.strides import folded, unfold
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor


def _framing(
    name: str,
    signal: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
) -> tuple[int, Tensor | None]:
    """The step between pieces, and the window as long as they are: a shorter one is put in their middle."""
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and tuple(window.shape) != (length,):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={length}, but got window with "
            f"size {list(window.shape)}"
        )
    if length < n_fft:
        before = (n_fft - length) // 2
        window = _ones(signal, length) if window is None else window
        window = constant_pad_nd(window, widths=((before, n_fft - length - before),))
    return hop, window


def _ones(signal: Tensor, length: int) -> Tensor:
    """A window that weighs all places alike, in the precision of ``signal`` and beside it."""
    return new_tensor(beside(signal.array, np.ones(length, signal.dtype.to_real().numpy)))


@guards(learning="input")
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The short-time Fourier transform: that of each piece of a signal, weighted by a window.

    Parameters
    ----------
    input : Tensor
        A signal, of shape (L,), or several, (B, L).
    n_fft : int
        How long each piece is.
    hop_length : int, optional
        From one piece to the next; a quarter of ``n_fft`` without it.
    win_length, window : optional
        The window and how long it is; without it all places count alike.
    center : bool
        The pieces lie around their times; the signal is padded at its ends, as ``pad_mode`` says.
    normalized : bool
        Divide by √n_fft.
    onesided : bool, optional
        Half of each transform, as :func:`autokit.fft.rfft`; for real signals without it.
    return_complex : bool
        Complex numbers, or pairs of real ones.

    Returns
    -------
    Tensor
        Of shape (B, frequencies, times).

    Raises
    ------
    RuntimeError
        If the sizes do not fit, or ``return_complex`` is missing for a real signal.

    Examples
    --------
    >>> import autokit as torch
    >>> tone = (2 * torch.pi * torch.arange(64) / 8).sin()
    >>> torch.stft(tone, 16, window=torch.hann_window(16), return_complex=True).abs()[:, 8].argmax()
    tensor(2)
    """
    from autokit.ops import fourier

    require_tensor("stft", input, "input", 1)
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    several = input.array.ndim == 2
    signal = input if input.array.ndim != 1 else input.unsqueeze(0)
    if center and signal.array.ndim == 2:
        signal = pad(signal.unsqueeze(0), [n_fft // 2] * 2, pad_mode).squeeze(0)
    complexes = is_complex(input) or (window is not None and is_complex(window))
    if return_complex is None and not complexes:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require "
            "that return_complex=True in a future PyTorch release."
        )
    if input.array.dtype.kind not in DIFFERENTIABLE:
        raise RuntimeError(
            f"stft: expected a tensor of floating point or complex values: {describe(input)}; convert with "
            ".float()"
        )
    if input.array.ndim not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor: {describe(input)}")
    length = signal.array.shape[1]
    if not 0 < n_fft <= length:
        raise RuntimeError(f"stft: expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    hop, weights = _framing("stft", signal, n_fft, hop_length, win_length, window)
    half = not complexes if onesided is None else onesided
    if half and complexes:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    pieces = unfold(signal, 1, n_fft, hop)
    if weights is not None:
        pieces = pieces * weights
    transform = fourier.rfft if half else fourier.fft
    found = transform(pieces, norm="ortho" if normalized else None).transpose(1, 2)
    found = found if several else found.squeeze(0)
    return found if return_complex is not False else view_as_real(found)


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose :func:`stft` is ``input``: the sum of its pieces over that of the windows' squares.

    Parameters
    ----------
    input : Tensor
        Complex, of shape (B, frequencies, times) or (frequencies, times).
    n_fft, hop_length, win_length, window, center, normalized, onesided
        As they were given to :func:`stft`.
    length : int, optional
        How long the signal was.
    return_complex : bool
        Whether the signal was complex.

    Raises
    ------
    RuntimeError
        If the sizes do not fit, or the windows leave out a place of the signal.

    Examples
    --------
    >>> import autokit as torch
    >>> x, window = torch.arange(16.0), torch.hann_window(8)
    >>> back = torch.istft(torch.stft(x, 8, window=window, return_complex=True), 8, window=window)
    >>> torch.allclose(back, x, atol=1e-5)
    True
    """
    from autokit.ops import fourier

    require_tensor("istft", input, "input", 1)
    if not is_complex(input):
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if input.array.ndim not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions: {describe(input)}")
    several = input.array.ndim == 3
    frames = (input if several else input.unsqueeze(0)).transpose(1, 2)
    many, count, frequencies = frames.array.shape
    half = frequencies != n_fft if onesided is None else onesided
    wanted = n_fft // 2 + 1 if half else n_fft
    if frequencies != wanted:
        raise RuntimeError(
            "istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{'n_fft / 2 + 1' if half else 'n_fft'} when onesided={half}, but got {frequencies}"
        )
    if half and (return_complex or (window is not None and is_complex(window))):
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    hop, weights = _framing("istft", frames, n_fft, hop_length, win_length, window)
    if weights is None:
        weights = _ones(frames, n_fft)
    norm = "ortho" if normalized else None
    if return_complex:
        pieces = fourier.ifft(frames, norm=norm)
    else:  # a real signal follows from one half
        pieces = fourier.irfft(frames[..., : n_fft // 2 + 1], n_fft, norm=norm)
    pieces = pieces * weights
    size = n_fft + hop * (count - 1)
    total = folded(pieces, shape=(many, size), dim=1, size=n_fft, step=hop)
    squares = weights.pow(2).expand(1, count, n_fft)
    envelope = folded(squares, shape=(1, size), dim=1, size=n_fft, step=hop)
    first = n_fft // 2 if center else 0
    end = size - first if length is None else min(first + length, size)
    total, envelope = total[:, first:end], envelope[:, first:end]
    if any_of(np.abs(envelope.array) <= 1e-11):
        raise RuntimeError(
            "istft: window overlap add min: 1: the windows leave a place of the signal without weight; take "
            "another window, a smaller hop_length, or center=True"
        )
    signal = total / envelope
    if length is not None and signal.array.shape[1] < length:
        warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros "
            "in the tail. Please check your center and hop_length settings."
        )
        signal = constant_pad_nd(signal, widths=((0, 0), (0, length - signal.array.shape[1])))
    return signal if several else signal.squeeze(0)


NAMES = Names(both="istft stft")
