"""Choices and loops in a graph of TensorFlow 1's: ``cond`` and ``while_loop``.

The functions that a program hands to them are called once, when the graph is defined. What they define
becomes a graph inside the graph, a :class:`Part`, which a run computes as often as it has to: one of two
branches, or the body of a loop as long as its condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.autograd import grad
from autokit.engine.function import Function
from autokit.engine.modes import enable_grad, is_grad_enabled
from autokit.engine.tensor import new_tensor
from autokit.static.errors import refused
from autokit.static.interpret import interpret
from autokit.static.tf.graph import Tensor, Trace, as_operands, get_default_graph, needed
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

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        graph = get_default_graph()
        start = len(graph.operations)
        returned = function(*args)
        self.several = isinstance(returned, list | tuple)
        self.results = [convert_to_tensor(each) for each in (returned if self.several else [returned])]
        inside = set(graph.operations[start:])
        self.operations = [each for each in needed([each.op for each in self.results]) if each in inside]
        read = [*[each for op in self.operations for each in op.inputs], *self.results]
        self.outside = [each for each in dict.fromkeys(read) if each.op not in inside or each.is_variable]

    def traced(self, outer: Trace, given: list[Tensor], examples: Any, slopes: bool = False) -> Any:
        """A function of the arrays of ``given`` that computes it, or its derivatives, and its example."""
        trace = Trace(outer.array_of, outer.generator_of)
        trace.repeats = slopes
        for tensor, array in zip(given, examples):
            trace.feed(tensor, array)
        with outer.paused(), enable_grad():
            for operation in self.operations:
                trace.run(operation)
                if trace.assigned:
                    raise refused(
                        "a branch or a loop cannot assign variables: assign its result", operation.line
                    )
            results = [trace.value_of(each) for each in self.results]
            if slopes:
                results = _slopes(trace, results, [trace.value_of(each) for each in given])
        graph = trace.tape.graph
        graph.outputs = [trace.node(each) for each in results]
        nodes = graph.needed(graph.roots())

        def run(*arrays: Any) -> list[Any]:
            values = dict(zip(graph.inputs, arrays))
            for _ in interpret(nodes, values):
                pass
            return [values[node] for node in graph.outputs]

        return run, [node.value for node in graph.outputs]


def _slopes(trace: Trace, results: list[Any], given: list[Any]) -> list[Any]:
    """The derivatives of ``results`` by each of ``given``, zeros where there is none; seeds are inputs."""
    floats = [each for each in results if each.array.dtype.kind == "f"]
    seeds = [trace.given("input", np.zeros(each.shape, each.array.dtype), "slope") for each in floats]
    pairs = [(end, seed) for end, seed in zip(floats, seeds) if end._requires_grad]
    learners = [each for each in given if each._requires_grad]
    found: Any = [None] * len(learners)
    if pairs and learners:
        ends, slopes = zip(*pairs)
        with trace.tracing:
            found = grad(ends, learners, slopes, retain_graph=True, allow_unused=True)
    by_learner = {id(each): slope for each, slope in zip(learners, found) if slope is not None}
    return [by_learner.get(id(each), new_tensor(np.zeros(each.shape, each.array.dtype))) for each in given]


def _noted(
    trace: Trace, name: str, function: Callable[..., Any], values: Any, examples: Any
) -> tuple[Any, ...]:
    """A call that is noted and not made: its results are like ``examples``."""
    several = tuple([np.zeros(np.shape(each), np.asarray(each).dtype) for each in examples])
    nodes = tuple([trace.node(each) for each in values])
    return tuple(map(new_tensor, trace.tape.parts(name, function, nodes, {}, several, "call")))


def _alike(one: Any, other: Any) -> bool:
    return [(each.shape, each.dtype) for each in one] == [(each.shape, each.dtype) for each in other]


# ---------------------------------------------------------------- cond


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """What ``true_fn`` defines where ``pred`` holds in a run, else what ``false_fn`` defines.

    Only one of the two is computed. What they take from outside is computed in any case.
    """
    branches = [Part(true_fn), Part(false_fn)]
    outside = list(dict.fromkeys([*branches[0].outside, *branches[1].outside]))

    def compute(trace: Trace, pred: Any, *given: Any) -> Any:
        return _Choice.apply((trace, branches, outside), pred, *given)

    graph, count = get_default_graph(), len(branches[0].results)
    made = graph.add("cond", compute, (*as_operands(graph, (pred,)), *outside), name=name, outputs=count)
    return made.outputs if branches[0].several else made.outputs[0]


class _Choice(Function):
    """One of two branches; so is its derivative."""

    @staticmethod
    def forward(ctx: Any, context: Any, pred: Any, *given: Any) -> Any:
        trace, branches, outside = context
        examples = [trace.node(each).value for each in given]
        (yes, example), (no, other) = [each.traced(trace, outside, examples) for each in branches]
        if not _alike(example, other):
            raise TypeError("true_fn and false_fn must give as many results, of the same types and shapes")
        ctx.context, ctx.given = (trace, branches, outside, examples), (pred, *given)
        ctx.results = _noted(trace, "cond", _either(yes, no, 0), ctx.given, example)
        return ctx.results

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        if is_grad_enabled():
            raise NotImplementedError("tf.cond has no second derivative: tf.where(condition, a, b) has one")
        trace, branches, outside, examples = ctx.context
        (yes, example), (no, _) = [each.traced(trace, outside, examples, slopes=True) for each in branches]
        # The forward result is an operand too: random numbers are those that were drawn for it.
        operands = (ctx.results[0], *ctx.given, *[each for each in slopes if each.array.dtype.kind == "f"])
        found = _noted(trace, "cond_backward", _either(yes, no, 1), operands, example)
        return (
            None,
            None,
            *[one if wanted else None for one, wanted in zip(found, ctx.needs_input_grad[2:])],
        )


def _either(yes: Callable[..., Any], no: Callable[..., Any], at: int) -> Callable[..., Any]:
    """The one of two functions that the operand at the place ``at`` chooses, of the operands after it."""
    return lambda *arrays: (yes if arrays[at] else no)(*arrays[at + 1 :])


# ---------------------------------------------------------------- while_loop


def while_loop(cond: Any, body: Any, loop_vars: Any, name: str | None = None, **settings: Any) -> Any:
    """``loop_vars`` after ``body`` was computed as long as ``cond`` holds."""
    graph = get_default_graph()
    first = [convert_to_tensor(each) for each in loop_vars]
    inner = [graph.add("Enter", lambda trace, a: a, (each,)).outputs[0] for each in first]
    parts = [Part(cond, *inner), Part(body, *inner)]
    outside = [each for each in dict.fromkeys([*parts[0].outside, *parts[1].outside]) if each not in inner]

    def compute(trace: Trace, *given: Any) -> Any:
        return _Loop.apply((trace, parts, [*inner, *outside]), *given)

    made = graph.add("while", compute, (*first, *outside), name=name, outputs=len(inner))
    return made.outputs if len(inner) > 1 else made.outputs[0]


class _Loop(Function):
    """A body that is computed again and again; it has no derivative."""

    @staticmethod
    def forward(ctx: Any, context: Any, *given: Any) -> Any:
        trace, parts, inside = context
        examples, count = [trace.node(each).value for each in given], len(parts[1].results)
        (holds, _), (body, after) = [each.traced(trace, inside, examples) for each in parts]
        if not _alike(examples[:count], after):
            raise ValueError("The body of a loop must keep the shapes and dtypes of the loop variables")

        def loop(*arrays: Any) -> Any:
            values, outside = list(arrays[:count]), arrays[count:]
            while holds(*values, *outside)[0]:
                values = body(*values, *outside)
            return values

        return _noted(trace, "while", loop, given, after)

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        raise NotImplementedError("tf.while_loop has no gradient here: use a for loop of Python's")
