"""Compiled code: groups of a graph's calls become Numba functions, in the NumPy function around them.

What has no loop, as a convolution or a draw, stays a call of NumPy; so every graph runs. Compiled functions
are kept on disk, since LLVM takes seconds where NumPy's code takes milliseconds.

References
----------
S. K. Lam, A. Pitrou and S. Seibert, "Numba: a LLVM-based Python JIT compiler", LLVM-HPC 2015.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from autokit.static import emit_numpy
from autokit.static.graph import Graph, Node
from autokit.static.traced import getitem

CALLS = ("view", "call", "draw", "check")
"""The kinds of the nodes that are computed in each run."""

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
        from autokit.static.loops.writing import Loops, has_loop
    except ImportError as error:
        raise ImportError('Compiled loops need Numba: pip install ".[native]"') from error
    graph = graph.copy()
    graph.nodes.sort(key=lambda node: node.kind in CALLS)  # what is given comes before all calls
    program = graph.copy()
    twins, roots = dict(zip(graph.nodes, program.nodes)), [*program.inputs, *program.states]
    calls = [node for node in graph.nodes if node.kind in CALLS[1:]]
    for run in [list(nodes) for is_compiled, nodes in groupby(calls, has_loop) if is_compiled]:
        if len(run) >= FEW:
            function: Any = Loops(graph, run, f"{name}_loops_{len(roots)}", run[-1] is calls[-1])
            values = tuple([node.value for node in function.outputs])
            given = tuple([twins[node] for node in function.given])
            call = Node(0, "call", function.name, function, given, {}, values)
            program.nodes.insert(program.nodes.index(twins[run[0]]), call)
            roots.append(call)
            for k, part in enumerate([twins[node] for node in function.outputs]):
                part.name, part.function, part.args, part.settings = "part", getitem, (call, k), {}
            # No check may stay, which would run for its own sake.
            for node in run:
                twins[node].kind = "call"
            for state in function.states.values():
                del program.updates[twins[state]]
    program.nodes = program.needed([*roots, *program.roots()])
    return emit_numpy.build(program, name)
