"""Windows laid out as columns, and added up again; channels and pixels rearranged.

Taking images apart into columns (*im2col*) and adding columns up to images
(*col2im*) are each other's transposes, and so each other's derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from autokit.devices import contiguous, with_channels_as
from autokit.ops.errors import require_floats
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor

Size = int | Sequence[int]


class Blocks(NamedTuple):
    """Where the blocks lie in an image; each is a pair of numbers, for height and width."""

    sizes: tuple[int, int]
    kernel: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[int, int]
    stride: tuple[int, int]

    def counts(self) -> tuple[int, ...]:
        """How many blocks there are along height and width."""
        return tuple(
            (size + 2 * pad - step * (width - 1) - 1) // skip + 1
            for size, width, step, pad, skip in zip(*self)
        )

    def padded_sizes(self) -> tuple[int, ...]:
        """The sizes with padding."""
        return tuple(size + 2 * pad for size, pad in zip(self.sizes, self.padding))

    def inside(self) -> tuple[Any, ...]:
        """Where the image lies in the padded one."""
        return (..., *(slice(pad, pad + size) for pad, size in zip(self.padding, self.sizes)))

    def places(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """For each place of a block, what all blocks have there of the padded image."""
        for number, place in enumerate(product(*map(range, self.kernel))):
            yield (
                number,
                (
                    ...,
                    *(
                        slice(at * step, at * step + (count - 1) * skip + 1, skip)
                        for at, step, count, skip in zip(place, self.dilation, self.counts(), self.stride)
                    ),
                ),
            )


@operation(
    "im2col",
    "the blocks of {a} as columns",
    a=derivative("each back to its place", lambda g, blocks: on(col2im, g, blocks=blocks)),
    backward="Im2ColBackward0",
    linear=True,
)
def im2col(a, /, blocks):
    """The blocks of images (N, channels, height, width) as columns (N, channels · block size, blocks)."""
    padded = np.zeros_like(a, shape=(*a.shape[:2], *blocks.padded_sizes()))
    padded[blocks.inside()] = a
    area, counts = math.prod(blocks.kernel), blocks.counts()
    columns = np.empty_like(a, shape=(*a.shape[:2], area, *counts))
    for number, seen in blocks.places():
        columns[:, :, number] = padded[seen]
    return columns.reshape((a.shape[0], a.shape[1] * area, math.prod(counts)))


@operation(
    "col2im",
    "the columns of {a}, added up to images",
    a=derivative("the blocks as columns", lambda g, blocks: on(im2col, g, blocks=blocks)),
    backward="Col2ImBackward0",
    linear=True,
)
def col2im(a, /, blocks):
    """Columns (N, channels · block size, blocks), added up to images (N, channels, height, width)."""
    area = math.prod(blocks.kernel)
    columns = a.reshape((a.shape[0], a.shape[1] // area, area, *blocks.counts()))
    padded = np.zeros_like(a, shape=(*columns.shape[:2], *blocks.padded_sizes()))
    for number, seen in blocks.places():
        padded[seen] += columns[:, :, number]
    return contiguous(padded[blocks.inside()])


def unfold(
    input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
) -> Tensor:
    """All blocks of images as columns: (N, channels · kernel height · kernel width, number of blocks).

    A convolution is a product of matrices on these columns.

    Raises
    ------
    RuntimeError
        If no block fits.

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
    settings = _checked_settings(kernel_size, dilation, padding, stride)
    shape = input.array.shape
    if len(shape) not in (3, 4) or not all(shape[-3:]):
        raise (IndexError if len(shape) < 2 or len(shape) == 2 and shape[1] else RuntimeError)(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
            f"for input, but got: {list(shape)}; Dimension out of range where there are fewer"
        )
    blocks = Blocks((shape[-2], shape[-1]), *settings)
    if min(blocks.counts()) < 1:
        raise RuntimeError(
            f"Given input with spatial size {blocks.sizes}, {_described(blocks, False)}, calculated shape of "
            f"the array of sliding blocks as {tuple(max(each, 0) for each in blocks.counts())}, but its "
            "components must be at least one."
        )
    _refuse_integers("im2col_out_cpu", input)
    if len(shape) == 4:
        return im2col(input, blocks=blocks)
    return im2col(input.unsqueeze(0), blocks=blocks).squeeze(0)


def fold(
    input: Tensor,
    output_size: Size,
    kernel_size: Size,
    dilation: Size = 1,
    padding: Size = 0,
    stride: Size = 1,
) -> Tensor:
    """Columns of blocks added up to images of ``output_size``; the transpose of :func:`unfold`.

    It is not its inverse: an element in several blocks is counted in each.

    Raises
    ------
    RuntimeError
        If ``input`` is not what :func:`unfold` makes of such images.
    """
    settings = _checked_settings(kernel_size, dilation, padding, stride)
    shape = input.array.shape
    if len(shape) not in (2, 3) or not all(shape[-2:]):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    blocks = Blocks(_pair("output_size", output_size), *settings)
    if shape[-2] % math.prod(blocks.kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[-2]} and kernel_size={blocks.kernel}."
        )
    counts = blocks.counts()
    if min(counts) < 1 or math.prod(counts) != shape[-1]:
        raise RuntimeError(
            f"Given output_size={blocks.sizes}, {_described(blocks, True)}, expected size of input's "
            f"dimension 2 to match the calculated number of sliding blocks {counts[0]} * {counts[1]} = "
            f"{math.prod(counts)}, but got input.size(2)={shape[-1]}."
        )
    if min(blocks.sizes) < 1:
        raise RuntimeError(
            f"Expected output spatial size to be positive, but got: output_size={blocks.sizes}."
        )
    _refuse_integers("col2im_out_cpu", input)
    if len(shape) == 3:
        return col2im(input, blocks=blocks)
    return col2im(input.unsqueeze(0), blocks=blocks).squeeze(0)


def _refuse_integers(name: str, input: Tensor) -> None:
    """PyTorch lays out numbers that have gradients, and bools."""
    if input.array.dtype.kind != "b":
        require_floats(name, input.array)


def _described(blocks: Blocks, with_stride: bool) -> str:
    text = f"kernel_size={blocks.kernel}, dilation={blocks.dilation}, padding={blocks.padding}"
    return f"{text}, stride={blocks.stride}" if with_stride else text


def _checked_settings(
    kernel_size: Size, dilation: Size, padding: Size, stride: Size
) -> tuple[tuple[int, int], ...]:
    """Kernel, dilation, padding and stride, each for height and width."""
    kernel, skips = _pair("kernel_size", kernel_size), _pair("stride", stride)
    steps, around = _pair("dilation", dilation), _pair("padding", padding)
    for words, name, pair in (
        ("kernel size", "kernel", kernel),
        ("stride", "stride", skips),
        ("dilation", "dilation", steps),
    ):
        if min(pair) < 1:
            raise RuntimeError(
                f"{words} should be greater than zero, but got {name}_height: {pair[0]} "
                f"{name}_width: {pair[1]}"
            )
    if min(around) < 0:
        raise RuntimeError(
            f"padding should be non-negative, but got pad_height: {around[0]} pad_width: {around[1]}"
        )
    return kernel, steps, around, skips


def _pair(name: str, value: Any) -> tuple[int, int]:
    pair = tuple(value) if isinstance(value, list | tuple) else (value, value)
    if len(pair) == 1:
        pair *= 2
    if len(pair) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(pair)}")
    return int(pair[0]), int(pair[1])


# ---------------------------------------------------------------- channels and pixels


@operation(
    "shuffle",
    "{a}, channels to pixels",
    a=derivative("back", lambda g, factor: on(plain_pixel_unshuffle, g, factor=factor)),
    name="pixel_shuffle",
    linear=True,
)
def plain_pixel_shuffle(a, /, factor):
    """See :func:`pixel_shuffle`."""
    *lead, channels, height, width = a.shape
    split = a.reshape((*lead, channels // factor**2, factor, factor, height, width))
    n = len(lead)
    moved = split.transpose((*range(n + 1), n + 3, n + 1, n + 4, n + 2))
    return with_channels_as(a, moved.reshape((*lead, channels // factor**2, height * factor, width * factor)))


@operation(
    "shuffle",
    "{a}, pixels to channels",
    a=derivative("back", lambda g, factor: on(plain_pixel_shuffle, g, factor=factor)),
    name="pixel_unshuffle",
    linear=True,
)
def plain_pixel_unshuffle(a, /, factor):
    """See :func:`pixel_unshuffle`."""
    *lead, channels, height, width = a.shape
    split = a.reshape((*lead, channels, height // factor, factor, width // factor, factor))
    n = len(lead)
    moved = split.transpose((*range(n + 1), n + 2, n + 4, n + 1, n + 3))
    return with_channels_as(
        a, moved.reshape((*lead, channels * factor**2, height // factor, width // factor))
    )


@operation(
    "shuffle",
    "{a}, channels mixed",
    a=derivative("back", lambda g, shape, groups: on(plain_channel_shuffle, g, groups=shape[1] // groups)),
    name="channel_shuffle",
    linear=True,
)
def plain_channel_shuffle(a, /, groups):
    """See :func:`channel_shuffle`."""
    if not a.size:
        return a.copy()
    split = a.reshape((a.shape[0], groups, a.shape[1] // groups, *a.shape[2:]))
    return with_channels_as(a, np.swapaxes(split, 1, 2).reshape(a.shape))


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(…, C·r², H, W) to (…, C, H·r, W·r): each r² channels become squares of r by r pixels.

    Raises
    ------
    RuntimeError
        If the channels do not divide.

    References
    ----------
    W. Shi et al., "Real-time single image and video super-resolution using an
    efficient sub-pixel convolutional neural network", CVPR 2016.
    """
    shape = input.array.shape
    _at_least_3d("pixel_shuffle", shape)
    if upscale_factor < 1:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    if shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return plain_pixel_shuffle(input, factor=upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(…, C, H·r, W·r) to (…, C·r², H, W): the inverse of :func:`pixel_shuffle`."""
    shape = input.array.shape
    _at_least_3d("pixel_unshuffle", shape)
    if downscale_factor < 1:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    for name, dim in (("height", -2), ("width", -1)):
        if shape[dim] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={shape[dim]} is not divisible by {downscale_factor}"
            )
    return plain_pixel_unshuffle(input, factor=downscale_factor)


def _at_least_3d(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{len(shape)} dimension(s)"
        )


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of ``groups`` groups, dealt out in turn, so that a grouped convolution sees all groups."""
    shape = input.array.shape
    if len(shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}"
        )
    if groups < 1:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    return plain_channel_shuffle(input, groups=groups)


_SHUFFLES = "pixel_shuffle pixel_unshuffle channel_shuffle"

NAMES = Names(functions=_SHUFFLES, functional=f"fold unfold {_SHUFFLES}")
