"""The dtypes of tensors, and promotion: the dtype of a result of operands with two dtypes.

A :class:`dtype` is PyTorch's name for a NumPy dtype.  Promotion follows PyTorch, which differs from NumPy in
two ways: an integer and a float give a float of the float's width (``int64 + float32`` is ``float32``), and a
Python number or a tensor without dimensions only decides where its *category* (bool, integer, float) is
higher than that of the tensors with dimensions.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2}
"""NumPy's kind letters in the order of PyTorch's categories."""


class dtype:
    """The type of a tensor's elements, such as ``torch.float32``.

    Attributes
    ----------
    name : str
        Its name, as ``"float32"``.
    numpy : numpy.dtype
        The dtype of the arrays that hold such elements.
    itemsize : int
        The bytes of one element.
    is_floating_point, is_complex, is_signed : bool
        Which numbers it holds.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.float32, torch.float32.itemsize, torch.int64.is_floating_point
    (torch.float32, 4, False)
    """

    __slots__ = ("is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy")
    numpy: np.dtype[Any]

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_floating_point = "float" in name
        self.is_complex = name.startswith("complex")
        self.is_signed = name not in ("bool", "uint8")
        digits = name.lstrip("abcdefghijklmnopqrstuvwxyz")
        self.itemsize = int(digits) // 8 if digits else 1
        if name not in _LEFT_OUT:
            self.numpy = np.dtype(name)

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for an attribute that is missing: `numpy` is, where no array has the dtype.
        if name == "numpy":
            raise TypeError(_LEFT_OUT[self.name])
        raise AttributeError(f"'torch.dtype' object has no attribute {name!r}")

    def __repr__(self) -> str:
        # Programs say `import autokit as torch`, and so write the dtype like this.
        return f"torch.{self.name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return dtype_named, (self.name,)


_COMPLEX = "autokit has no {}: it computes with real numbers; keep real and imaginary part as two tensors"

_LEFT_OUT = {
    "bfloat16": "autokit does not compute in bfloat16: use torch.float32, or torch.float16 to save memory",
    "complex64": _COMPLEX.format("complex64"),
    "complex128": _COMPLEX.format("complex128"),
}
"""PyTorch's dtypes that exist here as names only, with the sentence of the error that their use raises."""

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
}

BY_NAME: dict[str, dtype] = {}
"""Every dtype under each of its public names."""

for _name, _others in _OTHER_NAMES.items():
    BY_NAME.update(dict.fromkeys((_name, *_others), dtype(_name)))

NAMES_ONLY: dict[str, dtype] = {name: dtype(name) for name in _LEFT_OUT}
NAMES_ONLY.update(cfloat=NAMES_ONLY["complex64"], cdouble=NAMES_ONLY["complex128"])
"""The dtypes that no tensor has: a program may name them, and an error says why when it uses one."""

BY_NUMPY: dict[np.dtype[Any], dtype] = {found.numpy: found for found in BY_NAME.values()}
"""The :class:`dtype` for each of NumPy's."""

TENSOR_TYPES = {
    "float32": "FloatTensor",
    "float64": "DoubleTensor",
    "float16": "HalfTensor",
    "uint8": "ByteTensor",
    "int8": "CharTensor",
    "int16": "ShortTensor",
    "int32": "IntTensor",
    "int64": "LongTensor",
    "bool": "BoolTensor",
}
"""The old name of tensors of each dtype, which ``x.type()`` returns."""

_default = BY_NAME["float32"]


def dtype_named(name: str) -> dtype:
    """The dtype of this name, also one that no tensor has."""
    return BY_NAME.get(name) or NAMES_ONLY[name]


def get_default_dtype() -> dtype:
    """The dtype of tensors created from Python floats: ``float32`` unless it was set otherwise."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Let Python floats become tensors of dtype ``d``, a floating point dtype."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, and {d!r} is none")
    _default = BY_NUMPY[d.numpy]


def as_dtype(value: Any) -> dtype:
    """The dtype that ``value`` names: ours, a Python type, NumPy's, or a name such as ``"float32"``.

    >>> as_dtype(float), as_dtype(np.int32), as_dtype("float16")
    (torch.float64, torch.int32, torch.float16)

    Raises
    ------
    TypeError
        If no tensor has such elements.
    """
    if value.__class__ is dtype:
        return BY_NUMPY[value.numpy]
    name = value.removeprefix("torch.") if isinstance(value, str) else ""
    if name in BY_NAME:
        return BY_NAME[name]
    try:
        return BY_NUMPY[np.dtype(value)]
    except (TypeError, KeyError):
        name = name or ("complex128" if value is complex else getattr(value, "name", ""))
        raise TypeError(
            _LEFT_OUT.get(name)
            or f"{value!r} is no dtype of tensors. There are: {', '.join(sorted(_OTHER_NAMES))}. "
            "Convert an array of another type first, for example with array.astype('float32')."
        ) from None


@cache
def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """NumPy's dtype of the result of two tensors with dimensions, of dtypes ``a`` and ``b``.

    >>> promote(np.dtype("int64"), np.dtype("float32"))
    dtype('float32')
    """
    high, low = (a, b) if category(a) >= category(b) else (b, a)
    if high.kind == "f" and low.kind != "f":
        return high
    return np.promote_types(a, b)


def category(d: np.dtype[Any]) -> int:
    """0 for bool, 1 for integers, 2 for floats: the highest one decides a promotion."""
    return _CATEGORY[d.kind]


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both ``type1`` and ``type2`` convert to.

    >>> promote_types(as_dtype("uint8"), as_dtype("int8"))
    torch.int16
    """
    return BY_NUMPY[promote(as_dtype(type1).numpy, as_dtype(type2).numpy)]


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether an operation in place may change ``from_`` into ``to``: never into a lower category.

    >>> can_cast(as_dtype("float64"), as_dtype("float32")), can_cast(as_dtype("float32"), as_dtype("int64"))
    (True, False)
    """
    return category(from_.numpy) <= category(to.numpy)


class finfo:
    """The limits of a floating point dtype, by default of the default dtype.

    Attributes
    ----------
    bits : int
        The size of one number in memory.
    eps : float
        The distance from 1 to the next number.
    max, min : float
        The largest number, and its negative.
    smallest_normal, tiny : float
        The smallest positive number of full precision.
    resolution : float
        10⁻ⁿ, where n is the number of decimal digits that are exact.
    dtype : str
        The name of the dtype.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max
    (1.1920928955078125e-07, 65504.0)
    """

    def __init__(self, type: dtype | None = None) -> None:
        found = _default if type is None else as_dtype(type)
        if not found.is_floating_point:
            raise TypeError(f"torch.finfo() is for floating point dtypes; use torch.iinfo for {found!r}")
        limits = np.finfo(found.numpy)
        self.dtype, self.bits = found.name, limits.bits
        self.eps, self.resolution = float(limits.eps), float(f"{limits.resolution:.0e}")
        self.max, self.min = float(limits.max), float(limits.min)
        self.smallest_normal = self.tiny = float(limits.tiny)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:.6g}, min={self.min:.6g}, max={self.max:.6g}, "
            f"eps={self.eps:.6g}, smallest_normal={self.smallest_normal:.6g}, tiny={self.tiny:.6g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype: ``bits``, ``min``, ``max`` and ``dtype``, its name.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.iinfo(torch.int8).min, torch.iinfo(torch.uint8).max
    (-128, 255)
    """

    def __init__(self, type: dtype) -> None:
        found = as_dtype(type)
        if found.numpy.kind not in "iu":
            raise TypeError(f"torch.iinfo() is for integer dtypes; use torch.finfo for {found!r}")
        limits = np.iinfo(found.numpy)
        self.dtype, self.bits = found.name, limits.bits
        self.min, self.max = int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:.6g}, max={self.max:.6g}, dtype={self.dtype})"
