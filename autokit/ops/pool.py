"""Pooling: the largest element, or the mean, of each window of a signal, an image or a volume."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from autokit.devices import module_of
from autokit.dtypes import FLOATS
from autokit.ops.direct import direct
from autokit.ops.errors import describe
from autokit.ops.gpu import add_at
from autokit.ops.index import read_at
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor, new_tensor

Size = int | Sequence[int]


class Pooling(NamedTuple):
    """Where the windows lie: one number for each pooled dimension, which are the last ones."""

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    output: tuple[int, ...]

    def overlaps(self) -> bool:
        """Whether an element may lie in two windows."""
        return any((k - 1) * d >= s for k, d, s in zip(self.kernel, self.dilation, self.stride))

    def padded_sizes(self) -> tuple[int, ...]:
        """The sizes with padding, as far as windows reach: a last one may stand out."""
        return tuple(
            max(size + pad, (count - 1) * skip + (width - 1) * step + 1)
            for size, pad, count, skip, width, step in zip(
                self.sizes,
                [2 * pad for pad in self.padding],
                self.output,
                self.stride,
                self.kernel,
                self.dilation,
            )
        )

    def places(self) -> Iterator[tuple[Any, ...]]:
        """For each place of the kernel, what all windows see there of the padded input."""
        for place in product(*map(range, self.kernel)):
            yield (
                ...,
                *(
                    slice(at * step, at * step + (count - 1) * skip + 1, skip)
                    for at, step, count, skip in zip(place, self.dilation, self.output, self.stride)
                ),
            )


def _padded(a: Any, pooling: Pooling, value: float) -> Any:
    sizes = pooling.padded_sizes()
    if sizes == pooling.sizes:
        return a
    result = np.full_like(a, value, shape=(*a.shape[: -len(sizes)], *sizes))
    result[_inside(pooling)] = a
    return result


def _inside(pooling: Pooling) -> tuple[Any, ...]:
    """Where the input lies in the padded one."""
    return (..., *(slice(pad, pad + size) for pad, size in zip(pooling.padding, pooling.sizes)))


# ---------------------------------------------------------------- the largest


def _places_of_maxima(a: Any, pooling: Pooling) -> Any:
    """Where in its image each window's first largest element is, counted row by row; NaN is the largest."""
    lowest = -np.inf if a.dtype.kind in FLOATS else np.iinfo(a.dtype).min
    padded = _padded(a, pooling, lowest)
    xp = module_of(a)
    corners, first_inside, offsets = map(xp.asarray, _corners(pooling))
    best: Any = None
    for number, seen in enumerate(pooling.places()):
        value = padded[seen]
        if best is None:
            best = value.copy()
            chosen = np.zeros_like(best, dtype=first_inside.dtype) + first_inside
            continue
        larger = value > best
        if a.dtype.kind in FLOATS:
            larger |= value != value
        np.maximum(best, value, out=best)
        # The places of a kernel are numbered in turn, so the latest is the largest number.  Arithmetic on
        # small numbers is many times faster here than a masked copy, which guesses wrong at every maximum.
        np.maximum(chosen, larger * first_inside.dtype.type(number), out=chosen)
    return read_at(offsets, (chosen,)) + corners


def row_lengths(sizes: tuple[int, ...]) -> list[int]:
    """How many elements it is to the next one along each dimension."""
    return [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]


@lru_cache(maxsize=64)
def _corners(pooling: Pooling) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where windows begin; their first place that is not in the padding; how far away each place is."""
    corners = first_inside = np.zeros(pooling.output, np.int64)
    offsets = np.zeros(1, np.int64)
    rows = row_lengths(pooling.sizes)
    for axis, (size, width, skip, pad, step, count) in enumerate(zip(*pooling)):
        begin = (np.arange(count) * skip - pad).reshape((-1,) + (1,) * (len(pooling.output) - axis - 1))
        inside = -(np.minimum(begin, 0) // step)
        if (begin + inside * step >= size).any():
            raise RuntimeError(
                f"a window of {width} elements, {step} apart, sees nothing but padding in a dimension of "
                f"size {size}: its maximum is none of the input's elements"
            )
        corners = corners + begin * rows[axis]
        first_inside = first_inside * width + inside
        offsets = (offsets[:, np.newaxis] + np.arange(width) * step * rows[axis]).reshape(-1)
    return corners, first_inside.astype(np.min_scalar_type(len(offsets))), offsets


def counted_through(places: Any, shape: tuple[int, ...], ndim: int) -> Any:
    """``places``, each in its own image, counted through all images of an input of ``shape``."""
    images = math.prod(shape[:-ndim])
    firsts = module_of(places).arange(images) * math.prod(shape[-ndim:])
    return places + firsts.reshape(shape[:-ndim] + (1,) * ndim)


@operation(
    "max",
    "max {a} in each window",
    a=derivative(
        "1 at the place of the maximum, else 0",
        lambda g, shape, places, overlap, node: on(
            put_places, g, shape=shape, places=places, overlap=overlap, node=node
        ),
    ),
    name="max_pool",
    backward=lambda node: node.settings["node"],  # type: ignore[index]
)
def take_places(a, /, places, overlap, node):
    """The elements of ``a`` at ``places``, counted through all of it; ``overlap`` where these may repeat."""
    return a.reshape(-1)[places]


@operation(
    "put",
    "{a} at its places",
    a=derivative(
        "1 at the places put",
        lambda g, places, overlap, node: on(take_places, g, places=places, overlap=overlap, node=node),
    ),
    name="max_unpool",
    backward=lambda node: node.settings["node"],  # type: ignore[index]
)
def put_places(a, /, shape, places, overlap, node):
    """Zeros of ``shape`` with the elements of ``a`` at ``places``, added up where ``overlap`` says so."""
    result = np.zeros_like(a, shape=math.prod(shape))
    if overlap:
        add_at(result, places.reshape(-1), a.reshape(-1))
    else:
        result[places] = a
    return result.reshape(shape)


# ---------------------------------------------------------------- the mean


def _divisors(pooling: Pooling, count_include_pad: bool, override: int | None) -> np.ndarray:
    """What the sum of each window is divided by: how many elements it has."""
    if override is not None:
        return np.full(pooling.output, override)
    divisors = np.ones(pooling.output, np.int64)
    for axis, (size, width, skip, pad, _, count) in enumerate(zip(*pooling)):
        begin = np.arange(count) * skip - pad
        end = np.minimum(begin + width, size + pad)
        if not count_include_pad:
            begin, end = np.maximum(begin, 0), np.minimum(end, size)
        divisors *= np.maximum(end - begin, 1).reshape((-1,) + (1,) * (len(pooling.output) - axis - 1))
    return divisors


@operation(
    "mean",
    "mean {a} in each window",
    a=derivative(
        "1 / n in each window",
        lambda g, pooling, divisors: on(spread_means, g, pooling=pooling, divisors=divisors),
    ),
    name="avg_pool",
    backward=lambda node: f"AvgPool{len(node.settings['pooling'].sizes)}DBackward0",  # type: ignore[index]
    linear=True,
)
def window_means(a, /, pooling, divisors):
    """The sums over the windows, divided by ``divisors``."""
    padded = _padded(a, pooling, 0)
    total: Any = None
    for seen in pooling.places():
        if total is None:
            total = padded[seen].astype(np.float32 if a.dtype == np.float16 else a.dtype)
        else:
            total += padded[seen]
    if a.dtype.kind not in FLOATS:
        return np.trunc(total / divisors).astype(a.dtype)
    total /= module_of(a).asarray(divisors)
    return total.astype(a.dtype, copy=False)


@operation(
    "spread",
    "{a} shared out over its windows",
    a=derivative(
        "1 / n in each window",
        lambda g, pooling, divisors: on(window_means, g, pooling=pooling, divisors=divisors),
    ),
    name="avg_pool_backward",
)
def spread_means(a, /, pooling, divisors):
    """The transpose of :func:`window_means`: each window's part for each of its elements, added up."""
    shares = (a / module_of(a).asarray(divisors)).astype(a.dtype, copy=False)
    result = np.zeros_like(a, shape=(*a.shape[: -len(pooling.sizes)], *pooling.padded_sizes()))
    for seen in pooling.places():
        result[seen] += shares
    return result if result.shape[-len(pooling.sizes) :] == pooling.sizes else result[_inside(pooling)]


# ---------------------------------------------------------------- as PyTorch calls them


def _pooling(
    name: str,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    dilation: Size,
    ceil_mode: bool,
    ndim: int,
) -> Pooling:
    check_dimensions(name, input, ndim)
    kernel = _numbers(name, "kernel_size", kernel_size, ndim)
    skips = kernel if stride is None or stride == [] else _numbers(name, "stride", stride, ndim)
    around = _numbers(name, "padding", padding, ndim)
    steps = _numbers(name, "dilation", dilation, ndim)
    if min(kernel) < 1:
        raise RuntimeError(f"kernel size should be greater than zero, but got kernel_size={list(kernel)}")
    if min(skips) < 1:
        raise RuntimeError(f"stride should not be zero: it is {list(skips)}")
    if min(steps) < 1:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(steps)}")
    for width, pad, step in zip(kernel, around, steps):
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > ((width - 1) * step + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={pad}, "
                f"kernel_size={width} and dilation={step}: {name} {describe(input)}"
            )
        if pad > width // 2:
            raise RuntimeError(
                f"pad should be smaller than or equal to half of kernel size, but got pad = {list(around)}, "
                f"kernel size = {list(kernel)}"
            )
    sizes = input.array.shape[-ndim:]
    output = []
    for size, width, skip, pad, step in zip(sizes, kernel, skips, around, steps):
        room = size + 2 * pad - step * (width - 1) - 1
        count = (room + (skip - 1 if ceil_mode else 0)) // skip + 1
        if ceil_mode and (count - 1) * skip >= size + pad:  # the last window would begin behind the end
            count -= 1
        output.append(count)
    if min(output) < 1:
        channels = input.array.shape[-ndim - 1]
        raise RuntimeError(
            f"Given input size: ({_by(channels, *sizes)}). Calculated output size: "
            f"({_by(channels, *[max(count, 0) for count in output])}). Output size is too small"
        )
    return Pooling(sizes, kernel, skips, around, steps, tuple(output))


def _by(*sizes: int) -> str:
    return "x".join(map(str, sizes))


def _numbers(name: str, setting: str, value: Any, ndim: int) -> tuple[int, ...]:
    numbers = tuple(value) if isinstance(value, list | tuple) else (value,)
    for number in numbers:
        if not isinstance(number, int | np.integer) or isinstance(number, bool):
            raise TypeError(f"{name}(): argument '{setting}' must be tuple of ints, not {number!r}")
    if len(numbers) not in (1, ndim):
        raise RuntimeError(
            f"{name}: {setting} must either be a single int, or a tuple of "
            f"{('one', 'two', 'three')[ndim - 1]} ints: it is {value}"
        )
    return tuple(map(int, numbers * (ndim // len(numbers))))


def check_dimensions(name: str, input: Any, ndim: int) -> None:
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}; make "
            "one with torch.tensor(...)"
        )
    if input.array.dtype.kind not in "fViu":
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool': convert with .float()")
    if input.array.ndim not in (ndim + 1, ndim + 2) or not all(input.array.shape[-ndim - 1 :]):
        raise RuntimeError(
            f"{name}(): Expected {ndim + 1}D or {ndim + 2}D tensor, but got: {list(input.array.shape)}: "
            f"non-empty {ndim + 1}D or {ndim + 2}D (batch mode) tensor expected for input"
        )


def _max_pool(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    dilation: Size,
    ceil_mode: bool,
    ndim: int,
) -> tuple[Tensor, Any]:
    """The maxima, and their places in each image."""
    name = f"max_pool{ndim}d"
    pooling = _pooling(name, input, kernel_size, stride, padding, dilation, ceil_mode, ndim)
    places = _places_of_maxima(input.array, pooling)
    node = f"MaxPool{ndim}DWithIndicesBackward0"
    return taken(input, places, pooling.overlaps(), node, ndim), places


def taken(input: Tensor, places: Any, overlap: bool, node: str, ndim: int) -> Tensor:
    through = counted_through(places, input.array.shape, ndim)
    return direct(take_places, (input,), {"places": through, "overlap": overlap, "node": node})


def _lifted(name: str, input: Any) -> Tensor:
    """A signal as an image of one row: PyTorch pools it as such."""
    check_dimensions(name, input, 1)
    return input.unsqueeze(-2)


def _of_a_row(name: str, setting: str, value: Any, other: int) -> tuple[int, ...]:
    return other, *_numbers(name, setting, value, 1)


def max_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of signals; as :func:`max_pool2d`, over (N, channels, length)."""
    name = "max_pool1d"
    row = _lifted(name, input)
    _pooling(name, input, kernel_size, stride, padding, dilation, ceil_mode, 1)
    kernel = _of_a_row(name, "kernel_size", kernel_size, 1)
    skips = kernel if stride is None else _of_a_row(name, "stride", stride, 1)
    around = _of_a_row(name, "padding", padding, 0)
    steps = _of_a_row(name, "dilation", dilation, 1)
    values, places = _max_pool(row, kernel, skips, around, steps, ceil_mode, 2)
    return with_places(values.squeeze(-2), places.squeeze(-2), return_indices)


def with_places(values: Tensor, places: Any, wanted: bool) -> Any:
    return (values, new_tensor(places)) if wanted else values


def max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of images.

    All of a window's gradient goes to its largest element, and to the first of equals.

    Parameters
    ----------
    input : Tensor
        Of shape (N, channels, height, width), or without N.
    kernel_size : int or two
        The size of the window.
    stride : int or two, optional
        How far the window moves; by its own size without it.
    padding : int or two
        How many elements, smaller than any other, are thought around the input.
    dilation : int or two
        The distance between the elements that a window sees.
    ceil_mode : bool
        Let the last windows stand out over the edge, so that no element is left out.
    return_indices : bool
        Return a pair: the maxima, and where in its image each was, counted row by row.

    Raises
    ------
    RuntimeError
        If the shapes and settings do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    pooled = _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, 2)
    return with_places(*pooled, return_indices)


def max_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of volumes; as :func:`max_pool2d`."""
    pooled = _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, 3)
    return with_places(*pooled, return_indices)


def _average_pool(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    ndim: int,
) -> Tensor:
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    pooling = _pooling(f"avg_pool{ndim}d", input, kernel_size, stride, padding, 1, ceil_mode, ndim)
    divisors = _divisors(pooling, count_include_pad, divisor_override).astype(input.array.dtype)
    if (divisors == divisors.flat[0]).all():
        divisors = divisors.reshape(-1)[0]  # one number divides faster
    return direct(window_means, (input,), {"pooling": pooling, "divisors": divisors})


def avg_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of signals; as :func:`avg_pool2d`, over (N, channels, length)."""
    name = "avg_pool1d"
    row = _lifted(name, input)
    _pooling(name, input, kernel_size, stride, padding, 1, ceil_mode, 1)
    kernel = _of_a_row(name, "kernel_size", kernel_size, 1)
    skips = kernel if stride is None else _of_a_row(name, "stride", stride, 1)
    around = _of_a_row(name, "padding", padding, 0)
    return _average_pool(row, kernel, skips, around, ceil_mode, count_include_pad, None, 2).squeeze(-2)


def avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of images.

    Parameters
    ----------
    input, kernel_size, stride, padding, ceil_mode
        As in :func:`max_pool2d`; the padding is zeros.
    count_include_pad : bool
        Count the padding among the elements that are averaged.
    divisor_override : int, optional
        Divide by this instead of by the number of elements.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.nn.functional.avg_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """
    return _average_pool(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of volumes; as :func:`avg_pool2d`."""
    return _average_pool(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3
    )


_MAX = "max_pool1d max_pool2d max_pool3d"

NAMES = Names(functions=f"{_MAX} avg_pool1d", functional=f"{_MAX} avg_pool1d avg_pool2d avg_pool3d")
