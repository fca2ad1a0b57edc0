"""Algebraic simplification: calls whose result is known to be one of their operands, or a simpler call's.

Only what leaves every number as it is, is done: x − x is not 0 where x is infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Node
from autokit.static.passes.rewriting import Rewriting, Rules, is_constant, known, operand_of

IN_ORDER = "reshape squeeze expand_dims"
"""Calls that give the elements in the same order in another shape."""


def _unchanged(node: Node, new: Rewriting, x: Any, y: Any) -> Any:
    """The other operand, if one is the neutral element: 0 of sums, 1 of products."""
    neutral = 0 if node.name in ("add", "subtract") else 1
    if is_constant(y, neutral):
        return x
    return node.name in ("add", "multiply") and is_constant(x, neutral) and y


def _turned_back(node: Node, new: Rewriting, x: Any, _: Any) -> Any:
    """What was transposed twice, and lies as before: tried on an array of axes of different lengths."""
    before = operand_of(x, "transpose")
    if before is None:
        return None
    array = np.broadcast_to(0, tuple(range(2, len(node.shape) + 2)))
    twice = node.function(x.function(array, *x.args[1:]), *node.args[1:])  # type: ignore[misc]
    return twice.shape == array.shape and before


def _reshaped_once(node: Node, new: Rewriting, x: Any, _: Any) -> Any:
    before = operand_of(x, IN_ORDER)
    if before is None or before.shape == node.shape:
        return before
    return new.call(node, np.reshape, before, node.shape, kind=node.kind)


def _chosen_everywhere(node: Node, new: Rewriting, mask: Any, x: Any) -> Any:
    mask = known(mask)
    return mask is not None and mask.dtype == bool and mask.all() and x


def _equal_to_itself(node: Node, new: Rewriting, x: Any, y: Any) -> Any:
    return x is y and x.dtype.kind in "biu" and new.constant(node, np.ones(node.shape, bool))


RULES: Rules = {
    "a copy of x = x": ("copy positive", lambda node, new, x, y: x),
    "x ± 0 = x": ("add subtract", _unchanged),
    "x · 1 = x": ("multiply divide power", _unchanged),
    "−(−x) = x": ("negative", lambda node, new, x, y: operand_of(x, "negative")),
    "(xᵀ)ᵀ = x": ("transpose", _turned_back),
    "x in its own shape = x": ("reshape broadcast_to", lambda node, new, x, y: x),
    "reshape of a reshape = reshape": (IN_ORDER, _reshaped_once),
    "where(true, x, y) = x": ("where", _chosen_everywhere),
    "x = x is true, of whole numbers": ("equal", _equal_to_itself),
}
"""Each is applied where the result has the shape and the dtype of the node that it replaces."""
