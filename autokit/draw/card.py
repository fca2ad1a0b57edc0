"""One box: an operation and the value that it makes, or a leaf, or a constant.

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
    top = PAD_Y + (_ABOVE if down and names else 0.0)
    left, badge, lines = edge, None, []
    if node.symbol or node.kind == "operation":
        symbol = line(0, top + 21, node.symbol or node.operation, "symbol", _SYMBOL, "middle")
        plate = max(_BADGE, text_width(symbol.text, "symbol") + (10 if len(symbol.text) == 1 else 18))
        badge = Badge(edge, top + 2, plate, _BADGE)
        lines.append(replace(symbol, x=edge + plate / 2))
        left += plate + 10
    title = line(left, top + 13, node.name, "title" if node.label else "unnamed", _TITLE)
    title = replace(title, formula=_beside_the_name(node, show))
    caption = line(left, top + 29, describe(node, show), "caption", _CAPTION)
    order = TextLine(0, top + 13, str(node.id) if "order" in show else "", "order", "end")
    lines += [title, caption]
    headline = text_width(title.text, title.role) + text_width(title.formula, "formula")
    right = max(
        left + headline + 14 + text_width(order.text, "order"),
        left + text_width(caption.text, "caption"),
        _SMALLEST - PAD_X,
    )

    y = top + _HEADER + 12
    fields: dict[str, Field] = {}
    thumbnails = []
    size = 12.0 if node.shape else SIZES["value"]  # a range is a longer text than a number
    asked = {*show, *({"saved"} if node.kind in WAY_BACK else {"source"} if node.kind == "failed" else ())}
    if title.formula:
        asked.discard("formula")
    details = [(name, words) for name, words in facts(node, arriving, nodes) if name in asked]
    label = _LONG_LABEL if details else _LABEL
    rows = _rows(node, shown, show)
    pictures = {name: thumbnail(summary) if "heatmap" in show else None for name, summary in rows}
    column = max((picture.width + 10 for picture in pictures.values() if picture), default=0.0)
    for name, summary in rows:
        picture = pictures[name]
        height = max(_ROW, picture.height + 4 if picture else 0)
        baseline = y + height / 2 + 5
        lines.append(TextLine(edge, baseline, "value" if name == "value" else "grad", "label"))
        x = edge + label + column
        room = max((width(visible(t), size) for t in shown.get(name, ())), default=0.0)
        room = min(room, WIDEST)
        fields[name] = Field(x, baseline, room, size)
        right = max(right, x + room)
        y += height
        marks = _marks(summary, node.marks if name == "value" else (), name, x, y + 10)
        if marks:
            right = max(right, x + text_width(marks.text, "marks"))
            y += 16
        if picture or marks:
            upper = baseline - 5 - (picture.height / 2 if picture else 0)
            thumbnails.append(Thumbnail(f"{name}-heatmap", edge + label, upper, picture, marks))
        y += 4
    if not any(name == "value" for name, _ in rows):  # beside which they would stand
        for words in node.marks:
            told = line(edge, y + 12, words, "marks", WIDEST)
            lines.append(told)
            right = max(right, edge + text_width(told.text, "marks"))
            y += 15
        y += 4 if node.marks else 0
    for name, words in details:
        lines.append(TextLine(edge, y + 15, LABELS[name], "label"))
        detail = line(edge + label, y + 15, words, "detail", WIDEST)
        lines.append(detail)
        right = max(right, detail.x + text_width(detail.text, "detail"))
        y += _ROW
    pending = None
    if any(shown.get("pending", ())):
        plate = max(18.0, *(text_width(t, "pending") + 10 for t in shown["pending"]))
        right += plate + 8
        middle = fields["gradient" if "gradient" in fields else "value"].y - 5 if fields else top + 24
        pending = Badge(right - plate, middle - 9, plate, 18.0)
        fields["pending"] = Field(right - plate / 2, middle + 3.5, plate, SIZES["pending"], "middle")
    lines.append(replace(order, x=right))
    bottom = y - (0 if details else 4) + PAD_Y if rows or details or node.marks else top + _HEADER + 6 + PAD_Y
    wide = right + PAD_X
    if down and names:
        wide = max(wide, len(names) * (reach + 8) + 2 * PAD_X)
    return Card(wide, bottom, tuple(lines), fields, tuple(thumbnails), badge, pending, names)


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
