"""Which of several equal elements a sort that keeps no order puts first: the one that PyTorch's CPU does.

Sorts, the largest few and the element at a rank are free to name any of
several equal elements, and a gradient flows to the one that is named.  PyTorch
on a CPU calls the C++ library, whose answer depends on each exchange that its
algorithms make.  So a row in which equal elements meet goes through these
algorithms here, element by element; all others have one answer only, which is
found without them.

That takes Python's time, about half a microsecond for an element that is
selected and two for one that is sorted.  Where there are more than
:data:`MOST` such elements in one call, equal ones keep their order instead.

References
----------
D. R. Musser, "Introspective sorting and selection algorithms", Software:
Practice and Experience 27 (1997), as the GNU C++ library has it.  R. Sedgewick,
"Implementing quicksort programs", Communications of the ACM 21 (1978), by which
PyTorch selects the k-th element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.batches.batch import Batch

MOST = 2**18
"""Elements, of all rows with equal ones, that one call looks at one by one."""

_FEW = 16
"""So many elements a sort inserts one after the other, which keeps equal ones in order."""

Row = tuple[list[int], list[int]]
"""The elements of a row, each as its rank among the different ones, and their places; exchanged together."""


def arranged(a: Any, order: Any, dim: int, arrange: Callable[[Row], Any], at: Any = None) -> Any:
    """``order``, the places of the elements of ``a``, as ``arrange`` leaves them where some are equal.

    Only rows count in which an element at one of the ranks ``at``, a slice, equals the next one; without
    ``at`` all rows are arranged.
    """
    if a.__class__ is Batch:
        return Batch(arranged(a.full, order.full, dim + 1, arrange, at), order.level)
    places = np.moveaxis(order, dim, -1)
    ordered = np.take_along_axis(np.moveaxis(a, dim, -1), places, -1)
    unknown = ordered != ordered
    equal = (ordered[..., 1:] == ordered[..., :-1]) | (unknown[..., 1:] & unknown[..., :-1])
    rows = np.ones(equal.shape[:-1], bool) if at is None else equal[..., at].any(axis=-1)
    count = int(np.count_nonzero(rows))
    if not 0 < count * places.shape[-1] <= MOST:
        return order
    ranks = np.zeros((count, places.shape[-1]), np.int64)
    found = places[rows]
    np.put_along_axis(ranks, found[:, 1:], np.cumsum(~equal[rows], axis=-1), -1)
    anywhere = list(range(places.shape[-1]))
    for row, keys in enumerate(ranks.tolist()):
        found[row] = arrange((keys, anywhere.copy()))
    places = places.copy()
    places[rows] = found
    return np.moveaxis(places, -1, dim)


def sorted_places(a: Any, order: Any, dim: int) -> Any:
    """``order`` as ``std::sort`` has it."""
    if a.shape[dim] <= _FEW:
        return order
    return arranged(a, order, dim, lambda row: _sort(row, len(row[0]))[1], slice(None))


def first_places(a: Any, order: Any, dim: int, k: int, in_order: bool) -> Any:
    """``order``, whose first ``k`` are as PyTorch's ``topk`` has them.

    It sorts the heap of the first ``k`` where these are one in 64 at most.  Else it splits the elements at
    the ``k``-th, and sorts those before it if they shall stand ``in_order``.
    """
    size = a.shape[dim]

    def first(row: Row) -> list[int]:
        if k * 64 <= size:
            _sort_first(row, 0, k, size)
        else:
            _select(row, k - 1)
            if in_order:
                _sort(row, k - 1)
        return row[1]

    return arranged(a, order, dim, first, slice(k) if in_order else None) if k else order


def place_at(a: Any, order: Any, dim: int, rank: int) -> Any:
    """``order``, where PyTorch's ``kthvalue`` stands at ``rank``."""
    return arranged(a, order, dim, lambda row: _quick_select(row, rank), slice(max(rank - 1, 0), rank + 1))


# ---------------------------------------------------------------- the C++ library's


def _partition(row: Row, first: int, last: int) -> int:
    """Where the elements from ``first`` to ``last`` are split by a median of three, which goes first."""
    keys, places = row
    middle = first + (last - first) // 2
    a, b, c = keys[first + 1], keys[middle], keys[last - 1]
    if a < b:
        chosen = middle if b < c else last - 1 if a < c else first + 1
    else:
        chosen = first + 1 if a < c else last - 1 if b < c else middle
    pivot = keys[chosen]
    keys[first], keys[chosen] = keys[chosen], keys[first]
    places[first], places[chosen] = places[chosen], places[first]
    left, right = first + 1, last
    while True:
        while keys[left] < pivot:
            left += 1
        right -= 1
        while pivot < keys[right]:
            right -= 1
        if left >= right:
            return left
        keys[left], keys[right] = keys[right], keys[left]
        places[left], places[right] = places[right], places[left]
        left += 1


def _sort(row: Row, size: int) -> Row:
    """``std::sort`` of the first ``size``: split until few are left, which are inserted one by one."""
    keys, places = row
    parts = [(0, size, 2 * (size.bit_length() - 1))]
    while parts:
        first, last, depth = parts.pop()
        while last - first > _FEW:
            if not depth:  # split badly too often
                _sort_first(row, first, last, last)
                break
            depth -= 1
            cut = _partition(row, first, last)
            parts.append((cut, last, depth))
            last = cut
    inserted = sorted(range(size), key=keys.__getitem__)
    keys[:size], places[:size] = [keys[each] for each in inserted], [places[each] for each in inserted]
    return row


def _select(row: Row, rank: int) -> None:
    """``std::nth_element``: split, and go on in the part that has ``rank``."""
    keys, places = row
    first, last = 0, len(keys)
    depth = 2 * (last.bit_length() - 1)
    while last - first > 3:
        if not depth:  # split badly too often
            _choose_first(row, first, rank + 1, last)
            keys[first], keys[rank] = keys[rank], keys[first]
            places[first], places[rank] = places[rank], places[first]
            return
        depth -= 1
        cut = _partition(row, first, last)
        if cut <= rank:
            first = cut
        else:
            last = cut
    inserted = sorted(range(first, last), key=keys.__getitem__)
    keys[first:last], places[first:last] = [keys[i] for i in inserted], [places[i] for i in inserted]


def _sink(row: Row, first: int, hole: int, size: int, key: int, place: int) -> None:
    """Fill the ``hole`` of a heap of ``size`` from ``first`` on with larger children; let ``key`` rise."""
    keys, places = row
    top = child = hole
    while child < (size - 1) // 2:
        child = 2 * child + 2
        if keys[first + child] < keys[first + child - 1]:
            child -= 1
        keys[first + hole], places[first + hole] = keys[first + child], places[first + child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * child + 1
        keys[first + hole], places[first + hole] = keys[first + child], places[first + child]
        hole = child
    while hole > top and keys[first + (hole - 1) // 2] < key:
        parent = (hole - 1) // 2
        keys[first + hole], places[first + hole] = keys[first + parent], places[first + parent]
        hole = parent
    keys[first + hole], places[first + hole] = key, place


def _choose_first(row: Row, first: int, middle: int, last: int) -> None:
    """Make a heap of those before ``middle``, and put each later element in that is less than its largest."""
    keys, places = row
    size = middle - first
    for parent in range((size - 2) // 2, -1, -1):
        _sink(row, first, parent, size, keys[first + parent], places[first + parent])
    for each in range(middle, last):
        if keys[each] < keys[first]:
            key, place = keys[each], places[each]
            keys[each], places[each] = keys[first], places[first]
            _sink(row, first, 0, size, key, place)


def _sort_first(row: Row, first: int, middle: int, last: int) -> None:
    """``std::partial_sort``: choose those that come before ``middle``, and take the largest off the heap."""
    keys, places = row
    _choose_first(row, first, middle, last)
    for end in range(middle - 1, first, -1):
        key, place = keys[end], places[end]
        keys[end], places[end] = keys[first], places[first]
        _sink(row, first, 0, end - first, key, place)


# ---------------------------------------------------------------- PyTorch's own


def _quick_select(row: Row, rank: int) -> list[int]:
    """The places, with that of the element of ``rank`` there."""
    keys, places = row

    def exchange(one: int, other: int) -> None:
        keys[one], keys[other] = keys[other], keys[one]
        places[one], places[other] = places[other], places[one]

    first, last = 0, len(keys) - 1
    while first + 1 < last:
        exchange((first + last) // 2, first + 1)
        for one, other in ((first + 1, last), (first, last), (first + 1, first)):
            if keys[one] > keys[other]:
                exchange(one, other)
        pivot, left, right = keys[first], first + 1, last
        while True:
            left += 1
            while keys[left] < pivot:
                left += 1
            right -= 1
            while pivot < keys[right]:
                right -= 1
            if right < left:
                break
            exchange(left, right)
        exchange(first, right)
        if right <= rank:
            first = left
        if right >= rank:
            last = right - 1
    if first + 1 == last and keys[first] > keys[last]:
        exchange(first, last)
    return places
