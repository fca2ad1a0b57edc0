"""The stand-in's ``cupy.RawKernel``, for kernels that :mod:`autokit.ops.gpu.many` wrote.

It reads the statements of the kernel's loop, which are Python's too but for the
types before the names, and computes them for the arrays that the table tells of.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np

from tests.gpu.standin.arrays import launched

_LOOP = re.compile(r"    for \(long long i = .*?\{\n(.*?)\n    \}\n", re.DOTALL)
_STORED = {"__half": np.float16, "float": np.float32, "double": np.float64}


class RawKernel:
    """A kernel of CUDA's C: ``kernel(grid, block, (table,))``."""

    def __init__(self, code: str, name: str) -> None:
        assert f'extern "C" __global__ void {name}(const Table table)' in code
        self.name = name
        self.stored = np.dtype(_STORED[re.search(r"typedef (\w+) stored;", code)[1]])
        self.real = np.dtype(_STORED[re.search(r"typedef (\w+) real;", code)[1]])
        self.statements = _LOOP.search(code)[1].split("\n")

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        (table,) = arguments
        assert table.nbytes <= 4096 and table.shape == ()
        launched(self.name, ())
        count = int(table["count"])
        assert grid == (int(table["starts"][count]),)
        for row in range(count):
            size = int(table["sizes"][row])
            arrays = [_at(int(each[row]), size, self.stored) for each in table["arrays"]]
            with np.errstate(all="ignore"):
                self._run(arrays, table)

    def _run(self, arrays: list[Any], table: Any) -> None:
        names = {
            "real": lambda value: self.real.type(value),
            "table": _Numbers(table["numbers"]),
            "square_root": np.sqrt,
            "size_of": np.abs,
            "sign_of": np.sign,
            "larger": np.maximum,
            "smaller": np.minimum,
            "chosen": np.where,
            "is_finite": np.isfinite,
            "is_not": np.logical_not,
        }
        for statement in self.statements:
            statement = statement.strip().rstrip(";")
            if read := re.fullmatch(r"real (a\d+) = p(\d+)\[i\]", statement):
                names[read[1]] = arrays[int(read[2])].astype(self.real)
            elif written := re.fullmatch(r"p(\d+)\[i\] = (\w+)", statement):
                arrays[int(written[1])][...] = names[written[2]]
            elif told := re.fullmatch(r"if \((\w+)\) \*\(int\*\)table.found = 1", statement):
                if np.any(names[told[1]]):
                    _at(int(table["found"]), 1, np.dtype(np.int32))[...] = 1
            else:
                made = re.fullmatch(r"const (real|bool) (v\d+) = (.*)", statement)
                value = eval(made[3], {"__builtins__": {}}, names)
                names[made[2]] = np.asarray(value, self.real if made[1] == "real" else bool)


class _Numbers:
    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers


def _at(address: int, size: int, dtype: np.dtype) -> np.ndarray:
    memory = (ctypes.c_byte * (size * dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, dtype)
