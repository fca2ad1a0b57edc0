"""An answer that is a function is run on several cases, and whatever comes of it is judged in one way."""

from __future__ import annotations

import dis
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import wraps
from inspect import unwrap
from typing import Any

import numpy as np

from autokit.autograd import grad
from autokit.classroom.checking import (
    BLANK,
    GRADIENT,
    Hint,
    Tolerance,
    Verdict,
    compare,
    is_blank,
    plain,
    shown,
    verdict,
)
from autokit.func.trees import flatten, unflatten
from autokit.graphs.failure import error_in_words
from autokit.ops.create import tensor

Function = Callable[..., Any]


class Refused(Exception):
    """What is wrong with an answer, found while it ran."""


def judged(
    answer: Any,
    reference: Function,
    cases: Sequence[tuple[Any, ...]],
    why: Mapping[Function, str],
    words: Callable[..., tuple[str, Hint]],
    tolerance: Tolerance = None,
) -> Verdict:
    """Run an answer and what is right on the same cases, and compare what comes of them.

    ``words`` tells a case, and gives the hint for it where no hint of ``why`` fits.
    """
    for case in cases:
        value, problem = run(answer, case)
        if not problem:
            problem = compare(value, reference(*deepcopy(case)), tolerance)
            problem += _aside(unwrap(answer)) if problem not in ("", BLANK) else ""
        if not problem:
            continue
        place, hint = words(*case)
        for wrong, reason in why.items():
            if all(_alike(run(answer, each), run(wrong, each), tolerance) for each in cases):
                hint = reason
        code = getattr(unwrap(answer), "__code__", None)
        return verdict(problem, hint, f", with {place}", code)
    return verdict("")


def run(function: Function, case: tuple[Any, ...]) -> tuple[Any, str]:
    """What a learner's function gives, and what is wrong with it: it may fail in any way."""
    try:
        value = function(*deepcopy(case))
    except NotImplementedError:  # the stub of an exercise that nobody has answered
        return None, BLANK
    except Refused as error:
        return None, str(error)
    except Exception as error:
        return None, error_in_words(error)
    return value, _nothing(unwrap(function), value) if is_blank(value) else ""


def _alike(mine: tuple[Any, str], other: tuple[Any, str], tolerance: Tolerance) -> bool:
    """Whether two runs gave the same, or failed in the same way: at other lines, and with other names."""
    if mine[1] or other[1]:
        one, two = (problem.partition(" raises ") for _, problem in (mine, other))
        return (one[2] or one[0]).partition(". Got ")[0] == (two[2] or two[0]).partition(". Got ")[0]
    return not compare(mine[0], other[0], tolerance)


def _nothing(function: Function, value: Any) -> str:
    """Why a function may have given nothing."""
    names = _names_read(function)
    if value is not None or not names:
        return BLANK
    if "print" in names:
        return "the function prints its result and returns nothing: write return in place of print"
    return "the function returns nothing: does it end with return?"


def _names_read(function: Any) -> set[str]:
    """The names that a function written in Python reads."""
    steps = dis.get_instructions(function) if hasattr(function, "__code__") else ()
    return {
        str(step.argval) for step in steps if step.opname.startswith("LOAD") and "CONST" not in step.opname
    }


def _aside(function: Any) -> str:
    """What is suspect about a wrong function: it does not look at one of its arguments.

    >>> _aside(lambda width, length: width * 4)
    '; its argument length is not used'
    """
    read = _names_read(function)
    outside = getattr(function, "__globals__", {})
    for name in names_of(function, 0):
        if name not in read:
            values = [other for other in sorted(read) if plain(outside.get(other)) is not None]
            instead = [f", but {other} from outside is" for other in values]
            return "".join([f"; its argument {name} is not used", *instead[:1]])
    return ""


def names_of(function: Any, count: int) -> list[str]:
    """The names of a function's arguments, as the learner wrote them, and more up to ``count``."""
    code = getattr(unwrap(function), "__code__", None)
    first = int(hasattr(unwrap(function), "__self__"))
    names = code.co_varnames[first : code.co_argcount] if code else ()
    return [*names, *[f"input {place + 1}" for place in range(len(names), count)]]


def inputs_in_words(function: Function, hint: Hint) -> Callable[..., tuple[str, Hint]]:
    """How to tell the arguments of a run."""

    def words(*case: Any) -> tuple[str, Hint]:
        names = names_of(function, len(case))
        return ", ".join([f"{name} = {shown(value)}" for name, value in zip(names, case)]), hint

    return words


def leaf_names(function: Any, arguments: Sequence[Any]) -> list[str]:
    """A name for each leaf of the arguments: ``x``, ``rows[1]``, or the key where one is a dict."""
    found: list[str] = []
    for name, value in zip(names_of(function, len(arguments)), arguments):
        count = len(flatten(value)[0])
        several = (
            list(value) if isinstance(value, Mapping) else [f"{name}[{place}]" for place in range(count)]
        )
        found += several if type(value) in (dict, list, tuple) else [name]
    return found


def with_gradients(function: Function, answer: Function) -> Function:
    """The same function, whose arguments learn, and which gives its value and the gradients.

    They have the names of the arguments of ``answer``.

    >>> with_gradients(abs, answer=lambda a: a)(5.0)
    {'': tensor(5., grad_fn=<AbsBackward0>), 'the gradient with respect to a': tensor(2.0314)}
    """

    @wraps(function)
    def both(*arguments: Any) -> Any:
        leaves, structure = flatten(arguments)
        given = [_learning(each) for each in leaves]
        value = function(*unflatten(given, structure))
        names = [GRADIENT + name for name in leaf_names(answer, arguments)]
        named = {name: each for name, each in zip(names, given) if getattr(each, "requires_grad", False)}
        if is_blank(value) or not named:
            return value
        ends = [each for each in flatten(value)[0] if getattr(each, "requires_grad", False)]
        if not ends:
            raise Refused("it gives plain numbers without a record: leave out .item(), float() and .detach()")
        arriving = [tensor(upstream(tuple(end.shape)), dtype=end.dtype) for end in ends]
        inputs = list(named.values())
        once: Any = grad(ends, inputs, arriving, retain_graph=True, materialize_grads=True)
        twice: Any = grad(ends, inputs, [2 * each for each in arriving], materialize_grads=True)
        if any(one.equal(two) and one.any() and one.isfinite().all() for one, two in zip(once, twice)):
            raise Refused("the rule ignores the gradient that arrives: multiply by it")
        return {"": value, **dict(zip(named, once))}

    return both


def _learning(value: Any) -> Any:
    array = plain(value)
    if array is None or array.dtype.kind != "f" or isinstance(value, str):
        return value
    return tensor(array, dtype=None if hasattr(value, "dtype") else np.float32, requires_grad=True)


def upstream(shape: tuple[int, ...]) -> np.ndarray:
    """A gradient that arrives at a result: numbers that are not 1, the same each time."""
    return np.random.default_rng(7).uniform(1.25, 2.5, shape)
