"""What numbers a dtype can hold: :class:`finfo` for floating point numbers, :class:`iinfo` for integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes


class _Limits:
    """The part that both have in common: they are equal by their dtypes, and have no hash, as in PyTorch."""

    __slots__ = ("bits", "dtype", "max", "min")
    __hash__ = None  # type: ignore[assignment]
    bits: int
    dtype: str

    def __eq__(self, other: object) -> bool:
        return self.dtype == other.dtype if isinstance(other, type(self)) else NotImplemented


_DEFAULT = object()
"""Stands for a dtype that was not given."""


class finfo(_Limits):
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
        The power of ten that can be told apart near 1.
    dtype : str
        The name of the dtype.

    Raises
    ------
    TypeError
        If the dtype is none of floating point numbers.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max
    (1.1920928955078125e-07, 65504.0)
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: Any = _DEFAULT) -> None:
        kind = dtypes.get_default_dtype() if type is _DEFAULT else _dtype("finfo", type)
        if not (kind.is_floating_point or kind.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'torch.finfo': {kind!r} holds no floating point numbers"
            )
        kind = kind.to_real()
        self.dtype, self.bits = kind.name, 8 * kind.itemsize
        digits, exponents, self.resolution = _FORMATS[kind.name]
        self.eps = 2.0**-digits
        self.max = (2.0 - self.eps) * 2.0 ** (2 ** (exponents - 1) - 1)
        self.min = -self.max
        self.smallest_normal = self.tiny = 2.0 ** (2 - 2 ** (exponents - 1))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:.6g}, min={self.min:.6g}, max={self.max:.6g}, "
            f"eps={self.eps:.6g}, smallest_normal={self.smallest_normal:.6g}, tiny={self.tiny:.6g}, "
            f"dtype={self.dtype})"
        )


_FORMATS = {
    "float16": (10, 5, 1e-3),
    "bfloat16": (7, 8, 1e-2),
    "float32": (23, 8, 1e-6),
    "float64": (52, 11, 1e-15),
}
"""The bits of the fraction and of the exponent (IEEE 754, and bfloat16), and the resolution."""


class iinfo(_Limits):
    """The limits of an integer dtype.

    Attributes
    ----------
    bits : int
        The size of one number in memory.
    max, min : int
        The largest and the smallest number.
    dtype : str
        The name of the dtype.

    Raises
    ------
    TypeError
        If the dtype is none of integers.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.iinfo(torch.int8).min, torch.iinfo(torch.uint8).max
    (-128, 255)
    """

    __slots__ = ()

    def __init__(self, type: Any) -> None:
        kind = _dtype("iinfo", type)
        if kind.is_floating_point or kind.is_complex:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo': "
                f"{kind!r} holds no integers"
            )
        if kind.name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        self.dtype, self.bits = kind.name, 8 * kind.itemsize
        limits = np.iinfo(kind.numpy)
        self.min, self.max = int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:.6g}, max={self.max:.6g}, dtype={self.dtype})"


def _dtype(name: str, value: Any) -> dtypes.dtype:
    if isinstance(value, type) and value in (bool, int, float, complex):  # Python's own
        return dtypes.as_dtype(value)
    if not isinstance(value, dtypes.dtype):
        raise TypeError(
            f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type(value).__name__}"
        )
    return value
