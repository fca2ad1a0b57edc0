"""One box: an operation and the value that it makes, or a leaf, or a constant.

From top to bottom: the operation's symbol and the value's name, its kind,
shape and dtype, the value, the gradient.  Everything stands on a few shared
left edges, and the box is as wide as the widest text that it will ever show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from autokit.draw.escape import visible
from autokit.draw.heatmap import heatmap
from autokit.draw.metrics import fit, width
from autokit.draw.shapes import Badge, Card, Field, TextLine, Thumbnail
from autokit.graphs.model import Node, Summary

SIZES = {
    "title": 14.0,
    "unnamed": 14.0,
    "caption": 11.0,
    "order": 10.0,
    "symbol": 15.0,
    "label": 11.0,
    "value": 14.0,
    "gradient": 14.0,
    "pending": 10.0,
    "marks": 11.0,
    "flow": 11.5,
    "group": 11.0,
    "note": 12.0,
}
"""The size in px of each kind of text."""

BOLD = frozenset({"title", "symbol", "pending", "group"})

PAD_X, PAD_Y = 14.0, 12.0
WIDEST = 340.0
"""Where values and gradients are shortened, in px; and so, below, the other texts."""

_TITLE, _CAPTION, _SYMBOL = 220.0, 260.0, 160.0

_HEADER, _SMALLEST, _BADGE, _ROW, _LABEL = 32.0, 112.0, 28.0, 20.0, 38.0


def text_width(text: str, role: str) -> float:
    """The room in px for ``text``, made visible, in the type of ``role``."""
    return width(visible(text), SIZES[role], role in BOLD)


def line(x: float, y: float, text: str, role: str, limit: float, anchor: str = "start") -> TextLine:
    """A line of text, shortened to ``limit`` px where it must be."""
    whole = visible(text)
    shown = fit(whole, SIZES[role], limit, role in BOLD)
    return TextLine(x, y, shown, role, anchor, whole if shown != whole else "")


def card(node: Node, shown: Mapping[str, Iterable[str]]) -> Card:
    """The card of ``node``; ``shown`` holds, for each field that changes, all texts that it will show."""
    left, badge, lines = PAD_X, None, []
    if node.kind == "operation":
        symbol = line(0, PAD_Y + 21, node.symbol or node.operation, "symbol", _SYMBOL, "middle")
        plate = max(_BADGE, text_width(symbol.text, "symbol") + (10 if len(symbol.text) == 1 else 18))
        badge = Badge(PAD_X, PAD_Y + 2, plate, _BADGE)
        lines.append(replace(symbol, x=PAD_X + plate / 2))
        left += plate + 10
    title = line(left, PAD_Y + 13, node.name, "title" if node.label else "unnamed", _TITLE)
    caption = line(left, PAD_Y + 29, describe(node), "caption", _CAPTION)
    order = TextLine(0, PAD_Y + 13, str(node.id), "order", "end")
    lines += [title, caption]
    right = max(
        left + text_width(title.text, title.role) + 14 + text_width(order.text, "order"),
        left + text_width(caption.text, "caption"),
        _SMALLEST - PAD_X,
    )

    y = PAD_Y + _HEADER + 12
    fields: dict[str, Field] = {}
    thumbnails = []
    size = 12.0 if node.shape else SIZES["value"]  # a range is a longer text than a number
    rows = [("value", node.value)]
    if node.requires_grad or node.gradient is not None or any(shown.get("gradient", ())):
        rows.append(("gradient", node.gradient))
    heats = {name: heatmap(summary) for name, summary in rows}
    column = max((heat.width + 10 for heat in heats.values() if heat), default=0.0)
    for name, summary in rows:
        heat = heats[name]
        height = max(_ROW, heat.height + 4 if heat else 0)
        baseline = y + height / 2 + 5
        lines.append(TextLine(PAD_X, baseline, "value" if name == "value" else "grad", "label"))
        x = PAD_X + _LABEL + column
        room = max((width(visible(t), size) for t in shown.get(name, ())), default=0.0)
        room = min(room, WIDEST)
        fields[name] = Field(x, baseline, room, size)
        right = max(right, x + room)
        y += height
        marks = _marks(summary, x, y + 10)
        if marks:
            right = max(right, x + text_width(marks.text, "marks"))
            y += 16
        if heat or marks:
            top = baseline - 5 - (heat.height / 2 if heat else 0)
            thumbnails.append(Thumbnail(f"{name}-heatmap", PAD_X + _LABEL, top, heat, marks))
        y += 4
    pending = None
    if any(shown.get("pending", ())):
        plate = max(18.0, *(text_width(t, "pending") + 10 for t in shown["pending"]))
        right += plate + 8
        middle = fields["gradient" if "gradient" in fields else "value"].y - 5
        pending = Badge(right - plate, middle - 9, plate, 18.0)
        fields["pending"] = Field(right - plate / 2, middle + 3.5, plate, SIZES["pending"], "middle")
    lines.append(replace(order, x=right))
    return Card(right + PAD_X, y - 4 + PAD_Y, tuple(lines), fields, tuple(thumbnails), badge, pending)


def describe(node: Node) -> str:
    """Kind, shape and dtype in a few words, as ``matmul · [3, 4] · float32``.

    A symbol that is a word has named the operation already; a number has no shape to show.
    """
    words = [node.operation if node.kind == "operation" else node.kind]
    if words[0] == node.symbol:
        words = []
    if node.shape:
        words.append(shape_text(node.shape))
    return " · ".join([*words, node.dtype] if node.dtype else words)


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


def _marks(summary: Summary | None, x: float, y: float) -> TextLine | None:
    words = marks_text(summary)
    return TextLine(x, y, words, "marks") if words else None


def left_out_card(words: str) -> Card:
    """The box that stands for all that is not drawn."""
    lines, y = [TextLine(PAD_X, PAD_Y + 12, "…", "title")], PAD_Y + 30
    for piece in words.split(" and "):
        lines.append(TextLine(PAD_X, y, piece, "caption"))
        y += 15
    widest = max(text_width(piece.text, "caption") for piece in lines)
    return Card(max(_SMALLEST, widest + 2 * PAD_X), y - 15 + PAD_Y + 4, tuple(lines), {})
