"""Compiled code: groups of a graph's calls become Numba functions, in the NumPy function around them.

What has no loop, as a convolution or a draw, stays a call of NumPy; so every graph runs. Compiled functions
are kept on disk, since LLVM takes seconds where NumPy's code takes milliseconds.

References
----------
S. K. Lam, A. Pitrou and S. Seibert, "Numba: a LLVM-based Python JIT compiler", LLVM-HPC 2015.
"""

from __future__ import annotations

from itertools import groupby
from operator import getitem
from typing import Any

import numpy as np

from autokit.static import emit_numpy
from autokit.static.graph import Graph, Node
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
        from autokit.static.loops.compiled import Compiled, Group
        from autokit.static.loops.elements import has_loop
    except ImportError as error:
        raise ImportError('Compiled loops need Numba: pip install ".[native]"') from error
    graph = _prepared(graph)
    program, parts, written = graph.copy(), dict[Node, Node](), dict[Node, Node]()
    twins, roots = dict(zip(graph.nodes, program.nodes)), [*program.inputs, *program.states]
    acts = any([node.kind == "draw" for node in graph.nodes])  # and checks stand between them
    calls = [node for node in graph.nodes if node.kind in ("call", "draw", "check")]
    runs = groupby(calls, lambda node: has_loop(node) and not (acts and node.kind == "check"))
    for run in [list(nodes) for is_compiled, nodes in runs if is_compiled]:
        if len(run) >= FEW:
            group = Group(graph, run, run[-1] is calls[-1])
            function: Any = Compiled(graph, group, f"{name}_loops_{len(roots)}")
            values = tuple([node.value for node in group.outputs])
            given = tuple([twins[node] for node in group.given])
            call = Node(0, "call", function.name, function, given, {}, values)
            found = [Node(0, "call", "part", getitem, (call, k), {}, value) for k, value in enumerate(values)]
            parts |= zip([twins[node] for node in group.outputs], found)
            start = program.nodes.index(twins[run[0]])
            program.nodes[start:start] = [call, *found]
            roots.append(call)
            written |= group.memory
    program.updates = {
        twins[state]: twins[node] for state, node in graph.updates.items() if written.get(node) is not state
    }
    program.replace(parts)
    program.nodes = program.needed([*roots, *program.roots()])
    return emit_numpy.build(program, name)


def _prepared(graph: Graph) -> Graph:
    """A copy of a graph that begins with what is given, and where no output lies in an input.

    A state may lie in the same memory.
    """
    graph = graph.copy()
    owners = Lives(graph).owners
    for k, node in enumerate(graph.outputs):
        if any([owner.kind == "input" for owner in owners[node]]):
            graph.outputs[k] = graph.add(Node(0, "call", "copy", np.copy, (node,), {}, node.value))
    graph.nodes.sort(key=lambda node: node.kind not in ("input", "state", "const", "number"))
    return graph
