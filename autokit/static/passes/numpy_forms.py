"""NumPy's own forms: other calls that give the same numbers sooner. For the NumPy backend alone.

Most begin sooner, which counts for small arrays; a few walk through memory in a better order. Sums by
products add up in another order than ``sum``, so their last bits differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.calls import is_ufunc
from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rewriting, Rules, is_constant, rewrite
from autokit.static.traced import put_flat

SMALL = 1 << 16
"""The forms that begin sooner are used for arrays of up to so many elements."""

FEW = 4096
"""Sums of up to so many elements are products with ones; above it NumPy's own are more exact."""

SHORT = 32
"""Rows of up to so many elements are reduced column by column."""


def use_numpy_forms(graph: Graph) -> str:
    """Replace calls by faster ones."""
    return rewrite(graph, FORMS)


def _operand(node: Any, name: str) -> Any:
    """The first operand of a call of this name."""
    return node.args[0] if isinstance(node, Node) and node.name == name else None


# ---------------------------------------------------------------- sums, products and largest elements


def _product(node: Node, new: Rewriting, a: Any, b: Any) -> Node | None:
    are_matrices = [np.ndim(each.value) for each in node.operands()] == [2, 2]
    return new.call(node, np.dot, a, b) if are_matrices else None


def _reduced_axis(node: Node, start: float) -> int | None:
    """The axis of a reduction of a matrix or a vector of floats along one axis, which begins at ``start``."""
    x, axis = node.args[0], node.settings.get("axis", 0)
    if not isinstance(x, Node) or x.dtype.kind != "f" or not 0 < x.value.size <= SMALL:
        return None
    if not node.settings.keys() <= {"axis", "keepdims", "initial"} or len(x.shape) not in (1, 2):
        return None
    axes = np.arange(len(x.shape))[slice(None) if axis is None else np.array(axis, int, ndmin=1)]
    return int(axes[0]) if len(axes) == 1 and node.settings.get("initial", start) == start else None


def _sum(node: Node, new: Rewriting, x: Any, _: Any) -> Node | None:
    axis = _reduced_axis(node, 0)
    if axis is None or x.shape[axis] > FEW or x.dtype.itemsize < 4:
        return None
    ones = new.constant(node, np.ones(x.shape[axis], x.dtype))
    return _in_shape_of(node, new.call(node, np.dot, *((x, ones) if axis else (ones, x))), new)


def _largest(node: Node, new: Rewriting, x: Any, _: Any) -> Node | None:
    if _reduced_axis(node, -np.inf) != 1 or x.shape[1] > SHORT or x.shape[0] < 8:
        return None
    columns = new.call(node, np.copy, new.view(node, np.transpose, x, None), name="columns")
    return _in_shape_of(node, new.call(node, np.maximum.reduce, columns, name=node.name, axis=0), new)


def _in_shape_of(node: Node, value: Node, new: Rewriting) -> Node:
    return value if value.shape == node.shape else new.view(node, np.reshape, value, node.shape)


# ---------------------------------------------------------------- elements


def _number(node: Node, new: Rewriting, x: Any, y: Any) -> Node | None:
    """An operand that repeats one number, beside one that has all elements of the result."""
    for repeated, other in ((x, y), (y, x)):
        is_array = is_ufunc(node) and isinstance(repeated, Node) and repeated.shape != ()
        if is_array and is_constant(repeated) and isinstance(other, Node) and other.shape == node.shape:
            number = new.constant(node, np.array(repeated.value.flat[0]))
            args = [number if each is repeated else each for each in node.args]
            return new.call(node, node.function, *args)
    return None


def _square(node: Node, new: Rewriting, x: Any, exponent: Any) -> Node | None:
    is_square = is_constant(exponent, 2) and isinstance(x, Node) and x.dtype.kind == "f"
    return new.call(node, np.square, x) if is_square else None


def _relu(node: Node, new: Rewriting, x: Any, zero: Any) -> Node | None:
    """``maximum`` of two arrays is faster than that of an array and a number."""
    is_number = is_constant(zero, 0) and np.shape(getattr(zero, "value", zero)) == ()
    if not is_number or node.shape == () or node.value.size > SMALL:
        return None
    return new.call(node, np.maximum, x, new.constant(node, np.zeros(node.shape, node.dtype)))


def _slope_of_relu(node: Node, new: Rewriting, mask: Any, zero: Any) -> Node | None:
    """A product of the gradient's bits and a mask: a product of floats would make NaN of an infinite one."""
    out, g = _operand(mask, "less_equal"), node.args[-1]
    if _operand(out, "maximum") is None or not isinstance(g, Node) or g.dtype.kind != "f":
        return None
    limits = zero, mask.args[1], out.args[1]
    if not all([is_constant(each, 0) for each in limits]) or not g.shape == out.shape == node.shape:
        return None
    passed = new.call(node, np.not_equal, out, mask.args[1])
    bits = new.view(node, np.ndarray.view, g, np.dtype(f"u{g.dtype.itemsize}"))
    return new.view(node, np.ndarray.view, new.call(node, np.multiply, bits, passed), g.dtype)


# ---------------------------------------------------------------- indices


def _places(index: Any, columns: int, node: Node, new: Rewriting) -> Node | None:
    """Where the element in column ``t`` of each row stands in a flattened matrix, of ``t[:, None]``.

    A check has to say that each of ``t`` is at least 0 and below the number of columns.
    """
    is_column = isinstance(index, Node) and index.args[1:] == ((slice(None), None),)
    is_view = is_column or _operand(index, "expand_dims") or _operand(index, "reshape")
    t = index.args[0] if is_view else None
    if t is None or len(t.shape) != 1 or index.shape != (*t.shape, 1) or _bound(t, new.graph) > columns:
        return None
    starts = new.constant(node, np.arange(0, len(t.value) * columns, columns))
    return new.call(node, np.add, t, starts)


def _bound(t: Node, graph: Graph) -> float:
    """The number of which a check says that all elements of ``t`` are below it, and at least 0.

    Seen as numbers without a sign, negative ones are the largest; so the check is one comparison.
    """
    for less in [check.args[0] for check in graph.nodes if check.kind == "check"]:
        largest = _operand(less, "less")
        unsigned = _operand(largest, "maximum.reduce")
        is_limit = largest is not None and largest.shape == () and isinstance(less.args[1], int | np.integer)
        if is_limit and _operand(unsigned, "view") is t and unsigned.dtype == np.uint64:
            return int(less.args[1])
    return np.inf


def _take(node: Node, new: Rewriting, x: Any, index: Any) -> Node | None:
    is_of_rows = len(x.shape) == 2 and node.args[2:] in ((1,), (-1,))
    places = _places(index, x.shape[1], node, new) if is_of_rows else None
    if places is None:
        return None
    flat = new.view(node, np.reshape, x, (-1,))
    return _in_shape_of(node, new.call(node, np.ndarray.take, flat, places, mode="clip"), new)


def _one_hot(node: Node, new: Rewriting, mask: Any, value: Any) -> Node | None:
    """``where(t[:, None] == arange(n), c, 0)``."""
    is_matrix = _operand(mask, "equal") is not None and len(node.shape) == 2 and mask.shape == node.shape
    if not (is_matrix and is_constant(value) and is_constant(node.args[2], 0)):
        return None
    index, columns = mask.args
    is_counted = isinstance(columns, Node) and columns.kind == "const"
    if not is_counted or not np.array_equal(columns.value.reshape(-1), np.arange(node.shape[1])):
        return None
    places = _places(index, node.shape[1], node, new)
    if places is None:
        return None
    zeros = new.constant(node, np.zeros(node.shape, node.dtype))
    number = new.constant(node, np.array(getattr(value, "value", value), node.dtype).reshape(-1)[:1])
    return new.call(node, put_flat, zeros, places, number, name="one_hot")


def _sum_of_one_hot(node: Node, new: Rewriting, hot: Any, _: Any) -> Node | None:
    """Each row of :func:`_one_hot` has the number once."""
    if _operand(hot, "one_hot") is None or _reduced_axis(node, 0) != 1:
        return None
    return new.constant(node, np.full(node.shape, hot.args[2].value[0]))


FORMS: Rules = {
    "a row of one number and zeros sums to the number": ("add.reduce", _sum_of_one_hot),
    "sum = ones · x": ("add.reduce", _sum),
    "largest of short rows = largest of columns": ("maximum.reduce", _largest),
    "a @ b = dot(a, b)": ("matmul", _product),
    "a number in place of its repetitions": ("add subtract multiply divide", _number),
    "x² = square(x)": ("power", _square),
    "maximum with zeros written out": ("maximum", _relu),
    "relu's slope as one comparison": ("where", _slope_of_relu),
    "x[0…n, t] = take": ("take_along_axis", _take),
    "where(t = 0…c) = put": ("where", _one_hot),
}
"""By the words that say what each does."""
