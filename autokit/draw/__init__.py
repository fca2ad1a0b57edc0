"""Pictures of a computation: its graph, or its steps, in a notebook, as text, and in files of many formats.

Importing this loads no layout engine: that happens when the first picture is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from autokit.draw.dot import dot
from autokit.draw.files import write
from autokit.draw.html import html, mimebundle, mimebundle_of_tensor, page
from autokit.draw.scene import scene
from autokit.draw.shapes import Scene
from autokit.draw.svg import svg
from autokit.draw.text import text
from autokit.draw.themes import recolour
from autokit.graphs.model import Graph, Timeline

__all__ = ["Scene", "html", "mimebundle", "mimebundle_of_tensor", "save", "scene", "svg", "text"]


def save(data: Graph | Timeline, path: str | PathLike[str], **options: Any) -> None:
    """Write a picture to ``path``, in the form that its ending names.

    ====================  =========================================================
    ``.svg``              the still
    ``.png``, ``.pdf``    the still, drawn by matplotlib
    ``.html``             the still with its table, for a browser
    ``.dot``, ``.gv``     the graph in Graphviz's language
    ``.gif``              a timeline as an animation, drawn by matplotlib and Pillow
    ``.json``             the data
    ====================  =========================================================

    matplotlib draws in DejaVu Sans, and what that lacks, as Japanese, in any installed face that has it;
    where there is none an empty box stands for the character. An ``.svg`` has the fonts of who looks at it.

    Parameters
    ----------
    data : Graph or Timeline
    path : path-like
        Where to write; a file that stands there is replaced.
    **options
        Those of :func:`autokit.draw.scene`; for a picture ``theme="light"``, ``"dark"`` or ``"print"``; for a
        ``.png`` ``scale=2``, pixels to a px; for a ``.gif`` those of :func:`autokit.draw.animation.gif`.

    Raises
    ------
    ValueError
        For another ending, and for a ``.gif`` of what is no timeline.
    ModuleNotFoundError
        Where matplotlib is not installed.
    """
    ending = Path(path).suffix.lower()
    if ending not in _FORMS:
        raise ValueError(f"{str(path)!r} should end in one of {', '.join(_FORMS)}")
    if ending == ".gif" and not isinstance(data, Timeline):
        raise ValueError("a .gif plays a story: save ak.record(tensor), or this as a .png")
    write(path, _FORMS[ending](data, **options))


def _svg_file(data: Graph | Timeline, *, theme: str = "light", **options: Any) -> str:
    return recolour(svg(data, None, **options), theme) + "\n"


def _png_file(data: Graph | Timeline, *, theme: str = "light", scale: float = 2.0, **options: Any) -> bytes:
    from autokit.draw.mpl import png

    return png(recolour(svg(data, None, **options), theme), scale)


def _pdf_file(data: Graph | Timeline, *, theme: str = "light", **options: Any) -> bytes:
    from autokit.draw.mpl import pdf

    return pdf(recolour(svg(data, None, **options), theme))


def _gif_file(data: Timeline, **options: Any) -> bytes:
    from autokit.draw.animation import gif

    return gif(data, **options)


_FORMS: dict[str, Callable[..., str | bytes]] = {
    ".svg": _svg_file,
    ".png": _png_file,
    ".pdf": _pdf_file,
    ".html": page,
    ".htm": page,
    ".dot": dot,
    ".gv": dot,
    ".gif": _gif_file,
    ".json": lambda data: data.to_json() + "\n",
}
