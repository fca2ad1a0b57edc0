"""Calls that need not run: their results are not read, known before the first run, or computed already.

References
----------
J. Cocke, "Global common subexpression elimination", SIGPLAN Notices 5(7), 1970.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node, evaluated
from autokit.static.passes.rewriting import Rewriting, Rules

OF_A_SHAPE = {"ones_like", "zeros_like", "full_like", "empty_like"}
"""Calls that ask their first operand for nothing but its shape and dtype."""

COMPARED = 1 << 16
"""Constants of up to so many bytes are compared by their elements."""


def eliminate_dead_code(graph: Graph) -> tuple[Graph, str]:
    """Leave out the nodes that no root of the graph needs; inputs and states stay."""
    nodes = graph.needed([*graph.roots(), *graph.inputs, *graph.states])
    dead = len(graph.nodes) - len(nodes)
    return replace(graph, nodes=nodes), f"{dead} values that nothing needs" if dead else ""


def _folded(node: Node, new: Rewriting, *_: Any) -> Any:
    """A constant, computed from constants: the node's own value is an example's, and may have no numbers."""
    operands = node.operands()[1:] if node.name in OF_A_SHAPE else node.operands()
    known = all(operand.kind == "const" for operand in operands)
    if node.kind == "const" or not known or not isinstance(node.value, np.ndarray):
        return None
    return new.constant(node, np.asarray(evaluated(node.function, node.args, node.settings)))


FOLDING: Rules = {"values known before the first run": ("", _folded)}
"""Makes constants of the calls whose operands are all constants. A draw is none: each run draws anew."""


def _first_of(node: Node, new: Rewriting, *_: Any) -> Any:
    what = node.value if node.kind == "const" else (node.args, node.settings)
    first = new.firsts.setdefault((node.name, node.function, _key(what)), node)
    return None if first is node else first


SHARING: Rules = {"values that were computed before": ("", _first_of)}
"""Lets the first of several equal calls, or constants, be read in place of the others, but never a draw."""


def _key(argument: Any) -> Any:
    """Equal for equal arguments. 1, 1.0, True, 0.0 and -0.0 all differ: so may the results."""
    if isinstance(argument, Node):
        return id(argument)
    if isinstance(argument, dict):
        return _key(tuple(argument.items()))
    if isinstance(argument, tuple | list):
        return type(argument), *map(_key, argument)
    if isinstance(argument, np.ndarray) and argument.nbytes <= COMPARED and not argument.dtype.hasobject:
        return argument.shape, argument.dtype, argument.tobytes()
    if argument is None or isinstance(argument, int | float | str | slice | np.dtype | np.generic):
        return type(argument), repr(argument)
    return id(argument)
