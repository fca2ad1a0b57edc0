"""Layout: a layout engine computes the coordinates of boxes and arrows.

A :class:`Plan` holds rectangles without text and the arrows between them; a
layout engine answers with a :class:`Placement`.  Left to right only: a
picture from top to bottom is the same plan with x and y exchanged.

Three engines know how.  ``"embedded"`` is Graphviz inside this process,
``"dot"`` the Graphviz of the system, ``"layered"`` a small one of our own
that needs nothing.  ``"auto"`` takes the first, and the last where
WebAssembly cannot load.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from autokit.draw import embedded, layered

Point = tuple[float, float]

_PX = 72.0  # Graphviz counts in inches of 72 points, and a point is our px


@dataclass(frozen=True)
class Arrow:
    """An edge of the plan; it ``leaves`` and ``arrives`` so far below the middles of its rectangles."""

    source: int
    target: int
    leaves: float = 0.0
    arrives: float = 0.0


@dataclass(frozen=True)
class Cluster:
    """Rectangles that stand together, inside the cluster ``parent`` (an index, or -1); parents come first."""

    nodes: tuple[int, ...]
    parent: int = -1


@dataclass(frozen=True)
class Plan:
    """What to lay out: sizes (width, height) in px, in topological order as far as there is one.

    At the rectangles in ``ordered`` the arrows arrive from top to bottom in the order that they have here,
    as far as the engine can do it.
    """

    sizes: tuple[Point, ...]
    arrows: tuple[Arrow, ...]
    clusters: tuple[Cluster, ...] = ()
    gap: Point = (64.0, 26.0)
    margin: float = 18.0
    ordered: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Placement:
    """The answer: a centre for each rectangle, and for each arrow the control points of its Bézier curve.

    A curve has 1 + 3k points, or none where the engine gave none.
    ``nested`` says whether clusters keep clear of the rectangles that are not theirs.
    """

    centres: tuple[Point, ...]
    curves: tuple[tuple[Point, ...], ...]
    nested: bool


def place(plan: Plan, engine: str = "auto") -> Placement:
    """Lay ``plan`` out.

    Raises
    ------
    ValueError
        For an engine that there is not.
    RuntimeError
        Where the engine asked for cannot be had; ``"auto"`` and ``"layered"`` always can.
    """
    if engine not in _ENGINES:
        raise ValueError(f"layout is one of {', '.join(map(repr, _ENGINES))}, got {engine!r}")
    return _ENGINES[engine](plan)


def _auto(plan: Plan) -> Placement:
    if _reach(plan) > _TANGLED:
        return _layered(plan)
    try:
        return _embedded(plan)
    except embedded.Unavailable:
        return _layered(plan)


_LONG, _TANGLED = 300, 4500
"""From such a :func:`_reach` on Graphviz would take its time: it is asked to hurry, or not at all."""


def _reach(plan: Plan) -> int:
    """How many columns the arrows cross in all, each of which costs the layout a bend to place."""
    edges = [(arrow.source, arrow.target) for arrow in plan.arrows]
    rank = layered.ranks(len(plan.sizes), edges)
    return sum(abs(rank[target] - rank[source]) for source, target in edges)


def _embedded(plan: Plan) -> Placement:
    return _read(plan, embedded.plain(to_dot(plan)))


def _system(plan: Plan) -> Placement:
    program = shutil.which("dot")
    if program is None:
        raise RuntimeError(
            "layout='dot' needs Graphviz's program dot on the PATH: install Graphviz, "
            "or leave layout at 'auto', which needs nothing"
        )
    run = subprocess.run([program, "-Tplain"], input=to_dot(plan), capture_output=True, text=True, timeout=60)
    if run.returncode:
        raise RuntimeError(f"dot failed: {run.stderr.strip()}")
    return _read(plan, run.stdout)


def _layered(plan: Plan) -> Placement:
    edges = [(arrow.source, arrow.target) for arrow in plan.arrows]
    centres, curves = layered.layered(plan.sizes, edges, plan.gap)
    return Placement(tuple(centres), tuple(map(tuple, curves)), nested=False)


_ENGINES: dict[str, Callable[[Plan], Placement]] = {
    "auto": _auto,
    "embedded": _embedded,
    "dot": _system,
    "layered": _layered,
}


def to_dot(plan: Plan) -> str:
    """The plan in Graphviz's language: boxes of fixed size that carry no text."""
    along, across = plan.gap
    bodies = [
        [f"subgraph cluster_{i}{{margin={plan.margin:g};", *(f"{node};" for node in c.nodes)]
        for i, c in enumerate(plan.clusters)
    ]
    top = [
        f"digraph{{rankdir=LR;ranksep={along / _PX:.4f};nodesep={across / _PX:.4f};",
        'node[shape=box,fixedsize=true,label=""];edge[arrowhead=none];',
    ]
    ports: dict[int, set[float]] = {}
    for arrow in plan.arrows:
        ports.setdefault(arrow.source, set()).add(arrow.leaves)
        ports.setdefault(arrow.target, set()).add(arrow.arrives)
    named: dict[tuple[int, float], str] = {}
    if _reach(plan) > _LONG:
        top.append("nslimit=1;nslimit1=1;mclimit=0.1;searchsize=10;")
    for i, (w, h) in enumerate(plan.sizes):
        facts = [f"width={w / _PX:.4f},height={h / _PX:.4f}"] + ["ordering=in"] * (i in plan.ordered)
        if any(ports.get(i, ())):
            fields, found = _record([0.5 + port / h for port in sorted(ports[i])])
            named.update(zip(((i, port) for port in sorted(ports[i])), found))
            facts.append(f'shape=record,fontsize=1,label="{fields}"')
        top.append(f"{i}[{','.join(facts)}];")
    for i in range(len(plan.clusters) - 1, -1, -1):
        parent = plan.clusters[i].parent
        (bodies[parent] if parent >= 0 else top).append("".join(bodies[i]) + "}")
    # Inside of a cluster Graphviz turns the order around where it draws from left to right.
    clustered = {node for cluster in plan.clusters for node in cluster.nodes}
    inner = [arrow for arrow in plan.arrows if arrow.source in clustered and arrow.target in clustered]
    outer = [arrow for arrow in plan.arrows if arrow.source not in clustered or arrow.target not in clustered]
    arrivals = Counter(arrow.target for arrow in plan.arrows)
    for arrow in (*outer, *reversed(inner)):
        # What is computed on runs straight, and what is only given stands beside it.
        weight = arrivals[arrow.target] if arrow.source in arrivals else 1
        facts = [f"weight={weight}"] * (weight > 1)
        leaves = named.get((arrow.source, arrow.leaves))
        arrives = named.get((arrow.target, arrow.arrives))
        start = f"{arrow.source}{f':{leaves}:e' if leaves else ''}"
        end = f"{arrow.target}{f':{arrives}:w' if arrives else ''}"
        top.append(f"{start}->{end}" + (f"[{','.join(facts)}];" if facts else ";"))
    return "\n".join([*top, "}"])


def _record(parts: list[float]) -> tuple[str, list[str]]:
    """The equal fields of a rectangle, and those nearest to these ``parts`` of its height."""

    def away(count: int) -> float:
        return max(abs((int(part * count) + 0.5) / count - part) for part in parts)

    count = min(range(2, _FIELDS), key=away)
    fields = [f"<f{field}>" for field in range(count)]
    nearest = [f"f{int(part * count)}" for part in parts]
    return "|".join(fields), nearest


_FIELDS = 60
"""Of so many fields some are within a few pixels of any height."""


def _read(plan: Plan, plain: str) -> Placement:
    """Graphviz's ``plain`` form: lines that begin with graph, node or edge; y runs upwards."""
    height = 0.0
    centres: list[Point] = [(0.0, 0.0)] * len(plan.sizes)
    curves: list[tuple[Point, ...]] = [()] * len(plan.arrows)
    waiting: dict[tuple[str, str], list[int]] = {}
    for i, arrow in enumerate(plan.arrows):
        waiting.setdefault((str(arrow.source), str(arrow.target)), []).append(i)
    for line in plain.replace("\\\n", "").splitlines():
        kind, *words = line.split()
        if kind == "graph":
            height = float(words[2]) * _PX
        elif kind == "node":
            centres[int(words[0])] = (float(words[1]) * _PX, height - float(words[2]) * _PX)
        elif kind == "edge":
            numbers = [float(word) * _PX for word in words[3 : 3 + 2 * int(words[2])]]
            points = tuple((x, height - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True))
            curves[waiting[words[0], words[1]].pop(0)] = points
    return Placement(tuple(centres), tuple(curves), nested=True)
