"""PyTorch's global settings, such as the number of threads: a program may set them and read them.

autokit always gives the same results for the same inputs, and computes in the precision of the dtype, so most
of these settings change nothing. They keep their values, so that programs run unchanged.
"""

from __future__ import annotations

import os
from typing import Any

from autokit.base.devices import set_default_device
from autokit.base.dtypes import BY_NAME, TENSOR_TYPES, set_default_dtype

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
    "set_num_threads",
    "use_deterministic_algorithms",
]

_set: dict[str, Any] = {"deterministic": False, "precision": "highest", "threads": None}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same result each time: autokit's operations give that in any case."""
    _set["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """The value that :func:`use_deterministic_algorithms` has set."""
    return _set["deterministic"]


def set_num_threads(num: int) -> None:
    """Remember how many threads a program asks for.

    How many NumPy's matrix products use is decided when it is loaded, by the environment:
    ``OMP_NUM_THREADS=1 python program.py``.
    """
    if num < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, not {num}")
    _set["threads"] = num


def get_num_threads() -> int:
    """The number that :func:`set_num_threads` has set; at first the number of cores."""
    return _set["threads"] or os.cpu_count() or 1


set_num_interop_threads = set_num_threads
get_num_interop_threads = get_num_threads


def set_float32_matmul_precision(precision: str) -> None:
    """Set how exact products of float32 matrices are to be; they are always computed as ``"highest"``."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"there is no precision {precision!r}; there are 'highest', 'high' and 'medium'")
    _set["precision"] = precision


def get_float32_matmul_precision() -> str:
    """The value that :func:`set_float32_matmul_precision` has set."""
    return _set["precision"]


def set_default_tensor_type(t: Any) -> None:
    """Choose the default dtype by an old tensor type: ``torch.DoubleTensor``, or ``"torch.DoubleTensor"``.

    ``"torch.cuda.FloatTensor"`` makes new tensors on the GPU, too.
    """
    name = t if isinstance(t, str) else t.__name__
    found = [dtype for dtype, old in TENSOR_TYPES.items() if name.endswith(old)]
    if not found:
        raise TypeError(f"{name!r} is no type of tensors; there are torch.FloatTensor, torch.DoubleTensor, …")
    set_default_dtype(BY_NAME[found[0]])
    set_default_device("cuda" if "cuda" in name else None)
