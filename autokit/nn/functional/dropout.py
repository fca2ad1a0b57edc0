"""Dropout: noise that switches elements or whole channels off while a network trains.

The masks are PyTorch's for the same seed, where PyTorch does not run on an
Intel processor; see ``autokit.random.generator``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit import random
from autokit.devices import beside
from autokit.dtypes import FLOATS
from autokit.ops.inplace import refuse_change
from autokit.ops.sampling import in_memory_order, like_in_memory
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor

_SELU_FLOOR = 1.7580993408473766
"""What SELU gives for minus infinity, with its sign changed."""


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While training, set each element to 0 with probability ``p`` and divide the others by ``1 - p``.

    Raises
    ------
    ValueError
        If ``p`` is no probability.

    References
    ----------
    N. Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR 15, 2014.
    """
    return _dropout(input, p, training, inplace, channels=False)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels, of (channels, length) or (samples, channels, length)."""
    _refuse_probability(p)
    if input.array.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.array.ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, a "
            "channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _dropout_of_channels(input, p, training, inplace, batched=input.array.ndim == 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels, of (samples, channels, height, width)."""
    ndim = input.array.ndim
    _warn_of_other_dimensions(2, ndim)
    if ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
            "will change in a future release to interpret the input as one without a batch dimension, i.e. "
            "shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using "
            "dropout1d instead.",
        )
    return _dropout_of_channels(input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels, of 3-dimensional data with or without a dimension of samples."""
    ndim = input.array.ndim
    _warn_of_other_dimensions(3, ndim)
    return _dropout_of_channels(input, p, training, inplace, batched=ndim == 5)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of what SELU gives: switched off is its lowest value, not 0.

    References
    ----------
    G. Klambauer et al., "Self-Normalizing Neural Networks", NIPS 2017.
    """
    return _dropout(input, p, training, inplace, channels=False, alpha=True)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """:func:`alpha_dropout` of whole channels."""
    return _dropout(input, p, training, inplace, channels=True, alpha=True)


def _dropout_of_channels(
    input: Tensor, p: float, training: bool, inplace: bool, batched: bool = True
) -> Tensor:
    _refuse_probability(p)
    inplace = bool(inplace)
    if inplace and not batched:
        refuse_change(input, fills=True)
    if batched or not training:
        return _dropout(input, p, training, inplace, channels=True)
    result = _dropout(input.unsqueeze(0), p, training, False, channels=True).squeeze(0)
    return input.copy_(result) if inplace else result


def _warn_of_other_dimensions(spatial: int, ndim: int) -> None:
    if ndim not in (spatial + 1, spatial + 2):
        name = f"dropout{spatial}d"
        warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error "
            "in a future release. To retain the behavior and silence this warning, please use dropout "
            f"instead. Note that {name} exists to provide channel-wise dropout on inputs with {spatial} "
            "spatial dimensions, a channel dimension, and an optional batch dimension (i.e. "
            f"{spatial + 1}D or {spatial + 2}D inputs).",
        )


def _refuse_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _dropout(
    input: Tensor, p: float, training: bool, inplace: bool, channels: bool, alpha: bool = False
) -> Tensor:
    """Multiply by noise, one number for each element or for each channel; with ``alpha``, add some too."""
    _refuse_probability(p)
    inplace, array = bool(inplace), input.array
    if not training or p == 0 or not array.size:
        return input
    if p == 1:
        nothing = _on_device_of(input, np.zeros((), array.dtype))
        return input.mul_(nothing) if inplace else input * nothing
    if array.dtype.kind not in FLOATS:
        raise (NotImplementedError if array.dtype.kind == "c" else RuntimeError)(
            f"result type Float can't be cast to the desired output type {input.dtype.name}: dropout scales "
            "what it keeps; convert the input with .float()"
        )
    if channels:
        if array.ndim < 2:
            raise RuntimeError(
                "Feature dropout requires at least 2 dimensions in the input: samples and channels, and this "
                f"one is of shape {tuple(input.shape)}"
            )
        shape = array.shape[:2] + (1,) * (array.ndim - 2)
        kept = random.generator_for(array).bernoulli(1 - p, shape, array.dtype)
    else:
        source, like = random.generator_for(array), like_in_memory(array, array.dtype)
        kept = in_memory_order(like, lambda shape: source.bernoulli(1 - p, shape, array.dtype))
    number = array.dtype.type
    if not alpha:
        noise = _on_device_of(input, kept / number(1 - p))
        return input.mul_(noise) if inplace else input * noise
    scale = 1 / math.sqrt((_SELU_FLOOR**2 * p + 1) * (1 - p))
    added = (kept + number(-1)) * number(_SELU_FLOOR * scale) + number(_SELU_FLOOR * scale * p)
    noise, shift = _on_device_of(input, kept * number(scale)), _on_device_of(input, added)
    return input.mul_(noise).add_(shift) if inplace else input * noise + shift


def _on_device_of(input: Tensor, values: Any) -> Tensor:
    return new_tensor(beside(input.array, values))
