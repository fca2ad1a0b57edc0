"""What one element of a call's result is computed from, as Python that Numba compiles.

A call that is not found here has no loop, and stays a call of NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autokit.static.loops.frames import Access, Frame, Region, broadcast, region_of, row_major
from autokit.static.graph import Node

TYPES = {np.dtype(kind): name for kind, name in (("f4", "f4"), ("f8", "f8"), ("i8", "i8"), ("?", "bool"))}
"""The dtypes that loops compute in, and their names there."""

FORMS = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "power": "{0} ** {1}",
    "negative": "-{0}",
    "positive": "{0}",
    "absolute": "abs({0})",
    "square": "{0} * {0}",
    "reciprocal": "1 / {0}",
    "maximum": "({0} if {0} >= {1} or {0} != {0} else {1})",  # the larger, or NaN
    "minimum": "({0} if {0} <= {1} or {0} != {0} else {1})",
    "clip": "({1} if {0} < {1} else {2} if {0} > {2} else {0})",
    "sign": "({0} if {0} != {0} or {0} == 0 else 1 if {0} > 0 else -1)",
    "isnan": "{0} != {0}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "where": "({1} if {0} else {2})",
    "astype": "{0}",
    **{
        name: f"{name}({{0}})"
        for name in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf")
    },
}
LOGICAL = {
    "logical_and": "{0} and {1}",
    "logical_or": "{0} or {1}",
    "logical_not": "not {0}",
    "bitwise_and": "{0} and {1}",
    "bitwise_or": "{0} or {1}",
    "invert": "not {0}",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
}
"""The forms of calls whose operands are all true or false."""

REDUCTIONS = {
    "add": "{0} + {1}",
    "multiply": "{0} * {1}",
    "maximum": FORMS["maximum"],
    "minimum": FORMS["minimum"],
    "logical_or": "{0} or {1}",
    "logical_and": "{0} and {1}",
}
ALIASES = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "any": "logical_or",
    "all": "logical_and",
}
ALIASES |= {"amax": "maximum", "amin": "minimum"}


class Operand(NamedTuple):
    """A number, or a node with the place of its elements; and the dtype in which it is computed with."""

    value: Any
    dtype: np.dtype[Any]
    region: Region | None = None
    access: Access | None = None


class Call:
    """A call that has a loop.

    Attributes
    ----------
    node : Node
    frame : Frame
        In which it is computed: of a reduction that of its operand.
    form : str
        What an element is computed from, with ``{0}`` for the first operand.
    operands : list of Operand
    result : Access
        Where the element goes.
    combine : str
        Of a reduction: the universal function; else empty.
    copied : Region or None
        What the result is a copy of, before elements are written into it.
    indices : list of (Operand, int, int)
        Of a call with an index: whole numbers, and the size and the stride of the dimension that they select from.
    """

    def __init__(self, node: Node, form: str, frame: Frame, strides: tuple[int, ...]) -> None:
        self.node, self.form, self.frame, self.combine = node, form, frame, ""
        self.copied: Region | None = None
        self.result = frame.access(0, strides)
        self.operands: list[Operand] = []
        self.indices: list[tuple[Operand, int, int]] = []

    def operand(self, value: Any, dtype: np.dtype[Any], sizes: tuple[int, ...]) -> Operand:
        """``value``, as it is read where a call has the dimensions ``sizes``."""
        if not isinstance(value, Node):
            return Operand(value, dtype)
        region = region_of(value)
        if region is None or region.owner.dtype not in TYPES:
            raise NoLoop
        strides = broadcast(value.shape or (), region.strides, sizes)
        return Operand(value, dtype, region, self.frame.access(region.offset, strides))

    @property
    def width(self) -> int:
        """How many elements of the result belong to a row."""
        return 1 if self.combine else self.frame.columns

    def ends_with_row(self) -> bool:
        """Whether this reduces each row, so that the row's later calls can read the result."""
        frame = self.frame
        return frame.columns > 1 and not self.result.step and self.result.in_own_row(1, frame.rows, 1)

    def stops(self) -> bool:
        """Whether this can stop the run: an index may be out of bounds."""
        return bool(self.indices)

    def accesses(self, owner: Node) -> list[Access]:
        """How the memory of ``owner`` is read."""
        operands = [*self.operands, *[operand for operand, *_ in self.indices]]
        return [
            each.access for each in operands if each.region and each.access and each.region.owner is owner
        ]

    def owners(self) -> list[Node]:
        """The nodes whose memory is read."""
        operands = [*self.operands, *[operand for operand, *_ in self.indices]]
        return [each.owner for each in [*[one.region for one in operands], self.copied] if each]


class NoLoop(Exception):
    """This call has no loop."""


def call_of(node: Node) -> Call | None:
    """The loop of a call; None if there is none."""
    if node.kind != "call" or node.dtype not in TYPES or not node.value.size:
        return None
    try:
        return _maker(node)(node)
    except (NoLoop, TypeError):  # TypeError: NumPy has no such call for these dtypes
        return None


def _maker(node: Node) -> Callable[[Node], Call]:
    name = node.name
    if name in _SELECTIONS:
        return _SELECTIONS[name]
    if name.removesuffix(".reduce") in REDUCTIONS and name.endswith(".reduce") or name in ALIASES:
        return _reduction
    if (
        name in ("where", "astype", "clip")
        or isinstance(node.function, np.ufunc)
        and name == node.function.__name__
    ):
        return _elementwise
    raise NoLoop


def _elementwise(node: Node) -> Call:
    dtypes = _computed_in(node)
    logical = all(dtype == bool for dtype in dtypes) or node.name.startswith("logical")
    forms = LOGICAL if logical and node.name not in ("where", "astype") else FORMS
    if node.name not in forms or node.settings.keys() - {"dtype"}:
        raise NoLoop
    shape = node.shape or ()
    call = Call(node, forms[node.name], Frame(shape, row_major(shape)), row_major(shape))
    call.operands = [
        call.operand(value, np.dtype(bool) if forms is LOGICAL else dtype, shape)
        for value, dtype in zip(node.args, dtypes)
    ]
    return call


def _computed_in(node: Node) -> list[np.dtype[Any]]:
    """The dtypes to which the operands are converted before the call."""
    dtype = np.dtype(node.dtype)
    if node.name in ("where", "astype", "clip"):
        first = np.dtype(bool) if node.name == "where" else dtype
        return [first, dtype, dtype][: 1 if node.name == "astype" else len(node.args)]
    kinds = [
        type(value)
        if isinstance(value, bool | int | float) and not isinstance(value, np.generic)
        else value.dtype
        for value in node.args
    ]
    wanted = (*[None] * len(kinds), node.settings.get("dtype"))
    dtypes = node.function.resolve_dtypes((*kinds, None), signature=wanted)  # type: ignore[union-attr]
    *found, result = dtypes
    integer_power = node.name == "power" and dtype.kind != "f"
    if result != dtype or any(each not in TYPES for each in found) or integer_power:
        raise NoLoop
    return found


def _reduction(node: Node) -> Call:
    array, *rest = node.args
    settings = dict(zip(("axis",), rest)) | node.settings
    combine = ALIASES.get(node.name, node.name.removesuffix(".reduce"))
    if node.dtype == bool:
        combine = "logical_or" if combine in ("logical_or", "maximum", "add") else "logical_and"
    first = neutral(combine, np.dtype(node.dtype))
    known = settings.keys() <= {"axis", "keepdims", "dtype", "initial"}
    if (
        not known
        or settings.get("initial", first) != first
        or settings.get("dtype", node.dtype) != node.dtype
    ):
        raise NoLoop
    shape, axes = array.shape, _axes(settings.get("axis"), array.value.ndim)
    region = region_of(array)
    if region is None:
        raise NoLoop
    left = row_major([1 if axis in axes else size for axis, size in enumerate(shape)])
    strides = tuple([0 if axis in axes else stride for axis, stride in enumerate(left)])
    call = Call(node, "{0}", Frame(shape, region.strides), strides)
    call.combine = combine
    call.operands = [call.operand(array, np.dtype(node.dtype), shape)]
    return call


def neutral(combine: str, dtype: np.dtype[Any]) -> Any:
    """With what a reduction begins."""
    if combine in ("maximum", "minimum"):
        ends = (-math.inf, math.inf) if dtype.kind == "f" else (-(2**63), 2**63 - 1)
        return ends[combine == "minimum"]
    return {"add": 0, "multiply": 1, "logical_or": False, "logical_and": True}[combine]


def _axes(axis: Any, dimensions: int) -> set[int]:
    if axis is None:
        return set(range(dimensions))
    return {each % dimensions for each in (axis if isinstance(axis, tuple) else (axis,))}


# ---------------------------------------------------------------- indices


def _gather(node: Node) -> Call:
    """``a[index]`` and ``a.take(places)``."""
    array, index = node.args
    region = region_of(array)
    if region is None:
        raise NoLoop
    shape = node.shape or ()
    call = Call(node, "{0}", Frame(shape, row_major(shape)), row_major(shape))
    if node.name == "take" and node.settings.get("axis") is None:
        array, region = _flat(array, region)
    elif node.name == "take" and node.settings["axis"] != 0:
        raise NoLoop
    if node.settings.keys() - {"axis"}:
        raise NoLoop
    rest = _index(call, index, array.shape if isinstance(array, Node) else array, region.strides, shape)
    operand = Operand(node.args[0], np.dtype(node.dtype), region, call.frame.access(region.offset, rest))
    call.operands = [operand]
    return call


def _gather_along(node: Node) -> Call:
    """``take_along_axis(a, index, axis)``, where all other dimensions are as large as those of ``a``."""
    array, index, axis = node.args
    region, shape = region_of(array), array.shape
    axis %= len(shape)
    if (
        region is None
        or node.settings
        or shape[:axis] + shape[axis + 1 :] != node.shape[:axis] + node.shape[axis + 1 :]
    ):
        raise NoLoop
    call = Call(node, "{0}", Frame(node.shape, row_major(node.shape)), row_major(node.shape))
    place = call.operand(index, np.dtype(np.int64), node.shape)
    call.indices = [(place, shape[axis], region.strides[axis])]
    strides = [0 if each == axis else stride for each, stride in enumerate(region.strides)]
    call.operands = [Operand(array, np.dtype(node.dtype), region, call.frame.access(region.offset, strides))]
    return call


def _flat(array: Node, region: Region) -> Any:
    """An array and its region as one row of elements."""
    if region.strides != row_major(array.shape or ()):
        raise NoLoop
    return (array.value.size,), region._replace(strides=(1,))


def _index(
    call: Call, index: Any, shape: Any, strides: tuple[int, ...], result: tuple[int, ...]
) -> tuple[int, ...]:
    """Note the arrays of ``index``; the strides, along ``result``, of the dimensions that it leaves whole."""
    arrays = index if isinstance(index, tuple) else (index,)
    whole = len(shape) - len(arrays)
    selected = result[: len(result) - whole]
    integers = np.dtype(np.int64)
    for each, size, stride in zip(arrays, shape, strides):
        if not isinstance(each, Node) or each.dtype != integers or each.shape != selected:
            raise NoLoop
        region = region_of(each)
        if region is None:
            raise NoLoop
        padded = (*region.strides, *(0,) * whole)
        operand = Operand(each, integers, region, call.frame.access(region.offset, padded))
        call.indices.append((operand, size, stride))
    return (*(0,) * len(selected), *strides[len(arrays) :])


def _scatter(node: Node) -> Call:
    """A copy of an array in which some elements are written, as by ``a[index] = value``."""
    array, index, value = node.args
    region = region_of(array) if isinstance(array, Node) and array.dtype == node.dtype else None
    arrays = index if isinstance(index, tuple) else (index,)
    if region is None or region.strides != row_major(array.shape) or not isinstance(arrays[0], Node):
        raise NoLoop
    sizes = (array.value.size,) if node.name == "put_flat" else array.shape
    selected = (*(arrays[0].shape or ()), *sizes[len(arrays) :])
    call = Call(node, "{0}", Frame(selected, row_major(selected)), (0,) * len(selected))
    call.copied = region
    call.result = call.frame.access(0, _index(call, index, sizes, row_major(sizes), selected))
    call.operands = [call.operand(value, np.dtype(node.dtype), selected)]
    return call


_SELECTIONS: dict[str, Callable[[Node], Call]] = {
    "take": _gather,
    "getitem": _gather,
    "take_along_axis": _gather_along,
    "put": _scatter,
    "put_flat": _scatter,
}
