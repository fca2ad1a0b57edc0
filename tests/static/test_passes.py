"""Each pass does what its words say, on a program made for it, and leaves the numbers as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autokit.static.passes import run_passes
from autokit.static.passes.algebra import RULES
from autokit.static.passes.blocks import LARGE, LONGEST
from autokit.static.passes.numpy_forms import FORMS
from autokit.static.traced import Tape, Traced
from tests.static.programs import assert_agrees, interpreted

X = np.array([[0, -1, 2, 0], [3, 0, -5, 1], [2, 2, 2, 2]] * 4, np.float32)
T = np.array([0, 3, 1] * 4)


def program(function: Callable[..., Any], *arrays: np.ndarray) -> Tape:
    tape = Tape()
    values = [tape.given("input", array, f"x{at}") for at, array in enumerate(arrays or (X,))]
    result = function(*values)
    tape.graph.outputs = [each.node for each in (result if isinstance(result, tuple) else (result,))]
    return tape


def after(tape: Tape, *names: str) -> tuple[str, list[str]]:
    """What the last of these passes says, and the calls that are left; they give the same numbers."""
    done = run_passes(tape.graph, [*names, "dead code"])
    assert_agrees(tape.graph, done[-1].after)
    assert len(done[0].before.nodes) == len(tape.graph.nodes)
    calls = [node.name for node in done[-1].after.nodes if node.kind in ("call", "view")]
    return done[-2].words, calls


def test_dead_code_goes_and_draws_stay() -> None:
    def function(x: Traced) -> Traced:
        np.exp(np.log(x))
        x.tape.call("rand", np.random.RandomState(0).rand, (), kind="draw")
        return x + 1

    done = run_passes(program(function).graph, ["dead code"])
    assert done[0].words == "2 values that nothing needs"
    assert [node.name for node in done[0].after.nodes] == ["input", "rand", "add"]


def test_constants_are_computed_from_constants_not_read_off_an_example_and_draws_are_none() -> None:
    def function(x: Traced) -> Traced:
        fixed = np.negative(x.tape.call("arange", np.arange, (4,))) * 2.0 + np.ones_like(x)
        drawn = x.tape.call("bytes", lambda: np.float32(1), (), kind="draw")
        return x + fixed * 1 + drawn

    tape = program(function)
    for node in tape.graph.nodes:
        if node.kind == "call":
            node.value = np.broadcast_to(np.zeros((), node.dtype), node.shape)
    assert after(tape, "constants") == ("values known before the first run (6×)", ["add", "add"])


def test_common_subexpressions_are_computed_once_and_draws_each_time() -> None:
    def function(x: Traced) -> Traced:
        drawn = [x.tape.call("draw", np.random.RandomState(0).rand, (), kind="draw") for _ in range(2)]
        return np.exp(x) * np.exp(x) + np.add(x, np.ones(4)) - np.add(x, np.ones(4)) + drawn[0] - drawn[1]

    done = run_passes(program(function).graph, ["common subexpressions"])
    assert done[0].words == "values that were computed before (3×)"
    assert [node.name for node in done[0].after.nodes].count("draw") == 2


def one_hot(t: Traced, value: Any) -> Any:
    checked(t)
    return np.where(np.expand_dims(t, 1) == np.arange(4), value, 0.0)


def checked(t: Traced) -> None:
    """Check that indices are in bounds, as the losses do."""
    (t.view(np.uint64).max() < 4).check(lambda: IndexError("out of bounds"), ())


def likelihood(x: Traced, t: Traced) -> Any:
    checked(t)
    return np.take_along_axis(x, np.expand_dims(t, 1), 1)


def relu(x: Traced, g: Any) -> Any:
    return np.where(np.maximum(x, 0) <= 0, 0, g)


REWRITTEN: dict[str, list[Callable[..., Any]]] = {
    "a copy of x = x": [lambda x, t: x.copy()],
    "x ± 0 = x": [lambda x, t: x - 0, lambda x, t: x + 0, lambda x, t: 0 + x],
    "x · 1 = x": [lambda x, t: x * 1, lambda x, t: np.ones((12, 4), np.float32) * x, lambda x, t: x**1 / 1],
    "−(−x) = x": [lambda x, t: -np.negative(x)],
    "x in its own shape = x": [lambda x, t: x.reshape(12, 4)],
    "(xᵀ)ᵀ = x": [lambda x, t: x[None].transpose(1, 2, 0).transpose(2, 0, 1), lambda x, t: x.T.T],
    "reshape of a reshape = reshape": [
        lambda x, t: x.reshape(-1).reshape(12, 4),
        lambda x, t: x.reshape(3, 4, 4).reshape(-1),
    ],
    "where(true, x, y) = x": [lambda x, t: np.where(np.ones((12, 4), bool), x, 0)],
    "x = x is true, of whole numbers": [lambda x, t: t == t],
    "sum = ones · x": [lambda x, t: (x.sum(0), x.sum(1, keepdims=True), x[0].sum())],
    "the largest of a row = x[argmax]": [
        lambda x, t: (x.max(1), np.maximum.reduce(x.T, -1, initial=-np.inf, keepdims=True)),
    ],
    "a @ b = dot(a, b)": [lambda x, t: x.T @ x],
    "a number in place of its repetitions": [lambda x, t: x * np.full((12, 1), 2, np.float32)],
    "where(mask, 0, x) = x's bits · 0 or 1": [lambda x, t: relu(x, x.T.reshape(12, 4) * np.inf)],
    "x[0…n, t] = take": [likelihood],
    "where(t = 0…c) = take": [lambda x, t: one_hot(t, np.float32(3))],
    "a row of one number and zeros sums to the number": [lambda x, t: one_hot(t, np.float32(2)).sum(1)],
}


@pytest.mark.parametrize(
    ("words", "function"), [(words, each) for words in REWRITTEN for each in REWRITTEN[words]]
)
def test_calls_are_rewritten_to_give_the_same_numbers(words: str, function: Callable[..., Any]) -> None:
    assert REWRITTEN.keys() == RULES.keys() | FORMS.keys()
    tape = program(function, X, T)
    said, _ = after(tape, "constants", "algebra" if words in RULES else "NumPy's own forms")
    assert words in said


UNCHANGED: dict[str, Callable[..., Any]] = {
    "x − x": lambda x: x - x,
    "x · 0": lambda x: x * 0,
    "another dtype": lambda x: x * np.float64(1),
    "another shape": lambda x: x[0] + np.zeros((12, 4), np.float32),
    "x = x, of floats": lambda x: np.equal(x, x),
    "another transposition": lambda x: x[None].transpose(1, 2, 0).transpose(1, 2, 0),
    "true and 1": lambda x: (x + np.True_, x + np.int8(1), x + np.float32(1)),
    "0 and −0": lambda x: (np.copysign(x, 0.0), np.copysign(x, -0.0)),
}


@pytest.mark.parametrize("what", UNCHANGED)
def test_what_would_change_a_number_stays(what: str) -> None:
    tape = program(UNCHANGED[what], np.where(X == 0, np.inf, np.where(X < 0, np.nan, X)))
    done = run_passes(tape.graph, ["algebra", "common subexpressions"])
    assert [each.words for each in done] == ["nothing to do"] * 2
    assert_agrees(tape.graph, done[-1].after)


def test_the_slope_of_relu_is_0_at_minus_0_and_lets_infinity_and_nan_pass() -> None:
    tape = program(lambda x, g: relu(x, g), X, X)
    done = run_passes(tape.graph, ["NumPy's own forms"])
    x = np.array([-0.0, 0.0, np.nan, 1, -1, np.inf] * 8, np.float32).reshape(12, 4)
    g = np.array([np.inf, np.nan, 1, -0.0] * 12, np.float32).reshape(12, 4)
    for array in (g, g.T.reshape(12, 4)):
        (expected,) = interpreted(tape.graph, [], [x, array])
        (found,) = interpreted(done[-1].after, [], [x, array])
        assert np.array_equal(expected, found, equal_nan=True)


def test_an_index_that_is_not_checked_is_not_clipped() -> None:
    tape = program(lambda x, t: np.take_along_axis(x, np.expand_dims(t, 1), 1), X, T - 4)
    words, calls = after(tape, "NumPy's own forms")
    assert words == "nothing to do" and "take_along_axis" in calls


@pytest.mark.parametrize("size", [LARGE, 150_001])
def test_elementwise_calls_on_large_arrays_run_in_blocks_that_divide_them(size: int) -> None:
    tape = Tape()
    x = tape.given("input", np.linspace(0, 1, size, dtype=np.float32), "x")
    state = tape.given("state", np.linspace(-1, 1, size, dtype=np.float32), "S")
    y = np.tanh(x * state) - x
    z = y * y + 1
    tape.graph.updates = {state.node: (state - 0.5 * z).node}
    tape.graph.outputs = [y.node, z.sum().node]
    done = run_passes(tape.graph, ["blocks"])
    code = assert_agrees(tape.graph, done[0].after)
    if size == LARGE:
        assert (
            done[0].words == "7 calls in blocks"
            and f"x.reshape(({LARGE // LONGEST}, {LONGEST}))" in code.source
        )
        assert len(code.plan.in_states) == 1 and code.plan.size < 3 * 4 * size
        assert len(code.plan.inner) == 4
    else:
        assert done[0].words == "nothing to do"
