"""Copies of a tensor by Python's own means: ``copy`` and ``pickle``."""

from __future__ import annotations

from copy import deepcopy as _deepcopy
from typing import Any

from autokit.devices import copied, put_on, to_numpy
from autokit.tensor import Tensor

_OWN = {"_accumulator", "_accumulator_hooks", "_base", "_one_of_several", "_unrecorded_view"}
"""What a copy does not take over."""


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with memory of its own, and with a copy of the gradient."""
    if self._node is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
            "the moment: use .detach().clone() or .clone()"
        )
    same = object.__new__(type(self))
    memo[id(self)] = same
    same.array = copied(self.array)
    same._node = same._storage = None
    same._requires_grad = self._requires_grad
    same._grad = _deepcopy(self._grad, memo)
    same.__dict__.update(_deepcopy({k: v for k, v in self.__dict__.items() if k not in _OWN}, memo))
    return same


def reduce_ex(self: Tensor, protocol: Any) -> Any:
    """What pickle keeps of a leaf: its elements, on the CPU, and where they were."""
    if self._node is not None:
        raise RuntimeError("a tensor inside a graph cannot be pickled: pickle its .detach()")
    array = self.array if self.is_cpu else to_numpy(self.array)
    return _unpickled, (type(self), array, self._requires_grad, self.name, str(self.device))


def _unpickled(kind: type[Tensor], array: Any, requires_grad: bool, name: str, where: str = "cpu") -> Tensor:
    tensor = object.__new__(kind)
    tensor.array = array if where == "cpu" else put_on(where, array)
    tensor._node = tensor._grad = tensor._storage = None
    tensor._requires_grad = requires_grad
    if name:
        tensor.name = name
    return tensor
