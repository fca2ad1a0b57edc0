"""The handle that takes a hook away again, by PyTorch's name of its module."""

from autokit.handles import RemovableHandle

__all__ = ["RemovableHandle"]
