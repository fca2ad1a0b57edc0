"""Compiled loops: that they are used where they should be, and that nothing breaks without them."""

from __future__ import annotations

import os
import re
import warnings
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.ops import native, native_loops, native_recurrent
from tests.support import printed_by, require

require("numba")

OPS = Path(native.__file__).parent
SOURCES = [file.read_text("utf-8") for file in OPS.glob("*.py")]
NAMED = sorted({name for source in SOURCES for name in re.findall(r'"(native_\w+\.\w+)"', source)})


HELPERS = ("inlined", "polynomial", "summing")


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing were compiled yet."""
    monkeypatch.setattr(native, "_ready", {})


@pytest.mark.parametrize("name", NAMED)
def test_a_loop_that_a_rule_names_is_there(name: str):
    file, _, function = name.partition(".")
    loops = vars(import_module(f"autokit.ops.{file}"))
    assert function in loops or any(f"{function}_{word}" in loops for word in ("none", "mean"))


def test_every_loop_is_named_by_a_rule():
    """Loops are plain functions until they are compiled; what they call is compiled with them."""
    named = {f"{name}{end}" for name in NAMED for end in ("", "_none", "_tanh", "_of_columns")}
    for file in OPS.glob("native_*.py"):
        module = import_module(f"autokit.ops.{file.stem}")
        loops = [each.__name__ for each in vars(module).values() if isinstance(each, FunctionType)]
        assert {f"{file.stem}.{name}" for name in loops if name not in HELPERS} <= named


def test_files_of_loops_take_nothing_from_each_other_as_what_is_kept_on_disk_would_be_stale():
    for file in OPS.glob("native_*.py"):
        taken = re.findall(r"^\s*(?:from|import) (autokit\S*)", file.read_text("utf-8"), re.M)
        assert set(taken) <= {"autokit.ops.native"}, file.name


def test_large_tensors_go_through_loops_unless_they_are_switched_off(fresh: None):
    x = torch.linspace(-4, 4, native.LARGE)
    with torch.backends.numba.flags(enabled=False):
        plain = x.sigmoid()
        assert not native._ready
    assert torch.backends.numba.enabled
    np.testing.assert_allclose(x.sigmoid().numpy(), plain.numpy(), rtol=3e-7)
    assert [key[0] for key in native._ready] == ["native_loops.sigmoid"]


@pytest.mark.parametrize("kind", ["float64", "transposed"])
def test_other_tensors_go_through_numpy(fresh: None, kind: str):
    x = torch.linspace(-4, 4, native.LARGE).reshape(2, -1)
    x = x.t() if kind == "transposed" else x.to(getattr(torch, kind))
    x.sigmoid()
    assert not native._ready


def test_a_file_mapped_into_memory_and_odd_bytes_go_through_numpy(fresh: None, tmp_path: Path):
    numbers = np.linspace(-4, 4, native.LARGE, dtype=np.float32)
    numbers.tofile(tmp_path / "numbers")
    mapped = np.memmap(tmp_path / "numbers", np.float32)
    odd = np.frombuffer(b"." + numbers.tobytes(), np.float32, offset=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        for array in (mapped, odd):
            x = torch.from_numpy(array)
            assert torch.allclose(x.sigmoid(), torch.from_numpy(numbers).double().sigmoid().float())
            assert torch.allclose(x.reshape(64, -1).softmax(1).sum(), torch.tensor(64.0))
            assert x.sum().abs() < 0.1
    assert None not in native._ready.values()


def test_sums_of_samples_go_through_numpy(fresh: None):
    x = torch.linspace(-4, 4, 4 * native.LARGE).reshape(2, 2, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (torch.sum, torch.var, lambda x: torch.softmax(x, 0), lambda x: x.logsumexp(-1)):
            together = torch.func.vmap(function)(x)
            alone = torch.stack([function(each) for each in x])
            np.testing.assert_allclose(together.numpy(), alone.numpy(), rtol=1e-5, atol=1e-5)


def test_a_gradient_of_ones_that_repeat_one_number_needs_no_copy(fresh: None):
    x = torch.linspace(-4, 4, 2 * native.LARGE + 7, requires_grad=True)
    x.sigmoid().sum().backward()
    out = x.detach().sigmoid()
    np.testing.assert_allclose(x.grad.numpy(), (out * (1 - out)).numpy(), rtol=1e-6, atol=1e-9)


def test_second_derivatives_go_through_tensors():
    x = torch.linspace(-4, 4, native.LARGE).requires_grad_()
    (first,) = torch.autograd.grad(x.sigmoid().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    s = torch.sigmoid(x.detach().double())
    np.testing.assert_allclose(second.numpy(), (s * (1 - s) * (1 - 2 * s)).numpy(), atol=1e-6)


def test_samples_of_a_vmap_give_what_each_gives_alone():
    x = torch.linspace(-4, 4, 2 * native.LARGE).reshape(2, -1)
    together = torch.func.vmap(torch.sigmoid)(x)
    np.testing.assert_allclose(together.numpy(), x.sigmoid().numpy(), rtol=3e-7)


def test_autocast_keeps_its_dtype():
    x = torch.linspace(-4, 4, native.LARGE)
    with torch.autocast("cpu", dtype=torch.float16):
        assert torch.relu(x.half()).dtype is torch.float16


# ---------------------------------------------------------------- without Numba, or with one that fails


def test_a_small_tensor_does_not_load_numba():
    program = (
        "import sys, autokit as torch; torch.ones(1000, requires_grad=True).sigmoid().sum().backward(); "
        "print('numba' in sys.modules); torch.ones(100_000).sigmoid(); print('numba' in sys.modules)"
    )
    assert printed_by(program) == "False\nTrue\n"


def test_without_numba_everything_goes_through_numpy_in_silence():
    program = """
import sys, warnings
sys.modules["numba"] = None
warnings.simplefilter("error")
import autokit as torch
x = torch.linspace(-4, 4, 100_000, requires_grad=True)
x.sigmoid().sum().backward()
print(torch.backends.numba.is_available(), torch.backends.numba.version(), x.grad[0].item() > 0)
import autokit.ops.native_loops as loops
print(loops.exp.__class__.__name__)
"""
    assert printed_by(program) == "False None True\nfunction\n"


def test_a_numba_that_may_not_compile_is_not_used():
    program = (
        "import autokit as torch; print(torch.ones(100_000).relu().sum().item(), "
        "torch.backends.numba.is_available())"
    )
    assert printed_by(program, NUMBA_DISABLE_JIT="1") == "100000.0 False\n"


def test_a_numba_that_cannot_be_loaded_is_noted_once(tmp_path: Path):
    broken = tmp_path / "numba"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('Numba needs NumPy 9.9 or less')")
    program = """
import warnings
import autokit as torch
x = torch.linspace(-4, 4, 100_000)
with warnings.catch_warnings(record=True) as noted:
    warnings.simplefilter("always")
    x.sigmoid(), x.sigmoid(), x.relu()
print(*[each.message for each in noted])
"""
    said = printed_by(program, PYTHONPATH=os.pathsep.join([str(tmp_path), str(OPS.parent.parent)]))
    assert said == "Numba cannot be loaded (ImportError: Numba needs NumPy 9.9 or less)\n"


def test_a_loop_that_numba_cannot_compile_is_noted_and_numpy_computes(
    fresh: None, monkeypatch: pytest.MonkeyPatch
):
    def sigmoid(a: Any, into: Any) -> None:
        into[:] = a.no_such_method()

    monkeypatch.setattr(native_loops, "sigmoid", sigmoid)
    x = torch.linspace(-4, 4, native.LARGE)
    with pytest.warns(UserWarning, match=r"Numba could not compile native_loops.sigmoid, and NumPy") as noted:
        again = x.sigmoid(), x.sigmoid()
    assert len(noted) == 1
    with torch.backends.numba.flags(enabled=False):
        assert torch.equal(again[0], x.sigmoid()) and torch.equal(again[1], x.sigmoid())


def test_where_nothing_can_be_kept_the_loops_are_compiled_all_the_same(
    fresh: None, monkeypatch: pytest.MonkeyPatch
):
    from numba.core import caching

    for kind in (caching.CompileResultCacheImpl, caching.CodeLibraryCacheImpl):
        monkeypatch.setattr(kind, "_locator_classes", [])
    x = torch.linspace(-4, 4, native.LARGE)
    with pytest.warns(UserWarning, match="cannot be kept for the next process; NUMBA_CACHE_DIR"):
        made = x.relu()
    assert native._ready and None not in native._ready.values()
    assert made.min() == 0


def test_threads_that_ask_for_the_first_loop_at_once_all_get_it():
    program = """
import threading
import autokit as torch
from autokit.ops import native
x = torch.linspace(-4, 4, 100_000)
torch.set_num_threads(1)
start, made = threading.Barrier(4), []
def ask():
    start.wait()
    made.append(x.sigmoid())
threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(made), all(torch.equal(each, made[0]) for each in made), None in native._ready.values())
"""
    assert printed_by(program) == "4 True False\n"


# ---------------------------------------------------------------- functions of one number


def test_the_exponential_is_within_a_unit_in_the_last_place():
    numbers = np.linspace(-110, 95, 1_000_003).astype(np.float32)
    made, exact = through(native_loops.exp, numbers), np.exp(numbers.astype(np.float64))
    with np.errstate(over="ignore"):
        expected = exact.astype(np.float32)
    assert units_apart(made, expected) <= 1


def test_the_exponential_of_what_is_special():
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 88.8, -104, 1e-45, 3e38, -3e38], np.float32)
    expected = np.array([1, 1, np.inf, 0, np.nan, np.inf, 0, 1, np.inf, 0], np.float32)
    np.testing.assert_array_equal(through(native_loops.exp, special), expected)


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_the_functions_of_gates_are_within_two_units_in_the_last_place(name: str):
    numbers = np.concatenate([np.linspace(-86, 86, 1_000_003), np.geomspace(1e-30, 1, 100_000)])
    numbers = np.concatenate([numbers, -numbers]).astype(np.float32)
    wide = numbers.astype(np.float64)
    exact = np.tanh(wide) if name == "tanh" else 1 / (1 + np.exp(-wide))
    made = through(getattr(native_recurrent, name), numbers)
    assert units_apart(np.abs(made), np.abs(exact).astype(np.float32)) <= 2
    assert np.array_equal(np.sign(made), np.sign(exact))
    special = through(getattr(native_recurrent, name), np.array([np.nan, np.inf, -np.inf, 0], np.float32))
    expected = [np.nan, 1, -1, 0] if name == "tanh" else [np.nan, 1, 0, 0.5]
    np.testing.assert_allclose(special, expected, atol=1e-37)


def through(function: Any, numbers: np.ndarray) -> np.ndarray:
    """A function of one number, of each of them."""
    from numba import vectorize

    with np.errstate(all="ignore"):
        return vectorize(["float32(float32)"])(function.py_func)(numbers)


def units_apart(a: np.ndarray, b: np.ndarray) -> int:
    """The largest distance in units in the last place; of numbers of one sign."""
    return int(np.abs(a.view(np.int32).astype(np.int64) - b.view(np.int32)).max())
