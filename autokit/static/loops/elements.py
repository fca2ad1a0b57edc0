"""What one element of a call's result is computed from, as Python that Numba compiles.

A call that is not found here has no loop, and stays a call of NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autokit.static.graph import Node
from autokit.static.loops.frames import Access, Frame, Region, broadcast, region_of, row_major

TYPES = {np.dtype(kind): name for kind, name in (("f4", "f4"), ("f8", "f8"), ("i8", "i8"), ("?", "bool"))}
"""The dtypes that loops compute in, and their names there."""

INTEGER, TRUTH = np.dtype(np.int64), np.dtype(bool)

OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}
COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
EQUALITIES = {"equal": "==", "not_equal": "!="}

FORMS = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in (OPERATORS | COMPARISONS | EQUALITIES).items()},
    **{
        name: f"{name}({{0}})"
        for name in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf")
    },
    "negative": "-{0}",
    "absolute": "abs({0})",
    "square": "{0} * {0}",
    "reciprocal": "1 / {0}",
    "maximum": "({0} if {0} >= {1} or {0} != {0} else {1})",  # the larger, or NaN
    "minimum": "({0} if {0} <= {1} or {0} != {0} else {1})",
    "clip": "({1} if {0} < {1} else {2} if {0} > {2} else {0})",
    "sign": "({0} if {0} != {0} or {0} == 0 else 1 if {0} > 0 else -1)",
    "isnan": "{0} != {0}",
    "where": "({1} if {0} else {2})",
    "astype": "{0}",
}

LOGICAL = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in EQUALITIES.items()},
    **dict.fromkeys(("logical_and", "bitwise_and"), "{0} and {1}"),
    **dict.fromkeys(("logical_or", "bitwise_or"), "{0} or {1}"),
    **dict.fromkeys(("logical_not", "invert"), "not {0}"),
}
"""The forms of calls whose operands are all true or false."""

REDUCTIONS = {name: FORMS[name] for name in ("add", "multiply", "maximum", "minimum")}
REDUCTIONS |= {name: LOGICAL[name] for name in ("logical_or", "logical_and")}
ALIASES = {"sum": "add", "prod": "multiply", "any": "logical_or", "all": "logical_and"}
ALIASES |= {"max": "maximum", "min": "minimum", "amax": "maximum", "amin": "minimum"}


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
    indices : list of (Operand, int, int)
        Of a call with an index: whole numbers, and the size and the stride of the dimension selected from.
    """

    def __init__(self, node: Node, form: str, frame: Frame, strides: tuple[int, ...]) -> None:
        self.node, self.form, self.frame, self.combine = node, form, frame, ""
        self.result = frame.access(0, strides)
        self.operands: list[Operand] = []
        self.indices: list[tuple[Operand, int, int]] = []

    def operand(
        self, value: Any, dtype: np.dtype[Any], sizes: tuple[int, ...], shape: tuple[int, ...] | None = None
    ) -> Operand:
        """``value``, as a call over ``sizes`` reads it; ``shape`` may have more dimensions of size 1."""
        if not isinstance(value, Node):
            return Operand(value, dtype)
        region = region_of(value)
        if region is None or region.owner.dtype not in TYPES:
            raise NoLoop
        shape = value.shape or () if shape is None else shape
        strides = (*region.strides, *[0] * (len(shape) - value.value.ndim))
        access = self.frame.access(region.offset, broadcast(shape, strides, sizes))
        return Operand(value, dtype, region, access)

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
        return [each.region.owner for each in operands if each.region]


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
    logical = all([dtype == TRUTH for dtype in dtypes]) or node.name.startswith("logical")
    forms = LOGICAL if logical and node.name not in ("where", "astype") else FORMS
    if node.name not in forms or node.settings.keys() - {"dtype"}:
        raise NoLoop
    shape = node.shape or ()
    call = Call(node, forms[node.name], Frame(shape, row_major(shape)), row_major(shape))
    call.operands = [
        call.operand(value, TRUTH if forms is LOGICAL else dtype, shape)
        for value, dtype in zip(node.args, dtypes)
    ]
    return call


def _computed_in(node: Node) -> list[np.dtype[Any]]:
    """The dtypes to which the operands are converted before the call."""
    dtype = np.dtype(node.dtype)
    if node.name in ("where", "astype", "clip"):
        first = TRUTH if node.name == "where" else dtype
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
    if node.dtype == TRUTH:
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
    """``a[index]`` for an array of whole numbers, or for one for each of the first dimensions."""
    array, index = node.args
    arrays = index if isinstance(index, tuple) else (index,)
    whole = array.value.ndim - len(arrays)
    selected = node.shape[: node.value.ndim - whole]  # type: ignore[index]
    if any(
        [not isinstance(each, Node) or (each.dtype, each.shape) != (INTEGER, selected) for each in arrays]
    ):
        raise NoLoop
    shapes = [(each, (*each.shape, *[1] * whole)) for each in arrays]
    return _selection(
        node, array, dict(enumerate(shapes)), [None] * len(selected) + [*range(len(arrays), array.value.ndim)]
    )


def _gather_along(node: Node) -> Call:
    """``take_along_axis(a, index, axis)``, where all other dimensions are as large as those of ``a``."""
    array, index, axis = node.args
    axis %= array.value.ndim
    axes = [None if each == axis else each for each in range(array.value.ndim)]
    if any([each is not None and array.shape[each] != node.shape[each] for each in axes]):  # type: ignore[index]
        raise NoLoop
    return _selection(node, array, {axis: (index, index.shape)}, axes)


def _selection(
    node: Node, array: Node, indices: dict[int, tuple[Node, tuple[int, ...]]], axes: list[int | None]
) -> Call:
    """Elements of an array: by dimension the index and its shape, and for each of the result whose it is."""
    shape, region = node.shape or (), region_of(array)
    if region is None or node.settings:
        raise NoLoop
    call = Call(node, "{0}", Frame(shape, row_major(shape)), row_major(shape))
    for axis, (index, as_shape) in indices.items():
        place = call.operand(index, INTEGER, shape, as_shape)
        call.indices.append((place, array.shape[axis], region.strides[axis]))  # type: ignore[index]
    strides = [0 if axis is None else region.strides[axis] for axis in axes]
    access = call.frame.access(region.offset, strides)
    call.operands = [Operand(array, np.dtype(node.dtype), region, access)]
    return call


_SELECTIONS: dict[str, Callable[[Node], Call]] = {"getitem": _gather, "take_along_axis": _gather_along}
