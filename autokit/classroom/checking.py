"""Exercises that check an answer, and say what is wrong with it without telling the right one.

:func:`judge` compares and returns a :class:`Verdict`; :func:`check` prints it.  The text depends on
the two values alone, so the stored output of a lesson stays true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autokit.graphs.summary import summarize

_TOLERANCE = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-6}
_TOLERANCE_BY_HAND = 1e-4  # a Python number carries no precision of its own: it may have been typed


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and what to tell the learner.

    A grader writes ``assert judge(answer, expected).right``.
    """

    right: bool
    text: str

    def __str__(self) -> str:
        return self.text


def check(answer: Any, expected: Any, hint: str = "", *, tolerance: float | None = None) -> None:
    """Print whether ``answer`` is right, as :func:`judge` finds it.

    >>> check([1.0, 2.0], [1.0, 2.0])
    Right.
    >>> check([1.0, 2.0, 4.0], [[1.0], [2.0], [4.0]], hint="A column has one number in each row.")
    Not yet: the shape is (3,), expected (3, 1).
    Hint: A column has one number in each row.
    >>> check(..., 300.0)
    Not answered yet: put your answer where dots or YOUR CODE HERE stand.
    """
    print(judge(answer, expected, hint, tolerance=tolerance))


def judge(answer: Any, expected: Any, hint: str = "", *, tolerance: float | None = None) -> Verdict:
    """Compare an answer with what was expected: its kind, shape, dtype and values, in this order.

    Parameters
    ----------
    answer : number, bool, str, (nested) list, NumPy array or tensor
        The learner's; anything else gets a verdict that says so.
    expected : the same
    hint : str
        Told along with a wrong answer.
    tolerance : float, optional
        How far a value may be off, as a part of the largest of the expected values.  By default as the
        less precise of the two dtypes allows: 1e-4 for float32 and Python numbers, 1e-6 for float64,
        1e-2 for float16.

    Returns
    -------
    Verdict

    Notes
    -----
    The dtype is compared between two tensors and between two arrays.  A list or a number, which has
    none, may stand for either, and a text is compared without regard to case and outer spaces.

    >>> judge(3, 4).text
    'Not yet: the value differs (yours is 3).'
    >>> judge(-4.0, 4.0).text
    'Not yet: the sign is the other way round.'
    """
    problem = compare(answer, expected, tolerance)
    if not problem:
        return Verdict(True, "Right.")
    if is_blank(answer):
        return Verdict(False, problem)
    return Verdict(False, f"Not yet: {problem}." + (f"\nHint: {hint}" if hint else ""))


def predict(prediction: Any, outcome: Any | Callable[[], Any], *, tolerance: float | None = None) -> None:
    """Reveal an outcome to a learner who has said what it will be, and not before.

    Parameters
    ----------
    prediction : as the ``answer`` of :func:`judge`
    outcome : the same, or a function without arguments that computes it
        The function is called only once there is a prediction.
    tolerance : float, optional
        As for :func:`judge`.

    Examples
    --------
    >>> predict(..., lambda: 15.0 * 20.0)
    Not answered yet: put your answer where dots or YOUR CODE HERE stand.
    >>> predict(35, lambda: 15.0 * 20.0)
    You said 35, and it is 300.0: look again at what happened.
    >>> predict(300, lambda: 15.0 * 20.0)
    You said 300, and it is 300.0: right.
    """
    if is_blank(prediction):
        print(_BLANK)
        return
    value = outcome() if callable(outcome) else outcome
    right = judge(prediction, value, tolerance=tolerance).right
    closing = "right" if right else "look again at what happened"
    print(f"You said {_shown(prediction)}, and it is {_shown(value)}: {closing}.")


_BLANK = "Not answered yet: put your answer where dots or YOUR CODE HERE stand."


def is_blank(answer: Any) -> bool:
    """Whether nothing was answered: the dots of the exercise stand there still."""
    return answer is ... or answer is None or answer is NotImplemented


def compare(
    answer: Any, expected: Any, tolerance: float | None = None, *, any_dtype: bool = False, noise: float = 0.0
) -> str:
    """What is wrong with ``answer``, in a few words; empty where it is right.

    ``any_dtype`` leaves the dtype out of it; differences up to ``noise`` count as none.
    """
    if is_blank(answer):
        return _BLANK
    if isinstance(expected, str):
        if not isinstance(answer, str):
            return f"a text in quotes is expected, yours is {_kind(answer)}"
        same = answer.strip().casefold() == expected.strip().casefold()
        return "" if same else f"the answer is not {answer.strip()!r}"
    wanted = plain(expected)
    if wanted is None:
        raise TypeError(f"cannot check against a value {_kind(expected)}: give numbers or a text")
    if isinstance(answer, list | tuple) and _ragged(answer):
        return "the rows of your answer have different lengths"
    given = plain(answer)
    if given is None:
        call = ": did you mean to call it" if callable(answer) else ""
        return f"a number or a tensor is expected, yours is {_kind(answer)}{call}"
    if tolerance is None:
        tolerance = _tolerance(answer, expected)
    return _difference(given, wanted, not any_dtype and _same_type(answer, expected), tolerance, noise)


def plain(value: Any) -> np.ndarray | None:
    """The numbers in a number, list, array or tensor as a NumPy array; None where there are none."""
    try:
        array = np.asarray(_without_tensors(value))
    except Exception:  # a learner can put anything here, and anything can fail in any way
        return None
    return array if array.dtype.kind in "biuf" else None


def _without_tensors(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_without_tensors(item) for item in value]
    if hasattr(value, "detach"):
        value = value.detach()
        return (value.cpu() if hasattr(value, "cpu") else value).numpy()
    return value


def _ragged(rows: list | tuple) -> bool:
    try:
        np.asarray(_without_tensors(rows))
    except ValueError:
        return True
    except Exception:
        return False
    return False


def _difference(
    given: np.ndarray, wanted: np.ndarray, same_dtype: bool, tolerance: float, noise: float
) -> str:
    if given.shape != wanted.shape:
        return f"the shape is {given.shape}, expected {wanted.shape}"
    if same_dtype and given.dtype != wanted.dtype:
        return f"the dtype is {given.dtype}, expected {wanted.dtype}"
    if (given.dtype.kind == "b") != (wanted.dtype.kind == "b"):
        kinds = {True: "True or False", False: "a number"}
        return f"{kinds[wanted.dtype.kind == 'b']} is expected, yours is {kinds[given.dtype.kind == 'b']}"
    off = ~_close(given, wanted, tolerance, noise)
    count = int(off.sum())
    if not count:
        return ""
    if given.dtype.kind != "b" and _close(-given.astype(np.float64), wanted, tolerance, noise).all():
        return "the sign is the other way round" if given.size == 1 else "all signs are the other way round"
    first = np.unravel_index(int(off.argmax()), off.shape)
    yours = summarize(given[first]).text
    if given.ndim == 0:
        return f"the value differs (yours is {yours})"
    where = "[" + ", ".join(str(int(i)) for i in first) + "]"
    differ = "value differs" if given.size == 1 else "values differ"
    return f"{count} of {given.size} {differ}; the first at {where}, where yours is {yours}"


def _close(given: np.ndarray, wanted: np.ndarray, tolerance: float, noise: float) -> np.ndarray:
    if given.dtype.kind in "biu" and wanted.dtype.kind in "biu":
        return np.asarray(given == wanted)
    given, wanted = given.astype(np.float64), wanted.astype(np.float64)
    size = np.abs(wanted[np.isfinite(wanted)])
    largest = float(size.max()) if size.size and size.max() > 0 else 1.0
    allowed = max(tolerance * largest, noise)
    return np.asarray(np.isclose(given, wanted, rtol=0, atol=allowed, equal_nan=True))


def _tolerance(*values: Any) -> float:
    return max(
        _TOLERANCE.get(str(array.dtype), 0.0) if hasattr(value, "dtype") else _TOLERANCE_BY_HAND
        for value in values
        if (array := plain(value)) is not None
    )


def _same_type(answer: Any, expected: Any) -> bool:
    """Two tensors or two arrays, whose dtypes can be compared."""
    return all(hasattr(v, "detach") for v in (answer, expected)) or all(
        isinstance(v, np.ndarray | np.generic) for v in (answer, expected)
    )


def _kind(value: Any) -> str:
    if callable(value):
        return "a function"
    return f"of type {type(value).__name__}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    array = plain(value)
    return summarize(array).text if array is not None else _kind(value)
