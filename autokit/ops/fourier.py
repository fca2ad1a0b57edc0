"""Fourier transforms: a signal as a sum of waves, and back.

The transform of n numbers is their product with the matrix exp(−2πi jk / n), in
O(n log n) steps [1]_.  That is linear, so its derivative is itself: a gradient
goes back through the adjoint matrix, which has exp(+2πi jk / n) and is the
inverse but for a factor.  A real signal has a symmetric transform, of which
half is enough; each number of that half stands for two on the way back.

References
----------
.. [1] J. W. Cooley and J. W. Tukey, "An algorithm for the machine calculation of complex Fourier series",
   Mathematics of Computation 19, 1965.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.batches.batch import Batch, Level
from autokit.batches.rules import all_behind, rule, whole
from autokit.devices import beside, contiguous
from autokit.ops.complex_numbers import is_complex
from autokit.ops.complex_parts import conj
from autokit.ops.convert import cast
from autokit.ops.create import finished, numpy_dtype
from autokit.ops.dims import place_of
from autokit.ops.errors import describe, kind_of, require_tensor
from autokit.ops.guards import guards
from autokit.ops.operation import derivative, on, operation
from autokit.ops.pad import constant_pad_nd
from autokit.ops.repeat import roll
from autokit.ops.shape import plain_narrow
from autokit.tensor import Tensor

Dims = int | Sequence[int] | None

_OTHER_WAY = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
"""How the transform with the same factor, but in the other direction, calls that factor."""

# ---------------------------------------------------------------- rules


@operation(
    "ℱ",
    "Σₖ {a}ₖ · exp(∓2πi jk / n)",
    a=derivative(
        "exp(±2πi jk / n)",
        lambda g, dim, norm, inverse: on(_transform, g, dim=dim, norm=_OTHER_WAY[norm], inverse=not inverse),
    ),
    name="fft_c2c",
    backward="FftC2CBackward0",
    linear=True,
    layout=contiguous,
)
def _transform(a, /, dim, norm, inverse=False):
    """The transform of complex numbers along ``dim``, or its inverse."""
    return (np.fft.ifftn if inverse else np.fft.fftn)(a, axes=dim, norm=norm) if dim else a.copy()


def _of_real_gradient(g: Any, shape: tuple[int, ...], dim: tuple[int, ...], norm: str, half: bool) -> Any:
    if half:
        lacking = shape[dim[-1]] - g.shape[dim[-1]]
        g = on(constant_pad_nd, g, widths=tuple([(0, lacking * (p == dim[-1])) for p in range(len(shape))]))
    return np.real(on(_transform, g, dim=dim, norm=_OTHER_WAY[norm], inverse=True))


@guards("a")
@operation(
    "ℱ",
    "Σₖ {a}ₖ · exp(−2πi jk / n)",
    a=derivative("exp(2πi jk / n)", _of_real_gradient),
    name="fft_r2c",
    backward="FftR2CBackward0",
    linear=True,
    layout=contiguous,
)
def _transform_of_real(a, /, dim, norm, half):
    """The transform of real numbers along ``dim``; ``half`` of it along the last of these."""
    made = (np.fft.rfftn if half else np.fft.fftn)(a, axes=dim, norm=norm)
    dtypes.note(made.dtype)  # these may be the program's first complex numbers
    return made


def _to_real_gradient(g: Any, dim: tuple[int, ...], norm: str, size: int) -> Any:
    found = on(_transform_of_real, g, dim=dim, norm=_OTHER_WAY[norm], half=True)
    # But for the ends of the symmetric half, each number stands for two.
    count = size // 2 + 1
    twice = np.ones(count, g.dtype if isinstance(g.dtype, np.dtype) else g.dtype.numpy)
    twice[1 : size - count + 1] = 2
    return found * beside(found, twice.reshape([count if p == dim[-1] else 1 for p in range(len(g.shape))]))


@operation(
    "ℱ⁻¹",
    "Σₖ {a}ₖ · exp(2πi jk / n), a real number",
    a=derivative("exp(−2πi jk / n)", _to_real_gradient),
    name="fft_c2r",
    backward="FftC2RBackward0",
    linear=True,
    layout=contiguous,
)
def _transform_to_real(a, /, dim, norm, size):
    """The inverse transform, from the half of a symmetric one: ``size`` real numbers along the last."""
    sizes = [*(a.shape[place] for place in dim[:-1]), size]
    return np.fft.irfftn(a, s=sizes, axes=dim, norm=norm)


# ---------------------------------------------------------------- all samples of a vmap at once


def _of_samples(function: Any) -> None:
    @rule(function)
    def apply(level: Level, a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
        array = whole(a, level)
        return Batch(function(array, s=s, axes=all_behind(axes, array.ndim - 1), norm=norm), level)


for _each in (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn):
    _of_samples(_each)

# ---------------------------------------------------------------- what all functions ask


def _factor(norm: str | None) -> str:
    if norm is not None and norm not in _OTHER_WAY:
        raise RuntimeError(
            f'Invalid normalization mode: "{norm}": there are "backward", "forward" and "ortho"'
        )
    return norm or "backward"


def _floating(input: Any, complex: bool = False) -> Tensor:
    """``input`` in a floating point dtype that transforms know, or in the ``complex`` one."""
    require_tensor("fft_fft", input, "input", 1)
    a = input.array
    if a.dtype.kind in "bui":
        input = cast(input, dtype=dtypes.get_default_dtype().numpy)
    elif a.dtype.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {kind_of(a)}: convert with .float()")
    if complex and not is_complex(input):
        input = cast(input, dtype=input.dtype.to_complex().numpy)
    return input


def _require_real(name: str, input: Tensor, word: str = "real") -> None:
    if is_complex(input):
        raise RuntimeError(f"{name} expects a {word} input tensor, but got {kind_of(input.array)}")


def _require_points(size: int) -> None:
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")


def _fitted(input: Tensor, sizes: dict[int, int]) -> Tensor:
    """``input`` with these sizes along dimensions: cut off, or with zeros behind."""
    widths = []
    for place, size in enumerate(input.array.shape):
        wanted = sizes.get(place, size)
        if wanted < size:
            input = plain_narrow(input, dim=place, start=0, length=wanted)
        widths.append((0, max(wanted - size, 0)))
    return constant_pad_nd(input, widths=tuple(widths)) if any(after for _, after in widths) else input


def _no_dimensions(dim: int) -> IndexError:
    return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def _place(input: Any, n: int | None, dim: int) -> tuple[int, int]:
    """The one dimension, and how many points along it count."""
    require_tensor("fft_fft", input, "input", 1)
    if not input.array.ndim:
        raise _no_dimensions(dim)
    place = place_of(dim, input.array.ndim)
    return place, input.array.shape[place] if n is None else n


def _places(input: Any, s: Any, dim: Dims) -> tuple[tuple[int, ...], dict[int, int]]:
    """The dimensions, and how many points along each count."""
    require_tensor("fft_fftn", input, "input", 1)
    shape = input.array.shape
    if dim is not None and not shape:
        raise _no_dimensions(dim if isinstance(dim, int) else next(iter(dim), -1))
    sizes = None if s is None else [s] if isinstance(s, int) else list(s)
    if dim is None:
        if sizes is not None and len(sizes) > len(shape):
            raise RuntimeError(
                f"Got shape with {len(sizes)} values but input tensor only has {len(shape)} dimensions."
            )
        places = tuple(range(len(shape) - (len(shape) if sizes is None else len(sizes)), len(shape)))
    else:
        given = [dim] if isinstance(dim, int) else list(dim)
        places = tuple([place_of(each, len(shape)) for each in given])
        if len(set(places)) < len(places):
            raise RuntimeError("FFT dims must be unique")
        if sizes is not None and len(sizes) != len(given):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    counts = {
        place: shape[place] if sizes is None or sizes[number] == -1 else sizes[number]
        for number, place in enumerate(places)
    }
    return places, counts


def _complex_to_complex(
    input: Tensor, places: tuple[int, ...], counts: dict[int, int], norm: str | None, inverse: bool
) -> Tensor:
    for size in counts.values():
        _require_points(size)
    fitted = _fitted(_floating(input, True), counts)
    return _transform(fitted, dim=places, norm=_factor(norm), inverse=inverse)


def _real_to_all(input: Tensor, place: int, count: int, norm: str) -> Tensor:
    """The whole transform of a real signal: all of it follows from one half."""
    _require_points(count)
    return _transform_of_real(_fitted(_floating(input), {place: count}), dim=(place,), norm=norm, half=False)


def _real_to_half(
    input: Tensor, places: tuple[int, ...], counts: dict[int, int], norm: str | None, inverse: bool
) -> Tensor:
    if not places:
        raise RuntimeError("rfftn must transform at least one axis")
    for size in counts.values():
        _require_points(size)
    fitted = _fitted(_floating(input), counts)
    factor = _factor(norm)
    if not inverse:
        return _transform_of_real(fitted, dim=places, norm=factor, half=True)
    turned = conj(_transform_of_real(fitted, dim=places[-1:], norm=_OTHER_WAY[factor], half=True))
    others = places[:-1]
    return _transform(turned, dim=others, norm=factor, inverse=True) if others else turned


def _half_to_real(
    input: Tensor,
    places: tuple[int, ...],
    counts: dict[int, int],
    size: int | None,
    norm: str | None,
    inverse: bool,
) -> Tensor:
    if not places:
        raise RuntimeError("irfftn must transform at least one axis")
    last = places[-1]
    size = 2 * (input.array.shape[last] - 1) if size is None else size
    for each in (*(counts[place] for place in places[:-1]), size):
        _require_points(each)
    fitted = _fitted(_floating(input, True), {**counts, last: size // 2 + 1})
    factor = _factor(norm)
    if inverse:
        return _transform_to_real(fitted, dim=places, norm=factor, size=size)
    if places[:-1]:
        fitted = _transform(fitted, dim=places[:-1], norm=factor)
    return _transform_to_real(conj(fitted), dim=(last,), norm=_OTHER_WAY[factor], size=size)


# ---------------------------------------------------------------- along one dimension


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along ``dim``: Xⱼ = Σₖ xₖ exp(−2πi jk / n).

    Parameters
    ----------
    input : Tensor
        Real or complex, of any shape.
    n : int, optional
        How many points count: the signal is cut off there, or zeros are put behind it.
    dim : int
        Along which dimension.
    norm : "forward", "backward" or "ortho"
        Where the factor is: 1/n in the transform, in its inverse (the default), or 1/√n in both.

    Returns
    -------
    Tensor
        complex64, or complex128 where the input is of double precision.

    Raises
    ------
    RuntimeError
        If there are no points, or there is no such norm.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.fft.fft(torch.tensor([1.0, 0.0, -1.0, 0.0]))
    tensor([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j])
    """
    input = _floating(input)
    place, count = _place(input, n, dim)
    if is_complex(input):
        return _complex_to_complex(input, (place,), {place: count}, norm, False)
    return _real_to_all(input, place, count, _factor(norm))


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of :func:`fft`: xₖ = 1/n Σⱼ Xⱼ exp(2πi jk / n)."""
    input = _floating(input)
    place, count = _place(input, n, dim)
    if is_complex(input):
        return _complex_to_complex(input, (place,), {place: count}, norm, True)
    return conj(_real_to_all(input, place, count, _OTHER_WAY[_factor(norm)]))


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first n/2 + 1 numbers of the transform of a real signal; the others are their conjugates.

    >>> import autokit as torch
    >>> torch.fft.rfft(torch.tensor([1.0, 0.0, -1.0, 0.0]))
    tensor([0.+0.j, 2.+0.j, 0.+0.j])
    """
    _require_real("rfft", input)
    input = _floating(input)
    place, count = _place(input, n, dim)
    return _real_to_half(input, (place,), {place: count}, norm, False)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of :func:`rfft`: ``n`` real numbers, by default an even number of them."""
    input = _floating(input, True)
    place, count = _place(input, None, dim)
    return _half_to_real(input, (place,), {place: count}, n, norm, True)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform, real numbers, of a symmetric signal of which half is given."""
    input = _floating(input, True)
    place, count = _place(input, None, dim)
    return _half_to_real(input, (place,), {place: count}, n, norm, False)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of :func:`hfft`: half of the symmetric signal whose transform is ``input``."""
    _require_real("ihfft", input)
    input = _floating(input)
    place, count = _place(input, n, dim)
    return _real_to_half(input, (place,), {place: count}, norm, True)


# ---------------------------------------------------------------- along several dimensions


def fftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """:func:`fft` along several dimensions, with ``s`` points along each.

    Without ``dim`` these are all, or the last ones, as many as there are in ``s``.
    """
    return _complex_to_complex(input, *_places(input, s, dim), norm, False)


def ifftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of :func:`fftn`."""
    return _complex_to_complex(input, *_places(input, s, dim), norm, True)


def rfftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """:func:`rfft` along the last of several dimensions, and :func:`fft` along the others."""
    _require_real("rfftn", input, "real-valued")
    places, counts = _places(input, s, dim)
    return _real_to_half(input, places, counts, norm, False)


def irfftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of :func:`rfftn`."""
    return _half_to_real(input, *_places_and_size(input, s, dim), norm, True)


def hfftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """:func:`hfft` along the last of several dimensions, and :func:`fft` along the others."""
    return _half_to_real(input, *_places_and_size(input, s, dim), norm, False)


def ihfftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of :func:`hfftn`."""
    places, counts = _places(input, s, dim)
    _require_real("ihfftn", input, "real-valued")
    return _real_to_half(input, places, counts, norm, True)


def _places_and_size(input: Tensor, s: Any, dim: Dims) -> tuple[tuple[int, ...], dict[int, int], int | None]:
    places, counts = _places(input, s, dim)
    sizes = [s] if isinstance(s, int) else s
    return places, counts, None if not sizes or sizes[-1] == -1 else counts[places[-1]]


def fft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """:func:`fftn` along the last two dimensions, as of an image."""
    return fftn(input, s, dim, norm)


def ifft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of :func:`fft2`."""
    return ifftn(input, s, dim, norm)


def rfft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """:func:`rfftn` along the last two dimensions."""
    return rfftn(input, s, dim, norm)


def irfft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of :func:`rfft2`."""
    return irfftn(input, s, dim, norm)


def hfft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """:func:`hfftn` along the last two dimensions."""
    return hfftn(input, s, dim, norm)


def ihfft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of :func:`hfft2`."""
    return ihfftn(input, s, dim, norm)


# ---------------------------------------------------------------- frequencies


def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequency of each number that :func:`fft` gives, in cycles per unit, for points ``d`` apart.

    >>> import autokit as torch
    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    places = np.arange(max(n, 0))
    turns = np.where(places < (n + 1) // 2, places, places - n)
    return finished(_frequencies("fftfreq", turns, n, d, dtype), requires_grad, device)


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequency of each number that :func:`rfft` gives.

    >>> import autokit as torch
    >>> torch.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    turns = np.arange(max(n, 0) // 2 + 1)
    return finished(_frequencies("rfftfreq", turns, n, d, dtype), requires_grad, device)


def _frequencies(name: str, turns: np.ndarray, n: int, d: float, dtype: Any) -> np.ndarray:
    kind = numpy_dtype(dtype)
    if kind.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(f"{name} requires a floating point or complex dtype: {kind.name} is none")
    if kind.kind == "c":
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{kind.name}': convert with .to(...) after it"
        )
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    span = float(n * d)
    with np.errstate(invalid="ignore"):
        return turns.astype(kind) * kind.type(1 / span if span else math.copysign(math.inf, span))


def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The numbers of a transform with frequency 0 in the middle, along ``dim`` or all dimensions.

    >>> import autokit as torch
    >>> torch.fft.fftshift(torch.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _shifted(input, dim, 0)


def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The inverse of :func:`fftshift`."""
    return _shifted(input, dim, 1)


def _shifted(input: Tensor, dim: Dims, up: int) -> Tensor:
    require_tensor("fft_fftshift", input, "input", 1)
    shape = input.array.shape
    given = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    if given and not shape:
        raise _no_dimensions(given[0])
    places = [place_of(each, len(shape)) for each in given]
    if not places:
        raise RuntimeError(f"`shifts` required: there is no dimension to shift along in {describe(input)}")
    return roll(input, [(shape[place] + up) // 2 for place in places], places)
