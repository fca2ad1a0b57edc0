"""Comparisons for tests: :func:`assert_close`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autokit import dtypes
from autokit.devices import to_numpy
from autokit.missing import names_of
from autokit.ops.create import tensor
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

__all__ = ["assert_close"]
