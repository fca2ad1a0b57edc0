"""Switches of matrix products and of attention on GPUs, which hold what they are set to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from autokit import cuda as _cuda
from autokit.missing import names_of

__getattr__ = names_of("torch.backends.cuda")

is_built = _cuda.is_available
matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """A block in which PyTorch attends by some of its ways; autokit has one, so that it changes nothing."""
    yield
