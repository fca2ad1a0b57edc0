"""What NumPy's functions do with a :class:`Batch`, by kinds of functions.

Universal functions need no rule each: all go through ``Batch.__array_ufunc__``.
Here are reductions and other functions along axes, which are one further back
in the whole array, and functions that make, reshape and join arrays;
``products`` has those of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.batches.batch import (
    RULES,
    UFUNC_RULES,
    Batch,
    Level,
    NotBatched,
    aligned,
    ndim_of,
    of_all_samples,
    wrapped,
)
from autokit.batches.places import add_each


def rule(*functions: Any) -> Callable[[Any], Any]:
    """Make what follows the rule of these functions."""

    def keep(made: Any) -> Any:
        for function in functions:
            RULES[function] = made
        return made

    return keep


def whole(value: Any, level: Level) -> Any:
    """``value`` with a first dimension of samples, one where all are the same."""
    if value.__class__ is Batch and value.level is level:
        return value.full
    return (value if hasattr(value, "ndim") else np.asarray(value))[None]


def behind(axis: int, ndim: int) -> Any:
    """The axis of the whole array that is ``axis`` of a sample of ``ndim`` dimensions."""
    if not -ndim <= axis < ndim:
        if not ndim and axis in (0, -1):
            return ()
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim + 1


def all_behind(axis: Any, ndim: int) -> Any:
    """The same for one axis, several, or None for all."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    if isinstance(axis, tuple | list):
        return tuple([behind(each, ndim) for each in axis]) if ndim else ()
    return behind(axis, ndim)


def flat(a: Any) -> Any:
    """Each sample in one dimension."""
    return a.reshape((a.shape[0], -1)) if a.size else a.reshape((a.shape[0], int(np.prod(a.shape[1:]))))


_each: Any

# ---------------------------------------------------------------- along axes


def _reduction(function: Any) -> None:
    @rule(function)
    def apply(
        level: Level, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **settings: Any
    ) -> Any:
        if out is not None:
            raise NotBatched(f"vmap has no batching rule for {function.__name__} with out=")
        if dtype is not None:
            settings["dtype"] = dtype
        array = whole(a, level)
        for name in ("where", "mean"):
            if name in settings:
                settings[name] = aligned(settings[name], level, array.ndim - 1)
        return Batch(function(array, axis=all_behind(axis, array.ndim - 1), **settings), level)


for _each in (np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.any, np.all, np.var, np.std):
    _reduction(_each)
for _each in (np.count_nonzero, np.nansum, np.nanmean, np.nanmax, np.nanmin, np.median, np.nanmedian):
    _reduction(_each)


def _along(function: Any, default: int | None, one_by_one: bool = False) -> None:
    """A function along one axis; with None each sample is flat first."""

    @rule(function)
    def apply(level: Level, a: Any, *rest: Any, axis: Any = default, **settings: Any) -> Any:
        if rest and not one_by_one:
            axis, *rest = rest  # type: ignore[assignment]
        if settings.pop("out", None) is not None:
            raise NotBatched(f"vmap has no batching rule for {function.__name__} with out=")
        array = whole(a, level)
        if axis is None or array.ndim == 1:
            keepdims = settings.pop("keepdims", False)
            result = function(flat(array), *rest, axis=1, **settings)
            return Batch(result.reshape((-1,) + (1,) * (array.ndim - 1)) if keepdims else result, level)
        return Batch(function(array, *rest, axis=behind(axis, array.ndim - 1), **settings), level)


for _each in (np.argmax, np.argmin, np.cumsum, np.cumprod):
    _along(_each, None)
for _each in (np.sort, np.argsort):
    _along(_each, -1)
for _each in (np.partition, np.argpartition):
    _along(_each, -1, one_by_one=True)


@rule(np.diff)
def _diff(level: Level, a: Any, n: int = 1, axis: int = -1) -> Any:
    array = whole(a, level)
    return Batch(np.diff(array, n, behind(axis, array.ndim - 1)), level)


@rule(np.flip)
def _flip(level: Level, m: Any, axis: Any = None) -> Any:
    array = whole(m, level)
    return Batch(np.flip(array, all_behind(axis, array.ndim - 1)), level)


@rule(np.rot90)
def _rot90(level: Level, m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    array = whole(m, level)
    return Batch(np.rot90(array, k, all_behind(tuple(axes), array.ndim - 1)), level)


@rule(np.isin)
def _isin(level: Level, element: Any, test_elements: Any, invert: bool = False, **settings: Any) -> Any:
    found = (element[..., None] == np.ravel(test_elements)).any(axis=-1)
    return ~found if invert else found


@rule(np.searchsorted)
def _searchsorted(level: Level, a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    if a.__class__ is Batch or sorter is not None:
        raise NotBatched("vmap has no batching rule for searchsorted in other values for each sample")
    return Batch(np.searchsorted(a, v.full, side), level)


@rule(np.roll)
def _roll(level: Level, a: Any, shift: Any, axis: Any = None) -> Any:
    array = whole(a, level)
    if axis is None:
        return Batch(np.roll(flat(array), shift, 1).reshape(array.shape), level)
    return Batch(np.roll(array, shift, all_behind(axis, array.ndim - 1)), level)


@rule(np.repeat)
def _repeat(level: Level, a: Any, repeats: Any, axis: int | None = None) -> Any:
    if repeats.__class__ is Batch:
        raise NotBatched("vmap: each sample would have another number of elements")
    array = whole(a, level)
    if axis is None:
        return Batch(np.repeat(flat(array), repeats, 1), level)
    return Batch(np.repeat(array, repeats, behind(axis, array.ndim - 1)), level)


@rule(np.tile)
def _tile(level: Level, A: Any, reps: Any) -> Any:
    array, reps = whole(A, level), reps if isinstance(reps, tuple | list) else (reps,)
    array = array[(slice(None), *(None,) * (len(reps) - array.ndim + 1))]
    return Batch(np.tile(array, (1,) * (array.ndim - len(reps)) + tuple(reps)), level)


def _ufunc_reduce(level: Level, ufunc: Any, a: Any, axis: Any = 0, *rest: Any, **settings: Any) -> Any:
    if rest:
        raise NotBatched(f"vmap has no batching rule for {ufunc.__name__}.reduce with settings by place")
    array = whole(a, level)
    return Batch(ufunc.reduce(array, axis=all_behind(axis, array.ndim - 1), **settings), level)


def _ufunc_accumulate(level: Level, ufunc: Any, a: Any, axis: int = 0, **settings: Any) -> Any:
    array = whole(a, level)
    return Batch(ufunc.accumulate(array, axis=behind(axis, array.ndim - 1), **settings), level)


def _ufunc_reduceat(level: Level, ufunc: Any, a: Any, indices: Any, axis: int = 0, **settings: Any) -> Any:
    if indices.__class__ is Batch:
        raise NotBatched(f"vmap has no batching rule for {ufunc.__name__}.reduceat")
    array = whole(a, level)
    return Batch(ufunc.reduceat(array, indices, axis=behind(axis, array.ndim - 1), **settings), level)


def _ufunc_outer(level: Level, ufunc: Any, a: Any, b: Any, **settings: Any) -> Any:
    a, b = whole(a, level), whole(b, level)
    a = a[(..., *(None,) * (b.ndim - 1))]
    return wrapped(ufunc(a, aligned(Batch(b, level), level, a.ndim - 1), **settings), level)


UFUNC_RULES[None, "reduce"] = _ufunc_reduce
UFUNC_RULES[None, "accumulate"] = _ufunc_accumulate
UFUNC_RULES[None, "reduceat"] = _ufunc_reduceat
UFUNC_RULES[None, "outer"] = _ufunc_outer
UFUNC_RULES[None, "at"] = add_each


# ---------------------------------------------------------------- element by element


def _elementwise(function: Any, operands: int) -> None:
    """A function of the first so many arguments that NumPy made of several others."""

    @rule(function)
    def apply(level: Level, *arguments: Any, **settings: Any) -> Any:
        if settings.pop("out", None) is not None:
            raise NotBatched(f"vmap has no batching rule for {function.__name__} with out=")
        settings = {name: value for name, value in settings.items() if name != "out"}
        ndim = max([ndim_of(each) for each in (*arguments[:operands], *settings.values())])
        arrays = [aligned(each, level, ndim) for each in arguments]
        settings = {name: aligned(each, level, ndim) for name, each in settings.items()}
        return Batch(function(*arrays, **settings), level)


_elementwise(np.where, 3)
_elementwise(np.clip, 3)
_elementwise(np.isclose, 2)
for _each in (np.real, np.imag, np.nan_to_num, np.sinc, np.isneginf, np.isposinf, np.i0, np.round, np.fix):
    _elementwise(_each, 1)


@rule(np.copyto)
def _copyto(level: Level, dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if dst.__class__ is not Batch or dst.level is not level:
        raise NotBatched("vmap: what all samples share cannot be changed for each of them")
    dst.grow()
    ndim = dst.full.ndim - 1
    np.copyto(dst.full, aligned(src, level, ndim), casting=casting, where=aligned(where, level, ndim))


# ---------------------------------------------------------------- made like another


def _made_like(function: Any) -> None:
    @rule(function)
    def apply(level: Level, a: Any, *arguments: Any, shape: Any = None, **settings: Any) -> Any:
        if shape is None:
            shape = np.shape(a)
        shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        like = whole(a, level)
        ndim = len(shape)
        arguments = tuple([aligned(each, level, ndim) for each in arguments])
        return Batch(function(like, *arguments, shape=(level.size, *shape), **settings), level)


for _each in (np.zeros_like, np.ones_like, np.empty_like, np.full_like):
    _made_like(_each)


@rule(np.fill_diagonal)
def _fill_diagonal(level: Level, a: Any, val: Any, wrap: bool = False) -> None:
    if a.__class__ is not Batch or a.level is not level or a.ndim != 2:
        raise NotBatched("vmap has no batching rule for fill_diagonal of this")
    a.grow()
    places = np.arange(min(a.shape))
    a.full[:, places, places] = whole(val, level) if val.__class__ is Batch else val


# ---------------------------------------------------------------- another shape


@rule(np.reshape)
def _reshape(level: Level, a: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    if order != "C":
        raise NotBatched(f"vmap has no batching rule for reshape in order {order}")
    array = whole(a, level)
    shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if array.size == 0 and -1 in shape:
        shape = np.empty(np.shape(a), bool).reshape(shape).shape
    if -1 in shape or np.prod(shape, dtype=int) == np.prod(array.shape[1:], dtype=int):
        return Batch(array.reshape((array.shape[0], *shape)), level)
    raise ValueError(f"cannot reshape array of size {a.size} into shape {shape}")


@rule(np.ravel)
def _ravel(level: Level, a: Any, order: str = "C") -> Any:
    return Batch(flat(whole(a, level)), level)


@rule(np.transpose)
def _transpose(level: Level, a: Any, axes: Any = None) -> Any:
    array = whole(a, level)
    ndim = array.ndim - 1
    places = range(ndim, 0, -1) if axes is None else [behind(axis, ndim) for axis in axes]
    return Batch(np.transpose(array, (0, *places)), level)


@rule(np.swapaxes)
def _swapaxes(level: Level, a: Any, axis1: int, axis2: int) -> Any:
    array = whole(a, level)
    ndim = array.ndim - 1
    return Batch(np.swapaxes(array, behind(axis1, ndim), behind(axis2, ndim)), level)


@rule(np.moveaxis)
def _moveaxis(level: Level, a: Any, source: Any, destination: Any) -> Any:
    array = whole(a, level)
    ndim = array.ndim - 1
    source, destination = [
        list(each) if not isinstance(each, int | np.integer) else [each] for each in (source, destination)
    ]
    return Batch(
        np.moveaxis(
            array, [behind(each, ndim) for each in source], [behind(each, ndim) for each in destination]
        ),
        level,
    )


@rule(np.expand_dims)
def _expand_dims(level: Level, a: Any, axis: Any) -> Any:
    array = whole(a, level)
    places = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    return Batch(np.expand_dims(array, all_behind(places, array.ndim - 1 + len(places))), level)


@rule(np.squeeze)
def _squeeze(level: Level, a: Any, axis: Any = None) -> Any:
    array = whole(a, level)
    if axis is None:
        axis = tuple([place for place, size in enumerate(array.shape[1:]) if size == 1])
    return Batch(np.squeeze(array, all_behind(axis, array.ndim - 1)), level)


@rule(np.broadcast_to)
def _broadcast_to(level: Level, array: Any, shape: Any, subok: bool = False) -> Any:
    shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if ndim_of(array) > len(shape):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    full = aligned(array, level, len(shape))
    return Batch(np.broadcast_to(full, (full.shape[0], *shape)), level)


@rule(np.broadcast_arrays)
def _broadcast_arrays(level: Level, *args: Any, subok: bool = False) -> Any:
    shape = np.broadcast_shapes(*[np.shape(each) for each in args])
    return tuple([np.broadcast_to(each, shape) for each in args])


@rule(np.diagonal)
def _diagonal(level: Level, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    array = whole(a, level)
    ndim = array.ndim - 1
    return Batch(np.diagonal(array, offset, behind(axis1, ndim), behind(axis2, ndim)), level)


@rule(np.trace)
def _trace(level: Level, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, **settings: Any) -> Any:
    return np.diagonal(a, offset, axis1, axis2).sum(axis=-1)


@rule(np.pad)
def _pad(level: Level, array: Any, pad_width: Any, mode: Any = "constant", **settings: Any) -> Any:
    if mode == "constant" and ndim_of(settings.get("constant_values", 0)):
        raise NotBatched("vmap has no batching rule for pad with several values")
    full = whole(array, level)
    widths = np.broadcast_to(np.asarray(pad_width), (full.ndim - 1, 2)).tolist()
    return Batch(np.pad(full, [(0, 0), *map(tuple, widths)], mode, **settings), level)


@rule(np.lib.stride_tricks.sliding_window_view)
def _sliding_window_view(level: Level, x: Any, window_shape: Any, axis: Any = None, **settings: Any) -> Any:
    array = whole(x, level)
    places = all_behind(axis, array.ndim - 1)
    return Batch(np.lib.stride_tricks.sliding_window_view(array, window_shape, places, **settings), level)


# ---------------------------------------------------------------- joined and taken apart


def each_alike(arrays: Any, level: Level) -> list[Any]:
    """The whole arrays, every one with as many samples as the others."""
    found = [whole(each, level) for each in arrays]
    size = max([each.shape[0] for each in found]) if level.size else level.size
    return [np.broadcast_to(each, (size, *each.shape[1:])) for each in found]


@rule(np.concatenate)
def _concatenate(level: Level, arrays: Any, axis: int | None = 0, out: Any = None, **settings: Any) -> Any:
    if out is not None:
        raise NotBatched("vmap has no batching rule for concatenate with out=")
    found = each_alike(arrays, level)
    if axis is None:
        return Batch(np.concatenate([flat(each) for each in found], 1, **settings), level)
    return Batch(np.concatenate(found, behind(axis, found[0].ndim - 1), **settings), level)


@rule(np.stack)
def _stack(level: Level, arrays: Any, axis: int = 0, out: Any = None, **settings: Any) -> Any:
    if out is not None:
        raise NotBatched("vmap has no batching rule for stack with out=")
    found = each_alike(arrays, level)
    return Batch(np.stack(found, behind(axis, found[0].ndim), **settings), level)


@rule(np.split)
def _split(level: Level, ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    array = whole(ary, level)
    return [Batch(part, level) for part in np.split(array, indices_or_sections, behind(axis, array.ndim - 1))]


@rule(np.take)
def _take(
    level: Level, a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Any:
    if out is not None or mode != "raise":
        raise NotBatched("vmap has no batching rule for take with out= or mode=")
    if axis is None:
        a, axis = np.ravel(a), 0
    array = whole(a, level)
    ndim = array.ndim - 1
    place = behind(axis, ndim)
    if indices.__class__ is not Batch or indices.level is not level:
        return Batch(np.take(array, indices, place), level)
    if a.__class__ is not Batch or a.level is not level:
        return Batch(np.moveaxis(np.take(a, indices.full, place - 1), place - 1, 0), level)
    return Batch(array, level)[(*(slice(None),) * (place - 1), indices)]


@rule(np.take_along_axis)
def _take_along_axis(level: Level, arr: Any, indices: Any, axis: int | None = -1) -> Any:
    if axis is None:
        arr, axis = np.ravel(arr), 0
    array, places = each_alike((arr, indices), level)
    return Batch(np.take_along_axis(array, places, behind(axis, array.ndim - 1)), level)


@rule(np.put_along_axis)
def _put_along_axis(level: Level, arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    if arr.__class__ is not Batch or arr.level is not level or axis is None:
        raise NotBatched("vmap: what all samples share cannot be changed for each of them")
    arr.grow()
    array, places = each_alike((arr, indices), level)
    values = aligned(values, level, arr.ndim)
    np.put_along_axis(arr.full, places, values, behind(axis, array.ndim - 1))


# ---------------------------------------------------------------- questions


@rule(np.shape)
def _shape(level: Level, a: Any) -> tuple[int, ...]:
    return a.shape


@rule(np.ndim)
def _ndim(level: Level, a: Any) -> int:
    return a.ndim


@rule(np.size)
def _size(level: Level, a: Any, axis: Any = None) -> int:
    return a.size if axis is None else a.shape[axis]


@rule(np.iscomplexobj)
def _iscomplexobj(level: Level, x: Any) -> bool:
    return x.dtype.kind == "c"


@rule(np.result_type)
def _result_type(level: Level, *arguments: Any) -> Any:
    return np.result_type(*[whole(each, level) if each.__class__ is Batch else each for each in arguments])


@rule(np.may_share_memory)
def _may_share_memory(level: Level, a: Any, b: Any, max_work: Any = None) -> bool:
    return np.may_share_memory(of_all_samples(a), of_all_samples(b))


@rule(np.shares_memory)
def _shares_memory(level: Level, a: Any, b: Any, max_work: Any = None) -> bool:
    return np.shares_memory(of_all_samples(a), of_all_samples(b))
