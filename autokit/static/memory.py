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

from collections.abc import Callable
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from autokit.base import doors
from autokit.static.calls import Blocks, is_computed_in_blocks, overwritable, takes_memory
from autokit.static.graph import Graph, Node
from autokit.static.traced import put, put_flat

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
    owners : dict
        For each node those whose memory its value may lie in.
    size : int
        The bytes of the arena.
    total : int
        What they would be if each value had memory of its own.
    """

    def __init__(self) -> None:
        self.places: dict[Node, Place] = {}
        self.in_states: dict[Node, Node] = {}
        self.owners: dict[Node, tuple[Node, ...]] = {}
        self.size = self.total = 0

    def __repr__(self) -> str:
        return f"{len(self.places)} values in {self.size:,} bytes; without reuse {self.total:,}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return doors.memory(self)

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the picture to ``path``, which ends in ``.svg``, ``.png`` or ``.pdf``."""
        doors.save_memory(self, path, **options)


def plan_memory(graph: Graph) -> Plan:
    """Plan the memory of the nodes whose calls take it.

    Examples
    --------
    >>> from autokit.static.traced import Tape
    >>> tape = Tape()
    >>> x = tape.given("input", np.ones(1000), "x")
    >>> tape.graph.outputs = [np.add.reduce(np.exp(np.exp(x))).node]
    >>> plan = plan_memory(tape.graph)
    >>> plan.size, plan.total
    (8008, 16008)
    """
    plan = Plan()
    lives = Lives(graph)
    plan.owners = lives.owners
    plan.in_states = _written_into_states(graph, lives)
    live: list[tuple[int, int, Node]] = []  # offset, end and node, by their offsets
    for node in graph.nodes:
        if not takes_memory(node) or node in plan.in_states:
            continue
        time, nbytes = lives.first[node], node.value.nbytes
        live = [each for each in live if lives.last[each[2]] >= time]
        living = {each for _, _, each in live}
        dying = [
            each for each in overwritable(node) if each in living and _can_be_written_over(node, each, lives)
        ]
        over = dying[0] if dying else None
        offset = _first_gap(live, nbytes) if over is None else plan.places[over].offset
        live = [each for each in live if each[2] is not over]
        live = sorted([*live, (offset, offset + nbytes, node)], key=lambda each: each[0])
        plan.places[node] = Place(offset, nbytes, time, lives.last[node], over)
        plan.size = max(plan.size, offset + nbytes)
        plan.total += nbytes
    return plan


class Lives:
    """From when to when the values of a graph live.

    Attributes
    ----------
    owners : dict
        For each node those whose memory its value may lie in. A view lies in its operand's memory; so may the
        result of a call that is not known to take new memory, such as ``ascontiguousarray``.
    first, last : dict
        For each node the time of its call, and of the last call that reads its memory. Outputs and the new
        values of states are read after all calls.
    """

    def __init__(self, graph: Graph) -> None:
        self.owners: dict[Node, tuple[Node, ...]] = {}
        self.first: dict[Node, int] = {}
        self.last: dict[Node, int] = {}
        for time, node in enumerate(graph.nodes):
            self.first[node] = self.first[node.args[0]] if is_computed_in_blocks(node) else time
            is_new = takes_memory(node) or isinstance(node.function, Blocks)
            shared = [] if is_new else node.operands()
            memories = [node, *[owner for operand in shared for owner in self.owners[operand]]]
            self.owners[node] = tuple(dict.fromkeys(memories))
            self.last[node] = time
            self._read(node.operands(), time)
        self._read([*graph.outputs, *graph.updates.values()], len(graph.nodes))

    def _read(self, operands: list[Node], time: int) -> None:
        for operand in operands:
            self.last.update(dict.fromkeys(self.owners[operand], time))


def _written_into_states(graph: Graph, lives: Lives) -> dict[Node, Node]:
    """The new values of states that can be written over the old ones while the program runs.

    Nobody may read the old value later, and nothing may follow that can stop the run.
    """
    stops = [
        lives.first[node]
        for node in graph.nodes
        if node.kind in ("check", "draw", "effect") or node.kind == "call" and not _cannot_fail(node)
    ]
    written: dict[Node, Node] = {}
    for state, node in graph.updates.items():
        is_last = max(stops, default=-1) < lives.first[node]
        unread = lives.last[state] < lives.first[node] and _are_alike(node, state)
        lies_in_order = takes_memory(node) and state.value.flags.c_contiguous
        free = unread or _can_be_written_over(node, state, lives)
        if is_last and lies_in_order and free and node not in written:
            written[node] = state
    return written


def _cannot_fail(node: Node) -> bool:
    return takes_memory(node) and node.function not in (put, put_flat) or isinstance(node.function, Blocks)


def _are_alike(node: Node, other: Node) -> bool:
    return (node.shape, node.dtype) == (other.shape, other.dtype)


def _can_be_written_over(node: Node, operand: Node, lives: Lives) -> bool:
    """Whether ``node`` can be written over ``operand``: its call is the last reader, and all else agrees."""
    if lives.last[operand] != lives.first[node] or not _are_alike(node, operand):
        return False
    call = node.args[0] if is_computed_in_blocks(node) else node
    others = [each for each in call.operands() if each is not operand]
    shared = any(operand in lives.owners[each] for each in others)
    return operand in overwritable(node) and not shared


def _first_gap(live: list[tuple[int, int, Node]], nbytes: int) -> int:
    """The offset of the first gap of ``nbytes`` between the live values, which are sorted by theirs."""
    offset = 0
    for begin, end, _ in live:
        if offset + nbytes <= begin:
            break
        offset = max(offset, -(-end // ALIGNMENT) * ALIGNMENT)
    return offset


def new_arena(plan: Plan) -> np.ndarray:
    """The memory that ``plan`` asks for, which begins with a line of the cache."""
    memory = np.empty(plan.size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start:]


def registers(blocks: Blocks) -> dict[Node, str]:
    """For each value that never leaves a run of blocks the scratch memory that holds a block of it.

    Values that are never live at the same time share one, as variables of a program share registers.
    """
    last = {operand: time for time, node in enumerate(blocks.nodes) for operand in node.operands()}
    held: dict[Node, str] = {}
    free: list[tuple[np.dtype, str]] = []
    for time, node in enumerate(blocks.nodes):
        dying = [each for each in dict.fromkeys(node.operands()) if each in held and last[each] == time]
        free += [(each.dtype, held[each]) for each in dying]
        if node not in blocks.results:
            fitting = [each for each in free if each[0] == node.dtype]
            if fitting:
                free.remove(fitting[-1])
            held[node] = fitting[-1][1] if fitting else f"scratch_{len(set(held.values())) + 1}"
    return held
