"""A learner's own engine is judged: it has to find the gradients that autokit finds for the same programs."""

from __future__ import annotations

import operator
import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from types import FrameType
from typing import Any

import numpy as np

from autokit.classroom.answers import Function, Refused, judged, run
from autokit.classroom.checking import BLANK, GRADIENT, NO_HINTS, Verdict, is_blank, shown, spoken, verdict
from autokit.engine.record import OUR_FILES
from autokit.ops.create import tensor

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "@": operator.matmul,
}
_PROGRAMS, _DOUBLINGS, _LARGEST = 50, 40, 1e6
_LINES, _LINES_PER_OPERATION = 20_000, 500
_SHAPES = ((2, 3), (3,), (2, 1), ())


@dataclass
class _Program:
    """A few lines on inputs, and what may be wrong with an engine in which they fail."""

    inputs: dict[str, Any]
    lines: list[str]
    hint: str
    passes: int = 1

    def __post_init__(self) -> None:
        text = " ".join(self.lines[:10])
        self.inputs = {name: each for name, each in self.inputs.items() if re.search(rf"\b{name}\b", text)}

    def __str__(self) -> str:
        inputs = [f"{name} = {shown(each)}" for name, each in self.inputs.items()]
        text = ", ".join([*inputs, *self.lines[:10]])
        return text if len(self.lines) < 10 else f"a chain of {len(self.lines):,} operations"


@spoken
def check_engine(
    value: Function,
    operations: str = "+ *",
    *,
    backward: Callable[[Any], Any] | None = None,
    arrays: bool = False,
    depth: int = 0,
    why: Mapping = NO_HINTS,
    hint: str | Sequence[str] = "",
) -> Verdict:
    """Run small programs, 50 random ones and a chain of 40 doublings in a learner's engine and in autokit.

    Parameters
    ----------
    value : callable
        Makes one of the engine's values from a number. It has ``data`` and, after the backward pass,
        ``grad``.
    operations : str
        Those that the engine has, with spaces between: ``+ - * / @``, ``**`` (with a whole exponent), and the
        names of methods, as ``tanh``.
    backward : callable, optional
        Called with the result of a program; by default it is the result's own method.
    arrays : bool
        The inputs are NumPy arrays whose shapes broadcast.
    depth : int
        Let a chain of so many operations follow.
    why : dict, optional
        For typical wrong engines (or backward functions, where one is given) what to tell in place of
        ``hint``.
    hint : str, or list of str
        Told along with a failure; by default what the failing program is there to show.

    Examples
    --------
    >>> import autokit as ak
    >>> check_engine(lambda number: ak.tensor(number, dtype=ak.float64, requires_grad=True), "+ * tanh")
    Right.
    """
    answer = value if backward is None else backward
    if is_blank(answer):
        return verdict(BLANK)

    def play(engine: Function) -> Callable[[_Program], dict[str, Any]]:
        if backward is None:
            return partial(_played, value=engine, backward=operator.methodcaller("backward"))
        return partial(_played, value=value, backward=engine)

    programs = _programs(operations.split(), arrays, depth)
    hints = {play(wrong): told for wrong, told in why.items()}
    return judged(
        play(answer),
        _right,
        [(each,) for each in programs],
        hints,
        lambda each: (str(each), hint or each.hint),
    )


def _programs(operations: list[str], arrays: bool, depth: int) -> list[_Program]:
    """Small programs first: what fails is then the smallest that can."""
    a = np.array([[0.7, -1.3, 0.4], [1.1, 0.6, -0.9]])
    b = np.array([1.7, -0.8, 0.3])
    inputs = {"a": a, "b": b} if arrays else {"a": 0.7, "b": -1.3}
    matrices = {"a": a, "b": a.T + 0.5}
    programs = [
        _Program(matrices if name == "@" else inputs, [_line("c", name, "a", "b")], "") for name in operations
    ]
    chance = (_random_program(random.Random(seed), operations, arrays) for seed in count())
    programs += islice(filter(_is_moderate, chance), _PROGRAMS)
    name = next((each for each in ("+", "*") if each in operations), "")
    if not name:
        return programs
    c, doubling = f"c = a {name} b", [f"a = a {name} a"] * _DOUBLINGS
    programs[len(operations) : len(operations)] = [
        _Program(
            {"a": inputs["a"]}, [f"c = a {name} a"], "A value that is used twice gets two contributions."
        ),
        _Program(inputs, [c, f"d = c {name} b"], "A value passes on the gradient that has arrived."),
        _Program(inputs, [c, f"d = c {name} c"], "A value passes its gradient on once, all of it."),
        _Program(inputs, [c], "A second backward pass adds to the gradients of the first.", passes=2),
    ]
    chain, one = [f"b = b {name} a"] * depth, np.float64(1.0)
    programs.append(_Program({"a": one}, doubling, "There are many paths back, but only 80 arrows."))
    programs.append(_Program({"a": one, "b": one}, chain or [c], "Keep a list of what is left to visit."))
    return programs


def _random_program(draw: random.Random, operations: list[str], arrays: bool) -> _Program:
    numbers = np.random.default_rng(draw.randint(1, 999))
    inputs: dict[str, Any] = {
        name: numbers.uniform(-2, 2, draw.choice(_SHAPES) if arrays else ()) for name in "abc"
    }
    names, lines = list("abc"), []
    for result in "defgh"[: draw.randint(2, 5)]:
        lines.append(_line(result, draw.choice(operations), names[-1], draw.choice(names)))
        names.append(result)
    if not arrays:
        inputs = {name: round(float(each), 1) for name, each in inputs.items()}
    return _Program(inputs, lines, "A value gets a contribution from each use, and passes on their sum.")


def _line(result: str, name: str, one: str, other: str) -> str:
    other = "3" if name == "**" else other
    return f"{result} = {one} {name} {other}" if name in _BINARY else f"{result} = {one}.{name}()"


def _is_moderate(program: _Program) -> bool:
    """Whether the shapes of a program fit, and its numbers stay of a size that any engine can compare."""
    found, problem = run(_right, (program,))
    return not problem and all(np.abs(each).max() < _LARGEST for each in found.values())


def _right(program: _Program) -> dict[str, Any]:
    def leaf(number: Any) -> Any:
        return tensor(np.asarray(number, np.float64), requires_grad=True)

    found = _played(program, leaf, lambda result: result.backward(tensor(np.ones(tuple(result.shape)))))
    return {name: each.numpy() for name, each in found.items()}


def _played(program: _Program, value: Function, backward: Callable[[Any], Any]) -> dict[str, Any]:
    """What a program gives in an engine, forward and backward."""
    inputs = {name: value(each) for name, each in program.inputs.items()}
    most = _LINES + _LINES_PER_OPERATION * len(program.lines)
    for _ in range(program.passes):
        result = _in_few_lines(partial(_forward_and_backward, inputs, program.lines, backward), most)
    found = {GRADIENT + name: each.grad for name, each in inputs.items()}
    return {"": result.data, **found}


def _forward_and_backward(inputs: dict[str, Any], lines: list[str], backward: Callable[[Any], Any]) -> Any:
    values = dict(inputs)
    for line in lines:
        result, _, one, *rest = line.split()
        if rest:
            values[result] = _BINARY[rest[0]](values[one], values.get(rest[1], 3))
        else:
            one, _, name = one.removesuffix("()").partition(".")
            values[result] = getattr(values[one], name)()
    backward(values[result])
    return values[result]


def _in_few_lines(function: Callable[[], Any], most: int) -> Any:
    """Call a function, and stop it where it runs more than so many lines that are not autokit's."""
    left = most

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if OUR_FILES[frame.f_code.co_filename]:
            return None
        left -= event == "line"
        if left < 0:
            raise Refused("it takes too many steps: each arrow has to be walked only once")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return function()
    finally:
        sys.settrace(before)
