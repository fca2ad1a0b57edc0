"""The largest and the smallest: ``max``, ``min``, ``amax``, ``amin``, ``aminmax``, ``argmax``, ``argmin``.

Where several elements are the largest, the maximum of a whole tensor shares its
gradient among them; a maximum along a dimension gives all of it to the place
that it returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import contiguous
from autokit.ops.blocks import columns, loop_over_rows
from autokit.ops.dims import place_of
from autokit.ops.gpu.arrays import reduced
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.read_along import reading
from autokit.ops.recording import apart
from autokit.ops.reduce import Dim, axes, checked, count, require_flag, require_operand, restored
from autokit.ops.return_types import return_type
from autokit.tensor import Tensor, new_tensor


def shared_among_ties(g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool) -> Any:
    top = restored(out, shape, dim, keepdim)
    hits = (a == top) | ((a != a) & (top != top))
    hits = np.where(hits, np.ones_like(a), np.zeros_like(a))
    return restored(g, shape, dim, keepdim) * (hits / hits.sum(axis=axes(dim), keepdims=True))


def shared_in_whole(g: Any, a: Any, out: Any) -> Any:
    """The same for an extreme of all elements.

    It is chosen where a product would do, as in PyTorch: 0 times a negative gradient is -0.0, and shows.
    """
    hits = (a == out) | ((a != a) & (out != out))
    count = np.where(hits, np.ones_like(a), np.zeros_like(a)).sum()
    return np.where(hits, g / count, np.zeros_like(a))


def _shared_unless_nan(
    g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool, made_by: str | None
) -> Any:
    """The same; but as in PyTorch a NaN leaves nothing to share, unless the extreme is of a whole tensor."""
    if dim is None and made_by is None:
        return shared_in_whole(g, a, out)
    shared = shared_among_ties(g, a, out, shape, dim, keepdim)
    top = restored(out, shape, dim, keepdim)
    return np.where(top == top, shared, top)


def _shared_on_arrays(
    g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool, made_by: str | None
) -> Any:
    """The same for a large array without NaN and infinities: only the places of the extremes are written."""
    top = restored(out, shape, dim, keepdim)
    if a.__class__ is np.ndarray and a.size >= _MANY:
        hits = a == top
        shares = restored(g, shape, dim, keepdim) / hits.sum(axis=axes(dim), keepdims=True, dtype=a.dtype)
        if np.isfinite(shares).all():
            result = np.zeros(shape, a.dtype)
            np.copyto(result, shares, where=hits)
            return result
    return _shared_unless_nan(g, a, out, shape, dim, keepdim, made_by)


_MANY = 4096


def _extreme(name: str, word: str) -> Any:
    """The rule behind ``amax`` and ``amin``, of a whole tensor (where it is ``max``) or along dimensions."""

    def backward(node: Any) -> str:
        made_by = node.settings["made_by"]
        if made_by is None:
            made_by = f"{name.capitalize()}Backward1" if node.settings["dim"] is None else f"A{name}Backward0"
        return made_by

    @operation(
        name,
        f"{name} {{a}}",
        a=derivative(f"1 at the {word}, shared among ties", _shared_unless_nan, _shared_on_arrays),
        backward=backward,
        name=f"a{name}",
        layout=contiguous,
    )
    def plain(a, /, dim=(), keepdim=False, made_by=None):
        """The extreme of all elements or along ``dim``; ties share the gradient."""
        _some(a, dim, name if dim is None else f"a{name}")
        return getattr(a, name)(axis=reduced(a, axes(dim)), keepdims=keepdim)

    return plain


_amax, _amin = _extreme("max", "maximum"), _extreme("min", "minimum")


def amax(input: Tensor, dim: Dim = (), keepdim: bool = False) -> Tensor:
    """The largest element, of all or along ``dim``; ties share the gradient."""
    return _amax(input, checked("amax", input, () if dim is None else dim, keepdim), keepdim)


def amin(input: Tensor, dim: Dim = (), keepdim: bool = False) -> Tensor:
    """The smallest element, of all or along ``dim``; ties share the gradient."""
    return _amin(input, checked("amin", input, () if dim is None else dim, keepdim), keepdim)


AminmaxResult = return_type("aminmax", "min", "max")


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element together, of all or along ``dim``; ties share the gradient."""
    require_operand("aminmax", input)
    require_flag("aminmax", "keepdim", keepdim)
    if dim is not None:
        dim = place_of(dim, input.array.ndim, "aminmax")
        if 0 in input.array.shape[dim : dim + 1]:
            raise IndexError(f"aminmax: Expected reduction dim {dim} to have non-zero size.")
    elif not input.array.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    return AminmaxResult(*(each(input, dim, keepdim, "AminmaxBackward0") for each in (_amin, _amax)))


def _some(a: Any, dim: Dim, name: str) -> None:
    if not a.size and not count(a.shape, dim):
        if axes(dim) is None:
            kind = IndexError if name.startswith("arg") else RuntimeError
            raise kind(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                f"reduction dim with the 'dim' argument; the tensor is of shape {a.shape}"
            )
        raise IndexError(
            f"{name}(): Expected reduction dim {dim} to have non-zero size; the shape is {a.shape}"
        )


def _places(name: str, a: Any, dim: int | None, keepdim: bool) -> Any:
    """``argmax`` or ``argmin`` of an array; along columns NumPy's own takes several times as long."""
    cube = columns(a, dim) if dim is not None and a.size >= _MANY else None
    if cube is not None and dim is not None:
        places, sign = (
            np.empty((len(cube), cube.shape[2]), np.int64),
            np.float32(1 if name == "argmax" else -1),
        )
        if loop_over_rows("native_sums.places_of_largest", cube, places, others=(sign,)):
            places = places.reshape([size for place, size in enumerate(a.shape) if place != dim])
            return np.expand_dims(places, dim) if keepdim else places
    return getattr(a, name)(axis=reduced(a, dim), keepdims=keepdim)


def _place(name: str, word: str) -> Any:
    @operation(name, f"place of {name[3:]} {{a}}", name=name)
    def plain(a, /, dim=None, keepdim=False):
        """The place of an extreme: of all elements, flattened, or along ``dim``."""
        if a.dtype.kind == "b":
            raise RuntimeError(f"{name}(): does not support bool input; convert it with .int()")
        _some(a, dim, name)
        return _places(name, a, dim, keepdim)

    def apply(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        require_operand(name, input)
        require_flag(name, "keepdim", keepdim)
        return plain(input, dim if dim is None else place_of(dim, input.array.ndim, name), keepdim)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = (
        f"The place of the {word} element: of all, flattened, or along ``dim``; the first of equals, and "
        f"NaN counts as {word}."
    )
    return apply


argmax, argmin = _place("argmax", "largest"), _place("argmin", "smallest")

_max_along = reading("max_along", "max", "MaxBackward0")
_min_along = reading("min_along", "min", "MinBackward0")

MaxResult = return_type("max", "values", "indices")
MinResult = return_type("min", "values", "indices")


@guards(results=(1,))
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element of all; with ``dim`` a pair of values and indices; of two tensors :func:`maximum`.

    The whole maximum shares its gradient among ties; along a dimension all of
    it goes to the index returned.
    """
    return _either("max", input, dim if other is None else other, keepdim, _amax, _max_along, MaxResult)


@guards(results=(1,))
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element of all; with ``dim`` a pair of values and indices; of two :func:`minimum`."""
    return _either("min", input, dim if other is None else other, keepdim, _amin, _min_along, MinResult)


def _either(name: str, input: Any, dim: Any, keepdim: Any, whole: Any, along: Any, pair: Any) -> Any:
    from autokit.ops import choices

    require_operand(name, input)
    if isinstance(dim, Tensor):
        return (choices.maximum if name == "max" else choices.minimum)(input, dim)
    if dim is None:
        if keepdim is not False:
            raise TypeError(f"{name}() takes keepdim together with dim; give dim too")
        return whole(input, None)
    require_flag(name, "keepdim", keepdim)
    a = input.array
    place = place_of(dim, a.ndim, name)
    _some(a, place, name)
    index = new_tensor(_places(f"arg{name}", a, place, keepdim)).array
    return pair(along(input, place, keepdim, index), new_tensor(apart(index, input._requires_grad)))


NAMES = Names(both="amax amin aminmax argmax argmin max min", numpy={np.max: amax, np.min: amin})
