"""Calls that loops know in another form: a mean is a sum and a division."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node


def lowered(graph: Graph) -> Graph:
    """``graph`` with such calls replaced; what cannot run any more is taken out."""
    nodes, graph.nodes = graph.nodes, []
    table: dict[Node, Node] = {}
    for node in nodes:
        found = _rewritten(node, graph) if node.kind in ("call", "view") else None
        if found is None:
            graph.add(node)
        else:
            table[node] = found
    graph.replace(table)
    graph.nodes = graph.needed([*graph.roots(), *graph.inputs, *graph.states])
    for number, node in enumerate(graph.nodes):
        node.id = number
    return graph


def _rewritten(node: Node, graph: Graph) -> Node | None:
    """The node whose value is that of ``node``; None if it stays as it is."""
    first = node.args[0] if node.args else None
    if node.name == "arange" and not node.operands():
        return graph.add(Node(node.id, "const", "const", value=node.value))
    if not isinstance(first, Node):
        return None
    if node.name == "mean" and node.dtype == first.dtype and node.settings.keys() <= {"axis", "keepdims"}:
        axes = node.args[1:2] or (node.settings.get("axis"),)
        return _mean(node, first, {**node.settings, "axis": axes[0]}, graph)
    return _in_bounds(node, first, graph) if node.name == "less" else None


def _new(
    node: Node,
    graph: Graph,
    name: str,
    function: Any,
    args: tuple[Any, ...],
    settings: Any = None,
    dtype: Any = None,
) -> Node:
    """A call in the place of ``node``."""
    new = Node(node.id, "call", name, function, args, settings, np.asarray(node.value, dtype))
    new.operation, new.phase, new.module, new.line = node.operation, node.phase, node.module, node.line
    return graph.add(new)


def _mean(node: Node, array: Node, settings: dict[str, Any], graph: Graph) -> Node:
    total = _new(node, graph, "add.reduce", np.add.reduce, (array,), settings)
    count = array.value.size // node.value.size
    return _new(node, graph, "divide", np.divide, (total, float(count)))


def _in_bounds(node: Node, largest: Node, graph: Graph) -> Node | None:
    """Whether indices, read as unsigned, are all below a bound: whether they are from 0 to there."""
    bits = largest.args[0] if largest.name == "maximum.reduce" else None
    if not isinstance(bits, Node) or bits.name != "view" or bits.dtype != np.uint64 or node.value.ndim:
        return None
    if (
        bits.args[0].dtype != np.int64
        or not isinstance(node.args[1], int)
        or largest.settings.get("axis") is not None
    ):
        return None
    places = bits.args[0]
    tests = [
        _new(places, graph, name, function, (places, bound), dtype=bool)
        for name, function, bound in (("greater_equal", np.greater_equal, 0), ("less", np.less, node.args[1]))
    ]
    both = _new(tests[0], graph, "logical_and", np.logical_and, tuple(tests))
    return _new(node, graph, "logical_and.reduce", np.logical_and.reduce, (both,), {"axis": None})
