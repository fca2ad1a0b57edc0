"""What a learner has solved is kept by the checks, told in a table, and opens the solutions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autokit.classroom import progress
from autokit.cli import main
from tests.support import printed_by

LESSON = {
    "title": "# 5 · Build your own engine",
    "exercise-1-answer": "a = ...\n### BEGIN SOLUTION\na = 6\n### END SOLUTION",
    "exercise-1-check": "# Exercise 5.1\ncheck(a, 6)\ncheck(b, 4)",
    "exercise-2-answer": "def f(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION",
    "exercise-2-check": "# Exercise 5.2\ncheck(a, 6)",
    "exercise-2-check-more": "# Exercise 5.2\ncheck(b, 4)",
    "again-check": "# Again\ncheck(a, 6)",
}
SHELL = """
import os
del os.environ["PYTEST_CURRENT_TEST"]
os.environ.update({environment})
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
shell.run_cell("from autokit.classroom import check")
for source in {cells!r}:
    shell.run_cell(source, store_history=True)
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a lesson, and where the progress is kept."""
    cells = [{"id": name, "cell_type": "code", "source": text} for name, text in LESSON.items()]
    (tmp_path / "05-engine.ipynb").write_text(json.dumps({"cells": cells}))
    monkeypatch.setattr(progress, "lessons_of", lambda numbers=(): [tmp_path / "05-engine.ipynb"])
    monkeypatch.setenv("AUTOKIT_PROGRESS", str(tmp_path / "deep" / "progress.json"))
    return tmp_path / "deep" / "progress.json"


def run(
    *answers: str,
    names: str = "exercise-1-check exercise-2-check exercise-2-check-more again-check",
    **variables: str,
):
    cells = [each for answer in answers for each in (answer, *[LESSON[name] for name in names.split()])]
    printed_by(SHELL.format(cells=cells, environment=variables))


def told(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    status, said = main(command), capsys.readouterr()
    return said.out if status == 0 else said.err


def test_the_table_has_what_was_solved_after_how_many_tries(kept: Path, capsys: pytest.CaptureFixture[str]):
    title = " 5  Build your own engine  "
    assert told(capsys, "progress") == f"{title} 0 of 2\n"
    run("a = b = ...")
    assert told(capsys, "progress") == f"{title} 0 of 2\n"
    run("a = b = 5", "a, b = 6, 5")
    assert told(capsys, "progress") == f"{title} 0 of 2  5.1 not yet (2 tries), 5.2 not yet (2 tries)\n"
    run("a, b = 6, 4", "a = b = 1", names="exercise-1-check")
    assert told(capsys, "progress") == f"{title} 1 of 2  5.1 solved (3 tries), 5.2 not yet (2 tries)\n"


def test_a_solution_is_told_after_three_tries_or_when_solved_or_at_once(
    kept: Path, capsys: pytest.CaptureFixture[str]
):
    assert "told after 3 more tries, or with --now" in told(capsys, "solution", "5.1")
    assert told(capsys, "solution", "5.1", "--now") == "a = 6\n"
    run("a, b = 6, 4", "a, b = 6, 1", names="exercise-2-check-more")
    assert "told after 2 more tries" in told(capsys, "solution", "5.2")
    run("a, b = 6, 4", names="exercise-2-check")
    assert told(capsys, "solution", "5.2") == "def f(x):\n    return 2 * x\n"
    run("a = b = 1", "a = b = 2", "a = b = 3", names="exercise-1-check")
    assert told(capsys, "solution", "5.1") == "a = 6\n"
    assert "there is no exercise 5.9" in told(capsys, "solution", "5.9")
    assert "give lesson and number, as 5.2" in told(capsys, "solution", "five")


@pytest.mark.parametrize(
    "variable", ["PYTEST_CURRENT_TEST=yes", "NBGRADER_EXECUTION=yes", "AUTOKIT_PROGRESS="]
)
def test_nothing_is_kept_where_a_program_runs_the_lesson(kept: Path, variable: str):
    name, _, value = variable.partition("=")
    run("a = b = 4", **{name: value})
    assert not kept.exists()


def test_a_lesson_goes_on_where_nothing_can_be_kept(kept: Path, capsys: pytest.CaptureFixture[str]):
    run("a, b = 6, 4")
    for content in ("", "[]", '{"5.1": 3}'):
        kept.write_text(content)
        assert "0 of 2" in told(capsys, "progress")
        run("a = b = 4")
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.write_text("a file is in the way")
    run("a = b = 4")
    assert "0 of 2" in told(capsys, "progress")
