"""The stand-in's end of DLPack: real capsules, which say that their memory is a GPU's.

NumPy makes the capsule of the memory on the CPU; its device, the two integers
behind the pointer to the memory, is written over, and read and written back by
who takes it.  So PyTorch, NumPy and autokit see what they would see of CuPy.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tests.gpu.standin.hardware import current

CUDA = 2

asked: list[dict[str, Any]] = []
"""What was asked of producers: the settings of each ``__dlpack__``."""

_api = ctypes.pythonapi
_api.PyCapsule_GetName.restype, _api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def device_in(capsule: Any) -> Any:
    """The two integers in ``capsule``: the kind of device, and its number."""
    name = _api.PyCapsule_GetName(capsule)
    before = {b"dltensor": 0, b"dltensor_versioned": 32}[name]
    return (ctypes.c_int32 * 2).from_address(_api.PyCapsule_GetPointer(capsule, name) + before + 8)


def capsule_of(
    host: np.ndarray,
    place: int,
    stream: Any = None,
    max_version: Any = None,
    dl_device: Any = None,
    copy: Any = None,
) -> Any:
    """CuPy's ``__dlpack__``, of the memory ``host`` on the GPU ``place``."""
    asked.append({"stream": stream, "max_version": max_version, "copy": copy})
    if copy and dl_device is None:
        raise BufferError("copy=True only supported for copy to CPU.")
    if stream is not None and type(stream) is not int or stream == 0:
        raise ValueError(f"a stream is told by its number, which is not 0, and not by {stream!r}")
    if place != current():
        raise BufferError("the array is on another GPU than the current one")
    capsule = host.__dlpack__(max_version=max_version)
    device_in(capsule)[:] = CUDA, place
    return capsule


class _OnTheCPU:
    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **settings: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def memory_in(capsule: Any) -> tuple[np.ndarray, int]:
    """The memory that ``capsule`` hands over, and the GPU on which it is."""
    device = device_in(capsule)
    kind, place = device
    if kind != CUDA:
        raise BufferError("the memory is no GPU's")
    device[:] = 1, 0
    return np.from_dlpack(_OnTheCPU(capsule)), place


def from_dlpack(array: Any, *, device: Any = None, copy: Any = None) -> Any:
    """``cupy.from_dlpack``: the producer is told CuPy's stream, 1 for the one that is current at first."""
    from tests.gpu.standin.arrays import ndarray

    kind, place = array.__dlpack_device__()
    if kind != CUDA or place != current():
        raise BufferError(f"memory of ({kind}, {place}) while GPU {current()} computes")
    host, place = memory_in(array.__dlpack__(stream=1, max_version=(1, 0)))
    made = ndarray.__new__(ndarray)
    made.host, made.place, made.base = host, place, None
    return made
