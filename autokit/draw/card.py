"""A card is one box of the picture: an operation with its result, a leaf, or a constant.

From top to bottom: the operation's symbol and an equation, the value's name
and its formula; its shape; the value, the gradient, and what else is asked for.
Everything stands on a few shared left edges, and the box is as wide as the
widest text that it will ever show.  Where pictures run from left to right a
tensor's range stands below its thumbnail, since width is scarce there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from autokit.draw.escape import visible
from autokit.draw.fold import Fold
from autokit.draw.heatmap import Heatmap
from autokit.draw.metrics import fit, width
from autokit.draw.shapes import Badge, Card, Field, TextLine, Thumbnail
from autokit.draw.thumbnail import Histogram, thumbnail
from autokit.graphs.model import Edge, Node, Summary, name_of
from autokit.graphs.view import SHOWN

SIZES = {
    "title": 14.0,
    "unnamed": 14.0,
    "formula": 13.0,
    "caption": 11.0,
    "order": 11.0,
    "symbol": 15.0,
    "word": 11.5,
    "label": 11.0,
    "value": 14.0,
    "gradient": 14.0,
    "pending": 11.0,
    "marks": 11.0,
    "detail": 12.0,
    "flow": 11.0,
    "group": 11.0,
    "note": 12.0,
}
"""The size in px of each kind of text."""

BOLD = frozenset({"title", "symbol", "word", "pending", "group"})

PAD_X, PAD_Y = 9.0, 8.0
WIDEST = 340.0
"""Where values and gradients are shortened, in px; and so, below, the other texts."""

_TITLE, _CAPTION, _SYMBOL, _FORMULA, _BESIDE, _NARROW = 220.0, 260.0, 160.0, 190.0, 150.0, 112.0

_HEADER, _SMALLEST, _BADGE, _PLATE, _ROW, _LABEL = 32.0, 84.0, 28.0, 19.0, 18.0, 36.0
_LONG_LABEL, _LIST, _RANGE = 48.0, 96.0, 11.0
_THUMBNAIL, _SMALL = (60.0, 18.0), (32.0, 18.0)

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
    pieces = flow_lines(text, field.lines)
    return " ".join(fit(piece, field.size, field.width + 0.01, role in BOLD) for piece in pieces)


def longest(text: str) -> float:
    """The most room for a value: a list of numbers is cut, and details tell all of it."""
    return _LIST if text.startswith("[") else WIDEST


def flow_lines(text: str, lines: int) -> list[str]:
    """What flows, in so many lines at most: a range may be two.

    >>> flow_lines("−1.6 to 1.4", 2), flow_lines("−1.6 to 1.4", 1), flow_lines("2.0", 2)
    (['−1.6', 'to 1.4'], ['−1.6 to 1.4'], ['2.0'])
    """
    words = visible(text)
    at = 3 if words.startswith("all ") else words.find(" to ")
    return [words[:at], words[at + 1 :]] if at > 0 and lines > 1 else [words]


def in_order(node: Node, arriving: Sequence[Edge]) -> bool:
    """Whether it matters which operand is which."""
    return node.operation not in IN_ANY_ORDER and len({edge.operand for edge in arriving}) > 1


def card(
    node: Node,
    shown: Mapping[str, Iterable[str]],
    arriving: Sequence[Edge] = (),
    nodes: Sequence[Node] = (),
    show: Collection[str] = SHOWN,
    form: str = "wide",
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
    form : {"wide", "narrow", "side"}
        Whether ranges stand beside thumbnails or below; "side" is the small box of a parameter.
    """
    filling = _Filling(node, shown, show, form)
    filling.head()
    asked = {*show, *({"saved"} if node.kind in WAY_BACK else {"source"} if node.kind == "failed" else ())}
    details = [(name, words) for name, words in facts(node, arriving, nodes) if name in asked]
    long = details or "tangent" in show
    column = PAD_X + (0.0 if form == "side" else _LONG_LABEL if long else _LABEL)
    filling.values(column)
    filling.details(details, column)
    filling.pending()
    return filling.card()


class _Filling:
    """A card that is filled from above: ``y`` is how far down it is, ``right`` how far its texts reach."""

    def __init__(
        self,
        node: Node,
        shown: Mapping[str, Iterable[str]],
        show: Collection[str],
        form: str,
    ) -> None:
        self.node, self.shown, self.show, self.form = node, shown, show, form
        self.edge, self.top = PAD_X, PAD_Y
        self.lines: list[TextLine] = []
        self.fields: dict[str, Field] = {}
        self.thumbnails: list[Thumbnail] = []
        self.badge: Badge | None = None
        self.waits: Badge | None = None
        roomy = form == "wide" or not node.shape
        numbered = "order" in show and roomy and node.name != name_of(node.id)  # which says it
        self.order = TextLine(0, PAD_Y + 13, str(node.id) if numbered else "", "order", "end")
        self.right = _SMALLEST - PAD_X
        self.y = PAD_Y

    def write(self, words: TextLine) -> None:
        """Add a line, and make room for it."""
        self.lines.append(words)
        self.right = max(self.right, words.x + text_width(words.text, words.role))

    def head(self) -> None:
        """The symbol on its plate, name and formula, and a line on what it is; room for the order number."""
        node, left, top = self.node, self.edge, self.top
        caption, formula = describe(node, self.show, brief=True), _formula(node, self.show)
        symbol = node.symbol or (node.operation if node.kind == "operation" else "")
        if self.form == "narrow" and node.shape and symbol and self._brief_head(symbol, formula):
            return
        self.y += _HEADER
        first = 0.0
        if len(symbol) > 1:  # a word has a line of its own, with the shape
            word = line(0, top + 13, symbol, "word", _SYMBOL, "middle")
            plate = text_width(word.text, "word") + 11
            self._plate(word, plate, _PLATE)
            told = line(self.edge + plate + 7, top + 13, caption, "caption", _CAPTION)
            first = told.x + text_width(told.text, "caption")
            top, caption = top + _PLATE + 3, ""
            self.y += _PLATE - 11
        elif symbol:
            self._plate(line(0, top + 20, symbol, "symbol", _SYMBOL, "middle"), _BADGE, _BADGE)
            left += _BADGE + 9
        role = "title" if node.label else "unnamed"
        title = line(left, top + 13, node.name, role, _TITLE)
        room = _NARROW - left if self.form == "narrow" and node.shape else _BESIDE
        equation = f" = {formula}"
        beside = ""
        if formula and text_width(equation, "formula") <= room:
            beside = equation
        title = replace(title, formula=beside)
        reach = left + text_width(title.text, title.role) + text_width(beside, "formula")
        if first:  # the shorter line has room for the order number
            self.order = replace(self.order, y=self.order.y if first < reach else top + 13)
            self._row(told)
        self._row(title, reach)
        if not symbol and node.shape and reach + text_width(caption, "caption") < _FORMULA:
            self._row(line(reach + 8, top + 13, caption, "caption", _CAPTION))
            self.y -= 15
        elif caption:
            self.write(line(left, top + 28, caption, "caption", _CAPTION))
        if formula and not beside:
            room = _NARROW + 14 if self.form == "narrow" else _FORMULA
            self.write(line(self.edge, self.y + 11, f"= {formula}", "caption", room))
            self.y += 15
        self.y += 5

    def _brief_head(self, symbol: str, formula: str) -> bool:
        """Symbol, name and shape in one line, and the formula below; False where they have not the room."""
        node, top, is_word = self.node, self.top, len(symbol) > 1
        sign = line(
            0, top + (13 if is_word else 20), symbol, "word" if is_word else "symbol", _SYMBOL, "middle"
        )
        plate = text_width(sign.text, "word") + 11 if is_word else _BADGE
        shape = describe(node, self.show, brief=True).removeprefix(f"{node.operation} · ")
        left = self.edge + plate + 7
        role = "title" if node.label else "unnamed"
        title = line(left, top + 13, node.name, role, _TITLE)
        reach = title.x + text_width(title.text, title.role)
        told = line(reach + 7, top + 13, shape, "caption", _CAPTION)
        if told.x + text_width(told.text, "caption") - self.edge > _NARROW + 20:
            return False
        self._plate(sign, plate, _PLATE if is_word else _BADGE)
        self.lines.append(title)
        self._row(told)
        below, y = (self.edge, top + 30) if is_word else (title.x, top + 28)
        if formula:
            self.write(line(below, y, f"= {formula}", "caption", _NARROW + 14 - below + self.edge))
        self.y = y + 8 if formula or not is_word else top + _PLATE + 5
        return True

    def _row(self, words: TextLine, reach: float = 0.0) -> None:
        """Add a line, and make room for it; on the first one the order number stands at the right."""
        self.lines.append(words)
        reach = reach or words.x + text_width(words.text, words.role)
        beside = text_width(self.order.text, "order") + 8 if self.order.text else 0.0
        self.right = max(self.right, reach + (beside if words.y == self.order.y else 0.0))

    def _plate(self, words: TextLine, wide: float, high: float) -> None:
        self.badge = Badge(self.edge, self.top + (1 if high == _BADGE else -1), wide, high)
        self.lines.append(replace(words, x=self.edge + wide / 2))

    def values(self, column: float) -> None:
        """The value and the gradient, each with its picture and with marks on what is wrong with it."""
        rows = _rows(self.node, self.shown, self.show)
        self.room = size = _SMALL if self.form == "side" else _THUMBNAIL
        pictures = {name: thumbnail(told, *size) if "heatmap" in self.show else None for name, told in rows}
        self.aside = max((picture.width + 8 for picture in pictures.values() if picture), default=0.0)
        self.column = column
        for name, summary in rows:
            self._value(name, summary, pictures[name])
        if not any(name == "value" for name, _ in rows):  # beside which they would stand
            for words in self.node.marks:
                self.write(line(self.edge, self.y + 12, words, "marks", WIDEST))
                self.y += 15
            self.y += 4 if self.node.marks else 0

    def _value(self, name: str, summary: Summary | None, picture: Heatmap | Histogram | None) -> None:
        below = self.form == "narrow" and self.aside > 0
        size = _RANGE if self.node.shape else SIZES["value"]  # a range is a longer text than a number
        high = picture.height if picture else 0.0
        height = max(15.0, high) if below else max(_ROW, high + 3)
        middle = self.y + height / 2
        if self.form != "side":  # whose rows are those of the box beside it
            slope = "tangent" if "tangent" in self.show else "grad"
            label = "value" if name == "value" else slope
            self.lines.append(TextLine(self.edge, middle + 4, label, "label"))
        x = self.edge if below else self.column + self.aside
        self.y += height + (15 if below else 0)
        baseline = self.y - 3 if below else middle + 4.5
        texts = [visible(text) for text in self.shown.get(name, ())]
        room = max((min(width(text, size), longest(text)) for text in texts), default=0.0)
        self.fields[name] = Field(x, baseline, room, size)
        self.right = max(self.right, x + room, self.column + self.aside - 8)
        marks = _marks(
            summary,
            self.node.marks if name == "value" else (),
            name,
            x,
            self.y + 11,
            _NARROW - 12 if below else WIDEST,
        )
        if marks:
            self.right = max(self.right, x + text_width(marks.text, "marks"))
            self.y += 16
        if picture or marks:
            self.thumbnails.append(
                Thumbnail(f"{name}-heatmap", self.column, middle - high / 2, self.room, picture, marks)
            )
        self.y += 3

    def details(self, details: Sequence[tuple[str, str]], column: float) -> None:
        """What else is asked for, a line each."""
        for name, words in details:
            self.lines.append(TextLine(self.edge, self.y + 15, LABELS[name], "label"))
            self.write(line(column, self.y + 15, words, "detail", WIDEST))
            self.y += _ROW
        self.y += PAD_Y - (3 if self.fields and not details else 0)

    def pending(self) -> None:
        """On the upper edge, where nothing else is, how many contributions it waits for."""
        counts = [*self.shown.get("pending", ())]
        if not any(counts):
            return
        plate = max(18.0, *(text_width(count, "pending") + 10 for count in counts))
        self.right = max(self.right, plate)
        self.waits = Badge(self.right - plate, -9.0, plate, 18.0)
        x = self.right - plate / 2
        self.fields["pending"] = Field(x, 3.5, plate, SIZES["pending"], "middle")

    def card(self) -> Card:
        """All of it."""
        lines = (*self.lines, replace(self.order, x=self.right))
        wide, pictures = self.right + PAD_X, tuple(self.thumbnails)
        return Card(wide, self.y, lines, self.fields, pictures, self.badge, self.waits)


def _formula(node: Node, show: Collection[str]) -> str:
    """The formula, where there is one: name and formula are an equation."""
    told = node.kind == "operation" and "formula" in show and node.symbol != "…"
    return visible(node.formula) if told else ""


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

USUAL = ("float32", "int64")
"""The dtypes of numbers where nobody asks for another."""

LABELS = {"local": "local", "saved": "saves", "source": "line"}


def facts(node: Node, arriving: Sequence[Edge], nodes: Sequence[Node]) -> list[tuple[str, str]]:
    """What else there is to say of a node, by the names of ``FACTS``."""
    told = []
    if node.kind == "operation" and (local := _local_derivatives(arriving, nodes)):
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


def describe(node: Node, show: Collection[str] = SHOWN, brief: bool = False) -> str:
    """Kind, shape and dtype in a few words, as ``matmul · [3, 4]``; ``brief``: no kind beside a shape.

    A symbol that is a word has named the operation already; a number has no shape to show, and what has
    PyTorch's usual dtype need not say so.
    """
    if node.kind in WAY_BACK:
        return ", ".join(
            [node.formula, *([shape_text(node.shape)] if node.shape and "shape" in show else [])]
        )
    given_as = node.kind if node.kind in ("leaf", "constant") else ""
    words = [node.kind if node.kind == "failed" else node.operation or given_as]
    given = brief and (node.symbol[1:] or (node.shape and node.kind in ("leaf", "constant")))
    if given or words[0].replace("_", " ") == node.symbol.replace("_", " "):
        words = []
    if node.shape and "shape" in show:
        words.append(shape_text(node.shape))
    told = "dtype" in show or ("shape" in show and node.dtype not in USUAL)
    return " · ".join([*words, node.dtype] if node.dtype and told else words)


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


def _marks(
    summary: Summary | None, more: Sequence[str], name: str, x: float, y: float, room: float
) -> TextLine | None:
    words = [marks_text(summary) if name == "value" else gradient_marks(summary), *more]
    told = ", ".join(filter(None, words))
    return line(x, y, f"! {told}", "marks", room) if told else None


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
