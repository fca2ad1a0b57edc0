"""A widget that shows a training step as a dynamic and as a static graph, side by side and in step.

On the left the operations come as the program runs, and their values go after the last operation that reads
them; on the right the whole graph stands before the first number is computed.
"""

from __future__ import annotations

import time
from collections import Counter
from statistics import median
from typing import Any

import numpy as np
import traitlets

from autokit.draw.memory_plan import svg as memory_svg
from autokit.draw.svg import svg
from autokit.graphs.program import boxes_of
from autokit.graphs.words import counted
from autokit.static.comparing import Snapshot
from autokit.static.errors import described
from autokit.static.memory import Lives, plan_memory
from autokit.widgets.live import Live, live_css, still_bundle
from autokit.widgets.script import bundle

RUNS, LONGEST = 50, 1.0
"""How often a step runs to be timed, and for how many seconds at most."""


class Compare(Live):
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
    _css = live_css()

    step = traitlets.Int(0).tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True)
    _dynamic = traitlets.Dict(read_only=True).tag(sync=True)
    _graphs: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _moments: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _sentence = traitlets.Unicode("", read_only=True).tag(sync=True)

    def __init__(self, step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__()
        plan, arrays = step.plan_for(args, kwargs)
        graph = plan.trace.graph
        self._plan = plan_memory(plan.graph)
        picture = graph.picture()
        self._drawn = svg(picture), svg(plan.graph.picture())
        passes = [each for each in plan.passes if each.words != "nothing to do"]
        stages = [("as traced", "", graph), *[(each.name, each.words, each.after) for each in passes]]
        keys, moments = _moments(graph)
        told = [
            {"name": name, "words": words, "svg": svg(after.picture()), "boxes": _places(after, keys)}
            for name, words, after in stages
        ]
        eager, static = _seconds(step, plan, arrays, args, kwargs)
        most = max([each["bytes"] for each in moments], default=0)
        sentence = (
            f"{len(keys)} operations. The values of the dynamic graph need at most {most:,} bytes at a time; "
            f"the static graph keeps {self._plan.size:,} bytes from the start to the end. "
            f"A step takes {eager * 1e6:,.0f} µs dynamically, and {static * 1e6:,.0f} µs statically."
        )
        edges = [(each.element, f"n{each.source}", f"n{each.target}") for each in picture.edges]
        self.set_trait("_dynamic", {"svg": self._drawn[0], "edges": edges, "size": self._plan.size})
        self.set_trait("_graphs", told)
        self.set_trait("_moments", moments)
        self.set_trait("_sentence", sentence)
        self.chosen = len(told) - 1

    def still(self) -> dict[str, Any]:
        """Both graphs, and the plan of the static one's memory."""
        from autokit.draw.image import image

        names = ("The dynamic graph", "The static graph, after all passes", "The memory of the static graph")
        pictures = [image(drawn, name, 640) for drawn, name in zip(self._pictures(), names)]
        return still_bundle(self._sentence, self._sentence, *pictures)

    def _pictures(self) -> list[Any]:
        return [*self._drawn, memory_svg(self._plan)]

    def __repr__(self) -> str:
        return f"Compare({len(self._moments)} operations)"


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


def _moments(graph: Any) -> tuple[list[Any], list[dict[str, Any]]]:
    """For each operation that runs its key, and what is told: whose values go, and what the living ones need.

    A new value of a state needs no memory, as the eager optimizer writes it over the old one.
    """
    boxes = boxes_of(graph)
    lives = Lives(graph)
    at = {lives.time[node]: place for place, box in enumerate(boxes) for node in box}
    ends = [max([at.get(lives.last[node], len(boxes)) for node in box]) for box in boxes]
    new = {*graph.updates.values()}
    computed = [node for node in graph.nodes if node.kind in ("call", "draw") and node not in new]
    memory = np.zeros(len(graph.nodes) + 1)
    for node in [each for each in computed if lives.owners[each] == (each,)]:
        memory[lives.time[node] : lives.last[node] + 1] += getattr(node.value, "nbytes", 0)
    running = [place for place, box in enumerate(boxes) if box[0].kind not in ("input", "state", "number")]
    moments = []
    for place in running:
        first = boxes[place][0]
        freed = [f"n{each}" for each in range(running[0], place + 1) if ends[each] == place]
        total = int(max([memory[lives.time[node]] for node in boxes[place]]))
        words = f"{first.operation or boxes[place][-1].name}, {first.phase}: {described(first.line)}."
        told = f"{words} The values of {counted(len(freed), 'operation')} are freed." if freed else words
        moments.append({"box": f"n{place}", "freed": freed, "bytes": total, "sentence": told})
    return _keys([boxes[place] for place in running]), moments


def _keys(boxes: list[list[Any]]) -> list[Any]:
    """What tells a box apart, also after a pass: its operation, and which one of these it is."""
    seen: Counter[Any] = Counter()
    keys = []
    for box in boxes:
        name = box[0].phase, box[0].operation
        seen[name] += 1
        keys.append((*name, seen[name]))
    return keys


def _places(graph: Any, keys: list[Any]) -> list[str]:
    """For each key the box in the picture of ``graph``; empty where a pass has taken it out."""
    boxes = boxes_of(graph)
    ends = sum([box[0].kind in ("input", "state", "number") for box in boxes])
    found = {key: f"n{place}" for place, key in enumerate(_keys(boxes[ends:]), ends)}
    return [found.get(key, "") for key in keys]


def _seconds(step: Any, plan: Any, arrays: Any, args: Any, kwargs: Any) -> tuple[float, float]:
    """How long the step takes eagerly and compiled: medians."""
    before = Snapshot(plan.trace)
    times: tuple[list[float], list[float]] = ([], [])
    runs = (lambda: step.function(*args, **kwargs)), (lambda: plan(arrays, (args, kwargs)))
    until = time.perf_counter() + LONGEST
    while len(times[0]) < RUNS and (time.perf_counter() < until or not times[0]):
        for run, taken in zip(runs, times):
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
            before.restore()
    return median(times[0]), median(times[1])
