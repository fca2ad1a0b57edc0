"""Dimensions and sizes as programs write them, checked and counted from the front."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autokit.ops.errors import dimension_error
from autokit.tensor import Tensor


def place_of(dim: Any, ndim: int, name: str = "dim") -> int:
    """``dim`` counted from the front, in a tensor of ``ndim`` dimensions; one without has a dimension 0.

    Raises
    ------
    IndexError
        If there is no such dimension.
    """
    dim = whole(dim, "dim", name)
    if not -(ndim or 1) <= dim < (ndim or 1):
        raise dimension_error(dim, ndim)
    return dim % (ndim or 1)


def places_of(dims: Any, ndim: int, name: str = "dim") -> tuple[int, ...]:
    """The same for one dimension or several, which may not name one twice."""
    places = tuple(
        [place_of(dim, ndim, name) for dim in (dims if isinstance(dims, tuple | list) else (dims,))]
    )
    for place in places:
        if places.count(place) > 1:
            raise RuntimeError(f"dim {place} appears multiple times in the list of dims")
    return places


def one_dim(value: Any, name: str) -> int:
    """The dimension ``value`` of a function for which no tensor that has dimensions stands for a number."""
    if isinstance(value, Tensor) and value.array.ndim:
        raise TypeError(f"{name}(): argument 'dim' must be int, not Tensor: write {name}(int(dim))")
    return whole(value, "dim", name)


def whole(value: Any, argument: str, name: str) -> int:
    """``value`` as an int; ``name`` is the function whose ``argument`` it is."""
    if value.__class__ is int:
        return value
    try:
        if isinstance(value, bool) or isinstance(value, Tensor) and value.array.dtype.kind == "b":
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}(): argument '{argument}' must be int, not {type(value).__name__}") from None


def sizes_of(values: tuple[Any, ...], name: str, argument: str = "size") -> tuple[int, ...]:
    """Sizes that were given one by one or as one sequence."""
    if not values:
        raise TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')
    if len(values) == 1 and isinstance(values[0], tuple | list):
        values = tuple(values[0])
    for value in values:
        if value.__class__ is not int:
            break
    else:
        return values
    try:
        return tuple([whole(value, argument, name) for value in values])
    except TypeError:
        wrong = [each for each in values if isinstance(each, bool) or not hasattr(each, "__index__")]
        kind = type((wrong or values)[0]).__name__
        raise TypeError(
            f"{name}(): argument '{argument}' (position 1) must be tuple of ints, not {kind}"
        ) from None


def whole_numbers(name: str, setting: str, value: Any) -> tuple[int, ...]:
    """One or several whole numbers, of a number or a sequence; ``name`` is the function that asks."""
    numbers = tuple(value) if isinstance(value, list | tuple) else (value,)
    for number in numbers:
        if not isinstance(number, int | np.integer) or isinstance(number, bool):
            raise TypeError(f"{name}(): argument '{setting}' must be tuple of ints, not {number!r}")
    return tuple(map(int, numbers))
