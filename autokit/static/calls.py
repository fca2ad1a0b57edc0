"""What the compiler knows of NumPy's calls: which are elementwise, and which take memory for their result."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Node
from autokit.static.interpret import interpret
from autokit.static.traced import astype, put, put_flat, write

INTO = {np.dot, np.matmul, np.concatenate, np.stack}
"""Functions that write their result into ``out=``, beside the universal functions and their reductions."""

COPIES = {np.copy, np.where, astype, put, put_flat, write}
"""Functions whose result ``copyto`` and assignments write into memory that is there."""


def is_ufunc(node: Node) -> bool:
    """Whether this is an elementwise call of a universal function that has one result."""
    function = node.function
    if node.kind != "call" or not isinstance(function, np.ufunc):
        return False
    return function.signature is None and function.nout == 1 and node.settings.keys() <= {"dtype"}


def is_reduction(node: Node) -> bool:
    """Whether this is a reduction of a universal function, as ``add.reduce``, a sum."""
    ufunc = getattr(node.function, "__self__", None)
    return isinstance(ufunc, np.ufunc) and node.name == f"{ufunc.__name__}.reduce" and len(node.args) == 1


def is_clipped_take(node: Node) -> bool:
    """Whether this is ``take`` that checks no index; where it does, ``out`` is written by way of a copy."""
    return node.function in (np.take, np.ndarray.take) and node.settings.get("mode") == "clip"


def is_computed_in_blocks(node: Node) -> bool:
    """Whether this is a result of :class:`Blocks`."""
    return node.name == "part" and isinstance(node.args[0].function, Blocks)


def takes_memory(node: Node) -> bool:
    """Whether the result of this call can be written into memory that was planned for it."""
    if node.kind != "call" or not isinstance(node.value, np.ndarray) or node.value.dtype.hasobject:
        return False
    if node.function is np.where:
        return len(node.args) == 3 and getattr(node.args[0], "dtype", None) == np.bool
    if node.function in INTO:
        return node.settings.keys() <= {"axis"}
    computed = is_ufunc(node) or is_reduction(node) or is_clipped_take(node) or is_computed_in_blocks(node)
    return computed or node.function in COPIES


def overwritable(node: Node) -> list[Node]:
    """The operands of which no element is read after that element of the result is written."""
    if is_computed_in_blocks(node):
        whole, place = node.args
        return [whole.args[each] for each in whole.function.read_before(place)]
    if is_ufunc(node):
        return node.operands()
    if node.function not in COPIES:
        return []
    candidates = node.args[2:] if node.function is np.where else node.args[:1]
    return [each for each in candidates if isinstance(each, Node)]


class Blocks:
    """Elementwise calls on arrays of one shape, and numbers. Called, it computes them all, without blocks.

    Attributes
    ----------
    operands, nodes, results : list of Node
        What is read from outside, the calls in their order, and those of them that are read outside.
    """

    def __init__(self, nodes: list[Node], results: list[Node]) -> None:
        read = [operand for node in nodes for operand in node.operands()]
        self.operands = [operand for operand in dict.fromkeys(read) if operand not in nodes]
        self.nodes, self.results = nodes, results

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        known = dict(zip(self.operands, values))
        for _ in interpret(self.nodes, known):
            pass
        return tuple([known[result] for result in self.results])

    def read_before(self, result: int) -> list[int]:
        """The operands that no call reads after the one that computes this result, by their places."""
        later = self.nodes[self.nodes.index(self.results[result]) + 1 :]
        read = {operand for node in later for operand in node.operands()}
        return [place for place, operand in enumerate(self.operands) if operand not in read]
