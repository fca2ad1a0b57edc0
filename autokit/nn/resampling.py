"""Images in other sizes and other orders: upsampling, shuffled pixels, blocks as columns."""

from __future__ import annotations

from typing import Any

from autokit.nn import functional
from autokit.nn.layer import FunctionLayer

Size = int | tuple[int, ...]


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
    recompute_scale_factor : bool, optional
        Compute the factor again from the sizes.

    Examples
    --------
    >>> import autokit as torch
    >>> Upsample(scale_factor=2)(torch.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    function = staticmethod(functional.interpolate)

    def __init__(
        self,
        size: Size | None = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        if isinstance(scale_factor, tuple):
            scale_factor = tuple(map(float, scale_factor))
        super().__init__(
            size=size,
            scale_factor=float(scale_factor) if isinstance(scale_factor, int) else scale_factor,
            mode=mode,
            align_corners=align_corners,
            recompute_scale_factor=recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """:class:`Upsample` of images, each pixel as the nearest."""

    def __init__(self, size: Size | None = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """:class:`Upsample` of images, each pixel a mean of four; the corners stay where they are."""

    def __init__(self, size: Size | None = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(FunctionLayer):
    """Channels become pixels: (N, C·r², H, W) becomes (N, C, H·r, W·r).

    References
    ----------
    W. Shi et al., "Real-Time Single Image and Video Super-Resolution Using an
    Efficient Sub-Pixel Convolutional Neural Network", CVPR 2016.
    """

    function = staticmethod(functional.pixel_shuffle)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__(upscale_factor=upscale_factor)


class PixelUnshuffle(FunctionLayer):
    """Pixels become channels: undoes :class:`PixelShuffle`."""

    function = staticmethod(functional.pixel_unshuffle)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__(downscale_factor=downscale_factor)


class ChannelShuffle(FunctionLayer):
    """Deal the channels out, so that each new group has some of each old one."""

    function = staticmethod(functional.channel_shuffle)

    def __init__(self, groups: int) -> None:
        super().__init__(groups=groups)


class Unfold(FunctionLayer):
    """All blocks of images as columns: (N, C·height·width of a block, number of blocks)."""

    function = staticmethod(functional.unfold)

    def __init__(self, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> None:
        super().__init__(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


class Fold(FunctionLayer):
    """Images from their blocks, which are added up where they overlap: the gradient of :class:`Unfold`."""

    function = staticmethod(functional.fold)

    def __init__(
        self, output_size: Size, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
    ) -> None:
        super().__init__(
            output_size=output_size,
            kernel_size=kernel_size,
            dilation=dilation,
            padding=padding,
            stride=stride,
        )
