"""Pooling layers reduce each window of a signal, an image or a volume to one number, as its maximum."""

from __future__ import annotations

from typing import Any

from autokit.nn import functional as F
from autokit.nn.layer import FunctionLayer, Size, per_dimension

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]

# ---------------------------------------------------------------- the largest element


class _MaxPool(FunctionLayer):
    text = (
        "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, "
        "ceil_mode={ceil_mode}"
    )
    kernel_size: Size
    stride: Size | None = None
    padding: Size = 0
    dilation: Size = 1
    return_indices: bool = False
    ceil_mode: bool = False

    def check(self) -> None:
        """Windows stand side by side, unless ``stride`` says otherwise."""
        self.stride = self.kernel_size if self.stride is None else self.stride


class MaxPool1d(_MaxPool):
    """The largest element of each window, of (N, C, L) or (C, L)."""

    function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest element of each window, of (N, C, H, W) or (C, H, W).

    Parameters
    ----------
    kernel_size : int or (int, int)
        Height and width of the window.
    stride : int or (int, int), optional
        How far the window moves each time; by default as far as it is wide.
    padding : int or (int, int)
        How much of -∞ is added around.
    dilation : int or (int, int)
        How far apart the elements of a window are.
    return_indices : bool
        Give back also where in the plane each element stood.
    ceil_mode : bool
        Let the last windows reach beyond the edge.

    Examples
    --------
    >>> import autokit as torch
    >>> MaxPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest element of each window, of (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(F.max_pool3d)


# ---------------------------------------------------------------- means


class _AvgPool(FunctionLayer):
    text = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
    kernel_size: Size
    stride: Size | None = None
    padding: Size = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def check(self) -> None:
        """Windows stand side by side, unless ``stride`` says otherwise."""
        self.stride = self.kernel_size if self.stride is None else self.stride


class AvgPool1d(_AvgPool):
    """The mean of each window, of (N, C, L) or (C, L)."""

    function = staticmethod(F.avg_pool1d)

    def check(self) -> None:
        """Sizes print as tuples."""
        super().check()
        self.kernel_size = per_dimension(self.kernel_size, 1)
        self.stride = per_dimension(self.stride, 1)
        self.padding = per_dimension(self.padding, 1)


class AvgPool2d(_AvgPool):
    """The mean of each window, of (N, C, H, W) or (C, H, W).

    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode
        As for :class:`MaxPool2d`; what is added around is 0.
    count_include_pad : bool
        Whether the zeros around count in the mean.

    Examples
    --------
    >>> import autokit as torch
    >>> AvgPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window, of (N, C, D, H, W) or (C, D, H, W); see :class:`AvgPool2d`."""

    function = staticmethod(F.avg_pool3d)


# ---------------------------------------------------------------- to a given output size


class _AdaptiveMaxPool(FunctionLayer):
    text = "output_size={output_size}"
    output_size: Any
    return_indices: bool = False


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest elements of ``output_size`` regions that cover the signal."""

    function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest elements of the regions that :class:`AdaptiveAvgPool2d` averages."""

    function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest elements of ``output_size`` regions that cover the volume."""

    function = staticmethod(F.adaptive_max_pool3d)


class _AdaptiveAvgPool(FunctionLayer):
    output_size: Any


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of ``output_size`` regions that cover the signal."""

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of ``output_size`` regions that cover the image, however large it is.

    >>> import autokit as torch
    >>> AdaptiveAvgPool2d(1)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[7.5000]]])
    """

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of ``output_size`` regions that cover the volume."""

    function = staticmethod(F.adaptive_avg_pool3d)
