"""Dropout: while a network trains, random elements or whole channels are set to 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.base.devices import beside
from autokit.base.errors import require_floats, require_tensor
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.draw import in_memory_order, source_of
from autokit.ops.names import Names

_SELU_FLOOR = -1.7580993408473766
"""The value of SELU at minus infinity."""


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While training, set each element to 0 with probability ``p`` and divide the others by ``1 - p``.

    So the mean stays what it is, and nothing need be done when the network is used.

    Raises
    ------
    ValueError
        If ``p`` is no probability.

    References
    ----------
    N. Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR 15, 2014.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.nn.functional.dropout(torch.ones(2, 3), 0.5, training=False)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    require_tensor("dropout", input)
    return _dropped(input, p, training, inplace, input.array)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels, of (channels, length) or (samples, channels, length)."""
    return _of_channels("dropout1d", input, p, training, inplace, (2, 3))


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels, of (samples, channels, height, width)."""
    return _of_channels("dropout2d", input, p, training, inplace, (2, 3, 4))


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels, of 3-dimensional data with or without a dimension of samples."""
    return _of_channels("dropout3d", input, p, training, inplace, (4, 5))


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout after SELU that keeps mean and variance: elements are set to SELU's lowest value, not to 0.

    References
    ----------
    G. Klambauer et al., "Self-Normalizing Neural Networks", NIPS 2017.
    """
    require_tensor("alpha_dropout", input)
    return _dropped(input, p, training, inplace, input.array, _SELU_FLOOR)


def _of_channels(
    name: str, input: Tensor, p: float, training: bool, inplace: bool, ndims: tuple[int, ...]
) -> Tensor:
    """Dropout with one number for each channel; ``ndims`` are how many dimensions the input may have."""
    require_tensor(name, input)
    if input.ndim not in ndims:
        raise RuntimeError(
            f"{name}: Expected {' or '.join(f'{n}D' for n in ndims)} input, but got {input.ndim}D"
        )
    # Without a dimension of samples the channels come first: two dimensions in 1d, four in 3d.
    leading = 1 if (name, input.ndim) in (("dropout1d", 2), ("dropout3d", 4)) else 2
    shape = input.array.shape[:leading] + (1,) * (input.ndim - leading)
    return _dropped(input, p, training, inplace, np.empty(shape, bool))


def _dropped(
    input: Tensor, p: float, training: bool, inplace: bool, places: Any, floor: float = 0.0
) -> Tensor:
    """Scale the elements that are kept, and put ``floor``, scaled, in place of those that are dropped."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or not input.numel():
        return input
    require_floats("dropout", input.array)
    if p == 1:
        return input.mul_(0.0) if inplace else input * 0.0
    source = source_of(None, input.device)
    wide = np.promote_types(input.array.dtype, np.float32)
    kept = in_memory_order(places, lambda shape: source.bernoulli(1 - p, shape, wide))

    def tensor_of(noise: Any) -> Tensor:
        return new_tensor(beside(noise.astype(input.array.dtype), input.array))

    if not floor:
        noise = tensor_of(kept / wide.type(1 - p))
        return input.mul_(noise) if inplace else input * noise
    # The factor and the shift that leave mean 0 and variance 1 as they are.
    scale = 1 / math.sqrt((floor**2 * p + 1) * (1 - p))
    noise = tensor_of(kept * scale)
    shift = tensor_of(((1 - kept) - p) * (floor * scale))
    return input.mul_(noise).add_(shift) if inplace else input * noise + shift


NAMES = Names(
    functions="alpha_dropout dropout",
    functional="alpha_dropout dropout dropout1d dropout2d dropout3d",
)
