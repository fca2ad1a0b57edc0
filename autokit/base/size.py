"""The shape of a tensor: :class:`Size`, a tuple of whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

_UNCHECKED = tuple.__new__


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of whole numbers; its sums and slices are of this type too.

    Examples
    --------
    >>> shape = Size((2, 3))
    >>> shape, shape.numel(), (1, *shape) == (1,) + shape
    (torch.Size([2, 3]), 6, True)
    >>> (1,) + shape, shape[1:], shape * 2
    (torch.Size([1, 2, 3]), torch.Size([3]), torch.Size([2, 3, 2, 3]))
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        found = tuple(sizes)
        for place, size in enumerate(found):
            if not hasattr(size, "__index__"):
                kind = type(size).__name__
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{kind}')")
        return _UNCHECKED(cls, tuple([index(size) for size in found]))

    @staticmethod
    def of(shape: tuple[int, ...]) -> Size:
        """An array's ``shape`` as a size, without a check, as it is a tuple of ints already."""
        return _UNCHECKED(Size, shape)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size.of(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Size:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Size:
        return Size.of(super().__mul__(times))

    __rmul__ = __mul__

    def __getnewargs__(self) -> tuple[tuple[int, ...]]:
        return (tuple(self),)

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        count = 1
        for size in self:
            count *= size
        return count
