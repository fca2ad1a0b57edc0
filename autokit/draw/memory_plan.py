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
from autokit.draw.themes import recolour

_WIDTH, _HEIGHT, _LEFT, _TOP, _CALLS, _BYTES = 840.0, 420.0, 16.0, 72.0, 560.0, 300.0
_TOLD = 12
_PLAIN = 'fill="#f6f6f4" stroke="#8b97a5" stroke-width="0.8"'
_COLOURS = {
    "forward": 'fill="#edf4fb" stroke="#2563a8" stroke-width="0.8"',
    "backward": 'fill="#fffaf6" stroke="#a8440a" stroke-width="0.8"',
    "update": 'fill="#e8edf3" stroke="#5b6673" stroke-width="0.8"',
}


def svg(plan: Any) -> str:
    """Draw a plan of :mod:`autokit.static.memory`."""
    step = _CALLS / (max([place.last for place in plan.places.values()], default=0) + 1)
    written_over = {place.over for place in plan.places.values()}
    size, total, below = max(plan.size, 1), max(plan.size, plan.total, 1), _TOP
    parts = [_rect(_LEFT + 604, _TOP, 70, _BYTES * plan.size / total, _PLAIN)]
    for node, place in plan.places.items():
        x, width = _LEFT + place.first * step, (place.last - place.first + (node not in written_over)) * step
        y, height = _TOP + _BYTES * place.offset / size, _BYTES * place.nbytes / size
        label = node.label or node.operation or node.name
        fits = height > 13 and width > 40
        words = _text(fit(label, 11, width - 8), x + 4, y + height / 2 + 4) if fits else ""
        bar = _rect(x, y, width, height, _COLOURS[node.phase])
        parts.append(f"<g><title>{xml(_described(node, place))}</title>{bar}{words}</g>")
        parts.append(_rect(_LEFT + 718, below, 70, _BYTES * node.value.nbytes / total, _COLOURS[node.phase]))
        below += _BYTES * node.value.nbytes / total
    for at, phase in enumerate(dict.fromkeys([node.phase for node in plan.places])):
        parts.append(
            _rect(_LEFT + 96 * at, 42, 12, 12, _COLOURS[phase]) + _text(phase, _LEFT + 96 * at + 18, 52)
        )
    parts.append(
        _text(
            "Memory: each value from the call that computes it to the last one that reads it", _LEFT, 28, 14
        )
    )
    parts.append(_text("calls →, bytes ↓", _LEFT, _TOP + _BYTES + 20))
    for x, count, words in ((604, plan.size, "with the plan"), (718, plan.total, "without reuse")):
        parts += [
            _text(f"{count:,} B", _LEFT + x, _TOP + _BYTES + 20),
            _text(words, _LEFT + x, _TOP + _BYTES + 35),
        ]
    head = f'width="{_WIDTH:g}" height="{_HEIGHT:g}" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {head} font-family="{xml(FONT)}">'
    return "\n".join(
        [start, f"<title>{markup(story(plan))}</title>", paper(_WIDTH, _HEIGHT), *parts, "</svg>"]
    )


def story(plan: Any) -> str:
    """The picture in words: the sizes, and the largest values."""
    places = sorted(plan.places.items(), key=lambda each: -each[1].nbytes)[:_TOLD]
    sizes = f"{len(plan.places)} values lie in {plan.size:,} bytes; without reuse they need {plan.total:,}."
    return " ".join(
        [sizes, *["The largest:"][: len(places)], "; ".join([_described(*each) for each in places])]
    )


def mimebundle(plan: Any) -> dict[str, Any]:
    """The forms in which a notebook shows a plan."""
    return {"text/plain": story(plan), "text/html": image(svg(plan), story(plan), _WIDTH)}


def save(plan: Any, path: str | PathLike[str], theme: str = "light") -> None:
    """Write the picture to ``path``, which ends in ``.svg``, ``.png`` or ``.pdf``."""
    drawn, ending = recolour(svg(plan), theme), Path(path).suffix.lower()
    if ending not in (".svg", ".png", ".pdf"):
        raise ValueError(f"{str(path)!r} should end in one of .svg, .png, .pdf")
    if ending == ".svg":
        write(path, drawn + "\n")
    else:
        from autokit.draw import mpl

        write(path, getattr(mpl, ending[1:])(drawn))


def _described(node: Any, place: Any) -> str:
    name = node.label or f"{node.name} in {node.operation or 'the program'}"
    form = f"{node.dtype}{list(node.shape)}, {place.nbytes:,} bytes"
    over = " in place" if place.over is not None else ""
    return f"{name} ({node.phase}): {form}, from call {place.first} to {place.last}{over}"


def _rect(x: float, y: float, width: float, height: float, colours: str) -> str:
    return f'<rect x="{x:.6g}" y="{y:.6g}" width="{width:.6g}" height="{height:.6g}" {colours}/>'


def _text(words: str, x: float, y: float, size: float = 11) -> str:
    return f'<text x="{x:.6g}" y="{y:.6g}" font-size="{size:g}" fill="#1f2933">{xml(words)}</text>'
