"""What the doctor says of a GPU: which of its parts is missing, and how to get it."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autokit.classroom import doctor
from autokit.ops import native, native_loops
from tests.support import require


class CUDARuntimeError(RuntimeError): ...


def fake(driver: int, devices: int, arange: Any = np.arange) -> Any:
    """CuPy as far as the doctor asks it."""

    def count() -> int:
        if not devices:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return devices

    runtime = SimpleNamespace(
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: 12090,
        getDeviceCount=count,
        getDeviceProperties=lambda number: {"name": b"a GPU"},
        CUDARuntimeError=CUDARuntimeError,
    )
    return SimpleNamespace(__version__="14.2.0", cuda=SimpleNamespace(runtime=runtime), arange=arange)


def without_cublas(end: float) -> Any:
    """``cupy.arange`` where the libraries are missing that multiply matrices."""

    class Matrix:
        def reshape(self, *shape: int) -> Any:
            return self

        def __matmul__(self, other: Any) -> Any:
            raise ImportError("Failure finding libcublas.so")

    return Matrix()


@pytest.mark.parametrize(
    ("cupy", "works", "said"),
    [
        (None, False, "cupy is not installed"),
        (fake(0, 0), False, "CuPy 14.2.0 is installed, but no NVIDIA driver, so that CUDA is not available"),
        (fake(11080, 1), False, "CuPy 14.2.0 is made for CUDA 12, and the driver knows CUDA 11 at most"),
        (fake(12080, 0), False, "CuPy 14.2.0 and the driver find no GPU, so that CUDA is not available"),
        (fake(13000, 1, without_cublas), False, "finds no cuBLAS, which multiplies matrices"),
        (fake(13000, 2), True, "a GPU (CuPy 14.2.0, 2 devices)"),
    ],
)
def test_why_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch, cupy: Any, works: bool, said: str):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    (part,) = [part for part in doctor.PARTS if part.name == "GPU (optional)"]
    found = doctor._try(part)
    assert found.works is works and said in found.detail
    assert ("autokit-edu[gpu]" in str(found) and "[gpu-cuda13]" in str(found)) is not works


def test_whether_loops_can_be_compiled(monkeypatch: pytest.MonkeyPatch):
    (part,) = [part for part in doctor.PARTS if part.name == "Compiled loops (optional)"]
    require("numba")
    assert "compiled a loop for large tensors" in doctor._try(part).detail
    monkeypatch.setattr(native, "_ready", {})
    monkeypatch.setattr(native_loops, "relu", lambda a, into: a.no_such_method())
    with pytest.warns(UserWarning, match="could not compile native_loops.relu"):
        found = doctor._try(part)
    assert not found.works and "could not compile a loop" in found.detail
    monkeypatch.setitem(sys.modules, "numba", None)
    assert 'numba is not installed\n          to get it: pip install "autokit-edu[native]"' in str(
        doctor._try(part)
    )
