"""Derivatives are checked by central differences, (f(x + h) - f(x - h)) / 2h for each element in turn.

This is the slope of a short chord. It needs no calculus, so it can check a derivative that was worked out by
hand as well as one that the backward pass has computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.classroom.checking import Verdict, compare, is_blank, judge, plain
from autokit.ops.create import tensor

_TOLERANCE = {"float16": 0.2, "float32": 2e-2, "float64": 1e-5}


def check_gradient(
    function: Callable[..., Any],
    *inputs: Any,
    derivative: Callable[..., Any] | None = None,
    hint: str = "",
) -> None:
    """Print whether the derivatives of ``function`` at ``inputs`` are right, as :func:`judge_gradient` finds.

    >>> check_gradient(lambda x: x**3, 2.0, derivative=lambda x: 3 * x**2)
    Right.
    >>> check_gradient(lambda a, b: a * b, 15.0, 20.0, derivative=lambda a, b: (a, b), hint="Hold b fixed.")
    Not yet, in the derivative by input 1: the value differs (yours is 15.0).
    Hint: Hold b fixed.
    """
    print(judge_gradient(function, *inputs, derivative=derivative, hint=hint))


def judge_gradient(
    function: Callable[..., Any],
    *inputs: Any,
    derivative: Callable[..., Any] | None = None,
    hint: str = "",
) -> Verdict:
    """Compare derivatives with central differences.

    Parameters
    ----------
    function : callable
        Of as many arguments as there are inputs.  Where it returns more than one number, their sum is
        differentiated.
    *inputs : number, list, NumPy array or tensor
        Where to differentiate.  Numbers and arrays are taken in float64; a tensor keeps its dtype.
    derivative : callable, optional
        The learner's derivative of ``function``: from the same arguments the derivative by each, in a
        tuple where there are several.  Without it, ``function`` is a tensor program and its backward
        pass is checked.
    hint : str
        Told along with a wrong derivative.

    Returns
    -------
    Verdict

    Raises
    ------
    TypeError
        Where an input holds no floating-point numbers.  What ``function`` and ``derivative``
        themselves raise passes through, for its traceback names the line.
    """
    if not inputs:
        raise TypeError("give the inputs at which to differentiate, after the function")
    if is_blank(function) or (derivative is not None and is_blank(derivative)):
        return judge(..., 0)
    points = [_point(value, position) for position, value in enumerate(inputs, 1)]
    # Without a derivative the function is a tensor program, so all its arguments become tensors.
    forms = [_form(value, as_tensor=derivative is None) for value in inputs]

    def call(f: Callable[..., Any], arrays: list[np.ndarray]) -> Any:
        return f(*(form(array) for form, array in zip(forms, arrays, strict=True)))

    try:
        found = _by_backward(function, points) if derivative is None else call(derivative, points)
        if is_blank(found):
            return judge(..., 0)
        slopes = [_central_differences(lambda a: call(function, a), points, i) for i in range(len(points))]
    except NotImplementedError:  # the stub of an exercise that nobody has answered
        return judge(..., 0)
    return _verdict(found, slopes, points, hint)


def _verdict(
    found: Any, slopes: list[tuple[np.ndarray, float]], points: list[np.ndarray], hint: str
) -> Verdict:
    if len(slopes) == 1:
        found = found if isinstance(found, tuple) and len(found) == 1 else (found,)
    told = f"\nHint: {hint}" if hint else ""
    if not isinstance(found, list | tuple) or len(found) != len(slopes):
        count = len(found) if isinstance(found, list | tuple) else 1
        return Verdict(False, f"Not yet: {len(slopes)} derivatives are expected, yours gives {count}.{told}")
    for position, (mine, (slope, noise), point) in enumerate(zip(found, slopes, points, strict=True), 1):
        problem = compare(mine, slope, _TOLERANCE[str(point.dtype)], any_dtype=True, noise=noise)
        if problem:
            place = f", in the derivative by input {position}" if len(slopes) > 1 else ""
            return Verdict(False, problem if is_blank(mine) else f"Not yet{place}: {problem}.{told}")
    return Verdict(True, "Right.")


def _point(value: Any, position: int) -> np.ndarray:
    array = plain(value)
    if array is None or array.dtype.kind not in "iuf":
        raise TypeError(f"input {position} must hold real numbers to be differentiated by")
    if hasattr(value, "detach") and str(array.dtype) in _TOLERANCE:
        return array
    return array.astype(np.float64)


def _form(value: Any, as_tensor: bool) -> Callable[[np.ndarray], Any]:
    """How to hand an array to the learner's function: in the form in which the input was given."""
    if as_tensor or hasattr(value, "detach"):
        return _tensor
    return lambda array: array.copy() if array.ndim else float(array)


def _tensor(array: np.ndarray, requires_grad: bool = False) -> Any:
    return tensor(array.copy(), requires_grad=requires_grad)


def _by_backward(function: Callable[..., Any], points: list[np.ndarray]) -> Any:
    leaves = [_tensor(point, requires_grad=True) for point in points]
    out = function(*leaves)
    if is_blank(out):
        return out
    if not hasattr(out, "backward"):
        raise TypeError(f"the function must return a tensor to be differentiated, not {type(out).__name__}")
    out.sum().backward()
    # A leaf that took no part has no gradient: its derivative is zero.
    return tuple(np.zeros_like(p) if x.grad is None else x.grad for x, p in zip(leaves, points, strict=True))


def _central_differences(
    function: Callable[[list[np.ndarray]], Any], points: list[np.ndarray], index: int
) -> tuple[np.ndarray, float]:
    """The slopes by one of the inputs, and how far off they may be."""
    point = points[index]
    slopes, largest = np.zeros(point.shape), 1.0
    # A short step loses digits, a long one sees the curve: this length makes both errors about reach**2.
    reach = float(np.finfo(point.dtype).eps) ** (1 / 3)
    for place in np.ndindex(point.shape):
        ends, values = [], []
        for sign in (1, -1):
            moved = [array.copy() for array in points]
            moved[index][place] += sign * reach * max(1.0, abs(float(point[place])))
            ends.append(float(moved[index][place]))
            result = plain(function(moved))
            if result is None:
                raise TypeError("the function must return numbers to be differentiated")
            values.append(float(result.astype(np.float64).sum()))
        slopes[place] = (values[0] - values[1]) / (ends[0] - ends[1])
        largest = max([largest, *(abs(value) for value in values if np.isfinite(value))])
    return slopes, 100 * reach**2 * largest
