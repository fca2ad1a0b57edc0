"""Events and streams of a GPU: CuPy's own, under PyTorch's names."""

from __future__ import annotations

from typing import Any

from autokit.devices import module_for


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
        self._event = self._cuda.Event(block=blocking, disable_timing=not enable_timing)
        self._timed = enable_timing

    def record(self, stream: Any = None) -> None:
        """Put the mark behind what ``stream`` has been told so far; the current stream without one."""
        self._event.record(stream)

    def wait(self, stream: Any = None) -> None:
        """Let ``stream`` go on only when the mark was reached."""
        (current_stream() if stream is None else stream).wait_event(self._event)

    def query(self) -> bool:
        """Whether the GPU has come to the mark."""
        return bool(self._event.done)

    def synchronize(self) -> None:
        """Wait until the GPU has come to the mark."""
        self._event.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to ``end_event``.

        Raises
        ------
        ValueError
            If one of them notes no time.
        """
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        return float(self._cuda.get_elapsed_time(self._event, end_event._event))

    def __repr__(self) -> str:
        return f"<torch.cuda.Event{' with timing' if self._timed else ''}>"


def Stream(device: Any = None, priority: int = 0) -> Any:
    """A new stream of CuPy's: work that it is told runs beside that of other streams."""
    return module_for("cuda").cuda.Stream(non_blocking=True)


def current_stream(device: Any = None) -> Any:
    """The stream, of CuPy's, that operations are told to."""
    return module_for("cuda").cuda.get_current_stream()


def default_stream(device: Any = None) -> Any:
    """The stream that is current as long as no other was chosen."""
    return module_for("cuda").cuda.Stream.null


def stream(stream: Any) -> Any:
    """``with torch.cuda.stream(s):`` tells the work of the block to ``s``; nothing happens for None."""
    from contextlib import nullcontext

    return nullcontext() if stream is None else stream
