"""Pictures through matplotlib: PNG, PDF and the frames of a GIF, with no other program.

What is drawn is our own SVG, element by element, so that every form shows the
same.  That SVG uses few elements and none by reference, see
:mod:`autokit.draw.svg`; this file knows just those.

Letters are DejaVu Sans, which comes with matplotlib; a character that it
lacks is drawn in the first installed face that has it, and as an empty box
where no face of the machine does.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from autokit.draw.metrics import width
from autokit.draw.required import require_matplotlib
from autokit.draw.themes import recolour

require_matplotlib()

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.backends.backend_pdf import FigureCanvasPdf  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.font_manager import FontProperties, fontManager, get_font  # noqa: E402
from matplotlib.patches import FancyBboxPatch, PathPatch  # noqa: E402
from matplotlib.path import Path as Outline  # noqa: E402

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_DPI = 96.0
_TOKEN = re.compile(r"[MCmlhvz]|-?\d+\.?\d*(?:e-?\d+)?")
_ALIGNED = {"start": "left", "middle": "center", "end": "right"}


def figure(drawn: str) -> Figure:
    """The SVG ``drawn`` as a matplotlib figure of its size."""
    root = ET.fromstring(drawn.encode("utf-8"))
    made, axes = _sheet(float(root.get("width", 0)), float(root.get("height", 0)))
    _draw(axes, root)
    return made


def _sheet(width: float, height: float) -> tuple[Figure, Any]:
    """An empty figure with a scale of px, downwards."""
    made = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    axes = made.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    return made, axes


def _draw(axes: Any, root: ET.Element) -> None:
    for order, (element, x, y) in enumerate(_shown(root, 0.0, 0.0)):
        _DRAW[element.tag.removeprefix(_NAMESPACE)](axes, element, x, y, order)


class Painter:
    """Paints pictures of one size that have much in common: a piece that was drawn once is laid in its place.

    Parameters
    ----------
    width, height : float
        Of the pictures, in px.
    theme : "light", "dark" or "print"
    scale : float
        Pixels to a px.
    """

    def __init__(self, width: float, height: float, theme: str, scale: float) -> None:
        made, self._axes = _sheet(width, height)
        made.set_dpi(_DPI * scale)
        self._canvas = FigureCanvasAgg(made)
        self._theme = theme
        self._drawn: dict[str, tuple[Any, tuple[int, int]] | None] = {}

    def paint(self, pieces: Sequence[str]) -> Any:
        """One picture, of its ``pieces`` of SVG from bottom to top, as an image of Pillow's."""
        from PIL import Image

        image = Image.new("RGBA", self._canvas.get_width_height(), "#ffffff")
        for piece in pieces:
            if piece not in self._drawn:
                self._drawn[piece] = self._piece(piece)
            if laid := self._drawn[piece]:
                image.alpha_composite(*laid)
        return image.convert("RGB")

    def _piece(self, piece: str) -> tuple[Any, tuple[int, int]] | None:
        """The image of a piece alone, and where its corner goes; None where nothing of it is seen."""
        from PIL import Image

        source = f'<svg xmlns="http://www.w3.org/2000/svg">{recolour(piece, self._theme)}</svg>'
        _draw(self._axes, ET.fromstring(source.encode("utf-8")))
        renderer = self._canvas.get_renderer()
        renderer.clear()
        artists = [*self._axes.patches, *self._axes.texts]
        with _no_word_on_glyphs():
            for artist in sorted(artists, key=lambda artist: artist.zorder):
                artist.draw(renderer)
        for artist in artists:
            artist.remove()
        image = Image.frombuffer("RGBA", self._canvas.get_width_height(), self._canvas.buffer_rgba())
        bounds = image.getchannel("A").getbbox()
        return (image.crop(bounds), bounds[:2]) if bounds else None


def png(drawn: str, scale: float = 2.0) -> bytes:
    """The SVG as the bytes of a PNG, ``scale`` pixels to a px."""
    made, file = figure(drawn), io.BytesIO()
    made.set_dpi(_DPI * scale)
    made.patch.set_alpha(0)  # beside the paper's round corners there is nothing
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


_FIRST = "DejaVu Sans"
"""The face that comes with matplotlib, so that a picture is the same on every machine as far as it goes."""


@cache
def _fallback(character: str) -> str:
    """The first installed face by name that has ``character``; empty where DejaVu Sans has it, or none."""
    for name, path in faces().items():
        with contextlib.suppress(Exception):  # a face that is listed, and broken or gone
            if get_font(path).get_char_index(ord(character)):
                return "" if name == _FIRST else name
    return ""


@cache
def faces() -> dict[str, str]:
    """The files of this machine's faces: DejaVu Sans, then sans serifs; none that holds but boxes."""
    files = {font.name: font.fname for font in reversed(fontManager.ttflist)}
    known = [name for name in files if not name.replace(" ", "").startswith("LastResort")]
    return {name: files[name] for name in sorted(known, key=lambda n: (n != _FIRST, "Sans" not in n, n))}


def _families(words: str) -> list[str]:
    """DejaVu Sans, and for the characters that it lacks the faces that have them."""
    strange = dict.fromkeys(_fallback(character) for character in words if ord(character) > 0x24F)
    return [_FIRST, *filter(None, strange)]


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
        style |= {"antialiased": False, "snap": False, "capstyle": "butt"}
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
    whole = element.find(f"{_NAMESPACE}title")
    words = element.text or (whole.tail if whole is not None else "") or ""
    corner, x, y = (x, y), x + float(element.get("x", 0)), y + float(element.get("y", 0))
    parts = [(words, element), *((part.text or "", part) for part in element.iter(f"{_NAMESPACE}tspan"))]
    for words, part in parts:
        if words.strip():
            if part is not element and part.get("x"):  # a line of its own
                x, y = (at + float(part.get(name, 0)) for at, name in zip(corner, "xy"))
            _write(axes, element, words, part, x, y, order)
            x += width(words, float(part.get("font-size", 12)), _is_bold(part))


def _is_bold(element: ET.Element) -> bool:
    return element.get("font-weight") == "600"


def _write(
    axes: Any, element: ET.Element, words: str, part: ET.Element, x: float, y: float, order: int
) -> None:
    """Write ``words`` as ``part`` of the text ``element``."""
    font = FontProperties(
        family=_families(words),
        size=float(part.get("font-size", 12)) * 72 / _DPI,
        weight="bold" if _is_bold(part) else "normal",
    )
    axes.text(
        x,
        y,
        words,
        color=part.get("fill"),
        fontproperties=font,
        horizontalalignment=_ALIGNED[element.get("text-anchor", "start")],
        verticalalignment="baseline",
        parse_math=False,
        zorder=order,
    )


_DRAW = {"rect": _rect, "path": _path, "polygon": _polygon, "text": _text}
