"""Algebraic simplification: calls whose result is known to be one of their operands, or a simpler call's.

Only what leaves every number as it is, is done: x − x is not 0 where x is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rewriting, is_constant


class Rule(NamedTuple):
    """One simplification: of which calls, when, what they become, and how that is said.

    ``when`` and ``becomes`` are given the node, its first and its second operand.
    """

    names: str
    when: Callable[[Node, Any, Any], bool]
    becomes: Callable[[Node, Any, Any], Any]
    words: str


def _name(argument: Any) -> str:
    return argument.name if isinstance(argument, Node) and not argument.settings else ""


def _is_reversed(node: Node, inner: Any) -> bool:
    """Whether a transposition undoes the one before."""
    if _name(inner) != "transpose":
        return False
    first, second = _order(inner), _order(node)
    return [first[axis] for axis in second] == sorted(first)


def _order(node: Node) -> list[int]:
    """The axes of a transposition's operand, in their new order."""
    dims = len(node.shape)
    axes = node.args[1] if len(node.args) > 1 else None
    return [axis % dims for axis in (reversed(range(dims)) if axes is None else axes)]


RULES = (
    Rule("copy positive", lambda node, x, _: True, lambda node, x, _: x, "a copy of x = x"),
    Rule("multiply", lambda node, x, y: is_constant(y, 1), lambda node, x, _: x, "x · 1 = x"),
    Rule("multiply", lambda node, x, y: is_constant(x, 1), lambda node, _, y: y, "1 · x = x"),
    Rule("divide power", lambda node, x, y: is_constant(y, 1), lambda node, x, _: x, "x / 1 = x, x¹ = x"),
    Rule("add subtract", lambda node, x, y: is_constant(y, 0), lambda node, x, _: x, "x ± 0 = x"),
    Rule("add", lambda node, x, y: is_constant(x, 0), lambda node, _, y: y, "0 + x = x"),
    Rule(
        "negative",
        lambda node, x, _: _name(x) == "negative",
        lambda node, x, _: x.args[0],
        "−(−x) = x",
    ),
    Rule(
        "reshape broadcast_to",
        lambda node, x, _: x.shape == node.shape,
        lambda node, x, _: x,
        "x in its own shape = x",
    ),
    Rule(
        "where",
        lambda node, x, _: (
            isinstance(x, Node) and x.kind == "const" and x.value.dtype == bool and x.value.all()
        ),
        lambda node, _, y: y,
        "where(true, x, y) = x",
    ),
    Rule("transpose", lambda node, x, _: _is_reversed(node, x), lambda node, x, _: x.args[0], "(xᵀ)ᵀ = x"),
)
"""Each is applied where the result has the shape and the dtype of the node that it replaces."""


IN_ORDER = ("reshape", "squeeze", "expand_dims")
"""Calls that give the elements in the same order in another shape."""


def simplify(graph: Graph) -> str:
    """Apply the table of rules to each call."""
    return Rewriting(graph).run(_simplified)


def _simplified(node: Node, rewriting: Rewriting) -> Node | None:
    if node.settings or not node.args or not isinstance(node.value, np.ndarray):
        return None
    x, y = (*node.args, None)[:2]
    for rule in RULES:
        if node.name in rule.names.split() and rule.when(node, x, y):
            other = rule.becomes(node, x, y)
            if isinstance(other, Node) and (other.shape, other.dtype) == (node.shape, node.dtype):
                rewriting.said[rule.words] += 1
                return other
    if node.name == "equal" and x is y and isinstance(x, Node) and x.dtype.kind in "biu":
        rewriting.said["x = x is true, of whole numbers"] += 1
        return rewriting.constant(node, np.ones(node.shape, bool))
    if node.name in IN_ORDER and _name(x) in IN_ORDER:
        rewriting.said["reshape of a reshape = reshape"] += 1
        first = x.args[0]
        if first.shape == node.shape:
            return first
        return rewriting.call(node, "reshape", np.reshape, first, node.shape, kind=node.kind)
    return None
