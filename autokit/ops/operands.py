"""Operands: tensors of one dtype, from the tensors, numbers and arrays that a program passes.

The dtype is found by PyTorch's rule of three standings: tensors with
dimensions decide, unless a tensor without, or else a number, is of a higher
category; see ``autokit.dtypes``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit import dtypes
from autokit.batches.batch import Batch
from autokit.devices import device, on_a_gpu, put_on
from autokit.limits import finfo, iinfo
from autokit.ops.errors import describe, not_a_tensor
from autokit.ops.recording import storage_of
from autokit.tensor import Literal, Tensor, new_tensor

if TYPE_CHECKING:
    from autokit.ops.rules import Operation

_allocate = object.__new__
_NUMBERS = (bool, int, float, complex, np.generic)
_PYTHONS_NUMBERS = {bool, int, float, complex}
_FLOAT32 = np.dtype(np.float32)
_TAKE_NUMBERS_AS_THEY_ARE = {"add", "div", "lerp", "mul", "sub"}
"""Operations that do not round a number to the half precision of the tensor that it meets, as in PyTorch."""
_TAKE_TWO_NUMBERS = {"add", "div", "div_rounded", "floor_divide", "mul", "sub"}
"""Operations that make a tensor of two numbers, as in PyTorch."""
_TENSORS_ONLY = {
    *("atan2", "fmax", "fmin", "gcd", "heaviside", "hypot", "lcm", "logaddexp", "logaddexp2"),
    *("igamma", "igammac", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "nextafter"),
}
"""Operations of two tensors that refuse a number, as in PyTorch."""
_TENSOR_FIRST = {"copysign", "eq", "fmod", "ge", "gt", "le", "lt", "ne"}
"""Operations that take a number only as their second operand, as in PyTorch."""
_NUMBER_DTYPES = {bool: np.dtype(bool), int: np.dtype(np.int64)}


def as_operands(operation: Operation, values: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Tensors of one dtype, as PyTorch would promote them, from tensors, numbers and arrays.

    A tensor that changes its dtype does so by a recorded cast; a number takes
    the dtype of the tensors that it meets.
    """
    if _alike(values) and not operation.floating:
        return values
    if operation.name not in _TAKE_TWO_NUMBERS and not any(isinstance(value, Tensor) for value in values):
        raise not_a_tensor(operation, values[0] if values else None, 0)
    tensors = [_no_number(operation, value, place) for place, value in enumerate(values)]
    where = gpu_among(tensors)
    if operation.mixed or len(tensors) == 1 and not operation.floating:
        return tuple([literal(t, None, where) if not isinstance(t, Tensor) else t for t in tensors])
    if operation.name == "sub":
        refuse_bools(tensors)
    common = common_dtype(tensors)
    if operation.floating and common.kind in "bui":
        common = dtypes.get_default_dtype().numpy
    exact = common in dtypes.HALVES and operation.name in _TAKE_NUMBERS_AS_THEY_ARE
    learns = any([isinstance(t, Tensor) and t._requires_grad for t in tensors])
    return tuple(
        [
            literal(t, _FLOAT32 if exact else common, where)
            if not isinstance(t, Tensor)
            else t
            if t.array.dtype == common or (t.__class__ is Literal and common in dtypes.HALVES)
            else _converted(t, _FLOAT32 if exact and _is_factor(operation, t, place) else common, learns)
            for place, t in enumerate(tensors)
        ]
    )


def _converted(tensor: Tensor, dtype: np.dtype, learns: bool) -> Tensor:
    """``tensor`` in ``dtype``; a change of it is one of what was made too, beside another that ``learns``."""
    from autokit.ops.convert import cast

    made = cast(tensor, dtype=dtype)
    if learns and not tensor._requires_grad:
        made._storage = storage_of(tensor)
    return made


def _is_factor(operation: Operation, tensor: Tensor, place: int) -> bool:
    """Whether halves are multiplied with, or divided by, a tensor of one number as it is."""
    return place == 1 and tensor.array.size == 1 and operation.name in ("mul", "div")


def gpu_among(values: Iterable[Any]) -> device | None:
    """The GPU that holds one of the tensors in ``values``; None where all are on the CPU."""
    for value in values:
        if isinstance(value, Tensor) and value.array.__class__ is not np.ndarray:
            where = value.device
            if where.type != "cpu":
                return where
    return None


def on_one_device(operation: Operation, operands: Sequence[Any]) -> tuple[Tensor, ...] | None:
    """``operands`` with tensors without dimensions brought from the CPU to the GPU of the others.

    None where they are on one device already.

    Raises
    ------
    RuntimeError
        PyTorch's, if other tensors are on two devices; with both tensors.
    """
    tensors = [each for each in operands if isinstance(each, Tensor)]
    where = gpu_among(tensors)
    if where is None or all([each.device == where for each in tensors]):
        return None
    from autokit.ops.convert import move

    refuse_two_devices(operation.name, tensors, where)
    return tuple(
        [
            move(each, where) if isinstance(each, Tensor) and each.device != where else each
            for each in operands
        ]
    )


def refuse_two_devices(name: str, tensors: Sequence[Tensor], where: device | None) -> None:
    """Raise PyTorch's error if one of the ``tensors`` is not on ``where``, the GPU of another; with both."""
    for each in tensors:
        if where is not None and each.device != where and (each.array.ndim or each.device.type != "cpu"):
            other = next(one for one in tensors if one.device == where)
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{where} and {each.device}! {name} got {describe(other)} on {where} and "
                f"{describe(each)} on {each.device}; .to({str(where)!r}) or .cpu() brings one to the other"
            )


def refuse_bools(operands: list[Any] | tuple[Any, ...]) -> None:
    """Raise PyTorch's error for a difference of which a bool is a part."""
    bools = [
        each.array.dtype.kind == "b" if isinstance(each, Tensor) else each.__class__ is bool
        for each in operands
    ]
    if any(bools):
        both = "two bool tensors" if all(bools) else "a bool tensor"
        instead = (
            "the `^` or `logical_xor()` operator" if all(bools) else "the `~` or `logical_not()` operator"
        )
        raise RuntimeError(
            f"Subtraction, the `-` operator, with {both} is not supported. If you are trying to invert a "
            f"mask, use {instead} instead."
        )


def _alike(values: tuple[Any, ...]) -> bool:
    """Whether all are tensors of one dtype."""
    first = None
    for value in values:
        if not isinstance(value, Tensor):
            return False
        if first is None:
            first = value.array.dtype
        elif value.array.dtype is not first:
            return False
    return first is not None


def with_number(operation: Operation, a: Any, b: Any) -> tuple[Tensor, ...]:
    """The two operands where one is no plain tensor; quickly where a float tensor meets a Python number."""
    if operation.name in _TENSORS_ONLY:
        for place, value in enumerate((a, b)):
            if not isinstance(value, Tensor):
                raise not_a_tensor(operation, value, place)
    if a.__class__ is Tensor and (b.__class__ is float or b.__class__ is int) and _is_whole_float(a):
        return a, literal(b, a.array.dtype)
    if operation.name in _TENSOR_FIRST and not isinstance(a, Tensor):
        raise not_a_tensor(operation, a, 0)
    if b.__class__ is Tensor and (a.__class__ is float or a.__class__ is int) and _is_whole_float(b):
        return literal(a, b.array.dtype), b
    return as_operands(operation, (a, b))


def answers_itself(name: str, other: Any) -> bool:
    """Whether Python shall ask ``other``, of a class of one's own, what a tensor and an operator make of it.

    So it is with PyTorch where ``x * other`` stands and the class has an ``__rmul__``, as dual numbers have.
    """
    reflected = _REFLECTED.get(name)
    if reflected is None or isinstance(other, _OURS) or not hasattr(type(other), reflected):
        return False
    if type(other).__module__ == "builtins":  # a list times a tensor is a mistake to be told of
        return False
    from opcode import opname

    caller = sys._getframe(2)
    instruction = opname[caller.f_code.co_code[caller.f_lasti]]
    return instruction.startswith(("BINARY_", "INPLACE_"))  # and not a call, as of torch.mul


_REFLECTED = {"add": "__radd__", "sub": "__rsub__", "mul": "__rmul__", "div": "__rtruediv__"}
_OURS = (Tensor, *_NUMBERS, np.ndarray)


def _is_whole_float(tensor: Tensor) -> bool:
    """Whether its numbers are of floating point, not of half precision, and on the CPU."""
    array = tensor.array
    dtype = array.dtype
    return (
        array.__class__ is np.ndarray and dtype.kind == "f" and not (dtypes.HALVES and dtype in dtypes.HALVES)
    )


def taking_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of two tensors for NumPy's name of it, where one may be a number."""

    def apply(a: Any, b: Any) -> Any:
        common = common_dtype((a, b))
        return function(*(each if isinstance(each, Tensor) else literal(each, common) for each in (a, b)))

    return apply


def _no_number(operation: Operation, value: Any, place: int) -> Any:
    """``value`` as a tensor or a Python number."""
    if isinstance(value, Tensor) or value.__class__ in _PYTHONS_NUMBERS:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) or value.__class__ is Batch or on_a_gpu(value):
        if value.__class__ is np.ndarray:
            dtypes.BY_NUMPY[value.dtype]  # from its first array on, a rare dtype is looked out for
        return new_tensor(value)
    if isinstance(value, _NUMBERS):  # a subclass, such as an IntEnum
        return int(value) if isinstance(value, int) else float(value)  # type: ignore[arg-type]
    raise not_a_tensor(operation, value, place)


def fitting(number: Any, dtype: np.dtype) -> Any:
    """``number`` as an element of ``dtype``: a float loses its fraction there, a negative byte wraps around.

    Raises
    ------
    RuntimeError
        If it is beyond what the dtype holds.
    """
    if dtype.kind == "b":
        return bool(number)
    if dtype.kind == "c":
        for part in (number.real, number.imag):
            fitting(part, np.dtype(f"f{dtype.itemsize // 2}"))
        return number
    kind = dtypes.BY_NUMPY[dtype]
    given, inside = number, not isinstance(number, complex) or not number.imag
    number = number.real if isinstance(number, complex) else number
    if dtype.kind in "ui":
        limits: Any = iinfo(kind)
        least = -limits.max if dtype.kind == "u" and isinstance(number, int) else limits.min
        inside = inside and least <= number <= limits.max  # not so for nan
    else:
        limits = finfo(kind)
        number = float(number)  # ml_dtypes takes no integer beyond int64
        inside = inside and (not limits.max < abs(number) < math.inf)
    if not inside:
        raise RuntimeError(
            f"value cannot be converted to type {dtype.name} without overflow: {given} is not in "
            f"{limits.min} to {limits.max}"
        )
    return int(number) % (limits.max + 1) if dtype.kind == "u" else number


def literal(number: Any, common: np.dtype | None, where: device | None = None) -> Tensor:
    """``number`` as an operand, on a GPU if ``where`` is one; one that returns in a loop is made once."""
    key: tuple[Any, ...] = (number, number.__class__, common)
    if where is not None:  # what is copied to a GPU is worth another look: 0.0 and -0.0 are equal
        key = (*key, where, repr(number))
    known = _literals.get(key)
    if known is None:
        if len(_literals) >= _MANY:
            _literals.clear()
        known = _new_literal(number, common)
        if where is not None:
            known.array = put_on(where, known.array)
        if common is not None and (number or where is not None):  # 0.0 and -0.0 would be one key
            _literals[key] = known
    return known


_literals: dict[Any, Tensor] = {}
_MANY = 256


def _new_literal(number: Any, common: np.dtype | None) -> Tensor:
    literal = _allocate(Literal)
    if common is None:
        common = _dtype_of_number(number)
    # Through an array of the number's own width, so that integers wrap as PyTorch's do.
    literal.array = np.array(number, common) if common.kind not in "ui" else np.asarray(number).astype(common)
    literal._requires_grad = False
    literal._node = literal._grad = literal._storage = None
    return literal


def common_dtype(values: list[Any] | tuple[Any, ...]) -> np.dtype:
    """The dtype that tensors and Python numbers meet in, by PyTorch's three standings."""
    standing: list[np.dtype | None] = [None, None, None]
    for value in values:
        if isinstance(value, Tensor):
            place, own = (0 if value.array.ndim else 1), value.array.dtype
            if value.__class__ is Literal:
                place = 2
        else:
            place = 2
            own = _dtype_of_number(value)
        before = standing[place]
        standing[place] = own if before is None else dtypes.promote(before, own)
    dimensioned, scalar, number = standing
    found = _combine(dimensioned, _combine(scalar, number))
    assert found is not None
    return found


def _dtype_of_number(number: Any) -> np.dtype:
    """The dtype of a tensor that is made of a Python number alone."""
    default = dtypes.get_default_dtype()
    own = _NUMBER_DTYPES.get(number.__class__)
    return own or (default.to_complex() if number.__class__ is complex else default).numpy


def _combine(higher: np.dtype | None, lower: np.dtype | None) -> np.dtype | None:
    """``higher`` decides, unless ``lower`` is of a higher category."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if higher.kind in dtypes.FLOATS and lower.kind == "c":
        return np.dtype(np.complex128 if higher.itemsize == 8 else np.complex64)
    if dtypes.category(lower) > dtypes.category(higher):
        return dtypes.promote(higher, lower)
    return higher
