"""Constant folding: what is known before the first run is computed before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rewriting, evaluated, rewrite

OF_A_SHAPE = {"ones_like", "zeros_like", "full_like", "empty_like"}
"""Calls that ask their first operand for nothing but its shape and dtype."""


def fold_constants(graph: Graph) -> str:
    """Make constants of the calls whose operands are all constants. A draw is none: each run draws anew."""
    return rewrite(graph, {"values known before the first run": ("", _folded)})


def _folded(node: Node, new: Rewriting, *_: Any) -> Node | None:
    """A constant, computed from constants: the node's own value is an example's, and may have no numbers."""
    operands = node.operands()[1:] if node.name in OF_A_SHAPE else node.operands()
    known = all([operand.kind == "const" for operand in operands])
    if node.kind == "const" or not known or not isinstance(node.value, np.ndarray):
        return None
    return new.constant(node, evaluated(node.function, node.args, node.settings))
