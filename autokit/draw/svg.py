"""A scene as SVG: one ``<svg>`` element, well-formed XML, that any viewer shows.

All presentation is by attributes: no style sheet, no script, no reference by
id, since one viewer or another drops each of those.  The player restyles the
same markup by its ``data-`` attributes.
"""

from __future__ import annotations

import math
from typing import Any

from autokit.draw import themes
from autokit.draw.card import BOLD, SIZES, flow_lines, shown_in, text_width
from autokit.draw.escape import markup, visible, xml
from autokit.draw.fold import ranges
from autokit.draw.heatmap import Heatmap
from autokit.draw.metrics import FONT
from autokit.draw.scene import scene
from autokit.draw.shapes import Box, Card, Field, Frame, Line, Scene, TextLine, Thumbnail
from autokit.draw.themes import BACKWARD, FAINT, FORWARD, GREY, INK, MUTED, PAPER
from autokit.draw.thumbnail import picture as thumbnail_picture
from autokit.graphs.model import NOT_COMPUTED, Graph, Node, State, Timeline
from autokit.graphs.summary import sign_of

_FILL = {
    "title": INK,
    "unnamed": MUTED,
    "symbol": "#243b53",
    "word": "#243b53",
    "value": INK,
    "gradient": BACKWARD,
    "dots": FORWARD,
    "flow": BACKWARD,
    "pending": BACKWARD,
    "marks": themes.ALARM,
}
"""The colour of each kind of text; the others are muted."""

_SIGNED = {"+": themes.PLUS, "−": themes.MINUS}
"""That of a number that is not zero, and of the arrow that it goes back along."""

_BOX = {
    "leaf": f'rx="4" fill="#edf4fb" stroke="{FORWARD}" stroke-width="1.5"',
    "constant": f'rx="4" fill="#f6f6f4" stroke="{GREY}" stroke-width="1.2" stroke-dasharray="5 3"',
    "operation": f'rx="14" fill="{themes.CARD}" stroke="{GREY}" stroke-width="1.2"',
    "backward": f'rx="14" fill="#fffaf6" stroke="{BACKWARD}" stroke-width="1.2"',
    "accumulate": f'rx="4" fill="#edf4fb" stroke="{FORWARD}" stroke-width="1.5"',
    "failed": f'rx="14" fill="#fef3f2" stroke="{themes.ALARM}" stroke-width="2"',
}
_LEFT_OUT = f'rx="14" fill="{PAPER}" stroke="{GREY}" stroke-width="1.2" stroke-dasharray="2 4"'

_FORMULA = f' data-role="formula" font-size="{SIZES["formula"]:g}" font-weight="400" fill="{MUTED}"'

_ARROW, _ARROW_HALF = 7.0, 3.2

LINE_UP, LINE_DOWN = 9.0, 9.5
"""From the baseline of what flows to those of a range in two lines, between which the arrow runs."""


def svg(data: Graph | Timeline | Scene, state: State | None = None, **options: Any) -> str:
    """Draw a graph, a timeline or a scene.

    Parameters
    ----------
    data : Graph, Timeline or Scene
    state : State, optional
        What to show, as ``timeline.state(k)`` gives it; everything known where left out.
    **options
        ``layout``, ``direction``, ``limit``, ``depth`` and ``show``, as in :func:`autokit.draw.scene`.

    Returns
    -------
    str
        One ``<svg>`` element.
    """
    picture = data if isinstance(data, Scene) else scene(data, **options)
    shown = picture.state if state is None else state
    w, h = picture.width, picture.height
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}"'
        f' role="img" font-family="{xml(FONT)}">'
    )
    title = f"<title>{markup(picture.title)}</title>"
    return "\n".join([head, title, paper(w, h), *pieces(picture, shown), "</svg>"])


def paper(width: float, height: float) -> str:
    """What a picture is drawn on."""
    return (
        f'<rect data-part="paper" x="0.5" y="0.5" width="{width - 1:.6g}" height="{height - 1:.6g}" rx="12"'
        f' fill="{PAPER}" stroke="{themes.PAPER_EDGE}"/>'
    )


def pieces(picture: Scene, state: State) -> list[str]:
    """What stands on the paper, an element for each frame, arrow, box and note, in the order to draw them."""
    return [
        *map(_frame, picture.frames),
        *(_line(line, state) for line in picture.lines),
        *(_box(box, state) for box in picture.boxes),
        *map(_text, picture.notes),
    ]


def _frame(frame: Frame) -> str:
    return (
        f'<g data-group="{xml(frame.path)}"><rect data-part="frame" x="{frame.x:g}" y="{frame.y:g}"'
        f' width="{frame.width:g}" height="{frame.height:g}" rx="16" fill="#5b7083" fill-opacity="0.04"'
        f' stroke="{FAINT}" stroke-width="0.8"/>{_text(frame.label)}</g>'
    )


def _box(box: Box, state: State) -> str:
    node, content = box.node, box.card
    at = f'transform="translate({box.x:g} {box.y:g})"'
    size = f'width="{box.width:g}" height="{box.height:g}"'
    if node is None:
        lines = "".join(map(_text, content.lines))
        if box.holds:
            held = f'data-part="fold" data-holds="{ranges(box.holds)}"'
            under = f'<rect x="4" y="4" {size} {_BOX["operation"]}/>'
            return f"<g {held} {at}>{under}<rect {size} {_BOX['operation']}/>{lines}</g>"
        return f'<g data-part="left-out" {at}><rect {size} {_LEFT_OUT}/>{lines}</g>'
    fields = state.get(node.element, {})
    status = str(fields.get("status") or "hidden")
    parts = [
        f'<g data-element="{node.element}" data-kind="{xml(node.kind)}" data-status="{xml(status)}" {at}>',
        f"<title>{xml(_tooltip(node))}</title>",
        f'<rect data-part="box" {size} {_shape(node.kind, status, _is_final(fields))}/>',
    ]
    if node.kind in ("leaf", "accumulate"):
        bar = f'width="4" height="{box.height:g}" rx="2" fill="{FORWARD}"'
        parts.append(f'<rect data-part="learns" {bar}/>')
    if content.badge:
        plate = content.badge
        parts.append(
            f'<rect data-part="badge" x="{plate.x:g}" y="{plate.y:g}" width="{plate.width:g}"'
            f' height="{plate.height:g}" rx="{plate.height / 2:g}" fill="#e8edf3"/>'
        )
    parts += map(_text, content.lines)
    parts += [_thumbnail(thumb, bool(_known(fields, thumb))) for thumb in content.thumbnails]
    names = dict.fromkeys(("value", "gradient", "pending", *content.fields))
    parts += [_field(name, content, fields.get(name)) for name in names]
    return "".join(parts) + "</g>"


def _shape(kind: str, status: str, final: bool) -> str:
    shape = _BOX.get(kind, _BOX["operation"])
    if status in ("ready", "current", "complete"):
        colour = BACKWARD if final else FORWARD
        shape = shape[: shape.index(" stroke=")] + f' stroke="{colour}" stroke-width="2.2"'
    return shape


def _is_final(fields: dict[str, str | int | None]) -> bool:
    """Whether all of its gradient is in; a node is current on the way forward too, where it has none yet."""
    known = fields.get("gradient") not in (None, "", NOT_COMPUTED)
    return known and fields.get("status") in ("ready", "current", "final")


def _known(fields: dict[str, str | int | None], thumb: Thumbnail) -> bool:
    name = thumb.part.partition("-")[0]
    if name == "gradient":
        return _is_final(fields)
    return bool(fields.get("value")) and fields.get("status") != "hidden"


def _thumbnail(thumb: Thumbnail, known: bool) -> str:
    hidden = "" if known else ' display="none"'
    heat = thumbnail_picture(thumb.heat, thumb.x, thumb.y) if thumb.heat else ""
    words = _text(thumb.marks) if thumb.marks else ""
    columns = ""
    if isinstance(thumb.heat, Heatmap):
        columns = f' data-columns="{thumb.heat.columns}" data-size="{thumb.heat.cell:g}"'
    return f'<g data-part="{thumb.part}"{columns}{hidden}>{heat}{words}</g>'


def _field(name: str, content: Card, value: str | int | None) -> str:
    field = content.fields.get(name)
    if name == "pending" and field is not None and content.pending is not None:
        plate = content.pending
        shown = "" if value is None else str(value)
        hidden = "" if shown else ' display="none"'
        return (
            f'<g data-part="pending-badge"{hidden}><rect x="{plate.x:.6g}" y="{plate.y:.6g}"'
            f' width="{plate.width:.6g}" height="{plate.height:g}" rx="{plate.height / 2:g}"'
            f' fill="{themes.CARD}" stroke="{BACKWARD}" stroke-width="1.2"/>'
            f"{_changing(field, name, shown)}</g>"
        )
    return _changing(
        field or Field(0, 0, 0, SIZES[name]), name, "" if value is None or field is None else str(value)
    )


def _changing(field: Field, role: str, value: str) -> str:
    sign = sign_of(visible(value)) if role in ("value", "gradient", "flow") else ""
    colour = MUTED if value == NOT_COMPUTED else _SIGNED.get(sign) or _FILL.get(role, MUTED)
    signed = f' data-sign="{sign}"' if sign else ""
    pieces = flow_lines(shown_in(field, value, role), field.lines)
    words = xml(pieces[0])
    if pieces[1:]:
        lines = zip(pieces, (field.y - LINE_UP, field.y + LINE_DOWN))
        words = " ".join(f'<tspan x="{field.x:.6g}" y="{y:.6g}">{xml(piece)}</tspan>' for piece, y in lines)
    two = ' data-lines="2"' if field.lines > 1 else ""
    return (
        f'<text data-field="{role}" data-width="{field.width:.6g}"{two} x="{field.x:.6g}" y="{field.y:.6g}"'
        f"{signed}{_type(role, field.size, field.anchor, colour)}>{words}</text>"
    )


def _text(line: TextLine) -> str:
    full = f"<title>{xml(line.full)}</title>" if line.full else ""
    colour = _FILL.get(line.role, MUTED)
    type = _type(line.role, SIZES[line.role], line.anchor, colour)
    formula = f"<tspan{_FORMULA}>{xml(line.formula)}</tspan>" if line.formula else ""
    return f'<text x="{line.x:.6g}" y="{line.y:.6g}"{type}>{full}{xml(line.text)}{formula}</text>'


def _type(role: str, size: float, anchor: str, colour: str) -> str:
    weight = ' font-weight="600"' if role in BOLD else ""
    place = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return (
        f' data-role="{role}" font-size="{size:g}"{weight}{place} fill="{colour}"'
        ' direction="ltr" unicode-bidi="isolate"'
    )


def _line(line: Line, state: State) -> str:
    edge, fields = line.edge, state.get(line.edge.element, {})
    status, value = str(fields.get("status") or "idle"), str(fields.get("flow") or "")
    returns = status == "backward"
    way = line.points[::-1] if returns else line.points
    (x2, y2), (x1, y1) = way[-1], way[-2]
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    base = (x2 - _ARROW * ux, y2 - _ARROW * uy)
    corners = [
        (x2, y2),
        (base[0] - _ARROW_HALF * uy, base[1] + _ARROW_HALF * ux),
        (base[0] + _ARROW_HALF * uy, base[1] - _ARROW_HALF * ux),
    ]
    points = [*way[:-1], base]
    start, curve = points[0], points[1:]
    d = f"M{_at(start)}C" + " ".join(map(_at, curve))
    colour = GREY
    if returns or status == "tangent":
        colour = _SIGNED.get(sign_of(value), BACKWARD if returns else FORWARD)
    elif status == "way back":
        colour = BACKWARD
    dash = "" if edge.requires_grad and not line.cut else ' stroke-dasharray="3 4"'
    wide = 1.4 if colour == GREY else 1.7
    drawn = (
        f'<path data-part="line" d="{d}" fill="none" stroke="{colour}" stroke-width="{wide}"{dash}/>'
        f'<polygon data-part="arrow" points="{" ".join(map(_at, corners))}" fill="{colour}"/>'
    )
    if line.cut or line.bundle:
        return f'<g data-part="{"cut" if line.cut else "bundle"}">{drawn}</g>'
    carries = "yes" if edge.requires_grad else "no"
    flow = _plate(line.flow, value) + _changing(line.flow, "flow", value)
    names = f'data-element="{edge.element}" data-status="{xml(status)}" data-gradient="{carries}"'
    return f"<g {names}>{drawn}{flow}</g>"


def _plate(flow: Field, value: str) -> str:
    """A patch of paper under the flow, so that the arrow does not run through its digits."""
    if not value:
        return ""
    pieces = flow_lines(value, flow.lines)
    room = min(max(text_width(piece, "flow") for piece in pieces), flow.width) + 8
    tops = (flow.y - LINE_UP - 11, flow.y + LINE_DOWN - 11) if pieces[1:] else (flow.y - 12.5,)
    return "".join(
        f'<rect data-part="flow-plate" x="{flow.x - room / 2:.6g}" y="{top:.6g}"'
        f' width="{room:.6g}" height="{14 if pieces[1:] else 17}" rx="7" fill="{PAPER}"/>'
        for top in tops
    )


def _at(point: tuple[float, float]) -> str:
    return f"{point[0]:.6g},{point[1]:.6g}"


def _tooltip(node: Node) -> str:
    words = [node.name]
    if node.formula:
        words.append(f"{node.operation}: {node.formula}")
    if node.source:
        words.append(f"line {node.source.line}: {node.source.text.strip()}")
    return " · ".join(words)
