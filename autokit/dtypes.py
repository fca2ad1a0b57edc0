"""The types of a tensor's elements, and what comes out when two of them meet.

A :class:`dtype` is PyTorch's name for a NumPy dtype.  Promotion follows
PyTorch, which differs from NumPy in two ways: an integer joins a float at the
float's own width (``int64 + float32`` is ``float32``), and a Python number or
a tensor without dimensions only decides where its *category* (bool, integer,
float, complex) is higher than that of the tensors with dimensions.

The two dtypes of half precision are only stored in 16 bits: operations compute
them in float32 and round their result once; see ``autokit.ops.half``.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from autokit.thread_state import UNUSUAL

_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}
"""NumPy's kind letters in the order of PyTorch's categories; ``V`` is bfloat16, no type of NumPy's own."""

FLOATS = "fV"
"""The kind letters of floating point numbers."""

DIFFERENTIABLE = "fVc"
"""The kind letters of what may require a gradient."""

RARE: set[np.dtype] = set()
"""NumPy's dtypes of half precision, and of complex numbers, that this program uses.

It is empty until the program uses one, so that asking is cheap.
"""

HALVES: set[np.dtype] = set()
"""Those of half precision among them."""

COMPLEX: set[np.dtype] = set()
"""Those of complex numbers among them."""


class dtype:
    """The type of a tensor's elements, such as ``autokit.float32``.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.float32, torch.float32.itemsize, torch.int64.is_floating_point
    (torch.float32, 4, False)
    """

    __slots__ = ("is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy")

    numpy: np.dtype

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_floating_point = "float" in name
        self.is_complex = name.startswith("complex")
        self.is_signed = name != "bool" and not name.startswith("uint")
        digits = name.lstrip("abcdefghijklmnopqrstuvwxyz")
        self.itemsize = int(digits) // 8 if digits else 1
        if name not in _RARE_NAMES:
            self.numpy = np.dtype(name)

    def __getattr__(self, name: str) -> Any:
        # `numpy` is missing only until a rare dtype is used for the first time.
        if name != "numpy":
            raise AttributeError(f"'torch.dtype' object has no attribute {name!r}")
        self.numpy = _bfloat16() if self.name == "bfloat16" else np.dtype(self.name)
        # A number of one complex dtype makes a result of the other: both are known from then on.
        met: set[np.dtype] = (
            {np.dtype(np.complex64), np.dtype(np.complex128)} if self.is_complex else {self.numpy}
        )
        RARE.update(met)
        (COMPLEX if self.is_complex else HALVES).update(met)
        UNUSUAL.add("complex numbers" if self.is_complex else "half precision")
        BY_NUMPY[self.numpy] = self
        return self.numpy

    def to_complex(self) -> dtype:
        """The complex dtype of this precision; integers and bools have none."""
        if not (self.is_floating_point or self.is_complex):
            raise RuntimeError(f"Unknown Complex ScalarType for {self.name}: it holds no fractions")
        return BY_NAME["complex128" if self.name in ("float64", "complex128") else "complex64"]

    def to_real(self) -> dtype:
        """The real dtype of this precision."""
        return BY_NAME[{"complex64": "float32", "complex128": "float64"}.get(self.name, self.name)]

    def __repr__(self) -> str:
        # PyTorch's text, so that a program prints the same after `import autokit as torch`.
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self.name,)


_RARE_NAMES = ("float16", "bfloat16", "complex64", "complex128")


def _bfloat16() -> np.dtype:
    try:
        import ml_dtypes
    except ImportError as error:
        raise RuntimeError(
            "NumPy has no bfloat16 of its own: tensors of it need the package ml_dtypes, which comes with "
            'pip install "autokit-edu[bfloat16]"; torch.float16 and torch.float32 need none.'
        ) from error
    return np.dtype(ml_dtypes.bfloat16)


class _ByNumpy(dict[np.dtype, dtype]):
    """From NumPy's dtype to ours; the rare ones are entered when they are first met."""

    def __missing__(self, key: np.dtype) -> dtype:
        if key.name not in _RARE_NAMES:
            raise KeyError(key)
        found = BY_NAME[key.name]
        return found if found.numpy == key else self[found.numpy]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or getattr(key, "name", None) in _RARE_NAMES


def note(met: np.dtype) -> None:
    """Know that the program has numbers of the dtype ``met``, which may be rare: operations ask for that."""
    BY_NUMPY[met].numpy  # noqa: B018


_OTHER_NAMES = {
    "bool": (),
    "uint8": (),
    "int8": (),
    "int16": ("short",),
    "int32": ("int",),
    "int64": ("long",),
    "float16": ("half",),
    "bfloat16": (),
    "float32": ("float",),
    "float64": ("double",),
    "complex64": ("cfloat",),
    "complex128": ("cdouble",),
}

BY_NAME: dict[str, dtype] = {}
"""Every dtype under each of its public names; ``autokit`` exports them all."""

for _name, _others in _OTHER_NAMES.items():
    BY_NAME.update(dict.fromkeys((_name, *_others), dtype(_name)))

BY_NUMPY = _ByNumpy({each.numpy: each for each in BY_NAME.values() if each.name not in _RARE_NAMES})
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
    assert d.numpy is not None  # bfloat16 may be missing
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
    if a == b or low.kind in "bui" and high.kind not in "bui":
        return high
    if a.kind in FLOATS and b.kind in FLOATS and a.itemsize == b.itemsize:
        return np.dtype(np.float32)  # what holds both float16 and bfloat16
    if high.kind == "c" and low.kind in FLOATS:
        return np.promote_types(high, np.complex128 if low.itemsize == 8 else np.complex64)
    return np.promote_types(a, b)


def category(d: np.dtype) -> int:
    """0 for bool, 1 for integers, 2 for floats, 3 for complex: the higher one decides a promotion."""
    return _CATEGORY[d.kind]


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both ``type1`` and ``type2`` convert to.

    >>> promote_types(as_dtype("uint8"), as_dtype("int8"))
    torch.int16
    """
    for place, value in enumerate((type1, type2), 1):
        if not isinstance(value, dtype):
            raise TypeError(
                f"promote_types(): argument 'type{place}' (position {place}) must be torch.dtype, not "
                f"{type(value).__name__}"
            )
    return BY_NUMPY[promote(type1.numpy, type2.numpy)]


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether an operation in place may change ``from_`` into ``to``: never into a lower category.

    >>> can_cast(as_dtype("float64"), as_dtype("float32")), can_cast(as_dtype("float32"), as_dtype("int64"))
    (True, False)
    """
    for value in (from_, to):
        if not isinstance(value, dtype):
            raise TypeError(f"can_cast(): its arguments must be torch.dtype, not {type(value).__name__}")
    return category(from_.numpy) <= category(to.numpy)


def set_default_tensor_type(t: Any) -> None:
    """:func:`set_default_dtype` by the name of a tensor type, as ``torch.DoubleTensor``; the old way.

    Raises
    ------
    TypeError
        If its elements are no floating point numbers.
    """
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    name = t if isinstance(t, str) else f"torch.{getattr(t, '__name__', t)}"
    kind = BY_TENSOR_TYPE.get(name)
    if kind is None or not kind.is_floating_point:
        raise TypeError(
            f"invalid type object: only floating-point types are supported as the default type, and {name} "
            "is none; there are torch.FloatTensor, torch.DoubleTensor, torch.HalfTensor, torch.BFloat16Tensor"
        )
    set_default_dtype(kind)


BY_TENSOR_TYPE = {
    f"torch.{prefix}Tensor": BY_NAME[name]
    for prefix, name in {
        "Float": "float32",
        "Double": "float64",
        "Half": "float16",
        "BFloat16": "bfloat16",
        "Byte": "uint8",
        "Char": "int8",
        "Short": "int16",
        "Int": "int32",
        "Long": "int64",
        "Bool": "bool",
        "ComplexFloat": "complex64",
        "ComplexDouble": "complex128",
    }.items()
}
"""The dtypes by the old names of tensors that have them, such as ``"torch.FloatTensor"``."""

TENSOR_TYPES = {kind: name for name, kind in BY_TENSOR_TYPE.items()}
"""The old name of tensors of each dtype."""
