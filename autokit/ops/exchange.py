"""Memory shared with others: buffers, arrays, and by the DLPack protocol the tensors of other libraries.

References
----------
The Python array API standard, "Data interchange mechanisms", 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.current_gpu import computing_beside
from autokit.devices import CPU, computing_on, copied, module_for
from autokit.devices import device as _device
from autokit.ops.create import Dtype, as_tensor, from_array
from autokit.ops.names import Names
from autokit.tensor import Tensor
from autokit.thread_state import thread

_IN_MEMORY = 1, 3, 11, 13
"""DLPack's numbers of devices whose memory NumPy reads: the CPU, and GPUs' memory that the CPU shares."""

_CUDA = 2


class _Exporter:
    """What a bare capsule lacks: the methods that hand it over."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule
        self._device = _device_of(capsule)

    def __dlpack__(self, **settings: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def _device_of(capsule: Any) -> tuple[int, int]:
    """The kind of device and its number in a capsule: the two integers behind the pointer to the memory."""
    import ctypes

    api = ctypes.pythonapi
    name_of, pointer_of = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = name_of(capsule)
    # From version 1 on there are the version, a context, a deleter and flags before.
    before = {b"dltensor": 0, b"dltensor_versioned": 32}.get(name)
    if before is None:
        raise _invalid("a capsule that was used before")
    kind, number = (ctypes.c_int32 * 2).from_address(pointer_of(capsule, name) + before + 8)
    return kind, number


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's, where both may write.

    Parameters
    ----------
    ext_tensor
        An array or tensor with ``__dlpack__``, or a capsule that this gave.  A capsule of the protocol's
        first version cannot tell whether it may be written to, and so may not.
    device : optional
        Where the result is to be.
    copy : bool, optional
        True for memory of its own; False to refuse where sharing cannot be had.

    Raises
    ------
    RuntimeError
        If it is neither, or the capsule was used before.
    BufferError
        If the memory is neither the CPU's nor a GPU's of CUDA.
    ValueError
        If it must be copied to ``device``, and ``copy`` is False.

    Examples
    --------
    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> from_dlpack(array)[0] = 5.0
    >>> array
    array([5., 0.])
    """
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = _Exporter(ext_tensor)
    elif not hasattr(ext_tensor, "__dlpack__"):
        raise _invalid(type(ext_tensor).__name__)
    kind, number = ext_tensor.__dlpack_device__()
    if kind != _CUDA and kind not in _IN_MEMORY:
        raise BufferError(
            f"from_dlpack: memory of the device ({int(kind)}, {number}) cannot be shared here: there are the "
            "CPU, (1, 0), and CUDA's GPUs, (2, 0), (2, 1), …"
        )
    place = _device("cuda", number) if kind == _CUDA else CPU
    try:
        with computing_on(place):
            array = module_for(place).from_dlpack(ext_tensor)
    except (ValueError, TypeError) as error:
        if isinstance(ext_tensor, _Exporter):
            raise _invalid("a capsule that was used before") from error
        raise
    made = from_array(array)
    if device is not None:
        moved = made.to(device)
        if copy is False and moved is not made:
            raise ValueError(
                f"cannot move DLPack tensor from device {place} to {device} without copying. "
                "Set copy=None or copy=True."
            )
        made, copy = moved, copy and moved is made
    return made.clone() if copy else made


def _invalid(what: str) -> RuntimeError:
    return RuntimeError(
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
        f"you might have already constructed a tensor from it once: it got {what}"
    )


def asarray(
    obj: Any,
    *,
    dtype: Dtype = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """``obj`` as a tensor, which shares its memory where that can be had.

    Parameters
    ----------
    obj
        A tensor, an array, something with ``__dlpack__``, a number or nested sequences.
    dtype, device : optional
    requires_grad : bool, optional
        Without it the result learns where ``obj`` does.
    copy : bool, optional
        True for memory of its own; False to refuse where sharing cannot be had.

    Raises
    ------
    ValueError
        If a copy is needed and was refused.
    RuntimeError
        If integers were to learn.
    """
    learns = isinstance(obj, Tensor) and obj.requires_grad if requires_grad is None else requires_grad
    if isinstance(obj, Tensor) and not learns and not thread.state.forward:
        obj = obj.detach()
    foreign = not isinstance(obj, Tensor | np.ndarray) and hasattr(obj, "__dlpack__")
    made = as_tensor(from_dlpack(obj) if foreign else obj, dtype, device)
    before = obj.array if isinstance(obj, Tensor) else obj
    shares = foreign and dtype is None
    if isinstance(before, np.ndarray) and not made.is_cuda:
        shares = np.may_share_memory(before, made.array)
    if copy is False and not shares and made.array.size:
        raise ValueError("can't alias arbitrary sequence or another dtype: asarray() was told not to copy")
    if copy and shares:
        made = made.clone()
    return made.requires_grad_() if learns and not made.requires_grad else made


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor of one dimension over the bytes of ``buffer``, from byte ``offset`` on."""
    try:
        size = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError(
            f"object does not implement Python buffer protocol: {type(buffer).__name__} is neither bytes nor "
            "an array"
        ) from None
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) "
            "minus 1"
        )
    array = np.frombuffer(buffer, dtypes.as_dtype(dtype).numpy, count, offset)
    made = from_array(array)
    return made.requires_grad_() if requires_grad else made


def dlpack(self: Tensor, *, stream: Any = None, **settings: Any) -> Any:
    """A capsule with the memory, for one other library (DLPack): ``x.__dlpack__()``."""
    if self._requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream is not None and isinstance(self.array, np.ndarray):
        raise AssertionError("stream should be None on cpu.")
    settings = {name: value for name, value in settings.items() if value is not None}
    array = self.array
    if not isinstance(array, np.ndarray) and settings.get("copy") and "dl_device" not in settings:
        array = copied(array)  # which CuPy refuses to do itself
        del settings["copy"]
    with computing_beside(array):
        return array.__dlpack__(stream=stream, **settings)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """Where the memory is, by DLPack's numbers: ``x.__dlpack_device__()``."""
    return self.array.__dlpack_device__()


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule that hands the tensor's memory over to one other library."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"_to_dlpack(): argument 'data' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    return tensor.__dlpack__()


NAMES = Names(functions="asarray from_dlpack frombuffer")
