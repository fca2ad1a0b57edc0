"""The backward half of a story: each event of the engine's backward pass becomes several steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.graphs.capture import Capture
from autokit.graphs.model import Change, Collapse, Edge, Node, Summary
from autokit.graphs.script import Script
from autokit.graphs.summary import bracketed, in_reach, summarize
from autokit.graphs.words import Words, awaited, counted, equals, holds, listed, shape_text

_COLLAPSE_SHOWN = 256
"""Up to this many elements are shown while they are summed."""


class Backward:
    """Listens to a backward pass, and writes its steps.

    Attributes
    ----------
    pending : dict of int to int
        How many contributions each value still waits for.
    contributions : dict of int to list of (Edge, array)
        What has come to each value, in order.
    gradients : dict of int to Summary
        The final gradient of each value that was ready.
    """

    def __init__(self, script: Script, words: Words, captured: Capture, root: Node) -> None:
        self.script, self.words, self.captured, self.root = script, words, captured, root
        self.nodes = words.graph.nodes
        on_the_way = _leads_to_root(words.graph.edges, root.id)
        self.pending = {n.id: 0 for n in self.nodes if n.requires_grad and n.id in on_the_way}
        for edge in words.graph.edges:
            if edge.requires_grad and edge.target in self.pending:
                self.pending[edge.source] += 1
        self.uses = dict(self.pending)
        self.contributions: dict[int, list[tuple[Edge, np.ndarray]]] = {}
        self.gradients: dict[int, Summary] = {}
        self.arrived: dict[int, np.ndarray] = {}
        self.node: Node | None = None
        self.sent: list[str] = []

    def __call__(self, event: str, target: Any, *values: Any) -> None:
        """Turn an event of the engine into steps."""
        id = self.captured.concerned(event, target)
        if event == "ready" and id is not None:
            self._tell_ready(self.nodes[id], *values)
        elif event == "contribution" and id is not None:
            self._tell_contribution(self.nodes[id], *values)

    def close_node(self) -> None:
        """End the chapter of the node whose rule ran."""
        if self.node is None or not self.script.current:
            return
        self.script.change_last(
            Change(self.node.element, "status", "final"), Change(self.node.element, "pending", None)
        )
        sent = (
            f"passes its gradient on: {listed(self.sent)}"
            if self.sent
            else "has nobody to pass its gradient on to"
        )
        self.script.close(f"{self.node.name} {sent}.")

    # -------------------------------------------------------- a node whose gradient is final

    def _tell_ready(self, node: Node, gradient: Any) -> None:
        self.close_node()
        self.gradients[node.id], self.arrived[node.id] = summarize(gradient), in_reach(gradient)
        self.node, self.sent = node, []
        text = self.gradients[node.id].text
        derivative = self.words.by(self.root, node)
        if node.id == self.root.id:
            self._tell_seed(node, derivative, text)
        why = f"all {self.uses[node.id]} contributions to it are in"
        sentence = f"{node.name} is next: {why if self.uses[node.id] > 1 else 'its gradient is final'}."
        note = "" if self.script.brief else self._why_not_another(node)
        current = (Change(node.element, "status", "current"),)
        self._step("select", sentence, touches=(node.element,), changes=current, note=note)
        if not self.script.brief:
            rule = self.words.operation(node)
            arrived = equals(derivative, node.shape, text)
            means = f", how fast {self.root.name} changes with {node.name}," if node != self.root else ""
            sentence = f"The upstream gradient {arrived}{means} enters the rule of {rule}."
            self._step("upstream", sentence, f"g = {derivative}", f"= {text}", (node.element,))

    def _tell_seed(self, node: Node, derivative: str, text: str) -> None:
        sentence = f"The way back begins with a seed: {equals(derivative, node.shape, text)}."
        begun = (("gradient", text), ("pending", awaited(0)), ("status", "ready"))
        changes = tuple(Change(node.element, *each) for each in begun)
        self._step("seed", sentence, derivative, f"= {text}", (node.element,), changes)
        self.script.close(sentence)

    def _why_not_another(self, node: Node) -> str:
        for other in reversed(self.nodes):
            if other.id != node.id and self.pending.get(other.id, 0) > 0 and self.contributions.get(other.id):
                waits = self.pending[other.id]
                return (
                    f"Why not {other.name}? It has "
                    f"{counted(len(self.contributions[other.id]), 'contribution')}, "
                    f"and {waits} more {'is' if waits == 1 else 'are'} to come."
                )
        return "Of all values whose gradient is final, the newest goes first."

    # -------------------------------------------------------- what it sends to each operand

    def _tell_contribution(
        self, node: Node, slot: int, raw: Any, fitted: Any, before: Any, total: Any
    ) -> None:
        edge = next(edge for edge in self.words.operands[node.id] if edge.slot == slot)
        raw, fitted = in_reach(raw), in_reach(fitted)
        raw = fitted if raw.size < fitted.size else raw  # it may be one number for all elements
        source = self.nodes[edge.source]
        self.contributions.setdefault(source.id, []).append((edge, fitted.copy()))
        self.pending[source.id] -= 1
        if self.script.brief:
            self._tell_in_one(node, edge, source, summarize(fitted).text, summarize(total).text, before)
        else:
            slope = slope_of(self.arrived[node.id], raw)
            product = self._tell_local(node, edge, source, slope, summarize(raw).text)
            self._tell_product(node, edge, source, product, raw)
            if raw.shape != fitted.shape:
                self._tell_unbroadcast(edge, source, raw, fitted)
            self._tell_travel(node, edge, source, fitted)
            self._tell_accumulate(edge, source, fitted, before, total)
        self.sent.append(f"{source.name} gets {holds(source.shape, summarize(fitted).text)}")
        if not self.pending[source.id] and source.kind == "leaf":
            self._tell_leaf(source, summarize(total).text)

    def _tell_local(self, node: Node, edge: Edge, source: Node, slope: float | None, product: str) -> str:
        local = self.words.local(node, edge, slope)
        sentence = f"{local.sentence}."
        formula = f"{self.words.by(node, source)} = {local.symbols}"
        changes = (Change(edge.element, "local", local.value),) if local.value else ()
        self._step("local", sentence, formula, local.numbers, (edge.element, node.element), changes)
        return f"{self.gradients[node.id].text} · {bracketed(local.value)} = {product}" if local.value else ""

    def _tell_product(self, node: Node, edge: Edge, source: Node, product: str, raw: Any) -> None:
        text = summarize(raw).text
        sent = f"is what {node.name} sends to {source.name}"
        way = f" by way of {node.name}" if node != self.root else ""
        means = f"how fast {self.root.name} changes with {source.name}{way}"
        told = f"The result {holds(raw.shape, text)} {sent}: {means}."
        if product:
            told = f"Upstream times local: {product} {sent}."
        formula = f"{self.words.by(self.root, node)} · {self.words.by(node, source)}"
        self._step("product", told, formula, product or text, (edge.element, node.element))

    def _tell_unbroadcast(self, edge: Edge, source: Node, raw: Any, fitted: Any) -> None:
        large, small = raw.shape, fitted.shape
        axes = repeated_axes(large, small)
        over = f"dimension{'' if len(axes) == 1 else 's'} {listed([str(axis) for axis in axes])}"
        times = raw.size // max(fitted.size, 1)
        seen = raw.size <= _COLLAPSE_SHOWN
        before, after = (
            tuple(a.ravel().astype(np.float64).tolist()) if seen else None for a in (raw, fitted)
        )
        self._step(
            "unbroadcast",
            f"{source.name} {shape_text(small)} was repeated to {shape_text(large)}: each element took part "
            f"{times:,} times, so its contributions are summed over {over}.",
            formula=f"Σ over {over}: {shape_text(large)} → {shape_text(small)}",
            numbers=summarize(fitted).text,
            touches=(edge.element, source.element),
            collapse=Collapse(large, small, axes, before, after),
        )

    def _tell_travel(self, node: Node, edge: Edge, source: Node, fitted: Any) -> None:
        text = summarize(fitted).text
        signs = {1.0: "positive", -1.0: "negative", 0.0: "zero"}
        sign = signs.get(float(np.sign(fitted).item())) if fitted.size == 1 else None
        held = holds(source.shape, text)
        sentence = f"The contribution {held} travels back along the arrow to {source.name}."
        touched = (node.element, edge.element, source.element)
        note = f"Its sign is {sign}." if sign else ""
        self._step("travel", sentence, "", text, touched, _flow(edge, text), note)

    def _tell_accumulate(self, edge: Edge, source: Node, fitted: Any, before: Any, total: Any) -> None:
        text, wanted = summarize(fitted).text, self.words.by(self.root, source)
        all_of, held = summarize(total).text, holds(source.shape, text)
        waits = self.pending[source.id]
        still = f" {waits} more to come." if waits else " That was the last one."
        if before is None:
            told = (
                f"The first contribution to {wanted} is {held}.{still}"
                if waits
                else (f"The only contribution to {wanted} is {held}.")
            )
            numbers, note = f"= {all_of}", ""
        else:
            old = summarize(before).text
            numbers = f"{old} + {bracketed(text)} = {all_of}"
            sums = numbers if held == text else f"element by element they make {holds(source.shape, all_of)}"
            told = f"It is added to what is there: {sums}.{still}"
            note = f"With = in place of +=, {wanted} would be {text}, and {old} would be lost."
        changes, instead = self._gathered(source, all_of), "" if before is None else text
        touched = (source.element, edge.element)
        self._step("accumulate", told, f"{wanted} += contribution", numbers, touched, changes, note, instead)

    def _tell_in_one(self, node: Node, edge: Edge, source: Node, text: str, total: str, before: Any) -> None:
        wanted = self.words.by(self.root, source)
        held = holds(source.shape, text)
        added = "" if before is None else f" {summarize(before).text} + {bracketed(text)} = {total}."
        if added and held != text:
            added = f" Added to what is there that makes {holds(source.shape, total)}."
        sentence = f"{node.name} sends {held} back to {source.name}.{added}"
        formula, instead = (f"{wanted} += contribution", text) if added else ("", "")
        touched = (node.element, edge.element, source.element)
        changes = (*_flow(edge, text), *self._gathered(source, total))
        self._step("travel", sentence, formula, "", touched, changes, instead=instead)

    def _tell_leaf(self, source: Node, total: str) -> None:
        final = (Change(source.element, "status", "final"), Change(source.element, "pending", None))
        if self.script.brief:
            self.script.change_last(*final)
            return
        sentence = f"{source.name} is a leaf: its .grad is {holds(source.shape, total)}."
        formula = f"{source.name}.grad = {self.words.by(self.root, source)}"
        self._step("leaf", sentence, formula, f"= {total}", (source.element,), final)

    # -------------------------------------------------------- in short

    def _step(self, kind: str, sentence: str, *more: Any, **named: Any) -> None:
        self.script.step(kind, "backward", sentence, *more, **named)

    def _gathered(self, source: Node, total: str) -> tuple[Change, ...]:
        waits = self.pending[source.id]
        return (
            Change(source.element, "gradient", total),
            Change(source.element, "pending", awaited(waits)),
            Change(source.element, "status", "waiting" if waits else "ready"),
        )


def slope_of(arrived: Any, sent: Any) -> float | None:
    """The number by which a rule multiplied the gradient of a single value; None where that was 0."""
    single = np.size(arrived) == 1 == np.size(sent) and np.all(arrived)
    return float(sent.item() / arrived.item()) if single else None


def _flow(edge: Edge, text: str) -> tuple[Change, ...]:
    return (Change(edge.element, "status", "backward"), Change(edge.element, "flow", text))


def repeated_axes(large: tuple[int, ...], small: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions of ``large`` along which an operand of shape ``small`` had been repeated.

    >>> repeated_axes((2, 3), (3,)), repeated_axes((2, 3), (2, 1)), repeated_axes((4, 5), ())
    ((0,), (1,), (0, 1))
    """
    added = len(large) - len(small)
    return tuple(
        place
        for place, size in enumerate(large)
        if place < added or (small[place - added] == 1 and size != 1)
    )


def _leads_to_root(edges: tuple[Edge, ...], root: int) -> set[int]:
    """The values that the root was made from, itself included."""
    found = {root}
    for edge in reversed(edges):  # edges are in the order of their targets
        if edge.target in found:
            found.add(edge.source)
    return found
