"""What compiled loops call: memory at an address, the matrix product of BLAS, and functions of float32.

Numba keeps no compiled function on disk that holds an address itself, since an address is another one in the
next process. Therefore all of them come in one array, whose numbers become pointers here.

References
----------
J. J. Dongarra et al., "A set of level 3 basic linear algebra subprograms", ACM TOMS 16, 1990.
S. L. Moshier, "Methods and programs for mathematical functions", Ellis Horwood, 1989.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.ir as llvm
import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic
from numpy import float32 as f4
from numpy import int32 as i4
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]


def address_of_gemm(dtype: Any) -> int:
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


# The C library computes exp and tanh for one number at a time; of these, LLVM makes code for several.


@intrinsic
def two_to(typing: Any, power: Any) -> Any:
    """``2 ** power`` in float32, whose bits are the power, and 23 zeros of the fraction."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[0].type
        return builder.bitcast(builder.shl(builder.add(args[0], kind(127)), kind(23)), llvm.FloatType())

    return types.float32(types.int32), code


@numba.njit(fastmath={"contract"}, forceinline=True)
def polynomial(x: Any, coefficients: Any) -> Any:
    """The polynomial with these coefficients, that of the highest power first."""
    total = f4(0)
    for coefficient in coefficients:
        total = total * x + f4(coefficient)
    return total


@numba.njit(fastmath={"contract"}, forceinline=True)
def exp_f4(x: Any) -> Any:
    """``exp(x)`` as ``2 ** n · exp(r)`` with a whole n, and Moshier's polynomial for the small r."""
    x = f4(-104) if x < f4(-104) else f4(89) if x > f4(89) else x
    shift = f4(3 << 22)  # a float32 as large has no fraction
    n = (x * f4(1.44269504) + shift) - shift
    r = x - n * f4(0.693359375) - n * f4(-2.12194440e-4)
    highest = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2)
    y = polynomial(r, (*highest, 1.6666665459e-1, 0.5, 1.0, 1.0))
    half = i4(n) >> 1  # neither power is out of range, where their product is
    return y * two_to(i4(half)) * two_to(i4(i4(n) - half))  # type: ignore[call-arg]


@numba.njit(fastmath={"contract"}, forceinline=True)
def tanh_f4(x: Any) -> Any:
    """``tanh(x)`` as a quotient of polynomials in ``x²``."""
    x = f4(-7.99881172) if x < f4(-7.99881172) else f4(7.99881172) if x > f4(7.99881172) else x
    highest = (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-8)
    p = polynomial(x * x, (*highest, 1.48572235717979e-5, 6.37261928875436e-4, 4.89352455891786e-3))
    q = polynomial(
        x * x, (1.19825839466702e-6, 1.18534705686654e-4, 2.26843463243900e-3, 4.89352518554385e-3)
    )
    return x * p / q
