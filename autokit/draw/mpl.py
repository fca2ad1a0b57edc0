"""Pictures through matplotlib: PNG, PDF and the frames of a GIF, with no other program.

What is drawn is our own SVG, element by element, so that every form shows the
same.  That SVG uses few elements and none by reference, see
:mod:`autokit.draw.svg`; this file knows just those.
"""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, get_font_names
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path as Outline

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_DPI = 96.0
_TOKEN = re.compile(r"[MCmlhvz]|-?\d+\.?\d*(?:e-?\d+)?")
_OTHER_SCRIPTS = ("Noto Sans CJK JP", "Hiragino Sans", "Yu Gothic", "Microsoft YaHei", "PingFang SC")
_ALIGNED = {"start": "left", "middle": "center", "end": "right"}


def figure(drawn: str) -> Figure:
    """The SVG ``drawn`` as a matplotlib figure of its size."""
    root = ET.fromstring(drawn.encode("utf-8"))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    made = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    axes = made.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for order, (element, x, y) in enumerate(_shown(root, 0.0, 0.0)):
        _DRAW[element.tag.removeprefix(_NAMESPACE)](axes, element, x, y, order)
    return made


def png(drawn: str, scale: float = 2.0) -> bytes:
    """The SVG as the bytes of a PNG, ``scale`` pixels to a px."""
    made, file = figure(drawn), io.BytesIO()
    made.set_dpi(_DPI * scale)
    with _no_word_on_glyphs():
        FigureCanvasAgg(made).print_png(file, metadata={"Software": None})
    return file.getvalue()


def pdf(drawn: str) -> bytes:
    """The SVG as the bytes of a PDF, with its title and without a date."""
    made, file = figure(drawn), io.BytesIO()
    title = ET.fromstring(drawn.encode("utf-8")).findtext(f"{_NAMESPACE}title", "")
    with _no_word_on_glyphs():
        FigureCanvasPdf(made).print_pdf(
            file, metadata={"Title": title, "CreationDate": None, "Producer": None, "Creator": "autokit"}
        )
    return file.getvalue()


@contextmanager
def _no_word_on_glyphs() -> Iterator[None]:
    """A name in a script that no face here has is drawn as boxes; a warning for each helps nobody."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def _shown(element: ET.Element, x: float, y: float) -> Iterator[tuple[ET.Element, float, float]]:
    """The elements to draw, in their order, each with the origin of its coordinates."""
    for child in element:
        if child.get("display") == "none":
            continue
        if child.tag == f"{_NAMESPACE}g":
            moved = re.fullmatch(r"translate\((\S+) (\S+)\)", child.get("transform", "translate(0 0)"))
            assert moved
            yield from _shown(child, x + float(moved[1]), y + float(moved[2]))
        elif child.tag != f"{_NAMESPACE}title":
            yield child, x, y


@cache
def _families() -> list[str]:
    """The face that comes with matplotlib, and what this machine has for what that lacks."""
    known = set(get_font_names())
    return ["DejaVu Sans", *(name for name in _OTHER_SCRIPTS if name in known)]


def _style(element: ET.Element) -> dict[str, Any]:
    fill, stroke = element.get("fill", "none"), element.get("stroke", "none")
    style: dict[str, Any] = {"facecolor": fill, "edgecolor": stroke}
    if stroke != "none":
        style["linewidth"] = float(element.get("stroke-width", 1)) * 72 / _DPI
    else:
        style["linewidth"] = 0
    if dashes := element.get("stroke-dasharray"):
        wide = float(element.get("stroke-width", 1))
        style["linestyle"] = (0, [float(dash) / wide for dash in dashes.split()])
    if opacity := element.get("fill-opacity"):
        style["facecolor"] = (fill, float(opacity))
    if element.get("shape-rendering") == "crispEdges":
        style["antialiased"] = False
    return style


def _rect(axes: Any, element: ET.Element, x: float, y: float, order: int) -> None:
    wide, high = float(element.get("width", 0)), float(element.get("height", 0))
    round_ = min(float(element.get("rx", 0)), wide / 2, high / 2)
    corner = x + float(element.get("x", 0)), y + float(element.get("y", 0))
    form = f"round,pad=0,rounding_size={round_}" if round_ else "square,pad=0"
    axes.add_patch(FancyBboxPatch(corner, wide, high, form, zorder=order, **_style(element)))


def _polygon(axes: Any, element: ET.Element, x: float, y: float, order: int) -> None:
    numbers = [float(n) for n in re.split("[ ,]+", element.get("points", "").strip())]
    corners = [(x + a, y + b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
    axes.add_patch(PathPatch(Outline([*corners, corners[0]], closed=True), zorder=order, **_style(element)))


def _path(axes: Any, element: ET.Element, x: float, y: float, order: int) -> None:
    axes.add_patch(PathPatch(outline(element.get("d", ""), x, y), zorder=order, **_style(element)))


def outline(d: str, x: float, y: float) -> Outline:
    """The path ``d`` of an SVG, moved by ``x``, ``y``: absolute M and C, relative m, l, h, v, and z."""
    points: list[tuple[float, float]] = []
    codes: list[Any] = []
    tokens = _TOKEN.findall(d)
    place, command, at, start = 0, "", (x, y), (x, y)

    def take(count: int) -> Sequence[float]:
        nonlocal place
        place += count
        return [float(token) for token in tokens[place - count : place]]

    while place < len(tokens):
        if tokens[place].isalpha():
            command = tokens[place]
            place += 1
        if command == "C":
            a, b, c, e, f, g = take(6)
            points += [(x + a, y + b), (x + c, y + e), (x + f, y + g)]
            codes += [Outline.CURVE4] * 3
            at = points[-1]
            continue
        if command == "z":
            at, code = start, Outline.CLOSEPOLY
        else:
            code = Outline.MOVETO if command in "Mm" else Outline.LINETO
            across = take(1)[0] if command in "hMml" else 0.0
            down = take(1)[0] if command in "vMml" else 0.0
            at = (x + across, y + down) if command == "M" else (at[0] + across, at[1] + down)
            start = at if command in "Mm" else start
        points.append(at)
        codes.append(code)
    return Outline(points or [(x, y)], codes or [Outline.MOVETO])


def _text(axes: Any, element: ET.Element, x: float, y: float, order: int) -> None:
    words = element.text or (element[-1].tail if len(element) else "") or ""
    if not words:
        return
    font = FontProperties(
        family=_families(),
        size=float(element.get("font-size", 12)) * 72 / _DPI,
        weight="bold" if element.get("font-weight") else "normal",
    )
    axes.text(
        x + float(element.get("x", 0)),
        y + float(element.get("y", 0)),
        words,
        color=element.get("fill"),
        fontproperties=font,
        horizontalalignment=_ALIGNED[element.get("text-anchor", "start")],
        verticalalignment="baseline",
        parse_math=False,
        zorder=order,
    )


_DRAW = {"rect": _rect, "path": _path, "polygon": _polygon, "text": _text}
