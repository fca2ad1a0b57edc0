"""Compiled loops: they give what the interpreter gives, on other numbers and run after run."""

from __future__ import annotations

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autokit.static import emit_loops
from autokit.static.traced import Tape
from tests.static import programs, test_networks
from tests.static.programs import BINARY, UNARY, assert_agrees, traced

pytest.importorskip("numba")
from autokit.static.loops import compiled
from autokit.static.loops.writing import Loops


class Pointer:
    """Numbers in memory, from some before an address to some after it."""

    def __init__(self, address, dtype):
        kind = np.ctypeslib.as_ctypes_type(dtype)
        start = int(address) - 1000 * ctypes.sizeof(kind)
        self.numbers = np.ctypeslib.as_array((kind * 10**6).from_address(start))

    def __getitem__(self, index):
        return self.numbers[index + 1000]

    def __setitem__(self, index, number):
        self.numbers[index + 1000] = number


def gemm(routine, given):
    held = [np.array(each) for each in given]
    numbers = [int(each) if at in (6, 8, 11) else held[at].ctypes.data for at, each in enumerate(given)]
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(int(routine))(*numbers)


def places(a):
    """Whole numbers that are places along a dimension of two elements or more."""
    return (a > 0).astype(np.int64)


MORE_UNARY = {
    "tanh": np.sign,  # NumPy's own tanh rounds otherwise
    "double": lambda a: np.clip(a, -1, 2).astype(np.float64).prod(0) / 4 if a.ndim else a[...],
    "none": lambda a: a[..., :0].sum(-1) if a.ndim else a,
    "mean": lambda a: (a * 12).mean(-1) - a.min(0)[..., :1] if a.ndim else a,
    "nan": lambda a: np.where(np.isnan(np.maximum(np.where(a > 0, np.nan, a), 1)), 2, a),
    "below largest": lambda a: a - a.max(-1, keepdims=True) if a.ndim else a,
    "along": lambda a: np.take_along_axis(a, places(a)[..., :1], -1) if a.ndim and a.shape[-1] > 1 else a,
    "checked": lambda a: (a.sum() < np.inf).check(lambda: ValueError("too large"), ()) or a,
}
MORE_BINARY = {
    "divided": lambda a, b: a / (places(b) + 1),
    "power": lambda a, b: np.power(np.clip(a, -9, 9), (b > 0).astype(np.float32) + 1),
    "outer": lambda a, b: a[:, :1] @ b[:1] if a.ndim == b.ndim == 2 else a,
    "descended": lambda a, b: a - np.float32(0.5) * (a[:, :1] @ b[:1]) if a.ndim == b.ndim == 2 else a,
}
NAMES = [*UNARY, *BINARY, *MORE_UNARY, *MORE_BINARY]
PLACES = st.integers(0, 99)


@pytest.fixture(scope="module", autouse=True)
def more(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "UNARY", UNARY | MORE_UNARY)
        patch.setattr(programs, "BINARY", BINARY | MORE_BINARY)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def in_python(source, name):
    """The text of the loops runs as it stands, without Numba, which takes a second for each."""
    module = {}
    exec(source, module)
    module |= {"pointer": Pointer, "gemm": gemm, "plus": np.add}
    return module[name]


@settings(max_examples=300, deadline=None, report_multiple_bugs=False)
@given(st.lists(st.tuples(st.sampled_from(NAMES), PLACES, PLACES), min_size=1, max_size=12))
def test_loops_compute_what_the_interpreter_computes(steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "compiled", in_python)
        patch.setattr(emit_loops, "FEW", 1)
        assert_agrees(traced(steps), build=emit_loops.build)


@pytest.mark.parametrize("seed", range(4))
def test_numba_takes_the_text(seed):
    random = np.random.RandomState(seed)
    steps = [(name, *random.randint(0, 8, 2)) for name in random.permutation(NAMES)[:30]]
    assert_agrees(traced(steps), build=emit_loops.build)


@pytest.mark.parametrize("name", ["relu", "adam", "dropout", "batch norm", "lstm", "lenet"])
def test_twenty_steps_have_the_losses_of_eager_ones(name):
    test_networks.test_losses_buffers_and_masks_are_those_of_the_eager_run(name, "native")


LITTLE = "def little(number):\n    return number + 3\n"


def descent():
    """A step of gradient descent on a linear layer, whose rows are chosen by an index that is checked."""
    tape = Tape()
    random = np.random.RandomState(0)
    x = tape.given("input", random.randn(8, 6).astype(np.float32), "x")
    t = tape.given("input", random.randint(0, 4, 8), "t")
    w = tape.given("state", random.randn(4, 6).astype(np.float32), "w")
    z = x @ w.T
    loss = -np.take_along_axis(z, t[:, None], 1).sum() / 8
    g = np.where(t[:, None] == np.arange(4), np.float32(-1 / 8), np.float32(0))
    (loss < 1000).check(lambda value: ValueError(f"the loss is {value}"), (loss,))
    tape.graph.updates[w.node] = (w - 0.1 * (g.T @ x)).node
    tape.graph.outputs = [loss.node]
    return tape.graph


def test_a_step_is_one_function_from_the_disk(monkeypatch):
    emit_loops.build(descent())
    monkeypatch.setattr(compiled.numba, "cfunc", None)
    program = emit_loops.build(descent())
    (function,) = [each for each in program._given.values() if isinstance(each, Loops)]
    assert "raise" not in program.source  # the check is compiled, and nowhere else
    assert function.source.count("gemm(") == 2 and len(function.states) == 1


@pytest.mark.parametrize("text", [b"", b"damaged", b"i\0\0\0\0"])
def test_a_damaged_file_is_replaced(text):
    compiled.compiled(LITTLE, "little")
    folder = Path(os.environ["XDG_CACHE_HOME"]).joinpath("autokit", "loops")
    newest = max(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    good = newest.read_bytes()
    newest.write_bytes(text)
    assert compiled.compiled(LITTLE, "little")(4) == 7
    assert len(newest.read_bytes()) == len(good)


def test_an_index_or_a_check_stops_the_run_before_a_state_changes_and_any_layout_is_taken():
    graph = descent()
    program, before = emit_loops.build(graph), graph.states[0].value.copy()
    x, t = [node.value for node in graph.inputs]
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 1 with size 4"):
        program(x, np.where(t == t[3], 7, t))
    with pytest.raises(ValueError, match="the loss is"):
        program(x * np.float32(-1e6) * np.sign(before[t]), t)
    with pytest.raises((ValueError, IndexError)):
        program(x[:5], t)
    np.testing.assert_array_equal(graph.states[0].value, before)
    assert program(np.asfortranarray(x), t[::-1][::-1]) == emit_loops.build(descent())(x, t)
    assert emit_loops.build(descent())(x.astype(np.float64), t.tolist()) == emit_loops.build(descent())(x, t)


def test_an_input_that_is_also_given_out_may_share_the_memory_of_a_state():
    graph, other = descent(), descent()
    memory = np.random.RandomState(1).randn(12, 6).astype(np.float32)
    t, (state,) = graph.inputs[1].value, graph.states
    state.value, other.states[0].value = memory[:4], memory[:4].copy()
    graph.outputs.append(graph.inputs[0])
    program, expected = emit_loops.build(graph), emit_loops.build(other)
    for run in range(3):
        before = memory[run : run + 8].copy()
        loss, x = program(memory[run : run + 8], t)
        assert expected(before, t) == (loss,)
        np.testing.assert_array_equal(x, before)
        np.testing.assert_array_equal(state.value, other.states[0].value)


def test_runs_in_two_threads_have_memory_of_their_own():
    graph = traced([("below largest", 0, 0), ("sum of rows", 0, 0), ("outer", 1, 1), ("numbers", 0, 0)])
    graph.updates.clear()
    program = emit_loops.build(graph)
    inputs = [[node.value + k for node in graph.inputs] for k in range(2)]
    expected = [program(*each) for each in inputs]
    with ThreadPoolExecutor(2) as pool:
        for k, outputs in enumerate(pool.map(lambda k: program(*inputs[k % 2]), range(200))):
            assert all(map(np.array_equal, outputs, expected[k % 2]))


def test_without_numba_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "autokit.static.loops.writing", None)
    with pytest.raises(ImportError, match=r"need Numba: pip install \"\.\[native\]\""):
        emit_loops.build(descent())
