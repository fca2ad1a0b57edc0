"""Which of several GPUs computes: the one that holds the arrays, whatever GPU is the current one.

CuPy computes on the thread's current GPU: from arrays of another one it would
read across the bus, and its result would lie on the current one.  PyTorch
computes where the arrays are.  So where there are several GPUs, what computes
makes that of its arrays the current one for a moment; where there is one, or
none, nobody asks: ``UNUSUAL`` does not hold :data:`SEVERAL`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any

import numpy as np

from autokit.batches.batch import Batch
from autokit.sparse_array import Sparse
from autokit.thread_state import UNUSUAL, thread

SEVERAL = "several GPUs"

_NUMPYS = np.ndarray, np.generic
_cupy: Any = None


def count_gpus(cupy: Any) -> Any:
    """``cupy``, of which it is known from now on whether it has several GPUs, and what is taken of them."""
    global _cupy
    if cupy is not _cupy:
        from autokit.gpu_memory import note_peaks

        (UNUSUAL.add if cupy.cuda.runtime.getDeviceCount() > 1 else UNUSUAL.discard)(SEVERAL)
        note_peaks(cupy)
        _cupy = cupy
    return cupy


def current_gpu() -> int:
    """The number of the GPU that computes."""
    return int(_cupy.cuda.runtime.getDevice())


def gpu_of(array: Any) -> int | None:
    """The number of the GPU that holds ``array``, which may be a tensor; None for one on the CPU."""
    array = getattr(array, "array", array)
    if array.__class__ is Batch:
        array = array.memory
    array = array.values if isinstance(array, Sparse) else array
    return None if isinstance(array, _NUMPYS) or not hasattr(array, "device") else array.device.id


class OnGPU:
    """A context in which the GPU of this number computes; "cuda" still names the program's own choice."""

    __slots__ = ("_device", "_outer")

    def __init__(self, number: int) -> None:
        self._device = _cupy.cuda.Device(number)

    def __enter__(self) -> None:
        self._outer = thread.state.gpu
        if self._outer is None:
            thread.state.gpu = current_gpu()
        self._device.__enter__()

    def __exit__(self, *error: object) -> None:
        self._device.__exit__(*error)
        thread.state.gpu = self._outer


def chosen_gpu() -> int:
    """The number of the GPU that "cuda" without a number names."""
    return current_gpu() if thread.state.gpu is None else thread.state.gpu


def on_the_chosen_gpu() -> Any:
    """A context in which that GPU computes which the program made the current one."""
    return nullcontext() if thread.state.gpu is None else OnGPU(thread.state.gpu)


def computing_as_here() -> Callable[[], Any]:
    """What makes a context, for another thread, in which the GPU of this one computes, in its stream."""
    if _cupy is None:
        return nullcontext
    number, stream = current_gpu(), _cupy.cuda.get_current_stream()

    @contextmanager
    def there() -> Iterator[None]:
        with _cupy.cuda.Device(number), stream:
            yield

    return there


def computing_beside(array: Any) -> Any:
    """A context in which the GPU of ``array`` computes, and new arrays are made there."""
    number = gpu_of(array) if SEVERAL in UNUSUAL else None
    return nullcontext() if number is None else OnGPU(number)


def beside_it(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of an array and more, as it computes on the GPU of that array."""

    @wraps(function)
    def apply(array: Any, *others: Any, **settings: Any) -> Any:
        with computing_beside(array):
            return function(array, *others, **settings)

    return apply


def on_its_gpu(compute: Callable[..., Any], values: Iterable[Any]) -> Callable[..., Any]:
    """``compute`` for ``values``, arrays or tensors: on their GPU, where that is not the current one.

    If they are on two, it raises when it is called.
    """
    numbers = {gpu_of(each) for each in values} - {None} if SEVERAL in UNUSUAL else None
    if not numbers:
        return compute
    if len(numbers) > 1:
        return _refuse_two
    number: Any = numbers.pop()
    if number == current_gpu():
        return compute

    def there(*operands: Any, **settings: Any) -> Any:
        with OnGPU(number):
            return compute(*operands, **settings)

    return there


def _refuse_two(*operands: Any, **settings: Any) -> Any:
    raise RuntimeError("arrays of two GPUs meet")  # who knows the tensors says which


class FollowingGPU:
    """Makes one GPU after the other the current one, and at last the first one again."""

    def __init__(self) -> None:
        self.first = self.now = current_gpu()

    def to(self, array: Any) -> None:
        """Let the GPU of ``array`` compute, which may be a tensor, or arrays for several outputs."""
        slots = getattr(array, "slots", None)
        number = gpu_of(next(iter(slots.values())) if slots else array)
        if number is not None:
            self._use(number)

    def back(self) -> None:
        """Let the GPU compute that did before."""
        self._use(self.first)

    def _use(self, number: int) -> None:
        if number != self.now:
            _cupy.cuda.Device(number).use()
            self.now = number
