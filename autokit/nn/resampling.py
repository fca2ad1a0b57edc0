"""Layers that resize images, or rearrange their pixels: upsampling, pixel shuffling, blocks as columns."""

from __future__ import annotations

from typing import Any

from autokit.nn import functional as F
from autokit.nn.layer import FunctionLayer, Size

__all__ = [
    "Fold",
    "PixelShuffle",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Upsample(FunctionLayer):
    """Signals, images or volumes in another size.

    Parameters
    ----------
    size : int or tuple, optional
        The size wanted.
    scale_factor : float or tuple, optional
        Or how many times as large.
    mode : str
        ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"bicubic"`` or ``"trilinear"``.
    align_corners : bool, optional
        Whether the corners' centres stay where they are.

    Examples
    --------
    >>> import autokit as torch
    >>> Upsample(scale_factor=2)(torch.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    function = staticmethod(F.interpolate)
    size: Size | None = None
    scale_factor: Any = None
    mode: str = "nearest"
    align_corners: bool | None = None

    def check(self) -> None:
        """Factors are numbers with a fraction."""
        if isinstance(self.scale_factor, tuple):
            self.scale_factor = tuple(map(float, self.scale_factor))
        elif self.scale_factor is not None:
            self.scale_factor = float(self.scale_factor)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """:class:`Upsample` of images, each pixel as the nearest."""


class UpsamplingBilinear2d(Upsample):
    """:class:`Upsample` of images, each pixel a mean of four; the corners stay where they are."""

    mode: str = "bilinear"
    align_corners: bool | None = True


class PixelShuffle(FunctionLayer):
    """Channels become pixels: (N, C·r², H, W) becomes (N, C, H·r, W·r).

    References
    ----------
    W. Shi et al., "Real-Time Single Image and Video Super-Resolution Using an
    Efficient Sub-Pixel Convolutional Neural Network", CVPR 2016.
    """

    function = staticmethod(F.pixel_shuffle)
    upscale_factor: int


class Unfold(FunctionLayer):
    """All blocks of images as columns: (N, C·height·width of a block, number of blocks)."""

    function = staticmethod(F.unfold)
    kernel_size: Size
    dilation: Size = 1
    padding: Size = 0
    stride: Size = 1


class Fold(FunctionLayer):
    """Images from their blocks, which are added up where they overlap: the gradient of :class:`Unfold`."""

    function = staticmethod(F.fold)
    output_size: Size
    kernel_size: Size
    dilation: Size = 1
    padding: Size = 0
    stride: Size = 1
