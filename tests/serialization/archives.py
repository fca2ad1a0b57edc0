"""Files to save and to load, whole, made by hand, or of a program of one's own."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings

import autokit as ak
from tests.libraries import pytorch

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def saved(obj: Any, by: Any = ak, **settings: Any) -> io.BytesIO:
    file = io.BytesIO()
    by.save(obj, file, **settings)
    file.seek(0)
    return file


def there(obj: Any) -> Any:
    """What PyTorch reads of what is saved here."""
    return pytorch().load(saved(obj), weights_only=True)


def here(obj: Any, **settings: Any) -> Any:
    """What is read here of what PyTorch saved."""
    return ak.load(saved(obj, pytorch()), **settings)


def ours(obj: Any) -> Any:
    return ak.load(saved(obj))


def records(file: io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(contents: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    file.seek(0)
    return file


def with_program(program: bytes, **storages: bytes) -> io.BytesIO:
    """A file of this ``data.pkl`` and these storages, ``_0``, ``_1``, …"""
    data = {f"archive/data/{key[1:]}": value for key, value in storages.items()}
    return zipped({"archive/data.pkl": program, "archive/version": b"3\n", **data})


def equal(a: Any, b: Any) -> bool:
    return repr(a) == repr(b)


def pickle_of(file: io.BytesIO) -> bytes:
    return records(file)["archive/data.pkl"]


def tensor_program(
    count: int = 6,
    offset: int = 0,
    size: tuple[int, ...] = (2, 3),
    stride: tuple[int, ...] = (3, 1),
    **other: Any,
) -> bytes:
    """The program of a float32 tensor."""
    from autokit.serialization.writing import Program

    program = Program(())
    program._code = bytearray(b"\x80\x02")
    program._global("torch._utils", "_rebuild_tensor_v2")
    program._code += b"(("
    program._build("storage")
    program._global("torch", other.get("kind", "FloatStorage"))
    program._build(other.get("key", "0"))
    program._build("cpu")
    program._int(count)
    program._code += b"tQ"
    for value in (offset, size, stride, other.get("requires_grad", False)):
        program._build(value)
    program._call("collections", "OrderedDict", ())
    return bytes(program._code + b"tR.")


SIX = np.arange(6, dtype=np.float32).tobytes()


def network(t: Any) -> Any:
    return t.nn.Sequential(t.nn.Linear(2, 3), t.nn.ReLU(), t.nn.Sequential(t.nn.Linear(3, 1)))


FEW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
"""How often a property is tried."""
