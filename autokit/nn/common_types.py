"""PyTorch's names of what a layer's sizes may be: one number, or one for each dimension."""

from __future__ import annotations

from typing import TypeAlias

_size_1_t: TypeAlias = int | tuple[int]
_size_2_t: TypeAlias = int | tuple[int, int]
_size_3_t: TypeAlias = int | tuple[int, int, int]
_size_any_t: TypeAlias = int | tuple[int, ...]
