"""Functions that Numba compiles once and keeps on disk for the next process, and what they call.

Numba keeps no function on disk that holds an address itself, since an address is another one in the next
process. Therefore all of them come in one array, whose numbers become pointers here.

References
----------
J. J. Dongarra et al., "A set of level 3 basic linear algebra subprograms", ACM TOMS 16, 1990.
"""

from __future__ import annotations

import ctypes
import hashlib
import linecache
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import llvmlite.ir as llvm
import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

from autokit.base.files import cache_folder, replacing
from autokit.static.graph import Graph, Node
from autokit.static.interpret import interpret
from autokit.static.loops.writing import NEEDS_COPIES, Group, Text
from autokit.static.memory import OwnMemory


@intrinsic
def pointer(typing: Any, address: Any, dtype: Any) -> Any:
    """The memory at ``address`` as numbers of ``dtype``, to be read and written as ``memory[i]``."""
    kind = types.CPointer(dtype.dtype)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.int64, dtype), code


@numba.njit(fastmath={"reassoc"}, forceinline=True)
def plus(total: Any, item: Any) -> Any:
    """``total + item`` of a sum whose order is free, so that several numbers are added at once."""
    return total + item


@intrinsic
def gemm(typing: Any, routine: Any, numbers: Any) -> Any:
    """``C = alpha · A B + beta · C`` by the ``routine`` at that address.

    The numbers are those of BLAS, whose matrices lie column by column: whether A and B are read transposed
    (``ord("T")``, else ``ord("N")``), m, n and k, alpha, the address of A and the distance between its
    columns, the same of B, beta, and the same of C.
    """
    addresses = (6, 8, 11)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointers = []
        for place, each in enumerate(cgutils.unpack_tuple(builder, args[1])):
            # a BLAS that takes 32 bits, or a letter, reads the lower ones, which come first
            held = each if place in addresses else cgutils.alloca_once_value(builder, each)
            cast = builder.inttoptr if place in addresses else builder.bitcast
            pointers.append(cast(held, cgutils.voidptr_t))
        kind = llvm.FunctionType(llvm.VoidType(), [cgutils.voidptr_t] * 13)
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(routine, numbers), code


def address_of_gemm(letter: str) -> int:
    """The address of the product of matrices of float32, ``"s"``, or float64, ``"d"``.

    It is that of NumPy's own BLAS where that can be found, else SciPy's: the threads of a second one would
    compete with the first one's for the processors.
    """
    routine = getattr(ctypes.CDLL(_multiarray_umath.__file__), f"scipy_{letter}gemm_64_", None)
    if routine is None:
        return get_cython_function_address("scipy.linalg.cython_blas", f"{letter}gemm")
    return ctypes.cast(routine, ctypes.c_void_p).value or 0


class Compiled(OwnMemory):
    """A group of calls as one function.

    It takes the arrays that come from outside, and returns the values that are read outside; these lie in
    memory that the next call writes over.

    Attributes
    ----------
    source : str
    """

    def __init__(self, graph: Graph, group: Group, name: str) -> None:
        self.graph, self.group, self.name = graph, group, name
        text = Text(group, name)
        self.source, self.kept = text.source, text.kept
        kinds = [types.Array(numba.from_dtype(each.dtype), len(each.shape), "C") for each in group.given]
        self.function = _compiled(self.source, name, [*kinds, types.Array(types.int64, 1, "C")])

    def new_function(self) -> Callable[..., Any]:
        """A function with memory of its own."""
        memory = {node: _memory_of(node) for node in self.kept if isinstance(node, Node)}
        numbers = [memory[each].ctypes.data if isinstance(each, Node) else each for each in self.kept]
        addresses = np.array([address_of_gemm("s"), address_of_gemm("d"), *numbers], np.int64)
        results = tuple([memory[self.group.memory.get(node, node)] for node in self.group.outputs])
        given, function = self.group.given, self.function

        def run(*args: Any) -> tuple[np.ndarray, ...]:
            try:
                status = function(*args, addresses)
            except TypeError:  # an array of another layout, or a number
                status = NEEDS_COPIES
            if status == NEEDS_COPIES:
                copies = [np.array(array, node.dtype, order="C") for array, node in zip(args, given)]
                status = function(*copies, addresses)
            if status:
                self._explain(args)
            return results

        run.memory = memory  # type: ignore[attr-defined]  # which lives as long as its addresses are used
        return run

    def _explain(self, args: tuple[Any, ...]) -> None:
        """Raise what stopped a run: the same calls, one by one. The states are as they were before."""
        values = {state: state.value for state in self.graph.states} | dict(zip(self.group.given, args))
        inner = {each for each in self.graph.nodes if each.kind in ("const", "view")} | self.group.home.keys()
        rest = [node for node in self.graph.nodes if node in inner and node not in values]
        list(interpret((node for node in rest if values.keys() >= set(node.operands())), values))
        raise RuntimeError(f"{self.name} was stopped by a check that holds where NumPy computes")


def _memory_of(node: Node) -> np.ndarray:
    """The array of a state; that of a constant, row by row; or a new one."""
    if node.kind == "state":
        return node.value
    return np.array(node.value, order="C") if node.kind == "const" else np.empty(node.shape, node.dtype)


def _compiled(source: str, name: str, kinds: list[Any]) -> Callable[..., int]:
    """The function ``name`` of a module, compiled: from the disk where it is known there."""
    parts = source + "".join(linecache.getlines(__file__))  # of which some is compiled into it
    digest = hashlib.sha256(parts.encode()).hexdigest()[:32]
    folder = os.path.join(cache_folder(), "loops")
    file, is_kept = os.path.join(folder, f"{name}_{digest}.py"), False
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True, mode=0o700)
        with replacing(file) as target:
            target.write(source.encode())
        is_kept = _is_own(os.stat(folder))
    module: dict[str, Any] = {"__name__": __name__}  # a kept function asks for its module by this
    exec(compile(source, file, "exec"), module)
    function = module[name]
    function.__qualname__ = f"{name}_{digest}"  # Numba tells functions of one module apart by theirs
    return numba.njit([types.int64(*kinds)], cache=is_kept, error_model="numpy")(function)


def _is_own(status: os.stat_result) -> bool:
    """Whether only the user writes into a folder: what lies there is run."""
    return status.st_uid == getattr(os, "getuid", int)() and not status.st_mode & 0o022
