"""A learner's function is judged: by one that is right, or, of derivatives, by central differences.

The central difference (f(x + h) - f(x - h)) / 2h is the slope of a short chord. It needs no calculus, so it
can check a derivative that was worked out by hand as well as one that the backward pass has computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from autokit.autograd.gradcheck import central_differences
from autokit.classroom.answers import (
    Function,
    Refused,
    inputs_in_words,
    judged,
    leaf_names,
    upstream,
    with_gradients,
)
from autokit.classroom.checking import BLANK, GRADIENT, NO_HINTS, Verdict, is_blank, plain, spoken, verdict
from autokit.func.trees import flatten, mapped, unflatten
from autokit.ops.create import tensor

_POINTS = 3
_TOLERANCE = {2: 0.2, 4: 2e-2, 8: 1e-4}
"""How far a slope may be off, by the bytes of the dtype."""


@spoken
def check_function(
    answer: Any,
    reference: Function,
    *cases: Any,
    gradients: bool = True,
    tolerance: float | None = None,
    why: Mapping = NO_HINTS,
    hint: str | Sequence[str] = "",
) -> Verdict:
    """Run a learner's function and one that is right on the same cases, and compare values and gradients.

    An error in ``answer`` is a verdict too, which names the learner's line.

    Parameters
    ----------
    answer, reference : callable
    *cases : tuple
        The arguments of each run, at least two; a single argument needs no tuple. Each run gets its own copy.
    gradients : bool
        Compare the gradients with respect to all floating-point arguments too, for an upstream gradient that
        is not 1. For that, floating-point numbers and arrays become tensors.
    tolerance : float, optional
        As for :func:`autokit.classroom.check`.
    why : dict, optional
        For typical wrong answers, as functions, what to tell in place of ``hint``.
    hint : str, or list of str
        As for :func:`autokit.classroom.check`.

    Examples
    --------
    >>> def cost(width, length):
    ...     return 4 * width * length + 6 * (width + length)
    >>> def right(width, length):
    ...     return 4 * width * length + 12 * (width + length)
    >>> check_function(cost, right, (15.0, 20.0), (3.0, 8.0), why={cost: "That is half the outline."})
    Not yet, with width = 15.0, length = 20.0: the value differs (yours is 1410.0).
    Hint: That is half the outline.
    """
    if len(cases) < 2:
        raise ValueError("give at least two cases: many a wrong function is right once")
    if not callable(answer):
        return verdict(BLANK if is_blank(answer) else "a function is expected", hint)
    form = partial(with_gradients, answer=answer) if gradients else lambda function: function
    several = [case if isinstance(case, tuple) else (case,) for case in cases]
    hints = {form(wrong): told for wrong, told in why.items()}
    return judged(form(answer), form(reference), several, hints, inputs_in_words(answer, hint), tolerance)


@spoken
def check_gradient(
    function: Function,
    *inputs: Any,
    derivative: Function | None = None,
    why: Mapping = NO_HINTS,
    hint: str | Sequence[str] = "",
) -> Verdict:
    """Compare derivatives with central differences, at ``inputs`` and at two points between these and zero.

    Parameters
    ----------
    function : callable
        Of as many arguments as there are inputs.
    *inputs : number, list, NumPy array, tensor, or a dict of them
        Where to differentiate.  Numbers and arrays are taken in float64; a tensor keeps its dtype.
    derivative : callable, optional
        The learner's derivative of ``function``: from the same arguments the derivative by each, in a
        tuple, an array or a dict by their names where there are several.  Where ``function`` returns more
        than one number, it is the derivative of their sum.  Without it, ``function`` is a tensor program, and
        its backward pass is checked, for a gradient that arrives with other values than 1.
    why : dict, optional
        For typical wrong derivatives (or programs), as functions, what to tell in place of ``hint``.
    hint : str, or list of str
        As for :func:`autokit.classroom.check`.

    Raises
    ------
    TypeError
        Where an input holds no real numbers.

    Examples
    --------
    >>> check_gradient(lambda x: x**3, 2.0, derivative=lambda x: 3 * x**2)
    Right.
    >>> check_gradient(lambda a, b: a * b, 15.0, 20.0, derivative=lambda a, b: (a, b), hint="Hold b fixed.")
    Not yet, with a = 15.0, b = 20.0: in the gradient with respect to a, the value differs (yours is 15.0).
    Hint: Hold b fixed.
    """
    if not inputs:
        raise TypeError("give the inputs at which to differentiate, after the function")
    if is_blank(function) or (is_blank(derivative) and derivative is not None):
        return verdict(BLANK)
    learns = derivative is None
    form = partial(with_gradients, answer=function) if learns else lambda function: function
    answer = form(derivative or function)
    start = tuple(mapped(each, _real) if isinstance(each, Mapping) else _real(each) for each in inputs)
    if learns:
        start = mapped(start, lambda each: tensor(plain(each)))
    relative = max(_TOLERANCE[np.asarray(plain(each)).dtype.itemsize] for each in flatten(start)[0])
    noise = 0.0

    def slopes(*arguments: Any) -> dict[str, np.ndarray]:
        nonlocal noise
        names = [GRADIENT + name for name in leaf_names(answer, arguments)]
        found, noise = _slopes(function, arguments, weighted=learns)
        return dict(zip(names, found))

    cases = [mapped(start, partial(_moved, number=number)) for number in range(_POINTS)]
    hints = {form(wrong): told for wrong, told in why.items()}
    words = inputs_in_words(answer, hint)
    return judged(answer, slopes, cases, hints, words, lambda size: max(relative * size, noise))


def _real(value: Any) -> Any:
    """An input as it is handed to the learner."""
    array = plain(value)
    if array is None or array.dtype.kind not in "iuf":
        raise TypeError(f"{value!r} holds no real numbers to differentiate by")
    if array.dtype.kind != "f" or not hasattr(value, "detach"):
        array = array.astype(np.float64)
    return _like(value if array.ndim or hasattr(value, "detach") else 0.0, array)


def _like(value: Any, array: np.ndarray) -> Any:
    """The numbers of ``array`` in the form of ``value``."""
    if hasattr(value, "detach"):
        return tensor(array)
    return float(array) if isinstance(value, float) else array


def _moved(value: Any, number: int) -> Any:
    """For 0 the same input, for other numbers one that lies between it and zero."""
    draw = np.random.default_rng(number).uniform
    array = np.asarray(plain(value))
    near = np.where(array == 0, draw(0.1, 0.5, array.shape), array * draw(0.5, 0.95, array.shape))
    return _like(value, near.astype(array.dtype)) if number else value


def _slopes(function: Function, arguments: Any, weighted: bool) -> tuple[list[np.ndarray], float]:
    """The slopes of the sum of what ``function`` returns, and how far off they may be.

    The sum is ``weighted`` by the gradient that arrives.
    """
    leaves, structure = flatten(arguments)
    arrays = [np.array(plain(each)) for each in leaves]

    def total() -> float:
        moved = [_like(*pair) for pair in zip(leaves, map(np.copy, arrays))]
        result = plain(function(*unflatten(moved, structure)))
        if result is None:
            raise Refused("the function must return numbers to be differentiated")
        result = result.astype(np.float64)
        return float((result * upstream(result.shape)).sum() if weighted else result.sum())

    found, noise = [], 0.0
    for array in arrays:
        # A short step loses digits, a long one sees the curve: this length makes both errors about reach**2.
        reach = float(np.finfo(array.dtype).eps) ** (1 / 3)
        slopes = central_differences(total, array, reach * np.abs(array).max(initial=1.0))
        found.append(np.reshape(slopes, array.shape))
        noise = max(noise, 100 * reach**2 * max(1.0, abs(np.nan_to_num(total()))))
    return found, noise
