"""NumPy's own forms: other calls that give the same numbers sooner. For the NumPy backend alone.

Most begin sooner, which counts for small arrays; a few walk through memory in a better order. Sums by
products add up in another order than ``sum``, so their last bits differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.static.calls import is_reduction, is_ufunc
from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rewriting, is_constant
from autokit.static.traced import put_flat

SMALL = 1 << 16
"""The forms that begin sooner are used for arrays of up to so many elements."""

FEW = 4096
"""Sums of up to so many elements are products with ones; above it NumPy's own are more exact."""

SHORT = 32
"""Rows of up to so many elements are reduced column by column."""


def use_numpy_forms(graph: Graph) -> str:
    """Replace calls by faster ones."""
    bounds = _checked_indices(graph)

    def change(node: Node, new: Rewriting) -> Node | None:
        for words, form in FORMS.items():
            other = form(node, new, bounds)
            if other is not None:
                new.said[words] += 1
                return other
        return None

    return Rewriting(graph).run(change)


def _checked_indices(graph: Graph) -> dict[Node, int]:
    """The arrays of which a check says that all elements are at least 0 and below a number.

    Seen as numbers without a sign, negative ones are the largest; so the check is one comparison.
    """
    bounds = {}
    for check in graph.nodes:
        less: Any = check.args[0] if check.kind == "check" else None
        largest = _operand(less, "less")
        unsigned = _operand(largest, "maximum.reduce")
        indices = _operand(unsigned, "view")
        is_whole = largest is not None and largest.shape == () and isinstance(less.args[1], int | np.integer)
        if indices is not None and unsigned is not None and unsigned.dtype == np.uint64 and is_whole:
            bounds[indices] = int(less.args[1])
    return bounds


def _operand(node: Any, name: str) -> Any:
    """The first operand of a call of this name."""
    found = isinstance(node, Node) and node.name == name and isinstance(node.args[0], Node)
    return node.args[0] if found else None


# ---------------------------------------------------------------- sums, products and largest elements


def _product(node: Node, new: Rewriting, _: Any) -> Node | None:
    if node.name != "matmul" or [np.ndim(each.value) for each in node.operands()] != [2, 2]:
        return None
    return new.call(node, "dot", np.dot, *node.args)


def _reduced_axis(node: Node, name: str) -> int | None:
    """The axis of a reduction of a matrix or a vector of floats along one axis."""
    if not is_reduction(node) or node.name != name or "dtype" in node.settings:
        return None
    x, axis = node.args[0], node.settings.get("axis", 0)
    if not isinstance(x, Node) or x.dtype.kind != "f" or not 0 < x.value.size <= SMALL:
        return None
    dims = len(x.shape)
    axes = tuple(range(dims)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return axes[0] % dims if dims in (1, 2) and len(axes) == 1 else None


def _sum(node: Node, new: Rewriting, _: Any) -> Node | None:
    axis = _reduced_axis(node, "add.reduce")
    if axis is None or "initial" in node.settings:
        return None
    x = node.args[0]
    if x.shape[axis] > FEW or x.dtype.itemsize < 4:
        return None
    ones = new.constant(node, np.ones(x.shape[axis], x.dtype))
    total = new.call(node, "dot", np.dot, *((x, ones) if axis else (ones, x)))
    return _in_shape_of(node, total, new)


def _largest(node: Node, new: Rewriting, _: Any) -> Node | None:
    axis = _reduced_axis(node, "maximum.reduce")
    x = node.args[0] if axis is not None else None
    if x is None or len(x.shape) != 2 or axis != 1 or x.shape[1] > SHORT or x.shape[0] < 8:
        return None
    turned = new.call(node, "transpose", np.transpose, x, None, kind="view")
    columns = new.call(node, "columns", np.copy, turned)
    return _in_shape_of(node, new.call(node, node.name, np.maximum.reduce, columns, axis=0), new)


def _in_shape_of(node: Node, value: Node, new: Rewriting) -> Node:
    if value.shape == node.shape:
        return value
    return new.call(node, "reshape", np.reshape, value, node.shape, kind="view")


# ---------------------------------------------------------------- elements


def _number(node: Node, new: Rewriting, _: Any) -> Node | None:
    """An operand that repeats one number, beside one that has all elements of the result."""
    if not is_ufunc(node) or len(node.args) != 2 or node.settings:
        return None
    for place, other in ((0, node.args[1]), (1, node.args[0])):
        repeated = node.args[place]
        if not isinstance(repeated, Node) or not repeated.shape or not is_constant(repeated):
            continue
        if isinstance(other, Node) and other.shape == node.shape and repeated.value.size:
            number = new.constant(node, np.array(repeated.value.flat[0]))
            args = (number, other) if place == 0 else (other, number)
            return new.call(node, node.name, node.function, *args)  # type: ignore[arg-type]
    return None


def _power(node: Node, new: Rewriting, _: Any) -> Node | None:
    x, exponent = (*node.args, None, None)[:2]
    if node.name != "power" or node.settings or not isinstance(x, Node) or x.dtype.kind != "f":
        return None
    for number, function in ((2, np.square), (-1, np.reciprocal)):
        if is_constant(exponent, number) and x.shape == node.shape and x.dtype == node.dtype:
            return new.call(node, function.__name__, function, x)
    return None


def _relu(node: Node, new: Rewriting, _: Any) -> Node | None:
    """``maximum`` of two arrays is faster than that of an array and a number."""
    if node.name != "maximum" or node.settings or not node.shape or node.value.size > SMALL:
        return None
    x, zero = node.args
    if not isinstance(x, Node) or (x.shape, x.dtype) != (node.shape, node.dtype):
        return None
    if not is_constant(zero, 0) or np.shape(getattr(zero, "value", zero)) == node.shape:
        return None
    zeros = new.constant(node, np.zeros(node.shape, node.dtype))
    return new.call(node, "maximum", np.maximum, x, zeros)


def _slope_of_relu(node: Node, new: Rewriting, _: Any) -> Node | None:
    """A product of the gradient's bits and a mask: a product of floats would make NaN of an infinite one."""
    if node.name != "where" or len(node.args) != 3 or not is_constant(node.args[1], 0):
        return None
    mask, _, g = node.args
    out = _operand(mask, "less_equal")
    is_relu = _operand(out, "maximum") is not None and is_constant(out.args[1], 0)
    if not is_relu or not is_constant(mask.args[1], 0) or not isinstance(g, Node):
        return None
    if not g.shape == out.shape == node.shape or g.dtype != node.dtype or g.dtype.kind != "f":
        return None
    bits = np.dtype(f"u{g.dtype.itemsize}")
    passed = new.call(node, "not_equal", np.not_equal, out, mask.args[1])
    whole = new.call(node, "view", np.ndarray.view, g, bits, kind="view")
    product = new.call(node, "multiply", np.multiply, whole, passed)
    return new.call(node, "view", np.ndarray.view, product, g.dtype, kind="view")


# ---------------------------------------------------------------- indices


def _places(t: Node, columns: int, node: Node, new: Rewriting) -> Node:
    """Where the element in column ``t`` of each row stands in a flattened matrix."""
    starts = new.constant(node, np.arange(0, len(t.value) * columns, columns))
    return new.call(node, "add", np.add, t, starts)


def _column_of(index: Any, bounds: dict[Node, int], columns: int) -> Node | None:
    """``t`` where ``index`` is ``t[:, None]``, and checked to be less than ``columns``."""
    names = ("expand_dims", "reshape", "slice")
    t = index.args[0] if isinstance(index, Node) and index.name in names else None
    fits = isinstance(t, Node) and len(t.shape) == 1 and index.shape == (len(t.value), 1)
    return t if fits and bounds.get(t, columns + 1) <= columns else None  # type: ignore[arg-type]


def _take(node: Node, new: Rewriting, bounds: dict[Node, int]) -> Node | None:
    if node.name != "take_along_axis" or len(node.args) != 3 or node.args[2] not in (1, -1):
        return None
    x, index, _ = node.args
    t = _column_of(index, bounds, x.shape[1]) if len(x.shape) == 2 else None
    if t is None:
        return None
    flat = new.call(node, "reshape", np.reshape, x, (-1,), kind="view")
    taken = new.call(node, "take", np.ndarray.take, flat, _places(t, x.shape[1], node, new), mode="clip")
    return _in_shape_of(node, taken, new)


def _one_hot(node: Node, new: Rewriting, bounds: dict[Node, int]) -> Node | None:
    """``where(t[:, None] == arange(n), c, 0)``."""
    if (
        node.name != "where"
        or len(node.args) != 3
        or len(node.shape) != 2
        or not is_constant(node.args[2], 0)
    ):
        return None
    mask, value, _ = node.args
    index, columns = mask.args if isinstance(mask, Node) and mask.name == "equal" else (None, None)
    t = _column_of(index, bounds, node.shape[1])
    numbers = np.arange(node.shape[1])
    if t is None or not isinstance(columns, Node) or columns.kind != "const":
        return None
    if not np.array_equal(columns.value.reshape(-1), numbers) or mask.shape != node.shape:
        return None
    if is_constant(value):
        value = new.constant(node, np.array(getattr(value, "value", value), node.dtype).reshape(-1)[:1])
    elif isinstance(value, Node) and value.shape == (node.shape[0], 1) and value.dtype == node.dtype:
        value = new.call(node, "reshape", np.reshape, value, (-1,), kind="view")
    else:
        return None
    zeros = new.constant(node, np.zeros(node.shape, node.dtype))
    return new.call(node, "put_flat", put_flat, zeros, _places(t, node.shape[1], node, new), value)


def _sum_of_one_hot(node: Node, new: Rewriting, _: Any) -> Node | None:
    if _reduced_axis(node, "add.reduce") != 1 or not isinstance(node.args[0], Node):
        return None
    hot = node.args[0]
    if hot.name != "put_flat" or not is_constant(hot.args[0], 0) or not is_constant(hot.args[2]):
        return None
    if hot.args[1].name != "add" or hot.args[1].shape != hot.shape[:1]:
        return None
    return new.constant(node, np.full(node.shape, hot.args[2].value.flat[0]))


Form = Callable[[Node, Rewriting, dict[Node, int]], Node | None]

FORMS: dict[str, Form] = {
    "a row of one number and zeros sums to the number": _sum_of_one_hot,
    "sum = ones · x": _sum,
    "largest of short rows = largest of columns": _largest,
    "a @ b = dot(a, b)": _product,
    "a number in place of its repetitions": _number,
    "x² = square(x), 1/x = reciprocal(x)": _power,
    "maximum with zeros written out": _relu,
    "relu's slope as one comparison": _slope_of_relu,
    "x[0…n, t] = take": _take,
    "where(t = 0…c) = put": _one_hot,
}
"""By the words that say what each does."""
