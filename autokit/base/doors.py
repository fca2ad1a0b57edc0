"""Functions that show and save a value, for classes that must not import the files that draw.

A class sets ``_repr_mimebundle_ = shown``, and a notebook shows its objects as ``autokit.draw`` draws them.
The functions here are placeholders; ``autokit/__init__`` assigns the real ones when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _closed(*args: Any, **options: Any) -> Any:
    raise RuntimeError("the rooms above are not there yet: import autokit first")


mimebundle: Callable[..., dict[str, Any]] = _closed
"""What a notebook shows of a value."""

text: Callable[..., str] = _closed
"""A graph, or that of a story, as a table in plain text."""

dot: Callable[..., str] = _closed
"""A graph in Graphviz's language."""

save: Callable[..., None] = _closed
"""Write a graph or a story to a file, in the form that its ending names."""


def shown(value: Any, include: Any = None, exclude: Any = None) -> dict[str, Any]:
    """What a notebook shows of ``value``, by the kinds of its forms."""
    return mimebundle(value)
