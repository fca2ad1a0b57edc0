"""Pooling: each window of a signal, an image or a volume becomes one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autokit.nn import functional
from autokit.nn.layer import FunctionLayer, per_dimension
from autokit.tensor import Tensor

Size = int | tuple[int, ...]

# ---------------------------------------------------------------- the largest element


class _MaxPool(FunctionLayer):
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(
            kernel_size=kernel_size,
            stride=kernel_size if stride is None else stride,
            padding=padding,
            dilation=dilation,
            return_indices=return_indices,
            ceil_mode=ceil_mode,
        )


class MaxPool1d(_MaxPool):
    """The largest element of each window, of (N, C, L) or (C, L)."""

    function = staticmethod(functional.max_pool1d)


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
        Give back also where in the plane each element stood, for :class:`MaxUnpool2d`.
    ceil_mode : bool
        Let the last windows reach beyond the edge.

    Examples
    --------
    >>> import autokit as torch
    >>> MaxPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    function = staticmethod(functional.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest element of each window, of (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(functional.max_pool3d)


class _MaxUnpool(FunctionLayer):
    ndim: int

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        size = per_dimension(kernel_size, self.ndim)
        super().__init__(
            kernel_size=size,
            stride=size if stride is None else per_dimension(stride, self.ndim),
            padding=per_dimension(padding, self.ndim),
        )

    def forward(  # type: ignore[override]
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Put each element of ``input`` where ``indices`` says that it stood."""
        return self.function(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """The largest elements back in their places, and 0 elsewhere: undoes :class:`MaxPool1d` in part."""

    ndim = 1
    function = staticmethod(functional.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """The largest elements back in their places, and 0 elsewhere: undoes :class:`MaxPool2d` in part."""

    ndim = 2
    function = staticmethod(functional.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """The largest elements back in their places, and 0 elsewhere: undoes :class:`MaxPool3d` in part."""

    ndim = 3
    function = staticmethod(functional.max_unpool3d)


# ---------------------------------------------------------------- means and norms


class AvgPool1d(FunctionLayer):
    """The mean of each window, of (N, C, L) or (C, L)."""

    function = staticmethod(functional.avg_pool1d)
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(
            kernel_size=per_dimension(kernel_size, 1),
            stride=per_dimension(kernel_size if stride is None else stride, 1),
            padding=per_dimension(padding, 1),
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )


class AvgPool2d(FunctionLayer):
    """The mean of each window, of (N, C, H, W) or (C, H, W).

    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode
        As for :class:`MaxPool2d`; what is added around is 0.
    count_include_pad : bool
        Whether the zeros around count in the mean.
    divisor_override : int, optional
        Divide by this in place of the number of elements.

    Examples
    --------
    >>> import autokit as torch
    >>> AvgPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    function = staticmethod(functional.avg_pool2d)
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(
            kernel_size=kernel_size,
            stride=kernel_size if stride is None else stride,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor_override=divisor_override,
        )


class AvgPool3d(AvgPool2d):
    """The mean of each window, of (N, C, D, H, W) or (C, D, H, W); see :class:`AvgPool2d`."""

    function = staticmethod(functional.avg_pool3d)


class LPPool1d(FunctionLayer):
    """The ``norm_type``-norm of each window, of (N, C, L) or (C, L): 1 gives sums, ∞ would give maxima."""

    function = staticmethod(functional.lp_pool1d)

    def __init__(
        self, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__(norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode)


class LPPool2d(LPPool1d):
    """The ``norm_type``-norm of each window, of (N, C, H, W) or (C, H, W)."""

    function = staticmethod(functional.lp_pool2d)


class LPPool3d(LPPool1d):
    """The ``norm_type``-norm of each window, of (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(functional.lp_pool3d)


# ---------------------------------------------------------------- to a size of one's choice


class _AdaptiveMaxPool(FunctionLayer):
    shown = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size=output_size, return_indices=return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest elements of ``output_size`` regions that cover the signal."""

    function = staticmethod(functional.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest elements of the regions that :class:`AdaptiveAvgPool2d` averages."""

    function = staticmethod(functional.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest elements of ``output_size`` regions that cover the volume."""

    function = staticmethod(functional.adaptive_max_pool3d)


class _AdaptiveAvgPool(FunctionLayer):
    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size=output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of ``output_size`` regions that cover the signal."""

    function = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of regions that cover the image, whatever its size.

    ``output_size`` is a number, or one for each dimension; None keeps a dimension as it is.

    >>> import autokit as torch
    >>> AdaptiveAvgPool2d(1)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[7.5000]]])
    """

    function = staticmethod(functional.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of ``output_size`` regions that cover the volume."""

    function = staticmethod(functional.adaptive_avg_pool3d)
