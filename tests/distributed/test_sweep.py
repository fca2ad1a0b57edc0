"""Sweeps: reproducible trials, failures as rows, a file that survives, and engines that die."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import autokit as torch
from autokit.distributed.cluster import Cluster
from autokit.func.trials import Sweep, head_of
from tests.distributed.ranks import lives
from tests.support import ROOT, require

GRID = {"lr": [0.1, 0.4], "width": [1, 2]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    require("ipyparallel")
    with torch.cluster(2) as made:
        yield made


def train(lr: float, width: int) -> list[Any]:
    """Losses that come from all three streams of random numbers; one setting fails."""
    if (lr, width) == (0.4, 2):
        raise ValueError("too wide")
    w = torch.randn(width).sum() + np.random.rand() + random.random()
    return [(w * (1 - 2 * lr) ** step).square() for step in range(4)]


def same(one: Sweep, other: Sweep) -> bool:
    """Whether two sweeps agree in all but the seconds."""
    rows = [[{**row, "seconds": 0, "value": str(row["value"])} for row in each.rows] for each in (one, other)]
    return rows[0] == rows[1]


def test_trials_are_the_same_by_hand_and_in_a_process() -> None:
    found = torch.sweep(train, GRID, seeds=3)
    assert len(found.rows) == 12 and found.title == "train: 12 of 12 trials"
    for row in found.rows:
        if row["error"] is not None:
            assert row["setting"] == {"lr": 0.4, "width": 2} and math.isnan(row["value"])
            assert row["error"].endswith("ValueError: too wide\n") and ", in train\n" in row["error"]
            continue
        for seed in (torch.manual_seed, np.random.seed, random.seed):
            seed(row["seed"])
        assert row["curve"] == [float(loss) for loss in train(**row["setting"])]
        assert row["value"] == row["curve"][-1]
    assert sum(row["error"] is not None for row in found.rows) == 3
    assert found.best == {"lr": 0.4, "width": 1}
    values = [row["value"] for row in found.rows[:3]]
    assert f"lr=0.1, width=1: {np.mean(values):.4g} ± {np.std(values, ddof=1):.2g}\n" in repr(found)
    assert "    seed 2: ValueError: too wide" in repr(found)
    assert torch.sweep(lambda x: x, {"x": [1, 3, float("nan"), 2]}, mode="max").best == {"x": 3}


def test_a_process_that_dies_loses_its_own_trial() -> None:
    def dies(how: str) -> float:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "hard":
            os._exit(3)
        if how == "exits":
            sys.exit("enough")
        return {"none": None, "empty": [], "dict": {"loss": 1}, "lives": 1.0}[how]  # type: ignore[return-value]

    ways = ["killed", "hard", "exits", "none", "empty", "dict", "lives"]
    errors = [row["error"] for row in torch.sweep(dies, {"how": ways}).rows]
    assert errors[-1] is None
    for error, words in zip(
        errors, ["code -9", "code 3", "SystemExit: enough", "not None", r"not []", "not {'l"]
    ):
        assert words in error


def test_a_sweep_goes_on_where_its_file_ends(tmp_path: Path) -> None:
    file, log = tmp_path / "sweep.jsonl", tmp_path / "log"

    def train(x: int, kind: Any) -> float:
        with open(log, "a") as lines:
            lines.write(f"{x} ")
        if x == 2 and not (tmp_path / "mended").exists():
            raise RuntimeError("broken")
        return x + random.random()

    grid = {"x": np.arange(4), "kind": [(1, 2), torch.relu]}
    first = torch.sweep(train, grid, seeds=[5, 7], file=file)
    text = file.read_bytes()
    assert text.count(b"\n") == 17 and len(log.read_text().split()) == 16
    assert {json.dumps(row) for row in first.rows} == set(text.decode().splitlines()[1:])
    file.write_bytes(text[:-9])  # as a killed run leaves it
    (tmp_path / "mended").touch()
    again = torch.sweep(train, grid, seeds=[5, 7], file=file)
    ran = Counter(log.read_text().split())
    assert ran["2"] == 8 and sum(ran.values()) <= 16 + 4 + 1
    assert not any(row["error"] for row in again.rows) and len(again.rows) == 16
    assert same(again, torch.sweep(train, grid, seeds=[5, 7], file=file))  # all read
    assert Counter(log.read_text().split()) == ran


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"precious", "line 1: this is no row"),
        (b"x,y\n1,2\n", "line 1: this is no row"),
        (b'{"sweep": "other", "settings": ["x"]}\n', "holds another sweep.*other"),
        (b'{"sweep": "train", "settings": ["x"]}\n', "holds another sweep.*'x'.*lr.*width"),
        (b'{"sweep": "train", "source": 1, "settings": ["lr", "width"]}\n', "another sweep.*'source': 1"),
        (json.dumps(head_of(train, GRID)).encode() + b'\n{"sett\n{}\n', "line 2: this is no row"),
    ],
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, text: bytes, words: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(text)
    with pytest.raises(ValueError, match=words):
        torch.sweep(train, GRID, file=file)
    assert file.read_bytes() == text


def test_what_is_wrong_is_said_before_a_trial_runs() -> None:
    for grid, seeds in (({}, 1), ({"lr": [], "width": [1]}, 1), (GRID, 0)):
        with pytest.raises(ValueError, match="needs settings with values, and a seed"):
            torch.sweep(train, grid, seeds=seeds)
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        torch.sweep(train, {**GRID, "depth": [1]})
    with pytest.raises(ValueError, match="written alike"):
        torch.sweep(train, {"lr": [lambda: 1, lambda: 2], "width": [1]})
    with pytest.raises(ValueError, match='"min" or "max"'):
        torch.sweep(train, GRID, mode="best")
    with pytest.raises(ValueError, match="no setting has a finite value"):
        _ = torch.sweep(train, {"lr": [0.4], "width": [2]}).best


PROGRAM = """
import sys, time
import autokit
def train(x):
    print("begun", flush=True)
    time.sleep(0.3 if x < 3 else 60)
    return x
found = autokit.sweep(train, {"x": range(6)}, file=sys.argv[1])
print(found.title, [row["value"] for row in found.rows])
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_sweep_that_is_ended_keeps_its_rows_and_leaves_no_process(tmp_path: Path, how: int) -> None:
    file = tmp_path / "rows"
    program = [sys.executable, "-c", PROGRAM, str(file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        began = time.monotonic()
        while not file.exists() or file.read_bytes().count(b"\n") < 4:
            assert time.monotonic() - began < 30
            time.sleep(0.02)
        family = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(how)
        began = time.monotonic()
        told = running.stdout.read()
    while any(lives(process.pid) for process in family):
        assert time.monotonic() - began < 5
    assert ("train: 3 of 6 trials" in told and ", stopped [0.0, 1.0, 2.0]" in told) == (how == signal.SIGINT)
    assert family and file.read_bytes().count(b"\n") == 4


def test_engines_give_the_same_numbers(cluster: Cluster, tmp_path: Path) -> None:
    scale = torch.tensor(2.0)

    def closure(lr: float, width: int) -> Any:
        return [scale * loss for loss in train(lr, width)]

    there = torch.sweep(closure, GRID, seeds=2, cluster=cluster, file=tmp_path / "rows")
    here = torch.sweep(closure, GRID, seeds=2)
    assert [row["curve"] for row in there.rows] == [row["curve"] for row in here.rows]
    assert [bool(row["error"]) for row in there.rows] == [False] * 6 + [True] * 2
    assert "ValueError: too wide" in there.rows[-1]["error"]


def test_an_engine_that_dies_loses_no_trial(cluster: Cluster, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def deadly(x: int) -> int:
        with open(log, "a") as lines:
            lines.write(f"{x} ")
        time.sleep(0.2)
        if x == 3:
            os._exit(3)
        return x

    found = torch.sweep(deadly, {"x": range(6)}, cluster=cluster)
    assert [row["value"] for row in found.rows if row["setting"]["x"] != 3] == [0, 1, 2, 4, 5]
    assert found.rows[3]["error"] == "Its engine died, and once more when it ran alone."
    ran = Counter(log.read_text().split())
    assert ran["3"] == 2 and 6 < sum(ran.values()) <= 8
    assert len(cluster) == 2


def test_the_picture_shows_lines_and_a_heatmap() -> None:
    found = torch.sweep(train, GRID, seeds=2)
    lines, table = found.figure().axes
    assert len(lines.lines) == 3 * 3  # each seed and the mean of what did not fail
    means = [np.mean([row["curve"] for row in found.rows[k : k + 2]], axis=0) for k in (0, 2, 4)]
    np.testing.assert_allclose([line.get_ydata() for line in lines.lines[2::3]], means)
    written = [text.get_text() for text in table.texts]
    assert len(written) == 4 and written[3] == "×"
    assert [text.get_fontweight() for text in table.texts] == ["normal", "normal", "bold", "normal"]
    assert (table.get_xlabel(), table.get_ylabel()) == ("width", "lr")
    assert "lr=0.1, width=2" in found._repr_mimebundle_()["text/html"]
    single = torch.sweep(lambda x: x * random.random(), {"x": [1, 2]}, seeds=3).figure()
    assert [len(line.get_ydata()) for line in single.axes[0].lines] == [3, 3]
