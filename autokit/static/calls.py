"""What the compiler knows of NumPy's calls: which are elementwise, and which take memory for their result."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Node, nodes_in
from autokit.static.traced import astype, put, write

INTO = {np.dot, np.matmul, np.concatenate, np.stack}
"""Functions that write their result into ``out=``, beside the universal functions and their reductions."""

COPIES = {np.copy, np.where, astype, put, write}
"""Functions whose result is a copy of an operand in which some elements may be other ones."""


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


def takes_memory(node: Node) -> bool:
    """Whether the result of this call can be written into memory that was planned for it."""
    if node.kind != "call" or not isinstance(node.value, np.ndarray) or node.value.dtype.hasobject:
        return False
    if node.function is np.where:
        return len(node.args) == 3 and getattr(node.args[0], "dtype", None) == np.bool
    if node.function in INTO:
        return node.settings.keys() <= {"axis"}
    computed = is_ufunc(node) or is_reduction(node) or is_clipped_take(node)
    return computed or node.function in COPIES


def basis_of(node: Node) -> Any:
    """The operand of which such a result is a copy."""
    return node.args[2 if node.function is np.where else 0]


def overwritable(node: Node) -> list[Node]:
    """The operands of which no element is read after that element of the result is written."""
    if is_ufunc(node):
        return node.operands()
    return list(nodes_in(basis_of(node))) if node.function in COPIES else []
