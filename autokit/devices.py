"""Where a tensor's elements live, and which array module computes there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import numpy as np

from autokit.batches.batch import Batch
from autokit.current_gpu import OnGPU, computing_beside, count_gpus, on_the_chosen_gpu
from autokit.late_errors import LATE, raise_late
from autokit.meta_array import MAKES_META, NO_DATA, MetaArray, is_meta
from autokit.sparse_array import Sparse


class device:
    """A place for tensors: ``device("cpu")`` or ``device("cuda", 0)``.

    Raises
    ------
    RuntimeError
        If the type is unknown.

    Examples
    --------
    >>> device("cpu"), device("cuda:1").index, device("cpu") == device("cpu")
    (device(type='cpu'), 1, True)
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: str | int | device, index: int | None = None) -> None:
        if not isinstance(type, str | int | device) or isinstance(type, bool):
            raise TypeError(
                f"device() received an invalid combination of arguments - got ({type.__class__.__name__}), "
                "but expected one of: (torch.device device) or (str type, int index)"
            )
        if index is not None and (isinstance(index, bool) or not hasattr(index, "__index__")):
            raise TypeError(
                f"device(): argument 'index' (position 2) must be int, not {index.__class__.__name__}"
            )
        if (index or 0) < 0 or type.__class__ is int and type < 0:
            raise RuntimeError("Device index must not be negative: there are 0, 1, …")
        if type.__class__ is int:
            type = f"cuda:{type}"
        name, colon, number = str(type).partition(":")
        if name not in ("cpu", "cuda", "meta") or (colon and not number.isdigit()):
            raise RuntimeError(
                f"Invalid device string: '{type}'. There are 'cpu', 'cuda' and 'cuda:0', 'cuda:1', …, and "
                "'meta' for shapes without elements"
            )
        if colon and index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed explicitly: {type}"
            )
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
        """``with torch.device("cuda"):`` makes new tensors there."""
        _before.append(_default.pop())
        _default.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _default[:] = [_before.pop()]


CPU = device("cpu")
_default = [CPU]
_before: list[device] = []


class OutOfMemoryError(RuntimeError):
    """The memory of a GPU does not suffice; the program can go on with less."""


class NoGPU(AssertionError, RuntimeError):
    """No GPU can be used.

    PyTorch raises the one where it was built without CUDA, and the other where it finds no GPU.
    """


def set_default_device(device: Any) -> None:
    """Make new tensors on ``device`` where they are not given another; None is the CPU."""
    _default[:] = [CPU if device is None else _device(device)]


def get_default_device() -> device:
    """Where new tensors are made that are not given a device."""
    return _default[0]


_device = device


def device_of(array: Any) -> device:
    """The device that holds ``array``."""
    if array.__class__ is Batch:
        array = array.memory
    if isinstance(array, np.ndarray | np.generic):
        return CPU
    if isinstance(array, Sparse):
        return device_of(array.values)
    return device("meta") if array.__class__ is MetaArray else device("cuda", array.device.id)


def on_a_gpu(value: Any) -> bool:
    """Whether ``value`` is an array on a GPU: of CuPy, or of another library."""
    # To ask CuPy's arrays for the interface takes longer than to add two of them.
    return value.__class__.__module__ == "cupy" or hasattr(value, "__cuda_array_interface__")


def module_of(array: Any) -> ModuleType:
    """The array module that computes with ``array`` or a tensor: ``numpy``, or ``cupy`` for one on a GPU."""
    array = getattr(array, "array", array)
    if array.__class__ is Batch:
        array = array.memory
    if isinstance(array, Sparse):
        array = array.values
    if isinstance(array, np.ndarray | np.generic):
        return np
    if array.__class__ is MetaArray:
        return MAKES_META
    import cupy

    return count_gpus(cupy)


def beside(array: Any, values: Any) -> Any:
    """``values``, an array on the CPU, on the device of ``array``."""
    if values.__class__ is Batch:
        return Batch(beside(array, values.full), values.level)
    if is_meta(array):
        return MetaArray(values.shape, values.dtype)
    with computing_beside(array):
        return module_of(array).asarray(values)


def put_on(where: device | str | int, array: Any) -> Any:
    """``array`` on the device ``where``: itself where it is there already.

    Raises
    ------
    NoGPU
        If that device is a GPU and there is none.
    OutOfMemoryError
        If the GPU is full.
    """
    where = device(where)
    if where.type == "meta":
        return MetaArray(array.shape, array.dtype)
    if isinstance(array, Sparse):
        return array.with_parts(lambda part: put_on(where, part))
    if where.type == "cpu":
        return to_numpy(array)
    with computing_on(where):
        module = module_for(where)
        if on_a_gpu(array) and array.device.id != module.cuda.runtime.getDevice():
            array = contiguous(array)  # CuPy copies no other between GPUs
        try:
            return module.asarray(array)
        except MemoryError as error:
            raise OutOfMemoryError(
                f"CUDA out of memory. {error}. del what is not needed any more, and send smaller batches"
            ) from None


def current_number() -> int:
    """The number of the GPU on which ``device="cuda"`` makes tensors."""
    return int(module_for("cuda").cuda.Device().id)


def computing_on(where: device | str | int | None) -> Any:
    """A context in which new arrays of :func:`module_for` are made on the very GPU that ``where`` names.

    Raises
    ------
    RuntimeError
        If there is no GPU of that number.
    """
    where = device("cpu" if where is None else where)
    if where.type != "cuda":
        return nullcontext()
    if where.index is None:
        return on_the_chosen_gpu()
    cuda = module_for(where).cuda
    if where.index >= cuda.runtime.getDeviceCount():
        raise RuntimeError(
            f"CUDA error: invalid device ordinal: there is no {where}, as this machine has "
            f"{cuda.runtime.getDeviceCount()} GPU(s), counted from cuda:0"
        )
    return OnGPU(where.index)


def address_of(array: Any) -> int:
    """Where in memory the first element of ``array`` lies."""
    if array.__class__ is MetaArray:
        return 0
    return array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr


def made_beside(make: Callable[..., Any], array: Any, **settings: Any) -> Any:
    """What ``make``, such as ``np.zeros_like``, gives for ``array``, on its device."""
    if array.__class__ is np.ndarray:
        return make(array, **settings)
    with computing_beside(array):
        return make(array, **settings)


def copied(array: Any) -> Any:
    """A copy of ``array`` beside it; CuPy's own lies on the GPU that is the current one."""
    if array.__class__ is np.ndarray:
        return array.copy()
    with computing_beside(array):
        return array.copy()


def contiguous(array: Any) -> Any:
    """``array`` row by row in memory, a copy where it lies otherwise."""
    return array if array.flags.c_contiguous else copied(array)


def channels_last_or_contiguous(array: Any) -> Any:
    """``array`` as it lies where its channels are the last in memory, else :func:`contiguous`."""
    return array if has_channels_last(array) else contiguous(array)


def with_channels_as(input: Any, array: Any, fewest: int = 4) -> Any:
    """``array`` with the channels last in memory where ``input`` has them so, else row by row."""
    if input.flags.c_contiguous or not has_channels_last(input, fewest):
        return contiguous(array)
    spatial = range(2, array.ndim)
    return contiguous(array.transpose((0, *spatial, 1))).transpose(
        (0, array.ndim - 1, *range(1, array.ndim - 1))
    )


def has_channels_last(array: Any, fewest: int = 4) -> bool:
    """Whether ``array``, of images or volumes, or of signals if ``fewest`` is 3, has the channels last."""
    ndim = array.ndim
    if not fewest <= ndim <= 5 or not array.transpose((0, *range(2, ndim), 1)).flags.c_contiguous:
        return False
    # A single image that was given a dimension in front has a small step there, and does not count.
    return array.shape[0] != 1 or array.strides[0] >= array.shape[2] * array.strides[2]


def laid_as(input: Any, array: Any) -> Any:
    """``array`` with its dimensions in the order in memory of those of ``input``, which has its shape."""
    if array.flags.c_contiguous and input.flags.c_contiguous:
        return array
    result = made_beside(np.empty_like, input, dtype=array.dtype)
    if result.strides == array.strides:
        return array
    result[...] = array
    return result


def module_for(where: device | str | int | None) -> ModuleType:
    """The array module of the device ``where``.

    Raises
    ------
    NoGPU
        For ``cuda`` where CuPy or a GPU is missing; says how to get it.
    """
    if where is None or device(where).type == "cpu":
        return np
    if device(where).type == "meta":
        return MAKES_META
    try:
        import cupy

        return count_gpus(cupy)
    except Exception as error:
        raise NoGPU(
            "Torch not compiled with CUDA enabled: No CUDA GPU is available here. Computing on a GPU needs "
            "one and CuPy: "
            'pip install "autokit-edu[gpu]"; `autokit doctor` says what is missing.'
        ) from error


def no_numpy(array: Any) -> TypeError:
    """The error for an array that NumPy is to take as its own, and cannot."""
    if isinstance(array, Sparse):
        return TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")
    return TypeError(
        f"can't convert {device_of(array)} device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
        "to host memory first."
    )


def to_numpy(array: Any) -> Any:
    """``array`` on the CPU: itself where it is there already, else a copy; of a sparse one all elements."""
    if isinstance(array, np.ndarray | Batch):
        return array
    if array.__class__ is MetaArray:
        raise NotImplementedError(NO_DATA)
    if isinstance(array, Sparse):
        array = array.dense()  # type: ignore[attr-defined]
    copy = np.asarray(array.get() if hasattr(array, "get") else array)
    if LATE:
        raise_late()
    return copy
