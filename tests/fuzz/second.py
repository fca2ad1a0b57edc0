"""Second derivatives, measured as the slopes of first ones.

``second by slopes``: the call is a program that takes a gradient with ``T.autograd.grad``, of a value that is
made of another gradient.  Wherever autokit's result is not PyTorch's, it is the slope of PyTorch's own value
in float64, or lies between those to both sides; where nothing is defined below, it is that from above; where
the value jumps there is none.
"""

from __future__ import annotations

import ast
import math
from typing import Any, NamedTuple

import numpy as np
import torch

import autokit
from tests.fuzz.calls import Call
from tests.fuzz.compare import TimedOut, limited, names_for, run
from tests.fuzz.limits import differ, numbers
from tests.fuzz.rewrites import as_float64, default_dtype
from tests.ops.case import flat

STEPS = (1e-5, 1e-13)
"""How far from an element slopes are measured; the last is for what bends within 1e-8 of it."""
TOLERANCE = 2e-3


class _Program(NamedTuple):
    """What the outer gradient is taken of, by which names, and what is named in which order."""

    value: Any
    inputs: list[str]
    steps: list[tuple[Any, Any]]
    names: dict[str, Any]

    def at(self, changed: str, place: int, step: float) -> float:
        """The value, where one element of an input is changed by ``step``."""
        names = dict(self.names)
        torch.default_generator.manual_seed(0)
        for target, given in self.steps:
            names["given"] = eval(given, names)[0]
            before = {name: names.get(name) for name in self.inputs}
            exec(target, names)
            if names.get(changed) is not before[changed]:
                moved = names[changed].detach().clone(memory_format=torch.contiguous_format)
                moved.view(-1)[place] += step
                names[changed] = moved.requires_grad_()
        return float(eval(self.value, names))

    def slopes(self, changed: str, place: int, step: float) -> tuple[float, ...]:
        """The slopes to both sides."""
        far_below, below, above, far_above = (self.at(changed, place, each * step) for each in (-2, -1, 1, 2))
        return (below - far_below) / step, (far_above - above) / step


def _program(call: Call) -> _Program | None:
    """The call as such a program in float64; None where it is another one."""
    listed = ast.parse(as_float64(call.expression), mode="eval").body
    listed = listed.value if isinstance(listed, ast.Subscript) else listed
    if not isinstance(listed, ast.ListComp):
        return None
    calls = [node for node in ast.walk(listed.elt) if isinstance(node, ast.Call)]
    outer = next((node for node in calls if ast.unparse(node.func) == "T.autograd.grad"), None)
    if outer is None:
        return None
    by = outer.args[1]
    inputs = [ast.unparse(each) for each in (by.elts if isinstance(by, ast.Tuple) else [by])]
    steps = [
        (f"{ast.unparse(each.target)} = given", compile(ast.unparse(each.iter), "<call>", "eval"))
        for each in listed.generators
    ]
    names = names_for(torch)
    names |= {name: eval(as_float64(source), names) for name, source in call.tensors.items()}
    return _Program(compile(ast.unparse(outer.args[0]), "<call>", "eval"), inputs, steps, names)


def by_slopes(_: str, call: Call) -> bool:
    """Whether autokit's second derivatives are slopes wherever they are not PyTorch's."""
    ours, theirs = run(autokit, call), run(torch, call)
    if ours.error or theirs.error:
        return False
    try:
        with limited(torch), default_dtype(torch.float64):
            program = _program(call)
            if program is None:
                return False
            results = zip(program.inputs, flat(ours.results), flat(theirs.results), strict=True)
            return all(_are_slopes(program, name, mine, other) for name, mine, other in results)
    except (Exception, TimedOut):
        return False


def _are_slopes(program: _Program, name: str, mine: Any, other: Any) -> bool:
    if mine is None or other is None:
        return mine is other
    elements = mine.detach().reshape(-1).tolist()
    places = np.flatnonzero(differ(numbers(mine), numbers(other)))
    return all(_is_slope(program, name, place, elements[place]) for place in places.tolist())


def _is_slope(program: _Program, name: str, place: int, mine: float) -> bool:
    for step in STEPS:
        slopes, nearer = program.slopes(name, place, step), program.slopes(name, place, 0.4 * step)
        if math.isnan(slopes[0]) and math.isnan(nearer[0]):  # there is nothing below it
            slopes, nearer = slopes[1:], nearer[1:]
        near = TOLERANCE * max(1.0, *map(abs, slopes))
        alike = np.allclose(slopes, nearer, rtol=0, atol=near)
        if alike and min(slopes) - near <= mine <= max(slopes) + near:
            return True
    return _jumps(program, name, place)


def _jumps(program: _Program, name: str, place: int) -> bool:
    """Whether the value comes, from one side, to another than it has at an element."""
    at = program.at(name, place, 0.0)
    near = TOLERANCE * max(1.0, abs(at))
    for step in (STEPS[-1], -STEPS[-1]):
        beside, nearer = program.at(name, place, step), program.at(name, place, 0.4 * step)
        if abs(beside - nearer) <= near < abs(beside - at):
            return True
    return False
