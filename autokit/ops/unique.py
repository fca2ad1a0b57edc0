"""Different elements: ``unique`` and ``unique_consecutive``, where each stands, and how often."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from autokit.devices import contiguous, module_of
from autokit.ops.dims import place_of
from autokit.ops.half import widened
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.reduce import require_flag, require_operand
from autokit.tensor import Tensor, new_tensor


def _no_derivative(name: str) -> Any:
    def refuse(g: Any) -> NoReturn:
        raise NotImplementedError(
            f"the derivative for '{name}' is not implemented: which elements differ jumps as they change; "
            "take .detach() first, or gather the elements by their places"
        )

    return refuse


def _picking(name: str, backward: str, stands_for: str) -> Any:
    @operation(
        "unique",
        "{a}, each once",
        a=derivative("not defined", _no_derivative(stands_for)),
        name=name,
        backward=backward,
    )
    def picked(a, /, dim, index):
        """The elements at the places ``index``, of the flattened array or along ``dim``."""
        if dim is None:
            return np.take(a, index)
        return np.moveaxis(contiguous(np.moveaxis(np.take(a, index, axis=dim), dim, 0)), 0, dim)

    return picked


_unique = _picking("unique", "Unique2Backward0", "_unique2")
_unique_along = _picking("unique_along", "UniqueDimBackward0", "unique_dim")
_consecutive = _picking("unique_consecutive", "UniqueConsecutiveBackward0", "unique_consecutive")
_consecutive_along = _picking(
    "unique_consecutive_along", "UniqueDimConsecutiveBackward0", "unique_dim_consecutive"
)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements in ascending order, or along ``dim`` the different slices.

    Parameters
    ----------
    input : Tensor
    sorted : bool
        They are always sorted, as in PyTorch on a CPU.
    return_inverse : bool
        Also return, for each element, which of the different ones it is.
    return_counts : bool
        Also return how often each occurs.
    dim : int, optional
        Compare slices along this dimension.  NaN differs from every element, itself included.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    return _different("unique", input, dim, return_inverse, return_counts, (_unique, _unique_along))


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements, or slices along ``dim``, without those that equal the one before; see :func:`unique`."""
    rules = _consecutive, _consecutive_along
    return _different("unique_consecutive", input, dim, return_inverse, return_counts, rules)


def _different(
    name: str, input: Any, dim: Any, return_inverse: Any, return_counts: Any, rules: tuple[Any, Any]
) -> Any:
    require_operand(name, input)
    require_flag(name, "return_inverse", return_inverse)
    require_flag(name, "return_counts", return_counts)
    a = widened(input.array)
    rows, shape = a.reshape(-1, 1), a.shape
    if dim is not None:
        dim = place_of(dim, a.ndim, name)
        if not a.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        if 0 in a.shape[:dim] + a.shape[dim + 1 :]:
            raise RuntimeError(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
            )
        rows, shape = _rows(a, dim), a.shape[dim : dim + 1]
    index, inverse, counts = _groups(rows, in_order=name == "unique")
    results = [rules[dim is not None](input, dim, index)]
    if return_inverse:
        results.append(new_tensor(inverse.reshape(shape)))
    if return_counts:
        results.append(new_tensor(counts))
    return tuple(results) if len(results) > 1 else results[0]


def _rows(a: Any, dim: int) -> Any:
    """Each slice along ``dim`` as a row."""
    return np.moveaxis(a, dim, 0).reshape(a.shape[dim], math.prod(a.shape[:dim] + a.shape[dim + 1 :]))


def _groups(rows: Any, in_order: bool) -> tuple[Any, Any, Any]:
    """A place of each different row, which of them each row is, and how often each occurs."""
    rows, order = widened(rows), module_of(rows).arange(len(rows))
    if in_order:
        order = np.argsort(rows[:, 0], kind="stable") if rows.shape[1] == 1 else np.lexsort(rows.T[::-1])
    ordered = rows[order]
    starts = np.ones_like(order, bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inverse = np.empty_like(order)
    inverse[order] = np.cumsum(starts) - 1
    places = np.flatnonzero(starts)
    return order[places], inverse, np.diff(places, append=len(rows))


NAMES = Names(both="unique unique_consecutive")
