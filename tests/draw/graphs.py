"""Graphs and timelines built by hand, for the tests of the pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autokit.graphs.model import Change, Chapter, Edge, Graph, Group, Node, Step, Summary, Timeline
from autokit.graphs.summary import summarize

SYMBOLS = {"mul": "×", "add": "+", "sub": "−", "matmul": "@", "sum": "Σ"}
FORMULAS = {"mul": "{} · {}", "add": "{} + {}", "sub": "{} − {}", "matmul": "{} @ {}", "sum": "Σ {}"}


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
        label: str = "",
        value: Any = None,
        gradient: Any = None,
        constant: bool = False,
        module: str = "",
        symbol: str | None = None,
    ) -> int:
        id = len(self.nodes)
        learns = not constant if not operation else any(self.nodes[i].requires_grad for i in inputs)
        summary = _summary(value)
        self.nodes.append(
            Node(
                id=id,
                kind="operation" if operation else "constant" if constant else "leaf",
                operation=operation,
                symbol=SYMBOLS.get(operation, operation) if symbol is None else symbol,
                formula=_formula(operation, [self.nodes[i].name for i in inputs]),
                backward=f"{operation.title()}Backward0" if operation else "",
                label=label,
                shape=summary.shape if summary else (),
                dtype=summary.dtype if summary else "float32",
                value=summary,
                gradient=_summary(gradient),
                requires_grad=learns,
                module=module,
            )
        )
        for slot, source in enumerate(inputs):
            grad = self.nodes[source].requires_grad
            self.edges.append(Edge(len(self.edges), source, id, slot, ("input", "other")[slot % 2], "", grad))
        return id

    def graph(self, left_out: str = "") -> Graph:
        nodes = tuple(self.nodes)
        return Graph(
            nodes, tuple(self.edges), tuple(self.groups), (len(nodes) - 1,) if nodes else (), left_out
        )


def _formula(operation: str, names: list[str]) -> str:
    if operation in FORMULAS and FORMULAS[operation].count("{}") == len(names):
        return FORMULAS[operation].format(*names)
    return f"{operation}({', '.join(names)})" if operation else ""


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

    def grid(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    x = b.add(constant=True, label="x", value=grid(4, 8))
    w1 = b.add(label="net.0.weight", value=grid(6, 8), gradient=grid(6, 8), module="net.0")
    t1 = b.add("t", (w1,), value=grid(8, 6), gradient=grid(8, 6), module="net.0")
    m1 = b.add("matmul", (x, t1), value=grid(4, 6), gradient=grid(4, 6), module="net.0")
    b1 = b.add(label="net.0.bias", value=grid(6), gradient=grid(6), module="net.0")
    a1 = b.add("add", (m1, b1), value=grid(4, 6), gradient=grid(4, 6), module="net.0")
    h = b.add("relu", (a1,), label="h", value=np.maximum(grid(4, 6), 0), gradient=grid(4, 6), module="net.1")
    w2 = b.add(label="net.2.weight", value=grid(3, 6), gradient=grid(3, 6), module="net.2")
    t2 = b.add("t", (w2,), value=grid(6, 3), gradient=grid(6, 3), module="net.2")
    m2 = b.add("matmul", (h, t2), value=grid(4, 3), gradient=grid(4, 3), module="net.2")
    b2 = b.add(label="net.2.bias", value=grid(3), gradient=grid(3), module="net.2")
    logits = b.add("add", (m2, b2), label="logits", value=grid(4, 3), gradient=grid(4, 3), module="net.2")
    target = b.add(constant=True, label="y", value=np.array([0.0, 2.0, 1.0, 1.0]))
    b.add("cross_entropy", (logits, target), label="loss", value=1.0986, gradient=1.0)
    b.groups = [
        Group("net", "Sequential", tuple(range(1, 12))),
        Group("net.0", "Linear", (w1, t1, m1, b1, a1)),
        Group("net.1", "ReLU", (h,)),
        Group("net.2", "Linear", (w2, t2, m2, b2, logits)),
    ]
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
    initial: list[Change] = []
    for node in graph.nodes:
        initial += [
            Change(node.element, "status", "hidden"),
            Change(node.element, "value", ""),
            Change(node.element, "gradient", "—" if node.requires_grad else ""),
            Change(node.element, "pending", None),
        ]
    for edge in graph.edges:
        initial += [Change(edge.element, "status", "idle"), Change(edge.element, "flow", "")]
    steps: list[Step] = []
    for node in graph.nodes:
        changes = [Change(node.element, "status", "computed")]
        changes.append(Change(node.element, "value", node.value.text if node.value else "not kept"))
        changes += [Change(e.element, "status", "forward") for e in graph.incoming(node.id)]
        steps.append(Step("value", "forward", 0, f"{node.name} is computed.", changes=tuple(changes)))
    turn = [Change(n.element, "status", "waiting" if n.requires_grad else "dim") for n in graph.nodes] + [
        Change(n.element, "pending", len(graph.outgoing(n.id))) for n in graph.nodes if n.requires_grad
    ]
    steps.append(Step("turn", "turn", 1, "Now backwards.", changes=tuple(turn)))
    for node in reversed(graph.nodes):
        if not node.requires_grad:
            continue
        gradient = node.gradient.text if node.gradient else "1.0"
        changes = [Change(node.element, "status", "final"), Change(node.element, "gradient", gradient)]
        changes.append(Change(node.element, "pending", None))
        for e in graph.incoming(node.id):
            if e.requires_grad:
                changes += [Change(e.element, "status", "backward"), Change(e.element, "flow", gradient)]
        steps.append(Step("travel", "backward", 2, f"{node.name} sends.", changes=tuple(changes)))
    n = len(graph.nodes)
    chapters = (
        Chapter(0, n - 1, "Forward."),
        Chapter(n, n, "Turn."),
        Chapter(n + 1, len(steps) - 1, "Backward."),
    )
    return Timeline(graph, tuple(steps), chapters, tuple(initial))


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
        b.add(
            operation,
            inputs,
            label=draw(names),
            value=draw(values),
            gradient=draw(values),
            constant=kind == "constant",
        )
    ids = st.lists(st.integers(0, len(b.nodes) - 1), unique=True, max_size=4)
    paths = draw(st.lists(st.sampled_from(["net", "net.0", "net.0.a", "net.1", "head"]), unique=True))
    b.groups = [Group(path, draw(names), tuple(draw(ids))) for path in paths]
    return b.graph(draw(names))
