"""Conversions of a tensor: to another dtype or device, to a copy, and to a form for pickle."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base import dtypes
from autokit.base.devices import device as Device
from autokit.base.devices import put_on, to_numpy
from autokit.base.errors import require_tensor
from autokit.engine.operands import common_dtype
from autokit.engine.operation import cast, derivative, on, operation, unchanged
from autokit.engine.tensor import Tensor
from autokit.ops.create import TYPES, TensorType
from autokit.ops.names import Names

# ---------------------------------------------------------------- another dtype, another device


@operation(
    "→",
    "{a} on another device",
    a=derivative("1", lambda g, source, target: on(move, g, source=target, target=source)),
    backward="ToCopyBackward0",
)
def move(a, /, source, target):
    """The same values on the device ``target``; their gradient goes back to the device ``source``."""
    return put_on(a, target)


def to(
    input: Tensor,
    *target: Any,
    device: Any = None,
    dtype: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
) -> Tensor:
    """``input`` with another dtype or on another device; itself where nothing changes.

    Parameters
    ----------
    *target
        A dtype, a device, a device and a dtype, or a tensor to be like.
    device, dtype : optional
        The same by keyword.
    non_blocking : bool
        Without effect: a copy between devices is always waited for.
    copy : bool
        Copy even where nothing changes.

    Raises
    ------
    TypeError
        If the arguments are no dtype, device or tensor.
    RuntimeError
        If there is no device of this name, or it is not there.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.ones(2).to(torch.int64), torch.ones(2).to("cpu", torch.float64).dtype
    (tensor([1, 1]), torch.float64)
    """
    for one in target:
        if isinstance(one, Tensor):
            device, dtype = one.device, one.dtype
        elif isinstance(one, str | Device) or type(one) is int:
            device = one
        elif isinstance(one, dtypes.dtype | np.dtype) or one in (float, int, bool):
            dtype = one
        elif not isinstance(one, bool | None):  # non_blocking by its place
            raise TypeError(
                f"to() received an invalid combination of arguments - got {type(one).__name__}: give a "
                "dtype, a device, a device and a dtype, or a tensor to be like"
            )
    result = input
    if device is not None and (place := Device(device)).type != input.device.type:
        result = move(result, source=input.device, target=place)
    wanted = result.array.dtype if dtype is None else dtypes.as_dtype(dtype).numpy
    if wanted != result.array.dtype:
        return cast(result, dtype=wanted)
    return clone(result) if copy and result is input else result


_BY_METHOD = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
}


def _conversion(name: str, kind: str) -> Callable[[Tensor], Tensor]:
    def method(input: Tensor) -> Tensor:
        return to(input, dtypes.dtype_named(kind))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The elements as {kind}."
    return method


CONVERSIONS = {name: _conversion(name, kind) for name, kind in _BY_METHOD.items()}
"""The methods ``x.float()``, ``x.long()`` and so on, by their names."""


def cpu(input: Tensor) -> Tensor:
    """The tensor on the CPU."""
    return to(input, "cpu")


def cuda(input: Tensor, device: Any = "cuda", non_blocking: bool = False) -> Tensor:
    """The tensor on the GPU."""
    return to(input, device="cuda" if device is None else device)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the dtype, and on the device, of ``other``."""
    require_tensor("type_as", other, "other", 1)
    return to(input, other)


def tensor_type(input: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The old name of the tensor's kind, as ``'torch.FloatTensor'``; with ``dtype``, the elements in that.

    Parameters
    ----------
    dtype : dtype, str or type, optional
        ``torch.int64``, ``"torch.LongTensor"`` or ``torch.LongTensor``.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.ones(2).type(), torch.ones(2).type("torch.LongTensor")
    ('torch.FloatTensor', tensor([1, 1]))
    """
    if dtype is None:
        return f"torch.{'cuda.' if input.is_cuda else ''}{dtypes.TENSOR_TYPES[input.dtype.name]}"
    if isinstance(dtype, str):
        name = dtype.rpartition(".")[2]
        if name not in TYPES:
            raise ValueError(f"invalid type: '{dtype}'; there are {', '.join(TYPES)}")
        dtype = TYPES[name]
    return to(input, dtype.dtype if isinstance(dtype, TensorType) else dtype)


# ---------------------------------------------------------------- copies


@operation("⎘", "{a}", a=derivative("1", unchanged))
def clone(a, /, order="K"):
    """A copy through which gradients flow."""
    return a.copy(order)


def contiguous(input: Tensor) -> Tensor:
    """The same elements in the order of their indices in memory: the tensor itself where they lie so.

    >>> import autokit as torch
    >>> torch.arange(6).reshape(2, 3).T.contiguous().stride()
    (2, 1)
    """
    return input if input.is_contiguous() else clone(input, order="C")


def pin_memory(input: Tensor) -> Tensor:
    """``input`` itself: copies to a GPU are always waited for, so that pinned memory would have no effect."""
    return input


def to_dense(input: Tensor) -> Tensor:
    """``input`` itself: all tensors are dense."""
    return input


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with its own memory, and with a copy of the gradient, for ``copy.deepcopy``."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment: use .detach().clone() or .clone()"
        )
    same = _rebuilt(type(self), self.array.copy(), self._requires_grad)
    memo[id(self)] = same
    same._grad = copy.deepcopy(self._grad, memo)
    same.__dict__.update(copy.deepcopy(_notes(self), memo))
    return same


_OF_THE_ENGINE = {"_base", "_hooks", "_post_accumulate_hooks", "_retains", "_steps"}
"""Attributes that refer to other tensors or hooks, which a copy does not have."""


def _notes(tensor: Tensor) -> dict[str, Any]:
    """The attributes that the learner has set on ``tensor``: its name, and others."""
    return {name: value for name, value in tensor.__dict__.items() if name not in _OF_THE_ENGINE}


def reduce_ex(self: Tensor, protocol: Any) -> Any:
    """The parts that pickle keeps: the elements, the device, and the learner's attributes; not the graph."""
    arguments = (type(self), to_numpy(self.array), self._requires_grad, str(self.device))
    return _rebuilt, arguments, _notes(self) or None


def _rebuilt(kind: type[Tensor], array: Any, requires_grad: bool, where: str = "") -> Tensor:
    tensor = object.__new__(kind)
    tensor.array = put_on(array, where) if where else array
    tensor._node = tensor._grad = tensor._storage = None
    tensor._requires_grad = requires_grad
    return tensor


# ---------------------------------------------------------------- questions


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating point numbers."""
    require_tensor("is_floating_point", input)
    return input.array.dtype.kind == "f"


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers: False, as autokit computes with real numbers."""
    require_tensor("is_complex", input)
    return False


def is_signed(input: Tensor) -> bool:
    """Whether the elements may be negative."""
    require_tensor("is_signed", input)
    return input.dtype.is_signed


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype of the result of an operation on two tensors, or on a tensor and a number.

    >>> import autokit as torch
    >>> torch.result_type(torch.tensor([1, 2]), 1.5)
    torch.float32
    """
    return dtypes.as_dtype(common_dtype((tensor1, tensor2)))


NAMES = Names(
    functions="result_type",
    both="clone is_complex is_floating_point is_signed",
    methods="contiguous cpu cuda pin_memory to to_dense type_as",
    other_methods={
        "__deepcopy__": deepcopy,
        "__reduce_ex__": reduce_ex,
        "type": tensor_type,
        **CONVERSIONS,
    },
    numpy={np.copy: clone},
)
