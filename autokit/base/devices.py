"""A device is where a tensor's elements are: the CPU, where NumPy computes, or a GPU, where CuPy does.

autokit computes on the CPU and on one GPU, which is called ``cuda`` or ``cuda:0``.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np


class device:
    """A place for tensors: ``device("cpu")`` or ``device("cuda", 0)``.

    Inside ``with device("cuda"):`` new tensors are created there.

    Examples
    --------
    >>> device("cpu"), device("cuda:0").index, device("cpu") == device("cpu")
    (device(type='cpu'), 0, True)
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: str | int | device, index: int | None = None) -> None:
        place = f"cuda:{type}" if isinstance(type, int) else str(type)
        name, colon, number = place.partition(":")
        if name not in ("cpu", "cuda") or (colon and not number.isdigit()):
            raise RuntimeError(
                f"Invalid device string: {place!r}. There are 'cpu', 'cuda' and 'cuda:0'"
                + (", but no tensors without elements" if name == "meta" else "")
            )
        if colon and index is not None:
            raise RuntimeError(f"type (string) must not include an index, as one was passed: {place!r}")
        self.type = name
        self.index = int(number) if colon else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, device) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __enter__(self) -> device:
        _default.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _default.pop()


CPU = device("cpu")
_GPU = device("cuda", 0)
_default = [CPU]


class OutOfMemoryError(RuntimeError):
    """The memory of a GPU does not suffice; the program can go on with less."""


class NoGPU(AssertionError, RuntimeError):
    """No GPU can be used.

    Programs catch either of the two types: PyTorch raises the one where it was built without CUDA, and the
    other where it finds no GPU.
    """


def set_default_device(device: device | str | int | None) -> None:
    """Create new tensors on ``device`` unless another one is given; None is the CPU."""
    _default[0] = _as_device(device)


def get_default_device() -> device:
    """The device of new tensors that are not given one."""
    return _default[-1]


def _as_device(place: device | str | int | None) -> device:
    return CPU if place is None else place if place.__class__ is device else device(place)


def device_of(array: Any) -> device:
    """The device that holds ``array``."""
    return _GPU if on_a_gpu(array) else CPU


def on_a_gpu(array: Any) -> bool:
    """Whether ``array`` is one of CuPy's."""
    return array.__class__ is not np.ndarray and array.__class__.__module__.partition(".")[0] == "cupy"


def module_of(array: Any) -> ModuleType:
    """The array module that computes with ``array`` or a tensor: ``numpy``, or ``cupy`` for one on a GPU.

    An array that records NumPy's calls names its module itself, as ``module``.
    """
    array = getattr(array, "array", array)
    if isinstance(array, np.ndarray | np.generic):
        return np
    return getattr(array, "module", None) or _cupy()


def module_for(where: device | str | int | None) -> ModuleType:
    """The array module of the device ``where``; it raises :class:`NoGPU` where CuPy or a GPU is missing."""
    where = _as_device(where)
    if where.type == "cpu":
        return np
    module = _cupy()
    if where.index:
        raise RuntimeError(
            f"CUDA error: invalid device ordinal: there is no {where}; autokit computes on one GPU, cuda:0"
        )
    return module


_found: list[ModuleType] = []


def _cupy() -> ModuleType:
    """CuPy, where it is installed and finds a GPU."""
    if _found:
        return _found[0]
    try:
        import cupy

        if not cupy.cuda.runtime.getDeviceCount():
            raise RuntimeError("no GPU")
    except Exception as error:
        raise NoGPU(
            "Torch not compiled with CUDA enabled: no CUDA GPU is available here. Computing on a GPU needs "
            'one, and CuPy: pip install ".[gpu]"; `autokit doctor` says what is missing.'
        ) from error
    _found.append(cupy)
    return cupy


def beside(array: Any, like: Any) -> Any:
    """``array``, one of NumPy's, on the device of the array ``like``."""
    return array if isinstance(like, np.ndarray | np.generic) else module_of(like).asarray(array)


def put_on(array: Any, where: device | str | int | None) -> Any:
    """``array`` on the device ``where``: itself where it is there already.

    Raises
    ------
    NoGPU
        If that device is a GPU and there is none.
    OutOfMemoryError
        If the GPU is full.
    """
    module = module_for(where)
    if module is np:
        return to_numpy(array)
    try:
        return module.asarray(array)
    except MemoryError as error:
        raise OutOfMemoryError(
            f"CUDA out of memory. {error}. del what is not needed any more, and send smaller batches"
        ) from None


def to_numpy(array: Any) -> Any:
    """``array`` on the CPU: itself where it is there already, else a copy."""
    if isinstance(array, np.ndarray):
        return array
    if on_a_gpu(array):
        return np.asarray(array.get())
    return array if hasattr(array, "module") else np.asarray(array)


class HostCopy(np.ndarray):
    """The numbers of an array on a GPU, ``original``, for which it stands while a graph is built."""

    original: Any = None


def on_host(array: Any) -> Any:
    """``array`` as one of NumPy's: itself, or a copy that knows the array on the GPU."""
    if not on_a_gpu(array):
        return array
    copy = to_numpy(array).view(HostCopy)
    copy.original = array
    return copy


def address_of(array: Any) -> int:
    """Where in memory the first element of ``array`` lies."""
    return array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr


def keep_freed_memory(size: int = 1 << 24) -> None:
    """Let the C library keep the memory of freed arrays of up to ``size`` bytes for the next arrays.

    It returns free memory at the end of the heap to the system once there is more than a threshold; the next
    training step then has to ask for each page again, which took a third of the time of the benchmark's row
    of LeNet. glibc sets the threshold to twice the largest block that was freed so far (mallopt(3),
    M_TRIM_THRESHOLD); so one block is allocated and freed here, without touching its pages.
    """
    np.empty(size, np.uint8)


keep_freed_memory()
