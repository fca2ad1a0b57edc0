"""Dropout: noise that switches elements off while a network trains."""

from __future__ import annotations

import numpy as np

from autokit import random
from autokit.tensor import Tensor, new_tensor


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While training, set each element to 0 with probability ``p`` and divide the others by ``1 - p``.

    Raises
    ------
    ValueError
        If ``p`` is no probability.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or not input.array.size:
        return input
    array = input.array
    if p == 1:
        kept = np.zeros(array.shape, array.dtype)
    else:
        kept = random.default_generator.bernoulli(1 - p, array.shape, array.dtype) / array.dtype.type(1 - p)
    mask = new_tensor(kept)
    return input.mul_(mask) if inplace else input * mask
