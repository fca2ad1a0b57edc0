"""Copies of a tensor by Python's own means: ``copy`` and ``pickle``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import address_of, copied, put_on
from autokit.memory import Storage
from autokit.ops.warn import warn
from autokit.tensor import Tensor

_OWN = {"_accumulator", "_accumulator_hooks", "_base", "_hooks", "_made"} | {
    "_post_accumulate_hooks",
    "_retains",
    "_version",
}
"""What a copy does not take over."""


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with memory of its own, and with a copy of the gradient; what shared memory still does."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
            "the moment: use .detach().clone() or .clone()"
        )
    from copy import deepcopy as copied_deeply

    same = object.__new__(type(self))
    memo[id(self)] = same
    same.array = _copy_of_memory(self.array, memo)
    same._node = same._storage = None
    if self._storage is not None and not self._storage.of_inference:
        same._storage = memo.setdefault(id(self._storage), Storage())
    same._requires_grad = self._requires_grad
    same._grad = copied_deeply(self._grad, memo)
    same.__dict__.update(copied_deeply(_notes(self), memo))
    return same


def _copy_of_memory(array: Any, memo: dict[int, Any]) -> Any:
    """``array`` in a copy of the whole memory that it is a view of, which is made once."""
    if array.__class__ is not np.ndarray:
        return copied(array)
    owner = array.base if isinstance(array.base, np.ndarray) else array
    if id(owner) not in memo:
        memo[id(owner)] = owner.copy(order="K")
    copy = memo[id(owner)]
    if owner is array:
        return copy
    if not array.size or copy.strides != owner.strides:  # if there are gaps in the memory, the copy has none
        return copied(array)
    memory = copy.ravel(order="K").view(np.uint8)  # as a view may have another dtype
    place = address_of(array) - address_of(owner)
    return np.ndarray(array.shape, array.dtype, memory, place, array.strides)


def _notes(tensor: Tensor) -> dict[str, Any]:
    """What the learner has noted at ``tensor``: its name, and attributes of their own."""
    return {name: value for name, value in tensor.__dict__.items() if name not in _OWN}


def reduce_ex(self: Tensor, protocol: Any) -> Any:
    """What pickle keeps: the elements, on the CPU, where they were, and notes; it will be a leaf."""
    hooks = (
        self.__dict__.get("_hooks") if self._node is None else self._node.hooks and self._node.hooks.result
    )
    for hook in (hooks or {}).values():
        warn(f"backward hook {getattr(hook, '__name__', 'hook')} on tensor will not be serialized")
    array = self.array if self.is_cpu else put_on("cpu", self.array)
    return _unpickled, (type(self), array, self._requires_grad, str(self.device)), _notes(self) or None


def _unpickled(kind: type[Tensor], array: Any, requires_grad: bool, where: str) -> Tensor:
    tensor = object.__new__(kind)
    tensor.array = array if where == "cpu" else put_on(where, array)
    tensor._node = tensor._grad = tensor._storage = None
    tensor._requires_grad = False
    tensor.requires_grad = requires_grad
    return tensor
