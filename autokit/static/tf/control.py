"""Choices and loops in a graph of TensorFlow 1's: ``cond`` and ``while_loop``.

The functions that a program hands to them are called once, when the graph is defined. What they define is a
:class:`Part`: a run makes a program of its own of it, to run it as often as it has to: one of two branches,
or the body of a loop as long as its condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
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
            self.several = isinstance(returned, list | tuple)
            self.results = [convert_to_tensor(each) for each in (returned if self.several else [returned])]
        inside = operations[start:]
        for each in inside:
            if each.type in ("Assign", "VariableV2", "PyFunc"):
                raise refused(f"a branch or a loop holds no {each.type}: do that outside", each.line)
        read = [*[each for operation in inside for each in operation.inputs], *self.results]
        self.outside = [each for each in dict.fromkeys(read) if each.op.place < start or each.is_variable]

    def program(self, outer: Trace, given: list[Tensor], values: Any) -> Program:
        """What computes the results from the values of ``given``."""
        return Program(
            outer, self.results, {each: outer.traced(v).node.value for each, v in zip(given, values)}
        )


def _values_of(program: Program, others: list[Any], words: str) -> list[Any]:
    """The example's results, which must be like ``others``."""
    values = [node.value for node in program.graph.outputs]
    if [(each.shape, each.dtype) for each in values] != [(each.shape, each.dtype) for each in others]:
        raise TypeError(words)
    return values


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """What ``true_fn`` defines where ``pred`` holds in a run, else what ``false_fn`` defines.

    Only one of the two is computed. What they take from outside is computed in any case.
    """
    branches = [Part(true_fn), Part(false_fn)]
    outside = list(dict.fromkeys([*branches[0].outside, *branches[1].outside]))

    def compute(trace: Trace, *values: Any) -> Any:
        yes, no = [each.program(trace, outside, values[1:]) for each in branches]
        others = [node.value for node in no.graph.outputs]
        words = "true_fn and false_fn must give results of the same types and shapes"

        def choose(holds: Any, *arrays: Any) -> list[Any]:
            return (yes if holds else no).run(arrays, compiled=False)

        return trace.noted(choose, values, _values_of(yes, others, words))

    count = len(branches[0].results)
    made = get_default_graph().add(
        "cond", compute, convert_to_tensor(pred), *outside, name=name, outputs=count
    )
    return made.outputs if branches[0].several else made.outputs[0]


def while_loop(cond: Any, body: Any, loop_vars: Any, name: str | None = None) -> Any:
    """``loop_vars`` after ``body`` was computed as long as ``cond`` holds."""
    first = [convert_to_tensor(each) for each in loop_vars]
    inner = [identity(each) for each in first]
    test, step = Part(cond, *inner), Part(body, *inner)
    given, count = list(dict.fromkeys([*inner, *test.outside, *step.outside])), len(inner)

    def compute(trace: Trace, *values: Any) -> Any:
        holds, next_ = [each.program(trace, given, values) for each in (test, step)]
        before = [trace.traced(each).node.value for each in values[:count]]
        words = "The body of a loop must keep the shapes and dtypes of the loop variables"

        def loop(*arrays: Any) -> Any:
            while holds.run(arrays, compiled=False)[0]:
                arrays = (*next_.run(arrays, compiled=False), *arrays[count:])
            return list(arrays[:count])

        return trace.noted(loop, values, _values_of(next_, before, words))

    graph = get_default_graph()
    made = graph.add("while", compute, *first, *given[count:], name=name, outputs=count)
    return made.outputs if count > 1 else made.outputs[0]
