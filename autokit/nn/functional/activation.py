"""Activations that first check what they are given, and codes of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.ops.activation import relu_
from autokit.ops.elementwise import log
from autokit.ops.elementwise import relu as _relu
from autokit.ops.errors import describe
from autokit.ops.filled import zeros_like
from autokit.ops.gpu.arrays import any_of, ask
from autokit.ops.redrawing import exponential_
from autokit.ops.soft_extremes import log_softmax as _log_softmax
from autokit.ops.soft_extremes import softmax as _softmax
from autokit.ops.unusual import carefully, on_its_tensors_gpu
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``."""
    return relu_(input) if inplace else _relu(input)


@carefully
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Positive numbers that sum to 1 along ``dim``: exponentials over their sum."""
    return _softmax(input, _chosen_dim("softmax", input, dim), dtype)


@carefully
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of :func:`softmax`, computed without leaving the logarithms."""
    return _log_softmax(input, _chosen_dim("log_softmax", input, dim), dtype)


def _chosen_dim(name: str, input: Tensor, dim: int | None) -> int:
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
    )
    return 0 if input.array.ndim in (0, 1, 3) else 1


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A draw from the classes along ``dim``, softened so that it has a gradient.

    The logits and noise from Gumbel's distribution go through a softmax: their largest sum is at each class
    with the class's own probability.  The draws are PyTorch's for the same seed where those of
    ``exponential_`` are.

    Parameters
    ----------
    logits : Tensor
        Logarithms of the probabilities, up to a constant.
    tau : float
        The temperature: the lower, the nearer are the results to 0 and 1.
    hard : bool
        Give exactly 0 and 1, with the gradient of the soft result.
    eps : float
        Has no effect, and warns.

    References
    ----------
    E. Jang, S. Gu and B. Poole, "Categorical Reparameterization with Gumbel-Softmax", ICLR 2017.
    C. J. Maddison, A. Mnih and Y. W. Teh, "The Concrete Distribution", ICLR 2017.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    waiting = exponential_(new_tensor(np.empty_like(logits.array, order="C")))
    soft: Tensor = _softmax((logits + -log(waiting)) / tau, dim)
    if not hard:
        return soft
    largest = soft.detach().max(dim, keepdim=True).indices
    exact = zeros_like(logits).scatter(dim, largest, 1.0)
    return exact - soft.detach() + soft


@on_its_tensors_gpu
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
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
    classes = input.array
    if classes.dtype != np.int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, not {input.dtype.name}: "
            f"{describe(input)}; convert with .long()"
        )
    if not classes.size and num_classes <= 0:
        raise RuntimeError(
            "Can not infer total number of classes from empty tensor: say how many with num_classes"
        )
    if any_of(classes < 0):
        raise RuntimeError(f"Class values must be non-negative: {ask(classes.min())} is among them.")
    if num_classes == -1:
        num_classes = ask(classes.max()) + 1
    elif any_of(classes >= num_classes):
        raise RuntimeError(
            f"Class values must be smaller than num_classes: {ask(classes.max())} is not below {num_classes}."
        )
    every_class = module_of(classes).arange(num_classes)
    return new_tensor((classes[..., np.newaxis] == every_class).astype(np.int64, order="C"))
