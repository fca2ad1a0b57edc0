"""Settings of the libraries that PyTorch computes with, as ``torch.backends``; they have no effect here.

autokit computes with NumPy and CuPy. A program may set these values and read them again.
"""

from __future__ import annotations

from types import SimpleNamespace

from autokit.backends import cuda, cudnn, mps
from autokit.base.missing import absent

__getattr__ = absent("torch.backends")

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]

mkl = mkldnn = openmp = SimpleNamespace(is_available=lambda: False)
