"""Kernels for many arrays: what is written computes what the lines compute, on the stand-in and as a program.

Where a compiler for C++ is at hand, the kernels run on the CPU, block by block;
where CUDA's is, it takes them.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autokit import optim
from autokit.amp import grad_scaler
from autokit.ops.gpu.many import MANY, PART, over_many, source
from tests.gpu import standin

STEP = {"decay": 0.1, "way": 0.1, "kept": 0.9, "fresh": 0.1, "eps": 1e-8, "rate": 0.01}

OPTIMIZERS: dict[str, tuple[tuple[str, ...], dict[str, float | None]]] = {
    "Adam": (
        ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"),
        {"shrink": None, **STEP, "correction": 0.5},
    ),
    "Adadelta": (("square_avg", "acc_delta"), STEP),
    "Adagrad": (("sum",), STEP),
    "Adamax": (("exp_avg", "exp_inf"), STEP),
    "ASGD": (("ax",), {**STEP, "shrink": 0.9}),
    "NAdam": (
        ("exp_avg", "exp_avg_sq"),
        {**STEP, "shrink": None, "correction": 0.5, "of_gradient": 0.1, "of_mean": 0.2},
    ),
    "RAdam": (("exp_avg", "exp_avg_sq"), {**STEP, "shrink": None, "rectification": 0.5}),
    "RMSprop": (("square_avg", "momentum_buffer", "grad_avg"), {**STEP, "momentum": 0.9}),
    "Rprop": (("prev", "step_size"), {"shrink": 0.5, "grow": 1.2, "least": 1e-6, "most": 50.0}),
}

Call = tuple[tuple[bool, ...], tuple[float | None, ...], dict[str, Any]]

SGD = {"first": False, "nesterov": False, "maximize": False}
CALLS: dict[str, list[Call]] = {
    "grad_scaler._multiplied": [((True,), (0.5,), {})],
    "sgd._descend": [
        ((True, True, False), (0.1, None, None, None), SGD),
        ((True, True, True), (0.1, 0.01, 0.9, 0.5), SGD | {"nesterov": True, "maximize": True}),
        ((True, True, True), (0.1, None, 0.9, None), SGD | {"first": True}),
    ],
    **{
        f"elementwise.{name}_change": [
            (
                (True,) * (2 + len(arrays)),
                (*numbers.values(),),
                {"arrays": arrays, "numbers": (*numbers,), "maximize": maximize},
            )
            for maximize in (False, True)
        ]
        for name, (arrays, numbers) in OPTIMIZERS.items()
    },
}
"""For each kernel how it is called: which arrays of a row there are, the numbers, and what is fixed."""

EVERY = [(name, place) for name, calls in CALLS.items() for place in range(len(calls))]
every = pytest.mark.parametrize(("name", "place"), EVERY)
TOLERANCE = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-14}


def rows_of(present: tuple[bool, ...], sizes: list[int], dtype: str) -> list[list[Any]]:
    """Numbers from 0.1 to 1; of the third array, which may be a mean of squares, one more."""
    draw = np.random.RandomState(0).uniform
    return [
        [
            draw(0.1 + (place == 2), 1 + (place == 2), size).astype(dtype) if there else None
            for place, there in enumerate(present)
        ]
        for size in sizes
    ]


def plainly(name: str, call: Call, rows: list[list[Any]]) -> None:
    _, numbers, fixed = call
    with np.errstate(all="ignore"):
        for row in rows:
            MANY[name](*row, *numbers, **fixed)


def assert_alike(rows: list[list[Any]], others: list[list[Any]], dtype: str) -> None:
    for row, other in zip(rows, others):
        for each, theirs in zip(row, other):
            if each is not None:
                rtol = TOLERANCE[dtype]
                np.testing.assert_allclose(each.astype(float), theirs.astype(float), rtol=rtol, atol=rtol)


def test_the_table_names_every_kernel():
    assert grad_scaler and optim, "which have them"
    assert set(MANY) == set(CALLS)


@every
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_one_launch_for_all_parameters_gives_what_the_lines_give(name: str, place: int, dtype: str):
    call = present, numbers, fixed = CALLS[name][place]
    sizes = [3, 0, 1, PART + 5]
    expected, given = rows_of(present, sizes, dtype), rows_of(present, sizes, dtype)
    with standin.installed() as cupy:
        rows = [[None if each is None else cupy.asarray(each) for each in row] for row in given]
        standin.launches.clear()
        standin.copies.clear()
        over_many(MANY[name])(rows, numbers, **fixed)
        assert [each for each in standin.launches if each != "zeros"] == [MANY[name].__name__.strip("_")]
        assert not standin.copies
        found = [[None if each is None else each.host for each in row] for row in rows]
    plainly(name, call, expected)
    assert_alike(found, expected, dtype)


def test_more_parameters_than_a_table_holds_take_more_launches():
    call = CALLS["sgd._descend"][1]
    table = source(MANY["sgd._descend"], "descend", "float32", call[0], (True,) * 4, call[2])[1]
    sizes = [1 + place % 3 for place in range(2 * table["arrays"].shape[1] + 1)]
    expected, given = rows_of(call[0], sizes, "float32"), rows_of(call[0], sizes, "float32")
    with standin.installed() as cupy:
        rows = [[cupy.asarray(each) for each in row] for row in given]
        standin.launches.clear()
        over_many(MANY["sgd._descend"])(rows, call[1], **call[2])
        assert standin.launches == ["descend"] * 3
    plainly("sgd._descend", call, expected)
    assert_alike([[each.host for each in row] for row in rows], expected, "float32")


def test_arrays_that_do_not_fit_go_alone_or_are_brought_in_line():
    """A gradient that lies otherwise is copied; what is changed and lies otherwise is changed where it is."""
    for turned in ((0,), (1,), (2,), (0, 1, 2)):
        call = CALLS["sgd._descend"][1]
        made = [np.arange(6.0, dtype=np.float32).reshape(2, 3) + place for place in range(3)]
        expected = [each.copy() for each in made]
        MANY["sgd._descend"](*expected, *call[1], **call[2])
        with standin.installed() as cupy:
            row = [
                cupy.asarray(np.ascontiguousarray(each.T)).T if place in turned else cupy.asarray(each)
                for place, each in enumerate(made)
            ]
            over_many(MANY["sgd._descend"])([row], call[1], **call[2])
            for place in (0, 2):
                np.testing.assert_allclose(row[place].host, expected[place], rtol=1e-6)
    with standin.installed() as cupy:
        row = [cupy.asarray(np.ones(2, kind)) for kind in ("float32", "float64")] + [None]
        over_many(MANY["sgd._descend"])([row], CALLS["sgd._descend"][0][1], **SGD)
        np.testing.assert_allclose(row[0].host, [0.9, 0.9], rtol=1e-6)


@pytest.mark.parametrize(("values", "met"), [([1.0, 2.0], 0), ([1.0, np.inf], 1), ([np.nan, 1.0], 1)])
def test_a_condition_is_told_of_all_rows(values: list[float], met: int):
    with standin.installed() as cupy:
        rows = [(cupy.asarray(np.array(each, np.float32)),) for each in ([3.0], values, [4.0])]
        found = over_many(MANY["grad_scaler._multiplied"])(rows, (2.0,))
        assert found.item() == met
        np.testing.assert_array_equal(rows[2][0].host, [8.0])


def test_what_cannot_be_written_says_so():
    for function, told in (
        (lambda a: np.exp(a), "exp cannot be written"),
        (lambda a: np.sum(a), "sum cannot be written"),
        (lambda a: a.__setitem__(0, a), "all elements change at once"),
    ):
        with pytest.raises(TypeError, match=told):
            source(function, "f", "float32", (True,), (), {})


# ---------------------------------------------------------------- as programs

AROUND = """
#include <cmath>
#define __device__ static inline
#define __global__
using std::sqrt; using std::fabs;
static struct {{ int x; }} blockIdx, threadIdx, blockDim;
{code}
extern "C" void run(int blocks, int threads, const Table* table) {{
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) {name}(*table);
}}
"""


class Program:
    """A written kernel as a program of this machine, in the place of ``cupy.RawKernel``."""

    folder = Path()

    def __init__(self, code: str, name: str) -> None:
        path = self.folder / f"{len(list(self.folder.iterdir()))}.cpp"
        path.write_text(AROUND.format(code=code, name=name), "utf-8")
        made = path.with_suffix(".so")
        subprocess.run(["g++", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", made, path], check=True)
        self.run = ctypes.CDLL(str(made)).run

    def __call__(self, grid: tuple[int], block: tuple[int], arguments: tuple[Any]) -> None:
        self.run(grid[0], block[0], arguments[0].ctypes.data_as(ctypes.c_void_p))


def test_the_programs_give_what_the_lines_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if not shutil.which("g++"):
        pytest.skip("needs a compiler for C++: g++")
    monkeypatch.setattr(Program, "folder", tmp_path)
    sizes = [3, 1, 0, PART, 2 * PART + 1, 300]
    for name, place in EVERY:
        for dtype in ("float32", "float64") if name == "sgd._descend" else ("float32",):
            call = present, numbers, fixed = CALLS[name][place]
            expected, given = rows_of(present, sizes, dtype), rows_of(present, sizes, dtype)
            with standin.installed() as cupy:
                cupy.RawKernel = Program
                rows = [[None if each is None else cupy.asarray(each) for each in row] for row in given]
                over_many(MANY[name])(rows, numbers, **fixed)
                found = [[None if each is None else each.host for each in row] for row in rows]
            plainly(name, call, expected)
            assert_alike(found, expected, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_cudas_compiler_takes_them(dtype: str, tmp_path: Path):
    if not shutil.which("nvcc"):
        pytest.skip("needs CUDA's compiler: nvcc, of NVIDIA's CUDA toolkit")
    codes, include = [], ""
    for number, (name, place) in enumerate(EVERY):
        present, numbers, fixed = CALLS[name][place]
        given = tuple(each is not None for each in numbers)
        code, table, _, _ = source(MANY[name], f"kernel_{number}", dtype, present, given, fixed)
        include, code = code.split("\n", 1)
        codes.append(f"namespace n{number} {{\n{code}\nstatic_assert(sizeof(Table) == {table.itemsize});\n}}")
    path = tmp_path / "kernels.cu"
    path.write_text("\n".join([include, *codes]), "utf-8")
    ran = subprocess.run(
        ["nvcc", "-ptx", "-o", tmp_path / "kernels.ptx", path], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr
