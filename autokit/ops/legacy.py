"""Names of older programs: each says what a newer one says, and a few ask a small question."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from autokit.ops import inplace, join, reduce, shape, strides
from autokit.ops.dims import sizes_of
from autokit.ops.names import Names
from autokit.tensor import Size, Tensor


def ndimension(input: Tensor) -> int:
    """How many dimensions there are: :meth:`Tensor.dim`."""
    return input.array.ndim


def get_device(input: Tensor) -> int:
    """The number of the GPU that holds the tensor, or -1 on the CPU."""
    return -1 if input.device.index is None else input.device.index


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both tensors have the same shape."""
    return input.array.shape == other.array.shape


def typename(obj: Any) -> str:
    """What kind of thing ``obj`` is: ``'torch.FloatTensor'``, or the name of its class with its module."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return module + kind.__qualname__


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """The same elements in another shape: today :meth:`Tensor.reshape`.

    Raises
    ------
    RuntimeError
        If the shape is for another number of elements.
    """
    warnings.warn("non-inplace resize is deprecated: use .reshape()", UserWarning, stacklevel=2)
    size = sizes_of(sizes, "resize", "sizes")
    count = Size(size).numel()
    if count != self.numel():
        wanted, given = ("x".join(map(str, each)) for each in (size, self.shape))
        raise RuntimeError(
            f"requested resize to {wanted} ({count} elements in total), but the given tensor has a size of "
            f"{given} ({self.numel()} elements). autograd's resize can only change the shape of a "
            "given tensor, while preserving the number of elements."
        )
    return shape.reshape(self, size)


def resize_as_(input: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    """Give the tensor the size of ``the_template``, over its own memory where that is large enough."""
    return strides.resize_(input, the_template.shape)


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Sum over what broadcasting from the shape ``size`` to the tensor's would repeat.

    It is what the gradient of a broadcast operand goes through.

    Raises
    ------
    RuntimeError
        If the shape does not broadcast to the tensor's.
    """
    target = sizes_of(size, "sum_to_size")
    lead = self.array.ndim - len(target)
    pairs = list(zip(target, self.array.shape[max(lead, 0) :]))
    if lead < 0 or any(small not in (1, large) for small, large in pairs):
        raise RuntimeError(f"size {{{list(target)}}} is not expandable to size {{{list(self.shape)}}}.")
    kept = [lead + place for place, (small, large) in enumerate(pairs) if small != large]
    result = self if not kept else reduce.sum(self, tuple(kept), keepdim=True)
    return reduce.sum(result, tuple(range(lead))) if lead else result


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """:func:`narrow`, in memory of its own."""
    return shape.narrow(input, dim, start, length).clone()


def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the parts of these sizes along ``dim``: :func:`split`."""
    return join.split(input, list(split_sizes), dim)


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what ``callable`` makes of it, one after the other: slow, and not recorded."""
    return map_(self, self, lambda value, _: callable(value), "apply_")


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any], _name: str = "map_") -> Tensor:
    """Replace each element by ``callable(element, element of tensor)``, one after the other: slow."""
    if self.requires_grad:
        raise RuntimeError(
            f"Can't call {_name}() on Variable that requires grad. Use var.detach().{_name}() instead."
        )
    others = tensor.expand_as(self).reshape(-1).tolist()
    values = [callable(*pair) for pair in zip(self.reshape(-1).tolist(), others)]
    if values:
        self.array[...] = self.new_tensor(values).array.reshape(self.array.shape)
        inplace.mark_changed(self)
    return self


NAMES = Names(
    both="get_device is_same_size narrow_copy split_with_sizes",
    functions="typename",
    methods="apply_ map_ ndimension resize resize_as_ sum_to_size",
)
