"""NumPy's own forms."""

from __future__ import annotations

from autokit.static.graph import Graph


def use_numpy_forms(graph: Graph) -> str:
    return ""
