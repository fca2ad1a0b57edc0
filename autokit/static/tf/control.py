"""Choices and loops in a graph of TensorFlow 1's: ``cond`` and ``while_loop``.

The functions that a program hands to them are called once, when the graph is defined. What they define is a
:class:`Part`: a run makes a program of its own of it, to run it as often as it has to: one of two branches,
or the body of a loop as long as its condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.engine.function import Function
from autokit.static.errors import refused
from autokit.static.tf.graph import Tensor, Trace, as_operands, control_dependencies, get_default_graph
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
            if each.type.startswith(("Assign", "Apply", "VariableV2")):
                raise refused("a branch or a loop cannot assign variables: assign its result", each.line)
        read = [*[each for operation in inside for each in operation.inputs], *self.results]
        self.outside = [each for each in dict.fromkeys(read) if each.op.place < start or each.is_variable]

    def traced(self, outer: Trace, given: list[Tensor], values: Any) -> tuple[Callable[..., Any], list[Any]]:
        """A function of the arrays of ``given`` that computes it, and its results for ``values``."""
        examples = [outer.node(each).value for each in values]
        with outer.paused():
            program = Program(outer, self.results, dict(zip(given, examples)))
        return lambda *arrays: program.run(arrays, compiled=False), [
            node.value for node in program.graph.outputs
        ]


class _Call(Function):
    """A call of parts, which is noted in the graph; it has no derivative."""

    @staticmethod
    def forward(ctx: Any, note: Callable[..., Any], *values: Any) -> Any:
        return tuple(note(*values))

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        raise NotImplementedError(
            "tf.cond and tf.while_loop have no gradient here: tf.where(condition, a, b) has one, and so has "
            "what a for loop of Python's defines"
        )


def _alike(one: list[Any], other: list[Any], words: str) -> None:
    if [(each.shape, each.dtype) for each in one] != [(each.shape, each.dtype) for each in other]:
        raise TypeError(words)


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """What ``true_fn`` defines where ``pred`` holds in a run, else what ``false_fn`` defines.

    Only one of the two is computed. What they take from outside is computed in any case.
    """
    branches = [Part(true_fn), Part(false_fn)]
    outside = list(dict.fromkeys([*branches[0].outside, *branches[1].outside]))

    def compute(trace: Trace, *values: Any) -> Any:
        (yes, results), (no, others) = [each.traced(trace, outside, values[1:]) for each in branches]
        _alike(results, others, "true_fn and false_fn must give results of the same types and shapes")

        def choose(holds: Any, *arrays: Any) -> list[Any]:
            return (yes if holds else no)(*arrays)

        return _Call.apply(lambda *values: trace.noted("cond", choose, values, results, "call"), *values)

    graph, count = get_default_graph(), len(branches[0].results)
    made = graph.add("cond", compute, *as_operands(graph, [pred]), *outside, name=name, outputs=count)
    return made.outputs if branches[0].several else made.outputs[0]


def while_loop(cond: Any, body: Any, loop_vars: Any, name: str | None = None) -> Any:
    """``loop_vars`` after ``body`` was computed as long as ``cond`` holds."""
    graph = get_default_graph()
    first = [convert_to_tensor(each) for each in loop_vars]
    inner = [graph.add("Enter", lambda trace, a: a, each).outputs[0] for each in first]
    parts, count = [Part(cond, *inner), Part(body, *inner)], len(inner)
    given = list(dict.fromkeys([*inner, *parts[0].outside, *parts[1].outside]))

    def compute(trace: Trace, *values: Any) -> Any:
        (holds, _), (step, results) = [each.traced(trace, given, values) for each in parts]
        before = [trace.node(each).value for each in values[:count]]
        _alike(results, before, "The body of a loop must keep the shapes and dtypes of the loop variables")

        def loop(*arrays: Any) -> Any:
            while holds(*arrays)[0]:
                arrays = (*step(*arrays), *arrays[count:])
            return list(arrays[:count])

        return _Call.apply(lambda *values: trace.noted("while", loop, values, results, "call"), *values)

    made = graph.add("while", compute, *first, *given[count:], name=name, outputs=count)
    return made.outputs if count > 1 else made.outputs[0]
