"""A learner's progress: what the checks of the lessons said is kept in a file of the learner's own.

A check's cell says in its first line whose it is, as ``# Exercise 5.2``.  Of each check in such a cell the
file has whether it was ever right, and how many tries that took.
"""

from __future__ import annotations

import json
import linecache
import os
import re
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from autokit.base.files import replacing, user_folder
from autokit.classroom.lessons import lessons_of, source_of
from autokit.engine.record import calling_line, source_line

TRIES = 3
"""After so many wrong answers the solution is told."""

_EXERCISE = re.compile(r"# Exercise (\d+\.\d+)\s*$")
_REGION = re.compile(r" *### (BEGIN|END) SOLUTION|.*= \.\.\.$")
_NO_LEARNERS = {"PYTEST_CURRENT_TEST", "NBGRADER_EXECUTION"}
"""What is in the environment where a program runs the lessons."""

Kept = dict[str, dict[str, list[int]]]
"""By exercise and check: whether it was right, and the tries."""


def progress_file() -> Path:
    """Where the progress is kept: among the user's data, or where ``AUTOKIT_PROGRESS`` says.

    An empty ``AUTOKIT_PROGRESS`` keeps none.
    """
    usual = os.path.join(user_folder("data"), "progress.json")
    return Path(os.environ.get("AUTOKIT_PROGRESS", usual))


def note(right: bool, answered: bool) -> None:
    """Keep what a check said to the cell that called it; where it cannot be kept, the lesson goes on."""
    with suppress(Exception):
        file, line, _ = source_line(*calling_line()) or ("", 0, "")
        cell = linecache.getlines(file)
        found = _EXERCISE.match(cell[0])
        if not found or _NO_LEARNERS & os.environ.keys():
            return
        kept = read()
        checks = kept.setdefault(found[1], {})
        place = f"{zlib.crc32(''.join(cell).encode()):08x}:{line}"
        was, tries = checks.get(place, (0, 0))
        if was:
            return
        checks[place] = [int(right), tries + int(answered)]
        progress_file().parent.mkdir(parents=True, exist_ok=True)
        with replacing(progress_file()) as out:
            out.write(json.dumps(kept, indent=1).encode())


def read() -> Kept:
    """What is kept; nothing where there is no such file, or it was damaged."""
    try:
        kept = json.loads(progress_file().read_bytes())
        return {name: dict(checks) for name, checks in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def is_solved(checks: dict[str, list[int]], cells: int) -> bool:
    """Whether all checks were right, in so many cells.

    >>> is_solved({"a:2": [1, 1], "a:3": [1, 2]}, cells=1)
    True
    >>> is_solved({"a:2": [1, 1]}, cells=2)
    False
    """
    wrong = {place.partition(":")[0] for place, (right, _) in checks.items() if not right}
    return len({place.partition(":")[0] for place in checks} - wrong) >= cells


def tries_of(checks: dict[str, list[int]]) -> int:
    """How often an exercise was tried: as often as that of its checks which took the most."""
    return max((tries for _, tries in checks.values()), default=0)


def table() -> str:
    """A line for each lesson: how many of its exercises are solved, and after how many tries."""
    kept, rows = read(), []
    for path in lessons_of():
        book = json.loads(path.read_bytes())["cells"]
        asked = _exercises(book)
        head = source_of(book[0]).partition("\n")[0].removeprefix("# ")
        number, _, title = head.partition(" · ")
        solved, told = 0, []
        for name, cells in asked.items():
            checks = kept.get(name, {})
            right, tries = is_solved(checks, cells), tries_of(checks)
            solved += right
            if tries:
                times = "1 try" if tries == 1 else f"{tries} tries"
                state = "solved" if right else "not yet"
                told.append(f"{name} {state} ({times})")
        count = f"{solved} of {len(asked)}"
        rows.append((f"{number:>2}  {title}", count, ", ".join(told)))
    width = max(len(title) for title, *_ in rows)
    return "\n".join(f"{title:{width}}  {count:>7}  {told}".rstrip() for title, count, told in rows)


def _exercises(cells: list[dict[str, Any]]) -> Counter[str]:
    """The exercises of a lesson, and how many cells check each."""
    found = [_EXERCISE.match(source_of(cell).partition("\n")[0]) for cell in cells]
    return Counter(match[1] for match in found if match)


def solution(exercise: str, now: bool = False) -> str:
    """The solution of an exercise, once it is solved or was tried often, or ``now``.

    Raises
    ------
    LookupError
        Where there is no such exercise, or it was not tried often enough: the text says which.
    """
    lesson, _, number = exercise.partition(".")
    if not (lesson + number).isdecimal():
        raise LookupError(f"{exercise} is no exercise: give lesson and number, as 5.2")
    cells = json.loads(lessons_of([int(lesson)])[0].read_bytes())["cells"]
    count = _exercises(cells)[exercise]
    checks = read().get(exercise, {})
    if not count:
        raise LookupError(f"there is no exercise {exercise}")
    left = TRIES - tries_of(checks)
    if left > 0 and not now and not is_solved(checks, count):
        more = "1 more try" if left == 1 else f"{left} more tries"
        raise LookupError(f"the solution of {exercise} is told after {more}, or with --now")
    answers = [cell for cell in cells if cell["id"].startswith(f"exercise-{number}-answer")]
    lines = "\n\n".join(map(source_of, answers)).splitlines()
    return "\n".join(line for line in lines if not _REGION.match(line))
