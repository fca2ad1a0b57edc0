"""Helpers around training: :mod:`autokit.utils.data`."""

from autokit.utils import data

__all__ = ["data"]
