"""The DLPack protocol's two ends: :func:`from_dlpack` and :func:`to_dlpack`."""

from autokit.ops.exchange import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
