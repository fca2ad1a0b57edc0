"""What the doctor says of a GPU: which of its parts is missing, and how to get it."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autokit.classroom import doctor


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
        (fake(11080, 1), False, "CuPy 14.2.0 needs CUDA 12, and the driver serves CUDA 11 at most"),
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
    assert (".[gpu]" in str(found) and ".[gpu-cuda13]" in str(found)) is not works
