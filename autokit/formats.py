"""How a tensor's elements lie in memory, in PyTorch's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class _Word:
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return type(self), (self.name,)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.name == other.name  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.name)


class memory_format(_Word):
    """An order of dimensions in memory, such as ``channels_last``."""

    __slots__ = ()

    def order(self, ndim: int) -> Sequence[int]:
        """The dimensions, the slowest first.

        Raises
        ------
        RuntimeError
            If the format is one of tensors with another number of dimensions.
        """
        if not self.name.startswith("channels_last"):
            return range(ndim)
        rank = 5 if self.name == "channels_last_3d" else 4
        if ndim != rank:
            raise RuntimeError(
                f"required rank {rank} tensor to use {self.name} format: this one has {ndim} dimensions"
            )
        return (0, *range(2, rank), 1)


class layout(_Word):
    """How elements are addressed: ``strided``, by steps along dimensions, or ``sparse_coo``, by places."""

    __slots__ = ()


preserve_format = memory_format("preserve_format")
contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
strided = layout("strided")
sparse_coo = layout("sparse_coo")

NAMES = {
    each.name: each
    for each in (preserve_format, contiguous_format, channels_last, channels_last_3d, strided, sparse_coo)
}
"""The words by their names; ``autokit`` exports them all."""
