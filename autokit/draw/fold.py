"""Folding: a module that is not opened, or a part that repeats, is drawn as one box.

Operations fold together if they follow one another in topological order, so that the boxes form no cycle.  A
leaf or a constant folds with the operations that use it if all of them fold into one box.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

import numpy as np

from autokit.graphs.model import Edge, Graph, Node

_LONGEST, _FEWEST, _WORTH = 256, 3, 10
"""A pattern of up to so many operations is found where it repeats at least so often, over so many boxes."""

_PAGE = 50
"""What has to fold folds until so many boxes remain: some screens full, not a roll of paper."""

_NAMED = 4


@dataclass(frozen=True)
class Fold:
    """Nodes that one box stands for.

    Attributes
    ----------
    nodes : tuple of int
        Their ids, in order; the last is the newest operation.
    title, caption : str
        What folds, as ``"encoder.3"`` and ``"Linear"``, or ``"31 times"`` and ``"mul, tanh, add"``.
    holds : str
        How much, as ``"12 operations, 4 inputs"``.
    path : str
        The module that it stands in.
    shape : tuple of int
        Of its newest value.
    requires_grad : bool
    """

    nodes: tuple[int, ...]
    title: str
    caption: str
    holds: str
    path: str
    shape: tuple[int, ...]
    requires_grad: bool


def ranges(ids: Iterable[int]) -> str:
    """Numbers in order, runs of them cut short: ``3-9 12``.

    >>> ranges((3, 4, 5, 9))
    '3-5 9'
    """
    runs: list[list[int]] = []
    for id in sorted(ids):
        if runs and runs[-1][-1] == id - 1:
            runs[-1][1:] = [id]
        else:
            runs.append([id])
    return " ".join("-".join(map(str, run)) for run in runs)


_Unit = tuple[int, ...]
"""Operations that stand together, by their ids: one, or those of a folded module."""


def fold(graph: Graph, edges: Sequence[Edge], limit: int, depth: int | None) -> tuple[list[Fold], int | None]:
    """What to fold where there are more than ``limit`` nodes, for one page; or as ``depth`` says.

    Also how many levels of modules stay open, None for all.
    """
    if depth is None and len(graph.nodes) <= limit:
        return [], None
    folder = _Folder(graph, edges)
    enough = limit if depth is not None else min(limit, _PAGE)
    deepest = max((len(_parts(node)) for node in folder.operations), default=0)
    levels = range(deepest, -1, -1) if depth is None else [depth]
    # The first and the last turn of what repeats stay open, where the page has room for them.
    for level in levels:
        units = folder.modules(level)
        for repeated, times in ((units, {}), folder.repeats(units, 1)):
            folds = folder.folds(repeated, level, times)
            if folder.boxes(folds) <= enough:
                return folds, level
    repeated, times = folder.repeats(units, 0)
    return folder.folds(repeated, level, times), level


def unfold(graph: Graph, edges: Sequence[Edge], folds: list[Fold], opened: Collection[str]) -> list[Fold]:
    """The folds, where those whose ids are ``opened``, as :func:`ranges` has them, are open for one page."""
    left, waiting = [], list(folds)
    while waiting:
        one = waiting.pop()
        if ranges(one.nodes) not in opened:
            left.append(one)
        elif len(one.nodes) > _PAGE:
            ids = set(one.nodes)
            inner = replace(graph, nodes=tuple(node for node in graph.nodes if node.id in ids))
            between = [edge for edge in edges if edge.source in ids and edge.target in ids]
            waiting += _inside(_Folder(inner, between), one)
    return sorted(left, key=lambda one: one.nodes[-1])


def _inside(folder: _Folder, outer: Fold) -> list[Fold]:
    """What of an open fold stays folded: of what repeats, all but as many turns as fit at either end."""
    deepest = max(len(_parts(node)) for node in folder.operations)
    shallowest = min(outer.title.count(".") + 1 if outer.title in folder.labels else 0, deepest)
    for level in range(deepest, shallowest - 1, -1):
        units = folder.modules(level)
        for ends in (None, 4, 2, 1):
            repeated, times = (units, {}) if ends is None else folder.repeats(units, ends)
            folds = folder.folds(repeated, level, times)
            if folder.boxes(folds) <= _PAGE:
                return folds
    return [one for one in folds if len(one.nodes) < len(outer.nodes)]


class _Folder:
    """The operations of one graph, in their order, with who reads what."""

    def __init__(self, graph: Graph, edges: Sequence[Edge]) -> None:
        self.nodes = {node.id: node for node in graph.nodes}
        self.labels = {group.path: group.label for group in graph.groups}
        self.operations = [node for node in graph.nodes if not is_end(node)]
        self.users: dict[int, list[int]] = {}
        for edge in edges:
            # In a graph of the way back it is the ends that go with what leads to them.
            first, last = self.nodes[edge.source], self.nodes[edge.target]
            if is_end(first):
                self.users.setdefault(first.id, []).append(last.id)
            elif is_end(last):
                self.users.setdefault(last.id, []).append(first.id)

    def modules(self, depth: int) -> list[_Unit]:
        """The operations in order, those of one module below ``depth`` together."""
        alone = iter(range(len(self.operations)))

        def key(node: Node) -> object:
            parts = _parts(node)
            return parts[: depth + 1] if len(parts) > depth else next(alone)

        return [tuple(node.id for node in run) for _, run in groupby(self.operations, key)]

    def repeats(self, units: list[_Unit], ends: int) -> tuple[list[_Unit], dict[_Unit, tuple[int, int]]]:
        """Units that repeat together, but for ``ends`` turns at either end; and how often, and how long."""
        together: list[_Unit] = []
        times: dict[_Unit, tuple[int, int]] = {}
        signs = _numbered([tuple(map(self._sign, unit)) for unit in units])
        place = 0
        for start, period, length in _runs(signs):
            start, turns = self._aligned(units, start, period, length)
            open_turns = min(ends, (turns - 1) // 2)
            first, last = start + open_turns * period, start + (turns - open_turns) * period
            together += units[place:first]
            folded = tuple(id for unit in units[first:last] for id in unit)
            times[folded] = turns - 2 * open_turns, sum(map(len, units[start : start + period]))
            together.append(folded)
            place = last
        return together + units[place:], times

    def _aligned(self, units: list[_Unit], start: int, period: int, length: int) -> tuple[int, int]:
        """Where the turns of a pattern begin, and how many there are.

        A pattern has no first place of its own: let each of its turns be a module's, where it can.
        """

        def shared(first: int) -> int:
            return len(self._common(units[first][0], units[first + period - 1][-1]))

        first = max(range(start, start + period), key=shared)
        if shared(first) == shared(start) or start + length - first < _FEWEST * period:
            first = start
        return first, (start + length - first) // period

    def _common(self, one: int, other: int) -> list[str]:
        """The modules, outermost first, that hold both of two nodes."""
        pairs = zip(_parts(self.nodes[one]), _parts(self.nodes[other]))
        return [name for name, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]

    def _sign(self, id: int) -> tuple[object, ...]:
        node = self.nodes[id]
        return node.operation, node.symbol, node.shape

    def folds(self, units: Sequence[_Unit], depth: int, times: dict[_Unit, tuple[int, int]]) -> list[Fold]:
        """A fold for each module below ``depth``, and for each unit of ``times``, that has several nodes."""
        home = {id: place for place, unit in enumerate(units) for id in unit}
        inputs: dict[int, list[int]] = {}
        for id, users in self.users.items():
            homes = {home.get(user) for user in users}
            data = self.nodes[id].kind == "constant" and self.nodes[id].shape  # what a network is given
            if len(homes) == 1 and (place := homes.pop()) is not None and not data:
                inputs.setdefault(place, []).append(id)
        found = []
        for place, unit in enumerate(units):
            closed = len(unit) > 1 or len(_parts(self.nodes[unit[0]])) > depth
            held = inputs.get(place, [])
            if closed and len(unit) + len(held) > 1:
                found.append(self._fold(unit, held, times.get(unit)))
        return found

    def _module(self, unit: _Unit) -> str:
        """The innermost module that holds all operations of ``unit``."""
        return ".".join(self._common(unit[0], unit[-1]))

    def _fold(self, unit: _Unit, inputs: list[int], times: tuple[int, int] | None) -> Fold:
        path = self._module(unit)
        newest = self.nodes[unit[-1]]
        if times:
            count, length = times
            turn = unit[:length]
            whole = self._module(turn)
            names = list(dict.fromkeys(self._names(turn)))
            if whole != path and whole in self.labels:
                names = [self.labels[whole]]
            title = f"{count:,} times"
            caption = ", ".join(names[:_NAMED] + ["…"] * (len(names) > _NAMED))
        else:
            title, caption = path, self.labels.get(path, "")
            path = path.rpartition(".")[0]
        return Fold(
            nodes=(*sorted((*inputs, *unit[:-1])), unit[-1]),
            title=title,
            caption=caption,
            holds=_holds(len(unit), len(inputs)),
            path=path,
            shape=newest.shape,
            requires_grad=newest.requires_grad,
        )

    def _names(self, ids: Iterable[int]) -> list[str]:
        """What repeats: modules by their class, other operations by their name."""
        nodes = [self.nodes[id] for id in ids]
        return [self.labels.get(node.module) or node.operation for node in nodes]

    def boxes(self, folds: list[Fold]) -> int:
        """How many boxes there are with these folds."""
        return len(self.nodes) - sum(len(folded.nodes) for folded in folds) + len(folds)


def is_end(node: Node) -> bool:
    """Whether the graph ends at the node: a leaf, a constant, or a leaf on the way back."""
    return node.kind in ("leaf", "constant", "accumulate")


def _parts(node: Node) -> list[str]:
    return node.module.split(".") if node.module else []


def _numbered(signs: Sequence[object]) -> np.ndarray:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(sign, len(numbers)) for sign in signs], np.int64)


def _runs(signs: np.ndarray) -> list[tuple[int, int, int]]:
    """Where a pattern repeats: start, period, length; from the left, each time the longest stretch."""
    count = len(signs)
    covered, best = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for period in range(1, min(_LONGEST, count // _FEWEST) + 1):
        # How far from each place on everything equals what comes a period later.
        ends = np.append(np.flatnonzero(signs[:-period] != signs[period:]), count - period)
        starts = np.arange(count - period)
        length = ends[np.searchsorted(ends, starts)] - starts + period
        worth = np.maximum(covered[:-period], _WORTH - 1)
        longer = np.flatnonzero((length >= _FEWEST * period) & (length > worth))
        covered[longer], best[longer] = length[longer], period
    runs = []
    place = 0
    while place < count:
        if best[place]:
            runs.append((place, int(best[place]), int(covered[place])))
        place += int(covered[place]) or 1
    return runs


def _holds(operations: int, inputs: int) -> str:
    words = [f"{operations:,} operation{'s' * (operations != 1)}"]
    if inputs:
        words.append(f"{inputs:,} input{'s' * (inputs != 1)}")
    return ", ".join(words)
