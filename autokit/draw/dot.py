"""A graph is written in DOT, Graphviz's language, so that a learner can go on with it in that program."""

from __future__ import annotations

from collections.abc import Iterable

from autokit.draw.card import describe
from autokit.draw.escape import visible
from autokit.draw.part import LIMIT, part
from autokit.graphs.model import NOT_COMPUTED, NOT_KEPT, Graph, Node, Timeline


def dot(
    data: Graph | Timeline, *, direction: str | None = None, limit: int = LIMIT, depth: int | None = None
) -> str:
    """The graph as DOT.

    Parameters
    ----------
    data : Graph or Timeline
    direction, limit, depth
        As in :func:`autokit.draw.scene`.
    """
    from graphviz import Digraph

    graph = data.graph if isinstance(data, Timeline) else data
    drawn = part(graph, limit, depth)
    box = drawn.boxes()
    direction = graph.view.direction if direction is None else direction
    digraph = Digraph("autokit", node_attr={"shape": "box", "fontname": "Helvetica", "fontsize": "11"})
    digraph.attr(rankdir="TB" if direction == "TB" else "LR", ordering="in")
    for i, node in enumerate(drawn.nodes):
        style = {"leaf": "bold", "constant": "dashed"}.get(node.kind, "rounded")
        digraph.node(f"b{i}", label=_label(_lines(node)), style=style)
    for i, fold in enumerate(drawn.folds, len(drawn.nodes)):
        words = [fold.title, fold.caption, fold.holds]
        digraph.node(f"b{i}", label=_label(filter(None, words)), style="rounded", peripheries="2")
    if drawn.left_out:
        digraph.node("rest", label=_label(["…", drawn.left_out]), style="dotted")
    for edge in (*drawn.edges, *drawn.bundles, *drawn.cut):
        source = f"b{box[edge.source]}" if edge.source in box else "rest"
        style = "solid" if edge.requires_grad else "dashed"
        digraph.edge(source, f"b{box[edge.target]}", style=style)
    return str(digraph.source)


def _label(lines: Iterable[str]) -> str:
    """Lines of text that Graphviz takes as they are: no markup, and no escapes but our line breaks."""
    from graphviz import escape, nohtml

    return nohtml("\\n".join(str(escape(visible(line))) for line in lines))


def _lines(node: Node) -> list[str]:
    lines = [f"{node.symbol} {node.name}".strip(), describe(node)]
    if node.kind not in ("backward", "accumulate"):
        lines.append(f"value {node.value.text if node.value else NOT_KEPT}")
    if node.requires_grad:
        lines.append(f"grad {node.gradient.text if node.gradient else NOT_COMPUTED}")
    return lines
