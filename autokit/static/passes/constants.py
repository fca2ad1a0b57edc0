"""Constant folding: what is known before the first run is computed before it."""

from __future__ import annotations

import numpy as np

from autokit.static.graph import Graph, Node, mapped

OF_A_SHAPE = {"ones_like", "zeros_like", "full_like", "empty_like"}
"""Calls that ask their first operand for nothing but its shape and dtype."""


def fold_constants(graph: Graph) -> str:
    """Make constants of the calls whose operands are all constants. A draw is none: each run draws anew."""
    folded = 0
    for node in graph.nodes:
        operands = node.operands()[1:] if node.name in OF_A_SHAPE else node.operands()
        known = all(operand.kind == "const" for operand in operands)
        if node.kind in ("call", "view") and known and isinstance(node.value, np.ndarray):
            node.value = evaluated(node)
            node.kind, node.name, node.function, node.args, node.settings = "const", "const", None, (), {}
            folded += 1
    return f"{folded} values known before the first run" if folded else ""


def evaluated(node: Node) -> np.ndarray:
    """The value of a call, from those of its operands.

    Its own is an example's, and where the number of rows is unknown, it may have no numbers at all.
    """
    args, settings = mapped(
        (node.args, node.settings), lambda one: one.value if isinstance(one, Node) else one
    )
    with np.errstate(all="ignore"):
        return np.asarray(node.function(*args, **settings))  # type: ignore[misc]
