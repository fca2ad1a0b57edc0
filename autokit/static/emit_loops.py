"""Compiled code: groups of a graph's calls become Numba functions, in the NumPy function around them.

What has no loop, as a convolution or a draw, stays a call of NumPy; so every graph runs. Compiled functions
are kept on disk, since LLVM takes seconds where NumPy's code takes milliseconds.

References
----------
S. K. Lam, A. Pitrou and S. Seibert, "Numba: a LLVM-based Python JIT compiler", LLVM-HPC 2015.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from autokit.static import emit_numpy
from autokit.static.graph import Graph, Node
from autokit.static.loops.groups import Group, Work, work_of
from autokit.static.loops.lowering import lowered
from autokit.static.passes import run_passes

FEW, LARGE = 3, 4096
"""With fewer calls than this, of arrays that are all smaller, a compiled function takes longer than NumPy."""

GIVEN = ("input", "state", "const")


def build(graph: Graph, name: str = "step", measured: bool = False) -> emit_numpy.Program:
    """Make code of a graph, of which Numba compiles what it can.

    If ``measured``, groups of large arrays are timed on the example's values, and NumPy keeps those in which
    it is faster: it computes several ``exp`` or ``tanh`` at once, which compiled loops do not.

    Raises
    ------
    ImportError
        If Numba is not installed.
    """
    try:
        from autokit.static.loops.compiled import Compiled
    except ImportError as error:
        raise ImportError('Compiled loops need Numba: pip install ".[native]"') from error
    graph = _Grouping(lowered(graph.copy()), name, Compiled, measured).graph
    return emit_numpy.build(graph, name)


def owner_of(node: Node) -> Node:
    """The node in whose memory a view looks."""
    while node.kind == "view":
        node = node.args[0]
    return node


class _Grouping:
    """The graph with a node in place of each group of calls that is compiled.

    Attributes
    ----------
    parts : list of (bool, list of Node)
        The calls in an order in which groups are large; whether they are compiled.
    """

    def __init__(self, graph: Graph, name: str, compiled: Callable[..., Any], measured: bool) -> None:
        self.graph, self.name, self.compiled, self.measured = graph, name, compiled, measured
        self.work: dict[Node, Work] = {}
        for node in graph.nodes:
            found = work_of(node)
            if found is not None:
                self.work[node] = found
        self.parts = self._parts()
        self.order: list[Node] = []
        self.placed: set[Node] = set()
        self._place([node for node in graph.nodes if node.kind in GIVEN])
        table: dict[Node, Node] = {}
        for number, (is_compiled, nodes) in enumerate(self.parts):
            is_large = any([np.size(node.value) >= LARGE for node in nodes])
            if is_compiled and (len(nodes) >= FEW or is_large):
                table |= self._compile(number, nodes, measured and is_large)
            else:
                self._place(nodes)
        self._place([*graph.outputs, *graph.updates.values()])
        graph.nodes = self.order
        graph.replace(table)

    def _parts(self) -> list[tuple[bool, list[Node]]]:
        """Groups as large as can be; what no call of NumPy waits for comes last, as do changes of states."""
        needs = self._needs()
        left = [node for node in self.graph.nodes if node in needs]
        awaited = self._awaited(left, needs)
        last = [node for node in left if node not in awaited]
        left = [node for node in left if node in awaited]
        done = {node for node in self.graph.nodes if node.kind in GIVEN}
        parts = []
        while left:
            for is_compiled in (False, True):
                taken = []
                for node in left:
                    if (node in self.work) == is_compiled and needs[node] <= done:
                        taken.append(node)
                        done.add(node)
                left = [node for node in left if node not in done]
                parts += [(is_compiled, taken)] if taken else []
        return [*parts, (True, last)]

    def _awaited(self, nodes: list[Node], needs: dict[Node, set[Node]]) -> set[Node]:
        """The calls of NumPy, and all that these wait for."""
        awaited = {node for node in nodes if node not in self.work}
        for node in reversed(nodes):
            if node in awaited:
                awaited |= needs[node]
        return awaited

    def _needs(self) -> dict[Node, set[Node]]:
        """For each call those that have to run before it; effects and draws keep their order."""
        needs = {}
        latest: set[Node] = set()
        for node in self.graph.nodes:
            if node.kind not in GIVEN and node.kind != "view":
                needs[node] = {owner_of(operand) for operand in node.operands()}
                if node.kind in ("effect", "draw", "check"):
                    needs[node] |= latest
                if node.kind in ("effect", "draw"):
                    latest = {node}
        return needs

    def _place(self, nodes: list[Node]) -> None:
        """Let nodes come next, after the views that they read."""
        for node in nodes:
            if node not in self.placed:
                self.placed.add(node)
                self._place([operand for operand in node.operands() if operand.kind in ("view", "const")])
                self.order.append(node)

    # ------------------------------------------------------------ groups

    def _compile(self, number: int, nodes: list[Node], measured: bool) -> dict[Node, Node]:
        """Put one node in the place of a group, and one for each value that others read of it."""
        read = {owner_of(node) for node in self.graph.outputs}
        for other, (_, part) in enumerate(self.parts):
            if other != number:
                read |= {owner_of(operand) for node in part for operand in node.operands()}
        updates = {owner_of(node) for node in self.graph.updates.values()}
        states = self._overwritten(nodes) if number == len(self.parts) - 1 else {}
        group = Group({node: self.work[node] for node in nodes}, self.graph, read | updates, states)
        late = {
            state: node for state, node in self.graph.updates.items() if group.memory.get(node) is not state
        }
        read |= {owner_of(node) for node in late.values()}
        inside, owners = _inside(nodes, self.graph)
        given = [node for node in owners if node.kind != "state"]
        read_states = [node for node in self.graph.states if node in owners or node in states.values()]
        results = [node for node in nodes if node in read]
        compiled = self.compiled(group, inside, given, read_states, results, f"{self.name}_loops_{number}")
        if measured and _is_slower_than_numpy(compiled):
            self._place(nodes)
            return {}
        self.graph.updates = late
        values = tuple([node.value for node in results])
        args = (*given, *read_states)
        whole = self._add(None, compiled.name, compiled, args, values)
        self.placed |= set(nodes)
        return {
            node: self._add(node, "part", part_of, (whole, k), node.value) for k, node in enumerate(results)
        }

    def _add(self, like: Node | None, name: str, function: Any, args: tuple[Any, ...], value: Any) -> Node:
        node = Node(len(self.graph.nodes) + len(self.order), "call", name, function, args, {}, value)
        if like is not None:
            node.operation, node.phase, node.line = like.operation, like.phase, like.line
        self.order.append(node)
        return node

    def _overwritten(self, nodes: list[Node]) -> dict[Node, Node]:
        """The new values of states that may be written over the old ones, as nothing runs after them."""
        states = self.graph.states
        several = {
            state
            for pair in combinations(states, 2)
            if np.may_share_memory(pair[0].value, pair[1].value)
            for state in pair
        }
        outputs = {owner_of(node) for node in [*self.graph.outputs, *self.graph.updates.values()]}
        return {
            node: state
            for state, node in self.graph.updates.items()
            if node in nodes and (node.shape, node.dtype) == (state.shape, state.dtype)
            if state.value.flags.c_contiguous and state not in several | outputs
        }


def _inside(nodes: list[Node], graph: Graph) -> tuple[list[Node], list[Node]]:
    """The nodes of a group with the views and constants that they read, and what they read from outside."""
    members, owners = set(nodes), dict[Node, None]()
    waiting = list(nodes)
    while waiting:
        for operand in waiting.pop().operands():
            if operand.kind == "view" and operand not in members:
                members.add(operand)
                waiting.append(operand)
            elif operand.kind == "const":
                members.add(operand)
            elif operand not in members:
                owners[operand] = None
    return [node for node in graph.nodes if node in members], list(owners)


def _is_slower_than_numpy(compiled: Any) -> bool:
    """Whether NumPy's code computes the same in less time, on the example's values."""
    graph, count = compiled.explanation.copy(), len(compiled.given) + len(compiled.states)
    graph.inputs = graph.nodes[:count]
    for node in graph.inputs:
        node.kind = "input"
    graph.outputs = [graph.nodes[place] for place in compiled.ends]
    args = [np.array(node.value) for node in graph.inputs]
    by_numpy = emit_numpy.build(run_passes(graph)[-1].after)
    return _seconds(by_numpy, args) < _seconds(compiled.new_function(), args)


def _seconds(function: Callable[..., Any], args: list[np.ndarray]) -> float:
    """The least of a few runs."""
    times = []
    for _ in range(6):
        start = time.perf_counter()
        function(*args)
        times.append(time.perf_counter() - start)
    return min(times)


def part_of(whole: Any, place: int) -> Any:
    """One of several values."""
    return whole[place]
