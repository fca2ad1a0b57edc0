"""What learners answer to the exercises of each lesson, as tables that ``tests/test_lessons.py`` tries."""

from __future__ import annotations

from typing import NamedTuple


class Answers(NamedTuple):
    """Answers to one exercise, each as the source of its cell."""

    right: list[str]
    """In at least three styles."""
    wrong: dict[str, str]
    """With words that the learner reads then."""
