"""The picture of a static graph: a box for each operation, with the calls of NumPy that it consists of."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from itertools import groupby
from typing import Any

from autokit.graphs.capture import shown_source
from autokit.graphs.model import Edge, Graph, Node
from autokit.graphs.view import View

GIVEN = {"input": "constant", "number": "constant", "const": "constant", "state": "leaf"}
"""The kinds of nodes that have a value before the first call, and as what they are drawn."""

_CALLS = 4

_MANY = 60
"""More boxes than this are folded by modules."""

PARTS: dict[str | None, Callable[[Any], Any]] = {
    "operation": lambda node: (node.phase, node.module, node.operation),
    "module": lambda node: (node.phase, node.module or node.operation),
    None: lambda node: node,
}
"""Of neighbours for which this is the same, one box is made."""


def program_graph(program: Any, fold: str | None = "auto") -> Graph:
    """The graph to draw of a graph of :mod:`autokit.static`.

    Parameters
    ----------
    program : Graph
    fold : "operation", "module", None or "auto"
        What one operation calls, or one module, is one box, where nothing else comes between; for None each
        call is one. ``"auto"`` takes modules where operations are too many to be read.
    """
    fold = readable_fold(program) if fold == "auto" else fold
    boxes = boxes_of(program, fold)
    place = {node: at for at, box in enumerate(boxes) for node in box}
    new = {node: f"new {state.label}" for state, node in program.updates.items()}
    arrows = {(place[node], place.get(operand)) for node in place for operand in node.operands()}
    pairs = sorted([(target, source) for target, source in arrows if source not in (None, target)])
    edges = [
        Edge(at, source, target, 0, "", "", boxes[source][0].kind != "input")
        for at, (target, source) in enumerate(pairs)
    ]
    outputs = tuple(dict.fromkeys([place[node] for node in program.outputs if node in place]))
    nodes = tuple([_box(at, box, new) for at, box in enumerate(boxes)])
    return Graph(nodes, tuple(edges), outputs=outputs, view=View(show=("shape", "formula")))


def readable_fold(program: Any) -> str:
    """``"operation"``, or ``"module"`` where operations are too many to be read."""
    return "module" if len(boxes_of(program, "operation")) > _MANY else "operation"


def boxes_of(program: Any, fold: str | None) -> list[list[Any]]:
    """For each box its nodes: first what is given, and then what runs, in the order of the run.

    Constants that have no name are left out.
    """
    if fold not in PARTS:
        raise ValueError(f"fold is 'operation', 'module', None or 'auto', got {fold!r}")
    shown = [node for node in program.nodes if node.kind != "const" or node.label]
    given = [[node] for node in shown if node.kind in GIVEN]
    if fold == "module":
        given = _by_owner(program, [node for node, *_ in given])
    calls = [node for node in shown if node.kind not in GIVEN]
    return given + [list(run) for _, run in groupby(calls, PARTS[fold])]


def _by_owner(program: Any, given: list[Any]) -> list[list[Any]]:
    """What is given, with the parameters of a module together, and all that an optimizer keeps."""
    users, found = program.users(), dict[Any, list[Any]]()
    for node in given:
        is_memory = {each.phase for each in users[node]} == {"update"}
        owner: Any = "memory" if is_memory else node.label.rpartition(".")[0]
        found.setdefault(owner if node.kind == "state" else node, []).append(node)
    return list(found.values())


def _box(id: int, box: list[Any], new: dict[Any, str]) -> Node:
    """The box of nodes that are drawn as one: its result is the last of them."""
    first, last = box[0], box[-1]
    kind = GIVEN.get(first.kind) or ("backward" if first.phase == "backward" else "operation")
    operations = list(dict.fromkeys([node.operation for node in box]))
    calls = operations if operations[1:] else [node.name for node in box if node.kind != "view"]
    more = [f"… {len(calls) - _CALLS} more"] if len(calls) > _CALLS else []
    written = [new[node] for node in box if node in new]
    operation = "" if first.kind in GIVEN else first.operation or last.name
    is_input = first.kind == "input"  # a placeholder, say: it needs no gradient, but is no constant
    operation = first.module if operations[1:] else operation
    label = f"{len(written)} new values" if written[1:] else written[0] if written else last.label
    if operation and operation == label:  # a name of one's own says no more than that
        operation = calls.pop()
    if first.kind == "state" and box[1:]:
        owners, names = zip(*[node.label.rpartition(".")[::2] for node in box])
        same = {*owners} == {owners[0]}
        label = f"{owners[0]}: {', '.join(names)}" if same else f"{len(box)} arrays of the optimizer"
    return Node(
        id,
        kind,
        "input" if is_input else operation,
        symbol=operation,
        formula=", ".join([*calls[:_CALLS], *more]) if operation else "",
        label=label,
        shape=last.shape or (),
        dtype=str(last.dtype or ""),
        requires_grad=first.kind == "state",
        source=shown_source((*first.line, linecache.getline(*first.line)) if first.line else None),
    )
