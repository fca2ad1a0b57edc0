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
from autokit.static.graph import Node
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

    def value(self, one: Any, other: Any) -> Any:
        """The same for arguments: nested numbers, and nodes."""
        if isinstance(one, slice) and isinstance(other, slice):
            return slice(*self.value((one.start, one.stop, one.step), (other.start, other.stop, other.step)))
        if isinstance(one, dict) and isinstance(other, dict):
            return dict(zip(one, self.value(tuple(one.values()), tuple(other.values()))))
        if isinstance(one, tuple | list) and type(one) is type(other) and len(one) == len(other):
            several = list(map(self.value, one, other))
            return type(one)(*several) if hasattr(one, "_fields") else type(one)(several)
        if isinstance(one, np.ndarray):
            return self.constant(one, other)
        if isinstance(one, int | float | np.number) and not isinstance(one, bool):
            return self.number(one, other)
        if type(one) is not type(other) or isinstance(one, Node) and one.id != other.id:
            raise Unexplained("it has other arguments")
        return one

    def constant(self, one: Any, other: Any) -> Any:
        """A constant for the wanted size: where it is as long as the batch, it repeats one number."""
        if one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f"):
            return one
        if (one != one.flat[:1]).any() or (other != other.flat[:1]).any() or not one.size:
            raise Unexplained(f"it was made for {self.first} rows while the graph was built")
        shape = self.value(one.shape, other.shape)
        return np.full(shape, self.number(one.flat[0].item(), other.flat[0].item()), one.dtype)

    def resize(self, node: Node, twin: Node) -> None:
        """Let ``node``, whose like in the other trace is ``twin``, be for the wanted size."""
        try:
            node.args, node.settings, node.shape = self.value(
                (node.args, node.settings, node.shape), (twin.args, twin.settings, twin.shape)
            )
            if node.kind == "const":
                node.value = self.constant(node.value, twin.value)
            elif node.kind not in ("state", "number") and node.dtype is not None:
                node.value = np.broadcast_to(np.zeros((), node.dtype), node.shape)
        except Unexplained as error:
            raise Unexplained(f"{described(node.line)}: {node.name}: {error}") from None


def for_rows(first: Trace, second: Trace, sizes: Sizes) -> Trace:
    """The trace for another number of rows.

    Raises
    ------
    Unexplained
        With the line of what depends on the number in a way that is not known.
    """
    graph, other = first.graph.copy(), second.graph
    if first.halves or second.halves or [n.name for n in graph.nodes] != [n.name for n in other.nodes]:
        raise Unexplained("the program takes another way")
    live = {*graph.needed(graph.roots()), *graph.inputs, *graph.states}
    for node, twin in zip(graph.nodes, other.nodes):
        if node in live:
            sizes.resize(node, twin)
    graph.nodes = [node for node in graph.nodes if node in live]
    trace = copy.copy(first)
    trace.graph = graph
    twins = dict(zip(first.graph.states, graph.states))
    trace.states = [(tensor, twins[node]) for tensor, node in first.states]
    return trace


def sizes_of(several: tuple[tuple[tuple[int, ...], ...], ...]) -> tuple[int, ...] | None:
    """The number of rows in each of three lists of shapes, if these differ in nothing else; or None."""
    if len({tuple(map(len, shapes)) for shapes in several}) > 1:
        return None
    found = {sizes for shapes in zip(*several) for sizes in zip(*shapes) if len(set(sizes)) > 1}
    return found.pop() if len(found) == 1 else None
