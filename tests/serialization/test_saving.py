"""What is not saved and why; and a save that is killed leaves a whole file."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import nn
from tests.support import require

require("torch")


class Unknown:
    pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (nn.Linear(1, 1), r"model\.state_dict\(\)"),
        (ak.optim.SGD([ak.ones(1)], lr=0.1), r"optimizer\.state_dict\(\)"),
        (np.ones(2), "from_numpy"),
        (Unknown(), "Unknown"),
        (lambda: 0, "function"),
        (frozenset({1}), "plain dict, tuple, list or set"),
        ({(1, (2, frozenset())): 1}, "a key or an element"),
        (2**5000, "more than 2,000 bits"),
    ],
)
def test_what_cannot_be_loaded_is_not_saved(value: Any, words: str):
    file = io.BytesIO()
    with pytest.raises(pickle.PicklingError, match=words):
        ak.save({"model": [1, value]}, file)
    assert file.getvalue() == b""


def test_the_refusal_says_where():
    with pytest.raises(pickle.PicklingError, match=r"what is at \['a'\]\[1\]\['b'\]"):
        ak.save({"a": [1, {"b": Unknown()}]}, io.BytesIO())


def test_what_is_nested_without_end_is_not_saved():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(pickle.PicklingError, match=r"nested too deep: it goes on at \[0\]\[0\]"):
        ak.save(deep, io.BytesIO())


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a.pt"
    ak.save([1], path)
    with pytest.raises(pickle.PicklingError):
        ak.save([ak.ones(3), Unknown()], path)
    assert ak.load(path) == [1] and os.listdir(tmp_path) == ["a.pt"]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_program_killed_while_it_saves_again_and_again_leaves_a_whole_file(tmp_path: Path):
    path = tmp_path / "a.pt"
    program = (
        "import sys, autokit as ak\n"
        "for number in range(100_000):\n"
        "    ak.save({'number': number, 'rows': ak.full((200, 500), float(number))}, sys.argv[1])\n"
        "    if number == 2: print('begun', flush=True)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program, path],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None and running.stdout.readline() == "begun\n"
        for _ in range(20):  # whenever one looks, there is a whole file
            found = ak.load(path)
            assert (found["rows"] == found["number"]).all()
    finally:
        running.kill()
        running.communicate()
    found = ak.load(path)
    assert found["number"] >= 2 and (found["rows"] == found["number"]).all()
