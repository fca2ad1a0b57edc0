"""Values in a form small enough to show: a number as text, a tensor as its :class:`Summary`."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from autokit.base.devices import on_a_gpu, to_numpy
from autokit.engine.node import Gradients
from autokit.graphs.model import Summary

VALUES_SHOWN = 1024
"""How many elements a summary holds at most; a larger tensor is shown by its range."""

_TEXT_ELEMENTS = 4
_BINS, _COUNTED = 24, 100_000

_NUMBER = re.compile(r"[-−]?(?:\d+\.?\d*(?:e[+−-]?\d+)?|inf)")
_IN_NUMBERS = {"e", "inf", "nan", "to", "all"}


def number(value: Any) -> str:
    """A number as a learner would write it: four decimals, or powers of ten at the extremes.

    >>> number(300.0), number(-1 / 3), number(2e-7), number(True), number(float("nan"))
    ('300.0', '−0.3333', '2e−07', 'True', 'nan')
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return with_minus(int(value))
    value = float(value)
    if not math.isfinite(value):
        return with_minus(value)
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        return with_minus(f"{value:.3g}")
    whole, _, decimals = f"{value:.4f}".partition(".")
    text = f"{whole}.{decimals.rstrip('0') or '0'}"
    return "0.0" if text == "-0.0" else with_minus(text)


def range_text(low: Any, high: Any) -> str:
    """From the least number to the largest: two digits of each, and more where they would look the same.

    >>> range_text(-1.5578, 1.4), range_text(0.0, 151.2), range_text(-3, 12), range_text(0.501, 0.502)
    ('−1.6 to 1.4', '0 to 150', '−3 to 12', '0.501 to 0.502')
    """
    for digits in range(2, 10):
        ends = [_rounded(end, digits) for end in (low, high)]
        if ends[0] != ends[1]:
            break
    return " to ".join(ends)


def _rounded(value: Any, digits: int) -> str:
    if isinstance(value, int):
        return with_minus(value)
    exact = float(f"{value:.{digits - 1}e}")
    if exact == 0:
        return "0"
    if not 1e-3 <= abs(exact) < 1e6:
        return with_minus(f"{exact:.{digits}g}")
    decimals = max(digits - 1 - math.floor(math.log10(abs(exact))), 0)
    return with_minus(f"{exact:.{decimals}f}")


def with_minus(number: Any) -> str:
    """The same text, with the sign of a minus in place of each hyphen."""
    return str(number).replace("-", "−")


def sign_of(text: str) -> str:
    """The sign of the numbers in ``text``, "+" or "−"; "±" of both, and empty for 0 and for other words.

    >>> sign_of("-3.0"), sign_of("−3"), sign_of("2e-05"), sign_of("0.0"), sign_of("−1 to 1"), sign_of("W1")
    ('−', '−', '+', '', '±', '')
    """
    if "·" in text or not _IN_NUMBERS.issuperset(re.findall(r"[^\W\d_]+", text)):
        return ""
    numbers = [float(each.replace("−", "-")) for each in _NUMBER.findall(text)]
    above, below = any(each > 0 for each in numbers), any(each < 0 for each in numbers)
    return "±" if above and below else "+" if above else "−" if below else ""


def bracketed(text: str) -> str:
    """A negative number or a range in parentheses, as it is written inside of a formula."""
    return f"({text})" if text.startswith(("−", "all ")) or " to " in text else text


def in_reach(array: Any) -> Any:
    """What a picture keeps of an array or scalar: a small one on the CPU, a large one where it is.

    Of the gradients of several results it keeps all elements in a row.
    """
    if isinstance(array, Gradients):
        return np.concatenate([in_reach(each).ravel() for each in array if each is not None])
    return array if on_a_gpu(array) and array.size > VALUES_SHOWN else to_numpy(array)


def summarize(array: Any, limit: int = VALUES_SHOWN) -> Summary:
    """The summary of an array or scalar, with all values where there are at most ``limit``.

    A larger array on a GPU is summarized there; only the numbers are copied.
    """
    array = in_reach(array)
    large, is_finite = array.size > limit, np.isfinite(array)
    finite = array if is_finite.all() else array[is_finite]
    extent: dict[str, float | None] = {}
    if finite.size:
        least, most, mean = finite.min(), finite.max(), finite.mean(dtype=np.float64)
        extent = {"minimum": float(least), "maximum": float(most), "mean": float(mean)}
    return Summary(
        text=_one_line(array, finite),
        shape=array.shape,
        dtype=str(array.dtype),
        values=None if large else tuple(array.ravel().tolist()),
        histogram=_histogram(finite) if large and extent else (),
        nan=0 if finite is array else int(np.isnan(array).sum()),
        infinite=0 if finite is array else int(np.isinf(array).sum()),
        **extent,
    )


def _histogram(finite: np.ndarray) -> tuple[int, ...]:
    wide = finite.reshape(-1)[:: -(-finite.size // _COUNTED)].astype(np.float64)
    low, high = wide.min(), wide.max()
    if not 0 < high - low < math.inf:
        return ()
    bins = ((wide - low) / (high - low) * _BINS).astype(np.intp)
    return tuple(np.bincount(np.minimum(bins, _BINS - 1), minlength=_BINS).tolist())


def _one_line(array: np.ndarray, finite: np.ndarray) -> str:
    if array.ndim == 0:
        return number(array[()])
    if array.size == 0:
        return "empty"
    if array.size <= _TEXT_ELEMENTS:
        return _nested(array)
    if not finite.size:
        return "no finite values"
    low, high = finite.min().item(), finite.max().item()
    return f"all {number(low)}" if low == high and finite is array else range_text(low, high)


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return number(array[()])
    return "[" + ", ".join(_nested(row) for row in array) + "]"
