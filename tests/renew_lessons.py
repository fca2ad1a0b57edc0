"""Run lessons again and keep what they show: ``python -m tests.renew_lessons [--pages] [NAME ...]``.

For after a change of how something is drawn or worded.  Read the difference before you commit it: what a
lesson shows is checked against these outputs.  Its cells are marked for a talk, and the answers are written
to the page for teachers, which alone is done by ``--pages``.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from importlib import import_module
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

LESSONS = Path(__file__).parent.parent / "notebooks"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
SCREEN = 30
ANSWERS = "\n## The answers\n"


def renew(path: Path) -> None:
    """Execute the lesson at ``path``; no widget, no time and no machine's version is written."""
    notebook = nbformat.read(path, as_version=4)
    runner = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(LESSONS)}},
    )
    runner.execute(env={**os.environ, "AUTOKIT_PROGRESS": ""})
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)
    mark_slides(notebook)
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n", "utf-8")
    renew_page(path)


# ---------------------------------------------------------------- a talk


def mark_slides(notebook: NotebookNode) -> None:
    """Mark each cell for ``jupyter nbconvert --to slides``.

    A heading begins a slide, and a picture has a screen to itself, below it. What is between comes step by
    step, and goes on below where a screen is full. The learners' cells are left out: a talk asks the
    question, and the room answers.
    """
    used = 0
    for cell in notebook.cells:
        lines = height(cell)
        if cell.id == "imports" or re.search("-(answer|check|setup)", cell.id):
            told = "skip"
        elif cell.cell_type == "markdown" and cell.source.startswith("#"):
            told, used = "slide", lines
        elif used + lines > SCREEN:
            told, used = "subslide", lines
        else:
            told, used = "fragment", used + lines
        cell.metadata["slideshow"] = {"slide_type": told}


def height(cell: NotebookNode) -> int:
    """About so many lines of a screen does a cell take; a picture takes all of them."""
    outputs = cell.get("outputs", [])
    if any("text/html" in output.get("data", {}) for output in outputs):
        return SCREEN
    printed = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    lines = "\n".join([cell.source, *printed]).splitlines()
    return sum(1 + len(line) // 110 for line in lines) + 1


# ---------------------------------------------------------------- the teacher's page


def page_of(path: Path) -> Path:
    return path.parent / "teachers" / f"{path.stem}.md"


def renew_page(path: Path) -> None:
    if page_of(path).exists():
        page_of(path).write_text(teachers_page(path), "utf-8")


def teachers_page(path: Path) -> str:
    """The teacher's page of the lesson at ``path``, with its answers, and what wrong ones are told."""
    page = page_of(path).read_text("utf-8").partition(ANSWERS)[0]
    cells = {cell.id: cell.source for cell in nbformat.read(path, 4).cells}
    parts = [page.rstrip() + "\n", ANSWERS.strip()]
    for name, (_, wrong) in import_module(f"tests.lessons.answers_{path.name[:2]}").ANSWERS.items():
        title = cells.get(name, name).partition("\n")[0].lstrip("# ")
        answers = [source for cell, source in cells.items() if cell.startswith(f"{name}-answer")]
        solved = "\n\n".join(map(solution, answers))
        checks = "\n".join(source for cell, source in cells.items() if cell.startswith(f"{name}-check"))
        told = {answer: whole(words, checks) for answer, words in wrong.items()}
        parts += [f"### {title}", f"```python\n{solved}\n```", replies(told)]
    return "\n\n".join(parts) + "\n"


def solution(source: str) -> str:
    """An answer's cell without the lines that mark the solution, and the dots that it replaces."""
    marks = re.compile(r" *### (BEGIN|END) |.*= \.\.\.$")
    return "\n".join(line for line in source.splitlines() if not marks.match(line))


def whole(words: str, checks: str) -> str:
    """The hint or the reply of the checks that has these words; where it is none of these, the words."""
    texts = [str(each.value) for each in ast.walk(ast.parse(checks)) if isinstance(each, ast.Constant)]
    return min((" ".join(text.split()) for text in texts if words in text), key=len, default=f"{words} …")


def replies(told: dict[str, str]) -> str:
    """A list of what is told, each with the wrong answers that it is told for."""
    answers = {words: [answer for answer in told if told[answer] == words] for words in told.values()}
    return "\n".join("\n".join([f"- {words}", *map(quoted, each)]) for words, each in answers.items())


def quoted(answer: str) -> str:
    code = answer.strip().replace("\n", "\n    ")
    return f"  - `{code}`" if "\n" not in code else f"  - ```python\n    {code}\n    ```"


if __name__ == "__main__":
    asked = [each for each in sys.argv[1:] if each != "--pages"]
    for name in asked or sorted(path.stem for path in LESSONS.glob("*.ipynb")):
        work = renew_page if "--pages" in sys.argv else renew
        work(LESSONS / f"{name}.ipynb")
