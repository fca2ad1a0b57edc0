"""Helpers for training: ``autokit.utils.data`` loads data, ``autokit.utils.checkpoint`` saves memory."""

from autokit.base.missing import absent
from autokit.utils import checkpoint, data

__all__ = ["checkpoint", "data"]

__getattr__ = absent("torch.utils")
