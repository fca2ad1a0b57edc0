"""Layers that find out their input's width when they first see one.

Until then their parameters are :class:`UninitializedParameter`; the first call
gives them a shape, draws their values, and makes an ordinary layer of the lazy
one.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np

from autokit import dtypes
from autokit.autograd.modes import no_grad
from autokit.devices import computing_on, get_default_device, module_for, put_on
from autokit.nn import convolution, normalization
from autokit.nn.layer import require_whole
from autokit.nn.linear import Linear
from autokit.nn.module import Module
from autokit.nn.parameter import Buffer, Parameter
from autokit.ops.dims import sizes_of
from autokit.tensor import Tensor, new_tensor


class _Uninitialized(Tensor):
    """A tensor whose shape is not known yet."""

    __slots__ = ()
    cls_to_become: ClassVar[type[Tensor]]

    def materialize(self, shape: tuple[int, ...], device: Any = None, dtype: Any = None) -> None:
        """Give it a shape, and make it an ordinary tensor; its values are still to be drawn."""
        kind = self.array.dtype if dtype is None else dtypes.as_dtype(dtype).numpy
        where = self.device if device is None else device
        with computing_on(where):
            self.data = new_tensor(module_for(where).zeros(sizes_of((shape,), "empty"), kind))
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    @property
    def shape(self) -> NoReturn:  # type: ignore[override]
        """There is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": repr(self)}


_KNOWN = {
    *("bfloat16", "clone", "copy_", "cpu", "cuda", "detach", "detach_", "double", "float", "half", "to"),
    *("type", "dim", "is_complex", "is_contiguous", "is_floating_point", "is_inference", "register_hook"),
    *("register_post_accumulate_grad_hook", "requires_grad_", "retain_grad", "storage", "untyped_storage"),
}
"""The methods that a tensor without a shape has, too."""


def _refusal(name: str) -> Any:
    def refuse(self: Any, *args: Any, **settings: Any) -> NoReturn:
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {name}. This error happens when you are using a "
            "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. "
            "When using LazyModules Call `forward` with a dummy batch to initialize the parameters before "
            "calling torch functions"
        )

    return refuse


for _name in dir(Tensor):
    _is_operator = _name in ("__len__", "__getitem__", "__setitem__", "__iter__", "__float__", "__matmul__")
    _is_operator |= _name in ("__add__", "__sub__", "__mul__", "__truediv__", "__pow__", "__neg__")
    _is_method = not _name.startswith("_") and _name not in _KNOWN and callable(vars(Tensor).get(_name))
    if _is_method or _is_operator:
        setattr(_Uninitialized, _name, _refusal(_name))


def _nothing(device: Any, dtype: Any) -> Tensor:
    kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.get_default_dtype()
    where = get_default_device() if device is None else device
    with computing_on(where):
        return new_tensor(module_for(where).empty(0, kind.numpy))


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is found when the layer first runs."""

    __slots__ = ()
    cls_to_become = Parameter

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        Parameter.__init__(self, _nothing(device, dtype), requires_grad)


class UninitializedBuffer(_Uninitialized, Buffer):
    """A buffer whose shape is found when the layer first runs."""

    __slots__ = ()
    cls_to_become = Tensor

    def __init__(
        self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> None:
        Buffer.__init__(self, _nothing(device, dtype), persistent=persistent)


def is_lazy(param: Any) -> bool:
    """Whether a parameter or a buffer has no shape yet."""
    return isinstance(param, _Uninitialized)


class LazyModuleMixin(Module):
    """What makes a layer lazy.

    Attributes
    ----------
    cls_to_become : type
        The ordinary layer.
    """

    cls_to_become: ClassVar[type[Module]]

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        own = (*self._parameters.values(), *self._buffers.values())
        return any(isinstance(each, _Uninitialized) for each in own)

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters the shapes that ``input`` asks for, and draw their values."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def reset_parameters(self) -> None:
        """Draw new first values, as soon as there are shapes."""
        if not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Find the shapes, become the ordinary layer, and run it."""
        self._settle(*args, **kwargs)
        return self(*args, **kwargs)

    def _settle(self, *args: Any, **kwargs: Any) -> None:
        if self.has_uninitialized_params():
            with no_grad():
                self.initialize_parameters(*args, **kwargs)
        self.__dict__.pop("_building", None)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    def _fit(self, shapes: dict[str, tuple[int, ...]]) -> None:
        """Shapes for parameters and buffers that have none; used by ``load_state_dict`` too."""
        for register in (self._parameters, self._buffers):
            for name, value in register.items():
                if isinstance(value, _Uninitialized) and name in shapes:
                    value.materialize(shapes[name])


class LazyLinear(LazyModuleMixin, Linear):
    """A :class:`Linear` layer that takes as many features as the first input has.

    >>> import autokit as torch
    >>> layer = LazyLinear(3)
    >>> layer
    LazyLinear(in_features=0, out_features=3, bias=True)
    >>> layer(torch.ones(4, 5)).shape, layer
    (torch.Size([4, 3]), Linear(in_features=5, out_features=3, bias=True))
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the input's last dimension."""
        require_whole((self.out_features,))
        self.in_features = input.shape[-1]
        self._fit({"weight": (self.out_features, self.in_features), "bias": (self.out_features,)})
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new first values, as soon as there are shapes."""
        if self.in_features:
            super().reset_parameters()


class _LazyWindowed(LazyModuleMixin, convolution._Windowed):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        *args: Any,
        device: Any = None,
        dtype: Any = None,
        **settings: Any,
    ) -> None:
        require_whole((out_channels,))
        groups = settings.get("groups", 1)
        self.__dict__["_building"] = True
        super().__init__(groups, groups, kernel_size, *args, **settings)  # type: ignore[arg-type, call-arg]
        has_bias = self.bias is not None
        self.in_channels, self.out_channels = 0, out_channels
        if out_channels % groups:
            raise ValueError(f"out_channels must be divisible by groups: {out_channels} by {groups}")
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if has_bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)
        self._building = False

    def reset_parameters(self) -> None:
        """Draw new first values, as soon as there are shapes."""
        # The layer is first built with the fewest channels, only to have its settings checked.
        if "weight" in self._parameters and not self._building and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the input's channels."""
        if input.dim() not in (self.ndim + 1, self.ndim + 2):
            raise RuntimeError(
                f"Expected {self.ndim + 1}D (unbatched) or {self.ndim + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {list(input.shape)}"
            )
        self.in_channels = input.shape[-self.ndim - 1]
        if self.in_channels % self.groups:
            raise ValueError(f"in_channels must be divisible by groups: {self.in_channels} by {self.groups}")
        self._fit({"weight": self._weight_shape(), "bias": (self.out_channels,)})
        self.reset_parameters()


class LazyConv1d(_LazyWindowed, convolution.Conv1d):
    """A :class:`Conv1d` that takes as many channels as the first input has."""

    cls_to_become = convolution.Conv1d


class LazyConv2d(_LazyWindowed, convolution.Conv2d):
    """A :class:`Conv2d` that takes as many channels as the first input has."""

    cls_to_become = convolution.Conv2d


class LazyConv3d(_LazyWindowed, convolution.Conv3d):
    """A :class:`Conv3d` that takes as many channels as the first input has."""

    cls_to_become = convolution.Conv3d


class LazyConvTranspose1d(_LazyWindowed, convolution.ConvTranspose1d):
    """A :class:`ConvTranspose1d` that takes as many channels as the first input has."""

    cls_to_become = convolution.ConvTranspose1d


class LazyConvTranspose2d(_LazyWindowed, convolution.ConvTranspose2d):
    """A :class:`ConvTranspose2d` that takes as many channels as the first input has."""

    cls_to_become = convolution.ConvTranspose2d


class LazyConvTranspose3d(_LazyWindowed, convolution.ConvTranspose3d):
    """A :class:`ConvTranspose3d` that takes as many channels as the first input has."""

    cls_to_become = convolution.ConvTranspose3d


class _LazyNorm(LazyModuleMixin, normalization._OfChannels):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)  # type: ignore[arg-type]
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            where = get_default_device() if device is None else device
            self.num_batches_tracked = new_tensor(put_on(where, np.zeros((), np.int64)))

    def _channels_of(self, input: Tensor) -> int:
        return 1

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the input's channels."""
        self._check_dimensions(input)
        self.num_features = input.shape[self._channels_of(input)]
        shape = (self.num_features,)
        self._fit(dict.fromkeys(("weight", "bias", "running_mean", "running_var"), shape))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, normalization.BatchNorm1d):
    """A :class:`BatchNorm1d` of as many channels as the first input has."""

    cls_to_become = normalization.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, normalization.BatchNorm2d):
    """A :class:`BatchNorm2d` of as many channels as the first input has."""

    cls_to_become = normalization.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, normalization.BatchNorm3d):
    """A :class:`BatchNorm3d` of as many channels as the first input has."""

    cls_to_become = normalization.BatchNorm3d


class _LazyInstanceNorm(_LazyNorm):
    def _channels_of(self, input: Tensor) -> int:
        return input.dim() - self.dims[0] if len(self.dims) > 1 else 1  # there may be no batch


class LazyInstanceNorm1d(_LazyInstanceNorm, normalization.InstanceNorm1d):
    """An :class:`InstanceNorm1d` of as many channels as the first input has."""

    cls_to_become = normalization.InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, normalization.InstanceNorm2d):
    """An :class:`InstanceNorm2d` of as many channels as the first input has."""

    cls_to_become = normalization.InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, normalization.InstanceNorm3d):
    """An :class:`InstanceNorm3d` of as many channels as the first input has."""

    cls_to_become = normalization.InstanceNorm3d
