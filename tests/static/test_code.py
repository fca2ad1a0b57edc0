"""Generated code gives what the interpreter gives, can be read, and leaves alone what others hold."""

from __future__ import annotations

import linecache
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autokit.static.emit_numpy import build
from autokit.static.memory import ALIGNMENT, Plan
from autokit.static.passes import PASSES, run_passes
from autokit.static.passes import blocks as blocks_pass
from autokit.static.traced import Tape, Traced
from tests.static.programs import STEPS, assert_agrees, traced

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def given_arrays(tape: Tape, *labels: str) -> list[Traced]:
    """Inputs of a graph; those whose labels begin with a capital letter are states."""
    return [tape.given("state" if each[0].isupper() else "input", X.copy(), each) for each in labels]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of any size are computed in blocks of at most six elements."""
    for name, number in {"LARGE": 1, "LONGEST": 6, "SHORTEST": 2}.items():
        monkeypatch.setattr(blocks_pass, name, number)


@settings(max_examples=400)
@given(STEPS, st.lists(st.sampled_from(list(PASSES)), max_size=6))
def test_code_computes_what_the_interpreter_computes_after_any_passes(
    steps: list[Any], names: list[str]
) -> None:
    graph = traced(steps)
    assert_agrees(graph, run_passes(graph, names)[-1].after if names else graph)


@pytest.mark.usefixtures("small_blocks")
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_blocks_compute_the_same(steps: list[Any]) -> None:
    graph = traced(steps)
    assert_agrees(graph, run_passes(graph)[-1].after)


@pytest.mark.usefixtures("small_blocks")
def test_what_a_run_reads_lives_through_all_its_blocks() -> None:
    numbers = np.arange(64.0)
    tape = Tape()
    x = tape.given("input", numbers, "x")
    state, other = [tape.given("state", numbers.copy(), label) for label in "SR"]
    before = np.concatenate([x[32:], x[:32]])
    one, two = (before > 3) * 1.0, x * 2
    three = np.exp(-x) + one * two - two / (one + 4) + np.sqrt(two)
    turned = state[::-1] + three - other[::-1]
    tape.graph.outputs = [three.node]
    tape.graph.updates = {state.node: (state - turned).node, other.node: (turned * 2).node}
    blocks = run_passes(tape.graph, ["blocks"])[-1].after
    assert ".reshape((16, 4))" in assert_agrees(tape.graph, blocks).source


def test_the_code_can_be_read() -> None:
    tape = Tape()
    x, weight = given_arrays(tape, "x", "W")
    tape.operation = "linear"
    z = np.maximum(x @ weight.T, 0)
    tape.operation, tape.phase = "SGD", "update"
    tape.graph.outputs = [z.node]
    tape.graph.updates = {weight.node: (weight - x * 0.5).node}
    body = build(tape.graph).source.split("\n\n\n")[0].splitlines()
    assert [line.strip() for line in body if "#" not in line] == [
        "def step(x):",
        "matmul(x, W_T, out=linear)",
        "maximum(linear, number_0_0, out=linear)",
        "multiply(x, number_0_5, product)",
        "subtract(W, product, W)",
        "outputs = (array(linear),)",
        "return outputs",
    ]
    assert sum("# update, line " in line for line in body) == 1 == sum("# · linear" in line for line in body)


def test_names_never_hide_the_functions_that_are_called() -> None:
    tape = Tape()
    labels = ("log", "sum", "add", "array", "if", "0.bias", "x y", "number_2_0", "outputs", "zip", "dict")
    tape.graph.outputs = [np.log(np.add(sum(given_arrays(tape, *labels)), 2.0)).node]
    assert_agrees(tape.graph)


def test_settings_keep_their_class_dtypes_are_not_lost_and_a_mask_is_not_written_over() -> None:
    Pair = namedtuple("Pair", "low high")
    tape = Tape()
    (x,) = given_arrays(tape, "x")

    def between(a: Any, ends: Any, missing: float) -> Any:
        return np.clip(a, ends.low, ends.high) + (0 if np.isnan(missing) else 1)

    positive = x[:, :3] % 2 > 0
    several = [
        tape.call("between", between, (x, Pair(2.0, x[0]), float("nan"))),
        tape.call("between", between, (x, Pair(2.0, 3.0), float("inf"))),
        np.subtract(x > 2, x > 3, dtype=np.int64),
        np.add(np.float64(1), x),
        np.add(x, 0.1, dtype=np.float64),
        x.astype(np.float16) + 70000,
        np.less(x.astype(np.uint8), 300),
        np.ldexp(x, 2),
        np.where(positive.T, x[:, :3] > 5, positive),
    ]
    tape.graph.outputs = [each.node for each in several]
    assert_agrees(tape.graph)


def test_what_is_returned_is_not_overwritten_by_the_next_run() -> None:
    tape = Tape()
    x, state = given_arrays(tape, "x", "S")
    tape.graph.outputs = [(x * 2).node, (x * 2).T.node, state.node, x.node]
    tape.graph.updates = {state.node: (state + 1).node}
    program = build(tape.graph)
    array = X.copy()
    first = program(array)
    kept = [each.copy() for each in first]
    program(array + 1)
    array[:] = 0
    assert all(np.array_equal(one, two) for one, two in zip(first, kept))
    assert np.array_equal(first[2], X) and np.array_equal(program(X)[2], X + 2)


def test_states_can_swap_and_new_values_go_into_them_without_a_copy() -> None:
    tape = Tape()
    one, two, three = given_arrays(tape, "One", "Two", "Three")
    new = three - 0.5 * np.exp(one)
    tape.graph.updates = {one.node: two.node, two.node: one.node, three.node: new.node}
    program = assert_agrees(tape.graph)
    assert [state.label for state in program.plan.in_states.values()] == ["Three"]
    assert "subtract(Three, exponential, Three)" in program.source


def test_nothing_is_written_before_the_last_check_or_reader() -> None:
    tape = Tape()
    x, checked, read = given_arrays(tape, "x", "Checked", "Read")
    tape.graph.updates = {checked.node: (checked + 1).node, read.node: (read + 1).node}
    (x < 100).all().check(lambda x: ValueError(f"{x.max()} is too large"), (x,))
    tape.graph.outputs = [(read * 2).node]
    program = assert_agrees(tape.graph)
    assert not program.plan.in_states
    with pytest.raises(ValueError, match="is too large") as raised:
        program(np.full((3, 4), 150, np.float32))
    assert np.array_equal(checked.node.value, X) and np.array_equal(read.node.value, X)
    assert "test_code.py, line" in raised.value.__notes__[0] and ".check(" in raised.value.__notes__[0]


def test_states_stay_where_an_index_is_out_of_bounds() -> None:
    tape = Tape()
    x, state = given_arrays(tape, "x", "State")
    places = tape.given("input", np.array([0, 11]), "places")
    tape.graph.updates = {state.node: (state + 1).node}
    tape.graph.outputs = [x.take(places).node]
    program = assert_agrees(tape.graph)
    with pytest.raises(IndexError):
        program(X, np.array([0, 12]))
    assert np.array_equal(state.node.value, X)


def test_draws_and_numbers_are_new_in_each_run_and_come_in_order() -> None:
    tape, rates = Tape(), iter([0.0, 0.5])
    (x,) = given_arrays(tape, "x")
    random = np.random.RandomState(0)
    first = tape.call("rand", lambda: random.rand(4), (), kind="draw")
    rate = Traced(tape, tape.add("number", "rate", lambda: next(rates), (), {}, np.asarray(0.5)))
    y = x * first + rate
    second = tape.call("rand", lambda: random.rand(4), (), kind="draw")
    tape.graph.outputs = [(y + second).node]
    program = build(run_passes(tape.graph)[-1].after)
    random.seed(1)
    results = [program(X)[0] for _ in range(2)]
    random.seed(1)
    for run in range(2):
        assert np.array_equal(results[run], X * random.rand(4) + run / 2 + random.rand(4))


def test_runs_at_the_same_time_and_inside_of_each_other_keep_apart() -> None:
    tape, programs, inner = Tape(), [], []
    (x,) = given_arrays(tape, "x")
    doubled = x * 2

    def again() -> None:
        if programs:
            inner.append(programs.pop()(X + 1)[0])

    tape.call("again", again, (), kind="draw")
    tape.graph.outputs = [(doubled + 1).node]
    program = build(tape.graph)
    programs.append(program)
    assert np.array_equal(program(X)[0], X * 2 + 1) and np.array_equal(inner[0], X * 2 + 3)

    def are_right(number: int) -> bool:
        inputs = X + number
        return all([np.array_equal(program(inputs)[0], inputs * 2 + 1) for _ in range(300)])

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(are_right, range(4)))


def test_the_text_is_known_to_the_debugger_as_long_as_the_program_lives() -> None:
    tape = Tape()
    (x,) = given_arrays(tape, "x")
    tape.graph.outputs = [np.exp(x).node]
    program = build(tape.graph, "run")
    code = program.new_function().__code__
    assert linecache.getline(code.co_filename, code.co_firstlineno) == "def run(x):\n"
    del program, code
    assert not [file for file in linecache.cache if file.startswith("<autokit.static run ")]


@given(STEPS)
def test_values_that_live_at_the_same_time_lie_apart(steps: list[Any]) -> None:
    plan = Plan(traced(steps))
    places = [place for place in plan.places.values() if place.nbytes]
    assert plan.size <= sum([-(-each.nbytes // ALIGNMENT) * ALIGNMENT for each in places])
    assert all([each.offset % ALIGNMENT == 0 and each.offset + each.nbytes <= plan.size for each in places])
    for one, two in permutations(places, 2):
        together = one.first <= two.first <= one.last
        overlap = one.offset < two.offset + two.nbytes and two.offset < one.offset + one.nbytes
        assert not (together and overlap) or two.over is not None and plan.places[two.over] == one


def test_a_long_chain_needs_the_memory_of_two_values() -> None:
    tape = Tape()
    (x,) = given_arrays(tape, "x")
    for _ in range(50):
        x = np.exp(-x) @ X.T @ X
    tape.graph.outputs = [x.node]
    plan = build(tape.graph).plan
    assert plan.size < plan.total / 30
