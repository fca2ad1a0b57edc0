"""A widget that shows a model as a tree of modules beside its graph, and the values of one input in each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import traitlets

from autokit import draw
from autokit.draw.card import shape_text
from autokit.draw.image import image
from autokit.draw.table import table_html, table_text
from autokit.graphs.exploration import Exploration, Explored, Spread, explore_layers
from autokit.graphs.layers import shapes_text, tree_lines
from autokit.graphs.model import Table
from autokit.graphs.summary import number
from autokit.widgets.live import Live, chosen, live_css, still_bundle
from autokit.widgets.script import bundle

if TYPE_CHECKING:
    from autokit.engine.tensor import Tensor
    from autokit.nn.module import Module


class Explorer(Live):
    """The module tree of a model, linked with its graph.  Made by :func:`explore`.

    It runs in the browser, without the kernel.

    Attributes
    ----------
    selected : str
        The path of the module whose facts are shown and whose nodes are marked, as ``"encoder.0"``; ``""`` is
        the model itself.
    """

    _TITLE = "a model and its graph"
    _esm = bundle("explorer.js")
    _css = live_css()

    selected = traitlets.Unicode("").tag(sync=True)
    _layers: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _modules: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _svg = traitlets.Unicode(read_only=True).tag(sync=True)

    def __init__(self, exploration: Exploration, **traits: Any) -> None:
        self.exploration = exploration
        super().__init__()
        self._scene = draw.scene(exploration.graph)
        modules = [node.module for node in exploration.graph.nodes]
        layers = list(map(_told, exploration.layers))
        self._set(_layers=layers, _modules=modules, _svg=draw.svg(self._scene))
        for name, value in traits.items():
            setattr(self, name, value)

    def still(self) -> dict[str, Any]:
        """The layers as a table, and the graph as an image."""
        graph = image(draw.svg(self._scene), self._scene.title, self._scene.width)
        table = self._table()
        return still_bundle(table_text(table), "", table_html(table), graph)

    def __repr__(self) -> str:
        layers = self.exploration.layers
        return f"Explorer({layers[0].layer.kind}, {len(layers)} modules, {len(self.exploration.graph)} nodes)"

    def _table(self) -> Table:
        rows, layers = [], [each.layer for each in self.exploration.layers]
        for place, each in enumerate(self.exploration.layers):
            layer = each.layer
            name = f"{layer.name}: {layer.kind}" if layer.depth else layer.kind
            count = f"{layer.parameters:,}" if layer.parameters else ""
            spreads = _in_short(each.activation), _in_short(each.gradient)
            rows.append((tree_lines(layers, place) + name, shapes_text(layer.outputs), count, *spreads))
        head = ("module", "output", "parameters", "activations", "gradients")
        return Table(f"What one input does in {self.exploration.layers[0].layer.kind}", head, tuple(rows))

    @traitlets.validate("selected")
    def _select_a_module(self, proposal: Any) -> str:
        paths = [each.layer.path for each in self.exploration.layers[1:]]
        return chosen(proposal["value"], {path: repr(path) for path in paths}, "module")


def explore(
    model: Module, *inputs: Any, loss: Callable[[Any], Tensor] | None = None, **traits: Any
) -> Explorer:
    """Look into a model: its modules as a tree beside its graph, each linked with the other.

    Choose a module, and its nodes are marked; click on a node, and its module opens.  For each module there
    are shapes, parameters, and how its activations and the gradients that come back are spread.  The model
    runs once, in evaluation, and stays as it was; so do all gradients.

    Parameters
    ----------
    model : Module
    *inputs : Tensor
        What ``forward`` takes.
    loss : callable, optional
        From the output to a tensor of one element, with which the way back begins; left out, it begins with
        the sum of the outputs.
    **traits
        Of the :class:`Explorer`, such as ``selected="0"``.

    Raises
    ------
    TypeError
        If ``model`` is no module, or there is no tensor to begin the way back with.
    RuntimeError
        If ``forward`` fails; names the layer and what it was given.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import nn
    >>> model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    >>> explore(model, torch.ones(2, 3), selected="1")
    Explorer(Sequential, 4 modules, 9 nodes)
    """
    return Explorer(explore_layers(model, inputs, loss), **traits)


def _told(each: Explored) -> dict[str, Any]:
    layer = each.layer
    facts = [
        ("Class", layer.kind),
        ("Input", shapes_text(layer.inputs)),
        ("Output", shapes_text(layer.outputs)),
    ]
    if layer.calls != 1:
        facts.append(("Calls", f"{layer.calls}"))
    if layer.parameters:
        frozen = layer.parameters - layer.trainable
        facts.append(("Own parameters", f"{layer.parameters:,}" + (f", {frozen:,} frozen" if frozen else "")))
    if layer.multiply_adds:
        facts.append(("Multiply-adds", f"{layer.multiply_adds:,}"))
    if layer.shared:
        facts.append(("The same as", layer.shared))
    weights = []
    for one in each.weights:
        gradient = "—" if one.gradient_norm is None else number(one.gradient_norm)
        weights.append([one.name, shape_text(one.shape), number(one.norm), gradient])
    spreads = {"Activations": each.activation, "Gradients": each.gradient}
    return {
        **{name: getattr(layer, name) for name in ("path", "name", "kind", "depth")},
        "facts": [list(fact) for fact in facts if fact[1]],
        "spreads": [{"title": title, **_spread(found)} for title, found in spreads.items() if found],
        "weights": weights,
    }


def _spread(spread: Spread) -> dict[str, Any]:
    words = [f"mean {number(spread.mean)}", f"deviation {number(spread.deviation)}"]
    if spread.minimum == spread.maximum:
        words = [f"all {'that are finite ' if spread.bad else ''}are {number(spread.mean)}"]
    elif spread.zeros:
        words.append(f"{100 * spread.zeros:.3g} % are 0")
    if spread.bad:
        words.append(f"{spread.bad:,} not finite")
    return {
        "counts": list(spread.counts),
        "low": number(spread.minimum),
        "high": number(spread.maximum),
        "words": ", ".join(words),
        "wrong": bool(spread.bad),
    }


def _in_short(spread: Spread | None) -> str:
    if spread is None or math.isnan(spread.mean):
        return ""
    return f"{number(spread.mean)} ± {number(spread.deviation)}"
