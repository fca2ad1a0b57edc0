"""The stand-in's ``cupy.RawKernel``, for kernels that :mod:`autokit.ops.gpu.many` and ``.rows`` wrote.

It reads the statements of the kernel's loops, which are Python's too but for the
types before the names, and computes them for the arrays that the table tells of.
"""

from __future__ import annotations

import ctypes
import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.gpu.standin.arrays import launched

_LOOP = re.compile(r"    for \(long long i = .*?\{\n(.*?)\n    \}\n", re.DOTALL)
_STORED = {"__half": np.float16, "float": np.float32, "double": np.float64}


def RawKernel(code: str, name: str) -> Any:
    """A kernel of CUDA's C: ``kernel(grid, block, (table,))``."""
    assert f'extern "C" __global__ void {name}(const Table table)' in code
    return (_OfRows if "offset steps[" in code else _OfMany)(code, name)


class _OfMany:
    """One of :mod:`autokit.ops.gpu.many`."""

    def __init__(self, code: str, name: str) -> None:
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


_IN_C = {"double": np.float64, "bool": np.bool_, "int": np.int32, "long long": np.int64}
_IN_C |= {"unsigned long long": np.uint64, **_STORED}
_POINTER = re.compile(r"    (.+?)\* p(\d+) = ")
_STATEMENT = re.compile(
    r"const (\w+) (?P<read>\w+) = \w+\(p(?P<place>\d+)\[.*\]\)"
    r"|const (?P<kind>\w+) (?P<made>v\d+) = (?P<text>.*)"
    r"|s(?P<sum>v\d+) = (?P<how>\w+)_of\(\w+, (?P<value>\w+)\)"
    r"|(if .*)?p(?P<end>\d+)\[.*\] = (?P<kept>\w+)"
)


class _OfRows:
    """One of :mod:`autokit.ops.gpu.rows`: all rows at once, (outer, inner, far, near)."""

    def __init__(self, code: str, name: str) -> None:
        self.name = name
        self.real = np.dtype(_IN_C[re.search(r"typedef (\w+) real;", code)[1]])
        body = code[code.index('extern "C"') :]
        self.stored = {int(place): np.dtype(_IN_C[kind]) for kind, place in _POINTER.findall(body)}
        self.statements = [
            found for line in body.split("\n") if (found := _STATEMENT.fullmatch(line.strip().rstrip(";")))
        ]

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        (table,) = arguments
        assert table.nbytes <= 4096 and block[0] == int(table["lanes"]) * int(table["across"])
        assert grid == (-(-int(table["rows"]) // int(table["across"])),)
        launched(self.name, ())
        rows, inner, length, near = (int(table[each]) for each in ("rows", "inner", "length", "near"))
        shape = rows // inner, inner, length // near, near
        arrays = {
            place: _strided(int(table["arrays"][place]), shape, table["steps"][place].tolist(), dtype)
            for place, dtype in self.stored.items()
        }
        with np.errstate(all="ignore"):
            self._run(arrays, length, table["numbers"])

    def _run(self, arrays: dict[int, Any], length: int, numbers: Any) -> None:
        kinds = {"real": self.real.type, "whole": np.int64, "natural": np.uint64, "bool": np.bool_}
        names: dict[str, Any] = {
            **{kind: partial(np.asarray, dtype=dtype) for kind, dtype in kinds.items()},
            "table": SimpleNamespace(least=self.real.type(-np.inf), numbers=numbers, length=length),
            "square_root": np.sqrt,
            "exponential": np.exp,
            "logarithm": np.log,
            "is_finite": np.isfinite,
            "is_not": np.logical_not,
            "chosen": np.where,
        }
        for found in self.statements:
            if found["read"]:
                names[found["read"]] = arrays[int(found["place"])].astype(kinds[found[1]])
            elif found["sum"]:
                value = np.broadcast_to(
                    names[found["value"]], np.broadcast_shapes(*(each.shape for each in arrays.values()))
                )
                reduce = np.add if found["how"] == "sum" else np.maximum
                made = reduce.reduce(value, axis=(2, 3), keepdims=True, dtype=value.dtype)
                names[found["sum"]] = made
            elif found["end"]:
                arrays[int(found["end"])][...] = names[found["kept"]]
            elif not found["text"].startswith("together("):
                value = eval(_chosen(found["text"]), {"__builtins__": {}}, names)
                names[found["made"]] = np.asarray(value, kinds[found["kind"]])


def _chosen(text: str) -> str:
    """C's ``a ? b : c`` as Python knows it."""
    parts = re.fullmatch(r"(.*) \? (.*) : (.*)", text)
    return f"chosen({parts[1]}, {parts[2]}, {parts[3]})" if parts else text


def _strided(address: int, shape: tuple[int, ...], steps: list[int], dtype: np.dtype) -> np.ndarray:
    sizes = [size if step else 1 for size, step in zip(shape, steps)]
    reach = [(size - 1) * step for size, step in zip(sizes, steps)]
    first, last = (sum(each for each in reach if (each > 0) == after) for after in (False, True))
    whole = _at(address + first * dtype.itemsize, last - first + 1, dtype)
    return np.lib.stride_tricks.as_strided(
        whole[-first:], sizes, [step * dtype.itemsize for step in steps], writeable=True
    )
