"""nbgrader grades a lesson: points for right answers, none for wrong ones, and a table of the class."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autokit.classroom.lessons import copy_lessons
from tests.support import require
from tests.test_lessons import ROOT, answers

OWN = "import autokit.classroom as ak\ntotal, mean = {}, {}"
OWN_CHECK = """# Exercise 2.9
ak.check(total, 12.0)
### BEGIN HIDDEN TESTS
3 * ak.judge(ak.check, total, 12.0).right + ak.judge(ak.check, mean, 4.0).right
### END HIDDEN TESTS"""


def graded(source: str, name: str, **settings: object) -> NotebookNode:
    about = {
        "grade": False,
        "solution": False,
        "grade_id": name,
        "locked": False,
        "schema_version": 3,
        "task": False,
    }
    return nbformat.v4.new_code_cell(source, id=name, metadata={"nbgrader": {**about, **settings}})


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lesson with an exercise of the teacher's own, and what three learners made of it, graded."""
    require("nbgrader")
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from nbgrader.plugins import CsvExportPlugin
    from traitlets.config import Config

    root = tmp_path_factory.mktemp("course")
    copy_lessons(root / "source" / "graphs", numbers=[2])
    (source,) = (root / "source" / "graphs").glob("*.ipynb")
    book = nbformat.read(source, 4)
    own = ["total = mean = ...", "### BEGIN SOLUTION", OWN.format(12, 4), "### END SOLUTION"]
    book.cells.append(graded("\n".join(own), "own-answer", solution=True))
    book.cells.append(graded(OWN_CHECK, "own-check", grade=True, locked=True, points=4))
    nbformat.write(book, source)
    tables, settings = answers(source.stem), Config()
    settings.CourseDirectory.root = settings.Exchange.root = str(root)
    right = {f"{name}-answer": table.right[-1] for name, table in tables.items()}
    wrong = {f"{name}-answer": next(iter(table.wrong)) for name, table in tables.items()}
    the_class = {
        "ann": right | {"own-answer": OWN.format(12, 4)},
        "ben": wrong | {"own-answer": OWN.format(5, 5)},
        "cleo": {"exercise-1-answer": right["exercise-1-answer"], "own-answer": OWN.format(12, 5)},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        nbgrader = NbGraderAPI(config=settings)
        assert nbgrader.generate_assignment("graphs")["success"]
        for learner, given in the_class.items():
            book = nbformat.read(root / "release" / "graphs" / source.name, 4)
            for cell in book.cells:
                cell.source = given.get(cell.id, cell.source)
            (root / "submitted" / learner / "graphs").mkdir(parents=True)
            nbformat.write(book, root / "submitted" / learner / "graphs" / source.name)
            assert nbgrader.autograde("graphs", learner)["success"]
        with Gradebook(nbgrader.coursedir.db_url) as gradebook:
            CsvExportPlugin(to=str(root / "grades.csv")).export(gradebook)
    return root


def test_scores_are_the_points_of_what_is_right(course: Path):
    with (course / "grades.csv").open() as file:
        scores = {
            row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)
        }
    (source,) = (course / "source" / "graphs").glob("*.ipynb")
    checks = {
        cell.id: cell.metadata.nbgrader.points
        for cell in nbformat.read(source, 4).cells
        if "-check" in cell.id
    }
    most = sum(checks.values())
    assert scores["ann"] == (most, most)
    assert scores["ben"][0] <= most - sum(
        points for name, points in checks.items() if name.endswith("-check")
    )
    first = sum(points for name, points in checks.items() if name.startswith("exercise-1-"))
    assert scores["cleo"][0] == first + 3


def test_a_verdict_is_the_error_and_a_hidden_test_is_put_back(course: Path):
    path = next((course / "autograded" / "ben" / "graphs").glob("*.ipynb"))
    cells = {cell.id: cell for cell in nbformat.read(path, 4).cells}
    (wrong,) = cells["exercise-1-check"].outputs
    assert wrong.ename == "AssertionError"
    assert next(iter(answers(path.stem)["exercise-1"].wrong.values())) in wrong.evalue
    released = next((course / "release").rglob("*.ipynb")).read_text("utf-8")
    assert "HIDDEN" in cells["own-check"].source and "HIDDEN" not in released
