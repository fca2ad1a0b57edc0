"""Names of older programs: each says what a newer one says, and a few ask a small question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.dtypes import FLOATS
from autokit.formats import contiguous_format
from autokit.ops import inplace, join, own_shape, reduce, shape
from autokit.ops import pad as padding
from autokit.ops.convert import clone
from autokit.ops.dims import sizes_of
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.operands import fitting
from autokit.ops.overlaps import repeats
from autokit.ops.return_types import return_type
from autokit.ops.strides import as_strided
from autokit.ops.warn import warn
from autokit.tensor import Size, Tensor, new_tensor
from autokit.thread_state import thread


def ndimension(input: Tensor) -> int:
    """How many dimensions there are: :meth:`Tensor.dim`."""
    return input.array.ndim


def get_device(input: Tensor) -> int:
    """The number of the GPU that holds the tensor, or -1 on the CPU."""
    return -1 if input.device.index is None else input.device.index


def volatile(self: Tensor) -> bool:
    """No: what it said is said by ``with torch.no_grad():`` today."""
    warn("volatile was removed (Variable.volatile is always False)")
    return False


def set_volatile(self: Tensor, value: Any) -> None:
    """Nothing, but a warning."""
    warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")


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


def _assert(condition: Any, message: str) -> None:
    """Raise an AssertionError with ``message`` unless ``condition`` is true: models say so what they take."""
    assert condition, message


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """The same elements in another shape: today :meth:`Tensor.reshape`.

    Raises
    ------
    RuntimeError
        If the shape is for another number of elements.
    """
    warn("non-inplace resize is deprecated: use .reshape()")
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
    return own_shape.resize_(input, the_template.shape)


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
    if not target:
        return reduce.sum(self)
    repeated = [lead + place for place, (small, large) in enumerate(pairs) if small != large]
    if not lead and not repeated:
        return self
    total = reduce.sum(self, (*range(lead), *repeated), keepdim=True)  # at once, so that it is rounded once
    return total.view(target) if lead else total


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """:func:`narrow`, in memory of its own."""
    return clone(shape.narrow(input, dim, start, length), memory_format=contiguous_format)


def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the parts of these sizes along ``dim``: :func:`split`."""
    return join.split(input, list(split_sizes), dim)


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like ``input`` in which every element is ``value``."""
    return input.clone().fill_(value)


def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Set the elements whose indices are all equal; with ``wrap`` a tall matrix begins again below.

    Raises
    ------
    RuntimeError
        If the tensor has fewer than two dimensions, or more than two of different lengths.
    """
    sizes = self.array.shape
    if len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    inplace.refuse_change(self, fills=True)
    fill_value = fitting(fill_value, self.array.dtype)
    rows = range(sizes[0] if wrap and len(sizes) == 2 else min(sizes))
    chosen = [row for row in rows if row % (sizes[1] + 1) < sizes[1]] if wrap else list(rows)
    columns = [row % (sizes[1] + 1) for row in chosen] if wrap else chosen
    begins_again = wrap and len(sizes) == 2 and sizes[0] > sizes[1] + 1
    if repeats(self.array) and not begins_again:  # the diagonal may name each place once
        diagonal = as_strided(self, (len(chosen),), (sum(self.stride()),))
        inplace.setitem(diagonal, ..., fill_value, fills=True)
    elif chosen:
        inplace.setitem(self, (chosen, *[columns] * (len(sizes) - 1)), fill_value, fills=True)
    return self


@guards(results=(1,))
def frexp(input: Tensor) -> Any:
    """Each element as a mantissa from ½ to 1 and a power of 2: ``mantissa · 2 ** exponent``."""
    if input.array.dtype.kind not in FLOATS:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(input.array)
    if input.requires_grad or thread.state.forward:
        scale = new_tensor(np.ldexp(np.ones_like(input.array), -exponent))
        return FrexpResult(input * scale, new_tensor(exponent))
    return FrexpResult(new_tensor(mantissa), new_tensor(exponent))


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first ``size`` rows of :func:`nonzero`, filled up with ``fill_value``."""
    if input.is_meta:
        return input.new_full((size, input.array.ndim), fill_value, dtype=dtypes.BY_NAME["int64"])
    found = input.nonzero()[:size]
    rest = found.new_full((size - found.array.shape[0], found.array.shape[1]), fill_value)
    return join.cat([found, rest])


def constant_pad_nd(input: Tensor, pad: Any, value: float = 0) -> Tensor:
    """``input`` with ``value`` around it: ``torch.nn.functional.pad``."""
    return padding.pad(input, pad, "constant", value)


def is_inference(input: Tensor) -> bool:
    """Whether it was made in :class:`autokit.inference_mode`."""
    return input.is_inference()


def detach(input: Tensor) -> Tensor:
    """The same memory, outside of the graph: :meth:`Tensor.detach`."""
    return input.detach()


def detach_(input: Tensor) -> Tensor:
    """Take the tensor itself out of the graph: :meth:`Tensor.detach_`."""
    return input.detach_()


def zero_(input: Tensor) -> Tensor:
    """Set each element to 0: :meth:`Tensor.zero_`."""
    return inplace.zero_(input)


def fill_(input: Tensor, value: Any) -> Tensor:
    """Set each element to ``value``: :meth:`Tensor.fill_`."""
    return inplace.fill_(input, value)


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what ``callable`` makes of it, one after the other: slow, and not recorded."""
    return map_(self, self, lambda value, _: callable(value), "apply_")


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any], _name: str = "map_") -> Tensor:
    """Replace each element by ``callable(element, element of tensor)``, one after the other: slow."""
    if self.requires_grad:
        raise RuntimeError(
            f"Can't call {_name}() on Variable that requires grad. Use var.detach().{_name}() instead."
        )
    if tensor.dtype != self.dtype:
        raise TypeError(
            f"{_name}: expected a tensor of {self.dtype.name} for 'other' (got one of {tensor.dtype.name}): "
            f"convert it with .to({self.dtype!r})"
        )
    others = tensor.expand_as(self).reshape(-1).tolist()
    values = [callable(*pair) for pair in zip(self.reshape(-1).tolist(), others)]
    for value in values:
        if not isinstance(value, int | float | complex):
            raise TypeError(
                f"must be real number, not {type(value).__name__}: {_name}() sets each element to one"
            )
    if values:
        self.array[...] = self.new_tensor(values).array.reshape(self.array.shape)
        inplace.mark_changed(self)
    return self


FrexpResult = return_type("frexp", "mantissa", "exponent")

NAMES = Names(
    both="frexp get_device is_same_size narrow_copy nonzero_static split_with_sizes",
    functions="_assert constant_pad_nd detach detach_ fill fill_ is_inference resize_as_ typename zero_",
    methods="apply_ fill_diagonal_ map_ ndimension resize resize_as_ sum_to_size",
    properties="volatile",
)
