"""Random programs of NumPy as static graphs, and a check that runs of them agree with the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import autokit as torch
from autokit import nn
from autokit.static.emit_numpy import build
from autokit.static.graph import Graph
from autokit.static.interpret import interpret
from autokit.static.step import compile
from autokit.static.traced import Tape

UNARY: dict[str, Callable[[Any], Any]] = {
    "negative": np.negative,
    "square": lambda a: np.power(a, 2),
    "absolute": np.abs,
    "tanh": np.tanh,
    "relu": lambda a: np.maximum(a, 0),
    "copy": lambda a: a.copy(),
    "times one": lambda a: a * 1,
    "plus zero": lambda a: 0 + a - 0.0,
    "halves": lambda a: a * 0.5,
    "numbers": lambda a: np.where(a > 0, a, np.float64(2)),
    "masked": lambda a: np.where(a <= 0, 0, a),
    "zeros": lambda a: np.zeros_like(a) + 3,
    "integers": lambda a: a.astype(np.int64) * True,
    "back": lambda a: a.astype(np.float32),
    "transposed": lambda a: a.T,
    "twice transposed": lambda a: a.T.T,
    "flat": lambda a: a.reshape(-1),
    "flat transposed": lambda a: np.negative(a).T.reshape(-1),
    "two rows": lambda a: a.reshape(2, -1) if a.size % 2 == 0 else a,
    "column": lambda a: a[..., None],
    "first": lambda a: a[0] if a.ndim else a,
    "reversed": lambda a: a[::-1] if a.ndim else a,
    "taken": lambda a: a.take([0, 0]) if a.size else a,
    "chosen": lambda a: a[[0, 0]] if a.ndim and a.size else a,
    "sum": lambda a: a.sum(),
    "sum of rows": lambda a: a.sum(0) if a.ndim else a,
    "sum of columns": lambda a: a.sum(-1, keepdims=True) if a.ndim else a,
    "largest": lambda a: a.max(-1) if a.ndim and a.size else a,
    "joined": lambda a: np.concatenate([a, a]) if a.ndim else a,
    "stacked": lambda a: np.stack([a, a + 1]) if a.ndim < 3 else a,
    "contiguous": lambda a: a.tape.call("contiguous", np.ascontiguousarray, (np.negative(a.T),)) * 1,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "less": np.less,
    "where": lambda a, b: np.where(a > b, b, a),
    "where true": lambda a, b: np.where((a > b).T, b > 0, (a > b)) * 1.0,
    "matmul": lambda a, b: a @ b.T if a.ndim == b.ndim == 2 else a + b,
    "row written": lambda a, b: _written(a, 0, b),
    "column written": lambda a, b: _written(a, (slice(None), 0), b),
    "view written": lambda a, b: _written(a.T, slice(1), b),
    "put": lambda a, b: _written(a, [0], b),
}
STEPS = st.lists(
    st.tuples(st.sampled_from([*UNARY, *BINARY]), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=12,
)
SHAPES = [(3, 4), (4,), (3, 1), (4, 3), ()]


def _written(a: Any, index: Any, b: Any) -> Any:
    a = a.copy() if a.ndim < 2 else a.copy().T
    a[index] = b
    return a + 0 * a


def traced(steps: list[Any]) -> Graph:
    """The graph of a program that applies ``steps`` to inputs and states, of which it changes two."""
    tape = Tape()
    inputs = [tape.given("input", array, f"x{at}") for at, array in enumerate(numbers(0, 3))]
    arrays = zip(["log", "0.weight"], [*numbers(0, 1), *numbers(5, 1)])
    states = [tape.given("state", array, label) for label, array in arrays]
    values = [*inputs, *states]
    for name, one, other in steps:
        a, b = values[-1 - one % len(values)], values[-1 - other % len(values)]
        try:
            values.append(UNARY[name](a) if name in UNARY else BINARY[name](a, b))
        except (ValueError, IndexError, TypeError):
            continue  # of shapes that do not fit
    graph = tape.graph
    graph.outputs = [values[-1].node, values[len(values) // 2].node, inputs[0].node]
    fitting = [each for each in values if each.shape == (3, 4) and each.dtype == np.float32]
    for place, state in enumerate(states):
        graph.updates[state.node] = fitting[place - 2].node
    return graph


def numbers(seed: int, count: int) -> list[np.ndarray]:
    """Arrays of small whole numbers, of several shapes: sums of them are exact in any order."""
    random = np.random.RandomState(seed)
    return [random.randint(-3, 4, SHAPES[(seed + at) % 5]).astype(np.float32) for at in range(count)]


def interpreted(graph: Graph, states: list[np.ndarray], inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a run of the interpreter, which then writes the new values of states."""
    values = dict(zip(graph.inputs, inputs)) | dict(zip(graph.states, states))
    rest = [node for node in graph.nodes if node.kind not in ("input", "state")]
    for _ in interpret(rest, values):
        pass
    outputs = [np.array(values[node]) for node in graph.outputs]
    new = [np.array(values[node]) for node in graph.updates.values()]
    for state, value in zip(graph.updates, new):
        values[state][...] = value
    return outputs


def assert_agrees(
    graph: Graph, other: Graph | None = None, runs: int = 3, build: Callable[..., Any] = build
) -> Any:
    """Check that code of ``other`` computes what the interpreter computes of ``graph``; return the code."""
    other = other or graph
    expected = [node.value.copy() for node in graph.states]
    states = [node.value.copy() for node in graph.states]
    other = other.copy()
    for node, array in zip(other.states, states):
        node.value = array
    program = build(other)
    for run in range(runs):
        inputs = [_others(node.value, run) for node in graph.inputs]
        outputs = interpreted(graph, expected, inputs)
        for one, two in zip([*outputs, *expected], [*program(*inputs), *states], strict=True):
            assert one.dtype == two.dtype
            np.testing.assert_allclose(two, one, rtol=1e-6 if one.dtype == np.float32 else 1e-14)
    return program


def _others(array: np.ndarray, run: int) -> np.ndarray:
    """Other numbers of the same shape, dtype and order in memory."""
    return np.random.RandomState(run).permutation(array.ravel()).reshape(array.shape).astype(array.dtype)


def trained_step() -> tuple[Any, Any, Any, Any]:
    """A compiled training step of a small network that has run twice, its model, and its two arguments."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Dropout(), nn.Linear(6, 3))
    optimizer = torch.optim.Adam(model.parameters())

    def run(x: Any, t: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()
        return loss

    step, x, t = compile(run), torch.randn(5, 8), torch.tensor([0, 1, 2, 0, 1])
    step(x, t)
    step(x, t)
    return step, model, x, t
