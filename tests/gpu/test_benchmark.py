"""The benchmark of a GPU runs, on tiny sizes: it is to work on the day that there is one."""

from __future__ import annotations

import importlib
import re
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


def test_the_whole_command_writes_the_table(
    gpu: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """With autokit in PyTorch's place, where there is no build of that for CUDA."""
    if gpu == "stand-in":
        import autokit

        for name in ("", ".nn", ".optim"):
            monkeypatch.setitem(sys.modules, f"torch{name}", importlib.import_module(f"autokit{name}"))
        assert importlib.import_module("torch") is autokit
    monkeypatch.setattr(benchmark, "tested", lambda: "7 passed")
    file = tmp_path / "gpu.md"
    benchmark.main(str(file), chosen=SMALL, chain=CHAIN, rounds=1, times=1)
    text = file.read_text("utf-8")
    assert capsys.readouterr().out == text
    assert text.count("| ") > 8 and "7 passed" in text and re.search(r"CUDA \d+\.\d", text.splitlines()[0])
    for line in text.splitlines()[-6:-1]:
        assert re.search(r"ms \| \d+\.\d\d \|", line), f"no ratio in {line}"


def test_the_tests_are_run_in_a_process_of_their_own(monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []

    def run(command: list[str], **settings: Any) -> Any:
        asked.append((command, settings["cwd"]))
        return SimpleNamespace(stdout="....\nFAILED tests/gpu/test_x.py::a\n1 failed, 4 passed\n", stderr="")

    monkeypatch.setattr(benchmark.subprocess, "run", run)
    assert benchmark.tested() == "FAILED tests/gpu/test_x.py::a\n1 failed, 4 passed"
    ((command, folder),) = asked
    assert (folder / "tests/gpu").is_dir() and command[1:4] == ["-m", "pytest", "tests/gpu"]


@pytest.mark.usefixtures("gpu")
def test_every_row_is_measured():
    rows = SMALL
    lines = list(benchmark.rows(rows, CHAIN, ("autokit",), rounds=1, times=1))
    assert len(lines) == 2 + len(rows) + 2
    for line, row in zip(lines[2:], rows):
        assert row.title in line and re.search(r"\| \d+\.\d{3} ms \|", line) and str(row.wanted) in line
    assert "4 elementwise operations on 10 numbers" in lines[-2] and "of their time" in lines[-1]
