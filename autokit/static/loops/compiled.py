"""Functions that Numba compiles once, and keeps on disk for the next process."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
import numpy as np

from autokit.base.files import cache_folder, replacing
from autokit.static.graph import Graph
from autokit.static.interpret import interpret
from autokit.static.loops import blas
from autokit.static.loops.groups import Group
from autokit.static.loops.writing import NEEDS_COPIES, Writer
from autokit.static.memory import OwnMemory


class Compiled(OwnMemory):
    """A group of calls as one function.

    It takes the arrays that come from outside and the states that are read, and returns the values that calls
    outside of the group read; these lie in memory that the next call writes over.

    Parameters
    ----------
    group : Group
    part : Graph
        The nodes of the group with all that they need, and the values that are read outside as its outputs;
        its inputs and states come from outside.
    name : str

    Attributes
    ----------
    source : str
    explanation : Graph
        A copy of ``part``, which is interpreted to explain what stopped a run.
    """

    def __init__(self, group: Group, part: Graph, name: str) -> None:
        self.group, self.part, self.name = group, part, name
        self.explanation = part.copy()  # with views of its own
        writer = Writer(group, part.inputs, name)
        self.source, self.addressed = writer.text, writer.addressed
        kinds = [numba.types.Array(numba.from_dtype(x.dtype), len(x.shape), "C") for x in part.inputs]
        signature = numba.types.int64(*kinds, numba.types.Array(numba.types.int64, 1, "C"))
        self.function = _compiled(self.source, name, signature)

    def new_function(self) -> Callable[..., Any]:
        """A function with memory of its own, which goes on with the states of its first call."""
        memory = {
            node: np.array(node.value, order="C")
            if node.kind == "const"
            else np.empty(node.shape, node.dtype)
            for node in self.addressed
            if node.kind != "state"
        }
        routines = [blas.address_of_gemm(np.dtype(kind)) for kind in (np.float32, np.float64)]
        addresses = np.array([*routines, *[0] * len(self.addressed)], np.int64)
        results: tuple[np.ndarray, ...] | None = None
        inputs, function = self.part.inputs, self.function
        count = len(inputs)

        def run(*args: Any) -> tuple[np.ndarray, ...]:
            nonlocal results
            if results is None:
                memory.update(zip(self.part.states, args[count:]))
                results = tuple([memory[self.group.memory.get(x, x)] for x in self.part.outputs])
                addresses[2:] = [memory[node].ctypes.data for node in self.addressed]
            try:
                status = function(*args[:count], addresses)
            except TypeError:  # an array of another layout, or a number
                status = NEEDS_COPIES
            if status == NEEDS_COPIES:
                copies = [np.array(array, node.dtype, order="C") for array, node in zip(args, inputs)]
                status = function(*copies, addresses)
            if status:
                raise self._reason(args)
            return results

        return run

    def _reason(self, args: tuple[Any, ...]) -> Exception:
        """Why a run stopped: the same calls, one by one. The states are as they were before."""
        try:
            nodes = self.explanation.nodes
            for _ in interpret(nodes[len(args) :], dict(zip(nodes, args))):
                pass
        except Exception as error:
            return error
        return RuntimeError(f"{self.name} was stopped by a check that holds where NumPy computes")


def _compiled(source: str, name: str, signature: Any) -> Callable[..., int]:
    """The function ``name`` of a module, compiled: from the disk where it is known there."""
    parts = source + inspect.getsource(blas)  # which is compiled into it
    digest = hashlib.sha256(parts.encode()).hexdigest()[:32]
    file = os.path.join(cache_folder(), "loops", f"{name}_{digest}.py")
    is_kept = False
    with suppress(OSError):
        is_kept = _put(file, source)
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    module: dict[str, Any] = {"__name__": blas.__name__}  # a kept function asks for its module by this name
    exec(compile(source, file, "exec"), module)
    function = module[name]
    function.__qualname__ = f"{name}_{digest}"  # Numba tells functions of one module apart by theirs
    return numba.njit([signature], cache=is_kept, error_model="numpy")(function)


def _put(file: str, source: str) -> bool:
    """Whether the text stands in ``file``, in a folder that is the user's alone: what lies there is run."""
    folder = os.path.dirname(file)
    os.makedirs(folder, exist_ok=True, mode=0o700)
    if hasattr(os, "getuid") and os.stat(folder).st_uid != os.getuid() or os.stat(folder).st_mode & 0o022:
        return False
    with replacing(file) as target:
        target.write(source.encode())
    return True
