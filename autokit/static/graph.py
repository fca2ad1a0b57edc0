"""The graph of a static program: calls of NumPy, in the order in which they run.

Each :class:`Node` is one value, computed once and never changed: a write into an array is a node that gives a
new array. The compiler's textbooks call this form *static single assignment*.

References
----------
R. Cytron et al., "Efficiently computing static single assignment form and the control dependence graph", ACM
TOPLAS 13, 1991.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from autokit.base import doors
from autokit.func.trees import mapped

Line = tuple[str, int]
"""A line of the learner's program: its file and number."""

NESTED = tuple, list, dict
"""Containers, in which arguments stand."""

SHOWN = 256
"""A graph keeps the example's values of arrays of up to so many elements, for its pictures."""


def outline(value: Any) -> Any:
    """An example's value; of a large array one of the same shape and dtype that takes no memory."""
    if isinstance(value, np.ndarray) and value.size > SHOWN:
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    return value


@dataclass(eq=False, repr=False)
class Node:
    """One value of a static graph.

    Attributes
    ----------
    id : int
        Its number, by the order in which the nodes were made.
    kind : str
        ``"input"`` (given for each run), ``"state"`` (a parameter or a buffer, which lasts from run to run),
        ``"const"`` (known before the first run), ``"number"`` (a number that Python computes before each
        run, such as a learning rate), ``"call"`` (of NumPy), ``"view"`` (a call whose result shares its
        operand's memory), ``"draw"`` (of random numbers, anew in each run) or ``"check"`` (stops the run).
    name : str
        NumPy's name of the call, as ``"add"`` or ``"add.reduce"``, or that of an opaque function.
    function : callable or None
        Called with ``args`` and ``settings``, in which nodes stand for their values. A check's function
        explains: it is called with the operands after the first, the condition, if that is false, and returns
        the exception to raise.
    args : tuple
        Operands: nodes, numbers, and tuples or lists of such.
    settings : dict
        Keyword arguments, likewise.
    shape, dtype
        Of the value; None for a tuple of several values.
    value : ndarray or tuple
        The value for the example on which the graph was traced. Of a state it is the state's array itself.
    operation, phase, module : str
        The rule that called, ``"forward"``, ``"backward"`` or ``"update"``, and the path of the module.
    line : (str, int) or None
        The line of the learner's program.
    label : str
        The name of an input or a state.
    block : int
        How many of its elements are computed at a time, together with those of its neighbours; 0 for all.
    """

    id: int
    kind: str
    name: str
    function: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    settings: Any = None
    value: Any = None
    _: KW_ONLY
    operation: str = ""
    phase: str = "forward"
    module: str = ""
    line: Line | None = None
    label: str = ""
    block: int = 0

    def __post_init__(self) -> None:
        self.settings = self.settings or {}
        self.shape: Any = getattr(self.value, "shape", None)
        self.dtype: Any = getattr(self.value, "dtype", None)

    def operands(self) -> list[Node]:
        """The nodes among the arguments, in order."""
        return found_in((*self.args, *self.settings.values()), Node)

    def reading(self, table: dict[Node, Any]) -> Node:
        """A copy that reads what stands in ``table`` in place of operands."""
        twin = object.__new__(Node)
        vars(twin).update(vars(self))  # as copy.copy() does, in a third of the time
        twin.args, twin.settings = substitute((self.args, self.settings), table)
        return twin

    def __repr__(self) -> str:
        return f"%{self.id}"


@dataclass(eq=False, repr=False)
class Graph:
    """A static program.

    Attributes
    ----------
    nodes : list of Node
        In an order in which they can run.
    inputs, states, outputs : list of Node
    updates : dict
        For each state that changes, the node of its new value, which is written after the last check.
    """

    nodes: list[Node] = field(default_factory=list)
    inputs: list[Node] = field(default_factory=list)
    states: list[Node] = field(default_factory=list)
    outputs: list[Node] = field(default_factory=list)
    updates: dict[Node, Node] = field(default_factory=dict)

    def add(self, node: Node) -> Node:
        """Append ``node``, which is returned."""
        self.nodes.append(node)
        return node

    def roots(self) -> list[Node]:
        """The nodes for whose sake the others run. Draws are among them: each moves the random stream on."""
        kept = [node for node in self.nodes if node.kind in ("check", "draw")]
        return [*self.outputs, *self.updates.values(), *kept]

    def users(self) -> dict[Node, list[Node]]:
        """For each node those that have it as an operand."""
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for operand in dict.fromkeys(node.operands()):
                found[operand].append(node)
        return found

    def needed(self, roots: list[Node]) -> list[Node]:
        """The nodes that ``roots`` are computed from, and these, in the order of the graph."""
        seen: set[Node] = set()
        waiting = list(roots)
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += node.operands()
        return [node for node in self.nodes if node in seen]

    def copy(self) -> Graph:
        """The same graph with nodes of its own."""
        twins: dict[Node, Node] = {}
        for node in self.nodes:
            twins[node] = node.reading(twins)
        other = Graph(**substitute(vars(self), twins))
        other.updates = {twins[state]: node for state, node in other.updates.items()}
        return other

    def forget_examples(self) -> None:
        """Keep only the form of large values, once the graph is written."""
        for node in self.nodes:
            if node.kind not in ("const", "state"):
                node.value = mapped(node.value, outline)

    def picture(self, fold: str | None = "auto") -> Any:
        """The graph to draw: a box for each operation or ``"module"``, or for None each call."""
        return doors.program(self, fold)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return doors.mimebundle(self.picture())

    def table(self) -> str:
        """A row for each node: its number, its call, dtype and shape, phase, operation, and line."""
        rows = [["node", "call", "operands", "value", "phase", "operation", "line"], *map(_row, self.nodes)]
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join(["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows])

    def diff(self, other: Graph) -> str:
        """The rows of the table that only this graph has, after ``-``, and those of ``other`` after ``+``."""
        mine, theirs = [["  ".join(_row(node)) for node in graph.nodes] for graph in (self, other)]
        lines = difflib.unified_diff(mine, theirs, n=0, lineterm="")
        return "\n".join([line for line in lines if not line.startswith(("---", "+++", "@@"))])


def _row(node: Node) -> list[str]:
    """A node's row of the table."""
    call = node.name if node.kind in ("call", "view") else f"{node.kind} {node.label}".strip()
    named = [f"{name}={_written(value)}" for name, value in node.settings.items()]
    operands = ", ".join([*map(_written, node.args), *named])
    value = "" if node.dtype is None else f"{node.dtype}{list(node.shape)}"
    return [str(node), call, operands, value, node.phase, node.operation, str((node.line or "  ")[1])]


def found_in(args: Any, kind: Any) -> list[Any]:
    """The objects of a class, or of several, in nested tuples, lists and dicts."""
    found: list[Any] = []
    for each in args.values() if isinstance(args, dict) else args if isinstance(args, NESTED) else (args,):
        if isinstance(each, kind):
            found.append(each)
        elif isinstance(each, NESTED) and each:
            found += found_in(each, kind)
    return found


def substitute(args: Any, table: dict[Node, Any]) -> Any:
    """``args`` with each node that is in ``table`` replaced by what stands there."""
    return mapped(args, lambda each: table.get(each, each) if isinstance(each, Node) else each)


def example_of(args: Any) -> Any:
    """``args`` with the example's value in place of each node."""
    return mapped(args, lambda one: one.value if isinstance(one, Node) else one)


def evaluated(function: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """What a call gives for the values of its operands."""
    with np.errstate(all="ignore"):
        return function(*example_of(args), **example_of(settings))


def _written(argument: Any) -> str:
    """An argument in a row of the table."""
    if isinstance(argument, np.ndarray) and argument.ndim:
        return f"array{list(argument.shape)}"
    if isinstance(argument, tuple | list):
        return "(" + ", ".join(map(_written, argument)) + ")"
    return repr(argument.item() if isinstance(argument, np.ndarray) else argument)
