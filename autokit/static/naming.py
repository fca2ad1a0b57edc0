"""Names for the values of a static graph, as a reader would choose them."""

from __future__ import annotations

import re

import numpy as np

from autokit.static.graph import Graph, Node

CALLS = {
    "chosen": "where",
    "converted": "astype",
    "difference": "subtract",
    "exponential": "exp",
    "joined": "concatenate",
    "larger": "maximum",
    "largest": "maximum.reduce",
    "logarithm": "log",
    "mask": "equal not_equal greater greater_equal less less_equal",
    "negated": "negative",
    "product": "multiply dot matmul",
    "quotient": "divide",
    "root": "sqrt",
    "squared": "square",
    "taken": "take",
    "total": "add add.reduce",
    "written": "put put_flat one_hot write",
}
WORDS = {name: word for word, names in CALLS.items() for name in names.split()}
"""What the results of calls are called inside of an operation."""

SUFFIXES = ("T", "bits", "column", "flat", "part", "view")
"""What views are called, after their operand's name."""


def names_for(graph: Graph) -> dict[Node, str]:
    """A name for each node, for a view what follows its operand's name; several may have the same.

    Inputs and states have their labels, gradients of states are called after these, and what leaves an
    operation is called after it, with ``g_`` in the backward pass.
    """
    names = {node: _word_of(node) for node in graph.nodes}
    users = graph.users()
    ends = {*graph.outputs, *graph.updates.values()}
    for node in graph.nodes:
        leaves = node in ends or any(operation_of(user) != operation_of(node) for user in users[node])
        computed = node.kind in ("call", "draw", "effect") or node.name == "view"
        if leaves and computed and node.operation:
            names[node] = ("g_" if node.phase == "backward" else "") + node.operation
    return names | _gradients(graph)


def operation_of(node: Node) -> tuple[str, str, str]:
    """What tells the operation apart of which a node is part."""
    return node.phase, node.operation, node.module


def identifier(label: str) -> str:
    """``label`` as a name of Python: ``weight_0`` of ``0.weight``."""
    head, tail = re.fullmatch(r"([\d._]*)(.*)", label, re.DOTALL).groups()  # type: ignore[union-attr]
    name = re.sub(r"\W+", "_", f"{tail}_{head}" if head and tail else label).strip("_")
    return name if name.isidentifier() else f"value_{name}".strip("_")


def _word_of(node: Node) -> str:
    if node.label:
        return identifier(node.label)
    if node.kind == "view":
        shaped = "column" if node.shape[1:] == (1,) else "flat" if len(node.shape) == 1 else "view"
        return {"transpose": "T", "slice": "part", "view": "bits"}.get(node.name, shaped)
    if node.kind != "const":
        return WORDS.get(node.name, node.name)
    array = np.asarray(node.value)
    repeats = array.size and array.dtype.kind in "biuf" and bool((array == array.flat[0]).all())
    return {0: "zeros", 1: "ones"}.get(array.flat[0], "constant") if repeats else "constant"


def _gradients(graph: Graph) -> dict[Node, str]:
    """Names for the gradients of states: the values of their shape from which an update begins."""
    names: dict[Node, str] = {}
    for state, node in graph.updates.items():
        waiting = [node]
        while waiting:
            each = waiting.pop()
            if each.phase == "update":
                waiting += each.operands()
            elif each.phase == "backward" and each.kind != "state" and each.shape == state.shape:
                names.setdefault(each, f"d_{identifier(state.label)}")
    return names
