"""The benchmark of a GPU runs, on tiny sizes, whatever fails: it is to work on the day that there is one."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.benchmarks import gpu as benchmark
from tests.benchmarks.training import lenet, perceptron, transformer


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]):
    if importlib.import_module("autokit").cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(SystemExit, match="autokit finds no GPU here"):
        benchmark.main()


SMALL = tuple(
    row._replace(make=make)
    for row, make in zip(
        benchmark.ROWS, (perceptron(5, 4, 3), perceptron(6, 4, 2), lenet(2), transformer(8)), strict=True
    )
)
CHAIN = benchmark.Chain(4, 10, 1.3)
TINY: dict[str, Any] = {"chosen": SMALL, "chain": CHAIN, "rounds": 1, "times": 1}


@pytest.fixture
def with_pytorch(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PyTorch that finds the GPU: autokit in its place, where there is no build of that for CUDA."""
    try:
        import torch

        there = gpu == "CuPy" and torch.cuda.is_available()
    except ImportError:
        there = False
    if not there:
        import autokit

        for name in ("", ".nn", ".optim"):
            monkeypatch.setitem(sys.modules, f"torch{name}", importlib.import_module(f"autokit{name}"))
        assert importlib.import_module("torch") is autokit


@pytest.mark.usefixtures("with_pytorch")
@pytest.mark.parametrize("number", range(5))
def test_every_row_is_measured(number: int):
    lines = list(benchmark.measured(number, **TINY))
    assert re.search(r"\| \d+\.\d{3} ms \| \d+\.\d\d \|", lines[0])
    if number < len(SMALL):
        assert len(lines) == 1 and SMALL[number].title in lines[0] and str(SMALL[number].wanted) in lines[0]
    else:
        assert "4 elementwise operations on 10 numbers" in lines[0] and "of their time" in lines[1]


@pytest.mark.usefixtures("gpu")
def test_without_a_pytorch_for_cuda_there_are_no_ratios(monkeypatch: pytest.MonkeyPatch):
    found = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    for torch, told in ((found, "finds no GPU"), (None, "ModuleNotFoundError: import of torch halted")):
        monkeypatch.setitem(sys.modules, "torch", torch)
        lines = [line for number in range(5) for line in benchmark.measured(number, **TINY)]
        assert len(lines) == 6 and "of their time" in lines[-1]
        for line in lines[:-1]:
            assert re.search(r"\| \d+\.\d{3} ms \| PyTorch failed: ", line) and told in line


@pytest.mark.usefixtures("with_pytorch")
def test_what_fails_is_told_in_its_row():
    def broken(torch: Any, nn: Any) -> Any:
        def step() -> None:
            raise RuntimeError("CUDA error: | no kernel image\nis available")

        return step

    def unmade(torch: Any, nn: Any) -> Any:
        raise MemoryError("Out of memory")

    rows = SMALL[0]._replace(make=broken), SMALL[1]._replace(make=unmade)
    for number, told in enumerate(("RuntimeError: CUDA error: / no kernel image is", "MemoryError: Out of")):
        (line,) = benchmark.measured(number, **{**TINY, "chosen": rows})
        assert line.startswith(f"| {rows[number].title} | failed: {told}") and line.count("|") == 5


# ---------------------------------------------------------------- each in a process of its own


def test_a_process_that_dies_hangs_or_fails_ends_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name, code in (
        ("fine", "print('| a | 1 |')"),
        ("dies", "import os; print('| b | 2 |', flush=True); os.abort()"),
        ("hangs", "import time; time.sleep(60)"),
        ("fails", "raise ValueError('what it was')"),
    ):
        (tmp_path / f"{name}.py").write_text(code, "utf-8")
    monkeypatch.setattr(benchmark, "ROOT", tmp_path)
    monkeypatch.setattr(benchmark, "PATIENCE", 2)
    assert benchmark.in_a_process("fine") == ["| a | 1 |"]
    assert benchmark.in_a_process("dies")[0] == "| b | 2 |" and "-6" in benchmark.in_a_process("dies")[-1]
    assert benchmark.in_a_process("hangs") == ["stopped after 2 seconds"]
    assert benchmark.in_a_process("fails")[-2:] == ["ValueError: what it was", "it ended with 1"]


def test_the_whole_command_writes_all_that_it_learns(
    gpu: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    asked: list[tuple[str, ...]] = []

    def run(*arguments: str) -> list[str]:
        asked.append(arguments)
        if arguments[0] == "pytest":
            return ["....", "FAILED tests/gpu/test_x.py::a", "1 failed, 4 passed in 3s", "it ended with 1"]
        number = int(arguments[-1])
        return ["some warning", f"| row {number} | 1 ms | | |"] if number else ["it ended with -11"]

    monkeypatch.setattr(benchmark, "in_a_process", run)
    file = tmp_path / "gpu.md"
    benchmark.main(str(file))
    text = file.read_text("utf-8")
    assert capsys.readouterr().out == text
    assert re.search(r"CUDA \d+\.\d", text) and "cupy" in text.splitlines()[0]
    assert f"| {benchmark.ROWS[0].title} | failed: it ended with -11 | | |" in text
    assert all(f"| row {number} | 1 ms | | |" in text for number in range(1, 5)) and "warning" not in text
    here = {path.name for path in Path(__file__).parent.glob("test_*.py")}
    assert {Path(each[1]).name for each in asked if each[0] == "pytest"} == here
    assert "test_benchmark.py: 1 failed, 4 passed in 3s\nFAILED tests/gpu/test_x.py::a\nit ended" in text


def test_a_row_is_asked_for_by_its_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(benchmark, "measured", lambda number: iter([f"| {number} |"]))
    benchmark.main("--row", "3")
    assert capsys.readouterr().out == "| 3 |\n"
    ran = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "gpu", "--row", "1"],
        cwd=benchmark.ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert ran.stdout.startswith(f"| {benchmark.ROWS[1].title} | ")
