"""What is not saved and why; and a save that fails leaves the old file as it was."""

from __future__ import annotations

import io
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import nn
from autokit.serialization import archive as archive_module
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
        (np.float64(1), r"\.item\(\)"),
        (Unknown(), "Unknown"),
        (lambda: 0, "function"),
        (len, "builtin_function"),
        (frozenset({1}), "plain tuple, list or set"),
        ({(1, (2, frozenset())): 1}, "a key or an element"),
        ({1j}, "a key or an element"),
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


def test_a_failing_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.pt"
    ak.save([1], path)
    with pytest.raises(pickle.PicklingError):
        ak.save([ak.ones(3), Unknown()], path)
    assert ak.load(path) == [1] and os.listdir(tmp_path) == ["a.pt"]

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive_module.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ak.save([2], path)
    assert ak.load(path) == [1] and os.listdir(tmp_path) == ["a.pt"]


def test_a_killed_save_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a.pt"
    ak.save([1], path)
    program = (
        "import os, sys, autokit as ak\n"
        "from autokit.serialization import archive\n"
        "archive.os.fsync = lambda descriptor: os._exit(9)\n"
        "ak.save([ak.ones(1000)], sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], cwd=Path(__file__).parent.parent, timeout=60)
    assert done.returncode == 9
    assert len(os.listdir(tmp_path)) == 2  # the one beside was being written
    assert ak.load(path) == [1]


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


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_links_and_pipes(tmp_path: Path):
    path, link = tmp_path / "a.pt", tmp_path / "link.pt"
    ak.save([1], path)
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    link.symlink_to(path)
    ak.save([2], link)
    assert link.is_symlink() and ak.load(path) == [2] and stat.S_IMODE(path.stat().st_mode) == 0o640
    ak.save([3], os.devnull)
    assert not os.path.isfile(os.devnull)
    with pytest.raises(IsADirectoryError):
        ak.save([4], tmp_path)
