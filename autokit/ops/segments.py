"""Reducing segments: stretches of rows of different lengths, one behind the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import beside
from autokit.dtypes import FLOATS
from autokit.ops.dims import place_of
from autokit.ops.errors import kind_of, require_tensor
from autokit.ops.gather import add_along, plain_gather
from autokit.ops.gpu.arrays import like
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.scatter import plain_scatter_reduce
from autokit.tensor import Tensor, new_tensor

_STARTS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}


def _array(x: Any) -> Any:
    return x.array if isinstance(x, Tensor) else x


def _started(a: Any, count: int, reduce: str, initial: float | None) -> Any:
    start = _STARTS[reduce] if initial is None else initial
    return like(np.full_like, _array(a), start, shape=(count, *a.shape[1:]))


def _of_rows(values: np.ndarray, a: Any) -> Any:
    """One value for each row of ``a``, in its dtype."""
    a = _array(a)
    return beside(a, values.astype(a.dtype).reshape((-1,) + (1,) * (a.ndim - 1)))


def _gradient(g: Any, data: Any, out: Any, segment: Any, counts: Any, reduce: str, initial: Any) -> Any:
    index = np.broadcast_to(segment, tuple(data.shape))

    def take(x: Any) -> Any:
        return on(plain_gather, x, dim=0, index=index)

    if reduce == "sum":
        return take(g)
    if reduce == "mean":
        return take(g / _of_rows(np.maximum(counts, 1), g))
    mine = _array(data)

    def meeting(chosen: Any) -> Any:
        return add_along(np.zeros_like(_array(out)), 0, index, chosen)

    if reduce == "prod":
        # The product of the others: a quotient, but for a single factor that is 0 or NaN.
        odd = (mine == 0) | np.isnan(mine)
        alone = odd & (take(meeting(odd)) == 1)
        settings = {"segment": segment, "counts": counts, "reduce": reduce, "initial": initial}
        others = on(plain_segment_reduce, np.where(alone, 1, data), **settings)
        return np.where(alone, take(g * others), take(g * out) / np.where(mine == 0, 1, data))
    best = take(_array(out))
    is_best = (mine == best) | (np.isnan(mine) & np.isnan(best))
    return is_best * take(g / np.maximum(meeting(is_best), 1))


@operation(
    "segments",
    "{data}, each of its segments reduced",
    data=derivative("its part", _gradient),
    name="segment_reduce",
)
def plain_segment_reduce(data, /, segment, counts, reduce, initial):
    """See :func:`segment_reduce`: ``segment`` says of each row which one it belongs to."""
    index = np.broadcast_to(segment, data.shape)
    way = "sum" if reduce == "mean" else reduce
    started = _started(data, len(counts), reduce, initial)
    made = on(plain_scatter_reduce, started, data, dim=0, index=index, reduce=way)
    if reduce != "mean":
        return made
    return made / _of_rows(counts if initial is None else np.maximum(counts, 1), data)


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Reduce stretches of ``data`` along ``axis``: sequences of different lengths, one behind the other.

    Parameters
    ----------
    data : Tensor of floating point numbers
    reduce : {"sum", "mean", "max", "min", "prod"}
    lengths : Tensor of int64 or int32
        How long each stretch is; for ``axis`` above 0 one row for each place along the dimensions before.
    offsets : Tensor of int64 or int32
        In place of the lengths: where each stretch begins, and at last where the last one ends.
    indices : Tensor
        Not supported, as in PyTorch.
    axis : int
        The last dimension of ``lengths``.
    unsafe : bool
        Do not ask whether the lengths add up to the size; they may not go beyond it.
    initial : float, optional
        What each reduction begins with, and what an empty stretch is; else 0, 1 or an infinity, and the mean
        of nothing is NaN.

    Raises
    ------
    RuntimeError
        If the stretches do not fit, or neither lengths nor offsets are given.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0, 2.0, 4.0])
    >>> torch.segment_reduce(x, "sum", lengths=torch.tensor([2, 0, 1]))
    tensor([3., 0., 4.])
    """
    require_tensor("segment_reduce", data, "data", 1)
    axis = place_of(axis, data.array.ndim, "segment_reduce")
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in _STARTS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise RuntimeError(
            "segment_reduce(): indices based reduction is not supported yet: torch.scatter_reduce does it"
        )
    begins, counts = _stretches(data, lengths, offsets, axis, unsafe)
    if data.array.dtype.kind not in FLOATS:
        raise NotImplementedError(
            f"\"_segment_reduce_cpu\" not implemented for '{kind_of(data)}': convert it with .float()"
        )
    sizes, rest = data.array.shape[: axis + 1], data.array.shape[axis + 1 :]
    rows = data.reshape((math.prod(sizes), *rest))
    places = np.concatenate([np.arange(begin, begin + n) for begin, n in zip(begins, counts)] or [counts])
    if places.size != len(rows) or (places[1:] != places[:-1] + 1).any():
        rows = rows[new_tensor(beside(data.array, places))]
    segment = np.repeat(np.arange(counts.size), counts).reshape((-1,) + (1,) * len(rest))
    if isinstance(initial, complex):
        raise RuntimeError(f"value cannot be converted to type float without overflow: initial is {initial}")
    initial = None if initial is None else float(initial)
    made = plain_segment_reduce(
        rows, segment=beside(data.array, segment), counts=counts, reduce=reduce, initial=initial
    )
    return made.reshape((*sizes[:-1], -1 if counts.size else 0, *rest)) if axis else made


def _stretches(
    data: Tensor, lengths: Any, offsets: Any, axis: int, unsafe: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Where each stretch begins, counted in rows, and how many rows it has."""
    word, given = ("offsets", offsets) if offsets is not None else ("lengths", lengths)
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    require_tensor("segment_reduce", given, word)
    steps, shape = np.asarray(given.tolist(), np.int64).reshape(given.shape), data.array.shape
    if given.array.dtype.name not in ("int32", "int64"):
        raise NotImplementedError(
            f"\"_segment_reduce_{word}_cpu_kernel1\" not implemented for '{kind_of(given)}': convert it with "
            ".long()"
        )
    if axis != steps.ndim - 1 or steps.ndim > data.array.ndim:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {word} but got {axis}."
        )
    if steps.shape[:-1] != shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): the {word}, {list(steps.shape)}, have one row for each place along the "
            f"dimensions before axis {axis} of data, {list(shape)}"
        )
    first = np.arange(math.prod(shape[:axis])).reshape((*steps.shape[:-1], 1)) * shape[axis]
    if word == "offsets":
        begins, counts, ends = steps[..., :-1], np.diff(steps), steps
        if not steps.shape[-1]:
            raise RuntimeError("segment_reduce(): offsets have one entry more than there are segments")
    else:
        ends = np.cumsum(steps, -1)
        begins, counts = ends - steps, steps
        if not steps.size and not unsafe:
            raise RuntimeError("segment_reduce(): there are no lengths to add up: unsafe=True lets them pass")
        if (counts < 0).any():
            raise RuntimeError("lengths contains negative value!")
        if not unsafe and (ends[..., -1:] != shape[axis]).any():
            raise RuntimeError(
                "Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) "
                f"when !unsafe: they are {steps.tolist()}, and there are {shape[axis]} rows"
            )
    if (counts < 0).any():
        raise RuntimeError(f"Expected segment_length >= 0 to be true, but the offsets fall: {steps.tolist()}")
    if counts.size and ((ends < 0) | (ends > shape[axis])).any():
        raise RuntimeError(f"segment_reduce(): the {word} go beyond the {shape[axis]} rows: {steps.tolist()}")
    return (first + begins).reshape(-1), counts.reshape(-1)


NAMES = Names(functions="segment_reduce")
