"""Wrong indices and divisors, which CuPy takes in silence: an index beyond the end wraps around there.

Mostly nobody waits for a GPU's answer: it comes later, see :mod:`autokit.late_errors`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.batches import Batch
from autokit.devices import module_of, on_a_gpu
from autokit.late_errors import ask_later
from autokit.ops.gpu.arrays import any_of, ask, is_on_cpu
from autokit.ops.gpu.kernels import fused
from autokit.ops.recording import calling_line


@fused
def _farthest(places, least, /):
    """How far the farthest of ``places`` is from ``least``, upwards: those below it are beyond all others."""
    return np.max((places.astype(np.int64) - least).astype(np.uint64))


def refuse_outside(
    places: Any, least: int, size: int, error: Callable[[int], Exception], waits: bool = False
) -> None:
    """Raise ``error(place)`` where one of ``places`` is not from ``least`` up to ``size``.

    A GPU is not waited for unless the program ``waits``: see :mod:`autokit.late_errors`.
    """
    if waits or not on_a_gpu(places):
        wrong = outside(places, least, size)
        if wrong is not None:
            raise error(wrong)
    elif places.size:
        ask_later(
            module_of(places),
            _farthest(places, least),
            size - least,
            lambda far: error(_signed(far) + least),
            calling_line(),
        )


def refuse_beyond(farthest: Any, places: Any, size: int, error: Callable[[int], Exception]) -> None:
    """Raise ``error(place)`` where ``farthest`` of ``places``, as an unsigned number, is ``size`` or more.

    A GPU is not waited for.
    """
    if on_a_gpu(farthest):
        ask_later(
            module_of(farthest), farthest.reshape(()), size, lambda far: error(_signed(far)), calling_line()
        )
    elif any_of(farthest >= size):
        refuse_outside(places, 0, size, error)


def outside(places: Any, least: int, size: int) -> int | None:
    """One of ``places`` that is not from ``least`` up to ``size``, on a CPU the first; waits for a GPU."""
    if not places.size:
        return None
    if places.__class__ is Batch:  # what one sample may not name, none may
        return outside(places.full, least, size)
    if on_a_gpu(places):
        far = ask(_farthest(places, least))
        return _signed(far) + least if far >= size - least else None
    if is_on_cpu(places) and places.min() >= least and places.max() < size:
        return None  # in a third of the time
    wrong = (places < least) | (places >= size)
    return int(places[wrong].reshape(-1)[0]) if any_of(wrong) else None


@fused
def _any_zero(values, /):
    return np.max((values == 0).astype(np.uint64))


def refuse_zeros(values: Any, error: Callable[[], Exception]) -> None:
    """Raise ``error()`` where one of the ``values`` is 0; a GPU is not waited for."""
    if not is_on_cpu(values):
        ask_later(module_of(values), _any_zero(values), 1, lambda _: error(), calling_line())
    elif not values.all():
        raise error()


def _signed(far: int) -> int:
    return far if far < 1 << 63 else far - (1 << 64)
