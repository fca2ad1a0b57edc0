"""Which GPUs there are, what each is, and which one computes."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from autokit.devices import current_number, module_for
from autokit.devices import device as _device
from autokit.late_errors import raise_late


def device_count() -> int:
    """How many GPUs can be used; 0 where CuPy is missing."""
    try:
        return int(module_for("cuda").cuda.runtime.getDeviceCount())
    except RuntimeError:
        return 0


def is_available() -> bool:
    """Whether a GPU can be used.

    >>> device = "cuda" if is_available() else "cpu"
    """
    return device_count() > 0


def is_initialized() -> bool:
    """Whether a GPU may be in use."""
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes with bfloat16 here: never yet."""
    return False


def current_device() -> int:
    """The number of the GPU on which ``device="cuda"`` makes tensors."""
    return current_number()


def set_device(device: Any) -> None:
    """Make tensors of ``device="cuda"`` on this GPU from now on: a number, or ``"cuda:1"``.

    What is computed from tensors is computed where they are, whichever GPU is the current one.
    """
    gpu(device).use()


class device:
    """``with torch.cuda.device(1):`` makes tensors of ``device="cuda"`` on that GPU in the block."""

    def __init__(self, device: Any) -> None:
        self._gpu: Any = gpu(device)

    def __enter__(self) -> None:
        self._gpu.__enter__()

    def __exit__(self, *error: object) -> None:
        self._gpu.__exit__(*error)


class device_of(device):
    """``with torch.cuda.device_of(x):`` is :class:`device` with a tensor's GPU; nothing on the CPU."""

    def __init__(self, obj: Any) -> None:
        if obj.is_cuda:
            super().__init__(obj.device)
        else:
            self._gpu = nullcontext()


def get_device_name(device: Any = None) -> str:
    """What the maker calls the GPU."""
    return module_for("cuda").cuda.runtime.getDeviceProperties(gpu(device).id)["name"].decode()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The version of what the GPU can do, as ``(9, 0)``."""
    digits = gpu(device).compute_capability
    return int(digits[:-1]), int(digits[-1])


def get_device_properties(device: Any = None) -> Any:
    """What a GPU is: its ``name``, ``total_memory`` in bytes, ``major`` and ``minor`` version, processors."""
    found = module_for("cuda").cuda.runtime.getDeviceProperties(gpu(device).id)
    return SimpleNamespace(
        name=found["name"].decode(),
        total_memory=int(found["totalGlobalMem"]),
        major=int(found["major"]),
        minor=int(found["minor"]),
        multi_processor_count=int(found["multiProcessorCount"]),
    )


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has done what it was told: before a clock is read, for example."""
    gpu(device).synchronize()
    raise_late()


def gpu(place: Any) -> Any:
    """CuPy's device for a number, a name or None, the one that computes.

    Raises
    ------
    ValueError
        If it is no GPU.
    RuntimeError
        If there is none of that number.
    """
    if isinstance(place, str | _device):
        place = _device(place)
        if place.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {place}")
        place = place.index
    cuda = module_for("cuda").cuda
    count = cuda.runtime.getDeviceCount()
    if place is not None and not 0 <= place < count:
        raise RuntimeError(
            f"CUDA error: invalid device ordinal: there is no cuda:{place}, as this machine has {count} "
            "GPU(s), counted from cuda:0"
        )
    return cuda.Device(place)
