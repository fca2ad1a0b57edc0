"""``torch.cond``: one of two functions, by what a tensor says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.tensor import Tensor


def cond(
    pred: bool | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """``true_fn(*operands)`` where ``pred`` is true, else ``false_fn(*operands)``.

    PyTorch compiles both; here it is Python's own ``if``, so that gradients go back through the one that ran.

    Raises
    ------
    RuntimeError
        If ``pred`` is neither a bool nor a tensor of one element, the functions cannot be called, or
        ``operands`` is no tuple.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.cond(x > 0, torch.sin, torch.cos, (x,)).backward()
    >>> x.grad
    tensor(-0.9900)
    """
    if not isinstance(pred, bool | int | float | Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if not isinstance(pred, Tensor):
        return (true_fn if pred else false_fn)(*operands)
    if pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not (callable(true_fn) and callable(false_fn)):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, tuple | list):
        raise RuntimeError(f"Expect operands to be a tuple of tensors, but got {operands}.")
    return (true_fn if pred else false_fn)(*operands)
