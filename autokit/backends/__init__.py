"""The libraries behind PyTorch, as ``torch.backends``: what a program asks of them or sets.

autokit computes by NumPy and CuPy, and on large arrays by Numba where that is
installed: ``numba`` is the switch of that one.  The others hold what they are set
to, and change nothing.
"""

from __future__ import annotations

from types import SimpleNamespace

from autokit.backends import cuda, cudnn, mps
from autokit.missing import names_of
from autokit.ops.native import NUMBA as numba

__getattr__ = names_of("torch.backends")

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "numba", "openmp"]


def _never() -> bool:
    """False: autokit does not use this library."""
    return False


mkl = SimpleNamespace(is_available=_never)
mkldnn = SimpleNamespace(is_available=_never)
openmp = SimpleNamespace(is_available=_never)
cpu = SimpleNamespace(get_cpu_capability=lambda: "DEFAULT")
