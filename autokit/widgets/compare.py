"""Widgets of compiled steps: the passes over a static graph, and a dynamic beside a static graph, in step."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from autokit.draw import memory_plan
from autokit.draw.html import html
from autokit.draw.svg import svg
from autokit.draw.table import table_html, table_text
from autokit.graphs.model import Table
from autokit.graphs.program import GIVEN, PARTS, boxes_of, readable_fold
from autokit.graphs.words import counted
from autokit.static.comparing import Snapshot
from autokit.static.errors import described
from autokit.static.memory import Lives, Plan
from autokit.widgets.live import Live, live_css, still_bundle
from autokit.widgets.script import bundle

RUNS, LONGEST = 50, 1.0
"""How often a step runs to be timed, and for how many seconds at most."""


class Stages(Live):
    """A static graph before and after each of its passes.  Made by showing ``step.passes``.

    Attributes
    ----------
    chosen : int
        After how many passes the graph is shown; it may be set.
    """

    _TITLE = "the passes over a static graph"
    _esm = bundle("passes.js")
    _css = live_css()

    chosen = traitlets.Int(0).tag(sync=True)
    _graphs: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)

    def __init__(self, graph: Any, passes: Sequence[Any]) -> None:
        super().__init__()
        done = [each for each in passes if each.words != "nothing to do"]
        stages = [("as traced", "", graph), *[(each.name, each.words, each.after) for each in done]]
        self._fold = readable_fold(graph)
        self._drawn = [after.picture(self._fold) for *_, after in stages]
        self._set(_graphs=[_stage(*stage, self._fold, drawn) for stage, drawn in zip(stages, self._drawn)])
        self.chosen = len(done)

    def still(self) -> dict[str, Any]:
        """What each pass did, as a table, and the graph before the first and after the last."""
        rows = [(each["name"], each["words"], f"{each['nodes']}") for each in self._graphs]
        table = Table("The passes over a static graph", ("pass", "what it did", "nodes"), tuple(rows))
        return still_bundle(table_text(table), "", table_html(table), *map(html, self._ends()))

    def _ends(self) -> list[Any]:
        return [self._drawn[0], self._drawn[-1]]

    def __repr__(self) -> str:
        return f"Stages(as traced, and after {len(self._graphs) - 1} passes)"


class Compare(Stages):
    """A step that ran dynamically and statically.  Made by :func:`compare`; see there.

    Attributes
    ----------
    step : int
        Which operation runs, from 0; it may be set.
    chosen : int
        After how many passes the static graph is shown; it may be set.
    """

    _TITLE = "a dynamic and a static graph"
    _esm = bundle("compare.js")

    step = traitlets.Int(0).tag(sync=True)
    _size = traitlets.Int(read_only=True).tag(sync=True)
    _edges: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _moments: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _times: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _sentence = traitlets.Unicode("", read_only=True).tag(sync=True)

    def __init__(self, step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        plan, arrays = step.plan_for(args, kwargs)
        super().__init__(plan.trace.graph, plan.passes)
        self._plan = Plan(plan.graph)
        moments = _moments(plan.trace.graph, self._fold)
        most = max([each["bytes"] for each in moments], default=0)
        words = (
            f"{counted(len(moments), 'operation')}. The values of the dynamic graph need at most {most:,} "
            f"bytes at a time; the static graph keeps {self._plan.size:,} bytes from the start to the end."
        )
        edges = [(each.element, f"n{each.source}", f"n{each.target}") for each in self._drawn[0].edges]
        times = _times(step, plan, arrays, args, kwargs)
        self._set(_edges=edges, _size=self._plan.size, _moments=moments, _sentence=words, _times=times)

    def still(self) -> dict[str, Any]:
        """Both graphs, and the plan of the static one's memory; no times, which differ from run to run."""
        plan = memory_plan.mimebundle(self._plan)["text/html"]
        return still_bundle(self._sentence, self._sentence, *map(html, self._ends()), plan)

    def __repr__(self) -> str:
        return f"Compare({counted(len(self._moments), 'operation')})"


def compare(step: Any, *args: Any, **kwargs: Any) -> Compare:
    """A compiled step as a dynamic and as a static graph, side by side, with the memory and the time of both.

    Everything is afterwards as it was before.

    Parameters
    ----------
    step : Step
        Made by ``compile``; it has run before.
    *args, **kwargs
        Those of a call.

    Examples
    --------
    >>> import autokit as torch
    >>> step = torch.compile(lambda x: (x * 2 + 1).tanh().sum(), backend="autokit")
    >>> compare(step, torch.ones(3))
    Compare(4 operations)
    """
    return Compare(step, args, kwargs)


def _stage(name: str, words: str, graph: Any, fold: str, drawn: Any) -> dict[str, Any]:
    """A graph as the browser knows it: for each box its key, its element in the picture, and its calls."""
    boxes = boxes_of(graph, fold)
    calls = [[f"n{at}", ", ".join([node.name for node in box])] for at, box in enumerate(boxes)]
    told = {"name": name, "words": words, "nodes": len(graph.nodes), "svg": svg(drawn, direction="TB")}
    return {**told, "boxes": dict(zip(_keys(boxes, fold), calls))}


def _keys(boxes: list[list[Any]], fold: str) -> list[str]:
    """What tells a box apart, also after a pass: its operation or module, and which one of these it is."""
    seen: Counter[str] = Counter()
    keys = []
    for first, *_ in boxes:
        name = " ".join([*PARTS[fold](first), first.label])
        seen[name] += 1
        keys.append(f"{name} {seen[name]}")
    return keys


def _moments(graph: Any, fold: str) -> list[dict[str, Any]]:
    """For each operation that runs what is told: whose values are freed, and what the living ones need.

    A new value of a state needs no memory, as the eager optimizer writes it over the old one.
    """
    boxes, lives = boxes_of(graph, fold), Lives(graph)
    place = {lives.time[node]: at for at, box in enumerate(boxes) for node in box}
    ends = [max([place.get(lives.last[node], len(boxes)) for node in box]) for box in boxes]
    new = {*graph.updates.values()}
    memory = np.zeros(len(graph.nodes) + 1)
    for node in graph.nodes:
        if node.kind in ("call", "draw") and node not in new and lives.owners[node] == (node,):
            memory[lives.time[node] : lives.last[node] + 1] += getattr(node.value, "nbytes", 0)
    running = [at for at, box in enumerate(boxes) if box[0].kind not in GIVEN]
    moments, keys = [], _keys(boxes, fold)
    for at in running:
        first, last = boxes[at][0], boxes[at][-1]
        freed = [f"n{each}" for each in running if each <= at and ends[each] == at]
        words = f"{PARTS[fold](first)[-1] or last.name}, {first.phase}: {described(first.line)}."
        told = f"{words} The values of {counted(len(freed), 'operation')} are freed." if freed else words
        size = int(max([memory[lives.time[node]] for node in boxes[at]]))
        moments.append({"box": f"n{at}", "key": keys[at], "freed": freed, "bytes": size, "sentence": told})
    return moments


def _times(step: Any, plan: Any, arrays: Any, args: Any, kwargs: Any) -> list[list[float]]:
    """How many microseconds each of some runs takes, eagerly and compiled, in turns."""
    before = Snapshot(plan.trace)
    times: list[list[float]] = [[], []]
    runs = (lambda: step.function(*args, **kwargs)), (lambda: plan(arrays, (args, kwargs)))
    until = time.perf_counter() + LONGEST
    while len(times[0]) < RUNS and (time.perf_counter() < until or not times[0]):
        for run, taken in zip(runs, times):
            start = time.perf_counter()
            run()
            taken.append((time.perf_counter() - start) * 1e6)
            before.restore()
    return times
