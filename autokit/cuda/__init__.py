"""The GPU, as ``torch.cuda``: whether there is one, how much of its memory is in use, streams and events.

CuPy drives the GPU; autokit computes on one, ``cuda:0``.  Where CuPy or a GPU is missing, functions that only
ask answer no, and those that need a GPU raise an error that says how to get one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

from autokit.base.devices import NoGPU, OutOfMemoryError, module_for
from autokit.base.generator import STREAMS, Generator, default_generator
from autokit.base.missing import absent

_absent = absent("torch.cuda")


def __getattr__(name: str) -> Any:
    if name == "amp":  # which needs this file
        from autokit.cuda.amp import GradScaler  # noqa: F401 - importing it binds the file's name

        return globals()[name]
    return _absent(name)


__all__ = ["Event", "OutOfMemoryError", "is_available"]

# ------------------------------------------------------------ which GPU


def device_count() -> int:
    """How many GPUs can be used: 1, or 0 where CuPy or a GPU is missing."""
    try:
        module_for("cuda")
    except NoGPU:
        return 0
    return 1


def is_available() -> bool:
    """Whether a GPU can be used.

    >>> device = "cuda" if is_available() else "cpu"
    """
    return device_count() > 0


def is_bf16_supported() -> bool:
    """False: autokit does not compute in bfloat16."""
    return False


def current_device() -> int:
    """The number of the GPU: 0."""
    module_for("cuda")
    return 0


def set_device(device: Any) -> None:
    """Compute on this GPU: there is one, number 0."""
    module_for(device)


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """What a GPU is: its ``name``, ``total_memory`` in bytes, ``major`` and ``minor`` version, processors."""
    found = module_for("cuda").cuda.runtime.getDeviceProperties(0)
    return SimpleNamespace(
        name=found["name"].decode(),
        total_memory=int(found["totalGlobalMem"]),
        major=int(found["major"]),
        minor=int(found["minor"]),
        multi_processor_count=int(found["multiProcessorCount"]),
    )


def get_device_name(device: Any = None) -> str:
    """The name that its maker gives the GPU."""
    return get_device_properties().name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of the GPU, as ``(9, 0)``."""
    found = get_device_properties()
    return found.major, found.minor


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has finished its work: before a clock is read, for example."""
    module_for("cuda").cuda.Device().synchronize()


# ------------------------------------------------------------ memory


def memory_allocated(device: Any = None) -> int:
    """The bytes of the GPU's memory that arrays use; 0 without a GPU."""
    return int(module_for("cuda").get_default_memory_pool().used_bytes()) if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    """The bytes that arrays use or that are kept for later arrays; 0 without a GPU."""
    return int(module_for("cuda").get_default_memory_pool().total_bytes()) if is_available() else 0


max_memory_allocated = max_memory_reserved = memory_reserved
"""The most memory that was in use since :func:`empty_cache`: CuPy keeps freed memory for later arrays."""


def empty_cache() -> None:
    """Free the GPU's memory that is kept for later arrays; without a GPU nothing happens."""
    if is_available():
        module_for("cuda").get_default_memory_pool().free_all_blocks()


reset_peak_memory_stats = empty_cache


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The bytes of the GPU's memory that are free, and all of them."""
    free, total = module_for("cuda").cuda.runtime.memGetInfo()
    return int(free), int(total)


# ------------------------------------------------------------ random numbers


def manual_seed(seed: int) -> None:
    """Give the GPU a stream of random numbers that starts from ``seed``; nothing happens without a GPU.

    As long as ``torch.manual_seed`` alone was called there is one stream for all devices, so that a program
    draws the same numbers on a GPU as on the CPU.
    """
    if is_available():
        STREAMS["cuda"] = Generator("cuda").manual_seed(int(seed))


manual_seed_all = manual_seed


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of the generator that numbers on the GPU come from."""
    return STREAMS.get("cuda", default_generator).get_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Go on from where :func:`get_rng_state` was called."""
    STREAMS.get("cuda", default_generator).set_state(new_state)


# ------------------------------------------------------------ events and streams


class Event:
    """A mark in the work of the GPU, to measure time with: the program itself runs ahead of the GPU.

    Parameters
    ----------
    enable_timing : bool
        Note the time when the GPU reaches the mark.

    Examples
    --------
    >>> def milliseconds(work):
    ...     start, end = Event(enable_timing=True), Event(enable_timing=True)
    ...     start.record()
    ...     work()
    ...     end.record()
    ...     end.synchronize()
    ...     return start.elapsed_time(end)
    """

    def __init__(self, enable_timing: bool = False) -> None:
        self._cuda = module_for("cuda").cuda
        self._event = self._cuda.Event(disable_timing=not enable_timing)

    def record(self, stream: Any = None) -> None:
        """Put the mark behind all the work that the GPU has been given so far."""
        self._event.record(stream)

    def query(self) -> bool:
        """Whether the GPU has reached the mark."""
        return bool(self._event.done)

    def synchronize(self) -> None:
        """Wait until the GPU has reached the mark."""
        self._event.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to ``end_event``; both are recorded, and note the time."""
        return float(self._cuda.get_elapsed_time(self._event, end_event._event))


def Stream(device: Any = None) -> Any:
    """A new stream of CuPy's: its work may run at the same time as that of other streams."""
    return module_for("cuda").cuda.Stream(non_blocking=True)


def current_stream(device: Any = None) -> Any:
    """The stream of CuPy's in which operations run."""
    return module_for("cuda").cuda.get_current_stream()


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """``with torch.cuda.stream(s):`` runs the operations of the block in ``s``; None changes nothing."""
    with nullcontext() if stream is None else stream:
        yield
