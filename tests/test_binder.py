"""The class image in ``binder/`` is pinned, and its pins are what pyproject.toml asks for."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

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


def test_the_image_installs_autokit_and_opens_on_the_lessons():
    script = ROOT / "binder" / "postBuild"
    assert os.access(script, os.X_OK)
    assert "pip install --no-cache-dir --no-deps ." in script.read_text("utf-8")
    config = json.loads((ROOT / "binder" / "jupyter_server_config.json").read_text("utf-8"))
    assert {app["default_url"] for app in config.values()} == {"/lab/tree/notebooks"}
    assert (ROOT / "notebooks").is_dir()
