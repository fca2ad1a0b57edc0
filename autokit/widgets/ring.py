"""An all-reduce by ring, told and drawn: :func:`ring` makes the story that a player plays.

The workers stand in a loop. Each cuts its numbers into as many chunks as there are workers. In each of
2(n − 1) exchanges every worker sends one chunk to the next; in the first half the next one adds it, in the
second half it copies it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.draw.card import SIZES, line, text_width
from autokit.draw.shapes import Box, Card, Field, Frame, Line, TextLine
from autokit.engine.tensor import Tensor
from autokit.graphs.model import Change, Edge, Graph, Group, Node, State, Summary, Timeline
from autokit.graphs.script import Script
from autokit.graphs.summary import bracketed, summarize
from autokit.graphs.view import View

_LETTERS = "ABCDEFGH"
_ROW = 27.0
_CELL = 23.0
_PAD = 8.0
_ROOF = 23.0
_BETWEEN = 46.0
_DOT = 12.5
_WIDEST = 150.0
_NOTE = "A dot for each worker: it is filled where the numbers of that worker are in the sum."


def ring(values: Any) -> Timeline:
    """The story of an all-reduce by ring: how n workers come to the sums of their numbers.

    It takes 2(n − 1) exchanges, in each of which every worker sends 1/n of its numbers to the next: first
    the *reduce-scatter*, after which each worker has one part of the sums, then the *all-gather*, which
    takes these parts round.

    Parameters
    ----------
    values : list, array or tensor
        A row of numbers for each worker, all of one length: of 2 to 8 workers.

    Returns
    -------
    Timeline
        ``ak.animate(ak.ring(values))`` plays it, and alone it shows its moments.

    Raises
    ------
    ValueError
        If the rows differ in length or do not hold real numbers, or if there are fewer than 2 or more than 8.

    References
    ----------
    Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.

    Examples
    --------
    >>> import autokit as ak
    >>> story = ak.ring([[1, 2], [10, 20]])
    >>> [step.numbers for step in story.steps if step.kind in ("value", "copy")]
    ['10 + 1 = 11', '11']
    """
    rows, script = _checked(values), Script()
    n, length = rows.shape
    cells, last = list(np.ndindex(n, n)), 2 * n - 2
    held = [np.array_split(row, n) for row in rows]
    start = _shown(held, cells, 1)
    told = f"{n} workers have {length} numbers each, in {n} chunks, A to {_LETTERS[n - 1]}."
    _say(script, "input", "reduce", f"{told} Each of them wants the sums over all workers.")
    for number in range(last):
        if number == n - 1:
            told = f"Half way, each worker has one complete sum: worker {n - 1} that of A."
            _say(script, "turn", "reduce", f"{told} Now the complete sums go round.")
        _exchange(script, held, number)
    told = f"Done: after {last} exchanges every worker has every sum."
    _say(script, "finish", "gather", told, f"each sent 2 · {n - 1}/{n} of its numbers")
    nodes = [_node(w * n + chunk, held[w][chunk], n) for w, chunk in cells]
    edges = [Edge(w, w * n, (w + 1) % n * n, 0, "", "", True) for w in range(n)]
    groups = [Group(f"worker {w}", "", tuple(range(w * n, w * n + n))) for w in range(n)]
    graph = Ring(tuple(nodes), tuple(edges), tuple(groups), view=View(slopes="workers"))
    return Timeline(graph, tuple(script.steps), tuple(script.chapters), start)


def _checked(values: Any) -> np.ndarray:
    rows = [to_numpy(row.array) if isinstance(row, Tensor) else np.asarray(row) for row in values]
    found = [(row.shape, row.dtype.name) for row in rows]
    if {row.ndim for row in rows} != {1} or len({*map(len, rows)}) > 1 or not 2 <= len(rows) <= 8:
        raise ValueError(f"ring() takes 2 to 8 rows of one length, and got {found}")
    if not rows[0].size or not all(row.dtype.kind in "iuf" for row in rows):
        raise ValueError(f"ring() takes rows of real numbers, and got {found}")
    return np.stack(rows)


def _exchange(script: Script, held: list[list[np.ndarray]], number: int) -> None:
    """Every worker sends a chunk to the next, all at once; the sentences follow chunk A."""
    n = len(held)
    which = f"exchange {number + 1} of {2 * n - 2}"
    sent = [((chunk + number) % n, chunk) for chunk in reversed(range(n))]
    reached = [((worker + 1) % n, chunk) for worker, chunk in sent]
    parcels = [held[worker][chunk] for worker, chunk in sent]
    arrived, (a, _), (b, _), length = parcels[-1], sent[-1], reached[-1], sum(map(len, held[0]))
    told = (
        f"All at once, each worker sends one of its chunks to the next: A goes from worker {a} to worker {b}."
    )
    flows = [_flowing(w, f"{_LETTERS[c]} {_text(parcel)}") for (w, c), parcel in zip(sent, parcels)]
    lit = tuple([name for w, chunk in sent for name in (f"e{w}", f"n{w * n + chunk}")])
    kind = "copy"
    phase = "gather"
    size = f"{len(arrived)} of {length} numbers"
    after = f"The next one copies it: each worker now has {number - n + 3} of {n} sums."
    numbers = _text(arrived)
    if number < n - 1:
        kind, phase, own = "value", "reduce", held[b][0]
        parcels = [held[worker][chunk] + parcel for (worker, chunk), parcel in zip(reached, parcels)]
        after = f"The next one adds it to its own: A at worker {b} is now the sum of {number + 2} workers."
        numbers = f"{_text(own)} + {bracketed(numbers)} = {_text(parcels[-1])}"
    script.step("travel", phase, told, which, size, lit, sum(flows, ()))
    for (worker, chunk), parcel in zip(reached, parcels):
        held[worker][chunk] = parcel
    lit = tuple([f"n{w * n + chunk}" for w, chunk in reached])
    changes = _shown(held, reached, number + 2)
    script.step(kind, phase, after, f"A at worker {b}:", numbers, lit, changes)
    script.close(f"{which.capitalize()}: each worker sends a chunk to the next. {after}")


def _say(script: Script, kind: str, phase: str, told: str, formula: str = "") -> None:
    script.step(kind, phase, told, formula)
    script.close(told)


def _shown(held: list[list[np.ndarray]], cells: Sequence[tuple[int, ...]], summed: int) -> tuple[Change, ...]:
    """These chunks, sums of so many workers that end at the one that has it, and nothing on its way."""
    n = len(held)
    changes = [change for worker in range(n) for change in _flowing(worker)]
    for w, chunk in cells:
        dots = "".join(["●○"[(w - other) % n >= summed] for other in range(n)])
        shown = _text(held[w][chunk]), dots, "complete" if summed >= n else "partial"
        changes += [Change(f"n{w * n + chunk}", *each) for each in zip(("value", "dots", "status"), shown)]
    return tuple(changes)


def _node(id: int, array: np.ndarray, n: int) -> Node:
    """A chunk, as it is at the end."""
    name = f"{_LETTERS[id % n]} of worker {id // n}"
    facts = (array.shape, str(array.dtype))
    value = Summary(_text(array), *facts)
    dots = Summary("●" * n, *facts)
    return Node(id, "chunk", "", "", "", "", name, *facts, value, dots, True)


def _text(array: np.ndarray) -> str:
    """A number, a list, or of many numbers the range."""
    text = summarize(array).text
    return text.strip("[]") if array.size == 1 else text


def _flowing(worker: int, text: str = "") -> tuple[Change, ...]:
    """What goes along the arrow from a worker, if anything."""
    status = "tangent" if text else "idle"
    return Change(f"e{worker}", "flow", text), Change(f"e{worker}", "status", status)


@dataclass(frozen=True, repr=False)
class Ring(Graph):
    """The chunks of all workers; ``groups`` are the workers, and an edge goes from each to the next."""

    def arranged(self, texts: Mapping[str, Mapping[str, set[str]]], state: State) -> tuple[Any, ...]:
        """The boxes of chunks in the frames of their workers, arrows, a note, a title, and what is shown."""

        def widest(name: str) -> float:
            found = [text_width(text, name) for fields in texts.values() for text in fields.get(name, ())]
            return min(max(found), _WIDEST)

        n, size, (value, flow) = len(self.groups), SIZES["value"], map(widest, ("value", "flow"))
        x = 34.0 + n * _DOT
        fields = {"dots": Field(26.0, 16.5, 40.0 * n, size), "value": Field(x, 16.5, value, size)}
        wide, high = x + value + 4 * _PAD, _ROOF + n * _ROW + _PAD / 2
        boxes, frames, top = [], [], (n + 1) // 2
        for w, group in enumerate(self.groups):
            column = w if w < top else n - 1 - w + n % 2 / 2
            left = column * (wide + flow + 60.0)
            y = (high + _BETWEEN) * (w >= top)
            label = line(left + _PAD, y + 15, group.path, "group", wide)
            frames.append(Frame(group.path, left, y, wide, high, label))
            for k, id in enumerate(group.nodes):
                letter = TextLine(_PAD, 16, _LETTERS[k], "label")
                cell = Card(wide - 2 * _PAD, _CELL, (letter,), fields)
                boxes.append(Box(left + _PAD, y + _ROOF + k * _ROW, cell, self.nodes[id]))
        lines = [self._arrow(edge, frames, flow) for edge in self.edges]
        title = f"{n} workers in a ring, each with {n} chunks of its numbers."
        return boxes, lines, frames, [_NOTE], title, state

    def _arrow(self, edge: Edge, frames: list[Frame], flow: float) -> Line:
        """From a worker to the next: straight in a row, and in an arc at the two ends."""
        w, n, top = edge.id, len(frames), (len(frames) + 1) // 2
        here, there = frames[w], frames[(w + 1) % n]
        start = here.x + here.width * (w < top)
        end = there.x + there.width * (top - 1 <= w < n - 1)
        bend = (start + end) / 2 + (flow + 80.0) * ((w == top - 1) - (w == n - 1))
        y, level = here.y + here.height / 2, there.y + there.height / 2
        middle = Field((start + 6 * bend + end) / 8, (y + level) / 2 + 4, flow, SIZES["flow"], "middle")
        return Line(((start, y), (bend, y), (bend, level), (end, level)), edge, middle)
