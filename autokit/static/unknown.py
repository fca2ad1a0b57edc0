"""A graph for any number of rows: two traces with different numbers say what depends on it, and how.

The same function is traced for two batch sizes. The nodes must be the same, and a number that differs must be
explained: as a multiple of the size N or of N², as a fraction of them, or by N − 1, with which batch norm
corrects a variance. Then the graph for another N is the first one, with these numbers replaced.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.static.errors import described
from autokit.static.graph import Graph, Node
from autokit.static.trace import Trace

_FORMS: tuple[Callable[[float], float], ...] = (
    lambda n: n,
    lambda n: 1 / n,
    lambda n: n * n,
    lambda n: 1 / (n * n),
    lambda n: n / (n - 1) if n > 1 else float("nan"),
    lambda n: n - 1,
)
"""How a number may depend on the batch size, but for a factor."""


class Unexplained(Exception):
    """A difference between two traces that no form explains."""


class Sizes:
    """Two sizes for which a function was traced, and a third one for which it is wanted."""

    def __init__(self, first: int, second: int, wanted: int) -> None:
        self.first, self.second, self.wanted = first, second, wanted

    def number(self, one: Any, other: Any) -> Any:
        """What stands for the wanted size where ``one`` and ``other`` stand for the two."""
        if one == other:
            return one
        if not (one and other):
            raise Unexplained(f"{one} became {other}")
        for form in _FORMS:
            factor, again = one / form(self.first), other / form(self.second)
            if abs(factor - again) <= 1e-6 * abs(factor):
                found = factor * form(self.wanted)
                return round(found) if isinstance(one, int | np.integer) else type(one)(found)
        raise Unexplained(f"{one} became {other}")

    def value(self, one: Any, other: Any, table: dict[Node, Node]) -> Any:
        """The same for arguments: nested numbers, and nodes of the first trace."""
        if isinstance(one, Node):
            return table[one]
        if isinstance(one, slice) and isinstance(other, slice):
            parts = (one.start, one.stop, one.step), (other.start, other.stop, other.step)
            return slice(*self.value(*parts, table))
        if isinstance(one, tuple | list):
            if type(one) is not type(other) or len(one) != len(other):
                raise Unexplained("it has other arguments")
            several = [self.value(each, its, table) for each, its in zip(one, other)]
            return type(one)(*several) if hasattr(one, "_fields") else type(one)(several)
        if isinstance(one, dict):
            return {name: self.value(each, other[name], table) for name, each in one.items()}
        if isinstance(one, int | float | np.number) and not isinstance(one, bool):
            return self.number(one, other)
        if isinstance(one, np.ndarray):
            return self.constant(one, other)
        return one

    def constant(self, one: Any, other: Any) -> Any:
        """A constant for the wanted size: where it is as long as the batch, it repeats one number."""
        if one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f"):
            return one
        if len(one.shape) != len(other.shape) or not (one.size and other.size):
            raise Unexplained("it has another shape")
        first, second = one.flat[0], other.flat[0]
        if (one != first).any() or (other != second).any():
            raise Unexplained(f"it was made for {self.first} rows while the graph was built")
        shape = tuple(map(self.number, one.shape, other.shape))
        return np.full(shape, self.number(first.item(), second.item()), one.dtype)


def for_rows(first: Trace, second: Trace, sizes: Sizes) -> Trace:
    """The trace for another number of rows.

    Raises
    ------
    Unexplained
        With the line of what depends on the number in a way that is not known.
    """
    mine, theirs = first.graph, second.graph
    if first.halves or second.halves or [n.name for n in mine.nodes] != [n.name for n in theirs.nodes]:
        raise Unexplained("the program takes another way")
    graph, table = Graph(), dict[Node, Node]()
    live = set(mine.needed(mine.roots()))
    for node, twin in zip(mine.nodes, theirs.nodes):
        if node not in live and node.kind not in ("input", "state"):
            continue
        try:
            table[node] = graph.add(_resized(node, twin, sizes, table))
        except Unexplained as error:
            raise Unexplained(f"{described(node.line)}: {node.name}: {error}") from None
    graph.inputs, graph.states = [table[node] for node in mine.inputs], [table[node] for node in mine.states]
    graph.outputs = [table[node] for node in mine.outputs]
    graph.updates = {table[state]: table[node] for state, node in mine.updates.items()}
    trace = copy.copy(first)
    trace.graph = graph
    trace.states = [(tensor, table[node]) for tensor, node in first.states]
    return trace


def _resized(node: Node, twin: Node, sizes: Sizes, table: dict[Node, Node]) -> Node:
    new = copy.copy(node)
    new.args = sizes.value(node.args, twin.args, table)
    new.settings = sizes.value(node.settings, twin.settings, table)
    new.shape = sizes.value(node.shape, twin.shape, table)
    if node.kind == "const":
        new.value = sizes.constant(node.value, twin.value)
    elif node.kind not in ("state", "number") and new.dtype is not None:
        new.value = np.broadcast_to(np.zeros((), new.dtype), new.shape)
    return new


def rows_of(keys: list[Any]) -> tuple[int, ...] | None:
    """The batch sizes of three signatures that differ in nothing else; None where they do."""
    found: set[tuple[int, ...]] = set()

    def compare(*parts: Any) -> bool:
        if len(set(map(repr, parts))) == 1:
            return True
        if not all([isinstance(part, tuple) and len(part) == len(parts[0]) for part in parts]):
            return False
        if all([all([each.__class__ is int for each in part]) for part in parts]):  # they are shapes
            found.update([each for each in zip(*parts) if len(set(each)) > 1])
            return True
        return all([compare(*each) for each in zip(*parts)])

    return found.pop() if compare(*keys) and len(found) == 1 else None
