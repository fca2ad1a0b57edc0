"""Tensors that belong to a module: parameters, which are trained, and buffers, which are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.dtypes import get_default_dtype
from autokit.base.missing import absent
from autokit.engine.record import storage_of
from autokit.engine.tensor import Tensor

__getattr__ = absent("torch.nn.parameter")


class Parameter(Tensor):
    """A tensor to be trained: the module to which it is assigned lists it in ``parameters()``.

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
        copy: Any = super().__deepcopy__(memo)  # type: ignore[misc]
        copy._grad = None  # a copied model begins without gradients
        return copy

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(Tensor):
    """A tensor that is part of a module's state but not trained, such as a running mean.

    ``persistent=False`` leaves it out of the module's ``state_dict``.
    """

    __slots__ = ("persistent",)

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        _share(self, data)
        self.persistent = persistent


def _share(tensor: Tensor, data: Any) -> None:
    """Make ``tensor`` a leaf that holds the memory of ``data``."""
    if data is None:
        array, storage = np.empty(0, get_default_dtype().numpy), None
    elif isinstance(data, Tensor):
        array, storage = data.array, storage_of(data)
    else:
        raise TypeError(
            f"{type(tensor).__name__} takes a tensor, not {type(data).__name__}: put torch.tensor(...) "
            "around it"
        )
    tensor.array, tensor._storage = array, storage
    tensor._node = tensor._grad = None
    tensor._requires_grad = False
