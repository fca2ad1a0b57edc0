"""The reference page: complete, readable, and the same each time."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import autokit
from autokit import ops
from autokit.base import missing
from autokit.classroom import reference

ENTRIES = reference.entries()
BY_FORM = {form: entry for entry in ENTRIES for form in entry.forms}
PAGE = reference.page()


def test_every_public_name_is_there():
    assert {f"torch.{name}" for name in ops.FUNCTIONS} <= BY_FORM.keys()
    methods = {name for name in ops.METHODS if not name.startswith("_")}
    assert methods <= {form.removeprefix("x.").removesuffix("()") for form in BY_FORM}
    assert {f"torch.nn.functional.{name}" for name in ops.FUNCTIONAL} <= BY_FORM.keys()


def test_what_any_module_offers_is_there():
    told = {id(entry.thing) for entry in ENTRIES}
    lacking = set()
    for found in pkgutil.walk_packages(autokit.__path__, "autokit."):
        names = found.name.split(".")[1:]
        if any(name.startswith("_") for name in names) or names[0] in WITHIN:
            continue
        module = importlib.import_module(found.name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            is_ours = callable(thing) and getattr(thing, "__module__", "").startswith("autokit")
            if is_ours and not name.startswith("_"):
                lacking |= set() if id(inspect.unwrap(thing)) in told else {found.name}
    assert lacking == set(), "a room with names for programs is imported by autokit/classroom/reference.py"


WITHIN = {"base", "engine", "ops", "gpu", "graphs", "draw", "widgets", "static"}
"""Rooms whose names autokit asks for itself, or has from TensorFlow; the page has what else programs call."""


def test_where_autokit_is_smaller_is_said_once():
    section = PAGE[PAGE.index('<section id="smaller">') :]
    assert "Where autokit is smaller than PyTorch" in section
    for word in ("one process", "dense tensors", "torch.Tensor.coalesce", "numpy.fft", "and 2 more"):
        assert word in section
    left = set(re.findall(r"<code>(torch\.[\w.]+)</code>", section))
    assert len(left) > 30 and not left & {name.replace("x.", "torch.Tensor.") for name in BY_FORM}
    for name in sorted(left):
        space, _, last = name.rpartition(".")
        assert last in missing.pytorch_names()[space]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.forms[0])
def test_the_first_line_says_what_it_computes(entry: reference.Entry):
    said = (entry.thing.__doc__ or "").strip()
    first = " ".join(said.split("\n\n")[0].split())
    assert len(first) > 8 and first.endswith((".", ":")), "say in one sentence what it computes"


def test_forms_of_one_function_stand_together():
    forms = BY_FORM["torch.add"].forms
    assert forms == ["torch.add", "x.add()", "x.add_()", "x + y"]
    assert {"torch.softmax", "x.softmax()", "torch.special.softmax"} <= set(BY_FORM["torch.softmax"].forms)
    assert "torch.multiply" in BY_FORM["torch.mul"].forms


def test_an_operation_is_shown_with_its_rule():
    article = re.search(r'<article id="torch.exp">(.+?)</article>', PAGE, re.DOTALL)[1]
    for part in ("torch.exp(input)", "x.exp()", "ExpBackward0", "<td>result</td>", "autokit/ops/"):
        assert part in article


class Checker(HTMLParser):
    """Notes which elements are open, and all identities and links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.ids += [given["id"]] if given.get("id") else []
        self.links += [given["href"]] if given.get("href") else []
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_stands_alone():
    checker = Checker()
    checker.feed(PAGE)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert {link.removeprefix("#") for link in checker.links} <= set(checker.ids)
    assert not re.search(r"https?://|src=", re.sub(r"<article.*?</article>", "", PAGE, flags=re.DOTALL))
    assert not re.search(r" at 0x[0-9a-f]+", PAGE) and str(Path.home()) not in PAGE


def test_the_command_writes_the_same_page(tmp_path: Path):
    command = [sys.executable, "-m", "autokit", "reference"]
    settings = {
        "cwd": tmp_path,
        "env": {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        "capture_output": True,
        "text": True,
    }
    run = subprocess.run([*command, "a.html"], check=True, **settings)
    assert "a.html" in run.stdout
    assert (tmp_path / "a.html").read_text("utf-8") == PAGE
    refused = subprocess.run([*command, "."], **settings)
    assert refused.returncode == 1 and "cannot be written" in refused.stderr
