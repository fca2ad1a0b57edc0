"""Operands: the tensors and numbers that a program passes are converted to one dtype, on one device.

The common dtype follows PyTorch's rule of three ranks: tensors with dimensions decide, unless a tensor
without dimensions, or else a number, is of a higher category (bool, integer, float).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce, wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.base import dtypes, errors
from autokit.base.devices import OutOfMemoryError, on_a_gpu, put_on
from autokit.engine.tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from autokit.engine.operation import Operation

_NUMBERS = {bool: np.dtype(bool), int: np.dtype(np.int64)}
_FLOAT16, _FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)
_PLAIN = {float, int, bool}
_ndarray = np.ndarray
KEYWORDS = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's keywords, and PyTorch's for the same."""


def as_operands(operation: Operation, values: Sequence[Any], cast: Callable[..., Tensor]) -> tuple[Any, ...]:
    """The operands in their common dtype: tensors by a recorded cast, numbers as NumPy's scalars.

    A NumPy array beside a tensor counts as a tensor. An optional operand that was left out stays None.

    Raises
    ------
    TypeError
        If an operand is neither a tensor nor a number, or all are numbers.
    RuntimeError
        If the tensors are on two devices.
    """
    of_float32 = _of_float32(operation, values)
    if of_float32 is not None:
        return of_float32
    values = [new_tensor(value) if isinstance(value, np.ndarray) else value for value in values]
    tensors = [value for value in values if isinstance(value, Tensor)]
    if len(tensors) == len(values) and not operation.floating:
        first = tensors[0].array.dtype if tensors else None
        if operation.mixed or all([each.array.dtype is first for each in tensors]):
            return _on_one_device(operation, values, tensors)
    for place, value in enumerate(values):
        name = operation.operands[min(place, len(operation.operands) - 1)]
        fits = (
            isinstance(value, Tensor | int | float | np.generic)
            or value is None
            and name in operation.optional
        )
        if not (fits and tensors):
            raise errors.not_a_tensor(
                operation.name, value, place, {"a": "input", "b": "other"}.get(name, name)
            )
    values = _on_one_device(operation, values, tensors)
    if operation.mixed:
        return tuple([_scalar(value, dtype_of_number(value)) for value in values])
    common = common_dtype(values)
    if operation.floating and common.kind in "bui":
        common = dtypes.get_default_dtype().numpy
    return tuple(
        [
            cast(value, dtype=common)
            if isinstance(value, Tensor) and value.array.dtype != common
            else _scalar(value, common)
            for value in values
        ]
    )


def _of_float32(operation: Operation, values: Sequence[Any]) -> Any:
    """``values`` if they are tensors of float32 and Python's numbers, which need no cast; else None."""
    tensors = numbers = False
    for value in values:
        if value is None and operation.optional:
            continue
        if value.__class__ in _PLAIN and not operation.mixed:
            numbers = True
            continue
        try:
            array = value.array
        except AttributeError:
            return None
        if array.__class__ is not _ndarray or array.dtype is not _FLOAT32 and not operation.mixed:
            return None
        tensors = True
    if numbers and tensors:
        return tuple([_scalar(value, _FLOAT32) if value.__class__ in _PLAIN else value for value in values])
    return values if tensors else None


def common_dtype(values: Iterable[Any]) -> np.dtype[Any]:
    """The common dtype of tensors and numbers, by the rule of the three ranks."""
    ranks: list[list[np.dtype[Any]]] = [[], [], []]
    for value in values:
        if isinstance(value, Tensor):
            ranks[0 if value.array.ndim else 1].append(value.array.dtype)
        elif value is not None:
            ranks[2].append(dtype_of_number(value))
    common: np.dtype[Any] | None = None
    for rank in filter(None, ranks):
        joined = reduce(dtypes.promote, rank)
        if common is None or dtypes.category(joined) > dtypes.category(common):
            common = joined
    assert common is not None
    return common


_REFLECTED = {
    "add": "__radd__",
    "sub": "__rsub__",
    "mul": "__rmul__",
    "div": "__rtruediv__",
    "pow": "__rpow__",
}


def has_reflected(operation: Operation, value: Any) -> bool:
    """Whether ``value``, no tensor and no number, defines the reflected operator, such as ``__radd__``."""
    plain = Tensor | int | float | np.generic | np.ndarray
    is_operand = isinstance(value, plain) or type(value) in (list, tuple, str)
    return not is_operand and hasattr(type(value), _REFLECTED.get(operation.name, "no such operator"))


def dtype_of_number(value: Any) -> np.dtype[Any]:
    """The dtype that a Python number stands for: bool, int64, or the default floating point dtype."""
    if isinstance(value, np.generic):
        kind = {"b": bool, "i": int, "u": int}.get(value.dtype.kind, float)
    else:
        kind = type(value)
    return _NUMBERS.get(kind) or dtypes.get_default_dtype().numpy


def _scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as a NumPy scalar, which works beside arrays on every device; a tensor or None as it is."""
    if value is None or isinstance(value, Tensor):
        return value
    try:
        return dtype.type(value)
    except OverflowError:
        return np.asarray(value).astype(dtype)[()]  # a large integer wraps around, as a sum of integers does


def _on_one_device(operation: Operation, values: Sequence[Any], tensors: list[Tensor]) -> tuple[Any, ...]:
    """``values`` with constants without dimensions brought to the GPU where the others are."""
    if not any([on_a_gpu(each.array) for each in tensors]):
        return tuple(values)
    where = next(each.device for each in tensors if on_a_gpu(each.array))

    def brought(value: Any) -> Any:
        if not isinstance(value, Tensor) or on_a_gpu(value.array):
            return value
        if value.array.ndim or value._requires_grad:
            raise errors.two_devices(operation.name, tensors)
        return new_tensor(put_on(value.array, where))

    return tuple(map(brought, values))


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arrays of float16, computed in float32 and rounded once at the end."""

    @wraps(function)
    def wide(*values: Any, **settings: Any) -> Any:
        return _converted(
            lambda a: a.astype(_FLOAT16),
            _FLOAT32,
            function(*_converted(_widen, _FLOAT16, values), **settings),
        )

    return wide


def _widen(a: Any) -> Any:
    return a.astype(_FLOAT32)


def _converted(convert: Callable[[Any], Any], dtype: np.dtype[Any], value: Any) -> Any:
    """``value``, an array or several of them, with those of ``dtype`` converted by ``convert``."""
    if isinstance(value, tuple | list):
        return value.__class__([_converted(convert, dtype, each) for each in value])
    return convert(value) if getattr(value, "dtype", None) is dtype else value


def bind(
    operation: Operation, operands: tuple[Any, ...], settings: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The operands of a call, and all its settings by name, however they were passed.

    Raises
    ------
    TypeError
        If an argument is missing, unknown or too many.
    """
    names, defaults = operation.operands, operation.defaults
    operands, positional = operands[: len(names)], operands[len(names) :]
    for place in range(len(operands), len(names)):
        keyword = {"a": "input", "b": "other"}.get(names[place], names[place])
        if keyword in settings:
            operands = (*operands, settings.pop(keyword))
        elif names[place] in operation.optional:
            operands = (*operands, None)
        else:
            raise TypeError(f"{operation.name}() missing an argument: {keyword!r}")
    if len(positional) > len(defaults):
        raise TypeError(
            f"{operation.name}() takes {len(names)} tensors and the settings "
            f"{', '.join(defaults) or '(none)'}; got {len(operands) + len(positional)} arguments"
        )
    chosen = {**defaults, **dict(zip(defaults, positional))}
    for name, value in settings.items():
        spelled = KEYWORDS.get(name, name)
        if spelled not in defaults:
            raise TypeError(f"{operation.name}() got an unexpected keyword argument '{name}'")
        chosen[spelled] = value
    return operands, chosen


def explained(operation: Operation, operands: tuple[Any, ...], error: Exception) -> Exception:
    """The exception to raise for an ``error`` of NumPy's: PyTorch's type, with shapes, names and devices."""
    tensors = [each for each in operands if isinstance(each, Tensor)]
    if isinstance(error, np.exceptions.AxisError):
        return errors.dimension_error(error.axis, error.ndim)  # type: ignore[arg-type]
    if isinstance(error, MemoryError):
        described = ", ".join([errors.describe(each) for each in tensors])
        return OutOfMemoryError(
            f"{operation.name} needs more memory than there is; its operands are {described}"
        )
    if len({each.device.type for each in tensors}) > 1:
        return errors.two_devices(operation.name, tensors)
    shapes = [each.array.shape for each in tensors]
    if isinstance(error, ValueError) and len(shapes) > 1 and "broadcast" in str(error):
        return errors.broadcast_error(shapes, ", ".join([errors.describe(each) for each in tensors]))
    if type(error) is RuntimeError and len(tensors) > 1 and "Got" not in str(error):  # of a rule
        described = " and ".join([errors.describe(each) for each in tensors])
        return RuntimeError(f"{error}. Got {described}")
    if isinstance(error, TypeError) and "ufunc" in str(error) and tensors:
        return NotImplementedError(
            f'"{operation.name}" not implemented for {tensors[0].dtype.name}: convert it first'
        )
    return error
