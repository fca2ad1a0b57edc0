"""Wrong indices and divisors on a GPU, which CuPy takes in silence: an index beyond the end wraps around.

Nobody waits for the GPU's answer: it comes later, see :mod:`autokit.late_errors`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.late_errors import ask_later
from autokit.ops.gpu.arrays import ask
from autokit.ops.gpu.kernels import fused
from autokit.ops.recording import calling_line


@fused
def _farthest(places, least, /):
    """How far the farthest of ``places`` is from ``least``, upwards: those below it are beyond all others."""
    return np.max((places.astype(np.int64) - least).astype(np.uint64))


def refuse_outside(places: Any, least: int, size: int, error: Callable[[int], Exception]) -> None:
    """Raise ``error(place)`` where one of ``places``, on a GPU, is not from ``least`` up to ``size``.

    The program does not wait for that: see :mod:`autokit.late_errors`.
    """
    if places.size:
        ask_later(
            module_of(places),
            _farthest(places, least),
            size - least,
            lambda far: error(_signed(far) + least),
            calling_line(),
        )


def refuse_beyond(farthest: Any, size: int, error: Callable[[int], Exception]) -> None:
    """Raise ``error(place)`` where ``farthest``, a place as an unsigned number on a GPU, is ``size`` or more.

    The program does not wait for that.
    """
    ask_later(
        module_of(farthest), farthest.reshape(()), size, lambda far: error(_signed(far)), calling_line()
    )


@fused
def _any_zero(values, /):
    return np.max((values == 0).astype(np.uint64))


def refuse_zeros_later(values: Any, error: Callable[[], Exception]) -> None:
    """Raise ``error()`` where one of ``values``, on a GPU, is 0; the program does not wait for that."""
    ask_later(module_of(values), _any_zero(values), 1, lambda _: error(), calling_line())


def outside(places: Any, least: int, size: int) -> int | None:
    """One of ``places``, on a GPU, that is not from ``least`` up to ``size``; waits for the answer."""
    far = ask(_farthest(places, least)) if places.size else -1
    return _signed(far) + least if far >= size - least else None


def _signed(far: int) -> int:
    return far if far < 1 << 63 else far - (1 << 64)
