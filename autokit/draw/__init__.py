"""Pictures of what happened: a graph or a timeline as SVG, as HTML for a notebook, and in words.

Importing this loads no layout engine: that happens when the first picture is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from autokit.draw.html import html, mimebundle, page, tensor_html, tensor_text
from autokit.draw.scene import scene
from autokit.draw.shapes import Scene
from autokit.draw.svg import svg
from autokit.draw.text import text
from autokit.graphs.model import Graph, Timeline

__all__ = ["Scene", "html", "mimebundle", "save", "scene", "svg", "tensor_html", "tensor_text", "text"]


def save(data: Graph | Timeline, path: str | PathLike[str], **options: Any) -> None:
    """Write a picture to ``path``: ``.svg``, ``.html`` (a still with its table) or ``.json`` (the data).

    Options are those of :func:`autokit.draw.scene`.

    Raises
    ------
    ValueError
        For another ending.
    """
    forms: dict[str, Callable[..., str]] = {
        ".svg": _svg_file,
        ".html": page,
        ".htm": page,
        ".json": _json_file,
    }
    ending = Path(path).suffix.lower()
    if ending not in forms:
        raise ValueError(f"{str(path)!r} should end in one of .svg, .html and .json")
    content = forms[ending](data, **options)
    # Half a surrogate pair, which UTF-8 cannot hold, reads in JSON as \\ud800: just what this writes.
    Path(path).write_text(content, encoding="utf-8", errors="backslashreplace", newline="\n")


def _svg_file(data: Graph | Timeline, **options: Any) -> str:
    return svg(data, None, **options) + "\n"


def _json_file(data: Graph | Timeline) -> str:
    return data.to_json() + "\n"
