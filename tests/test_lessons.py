"""Each lesson has the parts that every lesson has, and its exercises tell right from wrong.

That the stored outputs are what a run gives is nbval's to test.
"""

from __future__ import annotations

import base64
import json
import os
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import SlidesExporter
from nbformat import NotebookNode

from autokit.classroom.lessons import student_version
from tests.lessons import Answers
from tests.renew_lessons import mark_slides, page_of, teachers_page
from tests.support import printed_by, require

ROOT = Path(__file__).parent.parent
LESSONS = {path.stem: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
CODE_LINES = 12
WORDS, WORDS_OF_A_CELL = 900, 80
KILOBYTES = 400
NEEDED = {"18": ("ipyparallel", "mpi4py")}
"""What a lesson needs beside the extra ``lab``."""
ALONE = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
"""What torchrun tells a program that it starts as the only process."""

lesson = pytest.mark.parametrize("name", LESSONS)


def read(name: str) -> NotebookNode:
    return nbformat.read(LESSONS[name], as_version=nbformat.NO_CONVERT)


def code(book: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def prose(book: NotebookNode) -> dict[str, str]:
    return {cell.id: cell.source for cell in book.cells if cell.cell_type == "markdown"}


def verdicts(outputs: list[NotebookNode]) -> list[str]:
    """What the checks of an exercise print, line by line, without hints."""
    text = "".join(output.get("text", "") for output in outputs if output.output_type == "stream")
    return [line for line in text.splitlines() if not line.startswith("Hint:")]


def is_right(verdict: str) -> bool:
    return verdict.startswith("Right.") or verdict.endswith(": right.")


def exercises(book: NotebookNode) -> list[str]:
    """Their names, of which ``guess`` and ``again`` ask about the misconception, before and after."""
    return [cell.id.removesuffix("-answer") for cell in book.cells if cell.id.endswith("-answer")]


def answers(name: str) -> dict[str, Answers]:
    return import_module(f"tests.lessons.answers_{name[:2]}").ANSWERS


Run = dict[str, list[NotebookNode]]
"""The outputs of cells, by names that say which: the cell's, its number of run, and the answer's number."""


@cache
def tried(name: str) -> Run:
    """What a learner's copy says when each teaching cell runs twice, and each exercise gets all its answers.

    An exercise runs from its answer to its last check: with each right answer, each wrong one, and
    unanswered, as the copy has it, so that whatever comes after it stands without an answer.
    """
    for part in NEEDED.get(name[:2], ()):
        require(part)
    cells, exercise, group = [], "", []
    book = nbformat.from_dict(student_version(read(name)))
    for cell in [*code(book), None]:
        if exercise and (not cell or not cell.id.startswith(exercise)):
            last = max(place for place, each in enumerate(group) if "-check" in each.id)
            cells += _attempts(group[: last + 1], answers(name)[exercise]) + _twice(group[last + 1 :])
            exercise, group = "", []
        if cell and cell.id.endswith("-answer"):
            exercise = cell.id.removesuffix("-answer")
        if cell and exercise:
            group.append(cell)
        elif cell:
            cells += _twice([cell])
    book.cells = cells
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    NotebookClient(book, timeout=120, kernel_name="python3").execute(env=environment)
    return {cell.metadata.run: cell.outputs for cell in book.cells}


def _twice(cells: list[NotebookNode]) -> list[NotebookNode]:
    return [_cell(cell, f"{cell.id} {number}") for cell in cells for number in (1, 2)]


def _attempts(group: list[NotebookNode], answers: Answers) -> list[NotebookNode]:
    """The cells of an exercise for each answer; the dots of the copy come last."""
    answer, *others = group
    cells = []
    for number, source in enumerate([*answers.right, *answers.wrong, answer.source]):
        cells.append(_cell({**answer, "source": source}, f"{answer.id} {number}"))
        cells[-1].metadata.tags = ["raises-exception"]
        cells += [_cell(cell, f"{cell.id} {number}") for cell in others]
    return cells


def _cell(cell: dict[str, Any], run: str) -> NotebookNode:
    tags = cell["metadata"].get("tags", [])
    return nbformat.v4.new_code_cell(cell["source"], metadata={"run": run, "tags": tags})


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
    assert texts["glossary"].startswith("## Glossary\n") and texts["glossary"].count("\n- **") <= 6
    assert texts["remember"].startswith("## To remember\n") and texts["remember"].count("\n- ") == 3
    assert texts["in-pytorch"].startswith("## The same in PyTorch\n")
    assert texts["what-next"].startswith("## What next\n") and "To read:\n- " in texts["what-next"]
    asked = exercises(book)
    assert (asked[0], asked[-1]) == ("guess", "again") and len(asked) >= 4
    assert book.cells[-1].id == "what-next"
    assert 25 <= len(book.cells) <= 45
    words = {
        name: len(re.sub("```.+?```", "", text, flags=re.DOTALL).split()) for name, text in texts.items()
    }
    assert sum(words.values()) <= WORDS
    assert [name for name, count in words.items() if count > WORDS_OF_A_CELL] == []


@lesson
def test_code_cells_are_short_and_none_escapes_the_comparison(name: str):
    for cell in code(read(name)):
        assert len(cell.source.splitlines()) <= CODE_LINES, cell.id
        assert "nbval" not in (cell.source + json.dumps(cell.metadata)).lower(), cell.id


@lesson
def test_outputs_are_whole_and_name_no_machine(name: str):
    for cell in code(read(name)):
        assert set(cell.metadata) <= {"jupyter", "nbgrader", "slideshow", "tags"}, cell.id
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
    stills = ["".join(output.get("data", {}).get("text/html", "") for output in c.outputs) for c in cells]
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
        answer, check = cells[f"{exercise}-answer"], cells[f"{exercise}-check"]
        assert answer.metadata.nbgrader.solution and "### BEGIN SOLUTION\n" in answer.source
        marked = check.metadata.nbgrader
        assert marked.locked and marked.grade and (marked.points > 0) == (exercise != "guess")
        assert check.metadata.jupyter.source_hidden, "it names the right answer"
        assert check.source.startswith(f"# {exercise.capitalize().replace('-', f' {int(name[:2])}.')}\n")
        said = verdicts(check.outputs)
        assert said and all(map(is_right, said)), (exercise, said)


@lesson
def test_a_learners_copy_gives_nothing_away(name: str):
    full, student = read(name), nbformat.from_dict(student_version(read(name)))
    kept = "\n".join(cell.source for cell in student.cells)
    for cell in code(full):
        for solution in re.findall(r"### BEGIN SOLUTION\n(.+?)### END", cell.source, re.DOTALL):
            assert solution.strip() not in kept, cell.id
    assert all(cell.outputs == [] for cell in code(student))


@lesson
def test_right_answers_pass_in_each_style_and_each_wrong_one_gets_its_words(name: str):
    assert list(answers(name)) == exercises(read(name))
    for exercise, (right, wrong) in answers(name).items():
        assert len(right) >= 3 and wrong, exercise
        for number, answer in enumerate([*right, *wrong, ...]):
            checks = [outputs for run, outputs in tried(name).items() if _is_check(run, exercise, number)]
            said = [output for outputs in checks for output in outputs]
            lines, text = verdicts(said), "".join(texts(said))
            assert lines, (exercise, answer)
            if number < len(right):
                assert all(map(is_right, lines)), (exercise, answer, text)
            elif answer is ...:
                assert lines[0].startswith("Not answered yet"), (exercise, text)
            else:
                assert not all(map(is_right, lines)), (exercise, answer, text)
                assert wrong[answer] in text, (exercise, answer, wrong[answer], text)


def _is_check(run: str, exercise: str, number: int) -> bool:
    return re.fullmatch(rf"{exercise}-check[a-z-]* {number}", run) is not None


@lesson
def test_each_cell_shows_the_same_when_it_runs_again(name: str):
    for run, outputs in tried(name).items():
        if run.endswith(" 2") and f"{run[:-2]} 1" in tried(name) and "-check" not in run:
            before = tried(name)[f"{run[:-2]} 1"]
            assert "".join(texts(outputs)) == "".join(texts(before)), run  # a stream may come in parts


def texts(outputs: list[NotebookNode]) -> list[str]:
    return [output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in outputs]


# -------------------------------------------------------- for teachers


@lesson
def test_its_page_for_teachers_is_whole_and_has_the_answers(name: str):
    page = page_of(LESSONS[name]).read_text("utf-8")
    assert page == teachers_page(LESSONS[name]), "python -m tests.renew_lessons --pages"
    assert page.startswith(f"# Lesson {int(name[:2])} · ")
    parts = re.findall("^## (.+)", page, re.MULTILINE)
    assert parts == ["Timing", "Where learners get stuck", "On the board", "To discuss", "The answers"]


@lesson
def test_its_cells_are_marked_for_a_talk(name: str):
    book = read(name)
    mark_slides(book)
    assert book == read(name), "python -m tests.renew_lessons"
    told = {cell.id: cell.metadata.slideshow.slide_type for cell in book.cells}
    assert told["title"] == told["misconception"] == "slide" and told["guess-answer"] == "skip"


def test_a_talk_has_a_slide_for_each_heading_and_a_step_for_each_moment():
    name = next(name for name in LESSONS if name.startswith("02"))
    page, _ = SlidesExporter().from_notebook_node(read(name))
    headings = sum(text.startswith("#") for text in prose(read(name)).values())
    assert len(re.findall("<section><section[ >]", page)) == headings
    moments = re.findall(
        "Step ([0-9]+) of", "".join(re.findall('<div class="fragment.+?</div>', page, re.DOTALL))
    )
    assert len(moments) >= 3 and moments == sorted(moments, key=int)
    assert "BEGIN SOLUTION" not in page and "Exercise 2.1" not in page


# -------------------------------------------------------- PyTorch


CHILDREN = """
import os, sys, torch._dynamo
for program in programs:
    if not (child := os.fork()):
        exec(program, {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, program
    print(end="\\0", flush=True)
"""
"""Runs each of ``programs`` in a process of its own, which finds PyTorch and its optimizers loaded."""


def program_of(name: str) -> tuple[str, str]:
    """The program for PyTorch, and what the lesson says that it prints."""
    text = prose(read(name))["in-pytorch"]
    return tuple(re.search(rf"```{kind}\n(.+?)```", text, re.DOTALL)[1] for kind in ("python", "text"))


@cache
def printed_by_pytorch() -> dict[str, str]:
    programs = [program_of(name)[0] for name in LESSONS]
    return dict(zip(LESSONS, printed_by(f"programs = {programs}\n{CHILDREN}", **ALONE).split("\0")))


@lesson
def test_the_program_for_pytorch_prints_what_it_says(name: str):
    for part in ("torch", *NEEDED.get(name[:2], ())):
        require(part)
    program, output = program_of(name)
    ours = program.replace("import torch\n", "import autokit as torch\n").replace(
        "from torch ", "from autokit "
    )
    ours = ours.replace('"gloo"', '"mpi"')  # the backend that autokit has
    assert printed_by(ours) == printed_by_pytorch()[name] == output
