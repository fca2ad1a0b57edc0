"""NumPy's own forms: other calls that give the same numbers sooner. For the NumPy backend alone.

Most begin sooner, which counts for small arrays; a few walk through memory in a better order. Sums by
products add up in another order than ``sum``, so their last bits differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rewriting, Rules, is_constant, operand_of, rewrite
from autokit.static.traced import astype, put_flat

FEW = 4096
"""Sums of up to so many elements are products with ones; above it NumPy's own are more exact."""


def use_numpy_forms(graph: Graph) -> str:
    """Replace calls by faster ones."""
    return rewrite(graph, FORMS)


# ---------------------------------------------------------------- sums and products


def _product(node: Node, new: Rewriting, a: Any, b: Any) -> Node | None:
    are_matrices = [len(each.shape) for each in node.operands()] == [2, 2]
    return new.call(node, np.dot, a, b) if are_matrices else None


def _summed_axis(node: Node) -> int | None:
    """The axis of a sum of a matrix or a vector of floats along one axis."""
    x, axis = node.args[0], node.settings.get("axis", 0)
    axes = range(len(x.shape)) if axis is None else np.atleast_1d(axis) % max(len(x.shape), 1)
    is_plain = x.dtype in (np.float32, np.float64) and node.settings.keys() <= {"axis", "keepdims"}
    return int(axes[0]) if is_plain and len(x.shape) in (1, 2) and len(axes) == 1 else None


def _sum(node: Node, new: Rewriting, x: Any, _: Any) -> Node | None:
    axis = _summed_axis(node)
    if axis is None or not 0 < x.shape[axis] <= FEW:
        return None
    ones = new.constant(node, np.ones(x.shape[axis], x.dtype))
    return _in_shape_of(node, new.call(node, np.dot, *((x, ones) if axis else (ones, x))), new)


def _in_shape_of(node: Node, value: Node, new: Rewriting) -> Node:
    return value if value.shape == node.shape else new.call(node, np.reshape, value, node.shape, kind="view")


# ---------------------------------------------------------------- elements


def _number(node: Node, new: Rewriting, x: Any, y: Any) -> Node | None:
    """An operand that repeats one number, beside one that has all elements of the result."""
    for repeated, other in ((x, y), (y, x)):
        is_row = isinstance(repeated, Node) and repeated.shape and is_constant(repeated)
        if is_row and isinstance(other, Node) and other.shape == node.shape:
            number = new.constant(node, np.array(repeated.value.flat[0]))
            return new.call(node, node.function, *[number if each is repeated else each for each in (x, y)])
    return None


def _slope_of_relu(node: Node, new: Rewriting, mask: Any, zero: Any) -> Node | None:
    """A product of the gradient's bits and a mask: a product of floats would make NaN of an infinite one."""
    out, g = operand_of(mask, "less_equal"), node.args[-1]
    limits = out is not None and operand_of(out, "maximum") is not None and (zero, mask.args[1], out.args[1])
    if not limits or not all([is_constant(each, 0) for each in limits]):
        return None
    if not isinstance(g, Node) or g.dtype.kind != "f" or not g.shape == out.shape == node.shape:
        return None
    whole = np.dtype(f"u{g.dtype.itemsize}")
    passed = new.call(node, astype, new.call(node, np.not_equal, out, mask.args[1]), whole)
    bits = new.call(node, np.ndarray.view, g, whole, kind="view")
    return new.call(node, np.ndarray.view, new.call(node, np.multiply, bits, passed), g.dtype, kind="view")


# ---------------------------------------------------------------- indices


def _places(index: Any, columns: int, node: Node, new: Rewriting) -> Node | None:
    """Where the element in column ``t`` of each row stands in a flattened matrix, of ``t[:, None]``.

    A check has to say that each of ``t`` is at least 0 and below the number of columns. Seen as numbers
    without a sign, negative ones are the largest; so the check is one comparison.
    """
    t = operand_of(index, "expand_dims")
    if t is None or index.shape != (t.value.size, 1):
        return None
    for less in [check.args[0] for check in new.graph.nodes if check.kind == "check"]:
        if operand_of(less, "less", "maximum.reduce", "view") is t:
            largest, limit = less.args
            if largest.shape == () and largest.dtype == np.uint64 and is_constant(limit) and limit <= columns:
                return new.call(node, np.add, t, new.constant(node, np.arange(t.value.size) * columns))
    return None


def _take(node: Node, new: Rewriting, x: Any, index: Any) -> Node | None:
    is_of_rows = len(x.shape) == 2 and node.args[2:] in ((1,), (-1,))
    places = _places(index, x.shape[1], node, new) if is_of_rows else None
    if places is None:
        return None
    flat = new.call(node, np.reshape, x, (-1,), kind="view")
    return _in_shape_of(node, new.call(node, np.ndarray.take, flat, places, mode="clip"), new)


def _one_hot(node: Node, new: Rewriting, mask: Any, value: Any) -> Node | None:
    """``where(t[:, None] == arange(n), c, 0)``."""
    is_matrix = operand_of(mask, "equal") is not None and len(node.shape) == 2 and mask.shape == node.shape
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
    hot = new.call(node, put_flat, zeros, places, number)
    hot.name = "one_hot"
    return hot


def _sum_of_one_hot(node: Node, new: Rewriting, hot: Any, _: Any) -> Node | None:
    """Each row of :func:`_one_hot` has the number once."""
    is_sum_of_rows = operand_of(hot, "one_hot") is not None and _summed_axis(node) == 1
    return new.constant(node, np.full(node.shape, hot.args[2].value[0])) if is_sum_of_rows else None


FORMS: Rules = {
    "a row of one number and zeros sums to the number": ("add.reduce", _sum_of_one_hot),
    "sum = ones · x": ("add.reduce", _sum),
    "a @ b = dot(a, b)": ("matmul", _product),
    "a number in place of its repetitions": ("add subtract multiply divide", _number),
    "relu's slope as one comparison": ("where", _slope_of_relu),
    "x[0…n, t] = take": ("take_along_axis", _take),
    "where(t = 0…c) = put": ("where", _one_hot),
}
"""By the words that say what each does."""
