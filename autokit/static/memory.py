"""The memory plan: where each value of a static graph lives, decided before the first run.

A value is *live* from the call that computes it to the last one that reads it. Values that are never live at
the same time may share memory; all of them lie in one block, the *arena*, each in the first gap that is large
enough when it is computed: *first fit* [1]_. An elementwise call is written over an operand that dies: it
works *in place*.

References
----------
.. [1] D. E. Knuth, "The Art of Computer Programming", volume 1, section 2.5.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from itertools import groupby
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from autokit.base import doors
from autokit.static.calls import overwritable, takes_memory
from autokit.static.graph import Graph, Node

ALIGNMENT = 64
"""Bytes of a line of the cache; each place begins with one."""


class OwnMemory:
    """A function in generated code that keeps memory from call to call: each run needs one of its own."""

    def new_function(self) -> Callable[..., Any]:
        """The function, with memory that no other has."""
        raise NotImplementedError


class Place(NamedTuple):
    """Where a value lives, and from which call to which, by their places in the graph.

    ``over`` is the operand that it is written over, if any.
    """

    offset: int
    nbytes: int
    first: int
    last: int
    over: Node | None


class Plan:
    """The memory of a static program.

    Attributes
    ----------
    places : dict
        For each node that lives in the arena its :class:`Place`.
    in_states : dict
        For each node that is computed straight into a state, that state.
    inner : set
        The nodes of which one block at a time is there, as only calls of their own run read them.
    size : int
        The bytes of the arena.
    total : int
        What they would be if each value had memory of its own.

    Examples
    --------
    >>> from autokit.static.traced import Tape
    >>> tape = Tape()
    >>> x = tape.given("input", np.ones(1000), "x")
    >>> tape.graph.outputs = [np.add.reduce(np.exp(np.exp(x))).node]
    >>> Plan(tape.graph)
    3 values in 8,008 bytes; without reuse 16,008
    """

    def __init__(self, graph: Graph) -> None:
        lives = Lives(graph)
        self.inner = lives.inner
        self.in_states = _written_into_states(graph, lives)
        self.places: dict[Node, Place] = {}
        self.size = self.total = 0
        live: list[Place] = []
        for node in sorted(graph.nodes, key=lives.begin.__getitem__):
            if takes_memory(node) and node not in self.in_states:
                place = self.places[node] = self._placed(node, live, lives)
                insort(live, place)

    def _placed(self, node: Node, live: list[Place], lives: Lives) -> Place:
        """The place of ``node`` beside those that are ``live``, by their offsets; it may take over one."""
        nbytes = node.dtype.itemsize * (node.block if node in self.inner else node.value.size)
        # NumPy is slower in place where there is one number.
        operands = node.operands() if node.value.size > 1 else []
        dying = [each for each in operands if each in self.places and lives.can_take_over(node, each)]
        over = dying[0] if dying else None
        gone = self.places[over] if over else None
        live[:] = [place for place in live if place.last >= lives.begin[node] and place is not gone]
        offset = gone.offset if gone else _first_gap(live, nbytes)
        self.size = max(self.size, offset + nbytes)
        self.total += node.value.nbytes
        return Place(offset, nbytes, lives.begin[node], lives.end[node], over)

    def __repr__(self) -> str:
        return f"{len(self.places)} values in {self.size:,} bytes; without reuse {self.total:,}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return doors.memory(self)

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the picture to ``path``, which ends in ``.svg``, ``.png`` or ``.pdf``."""
        doors.save_memory(self, path, **options)


def runs_of(graph: Graph) -> list[list[Node]]:
    """The nodes in their order: neighbours that are computed block by block together, and others alone."""
    together = groupby(graph.nodes, lambda node: (node.block, node.shape) if node.block else node)
    return [list(run) for _, run in together]


class Lives:
    """From when to when the values of a graph live.

    Attributes
    ----------
    owners : dict
        For each node those whose memory its value may lie in. A view lies in its operand's memory; so may the
        result of a call that is not known to take new memory, such as ``ascontiguousarray``.
    time, last : dict
        For each node the time of its call, and of the last call that reads its memory. Outputs and the new
        values of states are read after all calls.
    begin, end : dict
        From when to when its memory is taken: what a run reads or gives is needed in all its blocks.
    shared : dict
        For each node the memories in which several operands lie of the calls that are computed with it.
    inner : set
        The nodes that only calls of their own run read.
    """

    def __init__(self, graph: Graph) -> None:
        self.owners: dict[Node, tuple[Node, ...]] = {}
        self.time = {node: time for time, node in enumerate(graph.nodes)}
        self.last: dict[Node, int] = {}
        for time, node in enumerate(graph.nodes):
            shared = [] if takes_memory(node) else node.operands()
            memories = [node, *[owner for operand in shared for owner in self.owners[operand]]]
            self.owners[node] = tuple(dict.fromkeys(memories))
            self._read([node, *node.operands()], time)
        self._read([*graph.outputs, *graph.updates.values()], len(graph.nodes))
        self.begin, self.end, self.inner = dict(self.time), dict(self.last), set[Node]()
        self.shared: dict[Node, set[Node]] = {}
        for run in runs_of(graph):
            self._live_through(run)

    def _read(self, operands: list[Node], time: int) -> None:
        for operand in operands:
            self.last.update(dict.fromkeys(self.owners[operand], time))

    def _live_through(self, run: list[Node]) -> None:
        first, last = self.time[run[0]], self.time[run[-1]]
        read = list(dict.fromkeys([operand for node in run for operand in node.operands()]))
        once, often = set[Node](), set[Node]()
        for owner in [owner for operand in read for owner in self.owners[operand]]:
            (often if owner in once else once).add(owner)
        self.shared.update(dict.fromkeys(run, often))
        self.inner.update([node for node in run if node.block and self.last[node] <= last])
        outer = once.union(*[self.owners[node] for node in run]) - self.inner
        self.end.update({node: max(self.end[node], last) for node in outer})
        self.begin.update({node: first for node in run if node in outer})

    def can_take_over(self, node: Node, operand: Node) -> bool:
        """Whether ``node`` can be written over ``operand``: it is its last reader, and all else agrees."""
        if self.last[operand] != self.time[node] or operand not in overwritable(node):
            return False
        is_alone = operand not in self.shared[node] and _are_alike(node, operand)
        return is_alone and (node in self.inner) is (operand in self.inner)


def _written_into_states(graph: Graph, lives: Lives) -> dict[Node, Node]:
    """The new values of states that can be written over the old ones while the program runs.

    Nobody may read the old value later, and nothing may follow that can stop the run.
    """
    last_stop = max([lives.time[node] for node in graph.nodes if _may_stop(node)], default=-1)
    written: dict[Node, Node] = {}
    for state, node in graph.updates.items():
        fits = takes_memory(node) and _are_alike(node, state) and state.value.flags.c_contiguous
        is_unread = lives.last[state] < lives.begin[node] or lives.can_take_over(node, state)
        if fits and is_unread and lives.time[node] > last_stop and node not in written:
            written[node] = state
    return written


def _may_stop(node: Node) -> bool:
    """Whether an error may come of a node: a check, an index, what is not NumPy's."""
    never = takes_memory(node) and "take" not in node.name or node.function is np.where
    return node.kind in ("call", "check", "draw") and not never


def _are_alike(node: Node, other: Node) -> bool:
    return (node.shape, node.dtype) == (other.shape, other.dtype)


def _first_gap(live: list[Place], nbytes: int) -> int:
    """The offset of the first gap of ``nbytes`` between the live values."""
    offset = 0
    for place in live:
        if offset + nbytes <= place.offset:
            break
        offset = max(offset, -(-(place.offset + place.nbytes) // ALIGNMENT) * ALIGNMENT)
    return offset


def new_arena(plan: Plan) -> np.ndarray:
    """The memory that ``plan`` asks for, which begins with a line of the cache."""
    memory = np.empty(plan.size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start:]
