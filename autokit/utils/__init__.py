"""Helpers around training: :mod:`autokit.utils.data`; and :mod:`autokit.utils.dlpack`."""

from autokit.utils import data, dlpack

__all__ = ["data", "dlpack"]
