"""A widget in which a run of a session goes node by node: breakpoints, filters, and values to look at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import traitlets

from autokit.draw.image import image
from autokit.draw.scene import scene
from autokit.draw.svg import svg
from autokit.draw.table import table_html, table_text
from autokit.graphs.model import Summary, Table
from autokit.graphs.program import boxes_of, program_graph
from autokit.graphs.summary import summarize
from autokit.static.debugger import Run, row
from autokit.static.errors import described
from autokit.widgets.live import Live, finite_numbers, live_css, still_bundle
from autokit.widgets.script import bundle


class Debugger(Live):
    """A run of a session that stops before each node.  Made by ``session.debug(fetches, feed_dict)``.

    Attributes
    ----------
    step : int
        How many nodes have run.  A larger number lets the run go on; a smaller one shows what was before.
    chosen : str
        The name of the node whose value is shown; empty for the one that runs next.
    breakpoints, watched : list of str
        Names of nodes: those at which a run stops, and those whose values are kept from run to run.
    awaited : str
        A filter's name lets the run go on to the first node whose value passes it.
    results : list of ndarray or None
        What the run fetched, once it has ended.
    """

    _TITLE = "a run of a session, node by node"
    _esm = bundle("session.js")
    _css = live_css()

    step = traitlets.Int(0, min=0).tag(sync=True)
    chosen = traitlets.Unicode("").tag(sync=True)
    breakpoints = traitlets.List(traitlets.Unicode()).tag(sync=True)
    watched = traitlets.List(traitlets.Unicode()).tag(sync=True)
    awaited = traitlets.Unicode("").tag(sync=True)
    _nodes: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _told: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _kept = traitlets.Dict(read_only=True).tag(sync=True)
    _filters: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _where = traitlets.Unicode(read_only=True).tag(sync=True)
    _svg = traitlets.Unicode(read_only=True).tag(sync=True)

    def __init__(self, run: Run) -> None:
        self.run = run
        self.results: list[Any] | None = None
        super().__init__(breakpoints=sorted(run.session.breakpoints), watched=list(run.session.watched))
        graph, place = run.graph, {node: at for at, node in enumerate(run.nodes)}
        element = {box[0]: f"n{at}" for at, box in enumerate(boxes_of(graph, None))}
        picture = program_graph(graph, None)
        boxes = tuple(map(_with_value, picture.nodes, element))
        self._scene = scene(replace(picture, nodes=boxes), show=("value", "shape"))
        users = graph.users()
        nodes = [
            {
                "names": [node.label, *[name for name, named in run.names.items() if named is node]],
                "row": row(node),
                "line": described(node.line),
                "box": element.get(node, ""),
                "reads": [place[each] for each in node.operands()],
                "users": [place[each] for each in users[node]],
            }
            for node in run.nodes
        ]
        self._set(_nodes=nodes, _filters=list(run.session.filters), _svg=svg(self._scene, {}))
        self._tell()

    @traitlets.observe("step")
    def _go(self, change: Any) -> None:
        run = self.run
        if self.step > run.done:
            run.go(run.nodes[self.step : self.step + 1])
        if run.done == len(run.nodes) and self.results is None:
            self.results = [each.array for each in run.finish()]
        self.step = min(self.step, run.done)
        self._tell()

    @traitlets.observe("awaited")
    def _seek(self, change: Any) -> None:
        if self.awaited:
            self.run.go(passes=self.run.session.filters[self.awaited])
            self.step, self.awaited = self.run.done, ""

    @traitlets.observe("breakpoints", "watched")
    def _stop_and_keep(self, change: Any) -> None:
        session = self.run.session
        session.breakpoints = {*self.breakpoints}
        session.watched = {name: session.watched.get(name, []) for name in self.watched}
        self._tell()

    def _tell(self) -> None:
        """Tell the browser the values of what has run since, and those that were kept of watched nodes."""
        run, filters = self.run, self.run.session.filters
        new = [(node, run.values[node]) for node in run.nodes[len(self._told) : run.done]]
        told = [
            {
                "short": _short(value),
                "text": _text(value),
                "passes": [name for name, passes in filters.items() if passes(node, value)],
            }
            for node, value in new
        ]
        kept = {name: finite_numbers(map(np.mean, run.session.watched[name])) for name in self.watched}
        self._set(_told=[*self._told, *told], _kept=kept, _where=run.where())

    def still(self) -> dict[str, Any]:
        """The graph with the values that there are, and the nodes as a table."""
        ran = [each["short"] for each in self._told]
        rows = [(each["row"], value) for each, value in zip(self._nodes, ran)]
        table = Table(f"{len(ran)} of {len(self._nodes)} nodes have run", ("node", "value"), tuple(rows))
        shown = [{"status": "computed", "value": each["short"]} for each in self._told]
        drawn = svg(self._scene, {each["box"]: state for each, state in zip(self._nodes, shown)})
        picture = image(drawn, self._scene.title, self._scene.width)
        words = " ".join(self._where.split())
        return still_bundle(f"{words}\n{table_text(table)}", words, picture, table_html(table))

    def __repr__(self) -> str:
        return f"Debugger({len(self._told)} of {len(self._nodes)} nodes have run)"


def _with_value(box: Any, node: Any) -> Any:
    """The box with the value that ``node`` had when it was traced, by which its width is chosen."""
    value = Summary(_short(node.value), (), "")
    kind, symbol = box.kind.replace("backward", "operation"), box.symbol and node.name
    return replace(box, kind=kind, symbol=symbol, label=node.label, value=value)


def _short(value: Any) -> str:
    return summarize(value).text if isinstance(value, np.ndarray) else ""


def _text(value: Any) -> str:
    with np.printoptions(threshold=64):
        return str(value)
