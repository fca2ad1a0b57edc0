"""The story of an evaluation, step by step: :func:`record`.

Forward, the values come in topological order.  Backward, the steps follow the
engine itself: it runs a rehearsal, which changes nothing, and tells a
listener what it does, so the story cannot differ from what ``backward()``
does.  The words are those of the operations' rules.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from autokit.autograd.engine import ChangedSince, run_backward
from autokit.autograd.node import Node as EngineNode
from autokit.graphs.capture import OPERATIONS_SHOWN, Capture, capture
from autokit.graphs.check import STEP, central_differences
from autokit.graphs.model import NOT_COMPUTED, Change, Chapter, Edge, Node, Step, Summary, Timeline
from autokit.graphs.summary import number, summarize
from autokit.graphs.words import Words, bracketed, counted, listed, shape_text
from autokit.ops.custom import looking_back
from autokit.ops.errors import describe
from autokit.tensor import Tensor


def record(output: Tensor, gradient: Tensor | None = None) -> Timeline:
    """The story of how ``output`` was computed, and of how its gradient flows back.

    Works before ``backward()`` and, for graphs of small tensors, after it.
    Nothing is changed: no ``.grad``, no graph, no hook runs.

    Parameters
    ----------
    output : Tensor
        The end of the computation, with a history.
    gradient : Tensor, optional
        What the way back begins with, where ``output`` has more than one element.

    Returns
    -------
    Timeline
        With its ``graph``, and ``steps`` that each have a ``kind`` and a ``sentence``.

    Raises
    ------
    RuntimeError
        If ``output`` has no history, has more than one element and no
        ``gradient`` is given, or values that the way back needs were not kept.

    Examples
    --------
    >>> import autokit as ak
    >>> a = ak.tensor(15.0, requires_grad=True)
    >>> c = a * 20.0
    >>> [step.sentence for step in ak.record(c).steps if step.kind == "product"]
    ['Upstream times local: 1.0 · 20.0 = 20.0 is what c sends to a.']
    """
    taken = capture(output)
    root = output.grad_fn or output
    seed = _seed(output, gradient)
    _refuse_what_cannot_be_told(taken, output)
    teller = _Teller(taken, root)
    teller.tell_forward()
    teller.tell_turn()
    before = looking_back.set(True)
    try:
        found = run_backward([root], [seed], listener=teller.listen, rehearsal=True, into_leaves=False)
    except ChangedSince as error:
        raise RuntimeError(
            "the story needs the values as they were when the output was computed, and one changed since. "
            f"Call record() or animate() before optimizer.step(), or compute the output again. {error}"
        ) from None
    finally:
        looking_back.reset(before)
    teller.tell_finish(found, central_differences(taken, root, seed))
    return teller.timeline()


def _seed(output: Tensor, gradient: Tensor | None) -> Any:
    if not isinstance(output, Tensor):
        raise TypeError(f"record() tells the history of a Tensor, and got {type(output).__name__}")
    if output.grad_fn is None:
        raise RuntimeError(
            "element 0 of tensors does not require grad and does not have a grad_fn: there is no computation "
            f"behind {describe(output)}. Make an input with requires_grad=True, and compute something from it"
        )
    if gradient is None:
        if output.array.size != 1:
            raise RuntimeError(
                f"grad can be implicitly created only for scalar outputs: this one is {describe(output)}; "
                "reduce it, as with .sum(), or pass gradient= of that shape"
            )
        return np.ones_like(output.array)
    if gradient.array.shape != output.array.shape:
        raise RuntimeError(
            f"Mismatch in shape: the gradient is {describe(gradient)}, and the output {describe(output)}"
        )
    return gradient.array


def _refuse_what_cannot_be_told(taken: Capture, output: Tensor) -> None:
    if taken.graph.left_out:
        raise RuntimeError(
            f"a story of more than {OPERATIONS_SHOWN:,} operations helps nobody: tell a part of it, as "
            f"record(h) for a value h on the way to {describe(output)}, or use fewer repetitions"
        )
    for node, origin in zip(taken.graph.nodes, taken.origins):
        if not isinstance(origin, EngineNode):
            continue
        operands, names = origin.operands, origin.operation.operands
        if origin.operation.variadic:
            names *= len(operands)
        kept = {name for name, operand in zip(names, operands) if operand is not None}
        if origin.output is not None:
            kept.add("out")
        if not kept.issuperset(node.saved):
            raise RuntimeError(
                f"the values that {node.backward} saved were freed by backward(), and are too large to be "
                "kept for the picture. Call record() before backward(), or compute inside "
                "`with autokit.recording():`"
            )


class _Teller:
    """Collects the steps of one story while it happens."""

    def __init__(self, taken: Capture, root: Any) -> None:
        self.graph = taken.graph
        self.origins = taken.origins
        self.ids = taken.ids
        self.root = self.graph.nodes[taken.ids[root]]
        self.words = Words(self.graph, taken.origins)
        self.steps: list[Step] = []
        self.chapters: list[Chapter] = []
        self.into: dict[int, list[Edge]] = {node.id: [] for node in self.graph.nodes}
        for edge in self.graph.edges:
            self.into[edge.target].append(edge)
        on_the_way = _leads_to_root(self.graph.edges, self.root.id)
        taking_part = [node for node in self.graph.nodes if node.requires_grad and node.id in on_the_way]
        self.pending = {node.id: 0 for node in taking_part}
        for edge in self.graph.edges:
            if edge.requires_grad and edge.target in self.pending:
                self.pending[edge.source] += 1
        self.contributions: dict[int, list[str]] = {}
        self.gradients: dict[int, Summary] = {}
        self.first_nan = ""
        self.silenced: list[str] = []
        self.current: list[Step] = []

    def timeline(self) -> Timeline:
        """The finished story."""
        start = []
        for node in self.graph.nodes:
            start += [Change(node.element, "status", "hidden"), Change(node.element, "value", "")]
            if node.requires_grad:
                start.append(Change(node.element, "gradient", NOT_COMPUTED))
                start.append(Change(node.element, "pending", None))
        for edge in self.graph.edges:
            start += [Change(edge.element, "status", "idle"), Change(edge.element, "flow", "")]
        nodes = tuple(replace(node, gradient=self.gradients.get(node.id)) for node in self.graph.nodes)
        told = replace(self.graph, nodes=nodes)
        return Timeline(told, tuple(self.steps), tuple(self.chapters), tuple(start))

    # -------------------------------------------------------- bookkeeping

    def step(self, kind: str, phase: str, sentence: str, **more: Any) -> None:
        """One more step of the chapter at hand."""
        self.current.append(Step(kind, phase, len(self.chapters), sentence, **more))

    def close(self, sentence: str) -> None:
        """End the chapter at hand, and say it in one sentence."""
        first = len(self.steps)
        self.steps += self.current
        self.chapters.append(Chapter(first, len(self.steps) - 1, sentence))
        self.current = []

    # -------------------------------------------------------- forward

    def tell_forward(self) -> None:
        """Every value, in topological order."""
        for node in self.graph.nodes:
            if self.into[node.id]:
                self._tell_operation(node)
            else:
                self._tell_input(node)

    def _tell_input(self, node: Node) -> None:
        name, value = self.words.name(node), self.words.value(node)
        if node.kind == "leaf":
            sentence = f"{name} = {value} is given: a leaf, which collects a gradient."
        elif node.kind == "constant":
            given = f"{name} = {value}" if name != value else name
            sentence = f"{given} is given: a constant, which needs no gradient."
        else:
            sentence = f"{name} = {value} comes from earlier operations that are not shown."
        self.step("input", "forward", sentence, touches=(node.element,), changes=self._computed(node))
        self.close(sentence)

    def _tell_operation(self, node: Node) -> None:
        edges = self.into[node.id]
        operands = [self.graph.nodes[edge.source] for edge in edges]
        names = listed([self.words.name(operand) for operand in operands])
        line = f"Line {node.source.line}: {node.source.text}" if node.source and node.source.text else ""
        self.step(
            "operands",
            "forward",
            f"{names} {'goes' if len(operands) == 1 else 'go'} into {self.words.operation(node)}.",
            formula=f"{self.words.name(node)} = {self.words.formula(node)}",
            touches=(node.element, *(e.element for e in edges), *(operand.element for operand in operands)),
            changes=(
                *(Change(edge.element, "status", "forward") for edge in edges),
                Change(node.element, "status", "current"),
            ),
            note=line,
        )
        saved = [self.words.saved(node, letter) for letter in node.saved]
        keeps = f" It saves {listed(saved) or 'nothing'} for the way back."
        numbers = self.words.numbers(node)
        result = f"{self.words.name(node)} = {numbers}"
        self.step(
            "value",
            "forward",
            f"Number {node.id} in topological order: {result}.{keeps}",
            formula=f"{self.words.name(node)} = {self.words.formula(node)}",
            numbers=f"= {numbers}",
            touches=(node.element,),
            changes=self._computed(node),
        )
        self.close(f"{self.words.name(node)} = {self.words.formula(node)}: {result}.")

    def _computed(self, node: Node) -> tuple[Change, ...]:
        value = self.words.value(node)
        return (Change(node.element, "value", value), Change(node.element, "status", "computed"))

    # -------------------------------------------------------- the turn

    def tell_turn(self) -> None:
        """From here on the order is flipped, and each value waits for its consumers."""
        changes = []
        for node in self.graph.nodes:
            if node.id in self.pending:
                changes.append(Change(node.element, "pending", self.pending[node.id]))
                changes.append(Change(node.element, "status", "waiting"))
            else:
                changes.append(Change(node.element, "status", "dim"))
        changes += [Change(edge.element, "status", "idle") for edge in self.graph.edges]
        shared = [node for node in self.graph.nodes if self.pending.get(node.id, 0) > 1]
        counts = listed([f"{self.words.name(node)} for {self.pending[node.id]}" for node in shared])
        sentence = (
            "Now the order is flipped: a value may go on only when every consumer has sent its contribution"
            + (f" ({counts})." if shared else ".")
        )
        self.step("turn", "turn", sentence, changes=tuple(changes), note="What needs no gradient is dimmed.")
        self.close(sentence)

    # -------------------------------------------------------- backward

    def listen(self, event: str, target: Any, *values: Any) -> None:
        """Turn an event of the engine into steps."""
        if event == "ready":
            self._tell_ready(self.graph.nodes[self.ids[target]], *values)
        elif event == "contribution":
            self._tell_contribution(self.graph.nodes[self.ids[target]], target, *values)

    def _tell_ready(self, node: Node, gradient: Any) -> None:
        self._close_node()
        self.gradients[node.id] = summarize(gradient)
        text = self.gradients[node.id].text
        derivative = self.words.by(self.root, node)
        self.node, self.upstream = node, gradient
        self.sent: list[str] = []
        if node.id == self.root.id:
            sentence = f"The way back begins with a seed: {derivative} = {text}."
            self.step(
                "seed",
                "backward",
                sentence,
                formula=derivative,
                numbers=f"= {text}",
                touches=(node.element,),
                changes=(
                    Change(node.element, "gradient", text),
                    Change(node.element, "pending", 0),
                    Change(node.element, "status", "ready"),
                ),
            )
            self.close(sentence)
        name = self.words.name(node)
        uses = sum(1 for edge in self.graph.edges if edge.source == node.id and edge.target in self.pending)
        why = f"all {uses} contributions to it are in" if uses > 1 else "its gradient is final"
        self.step(
            "select",
            "backward",
            f"{name} is next: {why}.",
            touches=(node.element,),
            changes=(Change(node.element, "status", "current"),),
            note=self._why_not_another(node),
        )
        self.step(
            "upstream",
            "backward",
            f"The upstream gradient {derivative} = {text} enters the rule of {self.words.operation(node)}.",
            formula=f"g = {derivative}",
            numbers=f"= {text}",
            touches=(node.element,),
        )

    def _why_not_another(self, node: Node) -> str:
        for other in reversed(self.graph.nodes):
            if other.id != node.id and self.pending.get(other.id, 0) > 0 and self.contributions.get(other.id):
                waits = self.pending[other.id]
                return (
                    f"Why not {self.words.name(other)}? It has "
                    f"{counted(len(self.contributions[other.id]), 'contribution')}, "
                    f"and {waits} more {'is' if waits == 1 else 'are'} to come."
                )
        return "Of all values whose gradient is final, the newest goes first."

    def _tell_contribution(
        self, node: Node, origin: EngineNode, slot: int, raw: Any, made: Any, before: Any, total: Any
    ) -> None:
        edge = next(edge for edge in self.into[node.id] if edge.slot == slot)
        source = self.graph.nodes[edge.source]
        name, parent = self.words.name(node), self.words.name(source)
        wanted = self.words.by(self.root, source)
        text, sum_text = summarize(made).text, summarize(total).text
        local = self.words.local(node, edge, origin)
        both = (node.element, edge.element, source.element)
        self.step(
            "local",
            "backward",
            f"How {name} changes with {parent}: {local.sentence}.",
            formula=f"{self.words.by(node, source)} = {local.symbols}",
            numbers=local.numbers,
            touches=(edge.element, node.element),
        )
        upstream = summarize(self.upstream).text
        product = summarize(raw).text
        told = f"Upstream and local derivative in one, a vector–Jacobian product for {parent}: {product}."
        if local.value:
            product = f"{upstream} · {bracketed(local.value)} = {product}"
            told = f"Upstream times local: {product} is what {name} sends to {parent}."
        self.step(
            "product",
            "backward",
            told,
            formula=f"{self.words.by(self.root, node)} · {self.words.by(node, source)}",
            numbers=product,
            touches=(edge.element, node.element),
        )
        if np.shape(raw) != np.shape(made):
            small, large = shape_text(np.shape(made)), shape_text(np.shape(raw))
            self.step(
                "unbroadcast",
                "backward",
                f"{parent} of shape {small} was repeated to {large}: each element took part several times, "
                "so its contributions are summed.",
                formula=f"Σ over the repeated dimensions: {large} → {small}",
                numbers=text,
                touches=(edge.element, source.element),
            )
        signs = {1.0: "positive", -1.0: "negative", 0.0: "zero"}
        sign = signs.get(float(np.sign(made).item())) if np.size(made) == 1 else None
        self.step(
            "travel",
            "backward",
            f"The contribution {text} travels back along the edge to {parent}.",
            numbers=text,
            touches=both,
            changes=(Change(edge.element, "status", "backward"), Change(edge.element, "flow", text)),
            note=f"Its sign is {sign}." if sign else "",
        )
        self.contributions.setdefault(source.id, []).append(text)
        self._look_for_trouble(node, source, made)
        self.pending[source.id] -= 1
        waits = self.pending[source.id]
        still = f" {waits} more to come." if waits else " That was the last one."
        if before is None:
            sentence = f"The first contribution to {wanted} is {text}.{still}"
            numbers = f"= {sum_text}"
            note = ""
        else:
            old = summarize(before).text
            numbers = f"{old} + {bracketed(text)} = {sum_text}"
            sentence = f"It is added to what is there: {numbers}.{still}"
            note = f"With = in place of +=, {wanted} would be {text}, and {old} would be lost."
        self.step(
            "accumulate",
            "backward",
            sentence,
            formula=f"{wanted} += contribution",
            numbers=numbers,
            touches=(source.element, edge.element),
            changes=(
                Change(source.element, "gradient", sum_text),
                Change(source.element, "pending", waits),
                Change(source.element, "status", "waiting" if waits else "ready"),
            ),
            note=note,
        )
        self.sent.append(f"{text} to {parent}")
        if not waits and source.kind == "leaf":
            self.step(
                "leaf",
                "backward",
                f"{parent} is a leaf: its .grad is {sum_text}.",
                formula=f"{parent}.grad = {wanted}",
                numbers=f"= {sum_text}",
                touches=(source.element,),
                changes=(Change(source.element, "status", "final"), Change(source.element, "pending", None)),
            )

    def _close_node(self) -> None:
        """End the chapter of the node whose rule ran."""
        if not self.current:
            return
        final = (Change(self.node.element, "status", "final"), Change(self.node.element, "pending", None))
        last = self.current[-1]
        self.current[-1] = Step(**{**vars(last), "changes": (*last.changes, *final)})
        name = self.words.name(self.node)
        self.close(f"{name} passes its gradient on: {listed(self.sent) or 'to nobody'}.")

    def _look_for_trouble(self, node: Node, source: Node, made: Any) -> None:
        if not self.first_nan and np.isnan(made).any() and not np.isnan(self.upstream).any():
            maker = self.words.operation(node)
            self.first_nan = f"The first NaN is made by {maker}, on the way to {self.words.name(source)}."
        if not np.any(made) and np.any(self.upstream) and node.operation == "relu":
            self.silenced.append(self.words.name(node))

    # -------------------------------------------------------- the end

    def tell_finish(self, found: dict[Any, Any], differences: dict[Any, float]) -> None:
        """What each leaf got, beside a check that knows nothing of rules."""
        self._close_node()
        lines, agree, bent = [], True, False
        for leaf, gradient in found.items():
            node = self.graph.nodes[self.ids[leaf]]
            self.gradients[node.id] = summarize(gradient)
            parts = self.contributions.get(node.id, [])
            terms = " + ".join([parts[0], *map(bracketed, parts[1:])]) + " = " if len(parts) > 1 else ""
            line = f"{self.words.name(node)}.grad = {terms}{self.gradients[node.id].text}"
            if leaf in differences:
                # What rounding leaves of a sum that is 0 is shown as 0.
                noise = 1e-6 * float(np.abs(gradient).sum())
                total, slope = (
                    0.0 if abs(v) <= noise else float(v) for v in (np.sum(gradient), differences[leaf])
                )
                near = math.isclose(total, slope, rel_tol=1e-3, abs_tol=max(noise, 1e-6))
                agree, bent = agree and near, bent or (not near and math.isfinite(total))
                line += "" if np.size(gradient) == 1 else f" (sum {number(total)})"
                line += f"; by central differences {number(slope)}"
            lines.append(line)
        notes = [self.first_nan] if self.first_nan else []
        if self.silenced:
            notes.append(f"No gradient passes through {listed(self.silenced)}: relu was 0 for every element.")
        sentence = f"Done: {'; '.join(lines)}."
        if len(lines) > _LEAVES_IN_A_SENTENCE:
            checked = f" Central differences {'agree' if agree else 'do not agree'}." if differences else ""
            sentence = f"Done: all {len(lines)} leaves have their gradients.{checked}"
            notes.append("; ".join(lines) + ".")
        if bent:
            sentence += " See why they differ."
            notes.append(
                f"Central differences move a value by {STEP} to either side. Where the function bends within "
                "that, as relu does at 0, they see both sides, and the rule chooses one."
            )
        self.step("finish", "backward", sentence, note=" ".join(notes))
        self.close(sentence)


_LEAVES_IN_A_SENTENCE = 2


def _leads_to_root(edges: tuple[Edge, ...], root: int) -> set[int]:
    """The values that the root was made from, itself included."""
    found = {root}
    for edge in reversed(edges):  # edges are in the order of their targets
        if edge.target in found:
            found.add(edge.source)
    return found
