"""A storage is the memory in which the elements of tensors lie; it is read from a file to a device here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.base import dtypes
from autokit.base.devices import (
    CPU,
    NoGPU,
    address_of,
    device,
    device_of,
    module_of,
    on_a_gpu,
    put_on,
    to_numpy,
)
from autokit.engine.record import storage_of
from autokit.engine.tensor import Tensor, new_tensor
from autokit.serialization.archive import Archive, damaged

if TYPE_CHECKING:
    from autokit.serialization import MapLocation

BFLOAT16 = "bfloat16"

STORAGE_TYPES = {name: kind.replace("Tensor", "Storage") for name, kind in dtypes.TENSOR_TYPES.items()}
"""PyTorch's name for a storage of each dtype, such as ``FloatStorage``."""


class UntypedStorage:
    """The memory of one or more tensors, as a callable ``map_location`` gets it."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.tensor: Tensor | None = None
        """The first tensor on it, with which the others share their version counter."""

    @property
    def device(self) -> device:
        """Where the memory is."""
        return device_of(self.array)

    def nbytes(self) -> int:
        """How many bytes it has."""
        return self.array.nbytes

    def cpu(self) -> UntypedStorage:
        """The same in the computer's memory."""
        return self if self.device == CPU else UntypedStorage(to_numpy(self.array))

    def cuda(self, device: Any = None) -> UntypedStorage:
        """A copy in the memory of the GPU."""
        return UntypedStorage(on_device(self.array, "cuda"))


def on_device(array: Any, where: Any) -> Any:
    """``array`` in the memory of the device ``where``."""
    try:
        return put_on(array, where)
    except NoGPU as error:
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If "
            "you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        ) from error


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
        array = owner = np.empty(array.shape, array.dtype)
    start = address_of(array) - address_of(owner)
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


# ---------------------------------------------------------------- from a file to a tensor


class Storages:
    """The storages of an archive, each read when it is first asked for and put on its device."""

    def __init__(self, archive: Archive, map_location: MapLocation) -> None:
        self.archive = archive
        self.map_location = map_location
        self.has_bfloat16 = False
        self.asking = False
        """Whether a ``map_location`` that can be called is running."""
        self._loaded: dict[str, tuple[str, int, UntypedStorage]] = {}

    def get(self, dtype: str, key: str, location: str, count: int) -> UntypedStorage:
        """The storage ``key`` of ``count`` elements, saved from the device ``location``."""
        if key not in self._loaded:
            storage = UntypedStorage(self._read(dtype, key, count))
            self._loaded[key] = dtype, count, self._placed(storage, location)
        found_dtype, found_count, storage = self._loaded[key]
        if (found_dtype, found_count) != (dtype, count):
            raise damaged(f"reading file data/{key}: it is said to be of two dtypes or sizes")
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

    def _read(self, dtype: str, key: str, count: int) -> np.ndarray:
        kind = np.dtype(np.uint16 if dtype == BFLOAT16 else dtype)
        contents = self.archive.read(f"data/{key}")
        if len(contents) != count * kind.itemsize:
            raise RuntimeError(
                f"record size ({len(contents)} bytes) does not match expected size "
                f"({count * kind.itemsize} bytes = {count} elements * {kind.itemsize} bytes) for {dtype}"
            )
        array = np.frombuffer(contents, kind)
        if self.archive.byteorder != sys.byteorder:
            array.byteswap(inplace=True)
        if dtype != BFLOAT16:
            return array
        self.has_bfloat16 = True
        return from_bfloat16(array)


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """The float32 numbers whose upper halves are ``bits``: bfloat16 is float32 with a shorter fraction."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _at(storage: UntypedStorage, location: Any) -> UntypedStorage:
    """``storage`` on the device that ``location`` names."""
    name, _, number = str(location).partition(":")
    if name == "cpu":
        return storage
    if name == "cuda" and (not number or number.isdigit()):
        return UntypedStorage(on_device(storage.array, str(location)))
    raise RuntimeError(
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{str(location)[:40]}): autokit has 'cpu' and 'cuda'; load with map_location=\"cpu\""
    )


def tensor_on(storage: UntypedStorage, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """A tensor in the memory of ``storage``; offset and strides count elements.

    Raises
    ------
    RuntimeError
        If it reaches beyond that memory.
    """
    array = storage.array
    reach = 0 if 0 in size else offset + 1 + sum((n - 1) * step for n, step in zip(size, stride))
    wrong = RuntimeError(
        f"setStorage: sizes {str(size)[:80]}, strides {str(stride)[:80]}, storage offset {offset} are out of "
        f"bounds for storage of {array.size} elements"
    )
    if len(size) != len(stride) or min((offset, *size, *stride)) < 0 or reach > array.size:
        raise wrong
    start = offset if reach else 0
    steps = tuple(step * array.itemsize for step in stride)
    try:
        if on_a_gpu(array):
            view = module_of(array).lib.stride_tricks.as_strided(array[start:], size, steps)
        else:
            view = np.ndarray(size, array.dtype, array, start * array.itemsize, steps)
    except (ValueError, OverflowError):  # too many dimensions, or numbers too large for NumPy
        raise wrong from None
    tensor = new_tensor(view)
    if storage.tensor is None:
        storage.tensor = tensor
    else:
        tensor._storage = storage_of(storage.tensor)
    return tensor
