"""Norms of vectors and of matrices, and the condition number, as ``torch.linalg`` has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import contiguous
from autokit.ops.blocks import LONGEST, SHORTEST
from autokit.ops.choices import where
from autokit.ops.complex_numbers import is_complex
from autokit.ops.convert import cast
from autokit.ops.elementwise import sgn
from autokit.ops.errors import describe, dimension_error
from autokit.ops.extremes import amax, amin
from autokit.ops.gpu.arrays import any_known
from autokit.ops.inverses import plain_inv
from autokit.ops.matrices import require_matrices, require_square, title
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.reduce import Dim, added, axes, count, places_reduced, restored
from autokit.ops.reduce import sum as total
from autokit.ops.spectra import svdvals
from autokit.tensor import Tensor, new_tensor


def vector_norm_gradient(
    g: Any, a: Any, out: Any, shape: tuple[int, ...], ord: float, dim: Dim, keepdim: bool
) -> Any:
    if ord == 0:
        return np.zeros_like(a)
    g, out = restored(g, shape, dim, keepdim), restored(out, shape, dim, keepdim)
    if ord == 1 or count(shape, dim) == 1:
        return g * _direction(a)
    if math.isinf(ord):
        # Where several elements are the largest, they share the gradient.
        largest = np.abs(a) == out
        many = _array(largest).sum(axis=axes(dim) if a.ndim else None, keepdims=True)
        return np.where(largest, _direction(a) / np.maximum(many, 1).astype(_array(a).dtype), 0) * g
    # At the norm's kink, where all elements are 0, 0 is a subgradient: times what is infinite, no number.
    safe = np.where(out == 0, 1, out)
    if ord == 2:
        return np.where(out == 0, 0 * g, a * (g / safe))
    size = np.abs(a) ** (ord - 1)
    if ord < 1:  # the second derivative stays no number there
        size = np.where(a == 0, 0, size)
    if ord < 0:  # where the powers overflow, and the norm is 0, this is no number
        return _direction(a) * size * (g * out ** (1 - ord))
    slope = _direction(a) * size * (g / safe ** (ord - 1))
    return np.where(out == 0, 0 * g if ord < 1 else 0, slope)


def _direction(a: Any) -> Any:
    return on(sgn, a) if is_complex(a) else np.sign(a)


def _gradient_on_arrays(
    g: Any, a: Any, out: Any, shape: tuple[int, ...], ord: float, dim: Dim, keepdim: bool
) -> Any:
    if ord != 2 or count(shape, dim) == 1:
        return vector_norm_gradient(g, a, out, shape, ord, dim, keepdim)
    g, out = restored(g, shape, dim, keepdim), restored(out, shape, dim, keepdim)
    return a * (g / np.where(out == 0, 1, out))


def _squares_added(a: Any, axis: Any, keepdim: bool) -> Any:
    """The sums of the squares, of large rows by BLAS."""
    if a.__class__ is np.ndarray and a.size >= LONGEST and a.flags.c_contiguous and a.dtype.itemsize > 2:
        if axis is None and not keepdim:
            flat = a.reshape(-1)
            whole = flat.size // LONGEST * LONGEST
            rows = flat[:whole].reshape(-1, LONGEST)
            return np.vecdot(rows, rows).sum() + np.vecdot(flat[whole:], flat[whole:])
        if axis in (-1, a.ndim - 1) and SHORTEST <= a.shape[-1] <= LONGEST:
            sums = np.vecdot(a, a)
            return sums[..., None] if keepdim else sums
    return added(a * a, axis, keepdim)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


@operation(
    "‖ ‖",
    "‖{a}‖",
    a=derivative("sign {a} · (|{a}| / {out}) ^ (p − 1)", vector_norm_gradient, _gradient_on_arrays),
    name="linalg_vector_norm",
    layout=contiguous,
)
def plain_vector_norm(a, /, ord=2.0, dim=None, keepdim=False):
    """See :func:`vector_norm`."""
    axis = axes(dim) if a.ndim else None
    if a.dtype.kind == "c":
        a = np.abs(a)
    alone = ord != 0 and count(a.shape, dim) == 1  # its power may overflow
    if ord == 2 and not alone:
        return np.sqrt(_squares_added(a, axis, keepdim))
    sizes = np.abs(a)
    if ord == 1 or alone:
        return sizes.sum(axis=axis, keepdims=keepdim)
    if ord == 0:
        return (a != 0).sum(axis=axis, keepdims=keepdim).astype(a.dtype)
    if math.isinf(ord):
        return sizes.max(axis=axis, keepdims=keepdim) if ord > 0 else sizes.min(axis=axis, keepdims=keepdim)
    return (sizes**ord).sum(axis=axis, keepdims=keepdim) ** a.dtype.type(1 / ord)


def _converted(name: str, x: Any, dtype: Any) -> Tensor:
    """``x``, in ``dtype`` where it is given, if that and its own are of floating point numbers."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}")
    if x.array.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {title(x)}: convert it with "
            ".float()"
        )
    if dtype is None or dtypes.as_dtype(dtype).numpy == x.array.dtype:
        return x
    wanted = dtypes.as_dtype(dtype).numpy
    if wanted.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {dtypes.as_dtype(dtype).name}"
        )
    if x.array.dtype.kind == "c" and wanted.kind != "c":
        raise RuntimeError(
            f"{name}: dtype should be complex for complex inputs, but got {dtypes.as_dtype(dtype).name}"
        )
    if wanted.itemsize < x.array.dtype.itemsize:
        raise RuntimeError(
            f"{name}: the dtype of the input ({title(x)}) should be convertible without narrowing to the "
            f"specified dtype ({dtypes.as_dtype(dtype).name})"
        )
    return cast(x, dtype=wanted)


def vector_norm(
    x: Tensor, ord: Any = 2, dim: Dim = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The norm of all elements, or along ``dim``: the p-th root of the sum of their p-th powers.

    Parameters
    ----------
    x : Tensor
    ord : float
        p.  For ``inf`` the largest absolute value, for ``-inf`` the smallest,
        for 0 the number of elements that are not 0.
    dim : int or sequence of int, optional
        What to reduce; everything without it.
    keepdim : bool
        Keep the reduced dimensions, with size 1.
    dtype : dtype, optional
        Convert first.

    Raises
    ------
    RuntimeError
        If the elements are no floating point numbers, or there are none and the norm has no value then.

    Notes
    -----
    Where all elements are 0 the norm has a kink; its gradient there is 0, as in PyTorch.
    """
    x = _converted("linalg.vector_norm", x, dtype)
    if isinstance(ord, str) or not isinstance(ord, int | float):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' must be Number, not {type(ord).__name__}")
    _check_dims(x, dim)
    require_elements(x, ord, dim)
    return plain_vector_norm(x, ord=float(ord), dim=dim, keepdim=keepdim)


def require_elements(x: Tensor, ord: float, dim: Dim) -> None:
    """Raise where the norm of no elements is asked for that has no value then."""
    if (ord < 0 or ord == math.inf) and any(
        x.array.shape[place] == 0 for place in places_reduced(dim, x.array.ndim)
    ):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does "
            f"not have an identity: {describe(x)}"
        )


def _check_dims(x: Tensor, dim: Dim) -> None:
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    bound = max(x.array.ndim, 1)
    for each in dims:
        if not -bound <= each < bound:
            raise dimension_error(each, x.array.ndim, describe(x))
    places = [each % bound for each in dims]
    for place in places:
        if places.count(place) > 1:
            raise RuntimeError(f"dim {place} appears multiple times in the list of dims")


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The norm of each matrix.

    Parameters
    ----------
    A : Tensor
    ord : "fro", "nuc", inf, -inf, 1, -1, 2 or -2
        The root of the sum of squares; the sum of the singular values; the
        largest or smallest sum of a row's absolute values; that of a column;
        the largest or smallest singular value.
    dim : pair of int
        The dimensions of rows and of columns.
    keepdim : bool
        Keep these, with size 1.
    dtype : dtype, optional
        Convert first.

    Raises
    ------
    RuntimeError
        If there is no such norm, or the dimensions are not two.
    """
    name = "linalg.matrix_norm"
    require_matrices(name, A)
    A = _converted(name, A, dtype)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")
    _check_dims_of_matrix(A, dims)
    if ord == "fro":
        return vector_norm(A, 2, dims, keepdim)
    rows, columns = (each % A.array.ndim for each in dims)
    if ord in (1, -1, math.inf, -math.inf) and not isinstance(ord, str):
        summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = vector_norm(A, 1, summed, keepdim)
        if not keepdim and kept > summed:
            kept -= 1
        return _largest(sums, kept, keepdim) if ord > 0 else amin(sums, kept, keepdim)
    if ord in ("nuc", 2, -2):
        others = [place for place in range(A.array.ndim) if place not in (rows, columns)]
        last = (*others, rows, columns) == tuple(range(A.array.ndim))
        values = svdvals(A if last else A.permute(*others, rows, columns))
        if ord == "nuc":
            result = total(values, -1)
        else:
            result = _largest(values, -1, False) if ord == 2 else amin(values, -1)
        shape = A.array.shape
        kept = [1 if place in (rows, columns) else shape[place] for place in range(len(shape))]
        return result.reshape(kept) if keepdim else result
    raise RuntimeError(f"{name}: Order {ord} not supported.")


def _largest(sizes: Tensor, dim: int, keepdim: bool) -> Tensor:
    """The largest of ``sizes``, which are not negative; of none of them 0."""
    return amax(sizes, dim, keepdim) if sizes.array.shape[dim] else total(sizes.detach(), dim, keepdim)


def _check_dims_of_matrix(A: Tensor, dims: tuple[int, ...]) -> None:
    for each in dims:
        if not -A.array.ndim <= each < A.array.ndim:
            raise dimension_error(each, A.array.ndim, describe(A))
    if dims[0] % A.array.ndim == dims[1] % A.array.ndim:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dims[0]}, {dims[1]})")


def linalg_norm(
    A: Tensor,
    ord: Any = None,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The norm of a vector or a matrix: :func:`vector_norm` or :func:`matrix_norm`, by the dimensions.

    Without ``ord``, the root of the sum of squares, of everything or along ``dim``.
    With it, ``dim`` names one dimension for vectors and two for matrices; without ``dim``, the
    tensor itself is the one or the other.
    """
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if dims is not None and (len(dims) not in (1, 2) if ord is not None else not dims):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype)
    if dims is None and A.array.ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A.array.ndim}D: {describe(A)}"
        )
    if isinstance(ord, str) or (len(dims) if dims is not None else A.array.ndim) == 2:
        if dims is not None and len(dims) == 2 and dims[0] == dims[1]:
            raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dims[0]}, {dims[1]})")
        return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype=dtype)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """The condition number: how much a relative error of B may grow in the solution of A X = B.

    Parameters
    ----------
    A : Tensor
        Matrices; for other norms than 2 and -2, square ones.
    p : optional
        An order of :func:`matrix_norm`.  The norm of A times that of its
        inverse; for 2, the default, the quotient of the largest and the
        smallest singular value.  Infinite for a singular matrix.
    """
    if A.array.ndim < 2:
        raise RuntimeError(
            f"linalg.cond: The input tensor must have at least 2 dimensions. Got {describe(A)}"
        )
    if p is None or p in (2, -2):
        values = svdvals(A)
        if not values.array.shape[-1]:
            return values.sum(-1)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if not A.array.size:
        return svdvals(A).sum(-1)
    require_square(f"linalg.cond(ord={p})", A)
    inverse = plain_inv(A)
    product = matrix_norm(A, p) * matrix_norm(inverse, p)
    # A singular matrix has no inverse: NaN came of it, where the condition is infinite.
    singular = new_tensor(np.isnan(inverse.array).any(axis=(-2, -1)) & ~np.isnan(A.array).any(axis=(-2, -1)))
    return where(singular, math.inf, product) if any_known(singular.array) else product


NAMES = Names()
