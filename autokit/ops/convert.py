"""The same values in another dtype, on another device, in another order in memory; and what the dtype is."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes, formats
from autokit.current_gpu import SEVERAL, chosen_gpu, on_its_gpu
from autokit.devices import device, put_on
from autokit.ops.elementwise import plain_clone
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import unchanged
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL


@operation(
    "→",
    "{a}",
    a=derivative("1", unchanged),
    name="cast",
    backward="ToCopyBackward0",
    own_precision=True,
    linear=True,
)
def plain_cast(a, /, dtype, order="K", asked=False):
    """See :func:`cast`; ``asked``: the program asked for it, so that it shows in ``next_functions``."""
    return converted(a, dtype, order)


def converted(array: Any, dtype: np.dtype, order: Any = "K") -> Any:
    """A copy of ``array`` in ``dtype``; a number beyond the range of a narrow integer type wraps around.

    NumPy leaves open what such a float becomes; PyTorch takes it through
    int32, in which what does not fit is the smallest number.
    """
    if array.dtype.kind == "c" != dtype.kind and dtype.kind != "b":
        array = array.real
    if array.dtype.kind in dtypes.FLOATS and dtype.kind in "ui" and dtype.itemsize < 4:
        array = array.astype(np.float64 if array.dtype.itemsize == 8 else np.float32).astype(np.int32)
    try:
        return array.astype(dtype, order=order)
    except RuntimeWarning:  # a program's filter makes errors of NumPy's warnings
        with np.errstate(all="ignore"):
            return array.astype(dtype, order=order)


def cast(input: Tensor, dtype: np.dtype, order: Any = "K", asked: bool = False) -> Tensor:
    """The same values in another dtype; integers and bools have no gradient."""
    if dtype.kind in dtypes.DIFFERENTIABLE:
        return plain_cast(input, dtype=dtype, order=order, asked=asked)
    return new_tensor(on_its_gpu(converted, (input,))(input.array, dtype, order))


# ---------------------------------------------------------------- to(...)


_device = device


def to(
    input: Tensor,
    *target: Any,
    device: Any = None,
    dtype: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``input`` with another dtype or on another device; itself where nothing changes.

    Parameters
    ----------
    *target
        A dtype, a device, a device and a dtype, or a tensor to be like; then
        ``non_blocking`` and ``copy``.
    device, dtype : optional
        The same by keyword.
    non_blocking : bool
        Without effect: a copy between devices is always waited for.
    copy : bool
        Copy even where nothing changes.
    memory_format : memory_format, optional
        The order of a copy in memory, by default that of ``input``.

    Raises
    ------
    TypeError
        If the arguments are no dtype, device or tensor, or in another order.
    RuntimeError
        If there is no device of this name, or it is not there.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.ones(2).to(torch.int64), torch.ones(2).to("cpu", torch.float64).dtype
    (tensor([1, 1]), torch.float64)
    """
    device, dtype, copy = _target(target, device, dtype, copy)
    result = input
    if device is not None and not _is_on(input.device, where := _device(device)):
        result = move(result, where)
    wanted = None if dtype is None else dtypes.as_dtype(dtype).numpy
    if wanted is not None and wanted != result.array.dtype:
        if result.array.dtype.kind == "c" != wanted.kind:
            warn("Casting complex values to real discards the imaginary part")
        result = cast(result, dtype=wanted, order=_order(memory_format, result), asked=True)
        if memory_format in (formats.channels_last, formats.channels_last_3d):
            result = in_format(result, memory_format, copy=False)
    elif copy and result is input or _lies_otherwise(result.array, memory_format):
        result = (
            cast(result, dtype=result.array.dtype, order=_order(None, result), asked=True)
            if memory_format is None
            else in_format(result, memory_format, copy)
        )
    elif memory_format is not None:
        _order(memory_format, result)
    return result


def _lies_otherwise(array: Any, memory_format: Any) -> bool:
    """Whether ``to`` is to look at the order in memory: PyTorch leaves what lies neither way as it is."""
    if memory_format != formats.contiguous_format or array.ndim not in (4, 5):
        return memory_format in (formats.channels_last, formats.channels_last_3d)
    return not array.flags.c_contiguous and array.transpose(0, *range(2, array.ndim), 1).flags.c_contiguous


def _target(target: tuple[Any, ...], device_: Any, dtype: Any, copy: bool) -> tuple[Any, Any, bool]:
    """Device, dtype and copy, from the arguments of ``to`` that were given by their place."""
    left = list(target)
    known = device_ is None or _is_device(device_)
    known = known and (dtype is None or _is_dtype(dtype))
    if left and isinstance(left[0], Tensor):
        like = left.pop(0)
        known = known and device_ is None and dtype is None
        device_, dtype = like.device, like.dtype
    elif left and _is_dtype(left[0]):
        known = known and dtype is None
        dtype = left.pop(0)
    elif left and (left[0] is None or _is_device(left[0])):
        known = known and device_ is None
        device_ = left.pop(0)
        if left and (left[0] is None or _is_dtype(left[0])):
            known = known and dtype is None
            dtype = left.pop(0)
    if len(target) == 1 and isinstance(target[0], bool):  # `to(True)` names the dtype of True
        return device_, bool, copy
    if not known or len(left) > 2 or not all(isinstance(flag, bool) for flag in left):
        given = ", ".join(type(each).__name__ for each in target)
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({given}): give a dtype, a device, a "
            "device and a dtype, or a tensor to be like, then non_blocking and copy"
        )
    return device_, dtype, copy or left[1:] == [True]


def _is_dtype(value: Any) -> bool:
    return isinstance(value, dtypes.dtype) or value in (float, int, bool, complex)


def _is_device(value: Any) -> bool:
    return isinstance(value, str | device) or (isinstance(value, int) and not isinstance(value, bool))


def _is_on(place: device, wanted: device) -> bool:
    """Whether ``place`` is the device ``wanted``, which may leave open which GPU."""
    if place.type != wanted.type or place.type == "cpu":
        return place.type == wanted.type
    index = chosen_gpu() if wanted.index is None and SEVERAL in UNUSUAL else wanted.index
    return index in (None, place.index)


def _order(memory_format: Any, tensor: Tensor) -> str:
    """NumPy's letter for the order in memory that a copy of ``tensor`` gets."""
    if memory_format is None:
        memory_format = formats.preserve_format
    if not isinstance(memory_format, formats.memory_format):
        raise TypeError(
            f"to(): argument 'memory_format' must be torch.memory_format, not {type(memory_format).__name__}"
        )
    memory_format.order(tensor.array.ndim)
    return "K" if memory_format == formats.preserve_format and 0 not in tensor.array.strides else "C"


@operation(
    "⎘",
    "{a}",
    a=derivative("1", unchanged),
    name="in_format",
    backward=lambda node: node.settings["node"],  # type: ignore[index]
    linear=True,
)
def plain_in_format(a, /, order, node="ToCopyBackward0"):
    """See :func:`in_format`."""
    return a.transpose(order).copy().transpose(tuple(np.argsort(order).tolist()))


def in_format(input: Tensor, memory_format: Any, copy: bool = True) -> Tensor:
    """The elements of ``input`` in another order in memory; itself where they are in it and need no copy."""
    order = tuple(memory_format.order(input.array.ndim))
    if memory_format == formats.preserve_format:
        return input.clone()
    if not copy and input.array.transpose(order).flags.c_contiguous:
        return input
    return plain_in_format(input, order=order)


def pin_memory(input: Tensor, device: Any = None) -> Tensor:
    """``input`` itself: a copy to a GPU is always waited for, so page-locked memory would change nothing."""
    return input


def is_pinned(input: Tensor, device: Any = None) -> bool:
    """Whether the memory is page-locked: never."""
    return False


def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy through which gradients flow, in the same order in memory, or in that of ``memory_format``."""
    if memory_format is None or memory_format == formats.preserve_format:
        return plain_clone(input)
    order = tuple(memory_format.order(input.array.ndim))
    return plain_in_format(input, order=order, node="CloneBackward0")


def contiguous(input: Tensor, memory_format: Any = formats.contiguous_format) -> Tensor:
    """The same elements in the order of their indices in memory: the tensor itself where they lie so.

    >>> import autokit as torch
    >>> torch.arange(6).reshape(2, 3).T.contiguous().stride()
    (2, 1)
    """
    if not isinstance(memory_format, formats.memory_format):
        raise TypeError(
            "contiguous(): argument 'memory_format' must be torch.memory_format, not "
            f"{type(memory_format).__name__}: write torch.contiguous_format or torch.channels_last"
        )
    if memory_format == formats.preserve_format:
        if input.is_contiguous():
            return input
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    there = input.is_contiguous(memory_format=memory_format)
    return input if there else clone(input, memory_format=memory_format)


@operation(
    "→",
    "{a} on another device",
    a=derivative("1", lambda g, source, target: on(plain_move, g, source=target, target=source)),
    name="move",
    linear=True,
    backward="ToCopyBackward0",
    own_precision=True,
)
def plain_move(a, /, source, target):
    """See :func:`move`."""
    return put_on(target, a)


def move(input: Tensor, where: device) -> Tensor:
    """The same values on the device ``where``; their gradient goes back to the device they come from."""
    return plain_move(input, source=input.device, target=where)


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
    "cfloat": "complex64",
    "cdouble": "complex128",
}


def _as(name: str, kind: dtypes.dtype) -> Any:
    def convert(input: Tensor, *, memory_format: Any = None) -> Tensor:
        if memory_format is not None and not isinstance(memory_format, formats.memory_format):
            raise TypeError(
                f"{name}(): argument 'memory_format' must be torch.memory_format, not "
                f"{type(memory_format).__name__}"
            )
        return to(input, kind, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The elements as {kind.name}."
    return convert


CONVERSIONS = {name: _as(name, dtypes.BY_NAME[kind]) for name, kind in _BY_METHOD.items()}
"""``x.float()`` and the like."""


def cpu(input: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor on the CPU."""
    return to(input, device="cpu", memory_format=memory_format)


def cuda(
    input: Tensor, device: Any = "cuda", non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """The tensor on a GPU."""
    return to(input, device=device, memory_format=memory_format)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the dtype, and on the device, of ``other``."""
    if not isinstance(other, Tensor):
        raise TypeError(
            f"type_as(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}"
        )
    return to(input, other)


def tensor_type(input: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The old name of the tensor's kind, as ``'torch.FloatTensor'``; with ``dtype``, the elements in that.

    Parameters
    ----------
    dtype : dtype, str or type, optional
        ``torch.int64``, ``"torch.LongTensor"`` or ``torch.LongTensor``.

    Raises
    ------
    ValueError
        If there is no kind of this name.
    TypeError
        If ``non_blocking`` is not True or False.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.ones(2).type(), torch.ones(2).type("torch.LongTensor")
    ('torch.FloatTensor', tensor([1, 1]))
    """
    if not isinstance(non_blocking, bool):
        raise TypeError(
            f"type(): argument 'non_blocking' (position 2) must be bool, not {type(non_blocking).__name__}"
        )
    if dtype is None:
        name = dtypes.TENSOR_TYPES[input.dtype]
        return name.replace("torch.", "torch.cuda.") if input.is_cuda else name
    if isinstance(dtype, dtypes.dtype):
        return to(input, dtype)
    if not isinstance(dtype, str):
        if not isinstance(dtype, type):
            raise TypeError("dtype must be a type, str, or dtype object")
        name = dtype.__name__
        dtype = f"torch.{name}" if dtype.__module__ in ("torch", "autokit.tensor") else name
    if dtype == "torch.Tensor":
        return to(input, dtypes.get_default_dtype())
    if dtype not in dtypes.BY_TENSOR_TYPE:
        raise ValueError(f"invalid type: '{dtype}'; there are {', '.join(dtypes.BY_TENSOR_TYPE)}")
    return to(input, dtypes.BY_TENSOR_TYPE[dtype])


# ---------------------------------------------------------------- questions


def _require_tensor(name: str, input: Any) -> None:
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating point numbers."""
    _require_tensor("is_floating_point", input)
    return input.array.dtype.kind in dtypes.FLOATS


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers."""
    _require_tensor("is_complex", input)
    return input.array.dtype.kind == "c"


def is_signed(input: Tensor) -> bool:
    """Whether the elements may be negative."""
    _require_tensor("is_signed", input)
    return input.dtype.is_signed


def is_conj(input: Tensor) -> bool:
    """Whether the elements are still to be conjugated: never, as it is done at once here."""
    _require_tensor("is_conj", input)
    return False


def is_neg(input: Tensor) -> bool:
    """Whether the elements are still to be negated: never, as it is done at once here."""
    _require_tensor("is_neg", input)
    return False


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0.

    Raises
    ------
    RuntimeError
        If there is not exactly one element.
    """
    _require_tensor("is_nonzero", input)
    return bool(input)


def result_type(*values: Any, **named: Any) -> dtypes.dtype:
    """The dtype that two tensors or numbers, ``tensor`` and ``other``, meet in.

    Dtypes of tensors with dimensions decide, unless a tensor without, or else
    a number, is of a higher category: bool, integer, float, complex.

    >>> import autokit as torch
    >>> torch.result_type(torch.ones(2, dtype=torch.int8), 2.5)
    torch.float32
    """
    both = [*values, *named.values()]
    kinds = Tensor | bool | int | float | complex | np.generic
    if len(both) != 2 or not _KEYWORDS.issuperset(named) or not all(isinstance(each, kinds) for each in both):
        got = [*(type(each).__name__ for each in values), *(f"{n}={type(named[n]).__name__}" for n in named)]
        raise TypeError(
            f"result_type() received an invalid combination of arguments - got ({', '.join(got)}): it takes "
            "two tensors or numbers, as result_type(tensor, other)"
        )
    both = [each.item() if isinstance(each, np.generic) else each for each in both]
    return dtypes.BY_NUMPY[common_dtype(both)]


_KEYWORDS = {"tensor", "other", "scalar", "scalar1", "scalar2"}
"""What PyTorch calls the two by the kinds that they are of."""


NAMES = Names(
    both="clone is_complex is_conj is_floating_point is_neg is_nonzero is_signed",
    functions="result_type",
    methods="contiguous cpu cuda is_pinned pin_memory to type_as",
    other_methods={**CONVERSIONS, "type": tensor_type},
)
