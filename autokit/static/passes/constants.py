"""Constant folding: what is known before the first run is computed before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node, mapped

OF_A_SHAPE = {"ones_like", "zeros_like", "full_like", "empty_like"}
"""Calls that ask their first operand for nothing but its shape and dtype."""


def fold_constants(graph: Graph) -> str:
    """Make constants of the calls whose operands are all constants. A draw is none: each run draws anew."""
    folded = 0
    for node in graph.nodes:
        operands = node.operands()
        if node.name in OF_A_SHAPE:
            operands = operands[1:]
        known = all(operand.kind == "const" for operand in operands)
        if node.kind in ("call", "view") and known and isinstance(node.value, np.ndarray):
            # Not the example's value: that of a graph for another number of rows is none.
            args, settings = mapped((node.args, node.settings), _value)
            with np.errstate(all="ignore"):
                node.value = np.asarray(node.function(*args, **settings))  # type: ignore[misc]
            node.kind, node.name, node.function, node.args, node.settings = "const", "const", None, (), {}
            folded += 1
    return f"{folded} values known before the first run" if folded else ""


def _value(argument: Any) -> Any:
    return argument.value if isinstance(argument, Node) else argument
