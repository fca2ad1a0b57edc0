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
from autokit.engine.modes import enable_grad
from autokit.engine.tensor import new_tensor
from autokit.static.errors import refused
from autokit.static.graph import Graph as Calls
from autokit.static.interpret import interpret
from autokit.static.tf.graph import Tensor, Trace, as_operands, get_default_graph, needed
from autokit.static.tf.values import convert_to_tensor

__all__ = [
    *("cond", "while_loop"),
]


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

    def traced(self, outer: Trace, given: list[Tensor], examples: list[Any], slopes: bool = False) -> Runner:
        """Its calls of NumPy for tensors ``given`` with these ``examples``; or those of its derivatives."""
        trace = Trace(outer.array_of, outer.generator_of)
        for tensor, array in zip(given, examples):
            value = trace.values[tensor] = trace.given("input", array, tensor.name)
            if tensor.is_variable:
                trace.history[tensor] = [value]
        with outer.paused(), enable_grad():
            for operation in self.operations:
                trace.run(operation)
                if any([len(values) > 1 for values in trace.history.values()]):
                    raise refused(
                        "a branch or a loop cannot assign variables: assign its result", operation.line
                    )
            results = [trace.value_of(each) for each in self.results]
            if slopes:
                results = _slopes(trace, results, [trace.value_of(each) for each in given])
        trace.tape.graph.outputs = [trace.node(each) for each in results]
        return Runner(trace.tape.graph)


class Runner:
    """A graph as a function of arrays."""

    def __init__(self, graph: Calls) -> None:
        kept = {*graph.needed(graph.roots()), *graph.inputs}
        self.graph, self.nodes = graph, [node for node in graph.nodes if node in kept]

    def __call__(self, *arrays: Any) -> list[Any]:
        values = dict(zip(self.graph.inputs, arrays))
        for _ in interpret(self.nodes, values):
            pass
        return [values[node] for node in self.graph.outputs]

    @property
    def examples(self) -> list[Any]:
        """The results on the examples."""
        return [node.value for node in self.graph.outputs]


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
    nodes = tuple([trace.node(each) for each in values])
    several = tuple([np.zeros(np.shape(each), np.asarray(each).dtype) for each in examples])
    return tuple(map(new_tensor, trace.tape.parts(name, function, nodes, {}, several, "call")))


def _examples(trace: Trace, values: Any) -> list[Any]:
    return [trace.node(each).value for each in values]


# ---------------------------------------------------------------- cond


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, **settings: Any) -> Any:
    """What ``true_fn`` defines where ``pred`` holds in a run, else what ``false_fn`` defines.

    Only one of the two is computed. What they take from outside is computed in any case.
    """
    branches = [Part(settings.get("fn1", true_fn)), Part(settings.get("fn2", false_fn))]
    if len(branches[0].results) != len(branches[1].results):
        raise TypeError("true_fn and false_fn must have the same structure: as many results")
    outside = list(dict.fromkeys([*branches[0].outside, *branches[1].outside]))

    def compute(trace: Trace, pred: Any, *given: Any) -> Any:
        return _Choice.apply(trace, branches, outside, pred, *given)

    graph = get_default_graph()
    operands = (*as_operands(graph, (pred,)), *outside)
    made = graph.add("cond", compute, operands, name=settings.get("name"), outputs=len(branches[0].results))
    return made.outputs if branches[0].several else made.outputs[0]


class _Choice(Function):
    """One of two branches; so is its derivative."""

    @staticmethod
    def forward(
        ctx: Any, trace: Trace, branches: list[Part], outside: list[Tensor], pred: Any, *given: Any
    ) -> Any:
        examples = _examples(trace, given)
        yes, no = [each.traced(trace, outside, examples) for each in branches]
        for one, other in zip(yes.examples, no.examples):
            if one.dtype != other.dtype:
                raise TypeError(
                    f"Outputs of true_fn and false_fn must have the same type: {one.dtype}, {other.dtype}"
                )
        ctx.context, ctx.given = (trace, branches, outside, pred), given
        return _noted(trace, "cond", _either(yes, no), (pred, *given), yes.examples)

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        trace, branches, outside, pred = ctx.context
        examples = _examples(trace, ctx.given)
        yes, no = [each.traced(trace, outside, examples, slopes=True) for each in branches]
        arrived = [each for each in slopes if each is not None and each.array.dtype.kind == "f"]
        found = _noted(trace, "cond_backward", _either(yes, no), (pred, *ctx.given, *arrived), yes.examples)
        learns = ctx.needs_input_grad[4:]
        return (None, None, None, None, *[one if wanted else None for one, wanted in zip(found, learns)])


def _either(yes: Runner, no: Runner) -> Callable[..., Any]:
    return lambda pred, *arrays: (yes if pred else no)(*arrays)


# ---------------------------------------------------------------- while_loop


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, **settings: Any) -> Any:
    """``loop_vars`` after ``body`` was computed as long as ``cond`` holds."""
    graph = get_default_graph()
    first = as_operands(graph, tuple([convert_to_tensor(each) for each in loop_vars]))
    inner = [graph.add("Enter", lambda trace, a: a, (each,)).outputs[0] for each in first]
    parts = [Part(cond, *inner), Part(body, *inner)]
    outside = [each for each in dict.fromkeys([*parts[0].outside, *parts[1].outside]) if each not in inner]

    def compute(trace: Trace, *given: Any) -> Any:
        return _Loop.apply(trace, parts, [*inner, *outside], len(inner), *given)

    made = graph.add("while", compute, (*first, *outside), name=settings.get("name"), outputs=len(inner))
    return made.outputs if len(inner) > 1 else made.outputs[0]


class _Loop(Function):
    """A body that is computed again and again; it has no derivative."""

    @staticmethod
    def forward(
        ctx: Any, trace: Trace, parts: list[Part], inside: list[Tensor], count: int, *given: Any
    ) -> Any:
        examples = _examples(trace, given)
        holds, body = [each.traced(trace, inside, examples) for each in parts]
        for before, after in zip(examples, body.examples):
            if (before.shape, before.dtype) != (after.shape, after.dtype):
                raise ValueError(
                    f"The shape invariant of a loop variable is {before.dtype}{list(before.shape)}, and the "
                    f"body gives {after.dtype}{list(after.shape)}: let it keep its shape and dtype"
                )

        def loop(*arrays: Any) -> Any:
            values, outside = list(arrays[:count]), arrays[count:]
            while holds(*values, *outside)[0]:
                values = body(*values, *outside)
            return values

        return _noted(trace, "while", loop, given, examples[:count])

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        raise NotImplementedError(
            "tf.while_loop has no gradient here: a for loop of Python's defines each step"
        )
