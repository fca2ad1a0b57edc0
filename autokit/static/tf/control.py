"""Choices and loops in a graph of TensorFlow 1's: ``cond`` and ``while_loop``.

The functions that a program hands to them are called once, when the graph is defined. What they define is a
:class:`Part`: a run makes a program of its own of it, to run it as often as it has to: one of two branches,
or the body of a loop as long as its condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from autokit.static.errors import refused
from autokit.static.tf.functions import identity
from autokit.static.tf.graph import Tensor, Trace, control_dependencies, get_default_graph
from autokit.static.tf.session import Program
from autokit.static.tf.values import convert_to_tensor

__all__ = ["cond", "while_loop"]


class Part:
    """The operations that a function of the program defined.

    Attributes
    ----------
    results : list of Tensor
        What the function returned.
    outside : list of Tensor
        What its operations take from the graph around it.
    """

    def __init__(self, function: Callable[..., Any], *args: Tensor) -> None:
        operations = get_default_graph().operations
        start = len(operations)
        with control_dependencies(None):
            returned = function(*args)
            several = returned if isinstance(returned, list | tuple) else [returned]
            self.results = list(map(convert_to_tensor, several))
        inside = operations[start:]
        for each in inside:
            if each.type in ("Assign", "VariableV2", "PyFunc"):
                raise refused(f"a branch or a loop holds no {each.type}: do that outside", each.line)
        read = [*[each for operation in inside for each in operation.inputs], *self.results]
        self.outside = [each for each in dict.fromkeys(read) if each.op.place < start or each.is_variable]


def _running(kind: str, parts: list[Part], given: list[Tensor], operands: Any, run: Any, name: Any) -> Any:
    """An operation that calls ``run`` with the programs of two parts, and the values of ``operands``.

    The last of the operands are those that the parts know as ``given``.
    """

    def compute(trace: Trace, *values: Any) -> Any:
        arrays = [trace.traced(each).node.value for each in values]
        fed = dict(zip(given, arrays[len(arrays) - len(given) :]))
        one, other = [Program(trace, each.results, fed) for each in parts]
        results = [node.value for node in other.graph.outputs]
        like = arrays[: len(results)] if kind == "while" else [node.value for node in one.graph.outputs]
        if [(each.shape, each.dtype) for each in results] != [(each.shape, each.dtype) for each in like]:
            raise TypeError(f"{kind}: both branches, and each turn of a loop, must keep types and shapes")
        return trace.noted(partial(run, one, other), values, results)

    count = len(parts[1].results)
    made = get_default_graph().add(kind, compute, *operands, name=name, outputs=count)
    return made.outputs if count > 1 else made.outputs[0]


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """What ``true_fn`` defines where ``pred`` holds in a run, else what ``false_fn`` defines.

    Only one of the two is computed. What they take from outside is computed in any case.
    """

    def choose(yes: Program, no: Program, holds: Any, *arrays: Any) -> list[Any]:
        return (yes if holds else no).run(arrays, compiled=False)

    branches = [Part(true_fn), Part(false_fn)]
    outside = list(dict.fromkeys([*branches[0].outside, *branches[1].outside]))
    return _running("cond", branches, outside, [convert_to_tensor(pred), *outside], choose, name)


def while_loop(cond: Any, body: Any, loop_vars: Any, name: str | None = None) -> Any:
    """``loop_vars`` after ``body`` was computed as long as ``cond`` holds."""
    first = list(map(convert_to_tensor, loop_vars))
    inner, count = list(map(identity, first)), len(first)

    def loop(holds: Program, step: Program, *arrays: Any) -> list[Any]:
        while holds.run(arrays, compiled=False)[0]:
            arrays = (*step.run(arrays, compiled=False), *arrays[count:])
        return list(arrays[:count])

    parts = [Part(cond, *inner), Part(body, *inner)]
    given = list(dict.fromkeys([*inner, *parts[0].outside, *parts[1].outside]))
    return _running("while", parts, given, [*first, *given[count:]], loop, name)
