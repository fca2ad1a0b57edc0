"""Helpers around training: :mod:`autokit.utils.data`, ``checkpoint`` and ``dlpack``."""

from autokit.missing import names_of
from autokit.utils import checkpoint, data, dlpack

__getattr__ = names_of("torch.utils")

__all__ = ["checkpoint", "data", "dlpack"]
