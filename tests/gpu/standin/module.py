"""The stand-in's modules: ``cupy`` with the functions that CuPy has, and ``cupyx`` with what autokit uses."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from autokit.base import devices
from tests.gpu.standin import hardware
from tests.gpu.standin.arrays import bare, ndarray
from tests.gpu.standin.functions import errstate, from_host, function_of
from tests.gpu.standin.notes import NAMES


def module() -> ModuleType:
    """A module with CuPy's names that works on :class:`ndarray`."""
    made = {
        owner: ModuleType(owner) for owner in NAMES if owner not in ("version", "cupy.ndarray", "cupy.ufunc")
    }
    for owner, target in made.items():
        source: Any = np
        for part in owner.split(".")[1:]:
            source = getattr(source, part)
        for name, takes in NAMES[owner].items():
            value = getattr(source, name)
            setattr(target, name, value if takes == "value" else function_of(owner, name, value))
    cupy: Any = made["cupy"]
    cupy.fft = made["cupy.fft"]
    cupy.linalg = made["cupy.linalg"]
    cupy.lib = ModuleType("cupy.lib")
    cupy.lib.stride_tricks = made["cupy.lib.stride_tricks"]
    cupy.ndarray = ndarray
    cupy.__version__ = NAMES["version"]
    cupy.array = from_host
    cupy.asarray = functools.partial(from_host, copy=False)
    cupy.ascontiguousarray = lambda a, dtype=None: (
        a if isinstance(a, ndarray) and a.host.flags.c_contiguous else ndarray(np.array(bare(a), order="C"))
    )
    cupy.asnumpy = lambda array: array.get()
    cupy.ogrid = _Grid()
    cupy.get_default_memory_pool = lambda: hardware.POOL
    cupy.cuda = SimpleNamespace(
        Device=hardware.Device,
        runtime=SimpleNamespace(
            getDeviceCount=lambda: 1,
            getDeviceProperties=lambda number: hardware.PROPERTIES,
            memGetInfo=lambda: (1000, 1 << 30),
        ),
        Event=hardware.Event,
        Stream=hardware.Stream,
        get_current_stream=hardware.Stream,
        get_elapsed_time=lambda start, end: end.time - start.time,
    )
    return cupy


_SPECIAL = ("erf", "erfc", "erfinv", "gammaln", "digamma", "polygamma", "zeta", "ndtr", "ndtri", "log_ndtr")
_SPECIAL += ("i0", "i1", "i0e", "i1e", "expit", "logit")
"""CuPy's special functions that are SciPy's, too."""


class _Grid:
    """``cupy.ogrid``."""

    def __getitem__(self, slices: Any) -> list[ndarray]:
        return [ndarray(places) for places in np.ogrid[slices]]


def _special(name: str, *arrays: Any) -> ndarray:
    result = getattr(scipy.special, name)(*map(bare, arrays))
    return ndarray(np.asarray(result, arrays[-1].dtype))


def _extra() -> dict[str, ModuleType]:
    """``cupyx`` with the parts that autokit uses."""
    cupyx, of_scipy, special = (ModuleType(n) for n in ("cupyx", "cupyx.scipy", "cupyx.scipy.special"))
    for name in _SPECIAL:
        setattr(special, name, functools.partial(_special, name))
    of_scipy.special, cupyx.scipy = special, of_scipy  # type: ignore[attr-defined]
    cupyx.errstate = errstate  # type: ignore[attr-defined]
    return {module.__name__: module for module in (cupyx, of_scipy, special)}


@contextmanager
def installed() -> Iterator[ModuleType]:
    """``import cupy`` gives the stand-in in this block."""
    made = {"cupy": module(), **_extra()}
    devices._found.clear()
    before = {name: sys.modules.get(name) for name in made}
    sys.modules.update(made)
    try:
        yield made["cupy"]
    finally:  # what was imported in the block for the first time stays
        devices._found.clear()
        for name, module_before in before.items():
            sys.modules.pop(name)
            if module_before is not None:
                sys.modules[name] = module_before
