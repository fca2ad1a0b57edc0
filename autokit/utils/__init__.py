"""Helpers around training: :mod:`autokit.utils.data`, ``checkpoint`` and ``dlpack``."""

from autokit.utils import checkpoint, data, dlpack

__all__ = ["checkpoint", "data", "dlpack"]
