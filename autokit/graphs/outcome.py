"""The end of a story: the gradient of each leaf with a check, or what went wrong, and where that began."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.graphs.backward import Backward
from autokit.graphs.check import STEP
from autokit.graphs.model import Account, Edge, Node, Trouble
from autokit.graphs.summary import bracketed, in_reach, number, summarize
from autokit.graphs.words import counted, listed

_VANISHED = 1e-4
"""A gradient is said to vanish that is smaller than this part of the seed."""

_LEAVES_IN_A_SENTENCE = 2


def accounts(
    backward: Backward, found: dict[Any, Any], differences: dict[Any, np.ndarray], assigned: dict[int, Any]
) -> list[Account]:
    """For each leaf that was reached where its gradient came from, and whether the check agrees."""
    told = []
    for leaf, gradient in found.items():
        id = backward.captured.ids[leaf]
        backward.gradients[id] = summarize(gradient)
        parts = backward.contributions.get(id, [])
        difference, agrees = ("", None)
        if leaf in differences:
            difference, agrees = _compared(in_reach(gradient), differences[leaf])
        told.append(
            Account(
                node=id,
                edges=tuple(edge.id for edge, _ in parts),
                contributions=tuple(summarize(sent).text for _, sent in parts),
                gradient=backward.gradients[id].text,
                difference=difference,
                agrees=agrees,
                assigned=summarize(assigned[id]).text if id in assigned else "",
            )
        )
    return told


def _compared(gradient: np.ndarray, slope: np.ndarray) -> tuple[str, bool]:
    """The central difference as text, and whether it is the gradient but for rounding."""
    noise = 1e-6 * float(np.abs(gradient).sum())
    own = gradient.astype(np.float64)
    of_sum = slope.shape != own.shape
    if of_sum:
        own = to_numpy(own.sum())
    # What rounding leaves of a sum that is 0 is shown as 0.
    own, slope = (np.where(np.abs(each) <= noise, 0.0, each) for each in (own, slope))
    near = np.isclose(slope, own, rtol=1e-3, atol=max(noise, 1e-5), equal_nan=True)
    text = f"{number(slope)} for the sum, {number(own)}" if of_sum else summarize(slope).text
    return text, bool(near.all())


def tell_finish(backward: Backward, accounts: list[Account], troubles: list[Trouble]) -> None:
    """The last step: what each leaf got, and what to worry about."""
    backward.close_node()
    lines = []
    for account in accounts:
        parts = account.contributions
        terms = " + ".join([parts[0], *map(bracketed, parts[1:])]) + " = " if 1 < len(parts) <= 4 else ""
        line = f"{backward.nodes[account.node].name}.grad = {terms}{account.gradient}"
        lines.append(line + (f"; by central differences {account.difference}" if account.difference else ""))
    checked = [account.agrees for account in accounts if account.agrees is not None]
    notes = [trouble.sentence for trouble in troubles]
    sentence = f"Done: {'; '.join(lines)}."
    if len(lines) > _LEAVES_IN_A_SENTENCE:
        agree = f" Central differences {'agree' if all(checked) else 'do not agree'}." if checked else ""
        sentence = f"Done: all {len(lines)} leaves have their gradients.{agree}"
    if any(a.agrees is False and "nan" not in a.gradient and "inf" not in a.gradient for a in accounts):
        sentence += " See why they differ."
        notes.append(
            f"Central differences move a value by {STEP} to either side. Where the function bends within "
            "that, as relu does at 0, they see both sides, and the rule chooses one."
        )
    backward.script.step("finish", "backward", sentence, note=" ".join(notes))
    backward.script.close(sentence)


# ---------------------------------------------------------------- what went wrong


def troubles(backward: Backward) -> list[Trouble]:
    """NaN and infinity, silent units and vanishing gradients, each at the operation where it began."""
    return [*_not_finite(backward), *_silent(backward), *_vanishing(backward)]


def _not_finite(backward: Backward) -> Iterator[Trouble]:
    words, nodes = backward.words, backward.nodes
    for kind, called in (("nan", "NaN"), ("infinite", "infinity")):
        for node in nodes:
            sources = [nodes[edge.source] for edge in words.operands.get(node.id, ())]
            bad = [source for source in (node, *sources) if source.value and getattr(source.value, kind)]
            if sources and bad == [node]:
                told = f"The first {called} is made by {words.operation(node)}, as the value of {node.name}."
                yield Trouble(kind, node.id, told)
                return
        for node in reversed(nodes):
            arrived = backward.arrived.get(node.id)
            if arrived is None or not _none_is(arrived, kind):
                continue
            for edge, sent in _sent_by(backward, node):
                if not _none_is(sent, kind):
                    to = nodes[edge.source].name
                    told = f"The first {called} is made by {words.operation(node)}, on the way to {to}."
                    yield Trouble(kind, node.id, told)
                    return


def _none_is(array: Any, kind: str) -> bool:
    return not (np.isnan(array) if kind == "nan" else np.isinf(array)).any()


def _sent_by(backward: Backward, node: Node) -> Iterator[tuple[Edge, np.ndarray]]:
    for edge in backward.words.operands.get(node.id, ()):
        for along, sent in backward.contributions.get(edge.source, ()):
            if along.id == edge.id:
                yield edge, sent


def _silent(backward: Backward) -> Iterator[Trouble]:
    """Units whose relu was 0 for the whole batch, so that they learn nothing of it."""
    silent: list[Node] = []
    for node in backward.nodes:
        if node.operation != "relu" or node.id not in backward.arrived:
            continue
        if all(not sent.any() for _, sent in _sent_by(backward, node)):
            if backward.arrived[node.id].any():
                silent.append(node)
            continue
        value = node.value
        if value is None or value.values is None or len(node.shape) < 2:
            continue
        units = np.asarray(value.values, np.float64).reshape(node.shape)
        axes = tuple(axis for axis in range(units.ndim) if axis != 1)
        count = int((~units.any(axis=axes)).sum())
        if count:
            told = (
                f"No gradient passes through {count} of the {units.shape[1]} units of {node.name}: "
                "they are silent on this batch."
            )
            yield Trouble("silent", node.id, told)
    if silent:
        names = listed([node.name for node in silent])
        told = f"No gradient passes through {names}: relu is silent on this batch, 0 for every element."
        yield Trouble("silent", silent[0].id, told)


def _vanishing(backward: Backward) -> Iterator[Trouble]:
    """The leaf whose gradient lost most on its way, if that is nearly all, and where the loss began."""
    seed = _size(backward.arrived[backward.root.id])
    sizes = {
        id: _size(*[sent for _, sent in parts])
        for id, parts in backward.contributions.items()
        if backward.nodes[id].kind == "leaf"
    }
    if not math.isfinite(seed) or not seed:
        return
    lost = {id: size for id, size in sizes.items() if 0 < size < _VANISHED * seed}
    if not lost:
        return
    leaf = min(lost, key=lambda id: lost[id])
    # The strongest contribution's way, from the leaf up to the output; then told in the order of the pass.
    way, at = [], leaf
    while at != backward.root.id:
        edge, sent = max(backward.contributions[at], key=lambda part: _size(part[1]))
        way.append((backward.nodes[edge.target], _size(sent)))
        at = edge.target
    shrinking, size = [], seed
    for node, passed in reversed(way):
        if passed < 0.5 * size:
            shrinking.append((node, passed / size))
        size = passed
    if shrinking:
        node, part = shrinking[0]
        others = f", and {counted(len(shrinking) - 1, 'operation')} after it shrink it further"
        yield Trouble(
            "vanishing",
            node.id,
            f"The gradient vanishes on the way to {backward.nodes[leaf].name}: {number(lost[leaf] / seed)} "
            f"of it arrives. It begins at {backward.words.operation(node)} {node.name}, which passes on "
            f"{number(part)} of what it gets{others if len(shrinking) > 1 else ''}.",
        )


def _size(array: Any, *more: Any) -> float:
    return float(np.abs(sum(more, array)).sum())
