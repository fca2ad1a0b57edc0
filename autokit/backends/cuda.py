"""Switches of matrix products and of attention on GPUs, which hold what they are set to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


_ways = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduced": False}
"""What was set of PyTorch's ways to attend; autokit has one."""


def _switch(name: str) -> tuple[Callable[[bool], None], Callable[[], bool]]:
    def enable(enabled: bool) -> None:
        """Note whether PyTorch may attend so."""
        _ways[name] = enabled

    def is_enabled() -> bool:
        """What was noted."""
        return _ways[name]

    return enable, is_enabled


enable_flash_sdp, flash_sdp_enabled = _switch("flash")
enable_mem_efficient_sdp, mem_efficient_sdp_enabled = _switch("mem_efficient")
enable_math_sdp, math_sdp_enabled = _switch("math")
enable_cudnn_sdp, cudnn_sdp_enabled = _switch("cudnn")
allow_fp16_bf16_reduction_math_sdp, fp16_bf16_reduction_math_sdp_allowed = _switch("reduced")


def is_flash_attention_available() -> bool:
    """False: autokit attends in one way."""
    return False


def preferred_linalg_library(backend: str | None = None) -> str:
    """The library of linear algebra, which is CuPy's on a GPU, whatever is preferred."""
    return "_LinalgBackend.Default"


def preferred_blas_library(backend: str | None = None) -> str:
    """The library of products, which is CuPy's on a GPU, whatever is preferred."""
    return "_BlasBackend.Default"
