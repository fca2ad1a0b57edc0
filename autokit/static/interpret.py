"""Run a static graph as it stands, one node after the other: what the generated code has to agree with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node, substitute


def interpret(nodes: Iterable[Node], values: dict[Node, Any]) -> Iterator[tuple[Node, Any]]:
    """Compute ``nodes`` in their order; yield each with its value.

    Parameters
    ----------
    nodes : iterable of Node
        With the operands of each before it.
    values : dict
        The values of inputs and states; those of the other nodes are added.

    Raises
    ------
    Exception
        What a check explains, where its condition is false.
    """
    for node in nodes:
        if node.kind == "const":
            values[node] = node.value
        elif node.kind == "check":
            condition, *operands = substitute(node.args, values)
            if not condition:
                raise node.function(*operands)  # type: ignore[misc]
            values[node] = None
        elif node.function is not None:
            args, settings = substitute((node.args, node.settings), values)
            value = node.function(*args, **settings)
            values[node] = np.asarray(value, node.dtype) if isinstance(value, np.generic | float) else value
        yield node, values[node]


def node_by_node(graph: Graph, inputs: Sequence[Any]) -> Iterator[tuple[Node, Any]]:
    """Each node of ``graph`` with its value, computed now; states stay as they are."""
    states: dict[Node, Any] = {node: node.value for node in graph.states}
    return interpret(graph.nodes, states | dict(zip(graph.inputs, inputs)))
