"""Compiled code: groups of a graph's calls become Numba functions, in the NumPy function around them.

What has no loop, as a convolution or a draw, stays a call of NumPy; so every graph runs. Compiled functions
are kept on disk, since LLVM takes seconds where NumPy's code takes milliseconds.

References
----------
S. K. Lam, A. Pitrou and S. Seibert, "Numba: a LLVM-based Python JIT compiler", LLVM-HPC 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import numpy as np

from autokit.static import emit_numpy
from autokit.static.graph import Graph, Node
from autokit.static.loops.elements import LARGE, call_of
from autokit.static.loops.groups import Group, Work
from autokit.static.loops.products import product_of
from autokit.static.memory import Lives

FEW = 3
"""With fewer calls than this, of arrays that are not large, a compiled function takes longer than NumPy."""

GIVEN = ("input", "state", "const")


def build(graph: Graph, name: str = "step") -> emit_numpy.Program:
    """Make code of a graph, of which Numba compiles what it can.

    Raises
    ------
    ImportError
        If Numba is not installed.
    """
    try:
        from autokit.static.loops.compiled import Compiled
    except ImportError as error:
        raise ImportError('Compiled loops need Numba: pip install ".[native]"') from error
    return emit_numpy.build(_Grouping(graph.copy(), name, Compiled).graph, name)


def sources(nodes: Iterable[Node]) -> list[Node]:
    """The given ones of ``nodes``, and in place of each view what it is a view of."""
    found: dict[Node, None] = {}
    for node in nodes:
        found |= dict.fromkeys(sources(node.operands()) if node.kind == "view" else [node])
    return list(found)


class _Grouping:
    """The graph with a node in place of each group of calls that is compiled."""

    def __init__(self, graph: Graph, name: str, compiled: Callable[..., Any]) -> None:
        self.graph, self.name, self.compiled = graph, name, compiled
        for number, node in enumerate(graph.nodes):
            node.id = number
        self.work = _work(graph)
        self.placed: set[Node] = set()
        self.order: list[Node] = []
        self._place([node for node in graph.nodes if node.kind in GIVEN])
        table: dict[Node, Node] = {}
        parts = self._parts()
        for nodes in parts:
            is_large = any([np.size(node.value) >= LARGE for node in nodes])
            if nodes[0] in self.work and (len(nodes) >= FEW or is_large):
                table |= self._compile(nodes, nodes is parts[-1])
            else:
                self._place(nodes)
        self._place([*graph.outputs, *graph.updates.values()])
        graph.nodes = self.order
        graph.replace(table)

    def _parts(self) -> list[list[Node]]:
        """Calls of NumPy by themselves, and groups as large as can be; what no such call needs comes last."""
        calls = [node for node in self.graph.nodes if node.kind not in (*GIVEN, "view")]
        others = [node for node in calls if node not in self.work]
        awaited, waiting = set(self.graph.needed(others)), set(calls)
        parts = []
        for node in others:
            if not waiting.isdisjoint(sources(node.operands())):
                part = []
                for each in calls:
                    is_next = each in self.work and each in awaited and each in waiting
                    if is_next and waiting.isdisjoint(sources(each.operands())):
                        part.append(each)
                        waiting.remove(each)
                parts.append(part)
            waiting.remove(node)
            parts.append([node])
        last = [node for node in calls if node in waiting]
        return [*parts, last] if last else parts

    def _place(self, nodes: Iterable[Node]) -> None:
        """Let nodes come next, after the views that they read."""
        for node in nodes:
            if node not in self.placed:
                self.placed.add(node)
                self._place([operand for operand in node.operands() if operand.kind == "view"])
                self.order.append(node)

    # ------------------------------------------------------------ groups

    def _compile(self, nodes: list[Node], is_last: bool) -> dict[Node, Node]:
        """Put one node in the place of a group, and one for each value that others read of it."""
        graph, members = self.graph, set(nodes)
        others = [node for node in graph.nodes if node.kind != "view" and node not in members]
        read = set(sources([*graph.outputs, *[each for node in others for each in node.operands()]]))
        updated = set(sources(graph.updates.values()))
        states = self._overwritten(members) if is_last else {}
        group = Group({node: self.work[node] for node in nodes}, read | updated, states)
        late = {state: node for state, node in graph.updates.items() if group.memory.get(node) is not state}
        read |= set(sources(late.values()))
        part = _part(graph, members, group.memory.values())
        part.outputs = [node for node in nodes if node in read]
        part.updates = {state: node for node, state in group.memory.items()}
        compiled = self.compiled(group, part, f"{self.name}_loops_{len(self.order)}")
        graph.updates = late
        values = tuple([node.value for node in part.outputs])
        whole = self._add(compiled.name, compiled, (*part.inputs, *part.states), values)
        self.placed |= members
        return {
            node: self._add("part", part_of, (whole, k), values[k]) for k, node in enumerate(part.outputs)
        }

    def _add(self, name: str, function: Any, args: tuple[Any, ...], value: Any) -> Node:
        node = Node(len(self.graph.nodes) + len(self.order), "call", name, function, args, {}, value)
        self.order.append(node)
        return node

    def _overwritten(self, members: set[Node]) -> dict[Node, Node]:
        """The new values of states that may be written over the old ones, as nothing runs after them."""
        graph, owners = self.graph, Lives(self.graph).owners
        kept = {owner for node in (*graph.outputs, *graph.updates.values()) for owner in owners[node]}
        for pair in combinations(graph.states, 2):
            if np.may_share_memory(pair[0].value, pair[1].value):
                kept |= {*pair}
        return {
            node: state
            for state, node in graph.updates.items()
            if node in members and (node.shape, node.dtype) == (state.shape, state.dtype)
            if state.value.flags.c_contiguous and state not in kept
        }


def _work(graph: Graph) -> dict[Node, Work]:
    """The calls that loops and BLAS can do; checks among them after which nothing is drawn or done."""
    work: dict[Node, Work] = {}
    for node in graph.nodes:
        if node.kind in ("draw", "effect"):
            work = {each: one for each, one in work.items() if each.kind != "check"}
        found = product_of(node) or call_of(node)
        if found is not None:
            work[node] = found
    return work


def _part(graph: Graph, members: set[Node], states: Iterable[Node]) -> Graph:
    """The members of a group, with what they read from outside as inputs and states."""
    part = Graph()
    read = {*states, *sources([each for node in members for each in node.operands()])}
    given = [node for node in graph.nodes if node in read and node not in members and node.kind != "const"]
    part.states = [node for node in given if node.kind == "state" and node.value.flags.c_contiguous]
    part.inputs = [node for node in given if node not in part.states]
    part.nodes = [*part.inputs, *part.states]
    for node in graph.needed([*members]):
        is_view = node.kind == "view" and set(part.nodes).issuperset(node.operands())
        if node in members or node.kind == "const" or is_view:
            part.add(node)
    return part


def part_of(whole: Any, place: int) -> Any:
    """One of several values."""
    return whole[place]
