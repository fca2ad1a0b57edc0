"""Storages: the memory that tensors lie in, between a file and a device."""

from __future__ import annotations

import mmap
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit import dtypes
from autokit.current_gpu import OnGPU
from autokit.devices import CPU, device, device_of, module_for, to_numpy
from autokit.ops.recording import storage_of
from autokit.ops.strides import row_major, strided
from autokit.serialization.archive import Archive, damaged
from autokit.tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from autokit.serialization import MapLocation

STORAGE_TYPES = {
    kind: f"{name.removeprefix('torch.').removesuffix('Tensor')}Storage"
    for kind, name in dtypes.TENSOR_TYPES.items()
}
"""PyTorch's name for a storage of each dtype, such as ``FloatStorage``."""


class UntypedStorage:
    """The memory of one or more tensors, as a callable ``map_location`` gets it."""

    __slots__ = ("array", "tensor")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.tensor: Tensor | None = None
        """The first tensor made on it, with which the others share their version."""

    @property
    def device(self) -> device:
        """Where the memory is."""
        return device_of(self.array)

    def nbytes(self) -> int:
        """How many bytes it has."""
        return self.array.nbytes

    __len__ = size = nbytes

    def cpu(self) -> UntypedStorage:
        """The same in the computer's memory."""
        return UntypedStorage(to_numpy(self.array)) if self.device != CPU else self

    def cuda(self, device: Any = None) -> UntypedStorage:
        """A copy in the memory of a GPU.

        Raises
        ------
        RuntimeError
            If there is none.
        """
        return UntypedStorage(on_device(self.array, _cuda(device)))

    def __repr__(self) -> str:
        return f"UntypedStorage({self.nbytes()} bytes, device={str(self.device)!r})"


def _cuda(number: Any) -> device:
    return device("cuda", getattr(number, "index", number) or 0)


def on_device(array: Any, where: device) -> Any:
    """``array`` in the memory of the device ``where``."""
    if where.type == "cpu":
        return to_numpy(array)
    try:
        module = module_for(where)
    except RuntimeError as error:
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If "
            "you "
            "are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to "
            "map your storages to the CPU."
        ) from error
    with OnGPU(where.index or 0):
        return module.asarray(array)


# ---------------------------------------------------------------- from a tensor to a file


def memory_of(tensor: Tensor) -> tuple[Any, int, tuple[int, ...]]:
    """The array that owns the memory of ``tensor``, where in it the first element is, and the strides.

    The place and the strides count elements.  What PyTorch could not address,
    such as steps backwards, is laid out anew.
    """
    array = owner = tensor.array
    step = array.itemsize
    while isinstance(owner.base, type(array)):
        owner = owner.base
    if not array.size:
        return array.reshape(-1), 0, row_major(array.shape)
    start = _address(array) - _address(owner)
    addressable = start % step == 0 and all(s >= 0 and s % step == 0 for s in array.strides)
    dense = owner.flags.c_contiguous or owner.flags.f_contiguous
    if not (addressable and dense and start >= 0 and owner.nbytes % step == 0):
        owner = array = array.copy()
        start = 0
    return owner, start // step, tuple(s // step for s in array.strides)


def as_bytes(owner: Any) -> np.ndarray:
    """The memory of ``owner`` in the order in which it lies there."""
    flat = owner.reshape(-1) if owner.flags.c_contiguous else owner.T.reshape(-1)
    return to_numpy(flat).view(np.uint8)


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0] if isinstance(array, np.ndarray) else array.data.ptr


# ---------------------------------------------------------------- from a file to a tensor


class Storages:
    """The storages of an archive, each read when it is first asked for and put on its device."""

    def __init__(self, archive: Archive, map_location: MapLocation, mapped: bool) -> None:
        self.archive = archive
        self.map_location = map_location
        self.asking = False
        """Whether a ``map_location`` that can be called is running."""
        self._loaded: dict[str, tuple[dtypes.dtype, int, UntypedStorage]] = {}
        self._map = mmap.mmap(archive.file.fileno(), 0, access=mmap.ACCESS_COPY) if mapped else None

    def get(self, kind: dtypes.dtype, key: str, location: str, count: int) -> UntypedStorage:
        """The storage ``key`` of ``count`` elements, saved from the device ``location``."""
        if key in self._loaded:
            known_kind, known_count, storage = self._loaded[key]
            if known_kind != kind or known_count != count:
                raise damaged(f"reading file data/{key}: it is said to be of two dtypes or sizes")
            return storage
        storage = self._placed(UntypedStorage(self._read(kind, key, count)), location)
        self._loaded[key] = kind, count, storage
        return storage

    def _placed(self, storage: UntypedStorage, location: str) -> UntypedStorage:
        """``storage`` on the device that it was saved from, or that ``map_location`` wants."""
        wanted = self.map_location
        if isinstance(wanted, dict):
            return _at(storage, wanted.get(location, location))
        if wanted is None or isinstance(wanted, str | device):
            return _at(storage, wanted or location)
        self.asking = True
        found = wanted(storage, location)
        if found is not None and not isinstance(found, UntypedStorage):
            raise TypeError(
                "map_location must return the storage that it was given, its .cpu() or .cuda(), or None; "
                f"not {type(found).__name__}"
            )
        self.asking = False
        return found if found is not None else _at(storage, location)

    def _read(self, kind: dtypes.dtype, key: str, count: int) -> np.ndarray:
        record = f"data/{key}"
        start, size = self.archive.place(record)
        if size != count * kind.itemsize:
            raise RuntimeError(
                f"record size ({size} bytes) does not match expected size ({count * kind.itemsize} bytes = "
                f"{count} elements * {kind.itemsize} bytes/element) for dtype {kind.name}"
            )
        swapped = self.archive.byteorder != sys.byteorder and kind.itemsize > 1
        if self._map is not None and count and not swapped and start % kind.itemsize == 0:
            return np.frombuffer(self._map, np.uint8, size, start).view(kind.numpy)
        array = np.empty(count, kind.numpy)
        self.archive.read_into(record, array.view(np.uint8))
        if swapped:  # complex numbers by their parts, and bfloat16 as any two bytes
            width = kind.itemsize // (2 if kind.is_complex else 1)
            array.view(f"u{width}").byteswap(inplace=True)
        return array


def _at(storage: UntypedStorage, location: Any) -> UntypedStorage:
    """``storage`` on the device that ``location`` names."""
    name, _, number = str(location).partition(":")
    if name == "cpu":
        return storage
    if name == "cuda" and (not number or number.isdigit()):
        return storage.cuda(int(number or 0))
    raise RuntimeError(
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{str(location)[:40]}): autokit knows 'cpu' and 'cuda'; load with map_location=\"cpu\""
    )


def tensor_on(
    storage: UntypedStorage, kind: dtypes.dtype, offset: int, size: tuple[int, ...], stride: tuple[int, ...]
) -> Tensor:
    """A tensor in the memory of ``storage``; offset and strides count elements.

    Raises
    ------
    RuntimeError
        If it reaches beyond that memory.
    """
    array = storage.array if storage.array.dtype == kind.numpy else storage.array.view(kind.numpy)
    if len(size) != len(stride):
        raise RuntimeError(f"mismatch in length of strides and shape: {len(stride)} and {len(size)}")
    if offset < 0 or min(size, default=0) < 0 or min(stride, default=0) < 0:
        raise RuntimeError(
            "Trying to create tensor with negative dimension, stride or storage offset: "
            f"sizes {_short(size)}, strides {_short(stride)}, offset {offset}"
        )
    reach = 0 if 0 in size else offset + 1 + sum((n - 1) * step for n, step in zip(size, stride))
    if reach > array.size:
        raise RuntimeError(
            f"setStorage: sizes {_short(size)}, strides {_short(stride)}, storage offset {offset}, and "
            "itemsize "
            f"{kind.itemsize} requiring a storage size of {reach * kind.itemsize} are out of bounds for "
            "storage "
            f"of size {array.nbytes}"
        )
    try:
        made = strided(
            array,
            size,
            tuple(step * kind.itemsize for step in stride),
            offset * kind.itemsize if reach else 0,
        )
    except (ValueError, OverflowError) as error:
        raise RuntimeError(
            f"No tensor can be of sizes {_short(size)} and strides {_short(stride)}"
        ) from error
    tensor = new_tensor(made)
    if storage.tensor is None:
        storage.tensor = tensor
    else:
        tensor._storage = storage_of(storage.tensor)
    return tensor


def _short(numbers: tuple[int, ...]) -> str:
    """As PyTorch prints sizes; what a damaged file may hold is cut off."""
    return f"[{', '.join(map(str, numbers[:8]))}{', …' if len(numbers) > 8 else ''}]"[:200]
