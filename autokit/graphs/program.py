"""The picture of a static graph: a box for each operation, with the calls of NumPy that it consists of."""

from __future__ import annotations

import linecache
from typing import Any

from autokit.graphs.capture import shown_source
from autokit.graphs.model import Edge, Graph, Node
from autokit.graphs.view import View

_ENDS = {"input": "constant", "number": "constant", "state": "leaf"}
_CALLS = 4


def program_graph(program: Any, fold: str | None = "operation") -> Graph:
    """The graph to draw of a graph of :mod:`autokit.static`.

    Parameters
    ----------
    program : Graph
    fold : "operation" or None
        What one operation calls is one box, where nothing else comes between; for None each call is one.
    """
    boxes = boxes_of(program, fold)
    place = {node: at for at, box in enumerate(boxes) for node in box}
    new = {node: f"new {state.label}" for state, node in program.updates.items()}
    pairs = dict.fromkeys(
        (place[operand], place[node])
        for node in place
        for operand in node.operands()
        if operand in place and place[operand] != place[node]
    )
    edges = [
        Edge(at, source, target, 0, "", "", boxes[source][0].kind != "input")
        for at, (source, target) in enumerate(sorted(pairs, key=lambda pair: pair[::-1]))
    ]
    outputs = tuple(dict.fromkeys([place[node] for node in program.outputs if node in place]))
    nodes = tuple([_box(at, box, new) for at, box in enumerate(boxes)])
    return Graph(nodes, tuple(edges), outputs=outputs, view=View(show=("shape", "dtype", "formula")))


def boxes_of(program: Any, fold: str | None = "operation") -> list[list[Any]]:
    """For each box its nodes: first what is given, and then what runs, in the order of the run."""
    if fold not in ("operation", None):
        raise ValueError(f"fold is 'operation' or None, got {fold!r}")
    shown = [node for node in program.nodes if node.kind != "const"]
    boxes = [[node] for node in shown if node.kind in _ENDS]
    key: Any = None
    for node in [node for node in shown if node.kind not in _ENDS]:
        last, key = key, (node.phase, node.operation)
        if key != last or fold is None:
            boxes.append([])
        boxes[-1].append(node)
    return boxes


def _box(id: int, box: list[Any], new: dict[Any, str]) -> Node:
    """The box of nodes that are drawn as one: its result is the last of them."""
    first, last = box[0], box[-1]
    kind = _ENDS.get(first.kind) or ("backward" if first.phase == "backward" else "operation")
    calls = [node.name for node in box if node.kind != "view"]
    more = [f"… {len(calls) - _CALLS} more"] if len(calls) > _CALLS else []
    written = [new[node] for node in box if node in new]
    label = written[0] if len(written) == 1 else f"{len(written)} new values" if written else last.label
    line = first.line and (*first.line, linecache.getline(*first.line))
    operation = "" if first.kind in _ENDS else first.operation or last.name
    return Node(
        id,
        kind,
        operation,
        symbol=operation,
        formula=", ".join([*calls[:_CALLS], *more]) if operation else "",
        label=label,
        shape=last.shape or (),
        dtype=str(last.dtype or ""),
        requires_grad=first.kind == "state",
        source=shown_source(line or None),
    )
