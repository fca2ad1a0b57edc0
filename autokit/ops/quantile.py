"""Quantiles: the elements, or points between two, below which a given share of the others lies."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.arithmetic import lerp
from autokit.ops.dims import place_of
from autokit.ops.gather import plain_gather
from autokit.ops.gpu.arrays import any_of, like
from autokit.ops.names import Names
from autokit.ops.reduce import require_flag, require_operand
from autokit.ops.sort import places_in_order
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import thread

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The ``q``-th quantiles of all elements, or along ``dim``.

    Parameters
    ----------
    input : Tensor of float32 or float64
    q : float or Tensor
        Shares from 0 to 1; for several, a vector, the result has a first dimension for them.
    dim : int, optional
        The dimension; all elements without it.
    keepdim : bool
        Keep the dimension, with size 1.
    interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}
        What to take where the quantile lies between two elements.

    Raises
    ------
    RuntimeError
        If there are no elements, or a share is outside 0 to 1.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """:func:`quantile` of the elements that are not nan."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _quantile(name: str, input: Any, q: Any, dim: Any, keepdim: Any, interpolation: str) -> Tensor:
    require_operand(name, input)
    require_flag(name, "keepdim", keepdim)
    a = input.array
    place = None if dim is None else place_of(dim, a.ndim, name)
    shares = _shares(name, a, q)
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    shape = list(a.shape)
    if place is None:
        rows, shape = input.reshape(1, -1), [1] * len(shape) if keepdim else []
    else:
        moved = input.reshape(1) if not a.ndim else input.movedim(place, -1)
        rows = moved.reshape(-1, moved.shape[-1])
        if a.ndim:
            shape[place : place + 1] = [1] if keepdim else []
    ordered = plain_gather(rows, dim=1, index=places_in_order(rows.array, 1))
    moves = isinstance(q, Tensor) and (q._requires_grad or thread.state.forward)
    wanted = q.reshape(-1) if moves else shares.reshape(-1)
    found = _at_ranks(ordered, _ranks(name, ordered.array, wanted), interpolation)
    return found.t().reshape((*shares.shape, *shape))


def _shares(name: str, a: Any, q: Any) -> Any:
    """``q`` as an array, checked."""
    if not a.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if a.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            f"{name}() input tensor must be either float or double dtype; convert it with .float()"
        )
    if not isinstance(q, Tensor):
        shares = like(np.full_like, a, q, shape=())
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return shares
    if q.array.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.array.dtype != a.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if any_of(~((q.array >= 0) & (q.array <= 1))):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q.array


def _ranks(name: str, ordered: Any, shares: Any) -> Any:
    """Where in each ordered row the quantiles lie, in the precision of the elements as in PyTorch."""
    last = ordered.shape[1] - 1
    known = (ordered == ordered).sum(axis=1, keepdims=True)
    if name == "nanquantile":
        return shares * np.maximum(known - 1, 0).astype(ordered.dtype)
    # A nan, which stands last, makes all quantiles of its row nan.
    return np.where(known <= last, ordered.dtype.type(last), shares * ordered.dtype.type(last))


def _at_ranks(ordered: Tensor, ranks: Any, interpolation: str) -> Tensor:
    """The elements of each row at its ``ranks``, or between two."""
    rounding: Any = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}.get(interpolation)
    places = ranks.array if isinstance(ranks, Tensor) else ranks
    if rounding is not None:
        return plain_gather(ordered, dim=1, index=rounding(places).astype(np.int64))
    lower = np.floor(places)
    below = plain_gather(ordered, dim=1, index=lower.astype(np.int64))
    above = plain_gather(ordered, dim=1, index=np.ceil(places).astype(np.int64))
    weights = ranks - lower if interpolation == "linear" else np.full_like(places, 0.5)
    return lerp(below, above, weights if isinstance(weights, Tensor) else new_tensor(weights))


NAMES = Names(both="nanquantile quantile")
