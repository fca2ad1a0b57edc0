"""A script collects the steps of a story, in chapters, while the story is computed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autokit.graphs.model import Change, Chapter, Step


class Script:
    """Collects steps; ``close`` ends a chapter.

    ``brief`` tells what writes it to spend one step on each value and each
    contribution: of a large graph nobody watches more.
    """

    def __init__(self, brief: bool = False) -> None:
        self.brief = brief
        self.steps: list[Step] = []
        self.chapters: list[Chapter] = []
        self.current: list[Step] = []

    def step(self, kind: str, phase: str, sentence: str, *more: Any, **named: Any) -> None:
        """One more step of the chapter at hand; the rest is that of a :class:`Step`, in its order."""
        self.current.append(Step(kind, phase, len(self.chapters), sentence, *more, **named))

    def change_last(self, *changes: Change) -> None:
        """Let the step told last change more."""
        last = self.current[-1]
        self.current[-1] = replace(last, changes=(*last.changes, *changes))

    def close(self, sentence: str) -> None:
        """End the chapter at hand, and say it in one sentence."""
        first = len(self.steps)
        self.steps += self.current
        self.chapters.append(Chapter(first, len(self.steps) - 1, sentence))
        self.current = []
