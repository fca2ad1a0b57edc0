"""IDX files, the format of MNIST and similar datasets: a few bytes for the shape, then the numbers.

References
----------
Y. LeCun, C. Cortes and C. Burges, "The MNIST database of handwritten digits", which describes the format.
"""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib
from pathlib import Path
from typing import IO

import numpy as np

_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MOST = 1 << 31  # bytes: more than any file of this kind has; a header that says so is wrong
_AT_ONCE = 1 << 20


def read(path: str | os.PathLike[str]) -> np.ndarray:
    """The array in an IDX file, gzipped or not.

    Nothing in the file is trusted: no more is read or kept than the header says, and there must be exactly
    as much.

    Raises
    ------
    ValueError
        If it is no IDX file, or one that was cut off or changed; says which and how.
    """
    path = Path(path)
    with path.open("rb") as raw:
        zipped = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        try:
            if not zipped:
                return _read(raw, path)
            with gzip.open(raw) as file:
                return _read(file, path)  # type: ignore[arg-type]
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path} is no whole gzip file ({error}): {_AGAIN}") from error


_AGAIN = "get it again, as by deleting it and download=True"


def _read(file: IO[bytes], path: Path) -> np.ndarray:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _DTYPES or not magic[3]:
        raise ValueError(f"{path} is no IDX file: it begins with the bytes {magic.hex(' ')}. {_AGAIN}")
    dtype, dimensions = np.dtype(_DTYPES[magic[2]]), magic[3]
    header = file.read(4 * dimensions)
    if len(header) < 4 * dimensions:
        raise ValueError(f"{path} ends within its header: {_AGAIN}")
    shape = struct.unpack(f">{dimensions}I", header)
    size = math.prod(shape) * dtype.itemsize
    if dimensions > 4 or size > _MOST:
        raise ValueError(f"{path} says that it holds an array of shape {shape}, which is too large: {_AGAIN}")
    content = bytearray()
    while len(content) <= size and (part := file.read(min(_AT_ONCE, size + 1 - len(content)))):
        content += part
    if len(content) != size:
        found = f"only {len(content)}" if len(content) < size else "more"
        raise ValueError(
            f"{path} should hold an array of shape {shape}, which takes {size} bytes, but there are {found}: "
            f"{_AGAIN}"
        )
    return np.frombuffer(content, dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)
