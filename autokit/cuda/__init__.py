"""GPUs, as ``torch.cuda``: whether there are any, which one computes, how much memory is taken.

CuPy speaks to them.  Where it or a GPU is missing, what only asks answers no,
and what needs one says how to get it.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

from autokit.cuda.streams import Event, Stream, current_stream, default_stream, stream
from autokit.devices import OutOfMemoryError, module_for
from autokit.devices import device as _device
from autokit.missing import error


def __getattr__(name: str) -> Any:
    if name == "amp":
        return import_module("autokit.cuda.amp")
    raise error("torch.cuda", name)


__all__ = [
    "Event",
    "OutOfMemoryError",
    "Stream",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "reset_peak_memory_stats",
    "set_device",
    "stream",
    "synchronize",
]


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
    """The number of the GPU that computes."""
    return int(module_for("cuda").cuda.Device().id)


def set_device(device: Any) -> None:
    """Compute on this GPU from now on: a number, or ``"cuda:1"``.

    Where there are several, CuPy computes on the current one.  What is computed from tensors of another
    one belongs into ``with torch.cuda.device(1):``, which PyTorch does not ask for.
    """
    _gpu(device).use()


class device:
    """``with torch.cuda.device(1):`` computes on that GPU in the block."""

    def __init__(self, device: Any) -> None:
        self._gpu = _gpu(device)

    def __enter__(self) -> None:
        self._gpu.__enter__()

    def __exit__(self, *error: object) -> None:
        self._gpu.__exit__(*error)


def get_device_name(device: Any = None) -> str:
    """What the maker calls the GPU."""
    gpu = _gpu(device)
    return module_for("cuda").cuda.runtime.getDeviceProperties(gpu.id)["name"].decode()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The version of what the GPU can do, as ``(9, 0)``."""
    digits = _gpu(device).compute_capability
    return int(digits[:-1]), int(digits[-1])


def get_device_properties(device: Any = None) -> Any:
    """What a GPU is: its ``name``, ``total_memory`` in bytes, ``major`` and ``minor`` version, processors."""
    found = module_for("cuda").cuda.runtime.getDeviceProperties(_gpu(device).id)
    return SimpleNamespace(
        name=found["name"].decode(),
        total_memory=int(found["totalGlobalMem"]),
        major=int(found["major"]),
        minor=int(found["minor"]),
        multi_processor_count=int(found["multiProcessorCount"]),
    )


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has done what it was told: before a clock is read, for example."""
    _gpu(device).synchronize()


def empty_cache() -> None:
    """Give back to the GPU what is kept of its memory for later arrays; without a GPU nothing happens."""
    if is_available():
        module_for("cuda").get_default_memory_pool().free_all_blocks()


def memory_allocated(device: Any = None) -> int:
    """The bytes of the GPU's memory that arrays take; 0 without a GPU."""
    return int(module_for("cuda").get_default_memory_pool().used_bytes()) if is_available() else 0


def max_memory_allocated(device: Any = None) -> int:
    """The bytes that arrays take now: CuPy does not note the most that they took; 0 without a GPU."""
    return memory_allocated(device)


def memory_reserved(device: Any = None) -> int:
    """The bytes of the GPU's memory that arrays take, and that are kept for later ones; 0 without a GPU."""
    return int(module_for("cuda").get_default_memory_pool().total_bytes()) if is_available() else 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: there is no note of the most memory that was taken."""


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The bytes of the GPU's memory that are free, and all of them."""
    with _gpu(device):
        free, total = module_for("cuda").cuda.runtime.memGetInfo()
    return int(free), int(total)


def manual_seed(seed: int) -> None:
    """Nothing: numbers on a GPU are drawn from the CPU's generator, which :func:`torch.manual_seed` sets."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Nothing: see :func:`manual_seed`."""
    int(seed)


def _gpu(place: Any) -> Any:
    """CuPy's device for a number, a name or None, the one that computes."""
    if isinstance(place, str | _device):
        place = _device(place)
        if place.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {place}")
        place = place.index
    return module_for("cuda").cuda.Device(place)
