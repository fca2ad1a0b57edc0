"""Modes of PyTorch's autograd that a program may set, and that change nothing here.

A backward pass computes on the thread that asked for it, and ``.grad`` lies in
memory as it comes.
"""

from __future__ import annotations


class _Idle:
    """A mode from here on, or inside of a ``with`` block."""

    enabled = True

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"{type(self).__name__}(): expected a bool, not {type(mode).__name__}")
        self._before = type(self).enabled
        type(self).enabled = self._mode = mode

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None:
        type(self).enabled = self._before


class set_multithreading_enabled(_Idle):
    """Accepted for PyTorch's sake: a backward pass never uses a thread for each device.

    Examples
    --------
    >>> import autokit as torch
    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     torch.autograd.is_multithreading_enabled()
    False
    """


class enforce_grad_layout_policy(_Idle):
    """Accepted for PyTorch's sake: the elements of ``.grad`` may lie otherwise in memory than the leaf's."""


def is_multithreading_enabled() -> bool:
    """What :class:`set_multithreading_enabled` last said."""
    return set_multithreading_enabled.enabled
