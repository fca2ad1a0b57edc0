"""Each lesson has the parts that every lesson has, and its exercises tell right from wrong.

That the stored outputs are what a run gives is nbval's to test.
"""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from autokit.classroom.lessons import student_version
from tests.support import printed_by, require

ROOT = Path(__file__).parent.parent
LESSONS = {path.stem: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
CODE_LINES = 12
KILOBYTES = 400

WRONG = {
    "01-what-is-a-computation-graph": {
        "exercise-1": "boxes = arrows = 5",
        "exercise-2": "per_fruit_shape = everything_shape = (2, 3)",
        "exercise-3": "def cost(width, length):\n    return 4 * width * length",
    },
    "02-the-chain-rule-backwards": {
        "exercise-1": "def slopes(a, b):\n    return 2 * (a * b + a), 2 * a",
        "exercise-2": (
            "def backward(order):\n"
            "    order[-1].grad = 1.0\n"
            "    for value in reversed(order):\n"
            "        for parent in value.parents:\n"
            "            parent.grad = value.grad"
        ),
        "exercise-3": "held = 3.0",
    },
    "03-train-a-network-on-digits": {
        "exercise-1": "loss_at_the_start = 0.1",
        "exercise-2": (
            "right = torch.tensor([0.0, 0.0, 1.0])\n"
            "def slopes_by_scores(scores):\n    return right - scores.softmax(dim=0)"
        ),
        "exercise-3": (
            "network.zero_grad()\n"
            "for part in range(4):\n"
            "    few = slice(8 * part, 8 * part + 8)\n"
            "    loss_function(network(images[few]), labels[few]).backward()"
        ),
        "exercise-4": "slopes_left = 1024",
    },
}
"""For each exercise an answer that a learner may well give."""

lesson = pytest.mark.parametrize("name", LESSONS)


def read(name: str) -> NotebookNode:
    return nbformat.read(LESSONS[name], as_version=nbformat.NO_CONVERT)


def code(book: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def prose(book: NotebookNode) -> dict[str, str]:
    return {cell.id: cell.source for cell in book.cells if cell.cell_type == "markdown"}


def printed(cell: NotebookNode) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def verdicts(book: NotebookNode, exercise: str) -> list[str]:
    """What the checks of an exercise print, line by line, without hints."""
    cells = [cell for cell in code(book) if cell.id.startswith(f"{exercise}-check")]
    lines = "".join(map(printed, cells)).splitlines()
    return [line for line in lines if not line.startswith("Hint:")]


def exercises(book: NotebookNode) -> list[str]:
    return [cell.id for cell in book.cells if re.fullmatch(r"exercise-\d+", cell.id)]


def run(book: NotebookNode) -> NotebookNode:
    """Run a copy of the lesson as Jupyter's *Run All* does, from a folder that holds nothing of ours."""
    book = nbformat.from_dict(json.loads(json.dumps(book)))
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    NotebookClient(book, timeout=120, kernel_name="python3").execute(env={**os.environ, "PYTHONPATH": path})
    return book


# -------------------------------------------------------- what every lesson has


@lesson
def test_it_is_a_sound_notebook_with_lasting_cell_names(name: str):
    book = read(name)
    nbformat.validate(book)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    assert book.metadata.kernelspec.name == "python3"
    assert set(book.metadata) == {"kernelspec", "language_info"}
    ids = [cell.id for cell in book.cells]
    assert len(set(ids)) == len(ids)
    assert [
        i for i in ids if not re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", i) or re.fullmatch("[0-9a-f]{8}", i)
    ] == []
    assert LESSONS[name].stat().st_size < KILOBYTES * 1024


@lesson
def test_it_has_the_parts_of_a_lesson(name: str):
    book = read(name)
    texts = prose(book)
    title, question = texts["title"].split("\n\n")[:2]
    assert title.startswith(f"# {int(name[:2])} · ")
    assert re.fullmatch(r"\*\*The question:\*\* [^.?]+\?", question)
    assert texts["misconception"].startswith('## The misconception: "')
    assert texts["in-pytorch"].startswith("## The same in PyTorch\n")
    assert texts["what-next"].startswith("## What next\n") and "To read:\n- " in texts["what-next"]
    assert len(exercises(book)) >= 2
    assert book.cells[-1].id == "what-next"


@lesson
def test_code_cells_are_short_and_none_escapes_the_comparison(name: str):
    for cell in code(read(name)):
        assert len(cell.source.splitlines()) <= CODE_LINES, cell.id
        assert "nbval" not in (cell.source + json.dumps(cell.metadata)).lower(), cell.id


@lesson
def test_outputs_are_whole_and_name_no_machine(name: str):
    for cell in code(read(name)):
        assert set(cell.metadata) <= {"nbgrader", "tags"}, cell.id
        for output in cell.outputs:
            assert output.output_type in ("stream", "execute_result", "display_data"), cell.id
            assert output.get("name") != "stderr", cell.id
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {}), cell.id
        shown = json.dumps(cell.outputs, ensure_ascii=False)
        pictures = re.findall(r"base64,([A-Za-z0-9+/=]+)", shown)
        words = re.sub(r"base64,[A-Za-z0-9+/=]+", "", shown)
        words += "".join(base64.b64decode(picture).decode() for picture in pictures)
        machine = r"0x[0-9a-f]{4,}|/tmp|/home|/root|/usr/|/Users|\w:\\\\|ipykernel|\d\d:\d\d|localhost"
        assert re.findall(machine, words) == [], cell.id


@lesson
def test_pictures_stand_still_where_nothing_plays_and_say_what_they_show(name: str):
    cells = code(read(name))
    stills = [
        "".join(str(output.get("data", {}).get("text/html", "")) for output in c.outputs) for c in cells
    ]
    for cell, still in zip(cells, stills, strict=True):
        assert still.count("<img") == len(re.findall(r'<img alt="[^"]{20,}', still)), cell.id
        assert "<img" in still or "ak.animate(" not in cell.source, cell.id
    players = [place for place, cell in enumerate(cells) if "ak.animate(" in cell.source]
    assert players and any(map(len, stills[: players[0]])), "a still comes before the first player"


# -------------------------------------------------------- exercises


@lesson
def test_each_exercise_has_a_marked_solution_and_a_check_that_it_passes(name: str):
    book = read(name)
    cells = {cell.id: cell for cell in book.cells}
    for exercise in exercises(book):
        answer = cells[f"{exercise}-answer"]
        assert answer.metadata.nbgrader.solution and "### BEGIN SOLUTION\n" in answer.source
        assert cells[f"{exercise}-check"].metadata.nbgrader.locked
        said = verdicts(book, exercise)
        assert said and all(line == "Right." or line.endswith(": right.") for line in said), (exercise, said)


@lesson
def test_a_student_copy_runs_to_its_end_and_gives_nothing_away(name: str):
    full, student = read(name), nbformat.from_dict(student_version(read(name)))
    checks = [[cell.source for cell in code(book) if "-check" in cell.id] for book in (full, student)]
    assert checks[0] == checks[1]
    kept = "\n".join(cell.source for cell in student.cells)
    for cell in code(full):
        for solution in re.findall(r"### BEGIN SOLUTION\n(.+?)### END", cell.source, re.DOTALL):
            assert solution.strip() not in kept, cell.id
    assert all(cell.outputs == [] for cell in code(student))
    book = run(student)
    for exercise in exercises(book):
        said = verdicts(book, exercise)
        assert said and all(line.startswith("Not answered yet") for line in said), (exercise, said)


@lesson
def test_a_wrong_answer_is_told_so(name: str):
    book = nbformat.from_dict(student_version(read(name)))
    assert list(WRONG[name]) == exercises(book), "WRONG has an answer for every exercise"
    for cell in book.cells:
        if cell.id.endswith("-answer"):
            cell.source = WRONG[name][cell.id.removesuffix("-answer")]
    book = run(book)
    for exercise in exercises(book):
        said = "\n".join(verdicts(book, exercise))
        assert "Not yet" in said or "look again" in said, (exercise, said)


# -------------------------------------------------------- PyTorch


@lesson
@pytest.mark.parametrize("engine", ["autokit", "torch"])
def test_the_program_for_pytorch_prints_what_it_says(name: str, engine: str):
    require(engine)
    text = prose(read(name))["in-pytorch"]
    program, output = (re.search(rf"```{kind}\n(.+?)```", text, re.DOTALL)[1] for kind in ("python", "text"))
    if engine == "autokit":
        program = program.replace("import torch\n", "import autokit as torch\n").replace(
            "from torch ", "from autokit "
        )
    assert printed_by(program) == output
