"""Affine layers, and those that are affine in each of two inputs."""

from __future__ import annotations

import math
from typing import Any

from autokit.ops.affine import affine
from autokit.ops.direct import direct
from autokit.ops.errors import describe, dimension_error, refuse_bools_in, way_to_a_tensor
from autokit.ops.guards import guard
from autokit.ops.linalg import matmul
from autokit.ops.operands import gpu_among, refuse_two_devices
from autokit.ops.unusual import asks_for_care, carefully, with_care
from autokit.tensor import Tensor
from autokit.thread_state import UNUSUAL


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
    if UNUSUAL and asks_for_care(input):  # as `carefully`, without another call around every layer
        return with_care("linear", linear, (), locals())
    try:
        rows, columns = input.array, weight.array
        (outputs, inputs), kind = columns.shape, columns.dtype
        fits = rows.shape[-1] == inputs and (rows.dtype is kind or rows.dtype == kind)
    except (AttributeError, IndexError, ValueError):
        fits = False
    if not fits:
        if isinstance(weight, Tensor) and weight.array.ndim == 1 and bias is None:
            return matmul(input, weight)
        raise _linear_error(input, weight)
    if bias is None:
        try:
            return matmul(input, weight.t())
        except RuntimeError:
            refuse_two_devices(
                "linear", (input, weight), gpu_among((input, weight))
            )  # turned, it has no name
            raise
    terms = bias.array
    own = terms.dtype
    if (own is not kind and own != kind) or terms.ndim != 1 or len(terms) != outputs or kind.kind == "b":
        return _with_another_bias(input, weight, bias)
    return direct(affine, (input, weight, bias))


def _with_another_bias(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """With one number for all outputs, or for those of each row, or with a row of its own for each."""
    outputs, shape = len(weight.array), bias.array.shape
    if len(shape) == 2 and shape[0] == 1 and (input.array.ndim > 1 or shape[1] == outputs):
        bias, shape = bias.squeeze(0), shape[1:]
    fits = shape in ((), (1,), (outputs,))
    if input.array.ndim == 2:
        rows = len(input.array)
        fits = fits or shape in ((rows, 1), (rows, outputs))
    if bias.array.dtype != weight.array.dtype or not fits:
        raise RuntimeError(
            "the bias of a linear layer has the weight's dtype and one element for each of its rows, but "
            f"{describe(bias)} is to go with {describe(weight)}"
        )
    refuse_bools_in("addmm_impl_cpu_", weight.array)
    return matmul(input, weight.t()) + bias


def _linear_error(input: Any, weight: Any) -> Exception:
    for place, (name, value) in enumerate((("input", input), ("weight", weight)), 1):
        if not isinstance(value, Tensor):
            return TypeError(
                f"linear(): argument '{name}' (position {place}) must be Tensor, not {type(value).__name__}; "
                f"{way_to_a_tensor(value)}"
            )
    if not input.array.ndim or not weight.array.ndim:
        return RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.array.ndim}D and "
            f"{weight.array.ndim}D: {describe(input)}, {describe(weight)}; x[None] adds a dimension"
        )
    if input.array.dtype != weight.array.dtype:
        return RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {input.dtype.name} and {weight.dtype.name}: "
            f"convert {describe(input)} with .to(torch.{weight.dtype.name})"
        )
    if weight.array.ndim > 2:
        return RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {weight.array.ndim}D: the weight is of "
            f"the shape (out, in), and this one is {describe(weight)}"
        )
    if weight.array.ndim == 1 and weight.array.shape == input.array.shape[-1:]:
        return RuntimeError(f"mat2 must be a matrix, got 1-D tensor: {describe(weight)}")
    rows, columns = input.array.size // max(input.array.shape[-1], 1), input.array.shape[-1]
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{columns} and "
        f"{'x'.join(map(str, weight.array.shape[::-1]))}): {describe(input)} has {columns} features, and the "
        "weight "
        f"is for {weight.array.shape[-1]}"
    )


@carefully
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each pair of vectors, and each output ``k``.

    Parameters
    ----------
    input1, input2 : Tensor
        Of shapes (..., in1) and (..., in2), alike but for their last sizes.
    weight : Tensor
        Of shape (out, in1, in2).
    bias : Tensor, optional
        Of shape (out,).

    Returns
    -------
    Tensor
        Of shape (..., out).

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.
    """
    _check_bilinear(input1, input2, weight, bias)
    outputs, first, second = weight.array.shape
    pairs = math.prod(input1.array.shape[:-1])
    rows, others = input1.reshape(pairs, first), input2.reshape(pairs, second)
    # What the first inputs make of the weight: one row for each pair and output, still to meet the second.
    halfway = matmul(rows, weight.permute(1, 0, 2).reshape(first, outputs * second))
    out = matmul(halfway.reshape(pairs, outputs, second), others.unsqueeze(-1))
    out = out.reshape(*input1.shape[:-1], outputs)
    if input1._requires_grad or input2._requires_grad:
        guard(out, [weight])
    return out if bias is None else out + bias


def _check_bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Raise where the operands of :func:`bilinear` do not fit, as PyTorch does."""
    a, b, w = input1.array, input2.array, weight.array
    given = [each for each in (input1, input2, weight, bias) if each is not None]
    if len({each.array.dtype for each in given}) > 1:
        raise RuntimeError(
            f"All tensors must have the same dtype, got {', '.join(map(describe, given))}: convert "
            "with .to(...)"
        )
    if a.ndim != b.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {a.ndim} and {b.ndim}: {describe(input1)}, "
            f"{describe(input2)}"
        )
    for place, (one, other) in enumerate(zip(a.shape[:-1], b.shape)):
        if one != other:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {place}: got {one} and {other}"
            )
    if not a.ndim:
        raise dimension_error(-1, 0, describe(input1))
    for number, values in ((1, a), (2, b)):
        if w.ndim <= number:
            raise dimension_error(number, w.ndim, f"the weight, which is (out, in1, in2): {describe(weight)}")
        if values.shape[-1] != w.shape[number]:
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {values.shape[-1]} but "
                f"expected {w.shape[number]}"
            )
    if w.ndim > 3:
        raise RuntimeError(f"bilinear(): the weight has 3 dimensions, (out, in1, in2): {describe(weight)}")
    if bias is not None and bias.array.shape != w.shape[:1]:
        raise (RuntimeError if bias.array.ndim else IndexError)(
            f"bilinear(): bias size does not match weight size: got {list(bias.array.shape)} but expected "
            f"{[w.shape[0]]}"
        )
    refuse_bools_in("bmm", a)
