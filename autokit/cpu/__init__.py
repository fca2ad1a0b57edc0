"""``torch.cpu``: what a program asks of any device, of the one that is always there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from autokit import missing

__all__ = ["Stream", "current_device", "current_stream", "device_count", "is_available", "is_initialized"]
__all__ += ["set_device", "stream", "synchronize"]


def __getattr__(name: str) -> Any:
    if name == "amp":
        return import_module("autokit.cpu.amp")
    raise missing.error("torch.cpu", name)


class Stream:
    """Work in order: a CPU has one such, which does nothing else meanwhile."""

    def __init__(self, priority: int = -1) -> None: ...

    def wait_stream(self, stream: Any) -> None:
        """Return: all work was done when it was asked for."""


_one = Stream()


def is_available() -> bool:
    """Whether there is one, ready: True."""
    return True


def is_initialized() -> bool:
    """Whether there is one, ready: True."""
    return True


def device_count() -> int:
    """How many there are: 1."""
    return 1


def current_device() -> str:
    """The name of the one device, ``"cpu"``."""
    return "cpu"


def set_device(device: Any) -> None:
    """Do nothing: there is one."""


def synchronize(device: Any = None) -> None:
    """Return at once: all work was done when it was asked for."""


def current_stream(device: Any = None) -> Stream:
    """The one :class:`Stream`."""
    return _one


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """A block that computes in ``stream``, as all else does."""
    yield
