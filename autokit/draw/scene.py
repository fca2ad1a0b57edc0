"""A scene, the picture as data, is computed from a graph or a timeline.

A box is sized by the texts that it will ever show, over all steps of a
timeline; :mod:`autokit.draw.layout` says where the boxes go.  What draws a
scene only writes down what stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from autokit.draw.arrange import Arrangement
from autokit.draw.card import line, text_width
from autokit.draw.heatmap import Heatmap
from autokit.draw.part import LIMIT, Part, part
from autokit.draw.routes import crosses
from autokit.draw.shapes import Box, Frame, Line, Scene
from autokit.draw.stations import at_the_side, last_row
from autokit.draw.text import story
from autokit.graphs.model import NOT_COMPUTED, NOT_KEPT, Edge, Graph, State, Timeline
from autokit.graphs.view import make_view

MARGIN = 7.0
"""From the edge of the paper to what is drawn, in px."""

STAGE = (1130.0, 380.0)
"""The room that a player has in JupyterLab, in a window of 1280 by 720 px."""

_ROWS = 40
"""So many boxes are tried in rows at most."""

_READABLE = 0.4
"""What has to shrink to less than this part of its size is not read as a whole, but scrolled through."""

_GRADIENT = re.compile(r"(?<![\w.])[gĝ]ᵀ?(?![\w.])")
"""What stands for the gradient that comes in, where a derivative cannot be told without it."""


def scene(
    data: Graph | Timeline,
    *,
    layout: str = "auto",
    direction: str | None = None,
    limit: int = LIMIT,
    depth: int | None = None,
    show: str | Iterable[str] | None = None,
    opened: Collection[str] = (),
    room: tuple[float, float] = STAGE,
    legend: bool = True,
) -> Scene:
    """Compute the picture of a graph or of a timeline.

    Parameters
    ----------
    data : Graph or Timeline
    layout : {"auto", "embedded", "dot", "layered"}
        Who computes the coordinates: see :mod:`autokit.draw.layout`.
    direction : {"auto", "LR", "TB"}, optional
        From left to right, or from top to bottom; "auto" takes that of them which fits larger into
        ``room``.  Left out, as the graph's own view says.
    limit : int
        How many boxes to draw at most: modules and what repeats fold; if that is not enough, the
        newest operations stay, and the rest is counted.
    depth : int, optional
        How many levels of modules to draw open; left out, as the graph's own view says.
    show : str or iterable of str, optional
        What a box shows, as for ``ak.graph``; left out, as the graph's own view says.
    opened : collection of str
        Folds to open, by the ids of their nodes as a drawn fold's ``data-holds`` has them.
    room : (width, height)
        Where it is to be seen, in px: the stage of a player, where nothing else is known.
    legend : bool
        Whether a note says what the colours of cells mean; a player says it elsewhere.

    Raises
    ------
    ValueError
        For a layout, a direction or something to show that there is not, a limit below 1, a depth below 0.
    RuntimeError
        Where the layout asked for cannot be had on this machine.
    """
    graph = data.graph if isinstance(data, Timeline) else data
    direction = graph.view.direction if direction is None else direction
    asked = make_view(depth, graph.view.show if show is None else show, direction)
    constants = "constants" in asked.show or "formula" not in asked.show
    drawn = part(graph, limit, depth, opened, constants)
    state = still(data, drawn)
    texts = _texts(data, state)
    if ring := getattr(graph, "arranged", None):
        return _on_paper(*ring(texts, state))
    shown = (*asked.show, "tangent") if graph.view.slopes == "tangent" else asked.show

    def arranged(direction: str, in_a_row: Sequence[Edge] = ()) -> Scene:
        arrangement = Arrangement(graph, drawn, texts, direction, shown, in_a_row)
        boxes, lines, frames = arrangement.build(layout)
        notes = [*(_legend(boxes, state) if legend else ()), *_notes(graph, drawn)]
        picture = _on_paper(boxes, lines, frames, notes, story(graph, drawn), state)
        return replace(picture, direction=direction)

    if direction != "auto":
        return arranged(direction)
    across = arranged("LR")
    if min(_fits(across, room), 1.0) == 1.0:
        return across
    down = arranged("TB")
    if len(drawn.nodes) <= _ROWS and not graph.groups:
        tail = last_row(drawn, at_the_side(drawn))
        starts = range(len(tail) - 1)
        rows = [arranged("TB", tail[start:]) for start in starts]
        down = max((down, *filter(_is_clear, rows)), key=lambda picture: _fits(picture, room))
    if max(_fits(across, room), _fits(down, room)) < _READABLE:
        return min(across, down, key=lambda picture: picture.width)  # a page is scrolled downward
    return max(across, down, key=lambda picture: _fits(picture, room))


def _is_clear(picture: Scene) -> bool:
    """Whether each arrow keeps clear of the boxes that it passes."""
    walls = {}
    for box in picture.boxes:
        if box.node:
            walls[box.node.id] = (box.x, box.y, box.x + box.width, box.y + box.height)
    for arrow in picture.lines:
        homes = [walls[id] for id in (arrow.edge.source, arrow.edge.target) if id in walls]
        if crosses(arrow.points, [*walls.values()], 5.0, homes):
            return False
    return True


def _fits(picture: Scene, room: tuple[float, float]) -> float:
    """At which part of its size a picture is seen as a whole."""
    return min(room[0] / picture.width, room[1] / picture.height)


def still(data: Graph | Timeline, drawn: Part) -> State:
    """The state in which everything known is shown: a timeline's last, a graph's only one."""
    if isinstance(data, Timeline) and data.steps:
        return data.state(-1)
    state: State = {}
    lit = data.graph.view.lit if isinstance(data, Timeline) else data.view.lit
    for node in drawn.nodes:
        gradient = node.gradient.text if node.gradient else NOT_COMPUTED if node.requires_grad else ""
        status = "final" if node.gradient else "computed" if node.requires_grad else "dim"
        status = "current" if node.id in lit else status
        value = node.value.text if node.value else NOT_KEPT
        state[node.element] = {"status": status, "value": value, "gradient": gradient, "pending": None}
    back = {node.id for node in drawn.nodes if node.kind == "backward"}
    for edge in drawn.edges:
        # On the way back an arrow says what the gradient is multiplied with.
        flow = _factor(edge.local) if edge.source in back and edge.local else ""
        status = "way back" if edge.source in back else "forward" if edge.requires_grad else "idle"
        state[edge.element] = {"status": status, "flow": flow}
    return state


def _factor(local: str) -> str:
    """A local derivative as a factor; that of a product of matrices says its side, or where g goes, itself.

    >>> _factor("2"), _factor("−3"), _factor("· W"), _factor("gᵀ · x")
    ('· 2', '· (−3)', '· W', 'gᵀ · x')
    """
    if local.startswith("·") or local.endswith("·") or _GRADIENT.search(local):
        return local
    return f"· ({local})" if " " in local or local.startswith("−") else f"· {local}"


def _texts(data: Graph | Timeline, state: State) -> dict[str, dict[str, set[str]]]:
    """All texts that each field of each element will ever show."""
    texts: dict[str, dict[str, set[str]]] = {}
    shown = [(element, name, value) for element, fields in state.items() for name, value in fields.items()]
    if isinstance(data, Timeline):
        changes = [*data.initial, *(change for step in data.steps for change in step.changes)]
        shown += [(change.element, change.field, change.value) for change in changes]
    for element, name, value in shown:
        if name != "status" and value is not None:
            texts.setdefault(element, {}).setdefault(name, set()).add(str(value))
    return texts


def _legend(boxes: Iterable[Box], state: State) -> list[str]:
    """What the colours of numbers mean, and where gradients go, where there are any."""
    drawn = any(isinstance(each.heat, Heatmap) for box in boxes for each in box.card.thumbnails)
    back = any(fields.get("status") == "backward" for fields in state.values())
    arrows = "Gradients go back along the arrows. " if back else ""
    return [f"{arrows}Green is above 0, purple below."] if back or drawn else []


def _notes(graph: Graph, drawn: Part) -> list[str]:
    notes = [f"Not drawn: {drawn.left_out}."] if drawn.left_out else []
    if drawn.folds:
        count, titles = sum(len(fold.nodes) for fold in drawn.folds), {fold.title for fold in drawn.folds}
        boxes = "1 box" if len(drawn.folds) == 1 else f"{len(drawn.folds):,} boxes"
        it = "it" if len(drawn.folds) == 1 else "one"
        more = "; depth= opens modules" if {group.path for group in graph.groups} & titles else ""
        notes.append(
            f"{count:,} of {len(graph.nodes) - len(drawn.numbers):,} nodes are folded into {boxes}: "
            f"in a player a click opens {it}{more}."
        )
    if not graph.nodes:
        notes.append("An empty graph: nothing was computed.")
    return notes + ([graph.left_out] if graph.left_out else [])


def _on_paper(
    boxes: list[Box], lines: list[Line], frames: list[Frame], notes: list[str], title: str, state: State
) -> Scene:
    """Everything moved so that it lies on the paper with an even margin, and the notes below."""
    rectangles: list[Box | Frame] = [*boxes, *frames]
    points = [point for arrow in lines for point in arrow.points]
    xs = [x for r in rectangles for x in (r.x, r.x + r.width)] + [x for x, _ in points]
    ys = [y for r in rectangles for y in (r.y, r.y + r.height)] + [y for _, y in points]
    dx, dy = MARGIN - min(xs, default=0.0), MARGIN - min(ys, default=0.0)
    width, height = max(xs, default=0.0) + dx + MARGIN, max(ys, default=0.0) + dy + MARGIN
    foot = []
    height += 8.0 if notes else 0.0
    for words in notes:
        note = line(MARGIN, height, words, "note", max(width, 640.0) - 2 * MARGIN)
        foot.append(note)
        width = max(width, text_width(note.text, "note") + 2 * MARGIN)
        height += 18
    return Scene(
        width=_px(width),
        height=_px(height),
        boxes=tuple(replace(b, x=_px(b.x + dx), y=_px(b.y + dy)) for b in boxes),
        lines=tuple(_moved(e, dx, dy) for e in lines),
        frames=tuple(
            replace(
                f,
                x=_px(f.x + dx),
                y=_px(f.y + dy),
                label=replace(f.label, x=_px(f.label.x + dx), y=_px(f.label.y + dy)),
            )
            for f in frames
        ),
        notes=tuple(foot),
        title=title,
        state=state,
    )


def _moved(arrow: Line, dx: float, dy: float) -> Line:
    points = tuple((_px(x + dx), _px(y + dy)) for x, y in arrow.points)
    flow = replace(arrow.flow, x=_px(arrow.flow.x + dx), y=_px(arrow.flow.y + dy))
    return replace(arrow, points=points, flow=flow)


def _px(value: float) -> float:
    """A tenth of a pixel is as fine as anyone sees, and hides the engines' last digits."""
    return round(value, 1)
