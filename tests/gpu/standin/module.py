"""The stand-in's modules: ``cupy`` with the functions that CuPy has, and ``cupyx`` with what autokit uses."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from autokit.ops import approximations, hurwitz, incomplete_gamma
from autokit.ops.operands import _literals
from tests.gpu.standin import cublas, dlpack, hardware
from tests.gpu.standin.arrays import bare, launched, ndarray
from tests.gpu.standin.functions import errstate, from_host, function_of
from tests.gpu.standin.kernels import Traced, fuse
from tests.gpu.standin.notes import NAMES
from tests.gpu.standin.written import RawKernel


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
    cupy.from_dlpack = dlpack.from_dlpack
    cupy.fuse = fuse
    cupy.RawKernel = RawKernel
    hardware.set_allocator(None)
    cupy.get_default_memory_pool = lambda: hardware.POOL
    cupy.cuda = SimpleNamespace(
        Device=hardware.Device,
        runtime=SimpleNamespace(
            getDevice=hardware.current,
            getDeviceCount=lambda: hardware.COUNT,
            getDeviceProperties=lambda number: hardware.PROPERTIES,
            memGetInfo=lambda: (1000 * hardware.current(), 1 << 30),
            driverGetVersion=lambda: 12090,
            runtimeGetVersion=lambda: 12090,
            **cublas.CUDA_TYPES,
        ),
        memory=SimpleNamespace(OutOfMemoryError=hardware.OutOfMemoryError),
        Event=hardware.Event,
        Stream=hardware.Stream,
        alloc_pinned_memory=bytearray,
        get_allocator=hardware.get_allocator,
        set_allocator=hardware.set_allocator,
        cublas=cublas,
        get_cublas_handle=lambda: 0,
        get_current_stream=hardware.current_stream,
        get_elapsed_time=lambda start, end: end.time - start.time,
    )
    return cupy


def _special(name: str, *arrays: Any) -> ndarray:
    """CuPy's special functions: autokit's own for the CPU, since it is the way to them that is tested."""
    if isinstance(arrays[0], Traced):
        return Traced(getattr(approximations, name)(arrays[0].host), arrays[0].fusion)
    launched(name, arrays)
    name = {"gammaln": "lgamma"}.get(name, name)
    if name == "polygamma":
        if not isinstance(arrays[0], ndarray):
            raise AttributeError("'bool' object has no attribute 'astype'")  # of n == 0
        name, arrays = "trigamma", arrays[1:]
    if name == "zeta":
        return ndarray(hurwitz.zeta(*map(bare, arrays)))
    if name in ("gammainc", "gammaincc"):
        return ndarray(incomplete_gamma._shares(*map(bare, arrays))[name == "gammaincc"])
    return ndarray(getattr(approximations, name)(*map(bare, arrays)))


def _extra() -> dict[str, ModuleType]:
    """``cupyx`` with the parts that autokit uses."""
    cupyx, scipy, special = (ModuleType(n) for n in ("cupyx", "cupyx.scipy", "cupyx.scipy.special"))
    for name in (
        *("erf", "erfc", "erfcx", "erfinv", "log_ndtr", "ndtri", "gammaln", "digamma", "polygamma", "zeta"),
        *("i0", "i1", "i0e", "i1e", "gammainc", "gammaincc"),
    ):
        setattr(special, name, functools.partial(_special, name))
    scipy.special, cupyx.scipy = special, scipy  # type: ignore[attr-defined]
    cupyx.errstate = errstate  # type: ignore[attr-defined]
    return {module.__name__: module for module in (cupyx, scipy, special)}


@contextmanager
def installed() -> Iterator[ModuleType]:
    """``import cupy`` gives the stand-in in this block."""
    made = {"cupy": module(), **_extra()}
    _literals.clear()  # those of another library on the same device
    before = {name: sys.modules.get(name) for name in made}
    sys.modules.update(made)
    try:
        yield made["cupy"]
    finally:  # what was imported in the block for the first time stays
        _literals.clear()
        for name, module_before in before.items():
            sys.modules.pop(name)
            if module_before is not None:
                sys.modules[name] = module_before
