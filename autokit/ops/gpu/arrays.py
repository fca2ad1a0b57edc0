"""What rules ask of arrays, or make of them, where CuPy needs other words than NumPy.

To ask something of an array on a GPU stops the program until the GPU has
caught up.  So rules ask through :func:`any_of` and :func:`ask` alone: where an
error depends on the answer, as with wrong indices, or the shape of a result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import numpy as np

from autokit.batches.batch import Batch
from autokit.current_gpu import OnGPU
from autokit.devices import module_of, on_a_gpu
from autokit.late_errors import LATE, raise_late
from autokit.meta_array import MetaArray
from autokit.sparse_array import Sparse


def any_of(condition: Any) -> bool:
    """Whether ``condition`` holds anywhere; nowhere on the meta device."""
    if condition.__class__ is MetaArray:
        return False
    return bool(ask(condition.any()))


def ask(value: Any) -> Any:
    """The one element of ``value`` as a number of Python; of samples the one that all agree on."""
    number = (value.agreed() if value.__class__ is Batch else value).item()
    if LATE:
        raise_late()
    return number


def known(condition: Any) -> Any:
    """Whether ``condition`` holds everywhere, for a shortcut: no on a GPU, which is not asked for that."""
    return is_on_cpu(condition) and condition.all()


def any_known(condition: Any) -> Any:
    """Whether ``condition`` holds anywhere, for a way around it: yes on a GPU, which is not asked."""
    return not is_on_cpu(condition) or condition.any()


def is_writable(array: Any) -> bool:
    """Whether elements of ``array`` may be changed; on a GPU always."""
    return array.__class__ is not np.ndarray or array.flags.writeable


def is_on_cpu(array: Any) -> bool:
    """Whether NumPy computes with ``array``."""
    array = array.values if isinstance(array, Sparse) else array
    return isinstance(array, np.ndarray | np.generic | Batch)


_SPECIAL = {"lgamma": "gammaln"}
"""SciPy's names, which CuPy has, of functions that PyTorch calls otherwise."""


def special(name: str, *arrays: Any) -> Any:
    """A special function of float64 arrays on a GPU: CuPy brings SciPy's."""
    from cupyx.scipy import special  # type: ignore[import-not-found]

    if name == "trigamma":
        return special.polygamma(np.ones_like(arrays[0]), *arrays)  # a number of Python it does not take
    function = getattr(special, _SPECIAL.get(name, name))
    through = getattr(arrays[0], "through", None)  # of what stands for an array while a kernel is traced
    return function(*arrays) if through is None else through(function, *arrays)


def like(make: Callable[..., Any], array: Any, *values: Any, shape: Any, **settings: Any) -> Any:
    """``make``, such as ``np.zeros_like``, of any ``shape``: CuPy takes an empty one, and 0, for none."""
    if shape:
        return make(array, *values, shape=shape, **settings)
    if shape == ():
        return make(array, *values, shape=(1,), **settings).reshape(())
    return make(array, *values, shape=(0,), **settings)


def reduced(a: Any, dim: Any) -> Any:
    """``dim``, along which ``a`` is to be reduced: None for an array without dimensions on a GPU."""
    return dim if a.ndim or is_on_cpu(a) else None


def raising(a: Any) -> Any:
    """A context in which ``np.linalg`` raises for matrices such as ``a`` that it fails on.

    On a GPU that asks for the answer, as PyTorch does too.
    """
    if is_on_cpu(a):
        return nullcontext()
    import cupyx  # type: ignore[import-not-found]

    return cupyx.errstate(linalg="raise")


def solve(a: Any, b: Any) -> Any:
    """``np.linalg.solve`` for matrices on both sides, in batches that broadcast."""
    if not is_on_cpu(a) and a.shape[:-2] != b.shape[:-2]:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(each, (*lead, *each.shape[-2:])) for each in (a, b))
    with raising(a):
        return np.linalg.solve(a, b)


def counting(array: Any, count: int) -> Any:
    """0, 1, 2, … up to ``count``, beside ``array``."""
    return np.arange(count) if not on_a_gpu(array) else sent(array, np.arange, count)


def sent(array: Any, make: Callable[..., Any], *given: Any) -> Any:
    """The arrays that ``make`` makes of what is ``given``, beside ``array``: sent to its GPU once."""
    return _sent(module_of(array), array.device.id, make, *given) if on_a_gpu(array) else make(*given)


@lru_cache(maxsize=256)
def _sent(module: Any, device: int, make: Callable[..., Any], *given: Any) -> Any:
    made = make(*given)
    with OnGPU(device):
        return tuple(map(module.asarray, made)) if isinstance(made, tuple) else module.asarray(made)
