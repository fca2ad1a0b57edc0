"""Compiled loops that several threads go through at once, without Python's lock.

Threads of Python take turns at its lock.  A helper that is woken needs the lock
to begin, the asking thread to go on when all is done, and each wakes the other:
30 µs in all, as long as NumPy takes to add a million numbers up.  So all that
the threads do here is compiled.  They meet at a *board*, some numbers in memory:
the asking thread writes on it which function to call and of what, and opens the
job; helpers, which look at the board meanwhile, call the function too.

The function takes one piece after the other.  How many are taken is a number on
the board, and a thread adds to it in one step that no other can interrupt.  The
asking thread begins with the first pieces and helpers with the last ones, so
that from one operation to the next a piece is mostly in the cache of the same core.
The pieces are the same ones however many threads there are.  At the end the
asking thread closes the job and waits for those that have begun, and only for
them: a helper that comes late finds it closed, and nobody waited.

References
----------
J. M. Mellor-Crummey and M. L. Scott, "Algorithms for scalable synchronization
on shared-memory multiprocessors", ACM TOCS 9(1), 1991.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numba.extending
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import carray, cfunc, from_dtype, njit, typeof, types
from numba.core.types import Array

from autokit.ops.native import OPTIONS, kept

OPEN, CORE, INSIDE, TAKEN, LAST, LENGTH, STEP, FUNCTION, FAILED, ARGUMENTS = (
    0,
    1,
    8,
    16,
    17,
    24,
    25,
    26,
    27,
    32,
)
"""Places on the board; what several threads change has a line of the cache of its own.

The number of the job that is open, or 0; the core of the thread that asks; how many helpers are at it; how
many pieces are taken, and how many of the last ones; how many places there are, and how many a piece has;
where the function is that takes pieces; whether one of them failed; and the arguments, an array by its
address and its shape.
"""

SIZE = 128
"""Places on a board."""

VERSION = f"{crc32(Path(__file__).read_bytes()):08x}"
"""Of this file, which what is compiled of it and kept on disk must fit."""


# ---------------------------------------------------------------- what the compiler has no words for

intrinsic: Any = numba.extending.intrinsic


@intrinsic
def add(typingctx: Any, board: Any, place: Any, number: Any) -> Any:
    """Add to a number on the board in one step, which other threads see as a whole; what it was before."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", builder.gep(array.data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(board, types.int64, types.int64), build


@intrinsic
def at(typingctx: Any, address: Any) -> Any:
    """What is in memory at ``address``."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), build


@intrinsic
def call(typingctx: Any, function: Any, board: Any, asks: Any) -> Any:
    """Call the function at an address, with two whole numbers."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64), ir.IntType(64)]).as_pointer()
        builder.call(builder.inttoptr(arguments[0], kind), arguments[1:])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), build


let_others: Any
this_core: Any
if sys.platform == "linux":
    let_others = types.ExternalFunction("sched_yield", types.intc())
    this_core = types.ExternalFunction("sched_getcpu", types.intc())
else:

    @njit
    def let_others():
        return 0

    @njit
    def this_core():
        return -1


# ---------------------------------------------------------------- what the threads do


@njit
def work_as_asking(board, number):
    """Open the job that is written on the board, take pieces, and wait for the helpers that took some.

    Whether one of the pieces failed.
    """
    board[TAKEN] = board[LAST] = board[FAILED] = 0
    board[CORE] = this_core()
    add(board, OPEN, number)
    call(board[FUNCTION], board.ctypes.data, 1)
    add(board, OPEN, -number)
    while add(board, INSIDE, 0):
        let_others()
    return board[FAILED]


def work_as_helper(board, looks):
    """Take part in one job after the other, until for so many ``looks`` there was none.

    Whether this thread has the core of the asking one, and had better rest.
    """
    last = looked = 0
    while looked < looks:
        number = add(board, OPEN, 0)
        if number != 0 and number != last:
            add(board, INSIDE, 1)
            if add(board, OPEN, 0) == number:  # else it was closed meanwhile
                call(board[FUNCTION], board.ctypes.data, 0)
            add(board, INSIDE, -1)
            last, looked = number, 0
        elif this_core() == board[CORE] >= 0:
            return True
        looked += 1
        let_others()
    return False


helping: Any = kept(njit, types.boolean(types.int64[::1], types.int64), work_as_helper)
""":func:`work_as_helper`, compiled."""


# ---------------------------------------------------------------- the loops

ASK = """
def {name}(board, number, function, step, {arguments}):
    board[FUNCTION], board[STEP], board[LENGTH] = function, step, len({first})
    numbers = board.view(float64)
    {write}
    return work_as_asking(board, number)
"""

TAKE = """
def {name}(address, asks):
    board = carray(at(address), SIZE, int64)
    numbers = board.view(float64)
    length, step = board[LENGTH], board[STEP]
    pieces = (length + step - 1) // step
    first = 0
    {read}
    try:
        while add(board, TAKEN, 1) < pieces:
            if asks:
                start = first * step
                first += 1
            else:
                start = (pieces - 1 - add(board, LAST, 1)) * step
            stop = min(start + step, length)
            loop({parts})
    except Exception:
        board[FAILED] = 1
"""


class Shared:
    """A loop, compiled for threads that share it.

    Of two functions: one takes pieces, the other writes on a board what to take, and asks for it.

    Parameters
    ----------
    loop : function
    arguments : sequence of array or number
        Such as it will be called with.
    split : sequence of int
        The places of those that are cut into pieces along their first dimension.
    """

    def __init__(self, loop: Any, arguments: Sequence[Any], split: Sequence[int]) -> None:
        self.name = loop.__name__
        names = [f"argument{place}" for place in range(len(arguments))]
        write, read = _lines(names, arguments)
        known = {"loop": njit(**OPTIONS)(loop), "add": add, "at": at, "carray": carray}
        known |= {"work_as_asking": work_as_asking, "int64": np.int64, "float64": np.float64}
        known |= {
            "TAKEN": TAKEN,
            "LAST": LAST,
            "LENGTH": LENGTH,
            "STEP": STEP,
            "FUNCTION": FUNCTION,
            "FAILED": FAILED,
        }
        known |= {"SIZE": SIZE, **{f"kind_of_{name}": _kind(each) for name, each in zip(names, arguments)}}
        take = TAKE.format(
            name=f"{self.name}_{VERSION}",
            read="\n    ".join(read),
            parts=", ".join([f"{each}[start:stop]" if k in split else each for k, each in enumerate(names)]),
        )
        ask = ASK.format(
            name="_".join(["ask", *[str(np.ndim(each)) for each in arguments], "by", str(split[0])]),
            arguments=", ".join(names),
            first=names[split[0]],
            write="\n    ".join(write),
        )
        # Both are kept on disk beside the file that they come from, and as long as it stays the same.
        taking = _made(take, loop.__code__.co_filename, loop.__module__, known)
        asking = _made(ask, __file__, __name__, known)
        self.function = kept(cfunc, types.void(types.int64, types.int64), taking)
        numbers = types.int64, types.int64, types.int64
        self.ask = kept(
            njit, types.int64(types.int64[::1], *numbers, *[_type(each) for each in arguments]), asking
        )

    def run(self, board: Any, number: int, step: int, arguments: Sequence[Any]) -> None:
        """Go through ``arguments``, ``step`` places at a time, with the helpers at this board."""
        if self.ask(board, number, self.function.address, step, *arguments):
            raise MemoryError(f"{self.name}(): there was no memory for a part of it")


def _lines(names: list[str], arguments: Sequence[Any]) -> tuple[list[str], list[str]]:
    """The lines of a program that write the arguments on the board, and those that read them."""
    write, read, place = [], [], ARGUMENTS
    for name, argument in zip(names, arguments):
        if isinstance(argument, np.ndarray):
            sizes = [f"board[{place + 1 + axis}]" for axis in range(argument.ndim)]
            write.append(f"board[{place}] = {name}.ctypes.data")
            write += [f"{size} = {name}.shape[{axis}]" for axis, size in enumerate(sizes)]
            read.append(f"{name} = carray(at(board[{place}]), ({', '.join(sizes)},), kind_of_{name})")
            place += 1 + argument.ndim
        else:
            where = f"{'numbers' if isinstance(argument, float | np.floating) else 'board'}[{place}]"
            write.append(f"{where} = {name}")
            read.append(f"{name} = kind_of_{name}({where})")
            place += 1
    return write, read


def _made(text: str, file: str, module: str, known: dict[str, Any]) -> Callable[..., Any]:
    """The function in ``text``, as if it stood in ``file``."""
    names = {**known, "__name__": module}
    exec(compile(text, file, "exec"), names)
    return names[text.split("(")[0].split()[-1]]


def _kind(argument: Any) -> Any:
    return argument.dtype.type if isinstance(argument, np.ndarray) else type(argument)


def _type(argument: Any) -> Any:
    """Numba's type of an argument; an array may be one that refuses to be written."""
    if not isinstance(argument, np.ndarray):
        return typeof(argument)
    return Array(from_dtype(argument.dtype), argument.ndim, "C", readonly=True)
