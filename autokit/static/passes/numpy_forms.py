"""NumPy's own forms: other calls that give the same numbers sooner. For the NumPy backend alone.

Most begin sooner, which counts for small arrays; a few walk through memory in a better order. Sums by
products add up in another order than ``sum``, so their last bits differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Node, substitute
from autokit.static.passes.rewriting import Rewriting, Rules, is_constant, known, operand_of
from autokit.static.traced import astype

FEW = 4096
"""Sums of up to so many elements are products with ones; above it NumPy's own are more exact."""

CLASSES = 1024
"""Up to so many classes a matrix is kept that has each of their one-hot rows."""


# ---------------------------------------------------------------- sums, products and maxima


def _product(node: Node, new: Rewriting, a: Any, b: Any) -> Any:
    are_matrices = [len(each.shape) for each in node.operands()] == [2, 2]
    return are_matrices and new.call(node, np.dot, a, b)


def _axis_of(node: Node, first: float) -> int | None:
    """The axis of a matrix or a vector of floats along which a reduction goes that begins with ``first``."""
    x, settings, count = node.args[0], node.settings, len(node.args[0].shape)
    axis = settings.get("axis", 0)
    axes = range(count) if axis is None else np.atleast_1d(axis) % max(count, 1)
    is_plain = settings.keys() <= {"axis", "keepdims", "initial"} and count in (1, 2)
    begins = settings.get("initial", first) == first and x.dtype in (np.float32, np.float64)
    return int(axes[0]) if is_plain and begins and len(axes) == 1 else None


def _sum(node: Node, new: Rewriting, x: Any, _: Any) -> Any:
    axis = _axis_of(node, 0)
    if axis is None or not 0 < x.shape[axis] <= FEW:
        return None
    ones = new.constant(node, np.ones(x.shape[axis], x.dtype))
    return _in_shape_of(node, new.call(node, np.dot, *((x, ones) if axis else (ones, x))), new)


def _largest(node: Node, new: Rewriting, x: Any, _: Any) -> Any:
    """The largest of each row: of NaN, too, ``argmax`` gives the place."""
    has_rows = _axis_of(node, -np.inf) == 1 and x.shape[1]
    return has_rows and _of_each_row(node, new, x, new.call(node, np.ndarray.argmax, x, axis=1))


def _of_each_row(node: Node, new: Rewriting, x: Node, columns: Node) -> Node:
    """The element of each row of ``x`` that stands in its column, as elements of the flattened matrix."""
    starts = new.constant(node, np.arange(x.shape[0]) * x.shape[1])
    flat = new.call(node, np.reshape, x, (-1,), kind="view")
    places = new.call(node, np.add, columns, starts)
    return _in_shape_of(node, new.call(node, np.ndarray.take, flat, places, mode="clip"), new)


def _in_shape_of(node: Node, value: Node, new: Rewriting) -> Node:
    return value if value.shape == node.shape else new.call(node, np.reshape, value, node.shape, kind="view")


# ---------------------------------------------------------------- elements


def _number(node: Node, new: Rewriting, x: Any, y: Any) -> Any:
    """Operands that repeat one number, beside one that has all elements of the result."""
    repeated = [each for each in node.operands() if each.shape and is_constant(each)]
    numbers = {each: new.constant(node, np.array(each.value.flat[0])) for each in repeated}
    return numbers and new.call(node, node.function, *substitute(node.args, numbers))


def _masked(node: Node, new: Rewriting, mask: Any, zero: Any) -> Any:
    """A product of bits with 0 or 1: a product of floats would make NaN of an infinite one."""
    x = node.args[-1]
    has_elements = all([isinstance(each, Node) and each.shape == node.shape for each in (mask, x)])
    if not has_elements or x.dtype.kind != "f" or not is_constant(zero, 0):
        return None
    whole, out = np.dtype(f"u{x.dtype.itemsize}"), operand_of(mask, "less_equal")
    is_of_relu = operand_of(out, "maximum") is not None and is_constant(mask.args[1], 0)
    if is_of_relu and is_constant(out.args[1], 0):
        # Nothing is below 0 there, and NaN is not 0.
        passed = new.call(node, np.not_equal, *mask.args)
    else:
        passed = new.call(node, np.logical_not, mask)
    kept = new.call(node, astype, passed, whole)
    bits = new.call(node, np.ndarray.view, x, whole, kind="view")
    return new.call(node, np.ndarray.view, new.call(node, np.multiply, bits, kept), x.dtype, kind="view")


# ---------------------------------------------------------------- classes


def _classes(index: Any, shape: tuple[int, ...], new: Rewriting) -> Node | None:
    """``t`` of ``t[:, None]``, where a check says that it has a column of this shape for each row.

    Seen as numbers without a sign, negative ones are the largest; so the check is one comparison.
    """
    t = operand_of(index, "expand_dims")
    if t is None or len(shape) != 2 or index.shape != (shape[0], 1):
        return None
    checked = [check.args[0] for check in new.nodes if check.kind == "check"]
    limits = [each.args for each in checked if operand_of(each, "less", "maximum.reduce", "view") is t]
    kinds = [(most.shape, most.dtype, is_constant(limit) and limit <= shape[1]) for most, limit in limits]
    return t if ((), np.uint64, True) in kinds else None


def _chosen(node: Node, new: Rewriting, x: Any, index: Any) -> Any:
    t = _classes(index, x.shape, new)
    return t and node.args[2:] in ((1,), (-1,)) and _of_each_row(node, new, x, t)


def _one_hot(node: Node, new: Rewriting, mask: Any, value: Any) -> Any:
    """``where(t[:, None] == arange(n), c, 0)``."""
    if operand_of(mask, "equal") is None or not (is_constant(value) and is_constant(node.args[2], 0)):
        return None
    index, columns = mask.args
    t, count = _classes(index, node.shape, new), node.shape[-1]
    is_counted = 0 < count <= CLASSES and np.array_equal(np.ravel(known(columns)), np.arange(count))
    if t is None or not is_counted:
        return None
    rows = new.constant(node, np.diag(np.full(count, known(value).flat[0], node.dtype)))
    hot = new.call(node, np.ndarray.take, rows, t, axis=0, mode="clip")
    hot.name = "one_hot"
    return hot


def _sum_of_one_hot(node: Node, new: Rewriting, hot: Any, _: Any) -> Any:
    """Each row of :func:`_one_hot` has the number once."""
    is_sum_of_rows = getattr(hot, "name", "") == "one_hot" and _axis_of(node, 0) == 1
    return is_sum_of_rows and new.constant(node, np.full(node.shape, hot.args[0].value[0, 0]))


FORMS: Rules = {
    "a row of one number and zeros sums to the number": ("add.reduce", _sum_of_one_hot),
    "sum = ones · x": ("add.reduce", _sum),
    "the largest of a row = x[argmax]": ("maximum.reduce", _largest),
    "a @ b = dot(a, b)": ("matmul", _product),
    "a number in place of its repetitions": ("add subtract multiply divide", _number),
    "where(mask, 0, x) = x's bits · 0 or 1": ("where", _masked),
    "x[0…n, t] = take": ("take_along_axis", _chosen),
    "where(t = 0…c) = take": ("where", _one_hot),
}
"""By the words that say what each does."""
