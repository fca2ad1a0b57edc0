"""Padding, and linear maps along one dimension, which pooling and resizing use as well.

Padding with a reflection, resizing an image and averaging over windows differ only in the elements that they
read and in their weights.  Such a map is a matrix with few nonzero entries in a row, and its derivative is
the transpose of that matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autokit.base.devices import beside
from autokit.base.errors import describe, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.ops.fold import numbers_of
from autokit.ops.names import Names

# ---------------------------------------------------------------- maps along a dimension


@dataclass(frozen=True)
class AxisMap:
    """A map along one dimension: element r of the result is Σₖ ``weights[r, k]`` · a[``columns[r, k]``].

    Attributes
    ----------
    axis : int
        The dimension, counted from the end.
    size : int
        How many elements there were.
    columns : array of int
        Which of them each new element reads, (new size, terms).
    weights : array or None
        Their weights; None where all are 1.
    """

    axis: int
    size: int
    columns: np.ndarray
    weights: np.ndarray | None = None

    def __call__(self, a: Any) -> Any:
        """``a`` mapped.

        >>> halves = AxisMap(-1, 4, np.array([[0, 1], [2, 3]]), np.full((2, 2), 0.5))
        >>> halves(np.array([1.0, 3.0, 5.0, 9.0]))
        array([2., 7.])
        """
        total = None
        for term in range(self.columns.shape[1]):
            part = a[along(self.axis, self.columns[:, term], a)]
            if self.weights is not None:
                weights = self.weights[:, term].astype(a.dtype).reshape((-1,) + (1,) * (-self.axis - 1))
                part = part * beside(weights, a)
            total = part if total is None else total + part
        return total

    def transposed(self) -> AxisMap:
        """The map of the gradients, from the new elements to the old."""
        rows, terms = self.columns.shape
        weights = np.ones((rows, terms)) if self.weights is None else self.weights
        read = self.columns.reshape(-1)
        order = read.argsort(kind="stable")
        counts = np.bincount(read, minlength=self.size)
        place = np.arange(max(counts.max(initial=1), 1))
        used = place < counts[:, np.newaxis]
        first = np.cumsum(counts) - counts
        chosen = order[np.where(used, first[:, np.newaxis] + place, 0)]
        return AxisMap(self.axis, rows, chosen // terms, np.where(used, weights.reshape(-1)[chosen], 0.0))


def along(axis: int, places: np.ndarray, a: Any) -> tuple[Any, ...]:
    """The index of ``places`` along a dimension, counted from the end; a slice if evenly spaced."""
    step = int(places[1] - places[0]) if len(places) > 1 else 1
    if len(places) and step > 0 and (np.diff(places) == step).all():
        chosen: Any = slice(int(places[0]), int(places[-1]) + 1, step)
    else:
        chosen = beside(places, a)
    return (..., chosen, *(slice(None),) * (-axis - 1))


def picking(axis: int, size: int, places: Sequence[int] | np.ndarray) -> AxisMap:
    """The map that reads the elements at ``places``."""
    return AxisMap(axis, size, np.asarray(places, np.int64).reshape(-1, 1))


@operation(
    "resample",
    "weighted sums of {a}",
    a=derivative(
        "the same weights, transposed",
        lambda g, maps: on(resample, g, maps=tuple([each.transposed() for each in reversed(maps)])),
    ),
)
def resample(a, /, maps):
    """``a`` mapped along several dimensions, one after another."""
    for each in maps:
        a = each(a)
    return a


# ---------------------------------------------------------------- padding


@operation(
    "pad",
    "{a}, padded",
    a=derivative(
        "1 inside",
        lambda g, widths: on(
            constant_pad, g, widths=tuple([(-before, -after) for before, after in widths]), value=0
        ),
    ),
    backward="ConstantPadNdBackward0",
)
def constant_pad(a, /, widths, value=0):
    """``value`` around ``a``: for each dimension how often before and after it; negative numbers cut off."""
    result = np.full_like(a, value, shape=tuple([size + sum(both) for size, both in zip(a.shape, widths)]))
    inside = [
        slice(max(before, 0), size + before + min(after, 0)) for size, (before, after) in zip(a.shape, widths)
    ]
    kept = [slice(max(-before, 0), size + min(after, 0)) for size, (before, after) in zip(a.shape, widths)]
    result[tuple(inside)] = a[tuple(kept)]
    return result


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """``input`` with elements put around it, last dimension first.

    Parameters
    ----------
    input : Tensor
    pad : sequence of int
        How many before and after: (left, right) of the last dimension, or (left, right, top, bottom), and so
        on; negative numbers cut off.
    mode : str
        What is put there: "constant" is ``value``; "replicate" repeats the edge; "reflect" mirrors at it;
        "circular" begins again at the other end.
    value : float, optional
        For "constant", 0 without it.

    Examples
    --------
    >>> import autokit as torch
    >>> row = torch.tensor([[1, 2, 3]])
    >>> torch.nn.functional.pad(row, (1, 1)).tolist()
    [[0, 1, 2, 3, 0]]
    >>> torch.nn.functional.pad(row, (2, 0), mode="reflect").tolist()
    [[3, 2, 1, 2, 3]]
    """
    require_tensor("pad", input)
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(
            f"Unrecognised padding mode {mode}: there are constant, reflect, replicate and circular"
        )
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise RuntimeError(
            f"pad(): Padding length must be divisible by two, a pair for each of the last dimensions: "
            f"{list(pad)} for {describe(input)}"
        )
    numbers = (
        numbers_of("pad", "pad", tuple(pad), len(pad), least=-max(input.shape, default=0)) if pad else ()
    )
    pairs = list(zip(numbers[::2], numbers[1::2]))
    if mode == "constant":
        widths = ((0, 0),) * (input.ndim - len(pairs)) + tuple(reversed(pairs))
        for size, (before, after) in zip(input.shape, widths):
            if size + min(before, 0) + min(after, 0) < 0:
                raise RuntimeError(f"pad(): {list(pad)} cuts off more than {describe(input)} has")
        return constant_pad(input, widths=widths, value=0 if value is None else value)
    if input.ndim not in (len(pairs) + 1, len(pairs) + 2):
        raise NotImplementedError(
            f"pad(): padding by '{mode}' takes a pair for each dimension after samples and channels, but got "
            f"{list(pad)} for {describe(input)}"
        )
    maps = [_edges(input, -1 - place, *pair, mode) for place, pair in enumerate(pairs)]
    return resample(input, maps=tuple(maps))


def _edges(input: Tensor, axis: int, before: int, after: int, mode: str) -> AxisMap:
    """The map that pads one dimension with its elements: reflected, repeated, or as if periodic."""
    size = input.shape[axis]
    most = {"reflect": size - 1, "circular": size}.get(mode, max(before, after))
    if max(before, after) > most or size + before + after < 1 or not size:
        raise RuntimeError(
            f"Padding size should be less than the corresponding input dimension: ({before}, {after}) at "
            f"dimension {input.ndim + axis} of {describe(input)}; '{mode}' allows from {1 - size} to {most}"
        )
    places = np.arange(-before, size + after)
    if mode == "circular":
        places = places % size
    elif mode == "reflect":
        places = size - 1 - np.abs(size - 1 - np.abs(places))
    else:
        places = np.clip(places, 0, size - 1)
    return picking(axis, size, places)


NAMES = Names(functional="pad")
