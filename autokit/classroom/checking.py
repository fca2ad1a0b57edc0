"""Exercises that check an answer, and say what is wrong with it without telling the right one.

A check prints a :class:`Verdict`, and :func:`judge` returns it.  The text depends on the answer and on what
was expected alone, so the stored output of a lesson stays true.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import wraps
from inspect import unwrap
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec
from warnings import catch_warnings

import numpy as np

from autokit.classroom.progress import note
from autokit.engine.record import calling_line
from autokit.func.trees import mapped
from autokit.graphs.summary import summarize

BLANK = "Not answered yet: put your answer where dots or YOUR CODE HERE stand."
GRADIENT = "the gradient with respect to "

_BY_HAND = 1e-4  # a Python number carries no precision of its own: it may have been typed
_TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-6}
"""How far a value may be off, by the bytes of its dtype."""

_WRONG_SO_FAR: defaultdict[tuple[Any, ...], set[Any]] = defaultdict(set)
"""The different wrong answers of this session, by the place of the call."""

NO_HINTS: Mapping[Any, str] = MappingProxyType({})

Hint = str | Sequence[str]
Tolerance = float | Callable[[float], float] | None
Settings = ParamSpec("Settings")


class Verdict(NamedTuple):
    """Whether an answer is right, and what to tell the learner."""

    right: bool
    text: str


def spoken(judging: Callable[Settings, Verdict]) -> Callable[Settings, None]:
    """A check, which prints the verdict; while nbgrader runs the cell, a wrong one is an error."""

    @wraps(judging)
    def check(*answer: Settings.args, **settings: Settings.kwargs) -> None:
        graded = "NBGRADER_EXECUTION" in os.environ
        # Where there is a warning, nbgrader gives no points.
        with catch_warnings(action="ignore") if graded else nullcontext():
            found = judging(*answer, **settings)
        note(found.right, found.text != BLANK)
        if graded and not found.right:
            raise AssertionError(found.text)
        print(found.text)

    return check


def judge(check: Callable[..., None], *answer: Any, **settings: Any) -> Verdict:
    """The verdict that ``check`` would print, and no error for a wrong one under nbgrader either.

    A cell whose last line is ``2 * judge(check, a, 6.0).right + judge(check, b, 4.0).right`` gives part of
    its points.

    >>> judge(check, -4.0, 4.0)
    Verdict(right=False, text='Not yet: the sign is the other way round.')
    """
    found: Verdict = unwrap(check)(*answer, **settings)
    return found


def verdict(problem: str, hint: Hint = "", place: str = "", code: Any = None) -> Verdict:
    """The verdict on an answer with this problem; an empty one is none.

    Of several hints each answer with another problem, or other ``code``, gets the next.
    """
    if problem == BLANK:
        return Verdict(False, BLANK)
    if problem and hint and not isinstance(hint, str):
        hint = hint[min(_tries((problem, place, code)), len(hint)) - 1]
    told = f"Not yet{place}: {problem.rstrip('.')}." + (f"\nHint: {hint}" if hint else "")
    return Verdict(False, told) if problem else Verdict(True, "Right.")


def _tries(wrong: Any, *of: Any) -> int:
    """How many different wrong answers there have been at this place of the learner's program."""
    code, place = calling_line()
    so_far = _WRONG_SO_FAR[code.co_filename, place, *of]
    so_far.add(wrong)
    return len(so_far)


@spoken
def check(
    answer: Any,
    expected: Any,
    hint: Hint = "",
    *,
    why: Mapping = NO_HINTS,
    tolerance: float | None = None,
) -> Verdict:
    """Compare an answer with what was expected: its shape and values.

    Parameters
    ----------
    answer : number, bool, str, (nested) list, NumPy array or tensor
        The learner's; anything else gets a verdict that says so.
    expected : the same, or a list or dict of them
    hint : str, or list of str
        Told along with a wrong answer.  Of several each other wrong answer gets the next, and then the last.
    why : dict, optional
        For typical wrong answers the hints to tell in place of ``hint``.
    tolerance : float, optional
        How far a value may be off, as a part of the largest of the expected values.  By default as the
        less precise of the two dtypes allows: 1e-4 for float32 and Python numbers, 1e-6 for float64,
        1e-2 for float16.

    Notes
    -----
    What counts is the numbers: they may come in a list, an array or a tensor of any dtype, and a single one
    may be typed as ``6``, ``6.0``, ``[6.0]`` or ``"6"``.  A text is compared without regard to case and outer
    spaces.

    Examples
    --------
    >>> check([1.0, 2.0], [1.0, 2.0])
    Right.
    >>> check([1.0, 2.0, 4.0], [[1.0], [2.0], [4.0]], hint="A column has one number in each row.")
    Not yet: the shape is (3,), expected (3, 1).
    Hint: A column has one number in each row.
    >>> check(0.4, 0.2, why={0.4: "That is twice as much. Which curvature did you take?"})
    Not yet: the value differs (yours is 0.4).
    Hint: That is twice as much. Which curvature did you take?
    >>> for answer in (5, 4):
    ...     check(answer, 6, hint=["Look at the arrows.", "The double arrow counts twice."])
    Not yet: the value differs (yours is 5).
    Hint: Look at the arrows.
    Not yet: the value differs (yours is 4).
    Hint: The double arrow counts twice.
    >>> check(..., 300.0)
    Not answered yet: put your answer where dots or YOUR CODE HERE stand.
    """
    problem = compare(answer, expected, tolerance)
    fitting = (told for wrong, told in why.items() if problem and not compare(answer, wrong, tolerance))
    return verdict(problem, next(fitting, hint))


@spoken
def predict(
    prediction: Any,
    outcome: Any,
    *,
    why: Mapping = NO_HINTS,
    tolerance: float | None = None,
    reveal_after: int = 2,
) -> Verdict:
    """Reveal an outcome to a learner who has said what it will be, and not before.

    Parameters
    ----------
    prediction : as the ``answer`` of :func:`check`
    outcome : the same, or a function without arguments that computes it
        The function is called only once there is a prediction.
    why : dict, optional
        For typical wrong predictions what may have led to them.
    tolerance : float, optional
        As for :func:`check`.
    reveal_after : int
        How many different predictions may be wrong before the outcome is told.

    Examples
    --------
    >>> predict(..., lambda: 15.0 * 20.0)
    Not answered yet: put your answer where dots or YOUR CODE HERE stand.
    >>> for guess in (35, 35, 600, 300):
    ...     predict(guess, 15.0 * 20.0, why={35: "That is the sum."})
    Not yet: the value differs (yours is 35).
    Hint: That is the sum.
    Not yet: the value differs (yours is 35).
    Hint: That is the sum.
    You said 600, and it is 300.0: look again at what happened.
    You said 300, and it is 300.0: right.
    """
    if is_blank(prediction):
        return verdict(BLANK)
    value = outcome() if callable(outcome) else outcome
    judged = judge(check, prediction, value, why=why, tolerance=tolerance)
    both = f"You said {shown(prediction)}, and it is {shown(value)}"
    if judged.right:
        return Verdict(True, f"{both}: right.")
    if _tries(shown(prediction), shown(value)) < reveal_after:
        return judged
    _, *hint = judged.text.splitlines()
    return Verdict(False, "\n".join([f"{both}: look again at what happened.", *hint]))


@spoken
def choose(answer: Any, options: Mapping[Any, str], right: Any) -> Verdict:
    """Reply to a choice.

    Parameters
    ----------
    answer : str, number, or list of them
        A list where the options are orders: ``["c", "a", "b"]``, which may be typed as ``"c a b"`` too.
    options : dict
        The reply to each option.
    right : str, number or tuple
        The key of the right option.

    Examples
    --------
    >>> replies = {"a": "It is the sum of both.", "b": "That is the product.", "c": "That is the last one."}
    >>> choose("B", replies, right="a")
    Not yet. That is the product.
    >>> choose("a", replies, right="a")
    Right. It is the sum of both.
    >>> choose("e", replies, right="a")
    Not yet: e is none of the options, which are a, b, c.
    """
    if right not in options:
        raise ValueError(f"the right answer, {right!r}, is not among the options")
    for key, reply in options.items():
        same_number = plain(key) is not None and not compare(answer, key, 1e-9)
        if same_number or _letters(answer) == _letters(key):
            return Verdict(key == right, f"{'Right' if key == right else 'Not yet'}. {reply}")
    known = ", ".join(str(key) for key in options)
    told = f"{shown(answer)} is none of the options, which are {known}"
    return verdict(BLANK if is_blank(answer) else told)


def _letters(answer: Any) -> str:
    """What was chosen, without quotes, brackets, commas and spaces."""
    return "".join(sign for sign in str(answer).casefold() if sign.isalnum() or sign in "_.-")


def is_blank(answer: Any) -> bool:
    """Whether nothing was answered: the dots of the exercise stand there still."""
    return answer is ... or answer is None or answer is NotImplemented


def compare(answer: Any, expected: Any, tolerance: Tolerance = None) -> str:
    """What is wrong with ``answer``, in a few words; empty where it is right."""
    if is_blank(answer):
        return BLANK
    if isinstance(expected, list | tuple) and any(getattr(each, "ndim", 0) for each in expected):
        expected = {f"result {place}": each for place, each in enumerate(expected, 1)}
    if isinstance(expected, Mapping):
        return _compare_parts(answer, expected, tolerance)
    if isinstance(expected, str):
        same = str(answer).strip().casefold() == expected.strip().casefold()
        return "" if same else f"the answer is not {shown(answer)!r}"
    given, wanted = plain(answer), plain(expected)
    if wanted is None:
        raise TypeError(f"cannot check against {shown(expected)}: give numbers or a text")
    if given is None:
        call = ": did you mean to call it" if callable(answer) else ""
        return f"a number or a tensor is expected, yours is {shown(answer)}{call}"
    if (
        not wanted.ndim
        and given.size == 1
        and not (hasattr(answer, "detach") and hasattr(expected, "detach"))
    ):
        given = given.reshape(())
    if given.shape != wanted.shape:
        if isinstance(expected, tuple) and not given.ndim:
            comma = f"; a tuple of one number has a comma, ({given},)" if wanted.size == 1 else ""
            return f"({given}) is a number{comma}"
        size = isinstance(expected, tuple) and f"your tuple has {given.size} values, expected {wanted.size}"
        return size or f"the shape is {given.shape}, expected {wanted.shape}"
    precisions = [
        _TOLERANCE.get(array.dtype.itemsize, 0.0) if hasattr(value, "dtype") else _BY_HAND
        for value, array in ((answer, given), (expected, wanted))
    ]
    return _difference(given, wanted, max(precisions) if tolerance is None else tolerance)


def _compare_parts(answer: Any, expected: Mapping[str, Any], tolerance: Tolerance) -> str:
    """Compare what was expected under names with a dict, or with as many values in order."""
    if isinstance(answer, Mapping):
        given = [answer.get(name, answer.get(name.removeprefix(GRADIENT))) for name in expected]
    elif isinstance(answer, tuple) or (len(expected) > 1 and hasattr(answer, "__len__")):
        given = list(answer)
    else:
        given = [answer]
    if len(given) != len(expected):
        return f"{len(expected)} results are expected, yours gives {len(given)}"
    for (name, wanted), mine in zip(expected.items(), given):
        problem = compare(mine, wanted, tolerance) if mine is not None else "nothing is given"
        if problem:
            return f"in {name}, {problem}" if name and problem != BLANK else problem
    return ""


def _difference(given: np.ndarray, wanted: np.ndarray, tolerance: Any) -> str:
    if (given.dtype.kind == "b") != (wanted.dtype.kind == "b"):
        kinds = {True: "True or False", False: "a number"}
        return f"{kinds[wanted.dtype.kind == 'b']} is expected, yours is {kinds[given.dtype.kind == 'b']}"
    off = ~_close(given, wanted, tolerance)
    if not off.any():
        return ""
    if _close(-1.0 * given, wanted, tolerance).all():
        return "the sign is the other way round" if given.size == 1 else "all signs are the other way round"
    first = np.unravel_index(int(off.argmax()), off.shape)
    yours = summarize(given[first]).text
    if given.ndim == 0:
        return f"the value differs (yours is {yours})"
    differ = "value differs" if given.size == 1 else "values differ"
    where = [int(place) for place in first]
    return f"{off.sum()} of {given.size} {differ}; the first at {where}, where yours is {yours}"


def _close(given: np.ndarray, wanted: np.ndarray, tolerance: Any) -> np.ndarray:
    if given.dtype.kind in "biu" and wanted.dtype.kind in "biu":
        return np.asarray(given == wanted)
    given = given.astype(np.float64)
    wanted = wanted.astype(np.float64)
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0) or 1.0
    allowed = tolerance(largest) if callable(tolerance) else tolerance * largest
    return np.asarray(np.isclose(given, wanted, rtol=0, atol=allowed, equal_nan=True))


def plain(value: Any) -> np.ndarray | None:
    """The numbers in a number, list, array or tensor as a NumPy array; None where there are none."""
    try:
        array = np.asarray(mapped(value, _without_a_record))
    except Exception:  # a learner can put anything here, and anything can fail in any way
        return None
    return array if array.dtype.kind in "biuf" else None


def _without_a_record(value: Any) -> Any:
    if isinstance(value, str):
        return float(value.replace("−", "-"))
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value


def shown(value: Any) -> str:
    """A value as it is told to the learner."""
    if isinstance(value, str):
        return value.strip()
    array = plain(value)
    if array is not None:
        return summarize(array).text
    return "a function" if callable(value) else f"of type {type(value).__name__}"
