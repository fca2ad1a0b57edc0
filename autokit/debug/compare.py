"""Two computations side by side, with what differs lit: :func:`compare`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor
from autokit.graphs.capture import OPERATIONS_DRAWN, capture
from autokit.graphs.model import Graph, Group, Node, Summary
from autokit.graphs.view import View
from autokit.graphs.words import shape_text


def compare(first: Tensor | Graph, second: Tensor | Graph) -> Graph:
    """The graphs of two results side by side; boxes that differ stand out and say what the other side has.

    Operations are matched in the order in which they ran, then shapes, values and gradients of those that
    match. Below the picture stands what differs first: there to look, as the rest may follow from it.

    Parameters
    ----------
    first, second : Tensor or Graph
        Two results, or graphs as of ``ak.graph`` and ``ak.graph_of``.

    Returns
    -------
    Graph
        Of both, to show or to save.

    Examples
    --------
    >>> import autokit as ak
    >>> x = ak.tensor(2.0, requires_grad=True)
    >>> ak.compare(x.sin(), x.cos()).left_out.partition(".")[0]
    'What differs first: v1 is sin in first and cos in second'
    """
    sides = [_graph(first), _graph(second)]
    titles = [side.nodes[side.outputs[0]].name for side in sides]
    if titles[0] == titles[1]:
        titles = ["first", "second"]
    marks: list[dict[int, str]] = [{}, {}]
    told = ""
    for side, id, mark, sentence in _differences(sides, titles):
        marks[side][id] = mark
        told = told or sentence
    counts = f"{len(marks[0])} values of {titles[0]}, {len(marks[1])} of {titles[1]} differ"
    same = "Nothing differs: all operations and values agree."
    left = _moved(sides[0], titles[0], (0, 0), marks[0])
    right = _moved(sides[1], titles[1], (len(left.nodes), len(left.edges)), marks[1])
    return Graph(
        nodes=(*left.nodes, *right.nodes),
        edges=(*left.edges, *right.edges),
        groups=(*left.groups, *right.groups),
        outputs=(*left.outputs, *right.outputs),
        left_out=f"What differs first: {told}. {counts}." if told else same,
        view=View(lit=(*left.view.lit, *right.view.lit)),
    )


def _graph(side: Tensor | Graph) -> Graph:
    return side if isinstance(side, Graph) else capture(side, most=OPERATIONS_DRAWN).graph


def _moved(graph: Graph, title: str, by: tuple[int, int], marks: dict[int, str]) -> Graph:
    """One side in a frame of its own, its nodes and edges with ids so much further on."""
    shift, after = by
    nodes, edges = [], []
    for node in graph.nodes:
        module = f"{title}.{node.module}" if node.module else title
        marked = (marks[node.id],) if node.id in marks else ()
        nodes.append(replace(node, id=node.id + shift, label=node.name, module=module, marks=marked))
    for edge in graph.edges:
        source, target = edge.source + shift, edge.target + shift
        edges.append(replace(edge, id=edge.id + after, source=source, target=target))
    groups = [Group(title, "", tuple([node.id for node in nodes]))]
    for group in graph.groups:
        inside = tuple([id + shift for id in group.nodes])
        groups.append(replace(group, path=f"{title}.{group.path}", nodes=inside))
    lit = tuple([id + shift for id in marks])
    ends = tuple([id + shift for id in graph.outputs])
    return Graph(tuple(nodes), tuple(edges), tuple(groups), ends, view=View(lit=lit))


def _differences(sides: list[Graph], titles: list[str]) -> Iterator[Any]:
    """The side, the node, a mark for it, and a sentence for each node that differs, in their order."""
    first, second = (side.nodes for side in sides)
    kinds = [list(map(_kind, side)) for side in (first, second)]
    matcher = SequenceMatcher(None, kinds[0], kinds[1], autojunk=False)
    for _, start, stop, other, end in matcher.get_opcodes():
        pairs = list(zip(first[start:stop], second[other:end]))
        for one, two in pairs:
            here, there = _said(one), _said(two)
            if here == there:
                here, there = _fact(one, two)
            if here != there:
                told = f"{one.name} is {here} in {titles[0]} and {there} in {titles[1]}"
                yield 0, one.id, f"there {there}", told
                yield 1, two.id, f"there {here}", ""
        rest = first[start + len(pairs) : stop], second[other + len(pairs) : end]
        for side, alone in enumerate(rest):
            for node in alone:
                yield side, node.id, "only here", f"{node.name}, {_said(node)}, is only in {titles[side]}"


def _kind(node: Node) -> tuple[str, str]:
    """What two nodes have in common that match."""
    is_number = node.kind == "constant" and not node.shape
    return node.kind, node.label if is_number else node.operation


def _said(node: Node) -> str:
    return node.operation or f"a {node.kind}"


def _fact(one: Node, two: Node) -> tuple[str, str]:
    """What differs of two nodes of one operation, in words; the same words where nothing does."""
    if one.shape != two.shape:
        return f"of shape {shape_text(one.shape)}", f"of shape {shape_text(two.shape)}"
    if not _alike(one.value, two.value):
        return _text(one.value), _text(two.value)
    if not _alike(one.gradient, two.gradient):
        return f"with gradient {_text(one.gradient)}", f"with gradient {_text(two.gradient)}"
    return "", ""


def _text(summary: Summary | None) -> str:
    return "unknown" if summary is None else summary.text


def _alike(one: Summary | None, two: Summary | None) -> bool:
    """Whether the numbers are the same but for rounding; of large tensors as far as their extent tells."""
    if one is None or two is None:
        return one is two
    first, second = (_numbers(each) for each in (one, two))
    return bool(np.allclose(first, second, rtol=1e-5, equal_nan=True))


def _numbers(summary: Summary) -> np.ndarray:
    extent = summary.minimum, summary.maximum, summary.mean
    return np.array(summary.values or extent, float)
