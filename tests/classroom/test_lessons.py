"""Copies of the lessons: what the learner changed stays, and student copies hold no solution."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from autokit.classroom import lessons
from autokit.classroom.lessons import Obstacle, copy_lessons, lessons_folder, student_version

HIDDEN = "### BEGIN SOLUTION\nz = 2\n### END SOLUTION\n### BEGIN HIDDEN TESTS\n1\n### END HIDDEN TESTS"


def notebook(source: str, **metadata: object) -> bytes:
    cell = {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [1], "execution_count": 2}
    return json.dumps({"cells": [cell], "metadata": {"widgets": {}}, "nbformat": 4}).encode()


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lessons in place of the package's own, so that a test can bring out a new version."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "01-a.ipynb").write_bytes(notebook("one"))
    (folder / "02-b.ipynb").write_bytes(notebook("two"))
    monkeypatch.setattr(lessons, "lessons_folder", lambda: folder)
    return folder


def outcomes(folder: Path, student: bool = False) -> list[str]:
    return [copied.outcome for copied in copy_lessons(folder, student)]


def test_a_second_copy_changes_nothing(shipped: Path, tmp_path: Path):
    mine = tmp_path / "deep" / "mine"
    assert outcomes(mine) == ["new", "new"]
    assert outcomes(mine) == ["same", "same"]
    assert (mine / "01-a.ipynb").read_bytes() == (shipped / "01-a.ipynb").read_bytes()
    assert sorted(os.listdir(mine)) == [lessons.MANIFEST, "01-a.ipynb", "02-b.ipynb"]


def test_an_unchanged_copy_follows_the_new_version_and_a_changed_one_stays(shipped: Path, tmp_path: Path):
    mine = tmp_path / "mine"
    copy_lessons(mine)
    (mine / "01-a.ipynb").write_bytes(b"my work")
    assert outcomes(mine) == ["kept", "same"]
    assert not (mine / "01-a.new.ipynb").exists()

    for name in ("01-a.ipynb", "02-b.ipynb"):
        (shipped / name).write_bytes(notebook("new"))
    assert outcomes(mine) == ["beside", "updated"]
    assert (mine / "01-a.ipynb").read_bytes() == b"my work"
    assert (mine / "01-a.new.ipynb").read_bytes() == notebook("new")
    assert (mine / "02-b.ipynb").read_bytes() == notebook("new")

    (mine / "01-a.new.ipynb").unlink()
    assert outcomes(mine) == ["kept", "same"]
    assert not (mine / "01-a.new.ipynb").exists()


def test_only_the_lessons_asked_for_are_copied(shipped: Path, tmp_path: Path):
    assert [copied.name for copied in copy_lessons(tmp_path / "mine", numbers=[2])] == ["02-b.ipynb"]
    with pytest.raises(LookupError, match="there is no lesson 7 or 8"):
        copy_lessons(tmp_path / "none", numbers=[7, 8])
    assert not (tmp_path / "none").exists()


def test_the_new_version_beside_is_the_learners_too_once_changed(shipped: Path, tmp_path: Path):
    mine = tmp_path / "mine"
    copy_lessons(mine)
    (mine / "01-a.ipynb").write_bytes(b"my work")
    (shipped / "01-a.ipynb").write_bytes(notebook("second"))
    assert outcomes(mine)[0] == "beside"
    (mine / "01-a.new.ipynb").write_bytes(b"more work")
    (shipped / "01-a.ipynb").write_bytes(notebook("third"))
    assert outcomes(mine)[0] == "kept"
    assert (mine / "01-a.ipynb").read_bytes() == b"my work"
    assert (mine / "01-a.new.ipynb").read_bytes() == b"more work"
    (mine / "01-a.new.ipynb").rename(mine / "other.ipynb")
    assert outcomes(mine)[0] == "beside"
    assert (mine / "01-a.new.ipynb").read_bytes() == notebook("third")


def test_without_the_list_every_file_that_differs_is_the_learners(shipped: Path, tmp_path: Path):
    mine = tmp_path / "mine"
    copy_lessons(mine)
    (mine / "01-a.ipynb").write_bytes(b"my work")
    (mine / lessons.MANIFEST).unlink()
    assert outcomes(mine) == ["beside", "same"]
    assert (mine / "01-a.ipynb").read_bytes() == b"my work"


@pytest.mark.parametrize(
    "manifest", [b"", b"[]", b"\xff", b'{"01-a.ipynb": 3}', b"[" * 100_000], ids=range(5)
)
def test_a_list_that_is_none_is_refused_in_a_sentence(shipped: Path, tmp_path: Path, manifest: bytes):
    (tmp_path / lessons.MANIFEST).write_bytes(manifest)
    with pytest.raises(Obstacle, match=r"autokit-lessons.json is no list of lessons .*: delete it"):
        copy_lessons(tmp_path)
    assert (tmp_path / lessons.MANIFEST).read_bytes() == manifest and not list(tmp_path.glob("*.ipynb"))


@pytest.mark.parametrize("name", [lessons.MANIFEST, "02-b.ipynb"])
def test_a_link_to_nothing_and_a_folder_are_refused_and_stay(shipped: Path, tmp_path: Path, name: str):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / name).symlink_to("nowhere")
    with pytest.raises(Obstacle, match=f"{name} is a link to a file that is not there: move it away"):
        copy_lessons(mine)
    assert os.listdir(mine) == [name] and (mine / name).is_symlink()
    (mine / name).unlink()
    (mine / name).mkdir()
    with pytest.raises(Obstacle, match=f"{name} is no file"):
        copy_lessons(mine)
    assert os.listdir(mine) == [name]


def test_a_write_that_fails_leaves_the_old_file_whole(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mine = tmp_path / "mine"
    copy_lessons(mine)
    (shipped / "01-a.ipynb").write_bytes(notebook("new"))

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            copy_lessons(mine)
    assert (mine / "01-a.ipynb").read_bytes() == notebook("one")
    assert sorted(os.listdir(mine)) == [lessons.MANIFEST, "01-a.ipynb", "02-b.ipynb"]


def test_a_student_copy_replaces_an_unchanged_full_one(shipped: Path, tmp_path: Path):
    (shipped / "01-a.ipynb").write_bytes(notebook("### BEGIN SOLUTION\nx = 1\n### END SOLUTION"))
    mine = tmp_path / "mine"
    copy_lessons(mine)
    assert outcomes(mine, student=True) == ["updated", "updated"]
    cell = json.loads((mine / "01-a.ipynb").read_bytes())["cells"][0]
    assert cell["source"] == "# YOUR CODE HERE\nraise NotImplementedError()"
    assert cell["outputs"] == [] and cell["execution_count"] is None


def test_a_solution_cell_without_markers_goes_whole_and_other_cells_stay():
    marked = {"nbgrader": {"solution": True}}
    cells = [
        {"cell_type": "code", "metadata": marked, "source": ["x = 1\n", "x"], "outputs": [1]},
        {"cell_type": "markdown", "metadata": marked, "source": "Because."},
        {"cell_type": "code", "metadata": {}, "source": ["y = 1\n", "y"], "outputs": [1]},
        {"cell_type": "raw", "metadata": {}, "source": "raw"},
        {"cell_type": "code", "metadata": {}, "source": f"z = ...\n{HIDDEN}\nz", "outputs": []},
    ]
    original = json.dumps(cells)
    student = student_version({"cells": cells, "metadata": {"widgets": {}, "kernelspec": {}}})
    assert [cell["source"] for cell in student["cells"]] == [
        "# YOUR CODE HERE\nraise NotImplementedError()",
        "YOUR ANSWER HERE",
        "y = 1\ny",
        "raw",
        "z = ...\nz",
    ]
    assert student["metadata"] == {"kernelspec": {}}
    assert student["cells"][2]["outputs"] == []
    assert json.dumps(cells) == original


def test_each_real_lesson_has_a_student_version_that_nbformat_accepts():
    import nbformat

    for path in sorted(lessons_folder().glob("*.ipynb")):
        student = student_version(json.loads(path.read_bytes()))
        nbformat.validate(nbformat.from_dict(student))
        assert "SOLUTION" not in json.dumps(student)
        assert _holes(student) == sum(map(_is_exercise, json.loads(path.read_bytes())["cells"]))


def _is_exercise(cell: dict[str, Any]) -> bool:
    marked = cell["metadata"].get("nbgrader", {}).get("solution", False)
    return marked or "### BEGIN SOLUTION" in "".join(cell["source"])


def _holes(notebook: dict[str, Any]) -> int:
    stubs = ("# YOUR CODE HERE\n", " = ...", "YOUR ANSWER HERE")
    return sum(any(stub in "".join(cell["source"]) for stub in stubs) for cell in notebook["cells"])
