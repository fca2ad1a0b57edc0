"""Elementwise rules for large arrays: in pieces that stay in the cache, and without branches.

A rule of several NumPy calls reads and writes a large array once for each of
them.  In pieces of a few thousand elements all calls after the first find
their piece in the cache: :func:`in_blocks` runs a rule that way.

``np.where`` branches at each element, and where the branches are as good as
random it takes ten times as long as an addition.  :func:`keep` and
:func:`select` do the same with bits; :func:`replace` jumps from one exception
to the next where there are few.
"""

from __future__ import annotations

import math
import operator as op
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from autokit.ops.native import is_large, shared
from autokit.threads import each, get_count

BLOCK = 65_536
"""Elements in a piece: few enough for the cache, and enough to make up for NumPy's calls."""

FEW = 4096
"""Fewer elements than this take no longer with branches."""

MANY = 4 * BLOCK
"""Elements from which it pays to share what one call of NumPy does."""

BLOCKS_OF_THREADS = 4
"""Pieces that are one piece where several threads take part."""

INTEGERS: dict[int, np.dtype] = {2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def in_blocks(
    plain: Callable[..., Any], of_block: Callable[..., Any], native: str | None = None
) -> Callable[..., Any]:
    """``plain``, a rule of arrays of one shape and dtype, in pieces where the arrays are large.

    Parameters
    ----------
    plain : callable
        The rule; it serves small arrays, those that do not lie in one piece of
        memory, and those on a GPU.
    of_block : callable
        The same rule for one piece.  The last of its positional-only arguments
        is the array to write the result into.
    native : str, optional
        The same as a loop for :func:`autokit.ops.native.compiled`, of float32 and of the settings as numbers;
        a setting that is a word is at the end of the loop's name.
    """
    count = of_block.__code__.co_posonlyargcount - 1

    @wraps(plain)
    def apply(*arguments: Any, **settings: Any) -> Any:
        # A function of its own: a call pays for each variable that is shared with a function inside.
        return (plain if arguments[0].size < FEW else of_many)(*arguments, **settings)

    def of_many(*arguments: Any, **settings: Any) -> Any:
        first = arguments[0]
        arrays, positional = arguments[:count], arguments[count:]
        lines = [_line(array, first) for array in arrays]
        if any(line is None for line in lines):
            return plain(*arguments, **settings)
        result = np.empty(first.shape, first.dtype)
        into = result.reshape(-1)
        if native and _in_a_loop(native, lines, into, (*positional, *settings.values())):
            return result
        if into.size <= BLOCK:
            of_block(*lines, into, *positional, **settings)
            return result

        def work(piece: slice) -> None:
            parts = [line[piece] for line in lines]  # type: ignore[index]
            of_block(*parts, into[piece], *positional, **settings)

        # A thread that computes for a few microseconds at a time waits for its turn more than it computes.
        each(work, pieces(into.size, BLOCK if get_count() == 1 else BLOCKS_OF_THREADS * BLOCK))
        return result

    return apply


def _in_a_loop(native: str, lines: Sequence[Any], into: Any, settings: Sequence[Any]) -> bool:
    """Whether ``into`` was written by the compiled loop ``native``; the lines may be one number, repeated."""
    if not is_large(into):
        return False
    native = "_".join([native, *[each for each in settings if isinstance(each, str)]])
    more = [into.dtype.type(each) for each in settings if not isinstance(each, str)]
    # A loop knows no steps in memory: a repeated number is written out, as often as a piece needs it.
    lines = [line if line.strides[0] else np.full(min(BLOCK, line.size), line[0]) for line in lines]
    split = [place for place, line in enumerate((*lines, into)) if line.size == into.size]
    return shared(native, (*lines, into, *more), split, BLOCK)


def pieces(length: int, step: int) -> list[slice]:
    """The whole of ``length`` places, ``step`` at a time."""
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def pieces_of_rows(rows: Any) -> list[slice]:
    """Some rows at a time, as many on one thread as on several, so that the numbers are the same."""
    return pieces(len(rows), max(BLOCKS_OF_THREADS * BLOCK // max(rows.shape[1], 1), 1))


class as_they_lie:
    """While it lasts, NumPy meets long rows with a number for each, or with one more row, as they lie.

    It goes through many short rows at once, and first copies what repeats beside them, 8192 numbers at a
    time.  Beside long rows that takes twice as long as an addition; where the buffer has room for no more
    than one of them, it does not.

    Parameters
    ----------
    length : int
        Of the rows.
    """

    def __init__(self, length: int) -> None:
        self.size = length - length % 16 if LONG_ENOUGH <= length < BUFFER else BUFFER
        self.before = BUFFER

    def __enter__(self) -> None:
        if self.size < BUFFER:
            self.before = np.setbufsize(self.size)

    def __exit__(self, *error: object) -> None:
        if self.size < BUFFER:
            np.setbufsize(self.before)


BUFFER = 8192
"""Numbers for which NumPy's functions have a buffer, unless a program changes it."""

LONG_ENOUGH = 320
"""Rows below this length are begun too often to gain by it."""


def over_pieces(rows: Any, work: Callable[[slice], None]) -> None:
    """Call ``work`` for some of the ``rows`` at a time, on several threads."""
    with as_they_lie(rows.shape[1]):
        each(work, pieces_of_rows(rows))


def in_rows(
    plain: Callable[..., Any], of_rows: Callable[..., Any], native: str | None = None
) -> Callable[..., Any]:
    """``plain``, a rule along one dimension, some rows at a time where these are long and many.

    Parameters
    ----------
    plain : callable
        The rule, of arrays of one shape and then ``dim``.
    of_rows : callable
        The same for a matrix of some rows; its last argument is where to write the result.
    native : str, optional
        The same as a loop for :func:`autokit.ops.native.compiled`, of float32.
    """

    def apply(*arguments: Any, **settings: Any) -> Any:
        return (plain if arguments[0].size < BLOCK else of_many)(*arguments, **settings)

    def of_many(*arguments: Any, **settings: Any) -> Any:
        first = arguments[0]
        *arrays, dim = (*arguments, *settings.values())
        if not _are_rows(arrays, dim):
            by_columns = native and _by_columns(f"{native}_of_columns", arrays, dim % first.ndim)
            return plain(*arrays, dim) if by_columns is None else by_columns
        result = np.empty(first.shape, first.dtype)
        matrices = [array.reshape(-1, first.shape[-1]) for array in (*arrays, result)]
        if native and loop_over_rows(native, *matrices):
            return result

        def work(piece: slice) -> None:
            of_rows(*[matrix[piece] for matrix in matrices])

        over_pieces(matrices[0], work)
        return result

    return apply


_ndarray = np.ndarray  # a module's own name is found sooner than NumPy's


def reusing(own: Any, ufunc: np.ufunc, *operands: Any) -> Any:
    """``ufunc`` of the operands, written over ``own`` if that is an array of NumPy: nobody else may need it.

    So lines that also serve tensors, and are written into a GPU's kernel, take one array on a CPU.
    """
    return ufunc(*operands, out=own) if own.__class__ is _ndarray else _OPERATORS.get(ufunc, ufunc)(*operands)


_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: op.add,
    np.subtract: op.sub,
    np.multiply: op.mul,
    np.divide: op.truediv,
}


def loop_over_rows(native: str, *arrays: Any, others: Sequence[Any] = ()) -> bool:
    """Whether the compiled loop ``native`` went over the rows of the arrays, some at a time on each thread.

    Parameters
    ----------
    native : str
        The name of a loop, as :func:`autokit.ops.native.compiled` takes it.
    *arrays : array
        Of as many rows as the first, which must be large and of float32; each lies in one piece.
    others : sequence, optional
        What the loop takes after them: numbers, and arrays that serve all rows.
    """
    first = arrays[0]
    step = max(BLOCK * len(first) // first.size, 1) if first.size else 1
    return is_large(first) and shared(native, (*arrays, *others), range(len(arrays)), step)


def _by_columns(native: str, arrays: Sequence[Any], dim: int) -> Any:
    """What the compiled loop ``native`` gives along a dimension that is not the last; None without one."""
    first = arrays[0]
    cubes = [columns(array, dim) for array in arrays]
    if any(cube is None for cube in cubes) or any(array.shape != first.shape for array in arrays):
        return None
    if any(array.dtype != first.dtype for array in arrays):
        return None
    result = np.empty(first.shape, first.dtype)
    return result if loop_over_rows(native, *cubes, columns(result, dim)) else None


def columns(a: Any, dim: int) -> Any:
    """``a`` as a cube whose middle dimension is ``dim``, counted from the front, where many lie beside it."""
    if a.__class__ is not np.ndarray or not a.ndim or not a.flags.c_contiguous:
        return None
    beside = math.prod(a.shape[dim + 1 :])
    return a.reshape(-1, a.shape[dim], beside) if beside >= FEWEST_BESIDE and a.size else None


FEWEST_BESIDE = 16
"""Columns that a compiled loop goes through at once."""


def copied(a: Any) -> Any:
    """A copy of ``a``, by :func:`copy_into` where that is sooner."""
    if a.size < FEW or a.__class__ is not np.ndarray or (0 not in a.strides and a.size < MANY):
        return a.copy()
    made = np.empty(a.shape, a.dtype)
    copy_into(a, made)
    return made


def copy_into(a: Any, into: Any) -> None:
    """``into[...] = a``, by a compiled loop where it is large."""
    if not (is_large(a) and into.flags.c_contiguous and _copied_in_a_loop(a, into)):
        into[...] = a


def _copied_in_a_loop(a: Any, into: Any) -> bool:
    """Whether a loop copied ``a``, which lies in one piece, or repeats a number for all or for each row."""
    if a.flags.c_contiguous:
        lines = a.reshape(-1), into.reshape(-1)
        return a.size >= MANY and shared("native_sums.copy", lines, (0, 1), BLOCK)
    if not any(a.strides):
        return shared("native_sums.repeat", (into.reshape(-1), a.flat[0]), (0,), BLOCK)
    if not a.strides[-1]:
        rows, numbers = into.reshape(-1, a.shape[-1]), np.ascontiguousarray(a[..., 0].reshape(-1))
        return loop_over_rows("native_sums.repeat_in_rows", rows, numbers)
    if not any(a.strides[:-1]):
        rows, row = into.reshape(-1, a.shape[-1]), np.ascontiguousarray(a[(0,) * (a.ndim - 1)])
        return loop_over_rows("native_sums.repeat_row", rows, others=(row,))
    return False


def _are_rows(arrays: Sequence[Any], dim: int) -> bool:
    """Whether the rows along ``dim`` lie one after the other in memory, and are of a fit length."""
    first = arrays[0]
    return (
        all(array.__class__ is np.ndarray and array.flags.c_contiguous for array in arrays)
        and all(array.dtype == first.dtype and array.shape == first.shape for array in arrays)
        and first.dtype.kind == "f"
        and dim in (-1, first.ndim - 1)
        and SHORTEST <= first.shape[-1] <= LONGEST
    )


SHORTEST = 64
"""Rows below this length cost more calls than they save."""

LONGEST = 4096
"""Rows above this length, added in one run, would lose to rounding."""


def _line(array: Any, first: Any) -> Any:
    """The elements one after the other without a copy, None where that is not to be had."""
    if not isinstance(array, np.ndarray | np.generic) or array.shape not in (first.shape, ()):
        return None
    if first.dtype.kind != "f" or (array.dtype != first.dtype and array.dtype.kind != "b"):
        return None
    if array.ndim and array.flags.c_contiguous:
        return array.reshape(-1)
    # The gradient of a sum is one number, repeated.
    return None if any(array.strides) else np.broadcast_to(array.flat[0], first.size)


def _bits(mask: Any, kind: np.dtype) -> Any:
    """Integers of all ones where ``mask`` holds, else of zeros."""
    return np.negative(mask.view(np.int8)).astype(kind)


@lru_cache(maxsize=16)
def _constants_of(kind: np.dtype, value: float, count: int) -> np.ndarray:
    constants = np.full(count, value, kind)
    constants.flags.writeable = False
    return constants


@lru_cache(maxsize=64)
def ones(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Ones to add up with: a product with them is the quickest sum over rows or columns."""
    made = np.ones(shape, dtype)
    made.flags.writeable = False
    return made


@lru_cache(maxsize=64)
def zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros to compare a small array with; see :func:`zeros_like`."""
    made = np.zeros(shape, dtype)
    made.flags.writeable = False
    return made


def places_in_line(columns: np.ndarray, width: int) -> np.ndarray:
    """Where one element of each row is, by its column, when rows of ``width`` lie in one line."""
    count = len(columns)
    return (starts(count, width) if count <= _MANY_ROWS else _new_starts(count, width)) + columns


def _new_starts(count: int, width: int) -> np.ndarray:
    return np.arange(count) * width


starts = lru_cache(maxsize=16)(_new_starts)
"""Where each of a few rows begins: ``starts(count, width)``."""

_MANY_ROWS = 4096


@lru_cache(maxsize=64)
def scalar(value: float, dtype: np.dtype) -> np.ndarray:
    """An array without dimensions, which NumPy's functions take sooner than a Python number."""
    made = np.array(value, dtype)
    made.flags.writeable = False
    return made


def zeros_like(piece: Any) -> Any:
    """Zeros to compare a piece with: NumPy's maximum with an array is five times as fast as with a number."""
    return _constants_of(piece.dtype, 0, BLOCKS_OF_THREADS * BLOCK)[: piece.size]


def constants_like(piece: Any, value: float) -> Any:
    """``value`` as often as ``piece`` has elements; for the same reason as :func:`zeros_like`."""
    return _constants_of(piece.dtype, value, BLOCKS_OF_THREADS * BLOCK)[: piece.size]


def keep(mask: Any, a: Any, into: Any) -> None:
    """Write ``a`` where ``mask`` holds, else 0."""
    kind = INTEGERS[a.dtype.itemsize]
    bits = into.view(kind)
    bits[...] = mask
    bits *= a.view(kind)  # integers: 0 times the bits of an infinity or a NaN is 0 too


def drop(mask: Any, a: Any, into: Any) -> None:
    """Write 0 where ``mask`` holds, else ``a``; ``mask`` is used up."""
    keep(np.logical_not(mask, out=mask), a, into)


def replace(mask: Any, value: Any, into: Any) -> None:
    """Write ``value``, a number or an array, where ``mask`` holds."""
    count = np.count_nonzero(mask)
    if count * 32 > mask.size:
        select(mask, np.broadcast_to(np.asarray(value, into.dtype), into.shape), into, into)
    elif count:
        np.copyto(into, value, where=mask)


def select(mask: Any, a: Any, b: Any, into: Any) -> None:
    """Write ``a`` where ``mask`` holds, else ``b``; ``into`` may be either."""
    kind = INTEGERS[a.dtype.itemsize]
    a, b, into = a.view(kind), b.view(kind), into.view(kind)
    different = a ^ b
    different &= _bits(mask, kind)
    np.bitwise_xor(different, b, out=into)
