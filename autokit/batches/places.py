"""Reading and writing the elements of a batch at an index that each sample means for itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.batches.batch import Batch, Level, NotBatched, aligned, ndim_of, newest


def _entries(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _is_array(entry: Any) -> bool:
    return entry.__class__ is Batch or isinstance(entry, np.ndarray | list | bool | np.bool_)


def read(batch: Batch, index: Any) -> Any:
    """``batch[index]``."""
    entries = _entries(index)
    level = newest((batch, *entries))
    assert level is not None
    if level is batch.level and not any(
        [entry.__class__ is Batch and entry.level is level for entry in entries]
    ):
        arrays = [entry for entry in entries if _is_array(entry)]
        if not arrays or (len(arrays) == 1 and not any([isinstance(each, int) for each in entries])):
            return Batch(batch.full[(slice(None), *entries)], level)
    return Batch(*_read_each(batch, level, entries))


def _read_each(batch: Any, level: Level, entries: tuple[Any, ...]) -> tuple[Any, Level]:
    """The elements that each sample names by arrays, which may be its own."""
    whole, kept, places = _with_samples(batch, level, entries)
    found = whole[places]
    dims = max([ndim_of(place) for place in places if _is_array(place)]) - 1
    if kept and dims:  # behind the dimensions before them
        found = np.moveaxis(found, range(1, 1 + dims), range(1 + kept, 1 + kept + dims))
    elif kept:
        pass
    return found, level


def _with_samples(batch: Any, level: Level, entries: tuple[Any, ...]) -> tuple[Any, int, tuple[Any, ...]]:
    """The whole array, how many dimensions stand before the arrays in the result, and an index into it.

    The number of each sample is one more array of the index; so all arrays' dimensions come first.
    """
    if batch.__class__ is Batch and batch.level is level:
        whole, own = batch.full, batch.full.shape[0] != 1
        ndim = batch.ndim
    else:
        whole, own = batch[None], False
        ndim = batch.ndim
    plain: list[Any] = []
    for entry in entries:
        if isinstance(entry, bool | np.bool_):
            raise NotBatched("vmap has no rule for a bool as index beside arrays")
        if isinstance(entry, list):
            entry = np.asarray(entry)
        if _is_array(entry) and entry.dtype.kind == "b":
            if entry.__class__ is Batch:
                raise NotBatched(
                    "vmap: an index of bools gives each sample another number of elements; "
                    "use torch.where(mask, x, 0)"
                )
            plain += np.nonzero(entry)
        else:
            plain.append(entry)
    if Ellipsis in [each if each is Ellipsis else None for each in plain]:
        place = next(place for place, each in enumerate(plain) if each is Ellipsis)
        used = sum([each is not None and each is not Ellipsis for each in plain])
        plain[place : place + 1] = [slice(None)] * (ndim - used)
    dims = max([ndim_of(each) for each in plain if _is_array(each)])
    numbers = np.arange(level.size if own else 1).reshape((-1,) + (1,) * dims)
    places = [aligned(each, level, dims) if _is_array(each) else each for each in plain]
    advanced = [place for place, each in enumerate(plain) if _is_array(each) or isinstance(each, int)]
    together = advanced[-1] - advanced[0] + 1 == len(advanced)
    return whole, advanced[0] if together else 0, (numbers, *places)


def write(batch: Batch, index: Any, value: Any) -> None:
    """``batch[index] = value``."""
    entries = _entries(index)
    level = newest((batch, value, *entries))
    if level is not batch.level:
        raise NotBatched("vmap: what all samples of an inner vmap share cannot be changed for each of them")
    batch.grow()
    full = batch.full
    masks = [entry for entry in entries if entry.__class__ is Batch and entry.dtype.kind == "b"]
    if masks:
        if len(entries) > 1 or ndim_of(value):
            raise NotBatched("vmap has no rule for writing at an index of bools")
        (mask,) = masks
        behind = full.ndim - mask.full.ndim
        where = mask.full[(..., *(None,) * behind)]
        np.copyto(full, aligned(value, level, full.ndim - 1), where=where)
        return
    if not any([entry.__class__ is Batch for entry in entries]):
        arrays = [entry for entry in entries if _is_array(entry)]
        if not arrays or (len(arrays) == 1 and not any([isinstance(each, int) for each in entries])):
            whole = (slice(None), *entries)
            if value.__class__ is Batch:
                value = aligned(value, level, full[whole].ndim - 1)
            full[whole] = value
            return
    whole, places, value = _target(batch, level, entries, value)
    whole[places] = value


def add_each(level: Level, ufunc: Any, batch: Any, index: Any, value: Any = None) -> None:
    """``np.add.at(batch, index, value)``: places named twice count twice."""
    if batch.__class__ is not Batch or batch.level is not level:
        raise NotBatched("vmap: what all samples share cannot be changed for each of them")
    entries = _entries(index)
    batch.grow()
    if not any([_is_array(entry) for entry in entries]):
        raise NotBatched(f"vmap has no batching rule for {ufunc.__name__}.at slices")
    whole, places, value = _target(batch, level, entries, value)
    ufunc.at(whole, places, value)


def _target(batch: Batch, level: Level, entries: tuple[Any, ...], value: Any) -> tuple[Any, Any, Any]:
    """Where to write: the whole array, an index into it, and the value as the index wants it.

    The dimensions of the arrays come first in what an index with the samples' numbers names,
    so those before them are brought behind.
    """
    whole, kept, places = _with_samples(batch, level, entries)
    dims = max([ndim_of(place) for place in places if _is_array(place)]) - 1
    ndim = _ndim_at(whole, places) - 1
    value = aligned(value, level, ndim)
    if not kept:
        return whole, places, value
    before, rest = places[1 : 1 + kept], places[1 + kept :]
    arrays = tuple([place for place in rest if _is_array(place)])
    if any([entry != slice(None) for entry in before]) or any([isinstance(each, int) for each in rest]):
        raise NotBatched("vmap has no rule for writing at arrays behind parts of a dimension")
    count = len(arrays)
    whole = np.moveaxis(whole, range(1, 1 + kept), range(1 + count, 1 + count + kept))
    samples = ndim_of(value) > ndim
    value = value if samples else np.asarray(value)[None]
    value = value[(slice(None), *(None,) * (ndim + 1 - value.ndim))]
    value = np.moveaxis(value, range(1, 1 + kept), range(1 + dims, 1 + dims + kept))
    return whole, (places[0], *arrays, *before, *rest[count:]), value


def _ndim_at(whole: Any, places: tuple[Any, ...]) -> int:
    arrays = [place for place in places if _is_array(place)]
    used = sum([place is not None for place in places])
    slices = sum([isinstance(place, slice) for place in places])
    new = sum([place is None for place in places])
    return max([ndim_of(each) for each in arrays]) + slices + new + whole.ndim - used
