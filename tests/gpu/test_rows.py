"""Kernels for rows: what is written computes what the lines compute, on the stand-in and as a program.

Where a compiler for C++ is at hand, the kernels run on the CPU, a thread of it
for each of the GPU's; where CUDA's is, it takes them.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autokit import optim
from autokit.ops import attention, loss, normalize, soft_extremes
from autokit.ops.gpu import row_kernels
from autokit.ops.gpu.row_code import Lines
from autokit.ops.gpu.rows import ROWS, over_rows
from tests.gpu import standin

MATRIX, COLUMN, ROW, CELL = (6, 5), (6, 1), (1, 5), (1, 1)
TARGETS = np.array([2, 0, -100, 1, 7])
CALLS: dict[str, tuple[Any, ...]] = {
    "soft_extremes._softmax_of": (MATRIX, {"axes": 1}),
    "soft_extremes.slope_of_softmax": (MATRIX, MATRIX, {"axes": (0,)}),
    "soft_extremes._log_softmax_of": (MATRIX, {"axes": (0,)}),
    "soft_extremes._slope_of_log_softmax": (MATRIX, MATRIX, {"axes": (1,)}),
    "soft_extremes._logsumexp_of": (MATRIX, {"axes": (0, 1)}),
    "attention._shares": (MATRIX, MATRIX, np.arange(6)[:, None], np.arange(5)[None], 0.5, {"axes": (1,)}),
    "attention._slope_of_scores": (MATRIX, MATRIX, 0.5, {"axes": (1,)}),
    "normalize._mean_and_scale": (MATRIX, {"axes": (1,), "eps": 1e-5, "centred": True}),
    "normalize._by_input": (
        *(MATRIX, MATRIX, ROW, COLUMN, COLUMN),
        {"axes": (1,), "centred": True, "fixed": False, "ready": False},
    ),
    "normalize._by_parameters": (MATRIX, MATRIX, COLUMN, COLUMN, {"axes": (0,), "ready": False}),
    "adafactor._root_mean_square": (MATRIX, {"axes": (0, 1)}),
    "adafactor._mean": (MATRIX, {"axes": 0}),
    "adafactor._towards_mean_of_squares": (MATRIX, COLUMN, 0.5, {"axes": 1}),
    "loss._classes_that_count": (TARGETS, {"axes": 0, "ignored": -100}),
    "loss._sum_of_those_that_count": (MATRIX, MATRIX, {"axes": 0}),
    "loss._mean_of_negatives": (MATRIX, MATRIX, MATRIX, ROW, {"axes": (0,)}),
}
"""For each kernel what it is called with: shapes, integers, numbers, and last what is fixed."""

EVERY = [
    *CALLS.items(),
    ("attention._shares", (MATRIX, np.arange(5)[None] > 1, None, None, 0.5, {"axes": (1,)})),
    ("normalize._mean_and_scale", (MATRIX, {"axes": (0,), "eps": 1e-5, "centred": False})),
    (
        "normalize._by_input",
        (
            MATRIX,
            MATRIX,
            None,
            None,
            COLUMN,
            {"axes": (1,), "centred": False, "fixed": False, "ready": False},
        ),
    ),
    (
        "normalize._by_input",
        (MATRIX, MATRIX, ROW, COLUMN, COLUMN, {"axes": (1,), "centred": True, "fixed": True, "ready": False}),
    ),
]
every = pytest.mark.parametrize(
    ("name", "call"), EVERY, ids=[f"{name}-{n}" for n, (name, _) in enumerate(EVERY)]
)
TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}


def operands(call: tuple[Any, ...], dtype: str) -> tuple[list[Any], dict[str, Any]]:
    random = np.random.RandomState(0)
    *given_ones, fixed = call
    made = [
        random.uniform(0.1, 1, each).astype(dtype) if isinstance(each, tuple) else each for each in given_ones
    ]
    return made, fixed


def parts(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


def assert_alike(found: Any, expected: Any, dtype: str) -> None:
    for one, other in zip(parts(found), parts(expected), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype and one.shape == other.shape
            rtol = TOLERANCE[dtype]
            np.testing.assert_allclose(one.host, other, rtol=rtol, atol=rtol)


def axes_of(fixed: dict[str, Any], ndim: int) -> tuple[int, ...]:
    return row_kernels._places(fixed["axes"], ndim)


def there(cupy: Any, values: list[Any]) -> list[Any]:
    return [cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in values]


def test_the_table_names_every_kernel():
    assert attention and loss and normalize and optim.Adafactor and soft_extremes, "which have them"
    assert {name for name in ROWS if not name.startswith("test_")} == set(CALLS)


@every
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_one_launch_gives_what_the_lines_give(name: str, call: tuple[Any, ...], dtype: str):
    values, fixed = operands(call, dtype)
    expected = ROWS[name](*values, **fixed)
    with standin.installed() as cupy:
        arrays = there(cupy, values)
        standin.launches.clear()
        found = over_rows(ROWS[name])(*arrays, **fixed)
        assert standin.launches == [ROWS[name].__name__.strip("_")]
        assert_alike(found, expected, dtype)
        dropped = over_rows(ROWS[name])(*arrays, keepdims=False, **fixed)
        for one, other in zip(parts(dropped), parts(found)):
            if one is not None:
                whole = all(other.shape[axis] == 1 for axis in axes_of(fixed, other.ndim))
                assert one.shape == np.empty(other.shape).squeeze(fixed["axes"] if whole else ()).shape


def standard(a: Any, weight: Any, chosen: Any, rate: Any, /, axes: Any) -> Any:
    around = a - a.mean(axis=axes, keepdims=True)
    scale = 1 / np.sqrt((around * around).mean(axis=axes, keepdims=True) + 0.1)
    top = (around * scale * weight).max(axis=axes, keepdims=True)
    out = np.where(chosen, np.exp(around * scale * weight - top), np.inf) * rate
    return out, scale, (a + weight).sum(axis=axes, keepdims=True)


@settings(max_examples=60)
@given(st.data())
def test_rows_may_lie_anyhow_in_memory(data: st.DataObject):
    """Turned round, backwards, with steps between, and used again along some dimensions."""
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4), "shape")
    axes = tuple(data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True), "axes"))
    random, made = np.random.RandomState(0), []
    for kind in ("float32", "float32", "bool"):
        own = [data.draw(st.sampled_from([size, 1])) if made else size for size in shape]
        order = data.draw(st.permutations(range(len(shape))))
        steps = [data.draw(st.sampled_from([1, 2, -1])) for _ in shape]
        whole = random.uniform(0, 1, [own[place] * abs(steps[place]) for place in order])
        whole = (whole > 0.5 if kind == "bool" else whole).astype(kind)
        made.append((whole, [order.index(place) for place in range(len(shape))], steps))
    function = over_rows(standard)

    def viewed(whole: Any, turned: list[int], steps: list[int]) -> Any:
        return whole.transpose(turned)[tuple([slice(None, None, step) for step in steps])]

    expected = standard(*[viewed(*each) for each in made], 0.5, axes=axes)
    with standin.installed() as cupy:
        found = function(*[viewed(cupy.asarray(each[0]), *each[1:]) for each in made], 0.5, axes=axes)
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one.host, other, rtol=1e-5)
    del ROWS[f"test_rows.{standard.__name__}"]


@pytest.mark.parametrize(
    ("shape", "weight", "axes"),
    [((3, 0), (3, 0), (0,)), ((2, 70_000), (1, 1), (1,)), ((2,) * 6, (2, 1) * 3, (0, 2, 4))],
)
def test_what_no_kernel_is_for_goes_call_by_call(shape: Any, weight: Any, axes: Any):
    """Nothing, few long rows, and what would take three loops."""
    random = np.random.RandomState(0)
    values = [random.uniform(0, 1, each).astype(np.float32) for each in (shape, weight)]
    values.append(values[0] > 0.5)
    expected = standard(*values, 0.5, axes=axes)
    with standin.installed() as cupy:
        arrays = there(cupy, values)
        standin.launches.clear()
        found = over_rows(standard)(*arrays, 0.5, axes=axes)
        assert "standard" not in standin.launches
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one.host, other, rtol=1e-4)
    del ROWS["test_rows.standard"]


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda a, axes: np.tanh(a), "tanh cannot be written"),
        (lambda a, axes: np.cumsum(a), "cumsum cannot be written"),
        (lambda a, axes: a.sum(axis=(0,), keepdims=True), "along all of `axes`"),
        (lambda a, axes: a.sum(axis=axes), "with keepdims=True"),
    ],
)
def test_what_cannot_be_written_says_so(function: Callable[..., Any], told: str):
    with pytest.raises(TypeError, match=told):
        Lines(function, ((np.dtype(np.float32), True),), {"axes": (1,)})


# ---------------------------------------------------------------- as programs

AROUND = """
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>
#define __device__ inline
#define __global__
#define __shared__ static
using std::sqrt; using std::exp; using std::log;
static struct {{ int x; }} blockIdx;
static thread_local struct {{ int x; }} threadIdx;
static std::barrier<>* gate;
static void __syncthreads() {{ gate->arrive_and_wait(); }}
{code}
extern "C" void run(int blocks, int threads, const Table* table) {{
    std::barrier<> all(threads);
    gate = &all;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {{
        std::vector<std::thread> every;
        for (int t = 0; t < threads; t++) every.emplace_back([=] {{ threadIdx.x = t; {name}(*table); }});
        for (auto& each : every) each.join();
    }}
}}
"""


class Program:
    """A written kernel as a program of this machine, in the place of ``cupy.RawKernel``."""

    folder = Path()

    def __init__(self, code: str, name: str) -> None:
        path = self.folder / f"{len(list(self.folder.iterdir()))}.cpp"
        path.write_text(AROUND.format(code=code, name=name), "utf-8")
        made = path.with_suffix(".so")
        flags = ["-std=c++20", "-pthread", "-O1", "-ffp-contract=off", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, "-o", made, path], check=True)
        self.run = ctypes.CDLL(str(made)).run

    def __call__(self, grid: tuple[int], block: tuple[int], arguments: tuple[Any]) -> None:
        self.run(grid[0], block[0], arguments[0].ctypes.data_as(ctypes.c_void_p))


def test_the_programs_give_what_the_lines_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With 16 threads a block: rows that are shorter and longer, beside or behind each other."""
    if not shutil.which("g++"):
        pytest.skip("needs a compiler for C++: g++")
    monkeypatch.setattr(Program, "folder", tmp_path)
    monkeypatch.setattr(row_kernels, "THREADS", 16)
    monkeypatch.setattr(row_kernels, "_BESIDE", 4)
    for name, call in (
        *CALLS.items(),
        ("standard", (MATRIX, ROW, np.arange(6)[:, None] > 2, 0.5, {"axes": (0,)})),
    ):
        values, fixed = operands(call, "float32")
        function = ROWS.get(name, standard)
        with standin.installed() as cupy:
            cupy.RawKernel = Program
            for stretch in (1, 7):
                longer = [
                    np.repeat(each, stretch, axis=axis)
                    if isinstance(each, np.ndarray)
                    and each.shape[axis := row_kernels._places(fixed["axes"], 2)[0]] > 1
                    else each
                    for each in values
                ]
                found = over_rows(function)(*there(cupy, longer), **fixed)
                assert_alike(found, function(*longer, **fixed), "float32")
    del ROWS["test_rows.standard"]


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_cudas_compiler_takes_them(dtype: str, tmp_path: Path):
    if not shutil.which("nvcc"):
        pytest.skip("needs CUDA's compiler: nvcc, of NVIDIA's CUDA toolkit")
    codes = ["#include <cuda_fp16.h>"]
    for number, (name, call) in enumerate(EVERY):
        values, fixed = operands(call, dtype)
        described = tuple([row_kernels._described(each) for each in values])
        layout = row_kernels._layout(described, axes_of(fixed, 2))
        assert layout is not None
        lines = Lines(ROWS[name], layout.operands, fixed)
        for wide in (False, True):
            code, table = lines.source(f"kernel_{number}_{wide}", 256, wide, wide)
            code = code.split("\n", 1)[1]
            checked = f"static_assert(sizeof(Table) == {table.itemsize});"
            codes.append(f"namespace n{number}_{wide} {{\n{code}\n{checked}\n}}")
    path = tmp_path / "kernels.cu"
    path.write_text("\n".join(codes), "utf-8")
    ran = subprocess.run(
        ["nvcc", "-ptx", "-o", tmp_path / "kernels.ptx", path], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr
