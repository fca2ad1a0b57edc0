"""The libraries behind PyTorch, as ``torch.backends``: what a program asks of them or sets.

autokit computes by NumPy and CuPy, and on large arrays by Numba where that is
installed: ``numba`` is the switch of that one.  The others hold what they are set
to, and change nothing.
"""

from __future__ import annotations

from types import SimpleNamespace

from autokit import cuda as _cuda
from autokit.missing import names_of
from autokit.ops.native import NUMBA as numba

__getattr__ = names_of("torch.backends")

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "numba", "openmp"]


def _never() -> bool:
    """False: autokit does not use this library."""
    return False


cudnn = SimpleNamespace(
    is_available=_never,
    version=lambda: None,
    enabled=True,
    deterministic=False,
    benchmark=False,
    benchmark_limit=None,
    allow_tf32=True,
)
"""Switches of the library of convolutions for GPUs."""

cuda = SimpleNamespace(
    is_built=_cuda.is_available,
    matmul=SimpleNamespace(
        allow_tf32=False,
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
    ),
)
"""Switches of matrix products on GPUs."""

mps = SimpleNamespace(is_available=_never, is_built=_never)
"""GPUs of Apple's: autokit does not use them."""

mkl = SimpleNamespace(is_available=_never)
mkldnn = SimpleNamespace(is_available=_never)
openmp = SimpleNamespace(is_available=_never)
cpu = SimpleNamespace(get_cpu_capability=lambda: "DEFAULT")
