"""The old types of tensors: ``FloatTensor`` makes one, and tells whether a tensor holds float32 on the CPU.

They are no classes of tensors, which are all of one class, but stand for a
dtype and a device at once.  ``torch.tensor(data, dtype=...)`` says the same
today.  ``Variable`` stands for all tensors: once only those required grad.
"""

from __future__ import annotations

from typing import Any

from autokit import dtypes
from autokit.devices import device
from autokit.ops.shape import legacy_tensor
from autokit.ops.warn import warn
from autokit.tensor import Tensor


class tensortype(type):
    """The class of ``FloatTensor`` and its kin."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, Tensor) and instance.array.dtype == cls.dtype.numpy and not instance.is_cuda
        )

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        """A tensor of this dtype: of the elements of a sequence, or unfilled, of the sizes that are given."""
        if device is not None and _device(device).type != "cpu":
            raise RuntimeError(
                f"legacy constructor expects device type: cpu but device type: {_device(device).type} was "
                "passed; write torch.tensor(data, dtype=..., device=...)"
            )
        return legacy_tensor(data, cls.dtype)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


_device = device


def _made(name: str, kind: dtypes.dtype) -> tensortype:
    """The type of this ``name``, as ``"torch.FloatTensor"``."""
    module, _, own = name.partition(".")
    description = f"Tensors of {kind.name} on the CPU: makes one, and ``isinstance`` recognizes it."
    return tensortype(own, (), {"dtype": kind, "__module__": module, "__doc__": description})


TYPES = {
    made.__name__: made
    for made in (_made(name, kind) for name, kind in dtypes.BY_TENSOR_TYPE.items() if not kind.is_complex)
}
"""The types by their names; ``autokit`` exports them all."""


class _AnyTensor(type):
    """The class of ``Variable``."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)

    def __call__(cls, data: Tensor, requires_grad: bool = False, volatile: Any = ...) -> Tensor:
        """``data`` itself, as a tensor that may require grad; ``volatile`` warns, and does nothing."""
        if volatile is not ...:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        same = data.detach() if data._node is None else data
        if same._node is None:
            same.requires_grad = requires_grad
        return same


class Variable(metaclass=_AnyTensor):
    """PyTorch's older spelling of a tensor that may require grad; every tensor is an instance.

    >>> import autokit as torch
    >>> x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
    >>> x, isinstance(torch.ones(2), torch.autograd.Variable)
    (tensor([1., 1.], requires_grad=True), True)
    """
