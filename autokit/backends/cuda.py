"""Settings of matrix products on GPUs, as ``torch.backends.cuda``; they have no effect here."""

from __future__ import annotations

from types import SimpleNamespace

matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True)


def is_built() -> bool:
    """Whether autokit can compute on GPUs: True, with CuPy."""
    return True
