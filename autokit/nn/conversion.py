"""A model moved to another device, or converted to another dtype: all that it holds, in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from autokit import dtypes
from autokit.autograd.modes import no_grad
from autokit.ops.filled import empty_like
from autokit.tensor import Tensor

Self = TypeVar("Self", bound="Convertible")

_PYTHONS = (bool, int, float, complex)
"""Types of Python's that stand for a dtype."""


class Convertible:
    """The part of a :class:`Module` that moves and converts its parameters and buffers."""

    if TYPE_CHECKING:
        _buffers: dict[str, Tensor | None]

        def parameters(self, recurse: bool = True) -> Iterator[Any]: ...
        def modules(self) -> Iterator[Any]: ...

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Move and convert all parameters and buffers, in place: ``to(device)``, ``to(dtype)``, or both.

        A dtype changes floating point tensors only; ``memory_format=torch.channels_last`` lays tensors of
        four or five dimensions out anew.
        """
        device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
        memory_format = kwargs.pop("memory_format", None)
        kwargs.pop("non_blocking", None)
        if kwargs:
            raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
        for argument in args:
            if isinstance(argument, dtypes.dtype):
                dtype = argument
            elif isinstance(argument, Tensor):
                device, dtype = argument.device, argument.dtype
            elif argument in _PYTHONS:
                dtype = dtypes.as_dtype(argument)
            elif isinstance(argument, bool):  # non_blocking
                if dtype is None:
                    raise TypeError(
                        "to() received an invalid combination of arguments: True and False stand after a "
                        "dtype or a tensor, where they say non_blocking"
                    )
            elif argument is not None:
                device = argument
        if sum(isinstance(argument, bool) for argument in args) > 1:
            raise RuntimeError(".to() does not accept copy argument: a module is changed in place")
        if dtype is not None and not dtype.is_floating_point and not dtype.is_complex:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(tensor: Tensor) -> Tensor:
            keeps_dtype = dtype is None or not tensor.is_floating_point()
            wanted = tensor.dtype if keeps_dtype else dtype
            if memory_format is not None and tensor.dim() in (4, 5):
                return tensor.to(device=device, dtype=wanted, memory_format=memory_format)
            return tensor.to(device=device, dtype=wanted)

        return self._convert(convert)

    def _convert(self: Self, convert: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Put every parameter and buffer in another form, keeping the tensor objects that optimizers hold."""
        with no_grad():
            for parameter in self.parameters(recurse):
                parameter.data = convert(parameter.data)
                if parameter.grad is not None:
                    parameter.grad = convert(parameter.grad)
            for module in self.modules() if recurse else (self,):
                for name, buffer in module._buffers.items():
                    if buffer is None:
                        continue
                    if hasattr(buffer, "materialize"):  # a lazy layer's, which is to stay one
                        buffer.data = convert(buffer.data)
                    else:
                        module._buffers[name] = convert(buffer)
        return self

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Move all parameters and buffers to ``device`` without their values, which are to be set anew."""

        def empty(tensor: Tensor) -> Tensor:
            return empty_like(tensor, device=device)

        return self._convert(empty, recurse)

    def float(self: Self) -> Self:
        """All floating point parameters and buffers as float32."""
        return self.to(dtypes.BY_NAME["float32"])

    def double(self: Self) -> Self:
        """All floating point parameters and buffers as float64."""
        return self.to(dtypes.BY_NAME["float64"])

    def half(self: Self) -> Self:
        """All floating point parameters and buffers as float16."""
        return self.to(dtypes.BY_NAME["float16"])

    def bfloat16(self: Self) -> Self:
        """All floating point parameters and buffers as bfloat16."""
        return self.to(dtypes.BY_NAME["bfloat16"])

    def type(self: Self, dst_type: Any) -> Self:
        """All parameters and buffers in the dtype ``dst_type``."""
        return self._convert(lambda tensor: tensor.type(dst_type))

    def cpu(self: Self) -> Self:
        """All parameters and buffers in main memory."""
        return self.to("cpu")

    def cuda(self: Self, device: int | None = None) -> Self:
        """All parameters and buffers on a GPU."""
        return self.to("cuda" if device is None else f"cuda:{device}")
