"""Normalization layers bring groups of elements, such as a channel or a sample, to mean 0 and variance 1."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from autokit.base.dtypes import BY_NAME
from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init
from autokit.nn.layer import FunctionLayer, empty_parameter
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.ops.create import ones, zeros

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]


class _Scaled(Module):
    """A layer that may end in a learned scale, at first 1, and a learned shift, at first 0."""

    weight: Parameter | None
    bias: Parameter | None

    def _add_scale(self, shape: tuple[int, ...], scale: bool, shift: bool, device: Any, dtype: Any) -> None:
        for name, wanted in (("weight", scale), ("bias", scale and shift)):
            parameter = empty_parameter(*shape, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set scales to 1 and shifts to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _OfChannels(_Scaled):
    """What batch and instance normalization share: running statistics of each channel.

    Attributes
    ----------
    dims : tuple of int
        How many dimensions the input may have.
    """

    dims: ClassVar[tuple[int, ...]]
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._add_statistics(device, dtype)
        self._add_scale((num_features,), affine, bias, device, dtype)

    def _add_statistics(self, device: Any, dtype: Any) -> None:
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        mean = var = seen = None
        if self.track_running_stats:
            mean = zeros(self.num_features, **place)
            var = ones(self.num_features, **place)
            seen = zeros((), device=device, dtype=BY_NAME["int64"])
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", seen)

    def reset_running_stats(self) -> None:
        """Set the running statistics to mean 0 and variance 1."""
        if self.running_mean is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Set scales to 1 and shifts to 0, and reset the running statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_dimensions(self, input: Tensor) -> None:
        if input.dim() not in self.dims:
            words = " or ".join(f"{number}D" for number in self.dims)
            raise ValueError(f"expected {words} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_OfChannels):
    def forward(self, input: Tensor) -> Tensor:
        """Normalize ``input``: in training by its mean and variance, which also update the running ones."""
        self._check_dimensions(input)
        mean = self.running_mean
        var = self.running_var
        seen = self.num_batches_tracked
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and not self.track_running_stats:
            mean = var = None
        elif self.training and seen is not None:
            seen.add_(1)
            if self.momentum is None:  # the mean over all batches so far
                momentum = 1.0 / float(seen)
        by_batch = self.training or (mean is None and var is None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Normalize each feature of (N, C), or channel of (N, C, L), over the batch; see :class:`BatchNorm2d`."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalize each channel over all images of the batch, (N, C, H, W), then scale and shift it.

    Parameters
    ----------
    num_features : int
        The number of channels.
    eps : float
        Added to the variance.
    momentum : float, optional
        How much the running statistics take in of each batch; None for the mean over all batches.
    affine : bool
        Whether to learn a scale and a shift for each channel.
    track_running_stats : bool
        Whether to keep running statistics, which are used while not training.
    device, dtype : optional
        Of parameters and buffers.
    bias : bool
        False leaves out the shift.

    Attributes
    ----------
    weight, bias : Parameter or None
        Scale and shift, of shape (num_features,).
    running_mean, running_var, num_batches_tracked : Tensor or None
        Buffers; the variance is the unbiased one.

    Raises
    ------
    ValueError
        For input of other dimensions; in training also where a channel has a single value.
    RuntimeError
        If it is called with the wrong number of channels; says which layer of the model it is.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = BatchNorm2d(3)
    >>> layer(torch.rand(4, 3, 8, 8)).shape, layer.num_batches_tracked
    (torch.Size([4, 3, 8, 8]), tensor(1))

    References
    ----------
    S. Ioffe and C. Szegedy, "Batch Normalization", ICML 2015.
    """

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalize each channel over all volumes of the batch, (N, C, D, H, W); see :class:`BatchNorm2d`."""

    dims = (5,)


class _InstanceNorm(_OfChannels):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize each channel of each sample by itself."""
        self._check_dimensions(input)
        single = input.dim() == self.dims[0]
        channels = input.size(0 if single else 1)
        if channels != self.num_features:
            said = (
                f"expected an input of {self.num_features} channels, as num_features says, but got {channels}"
            )
            if self.affine:
                raise ValueError(said)
            warnings.warn(said, stacklevel=3)
        by_sample = self.training or not self.track_running_stats
        out = F.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            by_sample,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out.squeeze(0) if single else out


class InstanceNorm1d(_InstanceNorm):
    """Normalize each channel of each signal by itself, (N, C, L) or (C, L)."""

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalize each channel of each image by itself, (N, C, H, W) or (C, H, W).

    References
    ----------
    D. Ulyanov et al., "Instance Normalization", 2016.
    """

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalize each channel of each volume by itself, (N, C, D, H, W) or (C, D, H, W)."""

    dims = (4, 5)


class GroupNorm(_Scaled):
    """Normalize the channels of each sample in groups.

    Parameters
    ----------
    num_groups, num_channels : int
        The channels, dimension 1 of the input, are split evenly.
    eps : float
        Added to the variance.
    affine, bias : bool
        Whether to learn a scale, and a shift, for each channel.
    device, dtype : optional
        Of the parameters.

    References
    ----------
    Y. Wu and K. He, "Group Normalization", ECCV 2018.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._add_scale((num_channels,), affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize ``input``."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LayerNorm(_Scaled):
    """Normalize each sample over its last dimensions, then scale and shift each place.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The sizes of those dimensions.
    eps : float
        Added to the variance.
    elementwise_affine, bias : bool
        Whether to learn a scale, and a shift, for each place.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autokit as torch
    >>> LayerNorm(2, elementwise_affine=False)(torch.tensor([[1.0, 3.0], [0.0, 8.0]]))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])

    References
    ----------
    J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization", 2016.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._add_scale(self.normalized_shape, elementwise_affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize ``input``."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divide each sample by the root of its mean square over the last dimensions, then scale each place.

    References
    ----------
    B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019.
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        scale = empty_parameter(*shape, device=device, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", scale)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set scales to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize ``input``."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


def _as_shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class LocalResponseNorm(FunctionLayer):
    """Divide each element by a power of the mean square of its neighbours in ``size`` channels.

    References
    ----------
    A. Krizhevsky, I. Sutskever and G. E. Hinton, "ImageNet Classification with
    Deep Convolutional Neural Networks", NeurIPS 2012.
    """

    function = staticmethod(F.local_response_norm)
    text = "{size}, alpha={alpha}, beta={beta}, k={k}"
    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0
