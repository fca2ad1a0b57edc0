"""The shape of a tensor: :class:`Size`."""

from __future__ import annotations

from typing import Any


class Size(tuple):
    """The shape of a tensor: a tuple that prints as PyTorch's.

    >>> Size((2, 3)), Size((2, 3)).numel()
    (torch.Size([2, 3]), 6)
    """

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        return Size((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        count = 1
        for size in self:
            count *= size
        return count
