"""How much of a GPU's memory is taken: CuPy keeps a pool for each GPU, and tells of the current one's."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

from autokit.cuda.gpus import device_count, gpu, is_available
from autokit.devices import NoGPU, module_for
from autokit.gpu_memory import Peaks, note_peaks


def empty_cache() -> None:
    """Give back to the GPUs what is kept of their memory for later arrays; without a GPU nothing happens."""
    for number in range(device_count()):
        with gpu(number):
            _peaks().reserved()
            _pool().free_all_blocks()


def memory_allocated(device: Any = None) -> int:
    """The bytes of the GPU's memory that arrays take; 0 without a GPU."""
    if not is_available():
        return 0
    with gpu(device):
        return int(_pool().used_bytes())


def max_memory_allocated(device: Any = None) -> int:
    """The most that :func:`memory_allocated` was since the last :func:`reset_peak_memory_stats`, or ever.

    Examples
    --------
    >>> reset_peak_memory_stats()
    >>> # here a model is trained
    >>> text = f"{max_memory_allocated() / 2**20:.0f} MiB"
    """
    if not is_available():
        return 0
    with gpu(device):
        return _peaks().allocated()


def memory_reserved(device: Any = None) -> int:
    """The bytes of the GPU's memory that arrays take, and that are kept for later ones; 0 without a GPU."""
    if not is_available():
        return 0
    with gpu(device):
        return int(_pool().total_bytes())


def max_memory_reserved(device: Any = None) -> int:
    """The most that :func:`memory_reserved` was since the last :func:`reset_peak_memory_stats`, or ever."""
    if not is_available():
        return 0
    with gpu(device):
        return _peaks().reserved()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peaks begin again with what is taken now; without a GPU nothing happens."""
    if is_available():
        with gpu(device):
            _peaks().forget()


def reset_max_memory_allocated(device: Any = None) -> None:
    """:func:`reset_peak_memory_stats` under its older name."""
    warnings.warn(
        "reset_max_memory_allocated now calls torch.cuda.reset_peak_memory_stats, which resets all peaks",
        FutureWarning,
        stacklevel=2,
    )
    reset_peak_memory_stats(device)


def memory_stats(device: Any = None) -> dict[str, int]:
    """The bytes that are allocated and reserved, now and at the most, under PyTorch's keys; {} without a GPU.

    These are ``"allocated_bytes.all.current"`` and ``.peak``, the same as ``"active_bytes"``, and as
    ``"reserved_bytes"``. What PyTorch tells of its own pools of large and of small pieces, CuPy's has not.
    """
    if not is_available():
        return OrderedDict()
    now, most = memory_allocated(device), max_memory_allocated(device)
    kept, most_kept = memory_reserved(device), max_memory_reserved(device)
    found = {}
    for name, current, peak in (
        ("active_bytes", now, most),
        ("allocated_bytes", now, most),
        ("reserved_bytes", kept, most_kept),
    ):
        found.update({f"{name}.all.current": current, f"{name}.all.peak": peak})
    return OrderedDict(found)


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The table of :func:`memory_stats`, to be printed."""
    stats = memory_stats(device)
    if not stats:
        raise NoGPU("there is no GPU whose memory could be told of: `autokit doctor` says what is missing")
    lines = [
        f"| {f'memory of cuda:{gpu(device).id}':<20} | {'now':>12} | {'at the most':>12} |",
        f"|{'-' * 22}|{'-' * 14}|{'-' * 14}|",
    ]
    for title, name in (("allocated by tensors", "allocated_bytes"), ("kept in all", "reserved_bytes")):
        now, most = (f"{stats[f'{name}.all.{when}'] / 2**20:,.1f} MiB" for when in ("current", "peak"))
        lines.append(f"| {title:<20} | {now:>12} | {most:>12} |")
    return "\n".join(lines)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The bytes of the GPU's memory that are free, and all of them."""
    with gpu(device):
        free, total = module_for("cuda").cuda.runtime.memGetInfo()
    return int(free), int(total)


def _peaks() -> Peaks:
    return note_peaks(module_for("cuda"))


def _pool() -> Any:
    return module_for("cuda").get_default_memory_pool()
