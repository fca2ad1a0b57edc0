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

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "numba", "openmp"]
__all__ += ["opt_einsum"]


def _never() -> bool:
    """False: autokit does not use this library."""
    return False


mkl = SimpleNamespace(is_available=_never)
mkldnn = SimpleNamespace(is_available=_never)
openmp = SimpleNamespace(is_available=_never)
opt_einsum = SimpleNamespace(is_available=_never, enabled=False, strategy=None)
mha = SimpleNamespace(get_fastpath_enabled=_never, set_fastpath_enabled=lambda value: None)
cpu = SimpleNamespace(get_cpu_capability=lambda: "DEFAULT")
