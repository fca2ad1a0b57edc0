"""A view as a region of its base: what lets gradients follow a change that is made through a view.

When a recorded operation writes into a view, the base gets a new history, in
which the region that the view sees comes from the new values and the rest from
the old; and every view of that base becomes a part of the new base.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import address_of, beside, to_numpy
from autokit.ops.complex_numbers import is_complex
from autokit.ops.complex_parts import pairs, plain_view_as_complex, plain_view_as_real
from autokit.ops.direct import direct
from autokit.ops.gpu.arrays import like
from autokit.ops.index import spread_out, writable_copy, zero_like
from autokit.ops.operation import derivative, on, operation
from autokit.ops.overlaps import repeats
from autokit.tensor import Tensor


@operation(
    "[ ]=",
    "{a}, with {value} written through a view",
    a=derivative("1 outside of the view", lambda g, places: on(write_region, g, zero_like(g), places=places)),
    value=derivative("1 inside of the view", lambda g, places, counts: _arriving(g, places, counts)),
    backward="CopySlices",
)
def write_region(a, value, /, places, counts=None):
    """A copy of ``a`` with ``value`` at ``places``, which count the elements of ``a`` in order.

    Where a place is named several times, ``counts`` is 1 for the one of them that stays, and 0 for others.
    """
    result = writable_copy(a)
    result.reshape(-1)[beside(a, places)] = value
    return result


@operation(
    "[ ]",
    "the part of {a} that a view sees",
    a=derivative("1 inside of the view", lambda g, shape, places: _spread(g, shape, places)),
    backward="AsStridedBackward0",
    linear=True,
)
def read_region(a, /, places):
    """The elements of ``a`` at ``places``, which count them in order."""
    return a.reshape(-1)[beside(a, places)]


def _arriving(g: Any, places: Any, counts: Any) -> Any:
    """The gradient of what was written at ``places``, which counts where ``counts`` is 1."""
    read = on(read_region, g, places=places)
    return read if counts is None else read * counts


def _spread(g: Any, shape: tuple[int, ...], places: np.ndarray) -> Any:
    """Zeros of ``shape`` with ``g`` at ``places``; where one place is several elements, they add up."""
    if places.size and (np.bincount(places.reshape(-1)) > 1).any():
        index = (beside(g, places),)
        return on(spread_out, g, shape=(math.prod(shape),), index=index).reshape(shape)
    return on(write_region, like(np.zeros_like, g, shape=shape), g, places=places)


def written(base: Tensor, value: Tensor, view: Tensor, memory: Any, new: Any = None) -> Tensor:
    """``base``, after ``value`` was written through ``view``: its elements, ``memory``, and its history.

    Where one place is several elements of the view, ``new`` tells which of them were written.
    """
    if view.array.dtype == memory.dtype:
        own = _places_in_base(view.array, memory)
        counts = None if new is None else beside(memory, _last(own, to_numpy(new), memory))
        if base._requires_grad and repeats(view.array):
            base = direct(_no_way_back, (base,), None, base.array)
        return direct(write_region, (base, value), {"places": own, "counts": counts}, memory)
    places = {"places": _places_in_base(_numbers(view.array), _numbers(memory)), "counts": None}
    if is_complex(view):
        return direct(write_region, (base, _parts(value)), places, memory)
    changed = direct(write_region, (_parts(base), value), places, pairs(memory))
    return direct(plain_view_as_complex, (changed,), {}, memory)


def _refuse_expanded(g: Any) -> Any:
    raise RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory "
        "location: an expanded view was filled whose base requires grad. Please clone() the view before it "
        "is changed in place."
    )


@operation(
    "=", "{a}", a=derivative("not given", _refuse_expanded), name="expanded_base", backward="AliasBackward0"
)
def _no_way_back(a, /):
    """``a`` before a change through an expanded view, through which PyTorch has no way back, either."""
    return a


def _last(places: Any, new: Any, memory: Any) -> Any:
    """1 for the one of the elements at each place that stays, a ``new`` one if there is any; 0 for others."""
    order, new = places.reshape(-1), new.reshape(-1)
    element = np.full(memory.size, -1)
    for chosen in (np.flatnonzero(~new), np.flatnonzero(new)):
        element[order[chosen]] = chosen
    counts = np.zeros(places.shape, memory.dtype)
    counts.reshape(-1)[element[element >= 0]] = 1
    return counts


def seen(base: Tensor, view: Tensor) -> Tensor:
    """What ``view`` sees of ``base``, with the history of that."""
    own, memory = view.array, base.array
    if own.dtype == memory.dtype:
        return direct(read_region, (base,), {"places": _places_in_base(own, memory)}, own)
    places = {"places": _places_in_base(_numbers(own), _numbers(memory))}
    if is_complex(base):
        return direct(read_region, (_parts(base),), places, own)
    read = direct(read_region, (base,), places, pairs(own))
    return direct(plain_view_as_complex, (read,), {}, own)


def _parts(tensor: Tensor) -> Tensor:
    return direct(plain_view_as_real, (tensor,), {})


def _numbers(array: Any) -> Any:
    """The real numbers in memory, as pairs where ``array`` is complex."""
    return pairs(array) if is_complex(array) else array


def _places_in_base(view: Any, base: Any) -> np.ndarray:
    """Which element of ``base``, counted in order, each element of ``view`` is.

    Both arrays are looked at as memory: where an element lies is the sum of its
    indices, each times its stride.
    """
    inside = _offsets(view) + (address_of(view) - address_of(base))
    if base.flags.c_contiguous:
        return inside // base.itemsize
    memory = _offsets(base)
    first = memory.min(initial=0)
    order = np.zeros((memory.max(initial=0) - first) // base.itemsize + 1, np.int64)
    order[(memory - first) // base.itemsize] = np.arange(memory.size).reshape(memory.shape)
    return order[(inside - first) // base.itemsize]


def _offsets(array: Any) -> np.ndarray:
    """How many bytes each element lies behind the first."""
    offsets = np.zeros((), np.int64)
    for size, stride in zip(array.shape, array.strides):
        offsets = np.add.outer(offsets, np.arange(size) * stride)
    return offsets
