"""Dead code elimination: what no output, update, check, draw or effect is computed from does not run."""

from __future__ import annotations

from autokit.static.graph import Graph


def eliminate_dead_code(graph: Graph) -> str:
    """Leave out the nodes that no root of the graph needs; inputs and states stay."""
    before = len(graph.nodes)
    graph.nodes = graph.needed([*graph.roots(), *graph.inputs, *graph.states])
    dead = before - len(graph.nodes)
    return f"{dead} values that nothing needs" if dead else ""
