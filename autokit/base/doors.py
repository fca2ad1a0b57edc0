"""Functions that show and save a value, for classes that must not import the files that draw.

A class sets ``_repr_mimebundle_ = shown``, and a notebook shows its objects as ``autokit.draw`` draws them.
The functions here are placeholders; ``autokit/__init__`` assigns the real ones when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _closed(*args: Any, **options: Any) -> Any:
    raise RuntimeError("pictures are drawn by other parts of the package: import autokit first")


mimebundle: Callable[..., dict[str, Any]] = _closed
"""The forms in which a notebook shows a value: a dict of MIME types and contents."""

text: Callable[..., str] = _closed
"""A graph, or that of a timeline, as a table in plain text."""

dot: Callable[..., str] = _closed
"""A graph in Graphviz's language."""

save: Callable[..., None] = _closed
"""Write a graph or a timeline to a file, in the format that the file's ending names."""

memory: Callable[..., dict[str, Any]] = _closed
"""The forms in which a notebook shows a memory plan."""

save_memory: Callable[..., None] = _closed
"""Write the picture of a memory plan to a file."""

program: Callable[..., Any] = _closed
"""The graph to draw of a static graph."""

compare: Callable[..., Any] = _closed
"""A compiled step beside the eager one, as a widget."""

passes: Callable[..., Any] = _closed
"""The passes over a static graph, as a widget."""

debugger: Callable[..., Any] = _closed
"""A run of a session that goes node by node, as a widget."""

terminal: Callable[..., None] = _closed
"""A terminal that asks how a run of a session is to go on."""

distributed: Callable[[str], Any] = _closed
"""A class or a function of ``autokit.distributed``, by its name."""

compiled: Callable[..., Any] = _closed
"""A function that runs as a static graph, or a decorator of such functions."""

sweep: Callable[..., Any] = _closed
"""The figure of a sweep."""

sweep_bundle: Callable[..., dict[str, Any]] = _closed
"""The forms in which a notebook shows a sweep."""


def shown(value: Any, include: Any = None, exclude: Any = None) -> dict[str, Any]:
    """The method ``_repr_mimebundle_`` of classes whose values are drawn: the forms that a notebook shows."""
    return mimebundle(value)
