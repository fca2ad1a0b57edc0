"""Convolutions as modules: they slide a small set of weights over a signal, an image or a volume."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init
from autokit.nn.layer import Size, empty_parameter, per_dimension
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_PAD_MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


class _ConvNd(Module):
    """What convolutions and their transposes share: sizes, parameters and text.

    Attributes
    ----------
    ndim : int
        How many dimensions of space.
    transposed : bool
        Whether each input is spread over a window, in place of being one of a window that is summed.
    """

    ndim: ClassVar[int]
    transposed: ClassVar[bool] = False
    function: ClassVar[Callable[..., Tensor]]
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size,
        padding: Size | str,
        dilation: Size,
        output_padding: Size,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = per_dimension(kernel_size, self.ndim)
        self.stride = per_dimension(stride, self.ndim)
        self.padding = padding if isinstance(padding, str) else per_dimension(padding, self.ndim)
        self.dilation = per_dimension(dilation, self.ndim)
        self.output_padding = per_dimension(output_padding, self.ndim)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check()
        self.weight = empty_parameter(*self._weight_shape(), device=device, dtype=dtype)
        biases = empty_parameter(out_channels, device=device, dtype=dtype) if bias else None
        self.register_parameter("bias", biases)
        self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError(f"groups must be a positive integer: {self.groups}")
        for name in ("in_channels", "out_channels"):
            if (channels := getattr(self, name)) % self.groups:
                raise ValueError(f"{name} must be divisible by groups: {channels} by {self.groups}")
        if isinstance(self.padding, str) and self.padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {self.padding!r}, should be one of 'same' and 'valid'")
        if self.padding == "same" and any(step != 1 for step in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in _PAD_MODES:
            raise ValueError(f"padding_mode must be one of {list(_PAD_MODES)}, but got {self.padding_mode!r}")
        if self.transposed and self.padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')

    def _weight_shape(self) -> tuple[int, ...]:
        outer, inner = self.out_channels, self.in_channels
        if self.transposed:
            outer, inner = inner, outer
        return (outer, inner // self.groups, *self.kernel_size)

    def reset_parameters(self) -> None:
        """Draw new first values, uniform between ±1/√(the number of inputs of one output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(inputs) if inputs > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (usual,) * len(value):
                text += f", {name}={value}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Slide the weights over ``input``."""
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._around(), mode=_PAD_MODES[self.padding_mode])
            padding = 0
        return self.function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def _around(self) -> list[int]:
        """The padding as ``pad`` takes it: before and after, from the last dimension to the first."""
        around: list[int] = []
        for dim in reversed(range(self.ndim)):
            if isinstance(self.padding, str):
                whole = self.dilation[dim] * (self.kernel_size[dim] - 1) if self.padding == "same" else 0
                around += [whole // 2, whole - whole // 2]
            else:
                around += [self.padding[dim]] * 2
        return around


class Conv1d(_Conv):
    """Slide weights over signals, (N, C, L) or (C, L); see :class:`Conv2d`."""

    ndim = 1
    function = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Slide small squares of weights over images: each output is the weighted sum of a window.

    Parameters
    ----------
    in_channels, out_channels : int
        Dimension 1 of what comes in, and of what goes out.
    kernel_size : int or (int, int)
        Height and width of the window.
    stride : int or (int, int)
        How far the window moves each time.
    padding : int, (int, int), "same" or "valid"
        How much is added around the image; "same" keeps its size.
    dilation : int or (int, int)
        How far apart the elements of a window are.
    groups : int
        The channels are split into so many groups that do not see each other.
    bias : bool
        Whether to add one.
    padding_mode : str
        ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape (out_channels, in_channels / groups, height, width).
    bias : Parameter or None
        Of shape (out_channels,).

    Raises
    ------
    ValueError
        If the channels cannot be split into groups, or the padding is unknown.
    RuntimeError
        If it is called with the wrong number of channels; says which layer of the model it is.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = Conv2d(1, 6, kernel_size=5, padding=2)
    >>> layer
    Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1), padding=(2, 2))
    >>> layer(torch.zeros(8, 1, 28, 28)).shape
    torch.Size([8, 6, 28, 28])
    """

    ndim = 2
    function = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Slide small cubes of weights over volumes, (N, C, D, H, W); see :class:`Conv2d`."""

    ndim = 3
    function = staticmethod(F.conv3d)


class _ConvTranspose(_ConvNd):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Size = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Spread ``input`` by the weights; ``output_size`` chooses between sizes that are possible."""
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        return self.function(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )

    def _extra(self, input: Tensor, output_size: Sequence[int]) -> list[int]:
        """How much larger than the smallest the output is to be in each dimension."""
        wanted = list(output_size)[-self.ndim :]
        padding = per_dimension(self.padding, self.ndim)
        smallest = [
            (size - 1) * step - 2 * pad + gap * (width - 1) + 1
            for size, step, pad, gap, width in zip(
                input.shape[-self.ndim :], self.stride, padding, self.dilation, self.kernel_size
            )
        ]
        largest = [size + step - 1 for size, step in zip(smallest, self.stride)]
        if any(not low <= size <= high for low, size, high in zip(smallest, wanted, largest)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {input.shape[2:]})"
            )
        return [size - low for size, low in zip(wanted, smallest)]


class ConvTranspose1d(_ConvTranspose):
    """Spread signals by weights; see :class:`ConvTranspose2d`."""

    ndim = 1
    function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """Spread each pixel over a window of a larger image: the gradient of a :class:`Conv2d` as a layer.

    Parameters
    ----------
    in_channels, out_channels : int
        Dimension 1 of what comes in, and of what goes out.
    kernel_size, stride, padding, dilation : int or (int, int)
        Of the convolution that goes the other way.
    output_padding : int or (int, int)
        Rows and columns added at one end, where several sizes are possible.
    groups : int
        The channels are split into so many groups that do not see each other.
    bias : bool
        Whether to add one.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape (in_channels, out_channels / groups, height, width).
    bias : Parameter or None
        Of shape (out_channels,).

    Examples
    --------
    >>> import autokit as torch
    >>> ConvTranspose2d(4, 2, 2, stride=2)(torch.zeros(1, 4, 5, 5)).shape
    torch.Size([1, 2, 10, 10])
    """

    ndim = 2
    function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """Spread volumes by weights; see :class:`ConvTranspose2d`."""

    ndim = 3
    function = staticmethod(F.conv_transpose3d)
