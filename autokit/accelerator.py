"""The accelerator, as ``torch.accelerator``: the GPU under a name that fits all makers'."""

from __future__ import annotations

from typing import Any

from autokit import cuda
from autokit.devices import device
from autokit.missing import names_of

__getattr__ = names_of("torch.accelerator")

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "device_count",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "synchronize",
]

is_available = cuda.is_available
device_count = cuda.device_count


def _needed() -> None:
    if not cuda.is_available():
        raise RuntimeError(
            "Cannot access accelerator device when none is available. Ask is_available() first"
        )


def current_accelerator(check_available: bool = False) -> device | None:
    """``device("cuda")`` where there is a GPU, else None."""
    return device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """The number of the GPU that computes."""
    _needed()
    return cuda.current_device()


def set_device_index(device: Any) -> None:
    """Compute on this GPU from now on."""
    _needed()
    cuda.set_device(device)


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has done what it was told."""
    _needed()
    cuda.synchronize(device)


def empty_cache() -> None:
    """Give back to the GPU what is kept of its memory for later arrays."""
    _needed()
    cuda.empty_cache()


memory_allocated = cuda.memory_allocated
memory_reserved = cuda.memory_reserved
memory_stats = cuda.memory_stats
max_memory_allocated = cuda.max_memory_allocated
max_memory_reserved = cuda.max_memory_reserved
reset_peak_memory_stats = cuda.reset_peak_memory_stats
current_device_idx = current_device_index
set_device_idx = set_device_index
