"""How generated code names the values of a graph, as a reader would, and writes arguments down."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node

WORDS = {"exp": "exponential", "log": "logarithm", "maximum.reduce": "largest", "add.reduce": "total"}
WORDS |= {"argmax": "places", "take": "chosen", "astype": "bits", "logical_not": "mask"}
WORDS |= dict.fromkeys(("multiply", "dot", "matmul"), "product")
WORDS |= dict.fromkeys(("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"), "mask")
"""What results are called inside of an operation, where NumPy's name of the call would not do."""

VIEWS = {"transpose": "T", "slice": "part", "view": "bits"}
"""What views are called, after their operand."""


class Text(str):
    """An operand that is written down already."""


def names_for(graph: Graph) -> dict[Node, str]:
    """A name for each node, for most views the empty one; several may have the same.

    Inputs and states have their labels, gradients of states are called after these, and what leaves an
    operation is called after it, with ``g_`` in the backward pass.
    """
    names = {node: node.label or _word_of(node) for node in graph.nodes}
    users, ends = graph.users(), {*graph.outputs, *graph.updates.values()}
    for node in graph.nodes:
        leaves = node in ends or any([part_of(user) != part_of(node) for user in users[node]])
        computed = node.kind in ("call", "draw") or node.name == "view"
        if leaves and computed and node.operation:
            names[node] = ("g_" if node.phase == "backward" else "") + node.operation
    gradients: dict[Node, str] = {}
    for state, new in graph.updates.items():
        waiting = [new]
        for node in waiting:
            if node.phase == "update":
                waiting += node.operands()
            elif node.phase == "backward" and node.kind != "state" and node.shape == state.shape:
                gradients.setdefault(node, f"d_{identifier(state.label)}")
    return names | gradients


def _word_of(node: Node) -> str:
    """What a node without a label is called inside of an operation; a view is called after its operand."""
    if node.kind == "const":
        return "zeros" if np.all(node.value == 0) else "ones" if np.all(node.value == 1) else "constant"
    return "" if node.kind == "view" else WORDS.get(node.name, node.name)


def part_of(node: Node) -> tuple[str, str, str]:
    """What tells the operation apart of which a node is part."""
    return node.phase, node.operation, node.module


def suffix_of(view: Node) -> str:
    """What a view is called, after its operand's name."""
    shaped = "column" if view.shape[1:] == (1,) else "flat" if len(view.shape) == 1 else "view"
    return VIEWS.get(view.name, shaped)


def identifier(label: str) -> str:
    """``label`` as a name of Python: ``weight_0`` of ``0.weight``."""
    head, tail = re.fullmatch(r"([\d._]*)(.*)", label, re.DOTALL).groups()  # type: ignore[union-attr]
    name = re.sub(r"\W+", "_", f"{tail}_{head}" if head and tail else label).strip("_")
    return name if name.isidentifier() else f"value_{name}".strip("_")


class Namespace:
    """The names of a generated module, and the objects that it is given under some of them.

    Parameters
    ----------
    objects : dict
        What the code is given: functions, constants, and settings that cannot be written down.
    reserved : iterable of str
        Names that no value gets.

    Attributes
    ----------
    names : dict
        The name of each node.
    """

    def __init__(self, objects: dict[str, Any], reserved: Iterable[str]) -> None:
        self.objects, self.names = objects, dict[Node, str]()
        self._given = {id(value): name for name, value in objects.items()}
        self._taken = {*objects, *reserved, *keyword.kwlist}
        self._free: dict[str, Iterator[str]] = {}
        self._numbers: dict[Any, np.ndarray] = {}

    def fresh(self, wish: str) -> str:
        """A name that nothing has yet: ``wish`` as a name of Python, with a number if need be."""
        name = identifier(wish)
        numbered = chain([name], (f"{name}_{number}" for number in count(2)))
        free = self._free.setdefault(name, (each for each in numbered if each not in self._taken))
        name = next(free)
        self._taken.add(name)
        return name

    def given(self, wish: str, value: Any) -> str:
        """The name under which the code is given an object, the first time with a wish for it."""
        if id(value) not in self._given:
            name = self._given[id(value)] = self.fresh(wish)
            self.objects[name] = value
        return self._given[id(value)]

    def number(self, value: Any, dtype: Any) -> str:
        """A number as an array without dimensions, with which NumPy computes sooner."""
        array = np.asarray(value, dtype)
        array = self._numbers.setdefault((array.dtype, array.tobytes()), array)
        text = str(array)
        short = text if len(text) < 8 else f"{array:.3g}"
        return self.given(f"number_{short}".replace("-", "minus_"), array)

    def spelled(self, argument: Any) -> str:
        """An argument, as Python writes it."""
        if isinstance(argument, Node):
            return self.names[argument]
        if isinstance(argument, Text):
            return argument
        if isinstance(argument, np.generic):
            return self.number(argument, argument.dtype)
        if type(argument) is float and not math.isfinite(argument):
            return self.given(repr(argument).replace("-", "minus_"), argument)
        if argument is None or argument is ... or type(argument) in (bool, int, float, str, slice):
            return repr(argument)
        if isinstance(argument, np.dtype) and np.dtype(argument.type) == argument:
            argument = argument.type
        if isinstance(argument, dict):
            return f"dict({self.arguments((), argument)})"
        if isinstance(argument, tuple | list):
            inner = ", ".join(map(self.spelled, argument))
            if hasattr(argument, "_fields"):
                return f"{self.given(type(argument).__name__, type(argument))}({inner})"
            comma = "," if len(argument) == 1 else ""
            return f"[{inner}]" if isinstance(argument, list) else f"({inner}{comma})"
        return self.given(getattr(argument, "__name__", type(argument).__name__.lower()), argument)

    def index(self, index: Any) -> str:
        """What stands between the brackets, with slices as ``1:3``."""

        def part(one: Any) -> str:
            if type(one) is not slice:
                return "..." if one is ... else self.spelled(one)
            ends = ["" if each is None else repr(each) for each in (one.start, one.stop, one.step)]
            return ":".join(ends if ends[2] else ends[:2])

        if not isinstance(index, tuple) or not index:
            return part(index)
        return ", ".join(map(part, index)) + ("," if len(index) == 1 else "")

    def arguments(self, args: Iterable[Any], settings: dict[str, Any]) -> str:
        """The arguments of a call."""
        named = [f"{name}={self.spelled(value)}" for name, value in settings.items()]
        return ", ".join([*map(self.spelled, args), *named])
