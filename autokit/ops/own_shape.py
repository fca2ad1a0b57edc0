"""A tensor that itself takes over another shape, other strides or other memory: ``x.t_()``, ``x.set_(y)``."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

import numpy as np

from autokit.autograd.modes import set_grad_enabled
from autokit.autograd.node import Hooks
from autokit.devices import address_of
from autokit.memory import clock
from autokit.meta_array import refuse_meta
from autokit.ops.dims import sizes_of, whole
from autokit.ops.direct import direct
from autokit.ops.errors import describe, kind_of
from autokit.ops.gpu.arrays import like
from autokit.ops.inplace import mark_changed, refuse_unrecorded
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.recording import storage_of
from autokit.ops.rules import Operation
from autokit.ops.shape import squeeze, t, transpose, unsqueeze
from autokit.ops.storage import UntypedStorage
from autokit.ops.strides import as_strided, owner_size, row_major, storage_offset, strided
from autokit.ops.views import Apart
from autokit.tensor import Size, Tensor, new_tensor
from autokit.thread_state import UNUSUAL, moves, thread


def _of_itself(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The form with a trailing underscore: the tensor takes over the shape of its own view."""

    def apply(input: Tensor, *arguments: Any, **settings: Any) -> Tensor:
        refuse_unrecorded(input)
        before, node = new_tensor(input.array), input._node
        # A view that cannot follow its base stays what it is: who records with it is refused.
        lost = node.__class__ is Apart and node._is_stale and not thread.state.grad_enabled  # type: ignore[union-attr]
        if not lost and not input.is_leaf:  # its place is for the old shape, also where nothing is recorded
            before._node, before._requires_grad = node, True
        with set_grad_enabled(not lost):
            result = function(before, *arguments, **settings)
        if UNUSUAL and thread.state.forward:
            from autokit.func.tangents import reshape

            reshape(input, lambda tangent: function(tangent, *arguments, **settings))
        input.array = result.array
        node = result._node
        if not lost:
            input._node = node
        Hooks.turned_leaves = True
        mark_changed(input)
        if node is not None:
            node.operation = _in_place_of(node.operation)
            node.storage, node.sequence = input._storage, next(clock)
        return input

    apply.__name__ = apply.__qualname__ = f"{function.__name__}_"
    apply.out_of_place = function  # type: ignore[attr-defined]
    apply.__doc__ = f"In-place form of :func:`{function.__name__}`: the tensor itself gets the new shape."
    return apply


@cache
def _in_place_of(operation: Operation) -> Operation:
    """The same operation under the name that PyTorch gives its node where a tensor changes in place."""
    same, further = copy(operation), 3 if operation.name == "squeeze" else 1

    def named(node: Any) -> str:
        name = operation.backward_name(node)
        return f"{name[:-1]}{int(name[-1]) + further}"

    same._backward = named
    return same


unsqueeze_, squeeze_ = _of_itself(unsqueeze), _of_itself(squeeze)
transpose_, t_ = _of_itself(transpose), _of_itself(t)
as_strided_ = _of_itself(as_strided)


# ---------------------------------------------------------------- another size


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give the tensor another size, over its own memory where that is large enough; new elements are 0.

    Raises
    ------
    RuntimeError
        If it requires grad.
    """
    if self._requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if thread.state.forward and moves(self):
        raise RuntimeError("cannot resize variables that has a forward grad")
    size = sizes_of(sizes, "resize_")
    if min(size, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    a = self.array
    if memory_format is None and size == a.shape:
        mark_changed(self)
        return self
    order = tuple(range(len(size))) if memory_format is None else memory_format.order(len(size))
    steps = dict(zip(order, row_major(tuple([size[dim] for dim in order]))))
    strides = tuple([steps[dim] * a.itemsize for dim in range(len(size))])
    count, room = Size(size).numel(), owner_size(a) - storage_offset(self)
    if count > room:
        grown = like(np.zeros_like, a, shape=count)
        grown[:room] = strided(a, (room,), (a.itemsize,))
        a = grown
    self.array = strided(a, size, strides)
    mark_changed(self)
    return self


# ---------------------------------------------------------------- other memory


def _refuse_gradient(g: Any) -> Any:
    raise RuntimeError("derivative for set_ is not implemented: detach() what is in the graph before set_()")


@operation(
    "=",
    "{a}, with other memory",
    a=derivative("not given", _refuse_gradient),
    name="set_",
    backward="NotImplemented",
)
def _with_other_memory(a, /):
    """What :func:`set_` leaves: no gradient goes back through it, in PyTorch either."""
    return a


def set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Let the tensor hold the memory of ``source``, a tensor or a storage; none at all without it.

    Parameters
    ----------
    source : Tensor or storage, optional
    storage_offset : int
        Where in that memory the first element lies; used together with ``size``.
    size, stride : sequence of int, optional
        How to read the memory; without ``size`` a tensor as it is, and a storage as one row.

    Raises
    ------
    RuntimeError
        If the dtypes differ, or the place reaches outside of the memory; in backward, where a gradient comes
        to what was in the graph.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.zeros(2)
    >>> x.set_(torch.arange(6.0).storage(), 1, (2, 2), (1, 2))
    tensor([[1., 3.],
            [2., 4.]])
    """
    if source is None:
        array = self.array.reshape(-1)[:0].copy()
    elif isinstance(source, Tensor):
        array = source.array
    elif isinstance(source, UntypedStorage):
        array = source._row
    else:
        array = None
    if array is None or isinstance(size, int) or storage_offset is None:
        wrong = f"{type(source).__name__}, size={type(size).__name__}"
        raise TypeError(
            f"set_() received an invalid combination of arguments - got ({wrong}), but expected a Tensor or "
            "a storage, and a tuple of ints"
        )
    if array.dtype != self.array.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {kind_of(array)} to a tensor of type {kind_of(self)}"
        )
    if size is not None:
        shape = sizes_of((size,), "set_")
        steps = row_major(shape) if stride is None else sizes_of((stride,), "set_", "stride")
        offset = whole(storage_offset, "storage_offset", "set_")
        if offset < 0:
            raise RuntimeError(f"Tensor: invalid storage offset {offset}")
        if not array.flags.c_contiguous:
            raise RuntimeError("passed in tensor to be used as storage must be contiguous")
        array = as_strided(new_tensor(array), shape, steps, offset).array
    refuse_unrecorded(self)
    learning = [each for each in (self, source) if isinstance(each, Tensor) and each._requires_grad]
    if self._node is not None and not thread.state.grad_enabled:
        raise RuntimeError(f"the derivative for set_ is not implemented: detach() {describe(self)} first")
    if thread.state.forward and (moves(self) or (isinstance(source, Tensor) and moves(source))):
        raise NotImplementedError(
            "Trying to use forward AD with set_ that does not support it: clone() first"
        )
    if learning and thread.state.grad_enabled:
        self._node = direct(_with_other_memory, (learning[0],), None, array)._node
        self._requires_grad = True
    self.__dict__.pop("_base", None)
    self.array, self._storage = array, storage_of(self).at_rest()
    Hooks.turned_leaves |= not array.flags.c_contiguous
    mark_changed(self)
    if learning and self._node is not None:
        self._node.storage, self._node.sequence = self._storage, next(clock)
    return self


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both tensors are the same elements of the same memory."""
    refuse_meta("is_set_to", self, tensor)
    a, b = self.array, tensor.array
    return address_of(a) == address_of(b) and (a.shape, a.strides) == (b.shape, b.strides)


NAMES = Names(
    methods="as_strided_ is_set_to resize_ set_ squeeze_ t_ transpose_ unsqueeze_",
    functions="as_strided_",
    aliases={"swapaxes_": "transpose_", "swapdims_": "transpose_"},
)
