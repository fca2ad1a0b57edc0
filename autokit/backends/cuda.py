"""Switches of matrix products on GPUs, which hold what they are set to."""

from __future__ import annotations

from types import SimpleNamespace

matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True)


def is_built() -> bool:
    """Whether autokit knows GPUs: through CuPy."""
    return True
