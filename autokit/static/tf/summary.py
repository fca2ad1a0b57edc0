"""TensorFlow 1's ``tf.summary``: the picture of a graph as a page."""

from __future__ import annotations

import os
from typing import Any

from autokit.static.tf.absent import absent
from autokit.static.tf.graph import Graph, outlined


class FileWriter:
    """Writes ``graph.html`` into the folder ``logdir``: the picture of ``graph``."""

    def __init__(self, logdir: str, graph: Graph) -> None:
        os.makedirs(logdir, exist_ok=True)
        outlined(graph.operations).picture().save(os.path.join(logdir, "graph.html"))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Refuse: there are no summaries."""
        raise NotImplementedError("keep what session.run returns in a list, and draw it with ak.plot")

    def close(self) -> None:
        """Do nothing: the page is written already."""


__getattr__ = absent("tf.summary", globals())
