"""Affine layers."""

from __future__ import annotations

from typing import Any

from autokit.ops.affine import affine
from autokit.ops.direct import direct
from autokit.ops.errors import describe
from autokit.ops.linalg import matmul
from autokit.tensor import Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``.

    Parameters
    ----------
    input : Tensor
        Of shape (..., in).
    weight : Tensor
        Of shape (out, in).
    bias : Tensor, optional
        Of shape (out,).

    Raises
    ------
    RuntimeError
        If the last dimension of ``input`` is not ``in``, or the dtypes differ.

    Examples
    --------
    >>> import autokit as torch
    >>> linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0]]), torch.tensor([0.5]))
    tensor([[3.5000]])
    """
    try:
        rows, columns = input.array, weight.array
        fits = rows.shape[-1] == columns.shape[-1] and rows.dtype == columns.dtype
    except (AttributeError, IndexError):
        fits = False
    if not fits:
        raise _linear_error(input, weight)
    if bias is None:
        return matmul(input, weight.t())
    if bias.array.dtype != columns.dtype or bias.array.shape != columns.shape[:1]:
        raise RuntimeError(
            "the bias of a linear layer has the weight's dtype and one element for each of its rows, but "
            f"{describe(bias)} is to go with {describe(weight)}"
        )
    return direct(affine, (input, weight, bias))


def _linear_error(input: Any, weight: Any) -> Exception:
    for place, (name, value) in enumerate((("input", input), ("weight", weight)), 1):
        if not isinstance(value, Tensor):
            return TypeError(
                f"linear(): argument '{name}' (position {place}) must be Tensor, not {type(value).__name__}; "
                "make one with torch.tensor(...)"
            )
    if not input.array.ndim:
        return RuntimeError(
            "both arguments to linear need to be at least 1D, but input is 0D: add a dimension with "
            "input[None]"
        )
    if input.array.dtype != weight.array.dtype:
        return RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {input.dtype.name} and {weight.dtype.name}: "
            f"convert {describe(input)} with .to(torch.{weight.dtype.name})"
        )
    rows, columns = input.array.size // max(input.array.shape[-1], 1), input.array.shape[-1]
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{columns} and "
        f"{'x'.join(map(str, weight.array.shape[::-1]))}): {describe(input)} has {columns} features, and the "
        "weight "
        f"is for {weight.array.shape[-1]}"
    )
