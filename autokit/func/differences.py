"""Jacobians without derivatives: by central differences, (f(x + h) − f(x − h)) / 2h.

A complex number counts as two, its real and its imaginary part, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from autokit.current_gpu import computing_beside
from autokit.devices import to_numpy
from autokit.dtypes import DIFFERENTIABLE
from autokit.tensor import Tensor


def values_of(result: Any) -> list[np.ndarray | None]:
    """Copies of the floating point and complex results of a function, and None for its others."""
    outputs = result if isinstance(result, tuple | list) else (result,)
    return [
        to_numpy(one.array).copy()
        if isinstance(one, Tensor) and one.array.dtype.kind in DIFFERENTIABLE
        else None
        for one in outputs
    ]


def in_parts(array: np.ndarray) -> np.ndarray:
    """All elements in one dimension, complex ones as two each."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if array.dtype.kind == "c" else flat


def directions(tensor: Tensor) -> tuple[complex, ...]:
    """Where to an element may move: along the real axis, and a complex one along the imaginary one too."""
    return (1, 1j) if tensor.array.dtype.kind == "c" else (1,)


def moved(function: Callable[[], Any], tensor: Tensor, place: tuple[int, ...], by: complex) -> list[Any]:
    """What ``function`` returns while the element of ``tensor`` at ``place`` is larger by ``by``."""
    before = tensor[place].item()
    _put(tensor, place, before + by)
    try:
        return values_of(function())
    finally:
        _put(tensor, place, before)


def _put(tensor: Tensor, place: tuple[int, ...], number: Any) -> None:
    """Write a number where no graph takes note of it."""
    with computing_beside(tensor.array):
        tensor.array[place] = number


def differences(function: Callable[[], Any], tensor: Tensor, step: float) -> list[np.ndarray | None]:
    """The Jacobian of each result of ``function`` by ``tensor``: a row for each element of ``tensor``.

    ``function`` takes no arguments: it uses ``tensor``, whose elements are
    moved one by one where they stand.

    Raises
    ------
    AssertionError
        If a result changes its shape or dtype on the way.
    """
    now = values_of(function())
    rows = tensor.array.size * len(directions(tensor))
    found = [None if one is None else np.zeros((rows, in_parts(one).size)) for one in now]
    for row, (place, direction) in enumerate(product(np.ndindex(tensor.array.shape), directions(tensor))):
        above, below = (moved(function, tensor, place, sign * step * direction) for sign in (1, -1))
        for jacobian, like, high, low in zip(found, now, above, below):
            if jacobian is None or like is None:
                continue
            for one in (high, low):
                if one is None or one.shape != like.shape or one.dtype != like.dtype:
                    raise AssertionError(
                        "Expected `func` to return outputs with the same shape and dtype when inputs are "
                        f"perturbed on index {place} by {step}, but got {like.shape} and "
                        f"{getattr(one, 'shape', None)}."
                    )
            jacobian[row] = in_parts(high - low) / (2 * step)
    return found
