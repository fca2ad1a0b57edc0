"""Helpers around training: :mod:`autokit.utils.data` and :mod:`autokit.utils.checkpoint`."""

from autokit.base.missing import absent
from autokit.utils import checkpoint, data

__all__ = ["checkpoint", "data"]

__getattr__ = absent("torch.utils")
