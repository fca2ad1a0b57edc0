"""Sliding windows over signals, images and volumes: they are copied to columns, or added up to an image.

Copying the windows of an image to columns and adding columns up to an image are linear maps, of which each is
the transpose of the other, and so its derivative.  A convolution is a matrix product with these columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import index
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.ops.names import Names

Size = int | Sequence[int]


@dataclass(frozen=True)
class Windows:
    """How windows lie over an array, one number for each of its last dimensions."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return iter((self.kernel, self.stride, self.padding, self.dilation))

    def counts(self, sizes: Sequence[int], ceil_mode: bool = False) -> tuple[int, ...]:
        """How many windows there are along each dimension of an array of ``sizes``.

        With ``ceil_mode`` the last one may reach beyond the end, if it begins before it.
        """
        counts = []
        for size, kernel, stride, padding, dilation in zip(sizes, *self):
            room = size + 2 * padding - dilation * (kernel - 1) - 1
            count = room // stride + 1
            if ceil_mode and room % stride and count * stride < size + padding:
                count += 1
            counts.append(count)
        return tuple(counts)

    def look(self, a: Any) -> Any:
        """The windows of ``a`` (channels, *sizes, ...) as a view: (channels, *kernel, *counts, ...).

        Around ``a`` there are zeros.

        >>> Windows((2,), (1,), (0,), (1,)).look(np.array([[1, 2, 3, 4]]))
        array([[[1, 2, 3],
                [2, 3, 4]]])
        """
        ndim = len(self.kernel)
        sizes = a.shape[1 : ndim + 1]
        padded = np.zeros_like(a, shape=(len(a), *self._around(sizes), *a.shape[ndim + 1 :]), order="C")
        padded[self._inside(sizes)] = a
        channel = padded.strides[0]
        steps = padded.strides[1 : ndim + 1]
        rest = padded.strides[ndim + 1 :]
        return module_of(a).lib.stride_tricks.as_strided(
            padded,
            (len(a), *self.kernel, *self.counts(sizes), *a.shape[ndim + 1 :]),
            (
                channel,
                *[step * dilation for step, dilation in zip(steps, self.dilation)],
                *[step * stride for step, stride in zip(steps, self.stride)],
                *rest,
            ),
        )

    def add_up(self, seen: Any, sizes: Sequence[int]) -> Any:
        """The transpose of :meth:`look`: (channels, *sizes, ...), to which each window adds its elements.

        >>> Windows((2,), (1,), (0,), (1,)).add_up(np.ones((1, 2, 3)), (4,))
        array([[1., 2., 2., 1.]])
        """
        ndim = len(self.kernel)
        counts = seen.shape[ndim + 1 : 2 * ndim + 1]
        rest = seen.shape[2 * ndim + 1 :]
        total = np.zeros_like(seen, shape=(len(seen), *self._around(sizes), *rest), order="C")
        for place in product(*map(range, self.kernel)):
            met = [
                slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
                for at, dilation, count, stride in zip(place, self.dilation, counts, self.stride)
            ]
            total[(slice(None), *met)] += seen[(slice(None), *place)]
        return total[self._inside(sizes)]

    def _around(self, sizes: Sequence[int]) -> list[int]:
        """The sizes with the padding."""
        return [size + 2 * padding for size, padding in zip(sizes, self.padding)]

    def _inside(self, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Where an array of ``sizes`` lies in the padded one."""
        inside = [slice(padding, padding + size) for padding, size in zip(self.padding, sizes)]
        return (slice(None), *inside)


def numbers_of(name: str, setting: str, value: Any, ndim: int, least: int = 1) -> tuple[int, ...]:
    """A setting of the function ``name`` as one whole number for each of ``ndim`` dimensions.

    >>> numbers_of("conv2d", "stride", 2, 2)
    (2, 2)
    """
    given = value if isinstance(value, tuple | list) else (value,)
    try:
        numbers = tuple([index(each) for each in given])
    except TypeError:
        raise TypeError(
            f"{name}(): argument '{setting}' must be int or tuple of ints, not {value!r}"
        ) from None
    if len(numbers) == 1:
        numbers *= ndim
    if len(numbers) != ndim:
        raise RuntimeError(
            f"{name}: expected {setting} to be a single int or {ndim} of them, but got {value}"
        )
    if min(numbers) < least:
        raise RuntimeError(f"{name}: {setting} should be at least {least}, but got {list(numbers)}")
    return numbers


@operation(
    "windows",
    "the windows of {a} as columns",
    a=derivative(
        "each back to its place",
        lambda g, shape, windows: on(add_up_windows, g, sizes=shape[2:], windows=windows),
    ),
    name="unfold",
    backward="Im2ColBackward0",
)
def lay_out_windows(a, /, windows):
    """The windows of images (N, channels, height, width) as columns (N, channels · kernel, windows)."""
    seen = windows.look(a.reshape((-1, *a.shape[2:])))
    return seen.reshape((len(a), a.shape[1] * math.prod(windows.kernel), math.prod(seen.shape[3:])))


@operation(
    "fold",
    "the columns of {a}, added up to images",
    a=derivative("the windows as columns", lambda g, windows: on(lay_out_windows, g, windows=windows)),
    name="fold",
    backward="Col2ImBackward0",
)
def add_up_windows(a, /, sizes, windows):
    """Columns (N, channels · kernel, windows), added up to images of ``sizes``."""
    images = windows.add_up(a.reshape((-1, *windows.kernel, *windows.counts(sizes))), sizes)
    return images.reshape((len(a), -1, *sizes))


def unfold(
    input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
) -> Tensor:
    """The windows of images as columns: (N, channels · kernel height · kernel width, number of windows).

    Examples
    --------
    >>> import autokit as torch
    >>> image = torch.arange(6.0).reshape(1, 1, 2, 3)
    >>> torch.nn.functional.unfold(image, (2, 2))
    tensor([[[0., 1.],
             [1., 2.],
             [3., 4.],
             [4., 5.]]])
    """
    require_tensor("unfold", input)
    windows = _windows_of("unfold", kernel_size, stride, padding, dilation)
    if input.ndim not in (3, 4):
        raise RuntimeError(f"Expected 3D or 4D (batch mode) tensor for input, but got: {describe(input)}")
    if min(windows.counts(input.shape[-2:])) < 1:
        raise RuntimeError(
            f"unfold: a window of {windows.kernel}, with padding {windows.padding} and dilation "
            f"{windows.dilation}, is larger than the image: {describe(input)}"
        )
    if input.ndim == 3:
        return lay_out_windows(input.unsqueeze(0), windows=windows).squeeze(0)
    return lay_out_windows(input, windows=windows)


def fold(
    input: Tensor,
    output_size: Size,
    kernel_size: Size,
    dilation: Size = 1,
    padding: Size = 0,
    stride: Size = 1,
) -> Tensor:
    """Columns of windows added up to images of ``output_size``; the transpose of :func:`unfold`.

    It is not its inverse: a pixel in several windows is counted in each of them.
    """
    require_tensor("fold", input)
    windows = _windows_of("fold", kernel_size, stride, padding, dilation)
    sizes = numbers_of("fold", "output_size", output_size, 2)
    counts = windows.counts(sizes)
    if input.ndim not in (2, 3):
        raise RuntimeError(f"Expected 2D or 3D (batch mode) tensor for input, but got: {describe(input)}")
    if input.shape[-2] % math.prod(windows.kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"{describe(input)} and kernel_size={windows.kernel}"
        )
    if min(counts) < 1 or math.prod(counts) != input.shape[-1]:
        raise RuntimeError(
            f"Given output_size={sizes}, expected size of input's dimension 2 to match the calculated number "
            f"of sliding blocks {counts[0]} * {counts[1]}, but got {describe(input)}"
        )
    if input.ndim == 2:
        return add_up_windows(input.unsqueeze(0), sizes=sizes, windows=windows).squeeze(0)
    return add_up_windows(input, sizes=sizes, windows=windows)


def _windows_of(name: str, kernel_size: Size, stride: Size, padding: Size, dilation: Size) -> Windows:
    return Windows(
        numbers_of(name, "kernel_size", kernel_size, 2),
        numbers_of(name, "stride", stride, 2),
        numbers_of(name, "padding", padding, 2, 0),
        numbers_of(name, "dilation", dilation, 2),
    )


NAMES = Names(functional="fold unfold")
