"""The types of a tensor's elements, and what comes out when two of them meet.

A :class:`dtype` is PyTorch's name for a NumPy dtype.  Promotion follows
PyTorch, which differs from NumPy in two ways: an integer joins a float at the
float's own width (``int64 + float32`` is ``float32``), and a Python number or
a tensor without dimensions only decides where its *category* (bool, integer,
float, complex) is higher than that of the tensors with dimensions.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
"""NumPy's kind letters in the order of PyTorch's categories."""


class dtype:
    """The type of a tensor's elements, such as ``autokit.float32``.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.float32, torch.float32.itemsize, torch.int64.is_floating_point
    (torch.float32, 4, False)
    """

    __slots__ = ("is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy")

    def __init__(self, name: str) -> None:
        self.name = name
        self.numpy = np.dtype(name)
        self.itemsize = self.numpy.itemsize
        self.is_floating_point = self.numpy.kind == "f"
        self.is_complex = self.numpy.kind == "c"
        self.is_signed = self.numpy.kind in "ifc"

    def __repr__(self) -> str:
        # PyTorch's text, so that a program prints the same after `import autokit as torch`.
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self.name,)


_OTHER_NAMES = {
    "bool": (),
    "uint8": (),
    "int8": (),
    "int16": ("short",),
    "int32": ("int",),
    "int64": ("long",),
    "float16": ("half",),
    "float32": ("float",),
    "float64": ("double",),
    "complex64": ("cfloat",),
    "complex128": ("cdouble",),
}

BY_NAME: dict[str, dtype] = {}
"""Every dtype under each of its public names; ``autokit`` exports them all."""

for _name, _others in _OTHER_NAMES.items():
    BY_NAME.update(dict.fromkeys((_name, *_others), dtype(_name)))

BY_NUMPY = {each.numpy: each for each in BY_NAME.values()}
"""From NumPy's dtype to ours."""

_default = BY_NAME["float32"]


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats: ``float32`` unless set otherwise."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Let Python floats become tensors of dtype ``d``.

    Raises
    ------
    TypeError
        If ``d`` is no floating point dtype.
    """
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, and {d!r} is none")
    _default = d


def as_dtype(value: Any) -> dtype:
    """The dtype that ``value`` names: ours, a Python type, NumPy's, or a name such as ``"float32"``.

    Raises
    ------
    TypeError
        If there is no such dtype.
    """
    if isinstance(value, dtype):
        return value
    if isinstance(value, str) and value.removeprefix("torch.") in BY_NAME:
        return BY_NAME[value.removeprefix("torch.")]
    try:
        return BY_NUMPY[np.dtype(value)]
    except (TypeError, KeyError):
        raise TypeError(
            f"{value!r} is no dtype of tensors. There are: {', '.join(sorted(_OTHER_NAMES))}. "
            "Convert an array of another type first, for example with array.astype('float32')."
        ) from None


@cache
def promote(a: np.dtype, b: np.dtype) -> np.dtype:
    """NumPy's dtype of a result made from ``a`` and ``b``, by PyTorch's rule for equal standing.

    >>> promote(np.dtype("int64"), np.dtype("float32"))
    dtype('float32')
    """
    high, low = (a, b) if _CATEGORY[a.kind] >= _CATEGORY[b.kind] else (b, a)
    if _CATEGORY[high.kind] == _CATEGORY[low.kind]:
        return np.promote_types(a, b)
    if high.kind == "c" and low.kind == "f":
        return np.promote_types(high, np.result_type(low, np.complex64))
    return high


def category(d: np.dtype) -> int:
    """0 for bool, 1 for integers, 2 for floats, 3 for complex: the higher one decides a promotion."""
    return _CATEGORY[d.kind]


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that both ``a`` and ``b`` convert to.

    >>> promote_types(as_dtype("uint8"), as_dtype("int8"))
    torch.int16
    """
    return BY_NUMPY[promote(a.numpy, b.numpy)]
