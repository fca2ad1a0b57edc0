"""Graphs and timelines built by hand, for the tests of the pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autokit.graphs.model import Change, Chapter, Edge, Graph, Group, Node, Step, Summary, Timeline
from autokit.graphs.summary import summarize

FORMULAS = {"mul": "{} · {}", "add": "{} + {}", "sub": "{} − {}", "matmul": "{} @ {}", "sum": "Σ {}"}
SYMBOLS = {"mul": "×", "add": "+", "sub": "−", "matmul": "@", "sum": "Σ"}


class Builder:
    """Adds nodes in topological order and the edges that come with them."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.groups: list[Group] = []

    def add(
        self,
        operation: str = "",
        inputs: Sequence[int] = (),
        *,
        value: Any = None,
        gradient: Any = None,
        constant: bool = False,
        **facts: str,
    ) -> int:
        id, summary = len(self.nodes), _summary(value)
        learns = any(self.nodes[i].requires_grad for i in inputs) if operation else not constant
        names = [self.nodes[i].name for i in inputs]
        formula = FORMULAS.get(operation, "")
        if operation and formula.count("{}") != len(inputs):
            formula = f"{operation}({', '.join(['{}'] * len(inputs))})"
        self.nodes.append(
            Node(
                id=id,
                kind="operation" if operation else "constant" if constant else "leaf",
                operation=operation,
                symbol=SYMBOLS.get(operation, operation),
                formula=formula.format(*names),
                shape=summary.shape if summary else (),
                dtype=summary.dtype if summary else "float32",
                value=summary,
                gradient=_summary(gradient),
                requires_grad=learns,
                **facts,
            )
        )
        for slot, source in enumerate(inputs):
            learns = self.nodes[source].requires_grad
            self.edges.append(
                Edge(len(self.edges), source, id, slot, ("input", "other")[slot % 2], "", learns)
            )
        return id

    def graph(self, left_out: str = "") -> Graph:
        ends = (len(self.nodes) - 1,) if self.nodes else ()
        return Graph(tuple(self.nodes), tuple(self.edges), tuple(self.groups), ends, left_out)


def _summary(value: Any) -> Summary | None:
    if value is None or isinstance(value, Summary):
        return value
    return summarize(np.asarray(value, dtype=np.float32 if not isinstance(value, int) else np.int64))


def product(gradients: bool = True) -> Graph:
    """c = a * b with a = 15 and b = 20."""
    b = Builder()
    x = b.add(label="a", value=15.0, gradient=20.0 if gradients else None)
    y = b.add(label="b", value=20.0, gradient=15.0 if gradients else None)
    b.add("mul", (x, y), label="c", value=300.0, gradient=1.0 if gradients else None)
    return b.graph()


def diamond() -> Graph:
    """d = a * a + a · 3 with a = 2: two edges from a to one node, and a fan-out."""
    b = Builder()
    a = b.add(label="a", value=2.0, gradient=7.0)
    square = b.add("mul", (a, a), value=4.0, gradient=1.0)
    three = b.add(constant=True, value=3)
    triple = b.add("mul", (a, three), value=6.0, gradient=1.0)
    b.add("add", (square, triple), label="d", value=10.0, gradient=1.0)
    return b.graph()


def mlp() -> Graph:
    """A network of two layers, with its modules."""
    rng = np.random.default_rng(0)
    b = Builder()

    def add(operation: str, inputs: Sequence[int], label: str, module: str, *shape: int) -> int:
        values = [rng.normal(size=shape).astype(np.float32) for _ in range(2)]
        return b.add(operation, inputs, label=label, value=values[0], gradient=values[1], module=module)

    last = b.add(label="x", value=rng.normal(size=(4, 8)), constant=True)
    for module, before, wide in (("net.0", 8, 6), ("net.2", 6, 3)):
        weight = add("", (), f"{module}.weight", module, wide, before)
        turned = add("t", (weight,), "", module, before, wide)
        product = add("matmul", (last, turned), "", module, 4, wide)
        bias = add("", (), f"{module}.bias", module, wide)
        last = add("add", (product, bias), "logits" if wide == 3 else "", module, 4, wide)
        held = (weight, turned, product, bias, last)
        b.groups.append(Group(module, "Linear", held))
        if wide == 6:
            last = add("relu", (last,), "h", "net.1", 4, wide)
            b.groups.append(Group("net.1", "ReLU", (last,)))
    b.groups.insert(0, Group("net", "Sequential", tuple(range(1, last + 1))))
    target = b.add(label="y", value=np.array([0.0, 2.0, 1.0, 1.0]), constant=True)
    b.add("cross_entropy", (last, target), label="loss", value=1.0986, gradient=1.0)
    return b.graph()


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b ]]> -->",
    "שלום עולם",
    "\u202egnp.exe",
    "tab\tnew\nline\x07\x00\x1b[31m",
    "lone \ud800 surrogate",
    "損失関数の値",
    "👩‍👩‍👧‍👦 family é́",
    "encoder.layers.11.self_attention.output_projection.weight",
    "W" * 400,
)
"""Names that a picture must show as what they are."""


def hostile() -> Graph:
    b = Builder()
    ids = [b.add(label=name, value=float(i)) for i, name in enumerate(HOSTILE)]
    b.add("stack", ids, label="</title><!-- & -->", value=np.arange(len(ids)), gradient=None)
    return b.graph("<b>left & out</b>")


def odd_values() -> Graph:
    """NaN, infinities, empty tensors, nothing kept, numbers of all sizes."""
    b = Builder()
    x = b.add(label="x", value=[[1.0, float("nan"), -2.0], [float("inf"), 0.0, -float("inf")]])
    e = b.add(label="nothing", value=np.zeros((0, 3)), gradient=np.zeros((0, 3)))
    n = b.add(label="nan", value=float("nan"), gradient=float("inf"))
    z = b.add(label="zeros", value=np.zeros((3, 5)), gradient=np.full((3, 5), np.nan))
    v = b.add(label="long", value=np.sin(np.arange(1024) / 40))
    t = b.add(label="tiny", value=1e-30, gradient=-1e30)
    b.add("cat", (x, e, n, z, v, t), label="out", value=None)
    return b.graph()


def layers(count: int) -> Graph:
    """A graph of ``count`` nodes that fans out and in, as a long computation does."""
    b = Builder()
    previous = [b.add(label=f"w{i}", value=float(i), gradient=1.0) for i in range(min(4, count))]
    while len(b.nodes) < count:
        i = len(b.nodes)
        operation = ("mul", "add", "tanh", "sub")[i % 4]
        inputs = (previous[-1],) if operation == "tanh" else (previous[-1], previous[-1 - i % 4])
        previous.append(b.add(operation, inputs, value=i / 7, gradient=-i / 3))
    return b.graph()


def tangle(count: int) -> Graph:
    """A graph of ``count`` nodes in which nothing repeats."""
    lots = np.random.default_rng(0)
    b = Builder()
    for i in range(4):
        b.add(label=f"w{i}", value=float(i), gradient=1.0)
    while len(b.nodes) < count:
        operation = ("mul", "add", "tanh", "sub", "exp", "div", "log")[lots.integers(7)]
        b.add(operation, (len(b.nodes) - 1, int(lots.integers(len(b.nodes)))), value=0.5, gradient=-0.5)
    return b.graph()


def blocks(count: int) -> Graph:
    """A network of ``count`` equal blocks of two layers."""
    b = Builder()
    last = b.add(constant=True, label="x", value=[1.0, 2.0])
    for i in range(count):
        held = []
        for j, operation in enumerate(("mul", "tanh")):
            module = f"blocks.{i}.{j}"
            weight = [b.add(label=f"{module}.weight", value=[0.5, 0.5], module=module)] if not j else []
            last = b.add(operation, (last, *weight), value=[0.5, 0.5], module=module)
            held += [*weight, last]
            b.groups.append(Group(module, ("Scale", "Tanh")[j], (*weight, last)))
        b.groups.append(Group(f"blocks.{i}", "Block", tuple(held)))
    b.groups.append(Group("blocks", "Sequential", tuple(node.id for node in b.nodes if node.module)))
    return b.graph()


def chain(count: int) -> Graph:
    b = Builder()
    last = b.add(label="x", value=1.0)
    for _ in range(count - 1):
        last = b.add("tanh", (last,), value=0.5)
    return b.graph()


def timeline(graph: Graph) -> Timeline:
    """A plain story of ``graph``: values appear in order, then gradients against it."""
    initial = [
        Change(node.element, name, value)
        for node in graph.nodes
        for name, value in (
            *(("status", "hidden"), ("value", "")),
            *(("gradient", "—" if node.requires_grad else ""), ("pending", None)),
        )
    ]
    for edge in graph.edges:
        initial += [Change(edge.element, "status", "idle"), Change(edge.element, "flow", "")]
    steps: list[Step] = []
    for node in graph.nodes:
        changes = [Change(node.element, "status", "computed")]
        changes.append(Change(node.element, "value", node.value.text if node.value else "not kept"))
        changes += [Change(e.element, "status", "forward") for e in graph.incoming(node.id)]
        steps.append(Step("value", "forward", 0, f"{node.name} is computed.", changes=tuple(changes)))
    turn = [Change(n.element, "status", "waiting" if n.requires_grad else "dim") for n in graph.nodes]
    turn += [Change(n.element, "pending", len(graph.outgoing(n.id))) for n in graph.nodes if n.requires_grad]
    steps.append(Step("turn", "turn", 1, "Now backwards.", changes=tuple(turn)))
    for node in filter(lambda node: node.requires_grad, reversed(graph.nodes)):
        gradient = node.gradient.text if node.gradient else "1.0"
        changes = [Change(node.element, "status", "final"), Change(node.element, "gradient", gradient)]
        changes.append(Change(node.element, "pending", None))
        for e in graph.incoming(node.id):
            if e.requires_grad:
                changes += [Change(e.element, "status", "backward"), Change(e.element, "flow", gradient)]
        steps.append(Step("travel", "backward", 2, f"{node.name} sends.", changes=tuple(changes)))
    n = len(graph.nodes)
    told = ((0, n - 1, "Forward."), (n, n, "Turn."), (n + 1, len(steps) - 1, "Backward."))
    return Timeline(graph, tuple(steps), tuple(Chapter(*each) for each in told), tuple(initial))


EXAMPLES = {
    "product": product,
    "diamond": diamond,
    "mlp": mlp,
    "hostile": hostile,
    "odd_values": odd_values,
    "hundred": lambda: layers(100),
}


@st.composite
def drawn_graphs(draw: Callable[..., Any], most: int = 14, labels: bool = True) -> Graph:
    """Any small graph: fan-out, twin edges, several outputs, nested groups, names of any characters."""
    b = Builder()
    names = st.one_of(st.text(max_size=30), st.sampled_from(HOSTILE)) if labels else st.just("")
    values = st.one_of(
        st.none(),
        st.floats(width=32),
        st.lists(st.floats(width=32), max_size=12),
    )
    for i in range(draw(st.integers(1, most))):
        kind = draw(st.sampled_from(["leaf", "constant", "operation", "operation"])) if i else "leaf"
        inputs = draw(st.lists(st.integers(0, i - 1), min_size=1, max_size=3)) if kind == "operation" else []
        operation = draw(st.sampled_from(["mul", "add", "tanh", "log_softmax"])) if inputs else ""
        facts = {"label": draw(names), "value": draw(values), "gradient": draw(values)}
        b.add(operation, inputs, constant=kind == "constant", **facts)
    ids = st.lists(st.integers(0, len(b.nodes) - 1), unique=True, max_size=4)
    paths = draw(st.lists(st.sampled_from(["net", "net.0", "net.0.a", "net.1", "head"]), unique=True))
    b.groups = [Group(path, draw(names), tuple(draw(ids))) for path in paths]
    return b.graph(draw(names))
