"""Common subexpression elimination: what was computed before is not computed again.

References
----------
J. Cocke, "Global common subexpression elimination", SIGPLAN Notices 5(7), 1970.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import rewrite

COMPARED = 1 << 16
"""Constants of up to so many bytes are compared by their elements."""


def eliminate_common_subexpressions(graph: Graph) -> str:
    """Read the first of several equal calls, or constants, in place of the others. Each draw is its own."""
    known: dict[Any, Node] = {}

    def first_of(node: Node, *_: Any) -> Node | None:
        what = (node.value,) if node.kind == "const" else (node.args, node.settings)
        first = known.setdefault((node.name, node.function, _key(what)), node)
        return None if first is node else first

    return rewrite(graph, {"values that were computed before": ("", first_of)})


def _key(argument: Any) -> Any:
    """Equal for equal arguments. 1, 1.0, True, 0.0 and -0.0 all differ: so may the results."""
    if isinstance(argument, dict):
        return tuple([(name, _key(value)) for name, value in argument.items()])
    if isinstance(argument, tuple | list):
        return type(argument), *map(_key, argument)
    if isinstance(argument, np.ndarray) and argument.nbytes <= COMPARED and not argument.dtype.hasobject:
        return argument.shape, argument.dtype, argument.tobytes()
    if argument is None or isinstance(argument, int | float | str | slice | np.dtype | np.generic):
        return type(argument), repr(argument)
    return id(argument)
