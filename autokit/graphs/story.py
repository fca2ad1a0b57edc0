"""A story explains a computation step by step, forward and backward: :func:`record`.

The forward half has the values in topological order.  For the backward half the engine runs a backward pass
that changes nothing, and reports its steps to a listener, so the story cannot differ from what ``backward()``
does.  The words are those of the operations' rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from autokit.base.errors import describe
from autokit.engine.tensor import Tensor
from autokit.graphs.backward import Backward
from autokit.graphs.capture import OPERATIONS_SHOWN, Capture, capture
from autokit.graphs.cells import Cells, told_cells
from autokit.graphs.check import by_assignment, central_differences
from autokit.graphs.forward import tell_forward, tell_turn
from autokit.graphs.model import NOT_COMPUTED, Change, Graph, Timeline
from autokit.graphs.outcome import accounts, tell_finish, troubles
from autokit.graphs.run import Run, rehearse
from autokit.graphs.script import Script
from autokit.graphs.tangents import Tangents, chosen_leaf
from autokit.graphs.ways import told_ways
from autokit.graphs.words import Words

OPERATIONS_IN_FULL = 100
"""A larger graph is told in one step for each value and each contribution."""


def record(
    output: Tensor | Graph,
    gradient: Tensor | None = None,
    *,
    mode: str = "backward",
    wrt: Tensor | str | None = None,
) -> Timeline:
    """The story of how ``output`` was computed, and of how its gradient flows back.

    Works before ``backward()`` and, for graphs of small tensors, after it.
    Nothing is changed: no ``.grad``, no graph, no hook runs.

    Parameters
    ----------
    output : Tensor or Graph
        The end of the computation, with a history; or a graph of objects of yours, by ``ak.graph_of``.
    gradient : Tensor, optional
        What the way back begins with, where ``output`` has more than one element;
        in forward mode the direction in which the leaf moves, all ones where it is left out.
    mode : {"backward", "forward"}
        In forward mode tangents travel with the values: they say how fast each changes as one leaf moves.
    wrt : Tensor or str, optional
        That leaf, or its name; the first one where it is left out.

    Returns
    -------
    Timeline
        With its ``graph``, and ``steps`` that each have a ``kind`` and a ``sentence``.

    Raises
    ------
    RuntimeError
        If ``output`` has no history, has more than one element and no
        ``gradient`` is given, or values that the way back needs were not kept.
    ValueError
        For a mode that there is not, and a ``wrt`` that is no leaf of the graph.

    Examples
    --------
    >>> import autokit as ak
    >>> a = ak.tensor(15.0, requires_grad=True)
    >>> c = a * 20.0
    >>> [step.sentence for step in ak.record(c).steps if step.kind == "product"]
    ['Upstream times local: 1.0 · 20.0 = 20.0 is what c sends to a.']
    >>> [step.numbers for step in ak.record(c, mode="forward").steps if step.kind == "product"]
    ['20.0 · 1.0 = 20.0']
    """
    return tell(output, gradient, mode, wrt)[0]


def tell(
    output: Tensor | Graph,
    gradient: Tensor | None = None,
    mode: str = "backward",
    wrt: Tensor | str | None = None,
) -> tuple[Timeline, Cells | None]:
    """As :func:`record`, with what can still tell of each element as long as the arrays are alive."""
    if isinstance(output, Graph) and hasattr(output, "told"):
        return output.told(), None
    if not isinstance(output, Tensor):
        raise TypeError(f"record() tells the history of a Tensor, and got {type(output).__name__}")
    if mode == "forward":
        return _in_forward_mode(output, gradient, wrt), None
    if mode != "backward":
        raise ValueError(f"mode is 'backward' or 'forward', got {mode!r}")
    if wrt is not None:
        raise ValueError("wrt= is for mode='forward'")
    captured = capture(output)
    root = output._node or output
    seed = _seed(output, gradient)
    _refuse_what_cannot_be_told(captured, output)
    script, words = _script(captured), Words(captured.graph, captured.origins)
    tell_forward(script, words)
    backward = Backward(script, words, captured, captured.graph.nodes[captured.ids[root]])
    tell_turn(script, words, backward.pending)
    with _looking_back(captured):
        found = rehearse(root, seed, backward)
        assigned = by_assignment(captured, backward.root, seed)
        ways = () if script.brief else told_ways(captured, backward, seed)
    ends = accounts(backward, found, central_differences(captured, root, seed), assigned)
    wrong = troubles(backward)
    tell_finish(backward, ends, wrong)
    nodes = tuple(replace(node, gradient=backward.gradients.get(node.id)) for node in captured.graph.nodes)
    cells = Cells(captured, backward)
    timeline = Timeline(
        replace(captured.graph, nodes=nodes),
        tuple(script.steps),
        tuple(script.chapters),
        before_the_first_step(captured.graph),
        tuple(ends),
        tuple(wrong),
        () if script.brief else told_cells(cells, len(script.steps)),
        ways,
    )
    return timeline, cells


def _in_forward_mode(output: Tensor, direction: Tensor | None, wrt: Tensor | str | None) -> Timeline:
    captured = capture(output)
    _refuse_without_history(output)
    _refuse_what_cannot_be_told(captured, output)
    leaf = chosen_leaf(captured, wrt)
    seed, script = _in_shape(direction, leaf), _script(captured)
    with _looking_back(captured):
        graph = Tangents(script, captured, output, leaf).tell(seed)
    return Timeline(graph, tuple(script.steps), tuple(script.chapters), before_the_first_step(graph))


def _script(captured: Capture) -> Script:
    operations = [node for node in captured.graph.nodes if node.kind == "operation"]
    return Script(brief=len(operations) > OPERATIONS_IN_FULL)


def _refuse_without_history(output: Tensor) -> None:
    if output.grad_fn is None:
        raise RuntimeError(
            "element 0 of tensors does not require grad and does not have a grad_fn: there is no computation "
            f"behind {describe(output)}. Make an input with requires_grad=True, and compute something from it"
        )


def _seed(output: Tensor, gradient: Tensor | None) -> Any:
    _refuse_without_history(output)
    if gradient is None and output.array.size != 1:
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs: this one is {describe(output)}; "
            "reduce it, as with .sum(), or pass gradient= of that shape"
        )
    return _in_shape(gradient, output)


def _in_shape(given: Tensor | None, of: Tensor) -> Any:
    """What is given to begin with, in the shape of a tensor; ones where nothing is."""
    if given is None:
        return np.ones_like(of.array)
    if given.array.shape != of.array.shape:
        raise RuntimeError(f"Mismatch in shape: {describe(given)} is given for {describe(of)}")
    return given.array


def _refuse_what_cannot_be_told(captured: Capture, output: Tensor) -> None:
    if captured.graph.left_out:
        raise RuntimeError(
            f"a story of more than {OPERATIONS_SHOWN:,} operations helps nobody: tell a part of it, as "
            f"record(h) for a value h on the way to {describe(output)}, or use fewer repetitions"
        )
    for node, origin in zip(captured.graph.nodes, captured.origins):
        if isinstance(origin, Run) and not origin.keeps_what_it_saved():
            raise RuntimeError(
                f"the values that {node.backward} saved were freed by backward(), and are too large to be "
                "kept for the picture. Call record() before backward(), or compute inside "
                "`with autokit.recording():`"
            )


@contextmanager
def _looking_back(captured: Capture) -> Iterator[None]:
    """Let a learner's own operations, whose graph is freed, use the small values that stayed for the picture.

    Raises
    ------
    RuntimeError
        If a value was changed in place since.
    """
    runs = [
        origin.node for origin in captured.origins if isinstance(origin, Run) and "ctx" in origin.settings
    ]
    freed = [node for node in runs if node.saved is None]
    for node in freed:
        node.saved = ()
    try:
        yield
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        raise RuntimeError(
            "the story needs the values as they were when the output was computed, and one changed since. "
            f"Call record() or animate() before optimizer.step(), or compute the output again. {error}"
        ) from None
    finally:
        for node in freed:
            node.saved = None


def before_the_first_step(graph: Graph) -> tuple[Change, ...]:
    """What is shown before the first step: nothing is computed."""
    start = []
    for node in graph.nodes:
        number = node.value.text if node.is_number and node.value else ""
        status, value = ("computed", number) if number else ("hidden", "")
        start += [Change(node.element, "status", status), Change(node.element, "value", value)]
        if node.requires_grad:
            start += [Change(node.element, "gradient", NOT_COMPUTED), Change(node.element, "pending", None)]
    for edge in graph.edges:
        start += [Change(edge.element, "status", "idle"), Change(edge.element, "flow", "")]
    return tuple(start)
