"""Functions that Numba compiles once and keeps on disk for the next process, and what they call.

What is kept holds no address, since an address is another one in the next process. Therefore all of them come
in an array, whose numbers become pointers here.

References
----------
J. J. Dongarra et al., "A set of level 3 basic linear algebra subprograms", ACM TOMS 16, 1990.
"""

from __future__ import annotations

import ctypes
import hashlib
import linecache
import marshal
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.ir as llvm
import numba
from numba import types
from numba.core import cgutils
from numba.core.codegen import JITCPUCodegen
from numba.extending import get_cython_function_address, intrinsic
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

from autokit.base.files import replacing, user_folder


@intrinsic
def pointer(typing: Any, address: Any, dtype: Any) -> Any:
    """The memory at ``address`` as numbers of ``dtype``, to be read and written as ``memory[i]``."""
    kind = types.CPointer(dtype.dtype)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.int64, dtype), code


@numba.njit(fastmath={"reassoc"}, forceinline=True)
def plus(total: Any, item: Any) -> Any:
    """``total + item`` of a sum whose order is free, so that several numbers are added at once."""
    return total + item


@intrinsic
def gemm(typing: Any, routine: Any, numbers: Any) -> Any:
    """``C = alpha · A B + beta · C`` by BLAS's ``routine`` at that address, with its 13 numbers.

    It is given the address of each; the matrices' own addresses are the numbers 7, 9 and 12.
    """
    addresses = (6, 8, 11)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointers = []
        for place, each in enumerate(cgutils.unpack_tuple(builder, args[1])):
            # a BLAS that takes 32 bits, or a letter, reads the lower ones, which come first
            held = each if place in addresses else cgutils.alloca_once_value(builder, each)
            cast = builder.inttoptr if place in addresses else builder.bitcast
            pointers.append(cast(held, cgutils.voidptr_t))
        kind = llvm.FunctionType(llvm.VoidType(), [cgutils.voidptr_t] * len(pointers))
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(routine, numbers), code


def address_of_gemm(letter: str) -> int:
    """The address of BLAS's product of matrices of float32, ``"s"``, or float64, ``"d"``.

    It is that of NumPy's own BLAS where that can be found, else SciPy's: the threads of a second one would
    compete with the first one's for the processors.
    """
    routine = getattr(ctypes.CDLL(_multiarray_umath.__file__), f"scipy_{letter}gemm_64_", None)
    if routine is None:
        return get_cython_function_address("scipy.linalg.cython_blas", f"{letter}gemm")
    return ctypes.cast(routine, ctypes.c_void_p).value or 0


def compiled(source: str, name: str) -> Callable[[int], int]:
    """The function ``name`` of a module, which takes an address: from the disk where it is known there.

    Numba would load thousands of typed functions before it reads one that it keeps itself.
    """
    machine, kept, is_own = JITCPUCodegen(name), None, False
    parts = source, linecache.getlines(__file__), numba.__version__, machine.magic_tuple()
    folder = os.path.join(user_folder("cache"), "loops")
    file = os.path.join(folder, hashlib.sha256(repr(parts).encode()).hexdigest())
    with suppress(OSError, EOFError, ValueError, TypeError):
        os.makedirs(folder, exist_ok=True, mode=0o700)
        status = os.stat(folder)  # what lies there is run: only the user may write into it
        is_own = status.st_uid == getattr(os, "getuid", int)() and not status.st_mode & 0o022
        kept = is_own and marshal.loads(Path(file).read_bytes())
    if not kept:
        module: dict[str, Any] = {}
        exec(source, module)
        made: Any = numba.cfunc("int64(int64)", error_model="numpy")(module[name])
        kept = made.native_name, made._library.serialize_using_object_code()
        with suppress(OSError):
            if is_own:
                with replacing(file) as target:
                    target.write(marshal.dumps(kept))
    code = machine.unserialize_library(kept[1])
    function: Any = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
    function = function(code.get_pointer_to_function(kept[0]))
    function.code = code  # which lives as long as it can be called
    return function
