"""The class image in ``binder/`` is pinned, and its pins are what pyproject.toml asks for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from autokit.classroom.lessons import lessons_of

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LINES = (ROOT / "binder" / "requirements.txt").read_text("utf-8").splitlines()
PINS = [Requirement(line) for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin.name)
def test_every_version_is_exact(pin: Requirement):
    assert [clause.operator for clause in pin.specifier] == ["=="]
    assert "*" not in str(pin.specifier) and not pin.url


def needed_by(extra: str) -> list[str]:
    """What an extra asks for, and the extras that it names."""
    asked = [Requirement(line) for line in PROJECT["optional-dependencies"][extra]]
    others = [name for each in asked if each.name == PROJECT["name"] for name in each.extras]
    return [
        *(str(each) for each in asked if each.name != PROJECT["name"]),
        *(line for name in others for line in needed_by(name)),
    ]


@pytest.mark.parametrize("needed", PROJECT["dependencies"] + needed_by("lab"))
def test_the_pins_satisfy_the_project(needed: str):
    requirement = Requirement(needed)
    pinned = {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in PINS}
    assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])


def test_the_image_has_a_python_that_the_project_supports():
    version = (ROOT / "binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)


def test_the_image_installs_autokit_and_opens_lesson_1():
    script = ROOT / "binder" / "postBuild"
    assert os.access(script, os.X_OK)
    assert "pip install --no-cache-dir --no-deps ." in script.read_text("utf-8")
    config = json.loads((ROOT / "binder" / "jupyter_server_config.json").read_text("utf-8"))
    values = yaml.safe_load((ROOT / "binder" / "jupyterhub.yaml").read_text("utf-8"))["singleuser"]
    address = f"/lab/tree/lessons/{lessons_of()[0].name}"
    assert {app["default_url"] for app in config.values()} == {address} == {values["defaultUrl"]}


def test_the_server_starts_after_the_lessons_were_copied_and_where_they_cannot_be(tmp_path: Path):
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    here = {**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    for _ in range(2):
        command = [ROOT / "binder" / "start", "echo", "the server"]
        done = subprocess.run(command, env=here, capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout.endswith("the server\n")
        lesson = tmp_path / "lessons" / lessons_of()[0].name
        assert "BEGIN SOLUTION" not in lesson.read_text("utf-8")
        lesson.write_text("BEGIN of my work")
    assert lesson.read_text() == "BEGIN of my work" and not (tmp_path / "lessons" / "teachers").exists()
    here["HOME"] = str(lesson)
    assert subprocess.run(command, env=here, capture_output=True, text=True).stdout == "the server\n"


def test_the_page_and_the_hub_have_the_same_figures():
    page = (ROOT / "binder" / "README.md").read_text("utf-8")
    values = yaml.safe_load((ROOT / "binder" / "jupyterhub.yaml").read_text("utf-8"))["singleuser"]
    for size in values["memory"].values():
        assert f"{int(size[:-1]):,} MB" in page
