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
from autokit.static.graph import Graph, Node
from autokit.static.interpret import interpret
from autokit.static.loops import blas
from autokit.static.loops.groups import Group
from autokit.static.loops.writing import written
from autokit.static.memory import OwnMemory


class Compiled(OwnMemory):
    """A group of calls as one function.

    It takes the arrays that come from outside and the states that are read, and returns the values that calls
    outside of the group read; these lie in memory that the next call writes over.

    Parameters
    ----------
    group : Group
    nodes : list of Node
        All nodes of the group, for the interpreter, which explains what stops a run.
    given, states, results : list of Node
    name : str

    Attributes
    ----------
    source : str
    explanation : Graph
        The inputs and the nodes.
    ends : list of int
        The places in it of the nodes whose values leave the group.
    nbytes : int
        How much memory it takes.
    """

    def __init__(
        self,
        group: Group,
        nodes: list[Node],
        given: list[Node],
        states: list[Node],
        results: list[Node],
        name: str,
    ) -> None:
        self.group, self.given, self.states, self.results, self.name = group, given, states, results, name
        self.explanation = Graph()
        self.explanation.nodes = [*given, *states, *nodes]
        self.ends = [self.explanation.nodes.index(node) for node in [*results, *group.memory]]
        self.explanation = self.explanation.copy()  # with views of its own
        self.source, self.addressed = written(group, given, name)
        kinds = [numba.types.Array(numba.from_dtype(x.dtype), len(x.shape or ()), "C") for x in given]
        signature = numba.types.int64(*kinds, numba.types.Array(numba.types.int64, 1, "C"))
        self.function = _compiled(self.source, name, signature)
        self.nbytes = sum([array.nbytes for array in self._memory().values()])

    def _memory(self) -> dict[Node, np.ndarray]:
        """New arrays for the values of the group: all rows of what is stored, one row of other values."""
        memory = {}
        for node in self.addressed:
            if node.kind == "const":
                memory[node] = np.ascontiguousarray(node.value)
            elif node in self.group.stored:
                memory[node] = np.empty(node.shape or (), node.dtype)
            elif node.kind != "state":
                memory[node] = np.empty(self.group.work[node].frame.columns, node.dtype)  # type: ignore[union-attr]
        return memory

    def new_function(self) -> Callable[..., Any]:
        """A function with memory of its own, which goes on with the states of its first call."""
        memory = self._memory()
        routines = [blas.address_of_gemm(np.dtype(kind)) for kind in (np.float32, np.float64)]
        addresses = np.array([*routines, *[0] * len(self.addressed)], np.int64)
        results: tuple[np.ndarray, ...] | None = None
        count, function, is_arranged = len(self.given), self.function, True

        def run(*args: Any) -> tuple[np.ndarray, ...]:
            nonlocal results, is_arranged
            if results is None:
                memory.update(zip(self.states, args[count:]))
                results = tuple([memory[self._owner(node)] for node in self.results])
                addresses[2:] = [memory[node].ctypes.data for node in self.addressed]
            try:
                stopped = function(*(args[:count] if is_arranged else self._arranged(args)), addresses)
            except TypeError:  # an array of another layout, or a number
                is_arranged = False
                stopped = function(*self._arranged(args), addresses)
            if stopped:
                raise self._reason(args)
            return results

        return run

    def _owner(self, node: Node) -> Node:
        while node in self.group.memory:
            node = self.group.memory[node]
        return node

    def _arranged(self, args: tuple[Any, ...]) -> list[np.ndarray]:
        """The arrays from outside as the function takes them: row by row."""
        return [np.asarray(array, node.dtype, order="C") for node, array in zip(self.given, args)]

    def _reason(self, args: tuple[Any, ...]) -> Exception:
        """Why a run stopped: the same calls, one by one. The states are as they were before."""
        nodes = self.explanation.nodes
        values = dict(zip(nodes, args))
        try:
            for _ in interpret(nodes[len(args) :], values):
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
    status = os.stat(folder)
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return False
    if not os.path.exists(file):
        with replacing(file) as target:
            target.write(source.encode())
    return True
