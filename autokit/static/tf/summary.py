"""TensorFlow 1's ``tf.summary``: the picture of a graph as a page."""

from __future__ import annotations

import os
from typing import Any

from autokit.static.tf.absent import absent
from autokit.static.tf.graph import Graph


class FileWriter:
    """Writes ``graph.html`` into the folder ``logdir``: the picture of ``graph``."""

    def __init__(self, logdir: str, graph: Graph | None = None, **_: Any) -> None:
        self.logdir = logdir
        if graph is not None:
            self.add_graph(graph)

    def add_graph(self, graph: Graph) -> None:
        """Write the picture of ``graph``."""
        os.makedirs(self.logdir, exist_ok=True)
        graph.picture().save(os.path.join(self.logdir, "graph.html"))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Refuse: there are no summaries."""
        raise NotImplementedError(
            "FileWriter writes the graph and no numbers: keep what session.run returns in a list, and draw "
            "it with ak.plot"
        )

    def close(self) -> None:
        """Do nothing: the page is written already."""

    flush = close


__getattr__ = absent("tf.summary", globals())
