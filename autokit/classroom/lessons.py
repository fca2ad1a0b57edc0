"""The lessons that come with autokit are copied to a folder in which a learner works on them.

A file that the learner changed is never overwritten.  A hidden list in the folder has the checksum of every
file that was copied into it, by which a changed file is recognized.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autokit.base.files import replacing

MANIFEST = ".autokit-lessons.json"

_STUB = {
    "code": ["# YOUR CODE HERE", "raise NotImplementedError()"],
    "markdown": ["YOUR ANSWER HERE"],
}
_BEGIN = re.compile(r"^(\s*)### BEGIN (SOLUTION|HIDDEN TESTS)\s*$")
_END = re.compile(r"^\s*### END (SOLUTION|HIDDEN TESTS)\s*$")
_MESSAGE = {"new": "copied", "updated": "updated to the new version", "same": "is up to date"}


class Obstacle(Exception):
    """Something in a folder that a copy would destroy or cannot read; the text says what, and what to do."""


@dataclass(frozen=True)
class Copied:
    """What became of one lesson: ``outcome`` is a word, ``message`` a sentence."""

    name: str
    outcome: str
    message: str


def lessons_folder() -> Path:
    """Where the lessons lie: inside the installed package, or beside it in a source tree.

    Raises
    ------
    LookupError
        Where this installation carries none.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if any(folder.glob("*.ipynb")):
            return folder
    raise LookupError("no lessons are here: pip install --force-reinstall . in autokit's folder")


def lessons_of(numbers: Collection[int] = ()) -> list[Path]:
    """The files of lessons, by default of all of them, in order; a ``LookupError`` where there is none."""
    lessons = sorted(lessons_folder().glob("*.ipynb"))
    found = [lesson for lesson in lessons if not numbers or int(lesson.name[:2]) in numbers]
    if not found:
        raise LookupError(f"there is no lesson {' or '.join(map(str, numbers))}")
    return found


def copy_lessons(folder: Path, student: bool = False, numbers: Collection[int] = ()) -> list[Copied]:
    """Copy lessons into ``folder``, which is made where it is missing.

    Parameters
    ----------
    folder : Path
    student : bool
        Take the solutions and the outputs out, as :func:`student_version` does.
    numbers : collection of int
        Those of the lessons to copy; by default all.

    Returns
    -------
    list of Copied
        For each lesson, in order, one of ``"new"``, ``"updated"`` (it was an older copy, unchanged),
        ``"same"``, ``"kept"`` (the learner changed it) and ``"beside"`` (the learner changed it and
        the lesson has changed too: the new version stands beside it as ``NAME.new.ipynb``).

    Raises
    ------
    LookupError
        Where this installation carries no lessons, or none of these numbers.
    Obstacle
        Where a lesson's name is that of a link to nothing or of a folder, or the hidden list is none. Then
        nothing was copied.
    OSError
        Where ``folder`` cannot be made or written to.
    """
    lessons = lessons_of(numbers)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (MANIFEST, *(lesson.name for lesson in lessons)):
        _require_file(folder / name)
    known = _read_manifest(folder)
    report = []
    for lesson in lessons:
        content = lesson.read_bytes()
        if student:
            content = _dump(student_version(json.loads(content)))
        report.append(_place(folder, lesson.name, content, known))
    with replacing(folder / MANIFEST) as file:
        file.write(json.dumps(known, indent=1).encode())
    return report


def student_version(notebook: dict[str, Any]) -> dict[str, Any]:
    r"""A copy of a notebook (as JSON data) without solutions and outputs, marked up as nbgrader does.

    In a code cell the lines between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` become a stub, and go
    where a line such as ``answer = ...`` stands before them; a cell whose metadata says
    ``nbgrader: {"solution": true}`` and that has no such lines becomes one whole.  Those between
    ``### BEGIN HIDDEN TESTS`` and ``### END HIDDEN TESTS`` go.

    >>> cell = {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": ["6"],
    ...         "source": "def f(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"}
    >>> print(student_version({"cells": [cell]})["cells"][0]["source"])
    def f(x):
        # YOUR CODE HERE
        raise NotImplementedError()
    """
    metadata = {key: value for key, value in notebook.get("metadata", {}).items() if key != "widgets"}
    return {**notebook, "metadata": metadata, "cells": [_student_cell(cell) for cell in notebook["cells"]]}


def _student_cell(cell: dict[str, Any]) -> dict[str, Any]:
    cell = dict(cell)
    stub = _STUB.get(cell["cell_type"])
    if cell["cell_type"] == "code":
        cell.update(outputs=[], execution_count=None)
    if stub is None:
        return cell
    lines, found = _without_regions(source_of(cell).splitlines(), stub)
    if not found and cell.get("metadata", {}).get("nbgrader", {}).get("solution"):
        lines = stub
    cell["source"] = "\n".join(lines)
    return cell


def source_of(cell: dict[str, Any]) -> str:
    """The text of a cell, which a file may have line by line."""
    return "".join(cell["source"])


def _without_regions(lines: Iterable[str], stub: list[str]) -> tuple[list[str], bool]:
    kept: list[str] = []
    inside = found = False
    for line in lines:
        begin = _BEGIN.match(line)
        if begin:
            inside, solves = True, begin[2] == "SOLUTION"
            found |= solves
            dots = bool(kept) and kept[-1].endswith("= ...")  # the answer takes their place
            kept += [begin[1] + text for text in stub] if solves and not dots else []
        elif _END.match(line):
            inside = False
        elif not inside:
            kept.append(line)
    if inside:
        raise ValueError("a lesson has '### BEGIN' of a region without its '### END'")
    return kept, found


def _place(folder: Path, name: str, content: bytes, known: dict[str, str]) -> Copied:
    """Bring one lesson to the folder; ``known`` holds the version of each that the folder last got."""
    seen = known.get(name) == _checksum(content)
    outcome = _put(folder / name, content, known)
    if outcome != "changed":
        return Copied(name, outcome, _MESSAGE[outcome])
    if seen:
        return Copied(name, "kept", "kept as you changed it")
    beside = name.removesuffix(".ipynb") + ".new.ipynb"
    if _put(folder / beside, content, known) == "changed":
        return Copied(name, "kept", f"kept as you changed it; rename {beside} to get the newest beside it")
    known[name] = _checksum(content)
    return Copied(name, "beside", f"kept as you changed it; the new version stands beside it as {beside}")


def _put(target: Path, content: bytes, known: dict[str, str]) -> str:
    """Write ``target`` unless the learner changed it, and say what was met."""
    _require_file(target)
    shipped = _checksum(content)
    current = _checksum(target.read_bytes()) if target.exists() else None
    if current is not None and current not in (shipped, known.get(target.name)):
        return "changed"
    known[target.name] = shipped
    if current == shipped:
        return "same"
    with replacing(target) as file:
        file.write(content)
    return "new" if current is None else "updated"


def _require_file(path: Path) -> None:
    """Raise unless ``path`` is a file, a link to one, or free."""
    if not path.is_file() and (path.exists() or path.is_symlink()):
        what = "is no file" if path.exists() else "is a link to a file that is not there"
        raise Obstacle(f"{path} {what}: move it away, or name another folder")


def _read_manifest(folder: Path) -> dict[str, str]:
    """The list of what was copied before; without one every file that differs counts as the learner's."""
    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        known = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        known = None
    if not isinstance(known, dict) or not all(isinstance(each, str) for each in known.values()):
        raise Obstacle(
            f"{path} is no list of lessons that autokit wrote: delete it; every lesson in the folder that "
            "differs from autokit's then counts as changed by you, and is kept"
        )
    return known


def _dump(notebook: dict[str, Any]) -> bytes:
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
