"""A graph in words: a table for terminals and screen readers, and a story for a picture's alternative text."""

from __future__ import annotations

from autokit.draw.card import describe, marks_text, shape_text
from autokit.draw.escape import isolate
from autokit.draw.metrics import columns
from autokit.draw.part import LIMIT, Part, part
from autokit.graphs.model import NOT_COMPUTED, NOT_KEPT, Graph, Node, Timeline

_STORY = 12
"""How many nodes the story tells one by one."""

_HEAD = ("#", "name", "operation", "inputs", "shape", "dtype", "value", "gradient")
_WIDEST = 40


def text(data: Graph | Timeline, *, limit: int = LIMIT) -> str:
    """The graph as a plain table: one line for each node, in the order of the forward evaluation.

    Parameters
    ----------
    data : Graph or Timeline
    limit : int
        How many nodes to list at most; the last lines say what is left out.
    """
    graph = data.graph if isinstance(data, Timeline) else data
    drawn = part(graph, limit)
    inputs = _inputs(drawn)
    rows = [_HEAD, *(_row(node, inputs.get(node.id, [])) for node in drawn.nodes)]
    cells = [[_clip(isolate(cell)) for cell in row] for row in rows]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(c + " " * (w - columns(c)) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells
    ]
    if drawn.left_out:
        lines.append(f"… {drawn.left_out} not listed")
    if graph.left_out:
        lines.append(isolate(graph.left_out))
    return "\n".join(lines)


def story(data: Graph | Timeline, *, limit: int = LIMIT) -> str:
    """What is computed from what, in order: the newest dozen nodes told, the earlier ones counted."""
    graph = data.graph if isinstance(data, Timeline) else data
    drawn = part(graph, limit)
    if not drawn.nodes:
        return "An empty computation graph."
    told = part(graph, min(limit, _STORY))
    inputs = _inputs(drawn)
    count = len(graph.nodes)
    sentences = [f"Computation graph of {count:,} node{'s' * (count != 1)}."]
    if told.left_out:
        sentences.append(f"After {told.left_out}:")
    sentences += [_sentence(node, inputs.get(node.id, [])) for node in told.nodes]
    if drawn.left_out:
        sentences.append(f"Not drawn: {drawn.left_out}.")
    if graph.left_out:
        sentences.append(isolate(graph.left_out))
    return " ".join(sentences)


def _inputs(drawn: Part) -> dict[int, list[str]]:
    """For each node the names that it reads, in the order of its operands."""
    names = {node.id: isolate(node.name) for node in drawn.nodes}
    inputs: dict[int, list[str]] = {}
    for edge in sorted((*drawn.edges, *drawn.cut), key=lambda edge: (edge.target, edge.slot, edge.id)):
        inputs.setdefault(edge.target, []).append(names.get(edge.source, "…"))
    return inputs


def _row(node: Node, inputs: list[str]) -> tuple[str, ...]:
    return (
        str(node.id),
        node.name,
        node.operation if node.kind == "operation" else node.kind,
        ", ".join(inputs),
        shape_text(node.shape),
        node.dtype,
        _value(node),
        _gradient(node),
    )


def _value(node: Node) -> str:
    if node.value is None:
        return NOT_KEPT
    marks = marks_text(node.value)
    return f"{node.value.text} ({marks})" if marks else node.value.text


def _gradient(node: Node) -> str:
    if node.gradient is None:
        return NOT_COMPUTED if node.requires_grad else ""
    marks = marks_text(node.gradient)
    return f"{node.gradient.text} ({marks})" if marks else node.gradient.text


def _sentence(node: Node, inputs: list[str]) -> str:
    what = f"{node.operation} of {' and '.join(inputs)}" if node.kind == "operation" and inputs else describe(node)
    shape = f", shape {shape_text(node.shape)}" if node.shape and inputs else ""
    gradient = f", gradient {_gradient(node)}" if node.gradient else ""
    return f"{isolate(node.name)}: {isolate(what) if not inputs else what}{shape}, value {isolate(_value(node))}{gradient}."


def _clip(cell: str) -> str:
    return cell if len(cell) <= _WIDEST else f"{cell[: _WIDEST // 2]}…{cell[-(_WIDEST // 2 - 1) :]}"
