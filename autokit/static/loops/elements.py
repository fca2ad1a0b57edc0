"""What one element of a call's result is computed from, as Python that Numba compiles.

A call is computed in rows and columns: the last of its dimensions are the columns, all others together the
rows; a vector is one column. A view is no work of its own: its elements are read where they lie in the memory
of the node that owns them. A call that is not found here has no loop, and stays a call of NumPy.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autokit.static.calls import is_reduction
from autokit.static.graph import Node, nodes_in
from autokit.static.traced import astype

TYPES = {np.dtype(kind): kind for kind in ("f4", "f8", "i8", "u8")} | {np.dtype(bool): "bool"}
"""The dtypes that loops compute in, and their names there."""

TRUTH = np.dtype(bool)

LARGE = 4096
SEVERAL_AT_ONCE = ("exp", "log", "sin", "cos", "tanh")
"""NumPy computes these for several elements at once, which compiled loops do not: it keeps large arrays."""

SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}
SIGNS |= {
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
FUNCTIONS = ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf")
FORMS = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in SIGNS.items()},
    **{name: f"{name}({{0}})" for name in FUNCTIONS},
    "negative": "-{0}",
    "absolute": "abs({0})",
    "square": "{0} * {0}",
    "reciprocal": "1 / {0}",
    "maximum": "{0} if {0} >= {1} or {0} != {0} else {1}",  # the larger, or NaN
    "minimum": "{0} if {0} <= {1} or {0} != {0} else {1}",
    "sign": "{0} if {0} != {0} or {0} == 0 else 1 if {0} > 0 else -1",
    "where": "{1} if {0} else {2}",
    "astype": "{0}",
}
LOGICAL = {name: FORMS[name] for name in ("equal", "not_equal", "where", "astype")}
LOGICAL |= dict.fromkeys(("logical_and", "bitwise_and"), "{0} and {1}")
LOGICAL |= dict.fromkeys(("logical_or", "bitwise_or"), "{0} or {1}")
LOGICAL |= dict.fromkeys(("logical_not", "invert"), "not {0}")
"""The forms of calls whose operands are all true or false."""


class NoLoop(Exception):
    """This call has no loop."""


class Place(NamedTuple):
    """Where elements lie: that of row ``i`` and column ``j`` at ``offset + i · down + j · across``."""

    owner: Node
    dtype: np.dtype[Any]
    offset: int
    down: int
    across: int

    def text(self) -> str:
        """The index of an element, as Python."""
        terms = [f"{name} * {stride}" for name, stride in (("i", self.down), ("j", self.across)) if stride]
        return " + ".join([*terms, str(self.offset)])


class Operand(NamedTuple):
    """A number, or the place of an array's elements; and the dtype in which it is computed with."""

    value: Any
    dtype: np.dtype[Any]


class Call(NamedTuple):
    """A call that has a loop over rows and columns.

    Attributes
    ----------
    form : str
        What an element is computed from, with ``{0}`` for the first operand.
    operands : list of Operand
        Where elements are selected by an index, the index, which is added to the place ``row``.
    result : Place or None
        Where elements go; of a reduction, several to the same place. A check has none.
    combine : str
        Of a reduction the name of the universal function.
    """

    size: tuple[int, int]
    form: str
    operands: list[Operand]
    result: Place | None
    combine: str = ""
    row: Place | None = None

    @property
    def stops(self) -> bool:
        """Whether this can stop the run: a check, or an index that may be out of bounds."""
        return self.result is None or self.row is not None

    def reads(self) -> list[Place]:
        """The places that are read."""
        places = [each.value for each in self.operands if isinstance(each.value, Place)]
        return [*places, *([self.row] if self.row else [])]

    def owners(self) -> list[Node]:
        """The nodes whose memory is read."""
        return [place.owner for place in self.reads()]


def call_of(node: Node) -> Call | None:
    """The loop of a call; None if there is none."""
    try:
        if node.kind == "check":
            return Call((1, 1), "{0}", [operand_of(node.args[0], TRUTH, ())], None)
        if node.kind != "call" or node.dtype not in TYPES or not node.value.size:
            return None
        if is_reduction(node):
            return _reduction(node)
        return _selection(node) if node.function is np.take_along_axis else _elementwise(node)
    except (NoLoop, TypeError, ValueError):  # NumPy has no such call for these dtypes, or shapes
        return None


def place_of(node: Node, shape: tuple[int, ...]) -> Place:
    """Where the elements of ``node`` lie, broadcast to a shape.

    Raises
    ------
    NoLoop
        If they do not lie at regular distances, or where they lie depends on numbers.
    """
    views = []
    while node.kind == "view":
        views.append(node)
        node = node.args[0]
    if node.dtype is None or not node.value.size:
        raise NoLoop
    memory = view = np.empty(node.shape, node.dtype)
    for each in reversed(views):
        if any(True for _ in nodes_in((each.args[1:], each.settings))):
            raise NoLoop
        view = each.function(view, *each.args[1:], **each.settings)  # type: ignore[misc]
    return _placed(node, memory, view, shape)


def _placed(owner: Node, memory: np.ndarray, view: np.ndarray, shape: tuple[int, ...]) -> Place:
    """Where elements of ``memory`` lie, as NumPy finds it for a view that is broadcast to a shape."""
    size = _size(shape)
    view = np.broadcast_to(view, shape).reshape(size)
    if view.dtype not in TYPES or not np.may_share_memory(view, memory):
        raise NoLoop
    starts = [array.__array_interface__["data"][0] for array in (view, memory)]
    down, across = [stride // view.itemsize if count > 1 else 0 for stride, count in zip(view.strides, size)]
    return Place(owner, view.dtype, (starts[0] - starts[1]) // view.itemsize, down, across)


def _size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns."""
    columns = shape[-1] if len(shape) > 1 else 1
    return math.prod(shape) // columns, columns


def operand_of(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Operand:
    """How a call over a shape reads a number or a node."""
    if isinstance(value, Node) and value.kind == "const" and value.shape == ():
        value = value.value.item()
    return Operand(place_of(value, shape) if isinstance(value, Node) else value, dtype)


def _elementwise(node: Node) -> Call:
    name, dtypes = node.name, _computed_in(node)
    forms = LOGICAL if all([dtype == TRUTH for dtype in dtypes]) else FORMS
    if name not in forms or name in SEVERAL_AT_ONCE and node.value.size >= LARGE:
        raise NoLoop
    operands = [operand_of(value, dtype, node.shape) for value, dtype in zip(node.args, dtypes)]
    return Call(_size(node.shape), forms[name], operands, place_of(node, node.shape))


def _computed_in(node: Node) -> list[np.dtype[Any]]:
    """The dtypes to which the operands are converted before the call."""
    if node.function is astype:
        return [node.dtype]
    if node.function is np.where and len(node.args) == 3:
        return [TRUTH, node.dtype, node.dtype]
    if not isinstance(node.function, np.ufunc) or node.settings.keys() - {"dtype"}:
        raise NoLoop
    kinds = [getattr(value, "dtype", type(value)) for value in node.args]
    wanted = (*[None] * len(kinds), node.settings.get("dtype"))
    *found, result = node.function.resolve_dtypes((*kinds, None), signature=wanted)
    integer_power = node.name == "power" and node.dtype.kind != "f"
    if result != node.dtype or any(each not in TYPES for each in found) or integer_power:
        raise NoLoop
    return found


def _reduction(node: Node) -> Call:
    (array,), settings, dtype = node.args, node.settings, node.dtype
    combine = node.function.__self__.__name__  # type: ignore[union-attr]
    first = neutral(combine, dtype)
    plain = settings.get("initial", first) == first and settings.get("dtype", dtype) == dtype
    if not plain or settings.keys() - {"axis", "keepdims", "initial", "dtype"}:
        raise NoLoop
    kept = np.empty(np.empty(array.shape, bool).any(settings.get("axis", 0), keepdims=True).shape, dtype)
    result = _placed(node, kept, kept, array.shape)
    return Call(_size(array.shape), "{0}", [operand_of(array, dtype, array.shape)], result, combine)


def neutral(combine: str, dtype: np.dtype[Any]) -> Any:
    """With what a reduction begins."""
    ufunc = getattr(np, combine)
    if combine not in (LOGICAL if dtype == TRUTH else FORMS):
        raise NoLoop
    if ufunc.identity is not None:
        return ufunc.identity
    info = np.iinfo(dtype) if dtype.kind in "iu" else None
    low, high = (info.min, info.max) if info else (-math.inf, math.inf)
    return low if combine == "maximum" else high


def _selection(node: Node) -> Call:
    """``take_along_axis(a, index, axis)`` that selects from each row of ``a``."""
    array, index, axis = node.args
    last = len(node.shape) - 1
    if last < 1 or axis not in (-1, last) or array.shape[:-1] != node.shape[:-1] or array.shape[-1] == 1:
        raise NoLoop
    place = operand_of(index, np.dtype(np.int64), node.shape)
    row = place_of(array, array.shape)
    return Call(_size(node.shape), "{0}", [place], place_of(node, node.shape), row=row)
