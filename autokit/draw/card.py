"""A card is one box of the picture: an operation with its result, a leaf, or a constant.

From top to bottom: the operation's symbol and an equation, the value's name
and its formula; its kind, shape and dtype; the value, the gradient, and what
else is asked for.
Everything stands on a few shared left edges, and the box is as wide as the
widest text that it will ever show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from autokit.draw.escape import visible
from autokit.draw.fold import Fold
from autokit.draw.heatmap import Heatmap
from autokit.draw.histogram import Histogram
from autokit.draw.metrics import fit, width
from autokit.draw.shapes import Badge, Card, Field, TextLine, Thumbnail
from autokit.draw.thumbnail import thumbnail
from autokit.graphs.model import Edge, Node, Summary
from autokit.graphs.view import SHOWN

SIZES = {
    "title": 14.0,
    "unnamed": 14.0,
    "formula": 13.0,
    "caption": 11.0,
    "order": 10.0,
    "symbol": 15.0,
    "label": 11.0,
    "value": 14.0,
    "gradient": 14.0,
    "pending": 10.0,
    "marks": 11.0,
    "detail": 12.0,
    "operand": 9.5,
    "flow": 11.5,
    "group": 11.0,
    "note": 12.0,
}
"""The size in px of each kind of text."""

BOLD = frozenset({"title", "symbol", "pending", "group"})

PAD_X, PAD_Y = 14.0, 12.0
WIDEST = 340.0
"""Where values and gradients are shortened, in px; and so, below, the other texts."""

_TITLE, _CAPTION, _SYMBOL, _FORMULA = 220.0, 260.0, 160.0, 220.0

_HEADER, _SMALLEST, _BADGE, _ROW, _LABEL = 32.0, 112.0, 28.0, 20.0, 38.0
_LONG_LABEL = 48.0
_ABOVE = 7.0  # more air under the operands' words where they stand at the top

IN_ANY_ORDER = frozenset(
    ("add", "mul", "maximum", "minimum", "fmax", "fmin", "eq", "ne", "logical_and", "logical_or")
    + ("logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "logaddexp", "logaddexp2", "hypot", "dot")
)
"""Operations whose operands may change places."""


def text_width(text: str, role: str) -> float:
    """The room in px for ``text``, made visible, in the type of ``role``."""
    return width(visible(text), SIZES[role], role in BOLD)


def line(x: float, y: float, text: str, role: str, limit: float, anchor: str = "start") -> TextLine:
    """A line of text, shortened to ``limit`` px where it must be."""
    whole = visible(text)
    shown = fit(whole, SIZES[role], limit, role in BOLD)
    return TextLine(x, y, shown, role, anchor, whole if shown != whole else "")


def shown_in(field: Field, text: str, role: str) -> str:
    """What ``field`` shows of ``text``: as much as it has room for, up to a rounding of the width."""
    return fit(visible(text), field.size, field.width + 0.01, role in BOLD)


def in_order(node: Node, arriving: Sequence[Edge]) -> bool:
    """Whether it matters which operand is which."""
    return node.operation not in IN_ANY_ORDER and len({edge.operand for edge in arriving}) > 1


def operand_words(node: Node, arriving: Sequence[Edge], show: Collection[str]) -> dict[int, str]:
    """What stands where the operands arrive, by their slots, where no formula tells which is which."""
    told = node.formula and "formula" in show and text_width(node.formula, "detail") <= WIDEST
    if told or not in_order(node, arriving):
        return {}
    return {edge.slot: visible(edge.operand) for edge in arriving}


def card(
    node: Node,
    shown: Mapping[str, Iterable[str]],
    arriving: Sequence[Edge] = (),
    nodes: Sequence[Node] = (),
    show: Collection[str] = SHOWN,
    down: bool = False,
) -> Card:
    """The card of ``node``.

    Parameters
    ----------
    node : Node
    shown : mapping
        For each field that changes, all texts that it will show.
    arriving : sequence of Edge
        Its operands.
    nodes : sequence of Node
        Where they come from: all nodes of the graph, by their ids.
    show : collection of str
        Which of ``FACTS`` it shows.
    down : bool
        Whether arrows arrive from above, and not from the left.
    """
    names = operand_words(node, arriving, show)
    reach = max((text_width(name, "operand") for name in names.values()), default=0.0)
    edge = PAD_X + (0.0 if down else max(0.0, reach + 7 - PAD_X))
    filling = _Filling(node, shown, show, edge, PAD_Y + (_ABOVE if down and names else 0.0))
    filling.head()
    asked = {*show, *({"saved"} if node.kind in WAY_BACK else {"source"} if node.kind == "failed" else ())}
    if _beside_the_name(node, show):
        asked.discard("formula")
    details = [(name, words) for name, words in facts(node, arriving, nodes) if name in asked]
    column = edge + (_LONG_LABEL if details else _LABEL)
    filling.values(column)
    filling.details(details, column)
    filling.pending()
    return filling.card(names, len(names) * (reach + 8) + 2 * PAD_X if down and names else 0.0)


class _Filling:
    """A card that is filled from above: ``y`` is how far down it is, ``right`` how far its texts reach."""

    def __init__(
        self, node: Node, shown: Mapping[str, Iterable[str]], show: Collection[str], edge: float, top: float
    ) -> None:
        self.node, self.shown, self.show = node, shown, show
        self.edge, self.top = edge, top
        self.lines: list[TextLine] = []
        self.fields: dict[str, Field] = {}
        self.thumbnails: list[Thumbnail] = []
        self.badge: Badge | None = None
        self.waits: Badge | None = None
        self.order = TextLine(0, top + 13, str(node.id) if "order" in show else "", "order", "end")
        self.right = _SMALLEST - PAD_X
        self.y = top + _HEADER + 12

    def write(self, words: TextLine) -> None:
        """Add a line, and make room for it."""
        self.lines.append(words)
        self.right = max(self.right, words.x + text_width(words.text, words.role))

    def head(self) -> None:
        """The symbol on its plate, name and formula, and a line on what it is; room for the order number."""
        node, left = self.node, self.edge
        if node.symbol or node.kind == "operation":
            symbol = line(0, self.top + 21, node.symbol or node.operation, "symbol", _SYMBOL, "middle")
            plate = max(_BADGE, text_width(symbol.text, "symbol") + (10 if len(symbol.text) == 1 else 18))
            self.badge = Badge(self.edge, self.top + 2, plate, _BADGE)
            self.lines.append(replace(symbol, x=self.edge + plate / 2))
            left += plate + 10
        title = line(left, self.top + 13, node.name, "title" if node.label else "unnamed", _TITLE)
        title = replace(title, formula=_beside_the_name(node, self.show))
        headline = text_width(title.text, title.role) + text_width(title.formula, "formula")
        self.right = max(self.right, left + headline + 14 + text_width(self.order.text, "order"))
        self.lines.append(title)
        self.write(line(left, self.top + 29, describe(node, self.show), "caption", _CAPTION))

    def values(self, column: float) -> None:
        """The value and the gradient, each with its picture and with marks on what is wrong with it."""
        rows = _rows(self.node, self.shown, self.show)
        pictures = {name: thumbnail(summary) if "heatmap" in self.show else None for name, summary in rows}
        aside = max((picture.width + 10 for picture in pictures.values() if picture), default=0.0)
        for name, summary in rows:
            self._value(name, summary, pictures[name], column, aside)
        if not any(name == "value" for name, _ in rows):  # beside which they would stand
            for words in self.node.marks:
                self.write(line(self.edge, self.y + 12, words, "marks", WIDEST))
                self.y += 15
            self.y += 4 if self.node.marks else 0

    def _value(
        self,
        name: str,
        summary: Summary | None,
        picture: Heatmap | Histogram | None,
        column: float,
        aside: float,
    ) -> None:
        height = max(_ROW, picture.height + 4 if picture else 0)
        baseline = self.y + height / 2 + 5
        self.lines.append(TextLine(self.edge, baseline, "value" if name == "value" else "grad", "label"))
        x = column + aside
        size = 12.0 if self.node.shape else SIZES["value"]  # a range is a longer text than a number
        room = min(max((width(visible(t), size) for t in self.shown.get(name, ())), default=0.0), WIDEST)
        self.fields[name] = Field(x, baseline, room, size)
        self.right = max(self.right, x + room)
        self.y += height
        marks = _marks(summary, self.node.marks if name == "value" else (), name, x, self.y + 10)
        if marks:
            self.right = max(self.right, x + text_width(marks.text, "marks"))
            self.y += 16
        if picture or marks:
            upper = baseline - 5 - (picture.height / 2 if picture else 0)
            self.thumbnails.append(Thumbnail(f"{name}-heatmap", column, upper, picture, marks))
        self.y += 4

    def details(self, details: Sequence[tuple[str, str]], column: float) -> None:
        """What else is asked for, a line each."""
        for name, words in details:
            self.lines.append(TextLine(self.edge, self.y + 15, LABELS[name], "label"))
            self.write(line(column, self.y + 15, words, "detail", WIDEST))
            self.y += _ROW
        if self.fields or details or self.node.marks:
            self.y += PAD_Y - (0 if details else 4)
        else:
            self.y = self.top + _HEADER + 6 + PAD_Y

    def pending(self) -> None:
        """At the right the count of contributions that are still to come."""
        counts = [*self.shown.get("pending", ())]
        if not any(counts):
            return
        plate = max(18.0, *(text_width(count, "pending") + 10 for count in counts))
        self.right += plate + 8
        beside = self.fields.get("gradient") or self.fields.get("value")
        middle = beside.y - 5 if beside else self.top + 24
        self.waits = Badge(self.right - plate, middle - 9, plate, 18.0)
        x = self.right - plate / 2
        self.fields["pending"] = Field(x, middle + 3.5, plate, SIZES["pending"], "middle")

    def card(self, operands: Mapping[int, str], least: float) -> Card:
        """All of it, at least so wide."""
        lines = (*self.lines, replace(self.order, x=self.right))
        wide, pictures = max(self.right + PAD_X, least), tuple(self.thumbnails)
        return Card(wide, self.y, lines, self.fields, pictures, self.badge, self.waits, operands)


def _beside_the_name(node: Node, show: Collection[str]) -> str:
    """The formula, where there is one and it is short: name and formula are an equation."""
    if node.kind != "operation" or not node.formula or "formula" not in show or node.symbol == "…":
        return ""
    words = visible(f" = {node.formula}")
    return words if text_width(words, "formula") <= _FORMULA else ""


def _rows(
    node: Node, shown: Mapping[str, Iterable[str]], show: Collection[str]
) -> list[tuple[str, Summary | None]]:
    rows = [("value", node.value)] if "value" in show and node.kind not in (*WAY_BACK, "failed") else []
    if "gradient" in show and (
        node.requires_grad or node.gradient is not None or any(shown.get("gradient", ()))
    ):
        rows.append(("gradient", node.gradient))
    return rows


WAY_BACK = ("backward", "accumulate")
"""The kinds of nodes that make gradients, and no values."""

LABELS = {"formula": "formula", "local": "local", "saved": "saves", "source": "line"}


def facts(node: Node, arriving: Sequence[Edge], nodes: Sequence[Node]) -> list[tuple[str, str]]:
    """What else there is to say of a node, by the names of ``FACTS``."""
    told = []
    if node.formula and node.kind == "operation":
        told.append(("formula", node.formula))
        if local := _local_derivatives(arriving, nodes):
            told.append(("local", local))
    if node.saved:
        told += [("saved", words) for words in (node.saved if node.kind in WAY_BACK else [saved_text(node)])]
    if node.source:
        told.append(("source", f"{node.source.line}: {node.source.text.strip()}"))
    return told


def _local_derivatives(arriving: Sequence[Edge], nodes: Sequence[Node]) -> str:
    """By each value that comes in; one that comes in twice has the sum of both."""
    terms: dict[int, list[str]] = {}
    for edge in arriving:
        if edge.requires_grad and edge.local:
            terms.setdefault(edge.source, []).append(edge.local)
    return ", ".join(f"∂/∂{nodes[source].name} = {' + '.join(parts)}" for source, parts in terms.items())


def saved_text(node: Node) -> str:
    """What the node keeps for the way back, in one line: by name."""
    return ", ".join("its result" if name == node.name else name for name in node.saved)


def describe(node: Node, show: Collection[str] = SHOWN) -> str:
    """Kind, shape and dtype in a few words, as ``matmul · [3, 4] · float32``.

    A symbol that is a word has named the operation already; a number has no shape to show.
    """
    if node.kind in WAY_BACK:
        return ", ".join(
            [node.formula, *([shape_text(node.shape)] if node.shape and "shape" in show else [])]
        )
    else:
        words = [node.kind if node.kind in ("leaf", "constant", "failed") else node.operation]
    if words[0].replace("_", " ") == node.symbol.replace("_", " "):
        words = []
    if node.shape and "shape" in show:
        words.append(shape_text(node.shape))
    return " · ".join([*words, node.dtype] if node.dtype and "dtype" in show else words)


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as PyTorch prints it: ``[3, 4]``."""
    return f"[{', '.join(map(str, shape))}]"


def marks_text(summary: Summary | None) -> str:
    """NaN and infinity in words, as ``2 NaN, 1 infinite``; empty where all is finite or a number says it."""
    if summary is None or not summary.shape:
        return ""
    words = [f"{summary.nan:,} NaN"] if summary.nan else []
    if summary.infinite:
        words.append(f"{summary.infinite:,} infinite")
    return ", ".join(words)


def gradient_marks(summary: Summary | None) -> str:
    """As :func:`marks_text`, and whether nothing at all arrives."""
    nothing = summary is not None and summary.shape and not summary.nan and not summary.infinite
    return (
        "all zero" if nothing and summary and summary.minimum == summary.maximum == 0 else marks_text(summary)
    )


def _marks(summary: Summary | None, more: Sequence[str], name: str, x: float, y: float) -> TextLine | None:
    words = [marks_text(summary) if name == "value" else gradient_marks(summary), *more]
    told = ", ".join(filter(None, words))
    return line(x, y, f"! {told}", "marks", WIDEST) if told else None


def fold_card(fold: Fold) -> Card:
    """The box that stands for the nodes of a fold: what they are, and how many."""
    words = [(fold.title, "title"), (fold.caption, "caption"), (fold.holds, "detail")]
    if fold.shape:
        words.append((f"→ {shape_text(fold.shape)}", "caption"))
    words = [(text, role) for text, role in words if text]
    lines = [line(PAD_X, PAD_Y + 13 + 18 * i, *told, _CAPTION) for i, told in enumerate(words)]
    widest = max(text.x + text_width(text.text, text.role) for text in lines)
    return Card(max(_SMALLEST, widest + PAD_X), lines[-1].y + PAD_Y, tuple(lines), {})


def left_out_card(words: str) -> Card:
    """The box that stands for all that is not drawn."""
    lines, y = [TextLine(PAD_X, PAD_Y + 12, "…", "title")], PAD_Y + 30
    for piece in words.split(" and "):
        lines.append(TextLine(PAD_X, y, piece, "caption"))
        y += 15
    widest = max(text_width(piece.text, "caption") for piece in lines)
    return Card(max(_SMALLEST, widest + 2 * PAD_X), y - 15 + PAD_Y + 4, tuple(lines), {})
