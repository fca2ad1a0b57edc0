"""A widget is saved as a file: as a page that works without Python, or as a still picture."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autokit.draw.files import write
from autokit.draw.themes import PAPER, palette, recolour
from autokit.widgets.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from autokit.widgets.live import Live

    Picture = str | Figure

_GAP = 12


def save(widget: Live, path: str | PathLike[str], **options: Any) -> None:
    """Write ``widget`` to ``path``: see :meth:`autokit.widgets.live.Live.save`."""
    ending = Path(path).suffix.lower()
    forms = _forms(widget)
    if ending not in forms:
        raise ValueError(f"{str(path)!r} should end in one of {', '.join(forms)}")
    write(path, forms[ending](**options))


def _forms(widget: Live) -> dict[str, Callable[..., str | bytes]]:
    def as_page(*, title: str = "") -> str:
        return live_page(widget, title or f"autokit: {widget._TITLE}")

    def as_svg(*, theme: str = "light") -> str:
        return stacked_svg(widget._pictures(), theme) + "\n"

    def as_png(*, theme: str = "light", scale: float = 2.0) -> bytes:
        return stacked_png(widget._pictures(), theme, scale)

    forms: dict[str, Callable[..., str | bytes]] = {".html": as_page, ".svg": as_svg, ".png": as_png}
    moving = getattr(widget, "gif", None)
    return forms | ({".gif": moving} if moving is not None else {})


def live_page(widget: Live, title: str) -> str:
    """The widget in a document of its own, as it stands now."""
    known, stand_in = widget._without_kernel()
    kept = [name for name in widget.keys if name not in _BASE and not name.startswith(_ANYWIDGETS)]
    traits = {**widget.get_state(kept), **known}
    return page(title, str(widget._css), str(widget._esm), traits, widget.still()["text/html"], stand_in)


_ANYWIDGETS = ("_esm", "_css", "_anywidget", "_model", "_view", "_dom")
_BASE = {"layout", "tabbable", "tooltip"}


# ---------------------------------------------------------------- pictures below each other


def stacked_svg(pictures: Sequence[Picture], theme: str) -> str:
    """The pictures as one SVG, one below the other."""
    drawn = [_as_svg(each, theme) for each in pictures]
    if len(drawn) == 1:
        return drawn[0]
    sizes = [_size(each) for each in drawn]
    wide, high = max(w for w, _ in sizes), sum(h for _, h in sizes) + _GAP * (len(sizes) - 1)
    parts, top = [], 0.0
    for each, (w, h) in zip(drawn, sizes, strict=True):
        parts.append(f'<svg y="{top:g}" width="{w:g}" height="{h:g}">{each}</svg>')
        top += h + _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{high:g}"'
        f' viewBox="0 0 {wide:g} {high:g}">\n'
        f'<rect width="100%" height="100%" fill="{_ground(theme)}"/>\n' + "\n".join(parts) + "\n</svg>"
    )


def stacked_png(pictures: Sequence[Picture], theme: str, scale: float) -> bytes:
    """The pictures as the bytes of one PNG, one below the other."""
    from PIL import Image

    images = [Image.open(io.BytesIO(_as_png(each, theme, scale))).convert("RGBA") for each in pictures]
    gap = round(_GAP * scale)
    wide, high = max(each.width for each in images), sum(each.height for each in images)
    whole = Image.new("RGB", (wide, high + gap * (len(images) - 1)), _ground(theme))
    top = 0
    for each in images:
        whole.paste(each, (0, top), each)
        top += each.height + gap
    file = io.BytesIO()
    whole.save(file, "PNG", optimize=True)
    return file.getvalue()


def _ground(theme: str) -> str:
    return palette(theme).get(PAPER, PAPER)


def _as_svg(picture: Picture, theme: str) -> str:
    if isinstance(picture, str):
        return recolour(picture, theme)
    from autokit.plot.figures import figure_svg

    written = figure_svg(picture, theme)
    return written[written.index("<svg") :].strip()


def _as_png(picture: Picture, theme: str, scale: float) -> bytes:
    if isinstance(picture, str):
        from autokit.draw.mpl import png

        return png(recolour(picture, theme), scale)
    from autokit.plot.figures import figure_png

    return figure_png(picture, theme, scale)


def _size(drawn: str) -> tuple[float, float]:
    """In px; matplotlib counts in points."""
    root = ET.fromstring(drawn.encode("utf-8"))
    width, height = (_px(root.get(side, "0")) for side in ("width", "height"))
    return width, height


def _px(length: str) -> float:
    return float(length.removesuffix("pt")) * (4 / 3 if length.endswith("pt") else 1)
