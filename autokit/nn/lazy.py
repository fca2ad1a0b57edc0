"""Lazy layers find the number of their input features or channels in the first input.

Until then their parameters are :class:`UninitializedParameter`; the first call gives them a shape, draws
their values, and turns the lazy layer into an ordinary one.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from autokit.engine.tensor import Tensor
from autokit.nn import convolution, normalization
from autokit.nn.linear import Linear
from autokit.nn.module import Module
from autokit.nn.parameter import Buffer, Parameter
from autokit.ops.create import empty

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "UninitializedBuffer",
    "UninitializedParameter",
]


class _Uninitialized(Tensor):
    """A tensor that has no shape yet."""

    __slots__ = ()
    ordinary: ClassVar[type[Tensor]]

    def materialize(self, value: Tensor) -> None:
        """Become an ordinary tensor with the memory of ``value``; it stays the same object."""
        self.__class__ = self.ordinary  # type: ignore[assignment]
        self.data = value.data

    @property
    def shape(self) -> NoReturn:  # type: ignore[override]
        """Raise: there is no shape yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer: call the model once, as with a "
            "batch of zeros, and its lazy layers find their shapes"
        )

    def numel(self) -> NoReturn:
        """Raise: there is no shape yet."""
        raise ValueError(
            "Attempted to use an uninitialized parameter: call the model once, as with a batch of zeros, and "
            "its lazy layers find their shapes"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is found when the layer first runs."""

    __slots__ = ()
    ordinary = Parameter

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        Parameter.__init__(self, empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(_Uninitialized, Buffer):
    """A buffer whose shape is found when the layer first runs."""

    __slots__ = ()
    ordinary = Buffer

    def __init__(self, device: Any = None, dtype: Any = None) -> None:
        Buffer.__init__(self, empty(0, device=device, dtype=dtype))


class _Lazy(Module):
    """The lazy form of the class that stands behind it among the bases.

    The ordinary layer is first built for a width of 0, only to have its settings checked, and then again
    for the right one.

    Attributes
    ----------
    cls_to_become : type
        The ordinary layer.
    """

    cls_to_become: ClassVar[type[Module]]

    def __init_subclass__(cls) -> None:
        cls.cls_to_become = cls.__bases__[-1]

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(0, *args, **settings)  # type: ignore[call-arg]
        self._arguments = args, settings
        registers: Any = (self._parameters, self._buffers)
        for register, kind in zip(registers, (UninitializedParameter, UninitializedBuffer)):
            for name, value in register.items():
                if value is not None and value.dim():
                    register[name] = kind(device=value.device, dtype=value.dtype)

    def reset_parameters(self) -> None:
        """Do nothing: values are drawn when there are shapes."""

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return True

    def width_of(self, input: Tensor) -> int:
        """How many features or channels ``input`` has."""
        raise NotImplementedError

    def width_in(self, shapes: dict[str, tuple[int, ...]]) -> int:
        """For how many features or channels parameters of these ``shapes`` are."""
        raise NotImplementedError

    def initialize_parameters(self, width: int) -> None:
        """Become the ordinary layer for this width, with parameters newly drawn."""
        training, (args, settings) = self.training, self.__dict__.pop("_arguments")
        lazy = {**self._parameters, **self._buffers}
        for value in lazy.values():
            if isinstance(value, UninitializedParameter):
                settings |= {"device": value.device, "dtype": value.dtype}  # since it may have been moved
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        self.__init__(width, *args, **settings)  # type: ignore[misc]
        self.train(training)
        for register in (self._parameters, self._buffers):
            for name, value in register.items():
                if isinstance(lazy.get(name), _Uninitialized):
                    lazy[name].materialize(value)  # type: ignore[union-attr]
                    register[name] = lazy[name]  # type: ignore[assignment]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Find the width, become the ordinary layer, and run it."""
        self.initialize_parameters(self.width_of(*args, **kwargs))
        return self(*args, **kwargs)


class LazyLinear(_Lazy, Linear):
    """A :class:`Linear` layer that takes as many features as the first input has.

    >>> import autokit as torch
    >>> layer = LazyLinear(3)
    >>> layer
    LazyLinear(in_features=0, out_features=3, bias=True)
    >>> layer(torch.ones(4, 5)).shape, layer
    (torch.Size([4, 3]), Linear(in_features=5, out_features=3, bias=True))
    """

    def width_of(self, input: Tensor) -> int:
        """The input's last dimension."""
        return input.shape[-1]

    def width_in(self, shapes: dict[str, tuple[int, ...]]) -> int:
        """The weight's last dimension."""
        return shapes["weight"][-1]


class _LazyConv(_Lazy, convolution._ConvNd):
    def width_of(self, input: Tensor) -> int:
        """The input's channels."""
        if input.dim() not in (self.ndim + 1, self.ndim + 2):
            raise RuntimeError(
                f"Expected {self.ndim + 1}D (unbatched) or {self.ndim + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {list(input.shape)}"
            )
        return input.shape[-self.ndim - 1]

    def width_in(self, shapes: dict[str, tuple[int, ...]]) -> int:
        """The channels that the weight is for."""
        return shapes["weight"][0] if self.transposed else shapes["weight"][1] * self.groups


class LazyConv1d(_LazyConv, convolution.Conv1d):
    """A :class:`Conv1d` that takes as many channels as the first input has."""


class LazyConv2d(_LazyConv, convolution.Conv2d):
    """A :class:`Conv2d` that takes as many channels as the first input has."""


class LazyConv3d(_LazyConv, convolution.Conv3d):
    """A :class:`Conv3d` that takes as many channels as the first input has."""


class LazyConvTranspose1d(_LazyConv, convolution.ConvTranspose1d):
    """A :class:`ConvTranspose1d` that takes as many channels as the first input has."""


class LazyConvTranspose2d(_LazyConv, convolution.ConvTranspose2d):
    """A :class:`ConvTranspose2d` that takes as many channels as the first input has."""


class LazyConvTranspose3d(_LazyConv, convolution.ConvTranspose3d):
    """A :class:`ConvTranspose3d` that takes as many channels as the first input has."""


class _LazyNorm(_Lazy, normalization._OfChannels):
    def __init__(self, *args: Any, **settings: Any) -> None:
        for place, name in ((2, "affine"), (3, "track_running_stats")):
            if len(args) <= place:
                settings.setdefault(name, True)  # also where the ordinary layer has another default
        super().__init__(*args, **settings)

    def width_of(self, input: Tensor) -> int:
        """The input's channels."""
        self._check_dimensions(input)
        is_sample = isinstance(self, normalization._InstanceNorm) and input.dim() == self.dims[0]
        return input.shape[0 if is_sample else 1]

    def width_in(self, shapes: dict[str, tuple[int, ...]]) -> int:
        """The channels that scales or statistics are for."""
        return next(shape[0] for shape in shapes.values() if shape)


class LazyBatchNorm1d(_LazyNorm, normalization.BatchNorm1d):
    """A :class:`BatchNorm1d` of as many channels as the first input has."""


class LazyBatchNorm2d(_LazyNorm, normalization.BatchNorm2d):
    """A :class:`BatchNorm2d` of as many channels as the first input has."""


class LazyBatchNorm3d(_LazyNorm, normalization.BatchNorm3d):
    """A :class:`BatchNorm3d` of as many channels as the first input has."""


class LazyInstanceNorm1d(_LazyNorm, normalization.InstanceNorm1d):
    """An :class:`InstanceNorm1d` of as many channels as the first input has."""


class LazyInstanceNorm2d(_LazyNorm, normalization.InstanceNorm2d):
    """An :class:`InstanceNorm2d` of as many channels as the first input has."""


class LazyInstanceNorm3d(_LazyNorm, normalization.InstanceNorm3d):
    """An :class:`InstanceNorm3d` of as many channels as the first input has."""
