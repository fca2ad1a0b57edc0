"""What losses ask of their operands before they are computed, and how many become one.

The types of arguments are looked at before, in ``autokit.ops.signatures``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.autograd.modes import is_grad_enabled
from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.complex_numbers import is_complex
from autokit.ops.errors import describe, kind_of
from autokit.ops.expansion import broadcast_tensors
from autokit.ops.gpu.arrays import any_of
from autokit.ops.warn import warn
from autokit.tensor import Tensor

_INT64 = np.dtype(np.int64)
_REDUCTIONS = ("mean", "sum", "none")


def chosen_reduction(reduction: str, size_average: Any, reduce: Any) -> str:
    """``reduction``, or what PyTorch's older spelling of it says, with a warning.

    Raises
    ------
    ValueError
        If there is no such reduction.
    """
    if any(isinstance(older, Tensor) and older.numel() > 1 for older in (size_average, reduce)):
        raise RuntimeError(
            "Boolean value of Tensor with more than one value is ambiguous: a loss is made first and then "
            "called, as in loss = nn.MSELoss(); loss(input, target)"
        )
    if size_average is not None or reduce is not None:
        older = "mean"
        if reduce is not None and not reduce:
            older = "none"
        elif size_average is not None and not size_average:
            older = "sum"
        warn(
            f"size_average and reduce args will be deprecated, please use reduction='{older}' instead.",
        )
        return older
    if reduction == "elementwise_mean":
        warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
        )
        return "mean"
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction: it is 'none', 'mean' or 'sum'")
    return reduction


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """The losses of single elements, their mean or their sum."""
    return losses if reduction == "none" else losses.mean() if reduction == "mean" else losses.sum()


def compare(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Check the two sides of an element-by-element loss; warn where their shapes differ, and expand them."""
    if input.array.shape != target.array.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same size.",
        )
        one, other = broadcast_tensors(input, target)
        if input.array.dtype != target.array.dtype:  # none counts less for having no dimensions
            return one, other
    return input, target


def check_weight(weight: Tensor | None, input: Tensor) -> None:
    if weight is not None and weight.array.shape != input.array.shape:
        raise ValueError(
            f"Weights and input must have the same size: {describe(weight)} is to weigh {describe(input)}"
        )


def require_to_fit(input: Tensor, weight: Tensor | None) -> None:
    """Raise where a weight does not broadcast to the shape of the losses, which is the input's."""
    if weight is None:
        return
    if is_complex(weight):
        raise RuntimeError(
            f"result type {kind_of(weight)} can't be cast to the desired output type {kind_of(input)}: "
            f"{describe(weight)} is to weigh {describe(input)}"
        )
    if weight.array.shape == input.array.shape:
        return
    shape = broadcast_tensors(input, weight)[0].shape
    if shape != input.shape:
        raise RuntimeError(
            f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}: "
            f"{describe(weight)} is to weigh {describe(input)}"
        )


def refuse_integers(name: str, input: Tensor, target: Tensor) -> None:
    if input.array.dtype.kind not in DIFFERENTIABLE and target.array.dtype.kind not in DIFFERENTIABLE:
        raise NotImplementedError(
            f'"{name}" not implemented for {input.dtype.name}: {describe(input)}; convert with .float()'
        )


def require_floats_of(input: Tensor, name: str) -> None:
    """Raise where losses, which have the dtype of ``input``, would lose their fractions."""
    if input.array.dtype.kind not in DIFFERENTIABLE:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input.dtype.name}: {name} gives "
            f"losses in the dtype of the input, and it is {describe(input)}; convert it with .float()"
        )


def require_no_gradient(name: str, **weights: Tensor | None) -> None:
    for argument, weight in weights.items():
        if weight is not None and weight._requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function '{name}' is not differentiable with respect to argument '{argument}'. This "
                f"input cannot have requires_grad True: give {argument}.detach()"
            )


def check_classes(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    shape, classes = input.array.shape, target.array
    target_shape = classes.shape
    if weight is None and len(shape) == 2 and target_shape == shape[:1] and classes.dtype == _INT64:
        return  # as nearly always
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if target_shape != shape[:1] + shape[2:] if len(shape) > 1 else target_shape not in ((), (1,)):
        if len(shape) > 1 and target_shape[:1] != shape[:1]:
            raise ValueError(
                f"Expected input batch_size ({shape[0]}) to match target batch_size "
                f"({(*target_shape, 0)[0]})."
            )
        if len(shape) == len(target_shape) == 1:
            raise ValueError(
                f"For 1D input, 1D target must have size 1, but got target size: {target_shape[0]}: a row of "
                "scores is for one sample"
            )
        if len(shape) <= 2:
            raise RuntimeError(
                "0D or 1D target tensor expected, multi-target not supported: the target has shape "
                f"{list(target_shape)}; a dimension of size 1 goes away with target.squeeze(1)"
            )
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(target_shape)}")
    if len(shape) > 2 and target.array.dtype == np.uint8:
        raise RuntimeError(
            f"expected scalar type Long but found Byte: {describe(target)} beside {describe(input)}; convert "
            "it with .long()"
        )
    if target.array.dtype not in (np.int64, np.uint8):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.name}: {describe(target)}; "
            "classes are whole numbers, converted with .long()"
        )
    if weight is not None and weight.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"expected scalar type {input.dtype.name} but found {weight.dtype.name}: the weights of the "
            "classes have the dtype of the predictions"
        )
    require_no_gradient("nll_loss_forward", weight=weight)
    require_weight_of_classes(weight, shape[1] if len(shape) > 1 else shape[0])


def require_weight_of_classes(weight: Tensor | None, classes: int) -> None:
    if weight is not None and weight.array.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight.array.shape)}"
        )


def refuse_improbable(name: str, tensor: Tensor, advice: str) -> None:
    array = tensor.array
    if any_of(~((array >= 0) & (array <= 1))):
        raise RuntimeError(f"all elements of {name} should be between 0 and 1: {advice}")
