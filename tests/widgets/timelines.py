"""Timelines made by hand, with numbers that can be checked by eye: no recorder, no engine."""

from __future__ import annotations

from autokit.graphs.model import (
    NOT_COMPUTED,
    Change,
    Chapter,
    Edge,
    Graph,
    Node,
    Source,
    Step,
    Summary,
    Timeline,
)
from autokit.graphs.summary import number

# fmt: off
# ruff: noqa: E501


def _scalar(value: float) -> Summary:
    return Summary(number(value), (), "float32", (value,), value, value, value)


def _leaf(id: int, label: str, value: float, gradient: float, code: str) -> Node:
    return Node(
        id, "leaf", "", "", "", "", label, (), "float32", _scalar(value), _scalar(gradient), True,
        source=Source("lesson.ipynb", id + 1, code),
    )


def product(a: str = "a", b: str = "b", c: str = "c") -> Timeline:
    """``c = a * b`` at 15 and 20: every kind of step, except the un-broadcasting that scalars never need."""
    graph = Graph(
        nodes=(
            _leaf(0, a, 15.0, 20.0, "a = torch.tensor(15.0, requires_grad=True)"),
            _leaf(1, b, 20.0, 15.0, "b = torch.tensor(20.0, requires_grad=True)"),
            Node(
                2, "operation", "mul", "×", "a · b", "MulBackward0", c, (), "float32", _scalar(300.0), _scalar(1.0),
                True, source=Source("lesson.ipynb", 3, "c = a * b"), saved=("a", "b"),
            ),
        ),
        edges=(Edge(0, 0, 2, 0, "a", "b", True), Edge(1, 1, 2, 1, "b", "a", True)),
        outputs=(2,),
    )
    nodes = [
        change
        for n in ("n0", "n1", "n2")
        for change in (
            Change(n, "status", "hidden"), Change(n, "value", ""), Change(n, "gradient", NOT_COMPUTED), Change(n, "pending", None),
        )
    ]
    edges = [change for e in ("e0", "e1") for change in (Change(e, "status", "idle"), Change(e, "flow", ""))]
    steps = [
        Step("input", "forward", 0, f"{a} is given: 15.0.", touches=("n0",), changes=(Change("n0", "status", "computed"), Change("n0", "value", "15.0"))),
        Step("input", "forward", 1, f"{b} is given: 20.0.", touches=("n1",), changes=(Change("n1", "status", "computed"), Change("n1", "value", "20.0"))),
        Step("operands", "forward", 2, f"{a} and {b} go into the multiplication.", "a · b", "15.0 · 20.0", ("n0", "n1", "e0", "e1"), (Change("e0", "status", "forward"), Change("e1", "status", "forward"))),
        Step("value", "forward", 2, f"{c} is their product, 300.0; both operands are saved for the way back.", "c = a · b", "15.0 · 20.0 = 300.0", ("n2",), (Change("n2", "status", "computed"), Change("n2", "value", "300.0")), "The derivative of a product by one factor is the other factor, so both must be kept."),
        Step("turn", "turn", 3, "Now the order is turned around: the last value computed is the first to learn its gradient.", touches=("n2",), changes=(Change("n0", "status", "waiting"), Change("n0", "pending", 1), Change("n1", "status", "waiting"), Change("n1", "pending", 1), Change("n2", "status", "waiting"), Change("n2", "pending", 0))),
        Step("seed", "backward", 4, f"The gradient of {c} by itself is 1.", "∂c/∂c", "1.0", ("n2",), (Change("n2", "status", "ready"), Change("n2", "gradient", "1.0"), Change("n2", "pending", None))),
        Step("select", "backward", 5, f"{c} is ready: nothing else will contribute to its gradient.", touches=("n2",), changes=(Change("n2", "status", "current"),), note=f"{a} and {b} still wait for their contribution."),
        Step("upstream", "backward", 5, f"What arrives at {c} is the upstream gradient 1.0.", "ḡ = ∂c/∂c", "1.0", ("n2",)),
    ]
    for edge, leaf, name, letter, other, value in (("e0", "n0", a, "a", "b", "20.0"), ("e1", "n1", b, "b", "a", "15.0")):
        steps += [
            Step("local", "backward", 5, f"If {name} grows a little, the product grows {value} times as much.", f"∂c/∂{letter} = {other}", value, ("n2", edge)),
            Step("product", "backward", 5, f"Upstream times local: what {name} is sent is 1.0 · {value} = {value}.", f"ḡ · {other}", f"1.0 · {value} = {value}", ("n2", edge)),
            Step("travel", "backward", 5, f"The contribution {value} goes back along the edge to {name}.", touches=(edge,), changes=(Change(edge, "status", "backward"), Change(edge, "flow", value))),
            Step("accumulate", "backward", 5, f"{name} adds it to what it has: 0 + {value} = {value}.", f"∂c/∂{letter} += ḡ · {other}", f"0 + {value} = {value}", (leaf,), (Change(leaf, "gradient", value), Change(leaf, "pending", 0), Change(leaf, "status", "ready")), "It adds because a value that is used twice gets a contribution from each use; = would keep only the last."),
        ]
    steps.append(Step("select", "backward", 5, f"{c} has sent all it had to send.", changes=(Change("n2", "status", "final"),)))
    for leaf, name, value in (("n1", b, "15.0"), ("n0", a, "20.0")):
        steps.append(
            Step("leaf", "backward", 6, f"{name} is a leaf: its gradient {value} is what {name}.grad holds.", touches=(leaf,), changes=(Change(leaf, "status", "final"), Change(leaf, "pending", None)))
        )
    steps.append(Step("finish", "backward", 7, f"Done: {a}.grad is 20.0 and {b}.grad is 15.0."))
    told = (
        f"{a} is given.", f"{b} is given.", f"{c} = {a} · {b} is computed.", "The order is turned around.",
        f"The gradient of {c} by itself is 1.", f"{c} sends its contributions back.", "The leaves keep their gradients.", "Done.",
    )
    where = [[k for k, step in enumerate(steps) if step.chapter == chapter] for chapter in range(len(told))]
    chapters = tuple(Chapter(ks[0], ks[-1], sentence) for ks, sentence in zip(where, told, strict=True))
    return Timeline(graph, tuple(steps), chapters, tuple(nodes + edges))
