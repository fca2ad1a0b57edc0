"""The HTML that a notebook shows: an image with its description in words, and small tables."""

from __future__ import annotations

from typing import Any

from autokit.draw.card import marks_text, shape_text
from autokit.draw.escape import isolate, markup, visible
from autokit.draw.heatmap import Heatmap
from autokit.draw.histogram import Histogram
from autokit.draw.image import image
from autokit.draw.layers import html as layers_html
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
from autokit.graphs.summary import with_minus


def html(data: Graph | Timeline, *, theme: str = "light", **options: Any) -> str:
    """The still as HTML: an ``<img>`` that holds the whole SVG, with the story as its alternative text.

    Options are those of :func:`autokit.draw.scene`.
    """
    picture = scene(data, **options)
    return image(recolour(svg(picture), theme), picture.title, picture.width)


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
        return {"text/plain": text(value, **_for_text(options)), "text/html": html(value, **options)}
    if isinstance(value, Tensor):
        return mimebundle_of_tensor(value)
    if isinstance(value, LayerTable):
        return {"text/plain": repr(value), "text/html": layers_html(value)}
    from autokit.graphs.tables import table_of

    table = table_of(value)
    plain = table_text(table) if table.title == "DataLoader" else repr(value)
    return {"text/plain": plain, "text/html": table_html(table)}


def mimebundle_of_tensor(tensor: Tensor) -> dict[str, Any]:
    """What a notebook shows of a tensor: its graph, or its elements where it has none."""
    if hasattr(tensor, "materialize"):  # that of a lazy layer has no elements yet
        return {"text/plain": repr(tensor)}
    pictured = graph(tensor)
    if tensor.grad_fn is not None:
        return {"text/plain": repr(tensor), "text/html": html(pictured)}
    (alone,) = pictured.nodes
    assert alone.value is not None
    gradient = alone.gradient.text if alone.gradient else NOT_COMPUTED if tensor.requires_grad else ""
    return {"text/plain": repr(tensor), "text/html": tensor_html(alone.value, alone.label, gradient)}


def _for_text(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("limit", "depth") if name in options}


def tensor_html(summary: Summary, label: str, gradient: str = "") -> str:
    """A small table for a tensor that has no history: name, shape, dtype, value, and a heatmap.

    ``gradient`` is that of a tensor that collects one, in one line.
    """
    rows = [("name", isolate(label))] if label else []
    if summary.shape:
        rows.append(("shape", shape_text(summary.shape)))
    rows += [("dtype", summary.dtype), ("value", isolate(summary.text))]
    if summary.mean is not None and summary.shape:
        rows.append(("mean", with_minus(f"{summary.mean:.4g}")))
    if marks_text(summary):
        rows.append(("not finite", marks_text(summary)))
    if gradient:
        rows.append(("grad", isolate(gradient)))
    body = "".join(
        f'<tr><th align="left">{name}</th><td align="left">{markup(cell)}</td></tr>' for name, cell in rows
    )
    thumb = thumbnail(summary, 320.0, 200.0, 22.0)
    picture = f"<div>{_thumbnail_image(thumb, summary)}</div>" if thumb else ""
    return f"<div><table>{body}</table>{picture}</div>"


def _thumbnail_image(thumb: Heatmap | Histogram, summary: Summary) -> str:
    w, h = thumb.width + 2, thumb.height + 2
    if isinstance(thumb, Heatmap):
        words = f"Heatmap of {len(thumb.values):,} values, {thumb.rows} rows of {thumb.columns}"
    else:
        words = "Histogram of the values"
    words += f": {visible(summary.text)}"
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}"'
        ' role="img">'
        f"<title>{markup(words)}</title>{thumbnail_picture(thumb, 1, 1)}</svg>"
    )
    return image(drawn, words, w)
