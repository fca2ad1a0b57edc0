"""Types that programs write in annotations, under PyTorch's names for them."""

from __future__ import annotations

from autokit.devices import device
from autokit.dtypes import dtype
from autokit.size import Size
from autokit.tensor import Tensor

Number = int | float | bool
Device = device | str | int | None

__all__ = ["Device", "Number", "Size", "Tensor", "device", "dtype"]
