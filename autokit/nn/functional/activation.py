"""Activations that first check what they are given, and codes of classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autokit.ops.elementwise import relu as _relu
from autokit.ops.soft_extremes import log_softmax as _log_softmax
from autokit.ops.soft_extremes import softmax as _softmax
from autokit.tensor import Tensor, new_tensor


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``."""
    return input.relu_() if inplace else _relu(input)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Positive numbers that sum to 1 along ``dim``: exponentials over their sum."""
    return _softmax(input, _chosen_dim("softmax", input, dim), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of :func:`softmax`, computed without leaving the logarithms."""
    return _log_softmax(input, _chosen_dim("log_softmax", input, dim), dtype)


def _chosen_dim(name: str, input: Tensor, dim: int | None) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
        stacklevel=3,
    )
    return 0 if input.array.ndim in (0, 1, 3) else 1


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Rows that are 1 at the class and 0 elsewhere, as int64, in a new last dimension.

    Raises
    ------
    RuntimeError
        If a class is negative, or not below ``num_classes``.

    Examples
    --------
    >>> import autokit as torch
    >>> one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    classes = tensor.array
    if classes.dtype.kind not in "iu":
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, not {tensor.dtype.name}."
        )
    if classes.size and classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        if not classes.size:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(classes.max()) + 1
    elif classes.size and classes.max() >= num_classes:
        raise RuntimeError(
            f"Class values must be smaller than num_classes: {int(classes.max())} is not below {num_classes}."
        )
    return new_tensor((classes[..., np.newaxis] == np.arange(num_classes)).astype(np.int64))
