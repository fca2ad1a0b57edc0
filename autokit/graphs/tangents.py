"""The story of forward mode: tangents travel with the values, from one leaf on.

The *tangent* of a value says how fast it changes as that leaf moves. The walk is that of ``func.jvp``; beside
the tangent of each result it is told what comes of each operand alone, as these add up to it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autokit.engine.node import Gradients
from autokit.engine.tensor import Tensor, new_tensor
from autokit.func.forward import tangent_of, tangents
from autokit.graphs.backward import slope_of
from autokit.graphs.capture import Capture
from autokit.graphs.forward import tell_value
from autokit.graphs.model import Change, Edge, Graph, Node, Summary
from autokit.graphs.run import Run
from autokit.graphs.script import Script
from autokit.graphs.summary import bracketed, in_reach, summarize
from autokit.graphs.words import Words

_ONE = "One walk tells of one leaf; others take their own."


class Tangents:
    """Tells the values of a graph and their tangents, as the leaf ``moving`` moves along ``direction``."""

    def __init__(self, script: Script, captured: Capture, output: Tensor, moving: Tensor) -> None:
        self.script = script
        self.captured = captured
        self.output = output
        self.moving = moving
        self.words = Words(captured.graph, captured.origins)
        self.nodes = captured.graph.nodes
        self.leaf = self.nodes[captured.ids[moving]]
        self.found: dict[int, Any] = {}
        """The tangent of each value that moves, by its node."""

    def tell(self, direction: Any) -> Graph:
        """Write the steps; the graph that comes back has the tangents in the place of gradients."""
        for end, tangent in tangents([self.output], [self.moving], [new_tensor(direction)]):
            place = self.captured.ids.get(end)
            origin = None if place is None else self.captured.origins[place]
            if not isinstance(origin, Run) or origin.result is end:
                self.found[place] = tangent  # type: ignore[index]
        nodes = []
        for node in self.nodes:
            tell_value(self.script, self.words, node, "may move")
            if node.requires_grad:
                self._tell(node)
                node = replace(node, gradient=self._summary(node))
            nodes.append(node)
        self._tell_finish()
        graph = self.captured.graph
        return replace(graph, nodes=tuple(nodes), view=replace(graph.view, slopes="tangent"))

    def _summary(self, node: Node) -> Summary:
        found = self.found.get(node.id)
        return summarize(np.zeros(node.shape) if found is None else _array(found))

    # -------------------------------------------------------- one value

    def _tell(self, node: Node) -> None:
        """What comes from each operand, and the sum of that."""
        name, numbers = node.name, self._summary(node).text
        parts = self._tell_parts(node)
        if parts:
            if parts[1:]:
                added = [parts[0], *map(bracketed, parts[1:])]
                numbers = f"{' + '.join(added)} = {numbers}"
            sentence = f"The tangent of {name} is what came: {numbers}."
        elif node is self.leaf:
            sentence = f"Now {name} moves: its tangent is {numbers}."
        else:
            numbers = "0"
            sentence = f"{name} stands still: its tangent is 0."
        self.script.step(
            "seed" if node is self.leaf else "sum",
            "forward",
            sentence,
            f"tangent of {name}",
            f"= {numbers}",
            (node.element,),
            _changes(node, gradient=self._summary(node).text, status="final"),
        )
        self.script.close(sentence)

    def _tell_parts(self, node: Node) -> list[str]:
        """For each operand that moves what its tangent alone makes of the result."""
        run = self.captured.origins[node.id]
        results = {}
        if isinstance(run, Run) and run.result is not run.node:
            slot = run.result.settings["slot"]  # type: ignore[index]
            results = {slot: run.result}
        told = []
        for edge in self._moving_edges(node):
            sent = tangent_of(run.node, {edge.slot: self.found[edge.source]}, results, False)
            array = _array(sent[slot] if results else sent)
            told.append(summarize(array).text)
            self._tell_part(node, edge, array, told[-1])
        return told

    def _tell_part(self, node: Node, edge: Edge, sent: Any, text: str) -> None:
        source, along = self.nodes[edge.source], _array(self.found[edge.source])
        touched = (edge.element, node.element, source.element)
        slope, numbers = self.words.by(node, source), text
        if self.script.brief:
            told = f"{source.name} sends {text} on."
        elif node.shape or source.shape:
            told = f"The local derivative turns the tangent of {source.name} into {text}."
        else:
            local = self.words.local(node, edge, slope_of(along, sent))
            known = _changes(edge, local=local.value) if local.value else ()
            told = f"{local.sentence}."
            formula = f"{slope} = {local.symbols}"
            self.script.step("local", "forward", told, formula, local.numbers, touched, known)
            if local.value:
                numbers = f"{local.value} · {bracketed(summarize(along).text)} = {text}"
            told = f"Local derivative times tangent: {numbers} comes from {source.name}."
        flowing = _changes(edge, status="tangent", flow=text)
        formula = f"{slope} · tangent of {source.name}"
        self.script.step("product", "forward", told, formula, numbers, touched, flowing)

    def _moving_edges(self, node: Node) -> list[Edge]:
        edges = self.words.operands.get(node.id, ())
        return [edge for edge in edges if edge.source in self.found]

    def _tell_finish(self) -> None:
        end = self.nodes[self.captured.ids[self.output._node or self.output]]
        rate = self._summary(end).text
        sentence = f"Done: as {self.leaf.name} moves, {end.name} changes by {rate} times that."
        self.script.step("finish", "forward", sentence, touches=(end.element,), note=_ONE)
        self.script.close(sentence)


def _changes(of: Node | Edge, **fields: str) -> tuple[Change, ...]:
    return tuple([Change(of.element, name, value) for name, value in fields.items()])


def chosen_leaf(captured: Capture, wrt: Tensor | str | None) -> Tensor:
    """The leaf that is to move: ``wrt``, a tensor or the name of one; the first one where it is None.

    Raises
    ------
    ValueError
        If there is no such leaf.
    """
    found = zip(captured.graph.nodes, captured.origins)
    leaves = [(node.name, origin) for node, origin in found if node.kind == "leaf"]
    for name, leaf in leaves:
        if wrt is None or wrt is leaf or (isinstance(wrt, str) and wrt == name):
            return leaf  # type: ignore[no-any-return]
    names = ", ".join([name for name, _ in leaves])
    raise ValueError(f"wrt= is none of the leaves {names}: {wrt!r}")


def _array(tangent: Any) -> Any:
    """A tangent as an array; those of several results in a row."""
    if isinstance(tangent, dict):
        return in_reach(Gradients([each.array for each in tangent.values()]))
    return in_reach(tangent.array)
