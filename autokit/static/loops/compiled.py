"""Functions that Numba compiles once, and keeps on disk for the next process."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
import numpy as np

from autokit.base.files import cache_folder, replacing
from autokit.static.graph import Graph, Node
from autokit.static.interpret import interpret
from autokit.static.loops import functions
from autokit.static.loops.schedule import Group
from autokit.static.loops.writing import NEEDS_COPIES, Writer
from autokit.static.memory import OwnMemory


class Compiled(OwnMemory):
    """A group of calls as one function.

    It takes the arrays that come from outside and the states that are read, and returns the values that calls
    outside of the group read; these lie in memory that the next call writes over.

    Parameters
    ----------
    group : Group
    explanation : Graph
        The same calls, to be interpreted, so as to explain what stopped a run.
    name : str

    Attributes
    ----------
    source : str
    """

    def __init__(self, group: Group, explanation: Graph, name: str) -> None:
        self.group, self.explanation, self.name = group, explanation, name
        writer = Writer(group, name)
        self.source, self.numbers = writer.text, writer.numbers
        kinds = [numba.types.Array(numba.from_dtype(x.dtype), len(x.shape), "C") for x in group.given]
        self.function = _compiled(self.source, name, [*kinds, numba.types.Array(numba.types.int64, 1, "C")])

    def new_function(self) -> Callable[..., Any]:
        """A function with memory of its own."""
        memory = {node: _memory_of(node) for node in self.numbers if isinstance(node, Node)}
        numbers = [functions.address_of_gemm(kind) for kind in (np.float32, np.float64)]
        numbers += [memory[each].ctypes.data if isinstance(each, Node) else each for each in self.numbers]
        addresses = np.array(numbers, np.int64)
        results = tuple([memory[self.group.memory.get(node, node)] for node in self.group.outputs])
        given, function, count = self.group.given, self.function, len(self.group.given)

        def run(*args: Any) -> tuple[np.ndarray, ...]:
            try:
                status = function(*args[:count], addresses)
            except TypeError:  # an array of another layout, or a number
                status = NEEDS_COPIES
            if status == NEEDS_COPIES:
                copies = [np.array(array, node.dtype, order="C") for array, node in zip(args, given)]
                status = function(*copies, addresses)
            if status:
                raise self._reason(args)
            return results

        run.memory = memory  # type: ignore[attr-defined]  # which lives as long as its addresses are used
        return run

    def _reason(self, args: tuple[Any, ...]) -> Exception:
        """Why a run stopped: the same calls, one by one. The states are as they were before."""
        try:
            for _ in interpret(self.explanation.nodes, dict(zip(self.explanation.inputs, args))):
                pass
        except Exception as error:
            return error
        return RuntimeError(f"{self.name} was stopped by a check that holds where NumPy computes")


def _memory_of(node: Node) -> np.ndarray:
    """The array of a state; that of a constant, row by row; or a new one."""
    if node.kind == "state":
        return node.value
    return np.array(node.value, order="C") if node.kind == "const" else np.empty(node.shape, node.dtype)


def _compiled(source: str, name: str, kinds: list[Any]) -> Callable[..., int]:
    """The function ``name`` of a module, compiled: from the disk where it is known there."""
    parts = source + inspect.getsource(functions)  # which are compiled into it
    digest = hashlib.sha256(parts.encode()).hexdigest()[:32]
    folder = os.path.join(cache_folder(), "loops")
    file, is_kept = os.path.join(folder, f"{name}_{digest}.py"), False
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True, mode=0o700)
        with replacing(file) as target:
            target.write(source.encode())
        is_kept = _is_own(os.stat(folder))
    module: dict[str, Any] = {"__name__": functions.__name__}  # a kept function asks for its module by this
    exec(compile(source, file, "exec"), module)
    function = module[name]
    function.__qualname__ = f"{name}_{digest}"  # Numba tells functions of one module apart by theirs
    return numba.njit([numba.types.int64(*kinds)], cache=is_kept, error_model="numpy")(function)


def _is_own(status: os.stat_result) -> bool:
    """Whether only the user writes into a folder: what lies there is run."""
    return status.st_uid == getattr(os, "getuid", int)() and not status.st_mode & 0o022
