"""The shape of a tensor: :class:`Size`."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index as whole
from typing import Any

_UNCHECKED = tuple.__new__


class Size(tuple):
    """The shape of a tensor: a tuple of whole numbers that prints as PyTorch's, and stays one in sums.

    Raises
    ------
    TypeError
        If a size is no whole number.

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
        if not all(type(size) is int for size in found):
            found = tuple(map(_whole, found, range(len(found))))
        return _UNCHECKED(cls, found)

    @staticmethod
    def of(shape: tuple[int, ...]) -> Size:
        """The size that an array's ``shape`` is: it holds whole numbers, which nobody need look at."""
        return _UNCHECKED(Size, shape)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size.of(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size((*self, *other))

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


def _whole(size: Any, place: int) -> int:
    """``size`` as a whole number: NumPy's, or that of a tensor of integers with one element."""
    try:
        return int(whole(size))
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(
            f"torch.Size() takes an iterable of 'int' (item {place} is '{type(size).__name__}')"
        ) from None
