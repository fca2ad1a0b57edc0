"""The benchmark of a GPU runs, on tiny sizes: it is to work on the day that there is one."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks import gpu as benchmark
from tests.benchmarks.training import lenet, perceptron, transformer


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]):
    if benchmark.importlib.import_module("autokit").cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(SystemExit, match="autokit finds no GPU here"):
        benchmark.main()


@pytest.mark.usefixtures("gpu")
def test_every_row_is_measured():
    rows = tuple(
        row._replace(make=make)
        for row, make in zip(
            benchmark.ROWS, (perceptron(5, 4, 3), perceptron(6, 4, 2), lenet(2), transformer(8))
        )
    )
    lines = list(benchmark.rows(rows, benchmark.Chain(4, 10, 1.3), ("autokit",), rounds=1, times=1))
    assert len(lines) == 2 + len(rows) + 2
    for line, row in zip(lines[2:], rows):
        assert row.title in line and re.search(r"\| \d+\.\d{3} ms \|", line) and str(row.wanted) in line
    assert "4 elementwise operations on 10 numbers" in lines[-2] and "of their time" in lines[-1]
