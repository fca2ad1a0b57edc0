"""The shapes of a picture: a :class:`Scene` has boxes, arrows and frames, in pixels, without any markup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autokit.draw.heatmap import Heatmap
from autokit.draw.thumbnail import Histogram
from autokit.graphs.model import Edge, Node, State

Point = tuple[float, float]


@dataclass(frozen=True)
class TextLine:
    """A text that never changes; ``y`` is its baseline, ``full`` the whole of it where it was shortened.

    ``formula`` follows it on its line.
    """

    x: float
    y: float
    text: str
    role: str
    anchor: str = "start"
    full: str = ""
    formula: str = ""


@dataclass(frozen=True)
class Field:
    """The place of a text that changes from step to step, the room it has, and the size of its type.

    Where it may have two ``lines``, a range stands in two, above and below ``y``.
    """

    x: float
    y: float
    width: float
    size: float
    anchor: str = "start"
    lines: int = 1


@dataclass(frozen=True)
class Thumbnail:
    """What shows once the value or the gradient is known: its picture, and words on what is wrong with it."""

    part: str
    x: float
    y: float
    room: tuple[float, float]
    heat: Heatmap | Histogram | None
    marks: TextLine | None


@dataclass(frozen=True)
class Badge:
    """The plate behind a symbol or behind the count of pending contributions."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Card:
    """What a box holds, in coordinates from its upper left corner."""

    width: float
    height: float
    lines: tuple[TextLine, ...]
    fields: Mapping[str, Field]
    thumbnails: tuple[Thumbnail, ...] = ()
    badge: Badge | None = None
    pending: Badge | None = None

    def widened(self, to: float) -> Card:
        """The same card, wider: what stands at its right edge stays there."""
        more = to - self.width
        fields = {
            name: replace(f, x=f.x + more) if name == "pending" else replace(f, width=f.width + more)
            for name, f in self.fields.items()
        }
        lines = tuple(replace(t, x=t.x + more) if t.anchor == "end" else t for t in self.lines)
        pending = self.pending and replace(self.pending, x=self.pending.x + more)
        return replace(self, width=to, lines=lines, fields=fields, pending=pending)


@dataclass(frozen=True)
class Box:
    """A card in its place.

    ``node`` is None for a box that stands for many: for those of a fold, whose
    ids are in ``holds``, or for all that is left out.
    """

    x: float
    y: float
    card: Card
    node: Node | None = None
    holds: tuple[int, ...] = ()

    @property
    def width(self) -> float:
        return self.card.width

    @property
    def height(self) -> float:
        return self.card.height


@dataclass(frozen=True)
class Line:
    """An arrow: 1 + 3k control points of a Bézier curve, from its source's border to its target's.

    ``cut`` says that it comes from what is left out, ``bundle`` that a fold is at one of its ends, so
    that it may stand for several.
    """

    points: tuple[Point, ...]
    edge: Edge
    flow: Field
    cut: bool = False
    bundle: bool = False


@dataclass(frozen=True)
class Frame:
    """The border around the boxes of one module."""

    path: str
    x: float
    y: float
    width: float
    height: float
    label: TextLine


@dataclass(frozen=True)
class Scene:
    """A picture: its size, what stands where, what it says in words, and the state of its still.

    Attributes
    ----------
    width, height : float
        In px, as all coordinates.
    boxes, lines, frames : tuple
        In the order in which they are drawn: frames lie beneath, outer before inner.
    notes : tuple of TextLine
        What the picture leaves out, in words, at its foot.
    title : str
        The story of the picture in words: its accessible name.
    state : State
        What a still shows: everything that is known.
    direction : {"LR", "TB"}
        In which arrows run.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    frames: tuple[Frame, ...]
    notes: tuple[TextLine, ...]
    title: str
    state: State
    direction: str = "LR"

    def fields(self) -> dict[str, Mapping[str, Field]]:
        """The fields of every box of a node and of every arrow, by the names of their elements."""
        boxes = {box.node.element: box.card.fields for box in self.boxes if box.node}
        return boxes | {line.edge.element: {"flow": line.flow} for line in self.lines}
