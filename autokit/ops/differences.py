"""The slope of values that were sampled at points: :func:`gradient`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.ops.dims import place_of
from autokit.ops.errors import require_tensor
from autokit.ops.join import cat
from autokit.ops.names import Names
from autokit.tensor import Tensor

_SPACINGS: Any = Tensor | Sequence | int | float | np.generic
"""What may say how far apart samples are."""


def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The derivative along each dimension of a function that ``input`` holds samples of.

    Inside, each is the slope of the parabola through a sample and its two
    neighbours; at the edges, of the line through two samples, or of the
    parabola through three.

    Parameters
    ----------
    input : Tensor
    spacing : number, or sequence of numbers or of tensors
        How far apart the samples are: everywhere, along each dimension, or
        along each dimension the coordinates.
    dim : int or sequence of int, optional
        Along which dimensions; all where it is left out.
    edge_order : {1, 2}
        How accurate the edges are.

    Returns
    -------
    tuple of Tensor
        One for each dimension, of the shape of ``input``.

    Raises
    ------
    RuntimeError
        If there are too few samples, or spacings for another number of dimensions.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.gradient(torch.tensor([1.0, 4.0, 9.0, 16.0]))
    (tensor([3., 4., 6., 7.]),)

    References
    ----------
    A. Quarteroni, R. Sacco and F. Saleri, *Numerical Mathematics*, 2nd
    edition, Springer, 2007, section 10.10.
    """
    require_tensor("gradient", input)
    if input.array.dtype.name == "uint8":
        raise RuntimeError(
            "torch.gradient does not support uint8 input: differences may be negative; use .int()"
        )
    if spacing is None:
        spacing = 1
    of_several = isinstance(spacing, Tensor) and (spacing.array.ndim > 0 or spacing.requires_grad)
    if not isinstance(spacing, _SPACINGS) or isinstance(spacing, str) or of_several:
        raise TypeError(
            "gradient() received an invalid combination of arguments - got (Tensor, "
            f"spacing={type(spacing).__name__}): it is a number, or a list of numbers or of tensors "
            "of coordinates, as in spacing=[coordinates]"
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    ndim = input.array.ndim
    given = range(ndim) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if given and not ndim:
        raise IndexError(f"Dimension specified as {given[0]} but tensor has no dimensions")
    dims = [place_of(each, ndim, "gradient") for each in given]
    for each in dims:
        if dims.count(each) > 1:
            raise RuntimeError(f"dim {each} appears multiple times in the list of dims")
    if any(input.array.shape[each] <= edge_order for each in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    several = isinstance(spacing, Sequence)
    if several and len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            + (
                f"'self.dim() = {ndim}', since dim argument was not given, but"
                if dim is None
                else "that of dim, but"
            )
            + f" got a list of length {len(spacing)}"
        )
    for each in spacing if several else ():
        if isinstance(each, Tensor) and each.array.ndim != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an element "
                f"with {each.array.ndim} dimensions!"
            )
    steps = list(spacing) if several else [spacing] * len(dims)
    return tuple([_along(input, *pair, edge_order) for pair in zip(dims, steps)])


def _along(input: Tensor, dim: int, spacing: Any, edge_order: int) -> Tensor:
    size = input.array.shape[dim]
    differences = input.narrow(dim, 1, size - 1) - input.narrow(dim, 0, size - 1)
    lengths: Any = spacing
    if isinstance(spacing, Tensor) and spacing.array.ndim:
        if spacing.array.shape != (size,):
            raise RuntimeError(
                f"torch.gradient expected {size} coordinates along dimension {dim}, but got "
                f"{list(spacing.array.shape)}"
            )
        if spacing.array.dtype.kind == "b":
            raise RuntimeError(
                "Subtraction, the `-` operator, with a bool tensor is not supported: "
                "coordinates are numbers; use .int() or .float()"
            )
        whole = spacing.array.dtype.kind in "iu"
        coordinates = spacing.long() if whole else spacing  # the differences of bytes would wrap around
        lengths = coordinates.diff().reshape((-1,) + (1,) * (input.array.ndim - dim - 1))
    slopes = differences / lengths
    before, after = slopes.narrow(dim, 0, size - 2), slopes.narrow(dim, 1, size - 2)
    first, last = slopes.narrow(dim, 0, 1), slopes.narrow(dim, size - 2, 1)
    if isinstance(lengths, Tensor) and lengths.array.ndim:
        left, right = lengths.narrow(0, 0, size - 2), lengths.narrow(0, 1, size - 2)
        inside = (before * right + after * left) / (left + right)
        bends = (after - before) / (left + right)
        reach = (lengths.narrow(0, 0, 1), lengths.narrow(0, size - 2, 1))
    else:
        around = input.narrow(dim, 2, size - 2) - input.narrow(dim, 0, size - 2)
        inside, bends, reach = around / (lengths * 2), (after - before) / 2, (1, 1)
    if edge_order == 2:
        first = first - bends.narrow(dim, 0, 1) * reach[0]
        last = last + bends.narrow(dim, size - 3, 1) * reach[1]
    return cat([first, inside, last], dim)


NAMES = Names(functions="gradient")
