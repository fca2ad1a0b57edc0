"""How passes put new nodes into a graph in place of old ones, by tables of rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from autokit.static.calls import is_reduction
from autokit.static.graph import Graph, Node, evaluated, outline, substitute

Rule = Callable[[Node, "Rewriting", Any, Any], Any]
"""Gives the node to read in place of one, or something else where there is none.

It is called with the node, the walk to which it may add nodes, and the node's first two operands.
"""

Rules = dict[str, tuple[str, Rule]]
"""Rules, each with the names of the calls that it is for, by the words that say what it does."""


class Rewriting:
    """The list of a graph's nodes while it is written anew: ``nodes``, as far as the walk has come.

    ``firsts`` has the first node of each call, for a rule that compares them.
    """

    def __init__(self, graph: Graph) -> None:
        self.nodes, self.firsts = list[Node](), dict[Any, Node]()
        self._ids = count(max([node.id for node in graph.nodes], default=0) + 1)

    def call(self, like: Node, function: Any, *args: Any, kind: str = "call", **settings: Any) -> Node:
        """A new node, which is part of the same operation and line as ``like``."""
        facts = {"function": function, "args": args, "settings": settings}
        return self._add(
            like, kind=kind, name=function.__name__, value=outline(np.asarray(evaluated(**facts))), **facts
        )

    def constant(self, like: Node, value: np.ndarray) -> Node:
        """A new constant."""
        return self._add(like, kind="const", name="const", function=None, args=(), settings={}, value=value)

    def _add(self, like: Node, **facts: Any) -> Node:
        node = replace(like, id=next(self._ids), label="", **facts)
        self.nodes.append(node)
        return node


def rewrite(graph: Graph, rules: Rules) -> tuple[Graph, str]:
    """Put in place of each call, view and constant what the first fitting rule gives; say which did.

    A rule that names calls is for those without settings, and for reductions; one without names is for all.
    Nodes that read what they read before are nodes of both graphs.
    """
    new, table, said = Rewriting(graph), dict[Node, Node](), Counter[str]()
    for node in graph.nodes:
        now = node if table.keys().isdisjoint(node.operands()) else node.reading(table)
        other, words = _rewritten(now, new, rules) if now.kind in ("call", "const", "view") else (now, "")
        if other is now:
            new.nodes.append(now)
        if other is not node:
            table[node] = other
        said[words] += 1
    outputs, updates = substitute((graph.outputs, graph.updates), table)
    words = "; ".join([f"{words} ({times}×)" for words, times in said.items() if words])
    return replace(graph, nodes=new.nodes, outputs=outputs, updates=updates), words


def _rewritten(node: Node, new: Rewriting, rules: Rules) -> tuple[Node, str]:
    """What the first rule gives that gives another node of the same shape and dtype, and its words."""
    x, y = (*node.args, None, None)[:2]
    for words, (names, rule) in rules.items():
        if not names or _is_call(node, names):
            other = rule(node, new, x, y)
            if isinstance(other, Node) and (other.shape, other.dtype) == (node.shape, node.dtype):
                return other, words
    return node, ""


def operand_of(node: Any, names: str, *before: str) -> Any:
    """The first operand of a call of one of these names, or of such a call of its operand; else None."""
    found = node.args[0] if isinstance(node, Node) and _is_call(node, names) else None
    return operand_of(found, *before) if before else found


def _is_call(node: Node, names: str) -> bool:
    return node.name in names.split() and (not node.settings or is_reduction(node))


def known(argument: Any) -> Any:
    """What an argument is in each run, as an array; None if that is not known."""
    if isinstance(argument, Node):
        return argument.value if argument.kind == "const" else None
    return np.asarray(argument)


def is_constant(argument: Any, number: float | None = None) -> bool:
    """Whether an argument is one number in all its elements, and that ``number`` where it is given."""
    array = known(argument)
    if isinstance(argument, bool) or array is None or array.dtype.kind not in "iuf" or not array.size:
        return False
    return bool((array == (array.flat[0] if number is None else number)).all())
