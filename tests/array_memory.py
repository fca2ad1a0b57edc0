"""The bytes that NumPy's arrays take, counted at each allocation: Python's objects are left out.

``tracemalloc`` tells the peak of all memory, and which part of what stands at one moment is NumPy's; not the
peak of that part.  NumPy itself lets a program allocate in its place (NEP 49), and so also the arrays that
live within a single line are seen.
"""

from __future__ import annotations

import ctypes
from typing import Any

from numpy._core import _multiarray_umath

_SIZE, _POINTER = ctypes.c_size_t, ctypes.c_void_p
_ALLOCATE = ctypes.PYFUNCTYPE(_POINTER, _POINTER, _SIZE)
_ALLOCATE_ZEROS = ctypes.PYFUNCTYPE(_POINTER, _POINTER, _SIZE, _SIZE)
_RESIZE = ctypes.PYFUNCTYPE(_POINTER, _POINTER, _POINTER, _SIZE)
_FREE = ctypes.PYFUNCTYPE(None, _POINTER, _POINTER, _SIZE)
_SET_HANDLER = 304
"""The place of ``PyDataMem_SetHandler`` in NumPy's table of C functions."""


class _Allocator(ctypes.Structure):
    _fields_ = (
        ("context", _POINTER),
        ("malloc", _ALLOCATE),
        ("calloc", _ALLOCATE_ZEROS),
        ("realloc", _RESIZE),
        ("free", _FREE),
    )


class _Handler(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", _Allocator))


def _c_function(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


_libc = ctypes.CDLL(None)
_malloc = _c_function(_libc, "malloc", _POINTER, _SIZE)
_calloc = _c_function(_libc, "calloc", _POINTER, _SIZE, _SIZE)
_realloc = _c_function(_libc, "realloc", _POINTER, _POINTER, _SIZE)
_free = _c_function(_libc, "free", None, _POINTER)


class ArrayMemory:
    """Counts, as a ``with`` block, the bytes of the arrays that this thread makes inside.

    Attributes
    ----------
    now : int
        The bytes of those that are still there.
    peak : int
        The most that there were at once; a program may set it back to :attr:`now`.
    """

    _lasting: list[ArrayMemory] = []  # noqa: RUF012 - an array that outlives the block is freed through it

    def __init__(self) -> None:
        self.now = self.peak = 0
        allocator = _Allocator(
            None,
            _ALLOCATE(lambda _, size: self._counted(size) or _malloc(size)),
            _ALLOCATE_ZEROS(lambda _, count, size: self._counted(count * size) or _calloc(count, size)),
            _RESIZE(lambda _, memory, size: self._counted(size) or _realloc(memory, size)),
            _FREE(lambda _, memory, size: self._counted(-size) or _free(memory)),
        )
        self._handler = _Handler(b"counts bytes", 1, allocator)
        new = _c_function(
            ctypes.pythonapi, "PyCapsule_New", ctypes.py_object, _POINTER, ctypes.c_char_p, _POINTER
        )
        self._capsule = new(ctypes.addressof(self._handler), b"mem_handler", None)
        self._lasting.append(self)

    def _counted(self, size: int) -> None:
        self.now += size
        self.peak = max(self.peak, self.now)

    def __enter__(self) -> ArrayMemory:
        self._before = _set_handler(self._capsule)
        return self

    def __exit__(self, *error: object) -> None:
        _set_handler(self._before)


def _set_handler(capsule: Any) -> Any:
    """Let NumPy allocate by the handler in ``capsule``; returns that of before."""
    pointer = _c_function(
        ctypes.pythonapi, "PyCapsule_GetPointer", _POINTER, ctypes.py_object, ctypes.c_char_p
    )
    table = ctypes.cast(pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(_POINTER))
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])(capsule)
