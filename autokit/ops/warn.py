"""Warnings that point at the learner's own line, however many of our functions lie between."""

from __future__ import annotations

import warnings
from sys import _getframe as get_frame

from autokit.ops.recording import OUR_FILES


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line that is not of autokit."""
    level, frame = 1, get_frame(0)
    while frame is not None and OUR_FILES[frame.f_code.co_filename]:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)


def warn_of_newer(name: str, newer: str) -> None:
    """Warn that ``torch.name`` has a successor."""
    warn(f"torch.{name} is deprecated in favor of {newer} and will be removed in a future PyTorch release.")
