"""Events and streams of a GPU: CuPy's own, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from autokit.cuda.gpus import gpu
from autokit.devices import module_for
from autokit.late_errors import raise_late


class Event:
    """A mark in the work of a GPU, to measure time with: the program itself runs ahead of the GPU.

    Parameters
    ----------
    enable_timing : bool
        Note the time when the GPU comes to the mark.
    blocking : bool
        Let :meth:`synchronize` sleep in place of asking again and again.

    Raises
    ------
    NoGPU
        Without a GPU.

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

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self._cuda = module_for("cuda").cuda
        self._timed = enable_timing
        self._blocking = blocking
        self._event: Any = None  # CuPy makes one for the GPU that computes, so it is made when it is recorded

    def record(self, stream: Any = None) -> None:
        """Put the mark behind what ``stream`` has been told so far; the current stream without one."""
        with _on_its_gpu(stream):
            if self._event is None:
                self._event = self._cuda.Event(block=self._blocking, disable_timing=not self._timed)
            self._event.record(stream)

    def wait(self, stream: Any = None) -> None:
        """Let ``stream`` go on only when the mark was reached."""
        if self._event is not None:
            (current_stream() if stream is None else stream).wait_event(self._event)

    def query(self) -> bool:
        """Whether the GPU has come to the mark."""
        return self._event is None or bool(self._event.done)

    def synchronize(self) -> None:
        """Wait until the GPU has come to the mark."""
        if self._event is not None:
            self._event.synchronize()
            raise_late()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to ``end_event``.

        Raises
        ------
        ValueError
            If one of them notes no time, or was never recorded.
        """
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._event is None or end_event._event is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(self._cuda.get_elapsed_time(self._event, end_event._event))

    def __repr__(self) -> str:
        return f"<torch.cuda.Event{' with timing' if self._timed else ''}>"


def Stream(device: Any = None, priority: int = 0) -> Any:
    """A new stream of CuPy's on ``device``: work that it is told runs beside that of other streams."""
    with gpu(device):
        return module_for("cuda").cuda.Stream(non_blocking=True, priority=priority or None)


def current_stream(device: Any = None) -> Any:
    """The stream, of CuPy's, that operations on ``device`` are told to."""
    return module_for("cuda").cuda.get_current_stream(gpu(device).id)


def default_stream(device: Any = None) -> Any:
    """The stream that is current as long as no other was chosen."""
    gpu(device)
    return module_for("cuda").cuda.Stream.null


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """``with torch.cuda.stream(s):`` tells the work of the block to ``s``, and makes its GPU the current one.

    Nothing happens for None.
    """
    with _on_its_gpu(stream), nullcontext() if stream is None else stream:
        yield


def _on_its_gpu(stream: Any) -> Any:
    """A context in which the GPU of ``stream`` computes; the null stream, and None, are those of any."""
    return nullcontext() if stream is None or stream.device_id < 0 else gpu(stream.device_id)
