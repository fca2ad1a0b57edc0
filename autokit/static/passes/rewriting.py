"""How a pass puts new nodes into a graph in place of old ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node, mapped, substitute


class Rewriting:
    """A walk through a graph that gives nodes to read in place of others.

    Attributes
    ----------
    graph : Graph
    nodes : list of Node
        The new list of the graph's nodes, as far as the walk has come.
    said : Counter
        What was done, in words, and how often.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph, self.nodes, self.said = graph, list[Node](), Counter[str]()
        self._next = max([node.id for node in graph.nodes], default=0) + 1

    def run(self, change: Callable[[Node, Rewriting], Node | None]) -> str:
        """Ask ``change`` of each node which one is to be read in its place; return in words what was done."""
        table: dict[Node, Node] = {}
        for node in self.graph.nodes:
            node.args, node.settings = substitute(node.args, table), substitute(node.settings, table)
            other = change(node, self) if node.kind in ("call", "const", "view") else None
            if other is None:
                self.nodes.append(node)
            else:
                table[node] = other
        self.graph.nodes = self.nodes
        self.graph.replace(table)
        return "; ".join([f"{words} ({count}×)" for words, count in self.said.items()])

    def call(
        self,
        like: Node,
        name: str,
        function: Any,
        *args: Any,
        kind: str = "call",
        **settings: Any,
    ) -> Node:
        """A new node, which is part of the same operation and line as ``like``."""
        values = mapped((args, settings), lambda one: one.value if isinstance(one, Node) else one)
        with np.errstate(all="ignore"):
            value = np.asarray(function(*values[0], **values[1]))
        return self.add(like, kind, name, function, args, settings, value)

    def constant(self, like: Node, value: np.ndarray) -> Node:
        """A new constant."""
        return self.add(like, "const", "const", None, (), {}, value)

    def add(self, like: Node, *facts: Any) -> Node:
        """A new node of this kind, name, function, arguments, settings and value."""
        node = Node(self._next, *facts, operation=like.operation, phase=like.phase, line=like.line)
        node.module = like.module
        self._next += 1
        self.nodes.append(node)
        return node


def is_constant(argument: Any, number: float | None = None) -> bool:
    """Whether an argument is one number in all its elements, and that ``number`` where it is given."""
    if isinstance(argument, Node):
        if argument.kind != "const":
            return False
        argument = argument.value
    if not isinstance(argument, int | float | np.number | np.ndarray) or isinstance(argument, bool):
        return False
    array = np.asarray(argument)
    if array.dtype.kind not in "iuf" or not array.size:
        return False
    return bool((array == (array.flat[0] if number is None else number)).all())
