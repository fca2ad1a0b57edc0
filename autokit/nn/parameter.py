"""Tensors that belong to a module: parameters, which are trained, and buffers, which are not."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from autokit import dtypes, missing
from autokit.ops.recording import storage_of
from autokit.tensor import Tensor


class Parameter(Tensor):
    """A tensor to be trained: a module that it is assigned to finds it again in ``parameters()``.

    Parameters
    ----------
    data : Tensor, optional
        Its first value, whose memory it shares; empty by default.
    requires_grad : bool
        False for a parameter that is to stay as it is.

    Examples
    --------
    >>> import autokit as torch
    >>> Parameter(torch.tensor([1.0, 2.0]))
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    """

    __slots__ = ()

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        _share(self, data)
        self.requires_grad = requires_grad

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        same = super().__deepcopy__(memo)
        same._grad = None  # a copied model begins anew, as in PyTorch
        return same  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(Tensor):
    """A tensor that is part of a module's state but not trained, such as a running mean.

    ``persistent=False`` leaves it out of the module's ``state_dict``.
    """

    __slots__ = ()

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        _share(self, data)
        self.persistent = persistent

    persistent: bool


def __getattr__(name: str) -> Any:
    if name in ("UninitializedBuffer", "UninitializedParameter", "is_lazy"):  # which need these here
        return getattr(import_module("autokit.nn.lazy"), name)
    raise missing.error("torch.nn.parameter", name)


def _share(tensor: Tensor, data: Any) -> None:
    """Make ``tensor`` a leaf that holds the memory of ``data``."""
    if data is not None and not isinstance(data, Tensor):
        raise AttributeError(
            f"'{type(data).__name__}' object has no attribute 'detach': {type(tensor).__name__} is made from "
            "a tensor; put torch.tensor(...) around it"
        )
    tensor._node = tensor._grad = None
    tensor._requires_grad = False
    if data is None:
        tensor.array, tensor._storage = np.empty(0, dtypes.get_default_dtype().numpy), None
    else:
        tensor.array, tensor._storage = data.array, storage_of(data)
