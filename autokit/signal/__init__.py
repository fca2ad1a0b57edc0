"""Signals: ``windows``, the curves that a piece of a signal is multiplied by before its spectrum is taken."""

from autokit.signal import windows

__all__ = ["windows"]
