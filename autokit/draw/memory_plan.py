"""The memory plan of a static graph: calls from left to right, bytes downwards, and a bar for each value.

Beside it two columns compare the bytes of the plan with those that the values need without reuse.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from autokit.draw.escape import markup, xml
from autokit.draw.files import write
from autokit.draw.image import image
from autokit.draw.metrics import FONT, fit
from autokit.draw.svg import paper
from autokit.draw.themes import BACKWARD, FORWARD, GREY, INK, MUTED, recolour

_WIDTH, _LEFT, _TOP, _CALLS, _BYTES = 840.0, 16.0, 72.0, 560.0, 300.0
_TOLD = 12
_FILL = {
    "forward": ("#edf4fb", FORWARD),
    "backward": ("#fffaf6", BACKWARD),
    "update": ("#e8edf3", MUTED),
}
_HEAD = "Memory: each value from the call that computes it to the last one that reads it"


def svg(plan: Any) -> str:
    """Draw a plan of :mod:`autokit.static.memory`."""
    step = _CALLS / (max([place.last for place in plan.places.values()], default=0) + 1)
    written_over = {place.over for place in plan.places.values()}
    whole, scale, below = max(plan.size, 1), _BYTES / max(plan.size, plan.total, 1), _TOP
    floor = _TOP + _BYTES + 20
    parts = [paper(_WIDTH, 420), _text(_HEAD, _LEFT, 28, 14), _text("calls →, bytes ↓", _LEFT, floor)]
    for x, count, words in ((620, plan.size, "with the plan"), (734, plan.total, "without reuse")):
        parts += [_text(f"{count:,} B", x, floor), _text(words, x, floor + 15)]
    parts.append(_rect(620, _TOP, 70, plan.size * scale, "#f6f6f4", GREY))
    for at, phase in enumerate(dict.fromkeys([node.phase for node in plan.places])):
        parts += [_rect(_LEFT + 96 * at, 42, 12, 12, *_FILL[phase]), _text(phase, _LEFT + 96 * at + 18, 52)]
    for node, place in plan.places.items():
        x, width = _LEFT + place.first * step, (place.last - place.first + (node not in written_over)) * step
        y, height = _TOP + _BYTES * place.offset / whole, _BYTES * place.nbytes / whole
        has_room = width > 40 and height > 13
        label = fit(node.label or node.operation or node.name, 11, width - 8) if has_room else ""
        bar = _rect(x, y, width, height, *_FILL[node.phase]) + _text(label, x + 4, y + height / 2 + 4)
        parts.append(f"<g><title>{xml(_described(node, place))}</title>{bar}</g>")
        parts.append(_rect(734, below, 70, node.value.nbytes * scale, *_FILL[node.phase]))
        below += node.value.nbytes * scale
    size = f'width="{_WIDTH:g}" height="420" viewBox="0 0 {_WIDTH:g} 420"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{xml(FONT)}">'
    title = f"<title>{markup(story(plan))}</title>"
    return "\n".join([head, title, *parts, "</svg>"])


def story(plan: Any) -> str:
    """The picture in words: the sizes, and the largest values."""
    places = sorted(plan.places.items(), key=lambda each: -each[1].nbytes)[:_TOLD]
    sizes = f"{len(plan.places)} values lie in {plan.size:,} bytes; without reuse they need {plan.total:,}."
    listed = "; ".join([_described(*each) for each in places])
    return f"{sizes} The largest: {listed}" if listed else sizes


def mimebundle(plan: Any) -> dict[str, Any]:
    """The forms in which a notebook shows a plan."""
    return {"text/plain": story(plan), "text/html": image(svg(plan), story(plan), _WIDTH)}


def save(plan: Any, path: str | PathLike[str], theme: str = "light") -> None:
    """Write the picture to ``path``, which ends in ``.svg``, ``.png`` or ``.pdf``."""
    drawn, ending = recolour(svg(plan), theme), Path(path).suffix.lower()
    if ending == ".svg":
        return write(path, drawn + "\n")
    if ending not in (".png", ".pdf"):
        raise ValueError(f"{str(path)!r} should end in one of .svg, .png, .pdf")
    from autokit.draw import mpl

    write(path, getattr(mpl, ending[1:])(drawn))


def _described(node: Any, place: Any) -> str:
    name = node.label or f"{node.name} in {node.operation or 'the program'}"
    form = f"{node.dtype}{list(node.shape)}, {place.nbytes:,} bytes"
    over = " in place" if place.over is not None else ""
    return f"{name} ({node.phase}): {form}, from call {place.first} to {place.last}{over}"


def _rect(x: float, y: float, width: float, height: float, fill: str, stroke: str) -> str:
    size = f'width="{width:.6g}" height="{height:.6g}"'
    return f'<rect x="{x:.6g}" y="{y:.6g}" {size} fill="{fill}" stroke="{stroke}" stroke-width="0.8"/>'


def _text(words: str, x: float, y: float, size: float = 11) -> str:
    return words and f'<text x="{x:.6g}" y="{y:.6g}" font-size="{size:g}" fill="{INK}">{xml(words)}</text>'
