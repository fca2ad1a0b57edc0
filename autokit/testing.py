"""For tests: :func:`assert_close` compares, :func:`make_tensor` draws."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autokit import dtypes
from autokit.devices import to_numpy
from autokit.limits import finfo, iinfo
from autokit.missing import names_of
from autokit.ops.complex_parts import view_as_real
from autokit.ops.create import tensor
from autokit.ops.filled import zeros
from autokit.ops.sampling import randint
from autokit.ops.warn import warn
from autokit.tensor import Tensor


class _Limits(NamedTuple):
    """What makes a difference: how far numbers may be apart, and which attributes of tensors must agree."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    attributes: tuple[str, ...]


_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
"""How far apart, relatively and absolutely, numbers of a dtype may be; others must be equal."""


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """Raise unless two tensors, numbers, or sequences or mappings of them, are near each other.

    That is where ``|actual - expected| <= atol + rtol * |expected|``.

    Parameters
    ----------
    rtol, atol : float, optional
        Both or neither; PyTorch's for the dtype where they are left out.
    equal_nan : bool
        Take NaN for equal to NaN.
    check_dtype, check_device, check_stride : bool
        Raise where these differ.
    msg : str or function, optional
        What to say in place of the usual words, or a function of these.

    Raises
    ------
    AssertionError
        If something is not close, saying how far apart it is and where.
    ValueError
        If one of ``rtol`` and ``atol`` is given without the other.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 1e-6]))
    >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.2 at index (1,) (up to 1.3e-06 allowed)
    """
    checks = {"shape": True, "device": check_device, "dtype": check_dtype, "stride": check_stride}
    attributes = tuple(name for name, wanted in checks.items() if wanted)
    said = _difference(actual, expected, _Limits(rtol, atol, equal_nan, attributes))
    if said:
        raise AssertionError(said if msg is None else msg(said) if callable(msg) else msg)


def _difference(actual: Any, expected: Any, limits: _Limits) -> str:
    """What is not close, in words; empty where all is."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return f"The keys of the mappings do not match: {sorted(actual)} != {sorted(expected)}"
        pairs = [(f"[{key!r}]", actual[key], expected[key]) for key in actual]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
        pairs = [(f"[{place}]", a, b) for place, (a, b) in enumerate(zip(actual, expected, strict=True))]
    else:
        return _difference_of_tensors(actual, expected, limits)
    for where, a, b in pairs:
        said = _difference(a, b, limits)
        if said:
            return f"{said}\n\nThe failure occurred for item {where}"
    return ""


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_comparable(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray | np.generic | int | float | complex)


def _not_to_compare(actual: Any, expected: Any) -> TypeError:
    return TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}. "
        "Give two tensors, two numbers, or two sequences or mappings of these."
    )


def _difference_of_tensors(actual: Any, expected: Any, limits: _Limits) -> str:
    if actual is None or expected is None:
        return "" if actual is expected else f"None mismatch: {actual} is not {expected}"
    if not (_is_comparable(actual) and _is_comparable(expected)):
        raise _not_to_compare(actual, expected)
    if isinstance(actual, bool) and isinstance(expected, bool):
        return "" if actual is expected else f"Booleans mismatch: {actual} is not {expected}"
    are_tensors = isinstance(actual, Tensor) or isinstance(expected, Tensor)
    if are_tensors and not (isinstance(actual, Tensor) and isinstance(expected, Tensor)):
        raise _not_to_compare(actual, expected)
    if (limits.rtol is None) != (limits.atol is None):
        raise ValueError(
            "rtol and atol must both be specified or both be unspecified, but got "
            f"rtol={limits.rtol} and atol={limits.atol}."
        )
    ours, theirs = (each if are_tensors else tensor(each, dtype=_widest(each)) for each in (actual, expected))
    for name in limits.attributes if are_tensors else ("shape",):
        a, b = getattr(ours, name), getattr(theirs, name)
        a, b = (a(), b()) if name == "stride" else (a, b)
        if a != b:
            return f"The values for attribute '{name}' do not match: {a} != {b}."
    rtol, atol = limits.rtol, limits.atol
    if rtol is None or atol is None:
        rtol, atol = max(_TOLERANCES.get(each.dtype.name, (0.0, 0.0)) for each in (ours, theirs))
    a, b = _with_room(to_numpy(ours.array), to_numpy(theirs.array))
    with np.errstate(all="ignore"):
        distance, size = np.asarray(np.abs(a - b)), np.asarray(np.abs(b), np.float64)
    if a.dtype == object:
        far = np.asarray(distance > atol + rtol * size)
    else:
        far = ~np.isclose(a, b, rtol, atol, limits.equal_nan)
    if not far.any():
        return ""
    with np.errstate(all="ignore"):
        apart = np.where(far, distance, 0)
        relative = np.where(far, apart.astype(np.float64) / size, 0)
    kind = "close" if rtol or atol else "equal"
    allowed = [f" (up to {limit} allowed)" if rtol or atol else "" for limit in (atol, rtol)]
    differences = list(zip(("absolute", "relative"), (apart, relative), allowed, strict=True))
    if not ours.array.ndim:
        mine, other = ours.item(), theirs.item()
        numbers = abs(mine - other), abs(mine - other) / abs(other) if other else np.inf
        rows = [
            f"{name.title()} difference: {number}{limit}"
            for number, (name, _, limit) in zip(numbers, differences, strict=True)
        ]
        return "\n".join([f"Scalars are not {kind}!", "", f"Expected {other} but got {mine}.", *rows])
    rows = [
        f"Greatest {name} difference: {_short(values.max())}{_place(values)}{limit}"
        for name, values, limit in differences
    ]
    share = f"{far.sum()} / {far.size} ({100 * far.mean():.1f}%)"
    return "\n".join([f"Tensor-likes are not {kind}!", "", f"Mismatched elements: {share}", *rows])


def _with_room(*arrays: np.ndarray) -> Iterator[np.ndarray]:
    """Numbers whose difference is exact, and nowhere too large: whole ones are Python's own."""
    kinds = {array.dtype.kind for array in arrays}
    wide: Any = object if kinds <= set("biu") else np.complex128 if "c" in kinds else np.float64
    return (array.astype(wide) for array in arrays)


def _widest(number: Any) -> Any:
    return dtypes.BY_NAME[{float: "float64", complex: "complex128"}.get(type(number), "int64")]


def _short(number: Any) -> Any:
    return number if isinstance(number, int) else float(f"{number:.8g}")


def _place(values: np.ndarray) -> str:
    if not values.ndim:
        return ""
    return f" at index {tuple(int(place) for place in np.unravel_index(values.argmax(), values.shape))}"


__getattr__ = names_of("torch.testing")

__all__ = ["assert_allclose", "assert_close", "make_tensor"]


# ---------------------------------------------------------------- tensors to test with


def make_tensor(
    *shape: Any,
    dtype: dtypes.dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of numbers drawn evenly from ``low`` up to ``high``, from -9 to 9 without these.

    Parameters
    ----------
    *shape : int or sequence of int
    dtype, device
    low, high : float, optional
        Numbers of ``dtype``, or the nearest ones.
    requires_grad : bool
    noncontiguous : bool
        Let a gap lie behind each element.
    exclude_zero : bool
        Put the smallest number above 0 in its place.
    memory_format : memory_format, optional

    Raises
    ------
    ValueError
        If ``low`` is not less than ``high``, or settings go against each other.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.testing.make_tensor(2, 3, dtype=torch.int64, device="cpu", low=1, high=7)
    >>> bool(((x >= 1) & (x < 7)).all())
    True
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor().")
    whole = dtype.numpy.kind in "bui"
    if requires_grad and whole:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}"
        )
    first, last = _interval(dtype, low, high)
    gaps = noncontiguous and math.prod(sizes) > 1
    if gaps:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    if whole:
        made = randint(first, last, sizes, device=device, dtype=dtype)
    else:
        made = zeros(sizes, device=device, dtype=dtype)
        parts = view_as_real(made) if dtype.is_complex else made
        far = last - first >= finfo(dtype).max
        parts.uniform_(first / 2, last / 2).mul_(2) if far else parts.uniform_(first, last)
    if gaps:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made.eq(0)] = 1 if whole else finfo(dtype).tiny
    if not whole:
        made.requires_grad = requires_grad
    return made


def _interval(dtype: dtypes.dtype, low: Any, high: Any) -> tuple[Any, Any]:
    """The ends of what is drawn: those that were asked for, as far as the dtype has them."""
    whole, is_bool = dtype.numpy.kind in "bui", dtype.numpy.kind == "b"
    if is_bool:
        least, most = 0, 2
    elif whole:
        limits = iinfo(dtype)
        least, most = limits.min, limits.max + (dtype.name != "int64")
    else:
        least, most = finfo(dtype).min, finfo(dtype).max
    low = (0 if is_bool else -9) if low is None else low
    high = (2 if is_bool else 10 if whole else 9) if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and not whole:
        warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated "
            "since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{least}, {most})"
        )
    ends = [min(max(end, least), most) for end in (low, high)]
    return (math.ceil(ends[0]), math.ceil(ends[1])) if whole else (ends[0], ends[1])


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """:func:`assert_close` under its older name: NaN equals NaN, and dtypes and devices may differ."""
    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
    )
    actual = actual if isinstance(actual, Tensor) else tensor(actual)
    expected = expected if isinstance(expected, Tensor) else tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        older = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
        limits = [older.get(each.dtype.name, (0.0, 0.0)) for each in (actual, expected)]
        rtol, atol = (max(pair) for pair in zip(*limits))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )
