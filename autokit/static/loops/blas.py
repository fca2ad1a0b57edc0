"""What a compiled loop reaches by its address: the memory of an array, and the matrix product of BLAS.

Numba keeps no compiled function on disk that holds an address itself, since an address is another one in the
next process. Therefore all of them come in one array, and the intrinsics of this file turn its numbers into
pointers.

References
----------
J. J. Dongarra et al., "A set of level 3 basic linear algebra subprograms", ACM TOMS 16, 1990.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.ir as llvm
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]


def address_of_gemm(dtype: np.dtype[Any]) -> int:
    """The address of the product of matrices of float32 or float64.

    It is that of NumPy's own BLAS where that can be found, else SciPy's: the threads of a second one would
    compete with the first one's for the processors.
    """
    letter = "s" if dtype == np.float32 else "d"
    library = ctypes.CDLL(_multiarray_umath.__file__)
    try:
        routine = getattr(library, f"scipy_{letter}gemm_64_")
    except AttributeError:
        return get_cython_function_address("scipy.linalg.cython_blas", f"{letter}gemm")
    return ctypes.cast(routine, ctypes.c_void_p).value or 0


@intrinsic
def pointer(typing: Any, address: Any, dtype: Any) -> Any:
    """The memory at ``address`` as numbers of ``dtype``, to be read and written as ``memory[i]``."""
    kind = types.CPointer(dtype.dtype)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.int64, dtype), code


@intrinsic
def plus(typing: Any, total: Any, value: Any) -> Any:
    """``total + value`` of a sum whose order is free, so that several numbers are added at once."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(*args, flags=("reassoc",))

    return total(total, total), code


@intrinsic
def gemm(typing: Any, routine: Any, numbers: Any) -> Any:
    """``C = alpha · A B + beta · C`` by the ``routine`` at that address.

    The numbers are those of BLAS, whose matrices lie column by column: whether A and B are read transposed
    (``ord("T")``, else ``ord("N")``), m, n and k, alpha, the address of A and the distance between its
    columns, the same of B, beta, and the same of C.
    """
    addresses = (6, 8, 11)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointers = []
        for place, each in enumerate(cgutils.unpack_tuple(builder, args[1])):
            # a BLAS that takes 32 bits, or a letter, reads the lower ones, which come first
            held = each if place in addresses else cgutils.alloca_once_value(builder, each)
            cast = builder.inttoptr if place in addresses else builder.bitcast
            pointers.append(cast(held, cgutils.voidptr_t))
        kind = llvm.FunctionType(llvm.VoidType(), [cgutils.voidptr_t] * 13)
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(routine, numbers), code
