"""Run lessons again and keep what they show: ``python -m tests.renew_lessons [NAME ...]``.

For after a change of how something is drawn or worded.  Read the difference
before you commit it: what a lesson shows is checked against these outputs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

LESSONS = Path(__file__).parent.parent / "notebooks"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def renew(path: Path) -> None:
    """Execute the lesson at ``path``; no widget, no time and no machine's version is written."""
    notebook = nbformat.read(path, as_version=4)
    runner = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
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
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n", "utf-8")


if __name__ == "__main__":
    chosen = sys.argv[1:] or sorted(path.stem for path in LESSONS.glob("*.ipynb"))
    for name in chosen:
        renew(LESSONS / f"{name}.ipynb")
