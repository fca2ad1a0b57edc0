"""A widget that plays a timeline, step by step; Python can set and read its position."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import traitlets

from autokit import draw
from autokit.draw.scene import STAGE
from autokit.graphs.cells import NOT_TOLD, Cells
from autokit.graphs.model import Timeline
from autokit.graphs.story import tell
from autokit.graphs.summary import number
from autokit.graphs.words import counted
from autokit.widgets.export import save
from autokit.widgets.live import Playing, chosen
from autokit.widgets.payload import payload, pictured
from autokit.widgets.script import player_css, player_js
from autokit.widgets.still import in_its_place

if TYPE_CHECKING:
    from autokit.engine.tensor import Tensor
    from autokit.graphs.model import Graph


PICTURE = ("depth", "direction", "limit", "show")
"""What of the picture can be asked for, as in :func:`autokit.draw.scene`."""

ELEMENTS_AT_ONCE = 1024
"""How many elements of a tensor a browser is told when it asks."""


class Player(Playing):
    """Plays a timeline: forward in topological order, then the gradients' way back.

    It runs in the browser: the kernel is told where the player stands and may
    move it, but it is not asked for a frame, so the player outlives it.

    Parameters
    ----------
    timeline : Timeline
        As made by ``ak.record``.
    cells : Cells, optional
        Tells of the elements of large tensors, as long as their arrays are alive; ``ak.animate`` brings it.
    **traits
        Any of the attributes below, to begin with; and of the picture ``depth``, ``direction``,
        ``limit`` and ``show``, as in ``draw.scene``.

    Attributes
    ----------
    step : int
        The step that is shown, from 0; kept within the timeline.
    playing : bool
    selected : str
        The element name of the node whose details are open, as ``"n3"``, or ``""``.
    speed : float
        How many times as fast as the normal pace, from 0.1 to 10.
    grain : "fine" or "coarse"
        Whether the player stands on every step or at the end of each chapter.

    Examples
    --------
    >>> from autokit.graphs.model import Chapter, Graph, Node, Step, Timeline
    >>> a = Node(0, "leaf", "", "", "", "", "a", (), "float32", None, None, True)
    >>> steps = (Step("input", "forward", 0, "a is given."), Step("finish", "backward", 0, "That is all."))
    >>> player = Player(Timeline(Graph((a,), ()), steps, (Chapter(0, 1, "a"),)))
    >>> player
    Player(1 node, 2 steps)
    >>> player.seek(-1)
    >>> player.step
    1
    """

    _esm = player_js()
    _css = player_css()

    selected = traitlets.Unicode("").tag(sync=True)
    grain = traitlets.Enum(("fine", "coarse"), "fine").tag(sync=True)
    _opened = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    _timeline = traitlets.Dict(read_only=True).tag(sync=True)
    _svg = traitlets.Unicode(read_only=True).tag(sync=True)
    _shortened = traitlets.Dict(read_only=True).tag(sync=True)
    _cells = traitlets.Dict(read_only=True).tag(sync=True)

    def __init__(self, timeline: Timeline, cells: Cells | None = None, **traits: Any) -> None:
        if not isinstance(timeline, Timeline):
            raise TypeError(
                f"Player plays a Timeline, got {type(timeline).__name__}; make one with ak.record(tensor), "
                "or use ak.animate(tensor)"
            )
        self.timeline = timeline
        self._source, self._room = cells, STAGE
        super().__init__()
        self.on_msg(self._answer)
        self._picture = {name: traits.pop(name) for name in PICTURE if name in traits}
        self._set(**payload(timeline, **self._picture))
        for name, value in traits.items():
            setattr(self, name, value)

    def play(self) -> None:
        """Play on from where the player stands; from the start where that is the end."""
        if self.step >= len(self.timeline) - 1:
            self.step = 0
        self.playing = True

    def pause(self) -> None:
        """Stop playing, and stay where the player stands."""
        self.playing = False

    def _count(self) -> int:
        return len(self.timeline)

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write what is played to ``path``: ``.html`` plays offline; else as ``Graph.save``."""
        plays = str(path).lower().endswith((".html", ".htm"))
        save(self.timeline, path, **{**self._picture, **options} if plays else options)

    def __repr__(self) -> str:
        return f"Player({counted(len(self.timeline.graph), 'node')}, {counted(len(self.timeline), 'step')})"

    def still(self) -> dict[str, Any]:
        """What stands in the player's place where there is no kernel."""
        bundle = draw.mimebundle(self.timeline, **self._picture)
        return {**bundle, "text/html": in_its_place(bundle["text/html"])}

    def _answer(self, _: Any, question: Any, buffers: Any) -> None:
        """Tell the browser what it asks for: elements of a tensor, or how one came about.

        Or draw the picture anew: with an open fold, or for a stage of another size.
        """
        if "room" in question:
            wide, high = question["room"]
            self._room = max(float(wide), 1.0), max(float(high), 1.0)
            self._open(self._opened)
            return
        if "opened" in question:
            self._open([str(held) for held in question["opened"]])
            return
        element, field = str(question.get("element")), str(question.get("field"))
        place = int(question.get("place", 0))
        self.send({**question, **self._told(element, field, place, bool(question.get("sum")))})

    def _open(self, folds: list[str]) -> None:
        """Draw the picture with these folds open, and all others closed, for the room that it has."""
        options = {**self._picture, "opened": folds, "room": self._room, "legend": False}
        drawn = pictured(draw.scene(self.timeline, **options), self.timeline)
        self._set(_opened=folds, **drawn)

    def _told(self, element: str, field: str, place: int, wants_sum: bool) -> dict[str, Any]:
        node = next((node for node in self.timeline.graph.nodes if node.element == element), None)
        if node is None or field not in ("value", "gradient") or (wants_sum and not self._source):
            return {"told": NOT_TOLD}
        if wants_sum and self._source:
            made = self._source.made_of(node, field, place)
            return {"told": self._source.explain(node, field, place), "made": made}
        part = self._source.part(node, field, place, ELEMENTS_AT_ONCE) if self._source else None
        summary = node.value if field == "value" else node.gradient
        kept = summary.values if summary is not None else None
        values = part if part is not None else (kept or ())[place : place + ELEMENTS_AT_ONCE]
        return {"values": [number(value) for value in values], "told": "" if len(values) else NOT_TOLD}

    @traitlets.validate("step")
    def _stay_within(self, proposal: Any) -> int:
        step = super()._stay_within(proposal)
        return self._chapter_end(step) if self.grain == "coarse" else step

    @traitlets.observe("grain")
    def _stand_on_a_chapter(self, change: Any) -> None:
        if change["new"] == "coarse":
            self.step = self._chapter_end(self.step)

    @traitlets.validate("selected")
    def _select_a_node(self, proposal: Any) -> str:
        nodes = self.timeline.graph.nodes
        return chosen(proposal["value"], {n.element: f"{n.element} ({n.name})" for n in nodes}, "node")

    def _chapter_end(self, step: int) -> int:
        return next((c.last for c in self.timeline.chapters if c.first <= step <= c.last), step)


def animate(
    tensor: Tensor | Timeline | Graph,
    *,
    mode: str = "backward",
    wrt: Tensor | str | None = None,
    **traits: Any,
) -> Player:
    """Play how ``tensor`` was computed, and how its gradient flows back.

    Works before and after ``backward()``, and leaves every ``.grad`` as it was.

    Parameters
    ----------
    tensor : Tensor, Timeline or Graph
        A tensor with a history, or the story of one, as made by ``ak.record``; or the graph that
        ``ak.graph_of`` made of objects of yours.
    mode, wrt
        As for ``ak.record``: ``mode="forward"`` lets tangents travel with the values.
    **traits
        Of the :class:`Player`, such as ``speed=2``; and of the picture ``depth``, ``direction``,
        ``limit`` and ``show``, as ``limit=400`` to draw up to 400 boxes before any fold.
    """
    if isinstance(tensor, Timeline):
        return Player(tensor, **traits)
    return Player(*tell(tensor, None, mode, wrt), **traits)
