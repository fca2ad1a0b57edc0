"""Switches of PyTorch's that a program may set and ask for.

autokit computes the same way each time and in the precision of the dtype, so
that most of them change nothing here; they hold what was set, so that
programs run unchanged.
"""

from __future__ import annotations

import warnings
from typing import Any

from autokit import threads
from autokit.devices import get_default_device, set_default_device
from autokit.formats import contiguous_format

__all__ = [
    "are_deterministic_algorithms_enabled",
    "compiled_with_cxx11_abi",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "has_spectral",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "legacy_contiguous_format",
    "set_default_device",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_num_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]

_set: dict[str, Any] = {
    "deterministic": False,
    "warn_only": False,
    "set_num_interop_threads": threads.available(),
    "precision": "highest",
    "warn_always": False,
}
_MODES = {"default": 0, "warn": 1, "error": 2}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same result each time: autokit's operations give that in any case."""
    for place, value in enumerate((mode, warn_only), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"use_deterministic_algorithms(): argument '{('mode', 'warn_only')[place - 1]}' (position "
                f"{place}) must be bool, not {type(value).__name__}"
            )
    _set.update(deterministic=mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What :func:`use_deterministic_algorithms` was told."""
    return _set["deterministic"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether :func:`use_deterministic_algorithms` was told to warn only."""
    return _set["warn_only"]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """``use_deterministic_algorithms`` by number or word: 0 "default", 1 "warn", 2 "error"."""
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    mode = _MODES.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError(
            "invalid value of debug_mode, expected "
            + ("one of `default`, `warn`, `error`" if isinstance(debug_mode, str) else "0, 1, or 2")
            + f", but got {debug_mode}"
        )
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: see :func:`set_deterministic_debug_mode`."""
    return (1 if _set["warn_only"] else 2) if _set["deterministic"] else 0


def _checked_threads(function: str, count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int):
        raise RuntimeError(f"{function} expects an int, but got {type(count).__name__}")
    if count < 1:
        raise RuntimeError(f"{function} expects a positive integer")
    return count


def set_num_threads(num: int) -> None:
    """Set how many threads a function of each element of a large tensor may use; its numbers stay the same.

    How many NumPy's matrix products take is decided when it is loaded, by the environment:
    ``OMP_NUM_THREADS=1 python program.py``.
    """
    threads.set_count(_checked_threads("set_num_threads", num))


def get_num_threads() -> int:
    """What :func:`set_num_threads` was told; at first the number of cores."""
    return threads.get_count()


def set_num_interop_threads(num: int) -> None:
    """Note how many operations may run at once: here it is always one."""
    _set["set_num_interop_threads"] = _checked_threads("set_num_interop_threads", num)


def get_num_interop_threads() -> int:
    """What :func:`set_num_interop_threads` was told; at first the number of cores."""
    return _set["set_num_interop_threads"]


def set_float32_matmul_precision(precision: str) -> None:
    """Note how exact products of float32 matrices are to be: here they always are ``"highest"``."""
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    _set["precision"] = precision


def get_float32_matmul_precision() -> str:
    """What :func:`set_float32_matmul_precision` was told."""
    return _set["precision"]


def set_flush_denormal(mode: bool) -> bool:
    """Ask for zeros in place of the tiniest numbers; returns False, as NumPy cannot be told so."""
    return False


def set_warn_always(mode: bool) -> None:
    """Ask for a warning each time that there is reason for one; here Python's own filters decide."""
    _set["warn_always"] = mode


def is_warn_always_enabled() -> bool:
    """What :func:`set_warn_always` was told."""
    return _set["warn_always"]


def compiled_with_cxx11_abi() -> bool:
    """True, as of PyTorch today: a question of programs that compile extensions."""
    return True


has_lapack = has_spectral = True
"""Whether there are decompositions of matrices, and Fourier transforms: NumPy has both."""
has_mkl = has_openmp = False
"""Whether these libraries compute: NumPy has others."""
legacy_contiguous_format = contiguous_format
