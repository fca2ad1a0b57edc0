"""Numbers in a row: counted, at even distances, powers, and the windows of signal processing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.devices import beside
from autokit.dtypes import BY_NUMPY, FLOATS, HALVES
from autokit.ops.create import Dtype, finished, numpy_dtype
from autokit.ops.dims import whole
from autokit.ops.filled import number
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype, fitting
from autokit.ops.operation import on
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor

# ---------------------------------------------------------------- counted


def _bounds(name: str, start: Any, end: Any, step: Any) -> tuple[Any, Any, Any]:
    """The three numbers, checked."""
    start, end = number(start, name, "start", 1), number(end, name, "end", 1)
    step = number(step, name, "step", 3)
    if step == 0 or step != step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: from {start} to {end} by {step}"
        )
    return start, end, step


def _counted(name: str, dtype: Dtype, count: int = 2) -> np.dtype:
    """The dtype of ``count`` numbers in a row, which are no bools unless there is but one."""
    kind = numpy_dtype(dtype)
    if kind.kind == "b" and count > 1:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool': give dtype=torch.int64")
    if kind.kind == "c" and name in ("arange_cpu", "range_cpu"):
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{kind.name}': convert with .to(...) after it"
        )
    return kind


def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from ``start`` (0 if only an end is given) to before ``end``, ``step`` apart.

    Raises
    ------
    RuntimeError
        If ``step`` is 0, or leads away from ``end``.
    """
    if end is None:
        start, end = 0, start
    given = [start, end, step]
    asked = None if dtype is None else _counted("arange_cpu", dtype)
    start, end, step = _bounds("arange", start, end, step)
    kind = common_dtype(given) if asked is None else asked
    if kind.kind == "b":
        kind = np.dtype(np.int64)
    if kind.kind in "ui":
        if int(step) == 0 and kind == np.int64:
            raise ValueError(f"step must be nonzero: of {step} nothing is left in {kind.name}")
        first, stride = int(start), int(step)
        if kind != np.int64:  # PyTorch counts before it drops the fractions, except in int64
            count = math.ceil((end - start) / step)
            return finished((first + stride * np.arange(count)).astype(kind), requires_grad, device)
        return finished(np.arange(first, int(end), stride).astype(kind), requires_grad, device)
    return finished(_steps(start, step, math.ceil((end - start) / step), kind), requires_grad, device)


def _steps(start: Any, step: Any, count: int, kind: np.dtype) -> Any:
    """Each number from its own place, so that rounding does not add up.

    PyTorch counts by vectors of 32 bytes, each from its first number, as long as there are two of them, and
    the others one by one: that decides the last digit.
    """
    wide, narrow = _rounded_once(kind)
    start, step = wide(narrow(start)), wide(narrow(step))
    lanes = 32 // kind.itemsize
    by_vectors = count - count % (2 * lanes)
    first = (start + step * np.arange(0, by_vectors, lanes)).astype(narrow).astype(kind)
    vectors = first.astype(wide)[:, None] + step * np.arange(lanes)
    others = start + step * np.arange(by_vectors, count)
    return np.concatenate([vectors.reshape(-1), others]).astype(narrow).astype(kind)


def _rounded_once(kind: np.dtype) -> tuple[type[Any], type[Any]]:
    """In what to compute ``start + step × n`` as if it was exact, and to what to round it."""
    if kind in HALVES:
        return np.float64, np.float32
    return (np.longdouble if kind == np.float64 else np.float64), np.float64


def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """As :func:`arange` with ``end`` included: an old function, not like Python's ``range``."""
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces values in "
        "[start, end).",
    )
    if end is None:
        start, end = 0, start
    kind = _counted("range_cpu", dtype)
    start, end, step = _bounds("range", start, end, step)
    if kind.kind in "ui":
        start, end, step = _bounds("range", int(start), int(end), int(step))
    if kind in HALVES:
        start, end, step = np.float32(start), np.float32(end), np.float32(step)
    count = math.floor((end - start) / step) + 1
    return finished((float(start) + float(step) * np.arange(count)).astype(kind), requires_grad, device)


def _ends(name: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any, int]:
    for what, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor) and value.array.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {what} with "
                f"{value.array.ndim} dimension(s)."
            )
    start, end = number(start, name, "start", 1), number(end, name, "end", 2)
    steps = whole(steps, "steps", name)
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative: it is {steps}")
    return start, end, steps


def _of_ends(name: str, dtype: Dtype, start: Any, end: Any) -> Dtype:
    """The dtype of numbers between two ends: a complex one where an end is complex."""
    if not isinstance(start, complex) and not isinstance(end, complex):
        return dtype
    inferred = BY_NUMPY[numpy_dtype(None)].to_complex()
    if dtype is not None and numpy_dtype(dtype).kind != "c":
        raise RuntimeError(
            f"torch.{name}(): inferred dtype {inferred.name} can't be safely cast to passed dtype "
            f"{numpy_dtype(dtype).name}: an end is complex"
        )
    return inferred if dtype is None else dtype


def linspace(
    start: Any, end: Any, steps: int, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``steps`` numbers at even distances, both ends included."""
    start, end, steps = _ends("linspace", start, end, steps)
    kind = _counted("linspace_cpu", _of_ends("linspace", dtype, start, end), steps)
    return finished(_from_both_ends(start, end, steps, kind).astype(kind), requires_grad, device)


def _from_both_ends(start: Any, end: Any, steps: int, kind: np.dtype) -> Any:
    """As PyTorch counts: the first half from the one end, the other from the other.

    Real numbers are computed in their dtype, and rounded once but in half precision; of integers the ends are
    whole, and the numbers between them have fractions.
    """
    start, end = fitting(start, kind), fitting(end, kind)
    if kind.kind in "bui":
        start, end = np.float64(int(start)), np.float64(int(end))
    else:
        start, end = kind.type(start), kind.type(end)
    wide: Any = start.dtype.type
    if kind.kind == "c":
        wide = np.clongdouble if kind.itemsize == 16 else np.complex128
    elif kind not in HALVES:
        wide = np.longdouble if start.dtype == np.float64 else np.float64
    half = steps // 2
    with np.errstate(all="ignore"):
        step = wide((end - start) / start.dtype.type(steps - 1)) if steps > 1 else wide(0)
        first = wide(start) + step * np.arange(half).astype(wide)
        last = wide(end if steps > 1 else start) - step * np.arange(steps - 1 - half, -1, -1).astype(wide)
        return np.concatenate([first, last]).astype(start.dtype)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``steps`` powers of ``base``, their exponents at even distances from ``start`` to ``end``.

    As in PyTorch both ends are rounded to ``dtype``, and so is their difference; all else is of double
    precision, and C's own ``pow`` makes the powers: NumPy's has another last digit on some processors.
    """
    start, end, steps = _ends("logspace", start, end, steps)
    kind = _counted("logspace_cpu", _of_ends("logspace", dtype, start, end), steps)
    double = complex if kind.kind == "c" else float
    if steps == 1:
        exponents = np.array([double(start)])
    else:
        rounded = int if kind.kind in "bui" else kind.type
        start, end = rounded(fitting(start, kind)), rounded(fitting(end, kind))
        with np.errstate(all="ignore"):
            step = double(end - start) / max(steps - 1, 1)
            first = double(start) + step * np.arange(steps // 2)
            last = double(end) - step * np.arange(steps - 1 - steps // 2, -1, -1)
            exponents = np.concatenate([first, last])
    with np.errstate(all="ignore"):
        powers = np.array([np.float64(base) ** exponent for exponent in exponents])
    if steps == 1 and kind not in HALVES:
        fitting(powers.item(), kind)  # PyTorch looks at one number only
    if kind in HALVES:
        powers = powers.astype(np.float32)
    with np.errstate(all="ignore"):
        return finished(powers.astype(kind), requires_grad, device)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each element of a vector as a row, the highest first unless ``increasing``."""
    from autokit.ops.operators import plain_pow

    if x.array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.array.size if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    if x.array.dtype.kind in "bui":
        x = x.long()
    exponents = np.arange(count).astype(x.array.dtype)
    exponents = exponents if increasing else exponents[::-1]
    return on(plain_pow, x[:, None], new_tensor(beside(x.array, exponents)))


def linalg_vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers 0 to N − 1 of each element of one vector or several, as a row each."""
    from autokit.ops.operators import plain_pow

    if x.array.dtype.kind == "b" or x.array.dtype in HALVES:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{x.array.dtype.name}: convert it with .float()"
        )
    x = x if x.array.ndim else x.reshape(1)
    count = N if N is not None else x.array.shape[-1]
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    if x.array.dtype.kind in "ui":
        x = x.long()
    exponents = new_tensor(beside(x.array, np.arange(count).astype(x.array.dtype)))
    return on(plain_pow, x.contiguous().unsqueeze(-1), exponents)


# ---------------------------------------------------------------- windows


def _length(name: str, window_length: Any, dtype: Dtype) -> int:
    """The length of the window ``name``, checked, and its dtype too."""
    length = whole(window_length, "window_length", name)
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if numpy_dtype(dtype).kind not in FLOATS:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}: its numbers are fractions")
    return length


def _places(length: int, periodic: bool) -> np.ndarray:
    """Even steps from 0 to 1, without the last one where the window is ``periodic``."""
    return np.arange(length) / max(length if periodic else length - 1, 1)


def _window(name: str, words: str, shape: Callable[[np.ndarray], np.ndarray]) -> Any:
    def window(
        window_length: int,
        periodic: bool = True,
        *,
        dtype: Dtype = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        length = _length(name, window_length, dtype)
        array = shape(_places(length, periodic)) if length != 1 else np.ones(1)
        return finished(array.astype(numpy_dtype(dtype)), requires_grad, device)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = (
        f"The window {words}; ``periodic`` leaves out the last place, as for a Fourier transform."
    )
    return window


hann_window = _window(
    "hann_window", "½ − ½ cos(2πt) of t from 0 to 1", lambda t: 0.5 - 0.5 * np.cos(2 * np.pi * t)
)
bartlett_window = _window("bartlett_window", "1 − |2t − 1| of t from 0 to 1", lambda t: 1 - np.abs(2 * t - 1))
blackman_window = _window(
    "blackman_window",
    "0.42 − 0.5 cos(2πt) + 0.08 cos(4πt) of t from 0 to 1",
    lambda t: 0.42 - 0.5 * np.cos(2 * np.pi * t) + 0.08 * np.cos(4 * np.pi * t),
)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The window α − β cos(2πt) of t from 0 to 1; ``periodic`` as for :func:`hann_window`."""
    length = _length("hamming_window", window_length, dtype)
    array = alpha - beta * np.cos(2 * np.pi * _places(length, periodic)) if length != 1 else np.ones(1)
    return finished(array.astype(numpy_dtype(dtype)), requires_grad, device)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The window I₀(β √(1 − (2t − 1)²)) / I₀(β) of t from 0 to 1; ``periodic`` as for :func:`hann_window`."""
    length = _length("kaiser_window", window_length, dtype)
    array = np.kaiser(length + 1, beta)[:-1] if periodic and length > 1 else np.kaiser(length, beta)
    return finished(array.astype(numpy_dtype(dtype)), requires_grad, device)


NAMES = Names(
    functions="arange bartlett_window blackman_window hamming_window hann_window kaiser_window linspace "
    "logspace range vander"
)
