"""Choices and loops in a graph of TensorFlow 1's: ``cond`` and ``while_loop``.

The functions that a program hands to them are called once, when the graph is defined. What they define is a
:class:`Part`, which a run evaluates as often as it has to: one of two branches, or the body of a loop as long
as its condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.static.errors import refused
from autokit.static.tf.functions import identity
from autokit.static.tf.graph import Evaluation, Tensor, control_dependencies, get_default_graph, needed
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
            if each.type in ("Assign", "VariableV2"):
                raise refused(f"a branch or a loop holds no {each.type}: do that outside", each.line)
        read = [*[each for operation in inside for each in operation.inputs], *self.results]
        self.outside = [each for each in dict.fromkeys(read) if each.op.place < start or each.is_variable]

    def evaluate(self, run: Evaluation, given: dict[Tensor, Any]) -> list[Any]:
        """The values of the results in ``run``, where the tensors from outside are ``given``."""
        inner = Evaluation({**given}, run.session)
        inner.run(needed(self.results, given))
        return [inner.value_of(each).detach() for each in self.results]


def _added(
    kind: str, function: Any, operands: list[Tensor], one: list[Tensor], other: list[Tensor], name: Any
) -> Any:
    """The outputs of an operation that gives either ``one`` or ``other`` tensors, which have to be alike."""
    alike = [
        a.dtype == b.dtype and (a.shape == b.shape or None in (a.shape.dims, b.shape.dims))
        for a, b in zip(one, other)
    ]
    if len(one) != len(other) or not all(alike):
        raise TypeError(f"{kind}: both branches, and each turn of a loop, must keep types and shapes")
    several = len(one) if len(one) > 1 else None
    return get_default_graph().add(kind, function, *operands, name=name, outputs=several)


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """What ``true_fn`` defines where ``pred`` holds in a run, else what ``false_fn`` defines.

    Only one of the two is computed. What they take from outside is computed in any case.
    """
    yes, no = Part(true_fn), Part(false_fn)
    outside = list(dict.fromkeys([*yes.outside, *no.outside]))

    def choose(run: Evaluation, holds: Any, *values: Any) -> list[Any]:
        return (yes if holds else no).evaluate(run, dict(zip(outside, values)))

    return _added("cond", choose, [convert_to_tensor(pred), *outside], yes.results, no.results, name)


def while_loop(cond: Any, body: Any, loop_vars: Any, name: Any = None) -> Any:
    """``loop_vars`` after ``body`` was computed as long as ``cond`` holds."""
    first = list(map(convert_to_tensor, loop_vars))
    inner = list(map(identity, first))
    test, turn = Part(cond, *inner), Part(body, *inner)
    outside = [each for each in dict.fromkeys([*test.outside, *turn.outside]) if each not in inner]

    def loop(run: Evaluation, *values: Any) -> list[Any]:
        given = dict(zip([*inner, *outside], values))
        while run.session and test.evaluate(run, given)[0]:
            given.update(zip(inner, turn.evaluate(run, given)))
        return [given[each] for each in inner]

    return _added("while", loop, [*first, *outside], first, turn.results, name)
