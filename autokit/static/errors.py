"""What a static graph cannot do: errors that name the line of the program and say what to write instead."""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from types import FrameType
from typing import Any

import numpy as np

from autokit.base.errors import shown_file
from autokit.engine.record import OUR_FILES
from autokit.static.graph import Line

NOT_THE_PROGRAM = tuple([os.path.dirname(inspect.getfile(each)) + os.sep for each in (np, os)])
"""Where NumPy and Python's own modules lie."""


DEFINED: ContextVar[Line | None] = ContextVar("the line that defined what runs", default=None)
"""In a session an operation of TensorFlow 1's runs for the line that defined it."""


class StaticError(RuntimeError):
    """The program cannot become a static graph as it stands."""


class Untraceable(StaticError):
    """The program asks for a number, and while its graph is built there is none yet."""

    last: Untraceable | None = None
    """The last one, which the program may have caught."""


class RecompileWarning(UserWarning):
    """A function is built again and again, each time for another signature."""


def program_frame() -> tuple[FrameType | None, list[str]]:
    """The innermost frame of the learner's program, and the functions that lead from there to here."""
    frame: FrameType | None = sys._getframe(1)
    called: list[str] = []
    while frame is not None and is_ours(frame.f_code.co_filename):
        called.append(frame.f_code.co_name)
        frame = frame.f_back
    return frame, called


def is_ours(file: str) -> bool:
    """Whether a file is one of autokit's, NumPy's or Python's own."""
    return OUR_FILES[file] or file.startswith(NOT_THE_PROGRAM)


def program_line() -> Line | None:
    """The line of the learner's program that is running, or the one that defined what runs."""
    frame, _ = program_frame()
    running = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    return DEFINED.get() or running


def described(line: Line | None) -> str:
    """A line of the program as errors name it: its file, its number and its text."""
    if line is None:
        return "the program"
    file, number = line
    text = linecache.getline(file, number).strip()
    return f"{shown_file(file)}, line {number}" + (f": {text}" if text else "")


_INSTEAD = {
    "__bool__": "whether a tensor is true: torch.where(condition, a, b) chooses in the graph; or let the "
    "function return the tensor, and ask outside",
    "tolist": "for the numbers in a tensor: return the tensor, and call .tolist() outside",
    "__array__": "for an array of NumPy's: write this with torch's functions, or return the tensor, "
    "and convert it outside",
    "shape": "for a shape that depends on the numbers in a tensor: torch.where(condition, a, b) chooses and "
    "keeps the shape; or do this outside",
    "item": "for the number in a tensor: return the tensor, and ask for its number outside",
}


def no_number_yet(asked: str = "item") -> Untraceable:
    """The error where the program asks a traced tensor for its number, by the method ``asked``."""
    _, called = program_frame()
    words = _INSTEAD[called[-1] if called and called[-1] in _INSTEAD else asked]
    Untraceable.last = Untraceable(
        f"{described(program_line())}\n  while a graph is built there is no number yet, and the program asks "
        f"{words}."
    )
    return Untraceable.last


def located(explain: Callable[..., Exception], operation: str) -> Callable[..., Exception]:
    """``explain`` with the operation and the program's line, which are running now, before its words."""
    line = program_line()

    def error(*values: Any) -> Exception:
        found = explain(*values)
        if isinstance(found, StaticError):
            return found
        where = f"{operation} in {described(line)}" if operation else described(line)
        return type(found)(f"{where}\n  {found}")

    return error


def refused(words: str, line: Line | None = None) -> StaticError:
    """The error for something that a static graph cannot contain, at ``line`` or at the running line."""
    return StaticError(f"{described(line or program_line())}\n  {words}")


# ---------------------------------------------------------------- TensorFlow 1's


class OpError(Exception):
    """An operation of TensorFlow 1's graph failed while a session ran it."""


class InvalidArgumentError(OpError):
    """An operation got an operand that it cannot compute with, or none."""


class FailedPreconditionError(OpError):
    """An operation ran too early, as on a variable without a value."""


class NotFoundError(OpError):
    """A file has no value for a variable."""


def failed(error: Exception, operation: Any) -> Exception:
    """The exception to raise for an ``error`` in ``operation``, with the line that defined this."""
    if isinstance(error, StaticError):
        return error
    kind = type(error) if isinstance(error, OpError) else InvalidArgumentError
    return kind(f"{error}\n  {operation.name} was defined at {described(operation.line)}")
