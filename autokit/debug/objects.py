"""A learner's own engine in pictures: :func:`graph_of` makes a graph of objects that are no tensors.

All it asks of an object is what it was computed from. Values and gradients are shown as far as the objects
have them. What each operation sends back is known where they bring a ``_backward`` of their own, as
micrograd's do: it runs once more, from the end on, and the gradients are then put back as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from autokit.engine.operation import OPERATIONS, Operation
from autokit.graphs.backward import Backward
from autokit.graphs.forward import tell_forward, tell_turn
from autokit.graphs.model import Account, Edge, Graph, Node, Summary, Timeline
from autokit.graphs.names import namespaces_in_sight
from autokit.graphs.outcome import accounts, tell_finish
from autokit.graphs.script import Script
from autokit.graphs.story import before_the_first_step
from autokit.graphs.summary import summarize
from autokit.graphs.words import Words, fill

_USUAL = {
    "parents": ("_prev", "parents", "children"),
    "data": ("data", "value"),
    "grad": ("grad", "gradient"),
    "operation": ("_op", "op"),
    "label": ("label", "name"),
}
"""Where learners keep these, as a rule; the first that an object has is taken."""

_SIGNS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow", "@": "matmul"}


@dataclass(frozen=True, repr=False)
class OwnGraph(Graph):
    """The graph of a learner's own objects; ``ak.record`` tells its story, and ``ak.animate`` plays it.

    ``sent`` has for each edge what comes back along it; it is empty where the objects do not tell that.
    """

    sent: tuple[Any, ...] = ()

    def told(self) -> Timeline:
        """Its story, forward and, as far as the objects tell it, backward."""
        script = Script()
        ends = _tell(self, script)
        start = before_the_first_step(self)
        return Timeline(self, tuple(script.steps), tuple(script.chapters), start, tuple(ends))


def graph_of(
    value: Any,
    *,
    parents: str | Callable[[Any], Any] | None = None,
    data: str | Callable[[Any], Any] | None = None,
    grad: str | Callable[[Any], Any] | None = None,
) -> OwnGraph:
    """How ``value``, an object of an engine of your own, was computed: a graph to draw and to play.

    Parameters
    ----------
    value : object
        The end of the computation.
    parents, data, grad : str or callable, optional
        The attributes that hold what an object was computed from, its value and its gradient, or functions
        that find them. Left out, it is the first that there is of ``_prev``, ``parents``, ``children``;
        ``data``, ``value``; ``grad``, ``gradient``. Operations are read from ``_op`` or ``op``, names from
        ``label``, ``name`` or your variables.

    Returns
    -------
    Graph
        Show it, or play it: ``ak.animate(ak.graph_of(loss))``.

    Raises
    ------
    TypeError
        If the object does not say what it was computed from.

    Examples
    --------
    >>> import autokit as ak
    >>> class Value:
    ...     def __init__(self, data, parents=(), op=""):
    ...         self.data, self.parents, self.op, self.grad = data, parents, op, 0.0
    ...
    ...     def __mul__(self, other):
    ...         return Value(self.data * other.data, (self, other), "*")
    >>> a, b = Value(2.0), Value(-3.0)
    >>> [(node.name, node.formula, node.value.text) for node in ak.graph_of(a * b).nodes][-1][1]
    'a · b'
    """
    asked = {"parents": parents, "data": data, "grad": grad}
    get = {fact: _getter(value, fact, asked.get(fact)) for fact in _USUAL}
    return _Objects(value, get).graph()


def _getter(value: Any, fact: str, asked: Any) -> Any:
    """The function that finds ``fact``, or the attribute that holds it."""
    if callable(asked):
        return asked
    names = _USUAL[fact] if asked is None else (asked,)
    name = next((each for each in names if hasattr(value, each)), names[0])
    if fact == "parents" and not hasattr(value, name):
        raise TypeError(f"a {type(value).__name__} has no {name}: say what it comes from by parents=")
    return name


class _Objects:
    """The objects behind one of them, in topological order, and what is known of each."""

    def __init__(self, end: Any, get: dict[str, Any]) -> None:
        self.get_by = get
        self.names: dict[int, str] = {}
        for namespace in namespaces_in_sight():
            for name, value in namespace.items():
                self.names.setdefault(id(value), name)
        self.order: list[Any] = []
        self.places: dict[int, int] = {}
        self._sort(end)

    def get(self, fact: str, value: Any) -> Any:
        """What ``value`` has of a fact; None where it lacks that."""
        by = self.get_by[fact]
        return by(value) if callable(by) else getattr(value, by, None)

    def parents(self, value: Any) -> list[Any]:
        """What ``value`` was computed from; a set has no order, so what its members show decides."""
        found = self.get("parents", value)
        if isinstance(found, set | frozenset):
            found = sorted(found, key=self._as_shown)
            if len(found) == 1 and self.get("operation", value) in ("+", "*"):
                # x·x: a set cannot say that it has x twice
                return found * 2
        return list(found or ())

    def _as_shown(self, value: Any) -> tuple[str, str]:
        return self._label(value) or "~", repr(self.get("data", value))

    def _label(self, value: Any) -> str:
        return str(self.get("label", value) or self.names.get(id(value), ""))

    def _sort(self, end: Any) -> None:
        """Each after what it was computed from, without recursion: a chain may be long."""
        stack = [(end, False)]
        while stack:
            value, is_done = stack.pop()
            if is_done:
                self.places[id(value)] = len(self.order)
                self.order.append(value)
            elif id(value) not in self.places:
                self.places[id(value)] = -1
                stack.append((value, True))
                stack += [(each, False) for each in reversed(self.parents(value))]

    # -------------------------------------------------------- as plain data

    def graph(self) -> OwnGraph:
        """All that they tell."""
        edges: list[Edge] = []
        for target, value in enumerate(self.order):
            for slot, parent in enumerate(self.parents(value)):
                source = self.places[id(parent)]
                edges.append(Edge(len(edges), source, target, slot, "", "", True))
        nodes = [self._node(place, value) for place, value in enumerate(self.order)]
        end = nodes[-1].gradient
        # A gradient of 0 at the end was not computed yet.
        if end is None or not any(end.values or ()):
            nodes = [replace(node, gradient=None) for node in nodes]
        words = words_of(Graph(tuple(nodes), tuple(edges)))
        for place in words.operands:
            nodes[place] = replace(nodes[place], formula=words.formula(nodes[place]))
        ends = (len(nodes) - 1,)
        return OwnGraph(tuple(nodes), tuple(edges), outputs=ends, sent=self._sent(edges))

    def _node(self, id: int, value: Any) -> Node:
        data, is_computed = self.get("data", value), bool(self.parents(value))
        found = _summary(data)
        called = str(self.get("operation", value) or "?") if is_computed else ""
        rule, _ = _rule_of(called)
        return Node(
            id,
            "operation" if is_computed else "leaf",
            operation=rule.name if rule else called,
            symbol=rule.symbol if rule else called,
            backward=called,
            label=self._label(value),
            shape=found.shape if found else (),
            dtype=found.dtype if found and hasattr(data, "dtype") else "",
            value=found,
            gradient=_summary(self.get("grad", value)),
            requires_grad=True,
            saved=("what it needs",) if is_computed else (),
        )

    def _sent(self, edges: list[Edge]) -> tuple[Any, ...]:
        """For each edge what the objects' own ``_backward`` adds; every gradient is put back."""
        grad = self.get_by["grad"]
        computed = [value for value in self.order if self.parents(value)]
        if callable(grad) or not all(hasattr(value, "_backward") for value in computed):
            return ()
        kept = [getattr(value, grad, None) for value in self.order]
        into: dict[int, list[Edge]] = {}
        for edge in edges:
            into.setdefault(edge.target, []).append(edge)
        sent = {}
        try:
            for value in self.order:
                setattr(value, grad, np.zeros(np.shape(self.get("data", value))))
            # The last one is the end.
            setattr(value, grad, getattr(value, grad) + 1.0)
            for value in reversed(computed):
                arriving = into[self.places[id(value)]]
                sources = [edge.source for edge in arriving]
                before = [_wide(getattr(self.order[source], grad)) for source in sources]
                value._backward()
                for edge, old in zip(arriving, before):
                    # Of x·x, whose two arrows begin at one box, each brings a half.
                    new = _wide(getattr(self.order[edge.source], grad))
                    sent[edge.id] = ((new - old) / sources.count(edge.source)).tolist()
        finally:
            for value, gradient in zip(self.order, kept):
                setattr(value, grad, gradient)
        return tuple([sent[edge.id] for edge in edges])


def _wide(number: Any) -> np.ndarray:
    return np.array(number, np.float64)


def _summary(number: Any) -> Summary | None:
    return None if number is None else summarize(np.asarray(number))


# ---------------------------------------------------------------- in words


def _rule_of(called: str) -> tuple[Operation | None, str]:
    """The operation of autokit that is called so, with a number that belongs to the name, as in ``**2``."""
    sign = called.rstrip("0123456789.-") or called
    return OPERATIONS.get(_SIGNS.get(sign, called.lower())), called.removeprefix(sign)


def words_of(graph: Graph) -> Words:
    """The wording of the graph of a learner's objects."""
    words = Words(graph, ())
    words.origins = [_Ran(node, len(words.operands.get(node.id, ()))) for node in graph.nodes]
    return words


class _Ran:
    """What the wording of a graph asks of an operation that ran."""

    # A learner's objects do not tell them.
    settings: dict[str, Any] = {}  # noqa: RUF012
    operation = SimpleNamespace(variadic=False)

    def __init__(self, node: Node, count: int) -> None:
        self.places = range(count)
        names = [f"{{{self.operand_name(place)}}}" for place in self.places]
        rule, given = _rule_of(node.backward)
        self.formula = f"{node.operation}({', '.join(names)})"
        if rule is not None and len(rule.operands) == count + bool(given):
            operands = dict(zip(rule.operands, [*names, given]))
            self.formula = fill(rule.formula, {**operands, "out": "{out}"})

    def operand_name(self, place: int) -> str:
        """What the formula calls the operand at ``place``."""
        return f"x{place}"


def _tell(graph: OwnGraph, script: Script) -> list[Account]:
    """The story of a learner's own objects, forward and, as far as they tell it, backward."""
    words = words_of(graph)
    tell_forward(script, words)
    script.brief = True  # their rules are not known, only what these send
    captured: Any = SimpleNamespace(ids=range(len(graph)), concerned=lambda _, id: id)
    backward = Backward(script, words, captured, graph.nodes[-1])
    if not graph.sent:
        return []
    tell_turn(script, words, backward.pending)
    arrived: dict[int, Any] = {len(graph) - 1: np.ones(graph.nodes[-1].shape)}
    for id in reversed(words.operands):
        backward("ready", id, arrived[id])
        for edge in words.operands[id]:
            before, sent = arrived.get(edge.source), np.array(graph.sent[edge.id])
            arrived[edge.source] = sent if before is None else before + sent
            backward("contribution", id, edge.slot, sent, sent, before, arrived[edge.source])
    leaves = [node.id for node in graph.nodes if node.kind == "leaf"]
    ends = accounts(backward, {id: arrived[id] for id in leaves}, {}, {})
    tell_finish(backward, ends, [])
    return ends
