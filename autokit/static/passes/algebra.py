"""Algebraic simplification: calls whose result is known to be one of their operands, or a simpler call's.

Only what leaves every number as it is, is done: x − x is not 0 where x is infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rules, is_constant, rewrite

IN_ORDER = "reshape squeeze expand_dims"
"""Calls that give the elements in the same order in another shape."""


def simplify(graph: Graph) -> str:
    """Apply the table of rules to each call."""
    return rewrite(graph, RULES)


def _is_call(argument: Any, names: str) -> bool:
    """Whether an operand is a call of one of these names, without settings."""
    return isinstance(argument, Node) and not argument.settings and argument.name in names.split()


def _is_undone(node: Node, inner: Node) -> bool:
    """Whether a transposition undoes the one before: tried on an array of axes of different lengths."""
    array = np.broadcast_to(0, tuple(range(2, len(node.shape) + 2)))
    turned = inner.function(array, *inner.args[1:])  # type: ignore[misc]
    return node.function(turned, *node.args[1:]).shape == array.shape  # type: ignore[misc]


def _is_true(mask: Any) -> bool:
    return isinstance(mask, Node) and mask.kind == "const" and mask.dtype == bool and mask.value.all()


def _is_whole(x: Any) -> bool:
    return isinstance(x, Node) and x.dtype.kind in "biu"


RULES: Rules = {
    "a copy of x = x": ("copy positive", lambda node, new, x, y: x),
    "x · 1 = x": ("multiply", lambda node, new, x, y: is_constant(y, 1) and x),
    "1 · x = x": ("multiply", lambda node, new, x, y: is_constant(x, 1) and y),
    "x / 1 = x, x¹ = x": ("divide power", lambda node, new, x, y: is_constant(y, 1) and x),
    "x ± 0 = x": ("add subtract", lambda node, new, x, y: is_constant(y, 0) and x),
    "0 + x = x": ("add", lambda node, new, x, y: is_constant(x, 0) and y),
    "−(−x) = x": ("negative", lambda node, new, x, y: _is_call(x, "negative") and x.args[0]),
    "x in its own shape = x": ("reshape broadcast_to", lambda node, new, x, y: x),
    "(xᵀ)ᵀ = x": (
        "transpose",
        lambda node, new, x, y: _is_call(x, "transpose") and _is_undone(node, x) and x.args[0],
    ),
    "x in another shape and back = x": (
        IN_ORDER,
        lambda node, new, x, y: _is_call(x, IN_ORDER) and x.args[0],
    ),
    "reshape of a reshape = reshape": (
        IN_ORDER,
        lambda node, new, x, y: (
            _is_call(x, IN_ORDER) and new.call(node, np.reshape, x.args[0], node.shape, kind=node.kind)
        ),
    ),
    "where(true, x, y) = x": ("where", lambda node, new, x, y: _is_true(x) and y),
    "x = x is true, of whole numbers": (
        "equal",
        lambda node, new, x, y: x is y and _is_whole(x) and new.constant(node, np.ones(node.shape, bool)),
    ),
}
"""Each is applied where the result has the shape and the dtype of the node that it replaces."""
