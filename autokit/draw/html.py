"""The HTML that a notebook shows: an image with its description in words, and small tables."""

from __future__ import annotations

import os
import re
from typing import Any

from autokit.draw.card import marks_text, shape_text
from autokit.draw.escape import isolate, markup, visible
from autokit.draw.image import image
from autokit.draw.layers import html as layers_html
from autokit.draw.numbers import numbers
from autokit.draw.scene import scene
from autokit.draw.svg import svg
from autokit.draw.table import table_html, table_text
from autokit.draw.text import text
from autokit.draw.themes import recolour
from autokit.draw.thumbnail import picture as thumbnail_picture
from autokit.draw.thumbnail import thumbnail
from autokit.engine.tensor import Tensor
from autokit.graphs.capture import graph
from autokit.graphs.layers import LayerTable
from autokit.graphs.model import NOT_COMPUTED, Graph, Summary, Timeline
from autokit.graphs.moments import moments

_UNSEEN = re.compile(
    r'<g data-part="\w+-heatmap"[^>]* display="none">.*?</g>|<title>.*?</title>| data-[\w-]+="[^"]*"'
)
"""What an image never shows."""

_IN_A_WINDOW = (
    "<style>.jp-WindowedPanel-outer .ak-moments{max-height:80vh;overflow:auto}"
    ".reveal .ak-moments>*{margin:0}</style>"
)
"""In a notebook that is open, all moments together stay in its window; in a talk none moves sideways."""

_ROOM = 190_000
"""So many characters of HTML; a story that takes more has fewer moments, and three at least."""


def html(data: Graph | Timeline, *, theme: str | None = None, **options: Any) -> str:
    """The still as HTML: an ``<img>`` that holds the whole SVG, with the story as its alternative text.

    Without a ``theme`` it follows the page's.  Options are those of :func:`autokit.draw.scene`.
    """
    picture = scene(data, **options)
    drawn = recolour(svg(picture), theme or "light")
    return image(drawn, picture.title, picture.width, follows=theme is None)


def page(data: Graph | Timeline, **options: Any) -> str:
    """A whole HTML document that shows the still, with the table below for those who do not see it."""
    table = text(data, **_for_text(options))
    return (
        '<!doctype html>\n<html lang="en">\n'
        '<head><meta charset="utf-8"><title>Computation graph</title></head>\n'
        f"<body>\n{html(data, **options)}\n<pre>{markup(table)}</pre>\n</body>\n</html>\n"
    )


def mimebundle(value: Any, **options: Any) -> dict[str, Any]:
    """The forms that a notebook asks for: ``text/plain``, and ``text/html`` with a picture or a table.

    ``value`` is a graph, a story, a tensor, a table of layers, a module, an optimizer or a loader of data;
    the options are those of :func:`autokit.draw.scene`.
    """
    if isinstance(value, Graph | Timeline):
        story = isinstance(value, Timeline) and len(value) > 1 and frames(value, **options)
        return {"text/plain": text(value, **_for_text(options)), "text/html": story or html(value, **options)}
    if isinstance(value, Tensor):
        return mimebundle_of_tensor(value)
    if isinstance(value, LayerTable):
        return {"text/plain": repr(value), "text/html": layers_html(value)}
    from autokit.graphs.tables import table_of

    table = table_of(value)
    plain = table_text(table) if table.title == "DataLoader" else repr(value)
    return {"text/plain": plain, "text/html": table_html(table)}


def frames(timeline: Timeline, **options: Any) -> str:
    """A story where nobody can play it: its moments, a picture for each, with its sentence below.

    Its classes are those of reveal.js: in a talk, the moments stand in one place, one after the other.
    Where the environment has ``AUTOKIT_TALK``, these are all chapters, a coarse step each: a fine step, of
    which a small network has a hundred, is no sentence to press a key for.  So many pictures are for the
    talk alone: a notebook would store them.
    """
    picture, end, talk = scene(timeline, **options), len(timeline) - 1, "AUTOKIT_TALK" in os.environ
    chapters = [(each.last, each.sentence) for each in timeline.chapters]
    told: list[str] = []
    for step, sentence in chapters if talk else moments(timeline):
        alt = picture.title if step == end else f"The graph at step {step + 1} of {end + 1}."
        drawn = image(_UNSEEN.sub("", svg(picture, timeline.state(step))), alt, picture.width)
        words = f"Step {step + 1} of {end + 1}. {markup(sentence)}"
        told.append(f'<div class="fragment fade-in-then-out">{drawn}<p>{words}</p></div>')
    while not talk and len(told) > 3 and sum(map(len, told)) > _ROOM:
        del told[2 if len(told) == 5 else 0]  # a second moment of the way back, then the start
    return f'{_IN_A_WINDOW}<div class="ak-moments r-stack">{"".join(told)}</div>'


def mimebundle_of_tensor(tensor: Tensor) -> dict[str, Any]:
    """What a notebook shows of a tensor: its graph, or its elements where it has none."""
    if hasattr(tensor, "materialize"):  # that of a lazy layer has no elements yet
        return {"text/plain": repr(tensor)}
    pictured = graph(tensor)
    if tensor.grad_fn is not None:
        value = pictured.nodes[-1].value
        written = _values_html(value) if value and numbers(value) else ""
        return {"text/plain": repr(tensor), "text/html": written + html(pictured)}
    (alone,) = pictured.nodes
    assert alone.value is not None
    gradient = alone.gradient.text if alone.gradient else NOT_COMPUTED if tensor.requires_grad else ""
    return {"text/plain": repr(tensor), "text/html": tensor_html(alone.value, alone.label, gradient)}


def _for_text(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("limit", "depth") if name in options}


def tensor_html(summary: Summary, label: str, gradient: str = "") -> str:
    """A small table for a tensor that has no history: name, shape, dtype, value, and its cells.

    ``gradient`` is that of a tensor that collects one, in one line.
    """
    rows = [("name", isolate(label))] if label else []
    if summary.shape:
        rows.append(("shape", shape_text(summary.shape)))
    rows += [("dtype", summary.dtype), ("value", isolate(summary.text))]
    if marks_text(summary):
        rows.append(("not finite", marks_text(summary)))
    if gradient:
        rows.append(("grad", isolate(gradient)))
    body = "".join(
        f'<tr><th align="left">{name}</th><td align="left">{markup(cell)}</td></tr>' for name, cell in rows
    )
    return f"<div><table>{body}</table>{_values_html(summary)}</div>"


def _values_html(summary: Summary) -> str:
    """The numbers of a small tensor, or a thumbnail; empty for a single number and where none were kept."""
    words = f"Values of shape {shape_text(summary.shape)}: {visible(summary.text)}"
    if drawn := numbers(summary):
        return f"<div>{image(drawn[0], words, drawn[1])}</div>"
    thumb = thumbnail(summary, 320.0, 200.0, 22.0)
    if thumb is None:
        return ""
    size = f'width="{thumb.width + 2:g}" height="{thumb.height + 2:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{markup(words)}</title>'
    return f"<div>{image(f'{head}{thumbnail_picture(thumb, 1, 1)}</svg>', words, thumb.width + 2)}</div>"
