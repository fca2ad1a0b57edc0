"""Convolution row by row, shared among threads: small products, and no matrix of all windows.

Lay the first row of every channel out, then the second row of every channel,
and so on.  What a row of outputs sees of rows 3 to 5 is then one piece of
memory, a matrix, and what the next row of outputs sees is the same matrix,
begun one row later.  So the kernel's places below each other need no copies,
only those beside each other do: a kernel of 3×3 copies its input three times
in place of nine, and no column is computed in vain, as in the runs of
:mod:`autokit.ops.correlate`.

Each product belongs to one row of a few images, and is so small that BLAS
computes it on the thread that asks; one call of NumPy does those of all rows,
and threads of ours share the images.  Threads of BLAS would share every
product instead, and each would wait for what the others read and write: where
two cores have no cache in common, two of them take longer than one alone.

What has larger products, and what is not of this kind, is left to
:mod:`autokit.ops.correlate`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from autokit.ops import correlate as by_products
from autokit.ops.correlate import Windows, output_sizes
from autokit.ops.strides import strided
from autokit.threads import each

SMALL = 1 << 18
"""A product of matrices with so many multiplications OpenBLAS computes on the thread that asks."""

SMALL_OF_ONE = 9000
"""The same for a product with one row or column."""

FEWEST_COLUMNS = 32
"""Products with fewer columns take longer than large ones on the threads of BLAS."""

FEWEST_LINES = 16
"""The same for their other sides, which hold a window's elements or what a row of the input gets."""

LEAST_ROWS = 2
"""Kernels of fewer rows share no rows of the input."""

PARTS = 4
"""Into so many parts the images are divided."""

LEAST_WORK = 1 << 22
"""So many multiplications make up for calls that small images do not need."""

WORK = 1 << 23
"""Multiplications that make up for what it costs to wake a thread for a part."""

TILE = 1 << 17
"""Elements that the rows of a tile take of memory, unless a single image needs more."""

LARGER = 4
"""Tiles are larger where threads have parts: so each asks less often for the lock of Python."""


class Tap(NamedTuple):
    """What one place of the kernel sees along all dimensions but the first.

    Attributes
    ----------
    inside : tuple of slice
        The outputs for which it sees elements of the input.
    taken : tuple of slice
        Which elements these are.
    """

    inside: tuple[slice, ...]
    taken: tuple[slice, ...]


class Part(NamedTuple):
    """Some of the images: how many of them are laid out at a time, and how many share a product."""

    number: int
    images: slice
    tile: int
    together: int

    def tiles(self) -> list[slice]:
        return [slice(at, at + self.tile) for at in range(self.images.start, self.images.stop, self.tile)]


def correlate(x: Any, weight: Any, bias: Any, windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate`."""
    if not _fits(x, weight, x.shape[2:], weight.shape, windows):
        return by_products.correlate(x, weight, bias, windows)
    output, most = output_sizes(x.shape[2:], weight.shape[2:], windows), _most_columns(weight.shape)
    result = np.empty((len(x), len(weight), *output), x.dtype)
    matrix = np.moveaxis(weight, 1, -1).reshape((len(weight), -1))

    def room(part: Part) -> Any:
        seen = Seen(x, part, weight.shape, windows)
        made = np.empty((*seen.matrices.shape[:2], len(matrix), seen.matrices.shape[-1]), x.dtype)
        by_rows = made.reshape((*made.shape[:3], part.together, *output[1:]))
        return seen, by_rows, _in_pieces(seen.matrices, most), _in_pieces(made, most)

    def work(part: Part, seen: Seen, by_rows: Any, rows: Any, made: Any) -> None:
        for tile in part.tiles():
            seen.look_at(x[tile])
            _multiply(matrix, rows, made)
            _by_rows(result[tile], part.together)[...] = by_rows
            if bias is not None:
                _add_by_channel(result[tile], bias)

    _work_on(_parts(len(x), output, weight.shape), room, work)
    return result


def correlate_weight_gradient(g: Any, x: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_weight_gradient`."""
    if not _fits(x, g, x.shape[2:], shape, windows):
        return by_products.correlate_weight_gradient(g, x, shape, windows)
    outputs, most = shape[0], _most_columns(shape)
    parts = _parts(len(x), output_sizes(x.shape[2:], shape[2:], windows), shape)
    totals = np.zeros((len(parts), math.prod(shape[1:]), outputs), x.dtype)

    def room(part: Part) -> Any:
        seen = Seen(x, part, shape, windows)
        own = np.empty((part.tile, *g.shape[1:]), g.dtype)
        sent = np.empty_like(_by_rows(own, part.together), order="C")
        columns = _in_pieces(sent.reshape((*sent.shape[:3], -1)), most).swapaxes(-1, -2)
        rows = _in_pieces(seen.matrices, most)
        return seen, own, sent, columns, rows, np.empty((*rows.shape[:-1], outputs), x.dtype)

    def work(part: Part, seen: Seen, own: Any, sent: Any, columns: Any, rows: Any, made: Any) -> None:
        for tile in part.tiles():
            seen.look_at(x[tile])
            own[...] = g[tile]
            sent[...] = _by_rows(own, part.together)
            np.matmul(rows, columns, out=made)
            totals[part.number] += made.sum((0, 1, 2))

    _work_on(parts, room, work)
    total = totals.sum(0).reshape((*shape[2:], shape[1], outputs))
    return np.ascontiguousarray(np.moveaxis(total, (-1, -2), (0, 1)))


def correlate_input_gradient(g: Any, weight: Any, bias: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_input_gradient`."""
    lines = shape[1] * math.prod(weight.shape[3:])
    if lines < FEWEST_LINES or not _fits(g, weight, shape[2:], weight.shape, windows):
        return by_products.correlate_input_gradient(g, weight, bias, shape, windows)
    most, taps = _most_columns(weight.shape), _taps(shape[3:], weight.shape[3:], windows.padding[1:])
    result = np.empty(shape, g.dtype)
    # A row of the input is seen by the kernel's last row first, from so many rows of outputs before it.
    height, back = weight.shape[2], weight.shape[2] - 1 - windows.padding[0]
    before = max(0, back)
    length = before + max(g.shape[2], shape[2] + height - 1 - back)
    matrix = np.moveaxis(weight[:, :, ::-1], (1, 2, 0), (-3, -2, -1)).reshape((lines, -1))

    def room(part: Part) -> Any:
        own = np.empty((part.tile, *g.shape[1:]), g.dtype)
        groups, rows, outputs, *sizes = _by_rows(own, part.together).shape
        sent = np.empty((groups, length, outputs, *sizes), g.dtype)
        sent[:, :before] = sent[:, before + rows :] = 0
        found = _run(sent.reshape((groups, length, outputs, -1)), before - back, shape[2], height)
        made = np.empty((groups, shape[2], lines, found.shape[-1]), g.dtype)
        by_place = made.reshape((groups, shape[2], len(taps), shape[1], *sizes))
        inside = sent[:, before : before + rows]
        return own, inside, _in_pieces(found, most), _in_pieces(made, most), by_place

    def work(part: Part, own: Any, sent: Any, rows: Any, made: Any, by_place: Any) -> None:
        for tile in part.tiles():
            own[...] = g[tile]
            sent[...] = _by_rows(own, part.together)
            _multiply(matrix, rows, made)
            _add_up(by_place, taps, _by_rows(result[tile], part.together))
            if bias is not None:
                _add_by_channel(result[tile], bias)

    _work_on(_parts(len(g), g.shape[2:], weight.shape), room, work)
    return result


def _work_on(parts: list[Part], room: Any, work: Any) -> None:
    """Call ``work(part, *room(part))`` for each part, on several threads; rooms are used again."""
    free: dict[int, list[Any]] = {part.tile: [] for part in parts}
    for part in parts[:1]:  # before others ask for the lock of Python too
        free[part.tile].append(room(part))

    def do(part: Part) -> None:
        rooms = free[part.tile]
        try:
            own = rooms.pop()
        except IndexError:
            own = room(part)
        work(part, *own)
        rooms.append(own)

    each(do, parts)


# ---------------------------------------------------------------- which products there are


def _fits(a: Any, b: Any, sizes: tuple[int, ...], shape: tuple[int, ...], windows: Windows) -> bool:
    """Whether rows can be laid out this way, and the products of one with a weight of ``shape`` are small."""
    if not a.__class__ is b.__class__ is np.ndarray or len(sizes) < 2 or not math.prod(shape):
        return False
    if windows.groups > 1 or max(*windows.stride, *windows.dilation) > 1:
        return False
    if shape[2] < LEAST_ROWS or math.prod(shape[1:]) < FEWEST_LINES:
        return False
    output = output_sizes(sizes, shape[2:], windows)
    work = len(a) * math.prod(output) * math.prod(shape)
    if work < LEAST_WORK or len(a) < PARTS <= work // WORK:  # so few images no threads can share
        return False
    width, most = math.prod(output[1:]), _most_columns(shape)
    return most >= FEWEST_COLUMNS and width // _divisor(width, most) >= min(width, FEWEST_COLUMNS)


def _most_columns(shape: tuple[int, ...]) -> int:
    """How many columns a product with a weight of ``shape`` may have."""
    of_one = shape[0] == 1 or math.prod(shape[1:2] + shape[3:]) == 1
    return (SMALL_OF_ONE if of_one else SMALL) // math.prod(shape)


@lru_cache(maxsize=256)
def _divisor(width: int, most: int) -> int:
    """Into how many equal pieces ``width`` columns are divided so that none has more than ``most``."""
    return next(count for count in range(1, width + 1) if not width % count and width // count <= most)


def _parts(count: int, output: tuple[int, ...], shape: tuple[int, ...]) -> list[Part]:
    """The images in parts of whole tiles, and these of as many images as share a product."""
    height, width = output[0], math.prod(output[1:])
    shared = count * height * width * math.prod(shape) >= PARTS * WORK
    step = -(-count // (PARTS if shared else 1))
    of_image = (height + shape[2] - 1) * math.prod(shape[1:]) // shape[2] * width
    tile = max(1, min(step, TILE * (LARGER if shared else 1) // of_image))
    together = _equal_parts(tile, max(1, _most_columns(shape) // width))
    tile -= tile % together
    step -= step % tile
    found: list[Part] = []
    for first in range(0, count, step):
        last = min(first + step, count)
        in_tiles = last - (last - first) % tile
        in_products = last - (last - first) % together
        for begin, end, size in (
            (first, in_tiles, tile),
            (in_tiles, in_products, in_products - in_tiles),
            (in_products, last, last - in_products),
        ):
            if begin < end:
                found.append(Part(len(found), slice(begin, end), size, min(together, size)))
    return found


def _equal_parts(count: int, most: int) -> int:
    """How many each part has where so many are divided as equally as can be, with ``most`` at most."""
    return -(-count // -(-count // most))


def _in_pieces(a: Any, most: int) -> Any:
    """Matrices (..., rows, columns) as (..., pieces, rows, columns), a view."""
    count = _divisor(a.shape[-1], most)
    return a.reshape((*a.shape[:-1], count, a.shape[-1] // count)).swapaxes(-2, -3)


def _multiply(matrix: Any, others: Any, into: Any) -> None:
    """Write the product of ``matrix`` with each of ``others``."""
    # A product of a column and a row is faster as what it is: every element times every other.
    product_of = np.multiply if matrix.shape[1] == 1 else np.matmul
    product_of(matrix, others, out=into)


# ---------------------------------------------------------------- how they lie in memory


@lru_cache(maxsize=256)
def _taps(sizes: tuple[int, ...], kernel: tuple[int, ...], padding: tuple[int, ...]) -> list[Tap]:
    """What each place of a kernel sees."""
    taps = []
    for place in product(*map(range, kernel)):
        inside, taken = [], []
        for at, size, width, pad in zip(place, sizes, kernel, padding):
            first, count = at - pad, size + 2 * pad - width + 1
            low, high = max(0, -first), min(count, size - first)
            inside.append(slice(low, max(low, high)))
            taken.append(slice(low + first, max(low, high) + first))
        taps.append(Tap(tuple(inside), tuple(taken)))
    return taps


def _by_rows(images: Any, together: int) -> Any:
    """Images (n, channels, ...) by rows, (n / together, rows, channels, together, ...), a view."""
    together = min(together, len(images))
    apart = images.reshape((-1, together, *images.shape[1:]))
    return apart.transpose((0, 3, 2, 1, *range(4, apart.ndim)))


class Seen:
    """Memory for a tile of images and what the outputs see of them, row by row.

    Attributes
    ----------
    matrices : array
        What each row of outputs sees, (tile / together, rows, places of the kernel · channels, columns).
    """

    def __init__(self, x: Any, part: Part, shape: tuple[int, ...], windows: Windows) -> None:
        (height, *sizes), (top, *padding), kernel = x.shape[2:], windows.padding, shape[3:]
        around = [size + 2 * pad for size, pad in zip(sizes, padding)]
        padded: Any = np.empty((part.tile, *x.shape[1:3], *around), x.dtype)
        inside: Any = (...,)
        for axis, (size, pad) in enumerate(zip(sizes, padding), 3):
            if pad:
                along = padded.swapaxes(axis, 0)
                along[:pad] = along[pad + size :] = 0
            inside += (slice(pad, pad + size),)
        self.inside = padded[inside]
        by_rows = _by_rows(padded, part.together)
        of_group, of_row, of_channel, of_image, *steps = by_rows.strides
        columns = [size - width + 1 for size, width in zip(around, kernel)]
        self.seen = strided(
            padded,
            (*by_rows.shape[:2], *kernel, *by_rows.shape[2:4], *columns),
            (of_group, of_row, *steps, of_channel, of_image, *steps),
        )
        rows = np.empty((len(by_rows), height + 2 * top, *self.seen.shape[2:]), x.dtype)
        rows[:, :top] = rows[:, top + height :] = 0
        self.into = rows[:, top : top + height]
        lines = rows.reshape((*rows.shape[:2], math.prod(shape[3:]) * shape[1], -1))
        self.matrices = _run(lines, 0, rows.shape[1] - shape[2] + 1, shape[2])

    def look_at(self, images: Any) -> None:
        """Lay these images out."""
        self.inside[...] = images
        self.into[...] = self.seen


def _add_by_channel(images: Any, bias: Any) -> None:
    """Add one number for each channel, in runs as long as an image."""
    images += bias.reshape((-1,) + (1,) * (images.ndim - 2))


def _run(rows: Any, first: int, count: int, height: int) -> Any:
    """Of rows (groups, rows, lines, columns) ``height`` at a time as a matrix, ``count`` times, a view."""
    of_group, of_row, of_line, of_column = rows.strides
    shape = (len(rows), count, height * rows.shape[2], rows.shape[3])
    return strided(rows, shape, (of_group, of_row, of_line, of_column), first * of_row)


def _add_up(made: Any, taps: list[Tap], into: Any) -> None:
    """Write what each place of the kernel sent, (groups, rows, places, channels, together, ...), added up."""
    whole = next((at for at, tap in enumerate(taps) if into[(..., *tap.taken)].shape == into.shape), None)
    into[...] = 0 if whole is None else made[:, :, whole][(..., *taps[whole].inside)]
    for number, tap in enumerate(taps):
        if number != whole:
            into[(..., *tap.taken)] += made[:, :, number][(..., *tap.inside)]
