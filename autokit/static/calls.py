"""What the compiler knows of NumPy's calls: which are elementwise, and which take memory for their result."""

from __future__ import annotations

import numpy as np

from autokit.static.graph import Node, found_in
from autokit.static.traced import astype, write

INTO = {np.dot, np.matmul, np.concatenate, np.stack, np.take, np.ndarray.take, np.ndarray.argmax}
"""Functions that write their result into ``out=``, beside the universal functions and their reductions."""

COPIES = {np.copy, astype, write}
"""Functions whose result is a copy of the first operand in which some elements may be other ones."""


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


def takes_memory(node: Node) -> bool:
    """Whether the result of this call can be written into memory that was planned for it."""
    if node.kind != "call" or not isinstance(node.value, np.ndarray) or node.value.dtype.hasobject:
        return False
    has_out = node.function in INTO and node.settings.keys() <= {"axis", "mode"}
    return has_out or is_ufunc(node) or is_reduction(node) or node.function in COPIES


def overwritable(node: Node) -> list[Node]:
    """The operands of which no element is read after that element of the result is written."""
    if is_ufunc(node):
        return node.operands()
    return found_in(node.args[0], Node) if node.function in COPIES else []
