"""Which calls have a compiled form, and where the elements lie that they read and write.

A view is no work of its own: its elements are read where they lie in the memory of its *owner*, the node that
it is a view of. A call without a compiled form stays a call of NumPy.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.np.ufunc_db import get_ufunc_info

from autokit.static.calls import is_reduction
from autokit.static.graph import Node
from autokit.static.traced import astype

KINDS = ("float32", "float64", "int32", "int64", "uint8", "uint64", "bool")
"""The dtypes that loops compute in."""

SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<", "less_equal": "<="}
SIGNS |= {"greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=", "bitwise_and": "&"}
FORMS = {name: f"{{0}} {sign} {{1}}" for name, sign in SIGNS.items()}
FORMS |= dict.fromkeys(("astype", "copy"), "{0}")
FORMS |= {
    "maximum": "{0} if ({0} >= {1}) | ({0} != {0}) else {1}",  # the larger, or NaN
    "minimum": "{0} if ({0} <= {1}) | ({0} != {0}) else {1}",
    "where": "{1} if {0} else {2}",
    "negative": "-{0}",
    "absolute": "abs({0})",
    "square": "{0} * {0}",
    "erf": "erf({0})",
}
"""What an element is computed from, where that is not NumPy's function of this name."""

NEUTRAL = {"add": 0, "multiply": 1, "maximum": -math.inf, "minimum": math.inf}
"""With what a reduction begins."""

TRUTH = np.dtype(bool)


class Place(NamedTuple):
    """Where elements lie: the first so many bytes after where the memory of ``owner`` begins.

    The strides are the distances between the elements, which count in elements.
    """

    owner: Node
    dtype: np.dtype[Any]
    offset: int
    strides: tuple[int, ...]


def owner_of(node: Node) -> Node:
    """The node in whose memory the value of ``node`` lies."""
    return owner_of(node.args[0]) if node.kind == "view" else node


def memory_of(node: Node) -> np.ndarray:
    """The array of a state or a constant, or a new one."""
    return node.value if node.kind in ("state", "const") else np.empty(node.shape, node.dtype)


def view_of(node: Node, memory: np.ndarray) -> np.ndarray:
    """The value of ``node`` in the ``memory`` of its owner."""
    if node.kind != "view":
        return memory
    return node.function(view_of(node.args[0], memory), *node.args[1:], **node.settings)  # type: ignore[misc]


def place_of(node: Node, shape: tuple[int, ...], kept: tuple[int, ...] | None = None) -> Place:
    """Where NumPy finds the elements of ``node``, reshaped to ``kept`` and broadcast to ``shape``."""
    memory = memory_of(owner_of(node))
    view = view_of(node, memory)
    if view.dtype.name not in KINDS or not np.may_share_memory(view, memory):
        raise ValueError("a view that is a copy has no place")
    wide = np.broadcast_to(view.reshape(view.shape if kept is None else kept), shape)
    strides = [step // view.itemsize if size > 1 else 0 for step, size in zip(wide.strides, shape)]
    return Place(owner_of(node), view.dtype, view.ctypes.data - memory.ctypes.data, (*strides,))


def shape_of_loops(node: Node) -> tuple[int, ...]:
    """Over which shape a call goes: that of its result, or of what it reduces."""
    return node.args[0].shape if is_reduction(node) else node.shape or ()


def result_of(node: Node) -> Place:
    """Where the elements of a result go: of a reduction, several to the same place."""
    shape = shape_of_loops(node)
    axis = node.settings.get("axis", 0) if is_reduction(node) else ()
    return place_of(node, shape, np.empty(shape, bool).any(axis, keepdims=True).shape)


def first_of(node: Node) -> Any:
    """With what a reduction begins."""
    first = node.settings.get("initial", NEUTRAL[node.name.removesuffix(".reduce")])
    if abs(first) == math.inf and node.dtype.kind != "f":
        return np.iinfo(node.dtype).min if first < 0 else np.iinfo(node.dtype).max
    return first


def formula_of(node: Node) -> tuple[str, list[tuple[Any, np.dtype[Any]]]]:
    """What an element is computed from: a form, and the operands, each with the dtype that it has there."""
    name, kinds, values = node.name.removesuffix(".reduce"), [node.dtype], node.args
    if node.kind == "check":  # whose other operands explain
        kinds = [TRUTH]
    elif node.function is np.where:
        kinds = [TRUTH, node.dtype, node.dtype]
    elif node.function is np.take_along_axis:
        array, index, axis = node.args
        if axis not in (-1, len(array.shape) - 1) or node.shape[:-1] != array.shape[:-1]:
            raise ValueError("this selects from columns")
        kinds, values = [np.dtype(np.int64)], (index,)
    elif not is_reduction(node) and node.function not in (astype, np.copy):
        given = [getattr(value, "dtype", type(value)) for value in node.args]
        wanted = (*[None] * len(given), node.settings.get("dtype"))
        *kinds, _ = node.function.resolve_dtypes((*given, None), signature=wanted)  # type: ignore[union-attr]
        loop = "".join([dtype.char for dtype in kinds]) + "->" + node.dtype.char
        if name not in FORMS and loop not in get_ufunc_info(node.function):
            raise ValueError("Numba has no such function")
    form = FORMS.get(name) or f"np.{name}({', '.join([f'{{{k}}}' for k in range(len(kinds))])})"
    return form, [(_operand(value, shape_of_loops(node)), dtype) for value, dtype in zip(values, kinds)]


def _operand(value: Any, shape: tuple[int, ...]) -> Any:
    """The place of a node, or a number."""
    if isinstance(value, Node) and value.kind == "const" and not any(value.value.strides):
        return value.value.flat[0].item()
    return place_of(value, shape) if isinstance(value, Node) else value


def matrix_of(node: Node, dtype: np.dtype[Any]) -> tuple[Place, bool, int]:
    """Where a matrix lies, whether BLAS has to read it transposed, and the distance between its rows."""
    place, (rows, columns) = place_of(node, node.shape), node.shape
    down, across = place.strides
    if place.dtype == dtype and across == (columns > 1) and (down >= columns or rows == 1):
        return place, False, max(down, columns)
    if place.dtype == dtype and down == (rows > 1) and (across >= rows or columns == 1):
        return place, True, max(across, rows)
    raise ValueError("BLAS cannot read this")


def is_product(node: Node) -> bool:
    """Whether this is a product of matrices."""
    return node.function in (np.dot, np.matmul)
