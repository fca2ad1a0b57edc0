"""Errors that a GPU finds: the program, which runs ahead of it, learns of them when it next reads a number.

Whether an index is inside of its array only the GPU can say, and to wait for
its answer would stop the program in each step of a training.  So the answer is
on its way while the program goes on, and :func:`raise_late` raises where it
was a no: whenever numbers were copied from a GPU, and before the next question.
PyTorch's kernels stop in such a case, and its program learns of it as late.
With ``CUDA_LAUNCH_BLOCKING=1`` in the environment both wait, and raise at the
line itself.
"""

from __future__ import annotations

import linecache
import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

COUNT = 1024
"""So many questions may be open, until the GPUs are waited for once."""


class Question(NamedTuple):
    """What a GPU was asked: the error where its answer is no, and the line that asked."""

    error: Callable[[int], Exception]
    code: Any
    instruction: int


LATE: list[Question] = []
"""The open questions, in order; none as long as no GPU is asked."""

_cupy: Any = None
_answers: Any = None
_limits = np.zeros(COUNT, np.uint64)
_gpus: set[int] = set()
_lock = threading.Lock()


def ask_later(
    cupy: Any, answer: Any, limit: int, error: Callable[[int], Exception], line: tuple[Any, int]
) -> None:
    """Raise ``error(answer)``, once it is known, where ``answer`` is ``limit`` or more.

    ``answer`` is an array on the current GPU, of uint64 and without dimensions;
    ``line`` is the code that asks, and an instruction in it.
    """
    global _cupy, _answers
    if not limit or os.environ.get("CUDA_LAUNCH_BLOCKING") == "1":
        if (found := answer.item()) >= limit:
            raise error(found)
        return
    raise_late()
    with _lock:
        if cupy is not _cupy:
            LATE.clear()
            _gpus.clear()
            _cupy = cupy  # and memory that a GPU writes to by itself
            _answers = np.frombuffer(cupy.cuda.alloc_pinned_memory(COUNT * 8), np.uint64, COUNT)
        if not LATE:
            _answers[:] = 0
        _gpus.add(answer.device.id)
        answer.get(out=_answers[len(LATE), ...], blocking=False)
        _limits[len(LATE)] = limit
        LATE.append(Question(error, *line))
    if len(LATE) == COUNT:
        wait()


def raise_late() -> None:
    """Raise the first error that is known by now."""
    if not LATE:
        return
    with _lock:
        wrong = np.flatnonzero(_answers[: len(LATE)] >= _limits[: len(LATE)])
        if not wrong.size:
            return
        question, answer = LATE[wrong[0]], int(_answers[wrong[0]])
        _finish()
        LATE.clear()
    error = question.error(answer)
    asked = _text_of(question.code, question.instruction)
    error.add_note(
        f"{asked}A GPU does its work while the program goes on, so that its errors come late. With "
        "CUDA_LAUNCH_BLOCKING=1 in the environment they come at the line itself."
    )
    error.came_late = True  # type: ignore[attr-defined]
    raise error


def wait() -> None:
    """Wait for the GPUs, and forget what they found right.

    Raises
    ------
    Exception
        Where they found something wrong.
    """
    _finish()
    raise_late()
    LATE.clear()


def _finish() -> None:
    for number in _gpus:
        _cupy.cuda.Device(number).synchronize()


def _text_of(code: Any, instruction: int) -> str:
    for first, last, line in code.co_lines():
        if first <= instruction < last and line is not None:
            text = linecache.getline(code.co_filename, line).strip()
            return f"It was done by the line `{text}`. " if text else ""
    return ""
