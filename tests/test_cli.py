"""The command as a user runs it: real processes, a real JupyterLab, a real wheel."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from autokit.base.version import __version__
from autokit.classroom.lessons import lessons_folder
from tests.support import require

ROOT = Path(__file__).parent.parent


def autokit(
    *arguments: object, cwd: Path = ROOT, before: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-m", "autokit", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_version():
    assert autokit("--version").stdout == f"autokit {__version__}\n"


@pytest.mark.parametrize("arguments", ["", "nothing", "lab --port 0", "lab --port many", "lessons"])
def test_wrong_arguments_are_said_in_a_line_and_end_with_2(arguments: str):
    run = autokit(*arguments.split())
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1].startswith("autokit")
    assert "Traceback" not in run.stderr


def test_lessons_are_copied_and_a_changed_one_is_kept(tmp_path: Path):
    names = sorted(path.name for path in lessons_folder().glob("*.ipynb"))
    first = autokit("lessons", tmp_path)
    assert first.returncode == 0
    assert first.stdout.count(": copied") == len(names) > 0
    assert sorted(path.name for path in tmp_path.glob("*.ipynb")) == names
    copies = [path for path in tmp_path.rglob("*") if not path.name.startswith(".")]
    assert {path.suffix for path in copies} == {".ipynb"}  # and no page for teachers
    assert not any("BEGIN SOLUTION" in path.read_text("utf-8") for path in copies)

    (tmp_path / names[0]).write_text("my own work")
    second = autokit("lessons", tmp_path)
    assert f"{names[0]}: kept as you changed it\n" in second.stdout
    assert (tmp_path / names[0]).read_text() == "my own work"


def test_a_folder_that_cannot_be_is_a_clear_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        for command in (["lessons", folder], ["lab", "--no-browser", "--dir", folder]):
            run = autokit(*command)
            assert run.returncode == 1
            assert run.stderr == f"autokit: {folder} is a file, or lies below one: name a folder\n"


def test_a_terminal_without_unicode_is_no_obstacle(tmp_path: Path):
    for arguments in (["lessons", tmp_path / "μάθημα"], ["doctor"], ["--help"], ["lab", "--help"]):
        run = autokit(*arguments, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert run.returncode == 0, run.stderr
        assert run.stdout.isascii()


def test_the_doctor_finds_what_is_here():
    run = autokit("doctor")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    for part in ("Python", "NumPy", "Pictures", "Layout", "JupyterLab", "Widgets in JupyterLab", "Lessons"):
        assert re.search(rf"^  ok +{part}: ", run.stdout, re.MULTILINE), run.stdout
    assert re.search(r"^  (ok|--) +GPU \(optional\): ", run.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("module", "part", "status"),
    [("wasmtime", "Layout", 0), ("jupyterlab", "JupyterLab", 0), ("anywidget", "Widgets in JupyterLab", 0),
     ("autokit.draw", "Pictures", 1)],
)  # fmt: skip
def test_the_doctor_says_what_is_missing_and_how_to_get_it(
    tmp_path: Path, module: str, part: str, status: int
):
    # A site customization that hides a module stands in for a machine that lacks it.
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules[{module!r}] = None")
    run = autokit("doctor", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert run.returncode == status
    assert run.stderr == ""
    lines = rf"^  (--|MISSING) +{part}: .+\n +to get it: pip install"
    assert re.search(lines, run.stdout, re.MULTILINE), run.stdout
    words = "Something needed is missing: see above." if status else f"The engine works; not here: {part}."
    assert run.stdout.splitlines()[-1] == words


def test_lab_without_jupyterlab_says_how_to_get_it(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['jupyterlab'] = None")
    run = autokit("lab", "--dir", tmp_path / "mine", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert run.returncode == 1
    assert (
        run.stderr == 'autokit: JupyterLab is not installed; in the folder of autokit: pip install ".[lab]"\n'
    )
    assert not (tmp_path / "mine").exists()


@contextlib.contextmanager
def lab(folder: Path, port: int, home: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "autokit",
            "lab",
            *f"--no-browser --port {port} --dir".split(),
            folder,
            *options,
        ],
        cwd=ROOT,
        env={**os.environ, "HOME": str(home), "JUPYTER_TOKEN": "open sesame"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield server
    finally:
        server.terminate()
        server.communicate(timeout=60)


def test_lab_serves_the_copied_lessons(tmp_path: Path):
    require("jupyterlab")
    mine, port = tmp_path / "my lessons", free_port()
    name = min(path.name for path in lessons_folder().glob("*.ipynb"))

    def answer_to(path: str) -> Any:
        address, headers = f"http://127.0.0.1:{port}{path}", {"Authorization": "token open sesame"}
        return urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30)

    def ask(path: str) -> str:
        with answer_to(path) as answer:
            return answer.read().decode()

    with lab(mine, port, tmp_path) as server:
        until = time.monotonic() + 120
        while True:
            try:
                assert "version" in json.loads(ask("/api"))
                break
            except OSError:
                assert server.poll() is None, server.stderr and server.stderr.read()
                assert time.monotonic() < until, "JupyterLab did not answer"
                time.sleep(0.2)
        with answer_to("/") as page:
            assert page.url.endswith(f"/doc/tree/{name}")
        assert name in [entry["name"] for entry in json.loads(ask("/api/contents"))["content"]]
        settings = ask("/lab").partition("jupyter-config-data")[2].partition('"disabledExtensions"')[2]
        # or its question about news would cover the player
        assert "apputils-extension:announcements" in settings.partition("]")[0]
    assert "YOUR CODE HERE" in (mine / name).read_text("utf-8")
    assert "BEGIN SOLUTION" not in (mine / name).read_text("utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("hatchling")
    require("hatch_fancy_pypi_readme")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return next(folder.glob("*.whl"))


def test_the_wheel_carries_all_that_a_learner_needs(wheel: Path):
    assert wheel.name == f"autokit_edu-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = f"autokit_edu-{__version__}.dist-info"
        scripts = archive.read(f"{info}/entry_points.txt").decode()
        metadata = archive.read(f"{info}/METADATA").decode()
    tree = [path for path in (ROOT / "autokit").rglob("*") if path.is_file()]
    needed = {path.relative_to(ROOT).as_posix() for path in tree if path.parent.name != "__pycache__"}
    needed |= {f"autokit/notebooks/{path.name}" for path in lessons_folder().glob("*.ipynb")}
    assert needed <= names
    assert {"autokit/widgets/browser/player.js", "autokit/widgets/browser/player.css"} <= names
    assert {name.split("/")[0] for name in names} == {"autokit", info}
    assert not [name for name in names if ".ipynb_checkpoints" in name or "__pycache__" in name]
    assert "autokit = autokit.cli:main" in scripts
    links = re.findall(r"\]\(([^)]*)\)", metadata)  # where they are shown there is no tree
    assert "# How it compares" in metadata and [link for link in links if "://" not in link] == []
    assert "\nName: autokit-edu\n" in metadata and "\nLicense-Expression: BSD-3-Clause\n" in metadata


def test_the_package_in_the_wheel_finds_its_lessons_and_its_doctor_agrees(wheel: Path, tmp_path: Path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    away = {"cwd": tmp_path, "PYTHONPATH": str(tmp_path / "site")}
    run = autokit("lessons", tmp_path / "mine", **away)
    assert run.returncode == 0, run.stderr
    assert list((tmp_path / "mine").glob("01-*.ipynb"))
    run = autokit("doctor", **away)
    assert run.returncode == 0, run.stdout
