"""Convolutions, which slide one small set of weights over all of a signal, an image or a volume."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from autokit.nn import functional, init
from autokit.nn.layer import per_dimension, unset
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.tensor import Tensor

Size = int | tuple[int, ...]
_PAD_MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


class _Windowed(Module):
    """What convolutions and their transposes share: sizes, parameters and text.

    Attributes
    ----------
    ndim : int
        How many dimensions of space.
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
        sizes: dict[str, Any],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer: {groups}")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups: {channels} by {groups}")
        self.in_channels = in_channels
        self.out_channels = out_channels
        for name, size in sizes.items():
            setattr(self, name, size if isinstance(size, str) else per_dimension(size, self.ndim))
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {self.padding!r}, should be one of 'same' and 'valid'"
                )
            if self.padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PAD_MODES:
            raise ValueError(
                f"padding_mode must be one of {list(_PAD_MODES)}, but got padding_mode='{padding_mode}'"
            )
        self.groups = groups
        self.padding_mode = padding_mode
        self.weight = unset(self._weight_shape(), device, dtype)
        self.register_parameter("bias", unset((out_channels,), device, dtype) if bias else None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        ends = (self.out_channels, self.in_channels // self.groups)
        if self.transposed:
            ends = (self.in_channels, self.out_channels // self.groups)
        return (*ends, *self.kernel_size)

    def reset_parameters(self) -> None:
        """Draw new first values, evenly between ±1/√(the number of inputs of one output)."""
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
            value = self.__dict__.get(name, (usual,))
            if value != (usual,) * len(value):
                text += f", {name}={value}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


_ConvNd = _Windowed
"""PyTorch's name for the base of all convolutions."""


class _Conv(_Windowed):
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
        sizes = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
        sizes["output_padding"] = 0
        super().__init__(in_channels, out_channels, sizes, groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Slide the weights over ``input``."""
        own, parameters = self.__dict__, self._parameters
        padding = own["padding"]
        if own["padding_mode"] != "zeros":
            input = functional.pad(input, self._around(), mode=_PAD_MODES[own["padding_mode"]])
            padding = 0
        return self.function(
            input,
            parameters["weight"],
            parameters["bias"],
            own["stride"],
            padding,
            own["dilation"],
            own["groups"],
        )

    def _around(self) -> list[int]:
        """The padding as ``pad`` takes it: before and after, from the last dimension to the first."""
        around: list[int] = []
        for place in reversed(range(self.ndim)):
            if isinstance(self.padding, str):
                whole = self.dilation[place] * (self.kernel_size[place] - 1) if self.padding == "same" else 0
                around += [whole // 2, whole - whole // 2]
            else:
                around += [self.padding[place]] * 2
        return around


class Conv1d(_Conv):
    """Slide weights over signals, (N, C, L) or (C, L); see :class:`Conv2d`."""

    ndim = 1
    function = staticmethod(functional.conv1d)


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
    function = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """Slide small cubes of weights over volumes, (N, C, D, H, W); see :class:`Conv2d`."""

    ndim = 3
    function = staticmethod(functional.conv3d)


class _ConvTranspose(_Windowed):
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
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        sizes = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
        sizes["output_padding"] = output_padding
        super().__init__(in_channels, out_channels, sizes, groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Spread ``input`` by the weights; ``output_size`` chooses between sizes that are possible."""
        output_padding = self.output_padding if output_size is None else self._extra(input, output_size)
        parameters = self._parameters
        return self.function(
            input,
            parameters["weight"],
            parameters["bias"],
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )

    def _extra(self, input: Tensor, output_size: Sequence[int]) -> list[int]:
        """How much larger than the smallest the output is to be in each dimension."""
        lead = 2 if input.dim() == self.ndim + 2 else 1
        wanted = (
            list(output_size)[-self.ndim :] if len(output_size) == lead + self.ndim else list(output_size)
        )
        if len(wanted) != self.ndim:
            raise ValueError(
                f"ConvTranspose{self.ndim}D: for {input.dim()}D input, output_size must have {self.ndim} or "
                f"{lead + self.ndim} elements (got {len(wanted)})"
            )
        smallest = [
            (size - 1) * step - 2 * pad + apart * (width - 1) + 1
            for size, step, pad, apart, width in zip(
                input.shape[lead:], self.stride, self.padding, self.dilation, self.kernel_size
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
    function = staticmethod(functional.conv_transpose1d)


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
    function = staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """Spread volumes by weights; see :class:`ConvTranspose2d`."""

    ndim = 3
    function = staticmethod(functional.conv_transpose3d)
