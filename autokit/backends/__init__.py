"""The libraries behind PyTorch, as ``torch.backends``: what a program asks of them or sets.

autokit computes by NumPy and CuPy; these switches hold what they are set to, and change nothing.
"""

from __future__ import annotations

from types import SimpleNamespace

from autokit.backends import cuda, cudnn, mps
from autokit.base.missing import absent

__getattr__ = absent("torch.backends")

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]

mkl = mkldnn = openmp = SimpleNamespace(is_available=lambda: False)
