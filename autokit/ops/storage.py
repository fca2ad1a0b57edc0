"""The memory behind a tensor, as one row of numbers: ``x.storage()``.

A view has the storage of its base: a slice of a matrix and its transpose are
other sizes, strides and offsets over the same row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autokit.devices import address_of, device_of
from autokit.ops.names import Names
from autokit.ops.strides import owner_size, strided
from autokit.ops.strides import storage_offset as offset_of
from autokit.tensor import Tensor


class UntypedStorage:
    """The memory behind a tensor as bytes.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.arange(6).view(2, 3)
    >>> x.untyped_storage().nbytes(), x[1].untyped_storage().nbytes()
    (48, 48)
    >>> x[1].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    True
    """

    def __init__(self, tensor: Tensor) -> None:
        a, before = tensor.array, offset_of(tensor) * tensor.array.itemsize
        self._row = strided(a, (owner_size(a),), (a.itemsize,), -before)

    def _elements(self) -> Any:
        return self._row.view("uint8")

    @property
    def device(self) -> Any:
        return device_of(self._row)

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return address_of(self._row)

    def nbytes(self) -> int:
        """How many bytes there are."""
        return int(self._row.nbytes)

    def size(self) -> int:
        """How many elements there are: bytes, where none has a dtype."""
        return len(self._elements())

    def tolist(self) -> list[Any]:
        return list(self._elements().tolist())

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, place: int) -> Any:
        return self._elements()[self._checked(place)].item()

    def __setitem__(self, place: int, value: Any) -> None:
        self._elements()[self._checked(place)] = value

    def _checked(self, place: Any) -> int:
        if isinstance(place, slice):
            raise RuntimeError("slices are not supported: a storage is read element by element")
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} out of range for storage of size {len(self)}")
        return int(place)

    def _name(self) -> str:
        return f"torch.storage.{type(self).__name__}(device={self.device})"

    def __repr__(self) -> str:
        rows = "".join(f" {value}\n" for value in self)
        return f"{rows}[{self._name()} of size {len(self)}]"


class TypedStorage(UntypedStorage):
    """The memory behind a tensor as numbers of its dtype.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([[1, 2], [3, 4]])
    >>> x.t().storage().tolist()
    [1, 2, 3, 4]
    >>> x.storage()[0] = 9
    >>> x
    tensor([[9, 2],
            [3, 4]])
    """

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor)
        self.dtype = tensor.dtype

    def _elements(self) -> Any:
        return self._row

    def element_size(self) -> int:
        """How many bytes an element has."""
        return int(self._row.itemsize)

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        same: UntypedStorage = UntypedStorage.__new__(UntypedStorage)
        same._row = self._row
        return same

    def _name(self) -> str:
        return f"torch.storage.TypedStorage(dtype={self.dtype}, device={self.device})"


def storage(input: Tensor) -> TypedStorage:
    """The memory behind a tensor as one row of numbers, those beside a view too.

    A change of it shows in all tensors that share it; gradients do not hear of it.
    """
    return TypedStorage(input)


def untyped_storage(input: Tensor) -> UntypedStorage:
    """The memory behind a tensor as bytes."""
    return UntypedStorage(input)


def is_storage(obj: Any) -> bool:
    """Whether something is the memory behind a tensor."""
    return isinstance(obj, UntypedStorage)


NAMES = Names(methods="storage untyped_storage", functions="is_storage")
