"""Overwriting a whole tensor: ``fill_``, ``zero_`` and ``copy_``, and ``fill_diagonal_``."""

from __future__ import annotations

from typing import Any

from autokit.base.errors import require_tensor
from autokit.engine.inplace import write
from autokit.engine.tensor import Tensor
from autokit.ops.index import as_element, setitem
from autokit.ops.names import Names
from autokit.ops.triangle import diagonal


def fill_(self: Tensor, value: Any) -> Tensor:
    """Set each element to ``value``, a number or a tensor without dimensions."""
    if not isinstance(value, Tensor):
        return write(self, ..., as_element(value, self))
    if value.array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.array.ndim} dimensions: copy_() copies many elements"
        )
    return write(self, ..., value)


def zero_(self: Tensor) -> Tensor:
    """Set each element to 0."""
    return write(self, ..., self.array.dtype.type(0))


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy the elements of ``src``, which may broadcast, have another dtype, or be on another device."""
    require_tensor("copy_", src, "other", 0)
    setitem(self, ..., src)
    return self


def fill_diagonal_(self: Tensor, fill_value: float) -> Tensor:
    """Set the diagonal of a matrix to a number."""
    fill_(diagonal(self), fill_value)
    return self


NAMES = Names(methods="copy_ fill_ fill_diagonal_ zero_")
