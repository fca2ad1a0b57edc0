"""The backward graph: the ``grad_fn`` of each operation, its saved tensors, and ``AccumulateGrad`` of leaves.

It is computed from the forward graph alone: where a value is an operand of an operation, its gradient is a
result of that operation's ``grad_fn``.
"""

from __future__ import annotations

from autokit.graphs.model import NOT_KEPT, Edge, Graph, Group, Node
from autokit.graphs.words import says


def way_back(graph: Graph) -> Graph:
    """The backward graph of ``graph``, in the order in which the engine takes it: newest first."""
    order = [node for node in reversed(graph.nodes) if node.requires_grad]
    place = {node.id: id for id, node in enumerate(order)}
    operands: dict[int, list[Edge]] = {}
    for edge in graph.edges:
        operands.setdefault(edge.target, []).append(edge)
    edges = [
        Edge(0, place[edge.target], place[edge.source], edge.slot, "", edge.local, True)
        for node in order
        for edge in operands.get(node.id, ())
        if edge.requires_grad
    ]
    return Graph(
        nodes=tuple(_node(graph, node, place[node.id], operands.get(node.id, [])) for node in order),
        edges=tuple(
            Edge(id, e.source, e.target, e.slot, e.operand, e.local, True) for id, e in enumerate(edges)
        ),
        groups=tuple(
            Group(group.path, group.label, members)
            for group in graph.groups
            if (members := tuple(sorted(place[id] for id in group.nodes if id in place)))
        ),
        outputs=tuple(place[id] for id in graph.outputs if id in place),
        left_out=graph.left_out,
    )


def _node(graph: Graph, node: Node, id: int, operands: list[Edge]) -> Node:
    leaf = node.kind == "leaf"
    return Node(
        id=id,
        kind="accumulate" if leaf else "backward",
        operation=node.backward,
        symbol="",
        formula=f"{node.name}.grad += g" if leaf else f"{node.name} = {node.formula}",
        backward=node.backward,
        label="AccumulateGrad" if leaf else node.backward,
        shape=node.shape,
        dtype=node.dtype,
        value=None,
        gradient=node.gradient,
        requires_grad=True,
        module=node.module,
        source=node.source,
        saved=tuple(_saved(graph, node, name, operands) for name in node.saved),
    )


def _saved(graph: Graph, node: Node, name: str, operands: list[Edge]) -> str:
    """What is saved, by the learner's name, and its value."""
    sources = [graph.nodes[edge.source] for edge in operands]
    kept = next((source for source in sources if source.name == name), node)
    value = kept.value.text if kept.value is not None else NOT_KEPT
    return kept.name if says(kept.name, value) else f"{kept.name} = {value}"
