"""A file is replaced as a whole: whatever goes wrong, the old one is there, and nothing stays behind."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from autokit.base import files
from autokit.base.files import replacing
from tests.support import ROOT

DYING = """
import os, sys
from autokit.base.files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os._exit(9)
"""


def write(path: Path, contents: bytes) -> None:
    with replacing(path) as file:
        file.write(contents)


def die_in_a_save(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", DYING, path], cwd=ROOT, timeout=60)
    assert done.returncode == 9


def test_an_error_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.svg"
    write(path, b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"new")
        raise ZeroDivisionError

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(path, b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.svg"]


def test_the_next_save_clears_what_a_killed_process_left(tmp_path: Path):
    path = tmp_path / "a.pt"
    write(path, b"old")
    die_in_a_save(path)
    (left,) = tmp_path.glob(".a.pt.*.part")
    assert path.read_bytes() == b"old" and left.read_bytes() == b"half"
    write(tmp_path / "other.pt", b"new")
    assert sorted(os.listdir(tmp_path)) == ["a.pt", "other.pt"]


def test_other_unfinished_files_stay(tmp_path: Path):
    die_in_a_save(tmp_path / "a.pt")
    (left,) = tmp_path.glob(".*.part")
    host = left.name.split(".")[3][:8]
    kept = [
        left.with_name(left.name.replace(host, f"{int(host, 16) ^ 1:08x}")),  # of another computer
        tmp_path / f".a.pt.{host}-{os.getppid()}-{'0' * 16}.part",  # its process lives
        tmp_path / f".a.pt.{host}-{os.getpid()}-{'0' * 16}.part",  # another thread
        tmp_path / ".a.pt.part",  # not ours
        tmp_path / "notes.part",
    ]
    for each in kept:
        each.touch()
    with replacing(tmp_path / "b.pt"):
        write(tmp_path / "c.pt", b"within")
    assert sorted(tmp_path.iterdir()) == sorted([*kept, tmp_path / "b.pt", tmp_path / "c.pt"])


def test_long_names_and_missing_folders(tmp_path: Path):
    long = tmp_path / ("学" * 80 + ".pt")
    write(long, b"new")
    assert long.read_bytes() == b"new"
    with pytest.raises(RuntimeError, match=r"Parent directory .*nowhere does not exist"):
        write(tmp_path / "nowhere" / "a.pt", b"new")


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_links_and_pipes(tmp_path: Path):
    path, link, plain = tmp_path / "a.pt", tmp_path / "link.pt", tmp_path / "plain"
    write(path, b"1")
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, b"2")
    assert link.is_symlink() and path.read_bytes() == b"2" and stat.S_IMODE(path.stat().st_mode) == 0o640
    write(Path(os.devnull), b"3")
    assert not os.path.isfile(os.devnull)
    with pytest.raises(IsADirectoryError):
        write(tmp_path, b"4")
