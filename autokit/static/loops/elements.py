"""Which calls have a compiled form: a loop over elements, or a product of matrices by BLAS.

A loop goes over rows and columns: the last of a call's dimensions are the columns, all others together the
rows; a vector is one column. A view is no work of its own: its elements are read where they lie in the memory
of the node that owns them. A call that is not found here stays a call of NumPy.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autokit.static.calls import is_reduction
from autokit.static.graph import Node
from autokit.static.traced import astype

TRUTH = np.dtype(bool)
TYPES = {np.dtype(kind): kind for kind in ("f4", "f8", "i8", "u8")} | {TRUTH: "bool"}
"""The dtypes that loops compute in, and their names there."""

SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power_f4": "**", "power_f8": "**"}
SIGNS |= {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
SIGNS |= {"equal": "==", "not_equal": "!=", "bitwise_and": "&", "bitwise_or": "|"}
FUNCTIONS = ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "exp_f4", "tanh_f4")
FORMS = {name: f"{{0}} {sign} {{1}}" for name, sign in SIGNS.items()}
FORMS |= {name: f"{name}({{0}})" for name in FUNCTIONS}
FORMS |= {
    "negative": "-{0}",
    "absolute": "abs({0})",
    "square": "{0} * {0}",
    "reciprocal": "1 / {0}",
    "maximum": "{0} if ({0} >= {1}) | ({0} != {0}) else {1}",  # the larger, or NaN
    "minimum": "{0} if ({0} <= {1}) | ({0} != {0}) else {1}",
    "sign": "{0} if ({0} != {0}) | ({0} == 0) else 1 if {0} > 0 else -1",
    "where": "{1} if {0} else {2}",
    "logical_and": "({0} != 0) & ({1} != 0)",
    "logical_or": "({0} != 0) | ({1} != 0)",
}
FORMS |= dict.fromkeys(("astype", "copy"), "{0}")
FORMS |= dict.fromkeys(("logical_not", "invert_bool"), "{0} == 0")
"""What an element is computed from, by the name of the call, or that and the result's dtype."""

NEUTRAL: dict[str, float] = {"add": 0, "multiply": 1, "logical_and": 1, "logical_or": 0}
NEUTRAL |= {"maximum": -math.inf, "minimum": math.inf}
"""With what a reduction begins."""


class NoLoop(Exception):
    """This call has no compiled form."""


class Place(NamedTuple):
    """Where elements lie: that of row ``i`` and column ``j`` at ``offset + i · down + j · across``."""

    owner: Node
    dtype: np.dtype[Any]
    offset: int
    down: int
    across: int


Operand = tuple[Any, np.dtype[Any]]
"""A place or a number, and the dtype in which it is computed with."""

Matrix = tuple[Place, bool, int]
"""Where a matrix lies, whether BLAS has to read it transposed, and the distance between its rows."""


class Work(NamedTuple):
    """The compiled form of a call: a loop, or a product of matrices, ``base + operand · operand · A B``.

    Attributes
    ----------
    size : tuple of int
        Rows and columns; of a product m, n and k.
    operands : list
        Where elements are selected by an index, the index.
    result : Place or None
        Where elements go; of a reduction, several to the same place. A check has none.
    form : str
        What an element is computed from, with ``{0}`` for the first operand.
    combine : str
        Of a reduction the form by which ``{0}``, what there is, and ``{1}``, an element, become one.
    first : number
        With what a reduction begins.
    row : Place or None
        Where elements are selected, those that they are selected from.
    factors : tuple
        A and B, whose elements are read while the result is written, unlike those of ``base``.
    base : Place or None
    """

    size: tuple[int, ...]
    operands: list[Operand]
    result: Place | None
    form: str = "{0}"
    combine: str = ""
    first: Any = None
    row: Place | None = None
    factors: tuple[Matrix, ...] = ()
    base: Place | None = None

    @property
    def is_plain(self) -> bool:
        """Whether each element is computed from those at its place, and nothing can stop the run."""
        return bool(self.result) and not (self.combine or self.row or self.factors)

    def reads(self) -> list[Place]:
        """The places that are read."""
        read = [self.row, *[value for value, _ in self.operands], *[factor[0] for factor in self.factors]]
        return [each for each in read if isinstance(each, Place)]


def work_of(node: Node) -> Work | None:
    """The compiled form of a call; None if there is none."""
    try:
        if node.kind == "check":
            return Work((1, 1), [(_operand(node.args[0], ()), TRUTH)], None)
        if node.kind != "call" or node.dtype not in TYPES or not node.value.size:
            return None
        if node.function in (np.dot, np.matmul):
            return _product(node)
        if node.function is np.take_along_axis:
            return _selection(node)
        return _reduction(node) if is_reduction(node) else _elementwise(node)
    except (NoLoop, KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
        return None  # NumPy does not take such dtypes or shapes, or there are no elements


def place_of(node: Node, shape: tuple[int, ...]) -> Place:
    """Where the elements of ``node`` lie, broadcast to a shape.

    Raises
    ------
    NoLoop
        If they do not lie at regular distances, or not row by row in a state.
    """
    views = []
    while node.kind == "view":
        views.append(node)
        node = node.args[0]
    if node.dtype is None or node.kind == "state" and not node.value.flags.c_contiguous:
        raise NoLoop
    memory = view = np.empty(node.shape, node.dtype)
    for each in reversed(views):
        view = each.function(view, *each.args[1:], **each.settings)  # type: ignore[misc]
    return _placed(node, memory, view, shape)


def _placed(owner: Node, memory: np.ndarray, view: np.ndarray, shape: tuple[int, ...]) -> Place:
    """Where elements of ``memory`` lie, as NumPy finds it for a view that is broadcast to a shape."""
    size = _size(shape)
    view = np.broadcast_to(view, shape).reshape(size)
    if view.dtype not in TYPES or not np.may_share_memory(view, memory):
        raise NoLoop
    offset = (view.ctypes.data - memory.ctypes.data) // view.itemsize
    down, across = [stride // view.itemsize if count > 1 else 0 for stride, count in zip(view.strides, size)]
    return Place(owner, view.dtype, offset, down, across)


def _size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns."""
    columns = shape[-1] if len(shape) > 1 else 1
    return math.prod(shape) // columns, columns


def _operand(value: Any, shape: tuple[int, ...]) -> Any:
    """How a call over a shape reads a number or a node."""
    if isinstance(value, Node):
        return value.value.item() if value.kind == "const" and not value.shape else place_of(value, shape)
    return value


def _elementwise(node: Node) -> Work:
    form = FORMS.get(f"{node.name}_{TYPES[node.dtype]}") or FORMS[node.name]
    operands = [(_operand(value, node.shape), dtype) for value, dtype in zip(node.args, _computed_in(node))]
    return Work(_size(node.shape), operands, place_of(node, node.shape), form)


def _computed_in(node: Node) -> list[np.dtype[Any]]:
    """The dtypes to which the operands are converted before the call."""
    if node.function in (astype, np.copy):
        return [node.dtype]
    if node.function is np.where:
        return [TRUTH, node.dtype, node.dtype]
    if not isinstance(node.function, np.ufunc) or node.settings.keys() - {"dtype"}:
        raise NoLoop
    kinds = [getattr(value, "dtype", type(value)) for value in node.args]
    wanted = (*[None] * len(kinds), node.settings.get("dtype"))
    *found, result = node.function.resolve_dtypes((*kinds, None), signature=wanted)
    if result != node.dtype or any(each not in TYPES for each in found):
        raise NoLoop
    return found


def _reduction(node: Node) -> Work:
    (array,), settings, dtype = node.args, node.settings, node.dtype
    name = node.name.removesuffix(".reduce")
    first = settings.get("initial", NEUTRAL[name])
    if settings.keys() - {"axis", "keepdims", "initial", "dtype"}:
        raise NoLoop
    if abs(first) == math.inf and dtype.kind != "f":
        first = np.iinfo(dtype).min if first < 0 else np.iinfo(dtype).max
    kept = np.empty(np.empty(array.shape, bool).any(settings.get("axis", 0), keepdims=True).shape, dtype)
    result, operands = _placed(node, kept, kept, array.shape), [(_operand(array, array.shape), dtype)]
    if result.down and result.across:
        raise NoLoop
    return Work(_size(array.shape), operands, result, combine=FORMS[name], first=first)


def _selection(node: Node) -> Work:
    """``take_along_axis(a, index, axis)`` that selects from each row of ``a``."""
    array, index, axis = node.args
    last = len(node.shape) - 1
    if last < 1 or axis not in (-1, last) or array.shape[:-1] != node.shape[:-1]:
        raise NoLoop
    operands, row = [(_operand(index, node.shape), np.dtype(np.int64))], place_of(array, array.shape)
    return Work(_size(node.shape), operands, place_of(node, node.shape), row=row)


def _product(node: Node) -> Work:
    """A product that BLAS can compute: of two matrices of float32, or of float64."""
    a, b = node.args
    if node.settings or node.dtype.kind != "f" or not len(a.shape) == len(b.shape) == 2:
        raise NoLoop
    if not a.dtype == b.dtype == node.dtype:
        raise NoLoop
    size, factors = (*node.shape, a.shape[1]), (_matrix(a), _matrix(b))
    return Work(size, [(1, node.dtype)], place_of(node, node.shape), factors=factors)


def _matrix(node: Node) -> Matrix:
    (rows, columns), place = node.shape, place_of(node, node.shape)
    if place.across == (columns > 1) and (place.down >= columns or rows == 1):
        return place, False, max(place.down, columns)
    if place.down == (rows > 1) and (place.across >= rows or columns == 1):
        return place, True, max(place.across, rows)
    raise NoLoop


def added_to(state: Node, node: Node) -> tuple[Work, list[Node]]:
    """``node`` as a product that is added to ``state``, and the nodes between.

    So a step of gradient descent on the weights of a linear layer is one call of BLAS.

    Raises
    ------
    NoLoop
        If it is something else.
    """
    if node.function not in (np.add, np.subtract) or node.args[0] is not state:
        raise NoLoop
    term, operands = node.args[1], [(1 if node.function is np.add else -1, node.dtype)]
    between = [term]
    if term.function is np.multiply:
        number, term = sorted(term.args, key=lambda each: getattr(each, "shape", ()))
        operands.append((_operand(number, ()), node.dtype))
        between.append(term)
    found = work_of(term)
    if found is None or not found.factors or term.shape != state.shape:
        raise NoLoop
    return found._replace(operands=operands, base=place_of(state, state.shape)), between
