"""Compiled code: groups of a graph's calls become Numba functions, in the NumPy function around them.

What has no loop, as a convolution or a draw, stays a call of NumPy; so every graph runs. Compiled functions
are kept on disk, since LLVM takes seconds where NumPy's code takes milliseconds.

References
----------
S. K. Lam, A. Pitrou and S. Seibert, "Numba: a LLVM-based Python JIT compiler", LLVM-HPC 2015.
"""

from __future__ import annotations

import copy
from itertools import chain, groupby
from operator import getitem
from typing import Any

import numpy as np

from autokit.static import emit_numpy
from autokit.static.graph import Graph, Node, substitute
from autokit.static.loops.schedule import Group, Schedule
from autokit.static.memory import Lives

FEW = 3
"""With fewer calls than this, a compiled function takes longer than NumPy."""


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
    graph = _with_own_outputs(graph)
    schedule, whole, updates = Schedule(graph), _Copy(), dict(graph.updates)
    program = whole.graph
    program.inputs = [whole.place(node) for node in graph.inputs]
    program.states = [whole.place(node) for node in graph.states]
    for is_compiled, found in groupby(schedule.items, lambda item: item[0] in schedule.work):
        items = list(found)
        nodes = list(chain(*items))
        if not is_compiled or len(nodes) < FEW:
            for node in nodes:
                whole.place(node)
            continue
        group, part = Group(schedule, items), _Copy()
        part.graph.inputs = [*group.given, *group.states]
        part.twins = {node: node for node in part.graph.inputs}
        for node in nodes:
            part.place(node)
        function: Any = Compiled(group, part.graph, f"{name}_loops_{len(program.nodes)}")
        given = tuple([whole.place(node) for node in part.graph.inputs])
        values = tuple([node.value for node in group.outputs])
        called = program.add(Node(0, "call", function.name, function, given, {}, values))
        for k, node in enumerate(group.outputs):
            whole.twins[node] = program.add(Node(0, "call", "part", getitem, (called, k), {}, node.value))
        updates = {state: node for state, node in updates.items() if group.memory.get(node) is not state}
    program.outputs = [whole.place(node) for node in graph.outputs]
    program.updates = {whole.place(state): whole.place(node) for state, node in updates.items()}
    return emit_numpy.build(program, name)


def _with_own_outputs(graph: Graph) -> Graph:
    """A copy of a graph, numbered anew, where no output lies in an input: a state may be there, too."""
    graph = graph.copy()
    owners = Lives(graph).owners
    for k, node in enumerate(graph.outputs):
        if any([owner.kind == "input" for owner in owners[node]]):
            graph.outputs[k] = graph.add(Node(0, "call", "copy", np.copy, (node,), {}, node.value))
    for number, node in enumerate(graph.nodes):
        node.id = number
    return graph


class _Copy:
    """A graph into which nodes of another one are copied."""

    def __init__(self) -> None:
        self.graph, self.twins = Graph(), dict[Node, Node]()

    def place(self, node: Node) -> Node:
        """The copy of a node, after those of its operands."""
        if node not in self.twins:
            operands = {each: self.place(each) for each in node.operands()}
            twin = self.twins[node] = self.graph.add(copy.copy(node))
            twin.args, twin.settings = substitute((node.args, node.settings), operands)
        return self.twins[node]
