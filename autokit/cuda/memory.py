"""How much of a GPU's memory is taken: CuPy keeps a pool for each GPU, and tells of the current one's."""

from __future__ import annotations

from typing import Any

from autokit.cuda.gpus import device_count, gpu, is_available
from autokit.devices import module_for


def empty_cache() -> None:
    """Give back to the GPUs what is kept of their memory for later arrays; without a GPU nothing happens."""
    for number in range(device_count()):
        with gpu(number):
            _pool().free_all_blocks()


def memory_allocated(device: Any = None) -> int:
    """The bytes of the GPU's memory that arrays take; 0 without a GPU."""
    if not is_available():
        return 0
    with gpu(device):
        return int(_pool().used_bytes())


def max_memory_allocated(device: Any = None) -> int:
    """The bytes that arrays take now: CuPy does not note the most that they took; 0 without a GPU."""
    return memory_allocated(device)


def memory_reserved(device: Any = None) -> int:
    """The bytes of the GPU's memory that arrays take, and that are kept for later ones; 0 without a GPU."""
    if not is_available():
        return 0
    with gpu(device):
        return int(_pool().total_bytes())


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: there is no note of the most memory that was taken."""


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The bytes of the GPU's memory that are free, and all of them."""
    with gpu(device):
        free, total = module_for("cuda").cuda.runtime.memGetInfo()
    return int(free), int(total)


def _pool() -> Any:
    return module_for("cuda").get_default_memory_pool()
