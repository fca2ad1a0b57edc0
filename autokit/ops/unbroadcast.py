"""How a contribution gets the shape and the dtype of the operand that it goes to."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum ``gradient`` over the dimensions along which an operand of ``shape`` was repeated.

    An element that took part several times has several effects on the result,
    and its gradient is the sum of them.

    >>> import numpy as np
    >>> unbroadcast(np.ones((2, 3)), (3,)), unbroadcast(np.ones((2, 3)), (2, 1)).tolist()
    (array([2., 2., 2.]), [[3.0], [3.0]])
    """
    added = len(gradient.shape) - len(shape)
    stretched = tuple(
        place
        for place, size in enumerate(gradient.shape)
        if place < added or (shape[place - added] == 1 != size)
    )
    return (
        gradient.sum(axis=stretched, keepdims=True).reshape(shape) if stretched else gradient.reshape(shape)
    )


def fitted(gradient: Any, like: Any) -> Any:
    """``gradient`` in the shape and the dtype of ``like``, a node's result or an array."""
    if gradient.shape != like.shape:
        gradient = unbroadcast(gradient, like.shape)
    own, dtype = gradient.dtype, like.dtype
    if isinstance(own, dtypes.dtype):  # a tensor's
        if own.is_complex and dtype.kind != "c":
            gradient = np.real(gradient)
            own = gradient.dtype
        return gradient if own.numpy == dtype else gradient.to(dtypes.BY_NUMPY[dtype])
    if own.kind == "c" != dtype.kind:  # a real number moves along the real axis alone
        return gradient.real.astype(dtype)
    return gradient if own == dtype else gradient.astype(dtype)
