"""GPUs, as ``torch.cuda``: whether there are any, which one computes, how much memory is taken.

CuPy speaks to them.  Where it or a GPU is missing, what only asks answers no,
and what needs one says how to get it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autokit.cuda.gpus import (
    current_device,
    device,
    device_count,
    device_of,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    synchronize,
)
from autokit.cuda.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_max_memory_allocated,
    reset_peak_memory_stats,
)
from autokit.cuda.seeds import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from autokit.cuda.streams import Event, Stream, current_stream, default_stream, stream
from autokit.devices import OutOfMemoryError
from autokit.missing import error


def __getattr__(name: str) -> Any:
    if name == "amp":
        return import_module("autokit.cuda.amp")
    if name == "random":
        return import_module("autokit.cuda.seeds")
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
    "device_of",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "stream",
    "synchronize",
]
