"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import contiguous
from autokit.ops.create import finished
from autokit.ops.dims import place_of
from autokit.ops.gpu.arrays import like
from autokit.ops.index import writable_copy
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.reduce import converted
from autokit.ops.shape import reshape
from autokit.ops.strides import strided
from autokit.tensor import Tensor

# ---------------------------------------------------------------- diagonals


def _diagonal(a: Any, offset: int, dim1: int, dim2: int) -> Any:
    """The diagonal as a view that may be written to, which ``np.diagonal`` is not."""
    rows, columns = a.shape[dim1], a.shape[dim2]
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    rest = [place for place in range(a.ndim) if place not in (dim1, dim2)]
    shape = (*(a.shape[place] for place in rest), count)
    strides = (*(a.strides[place] for place in rest), a.strides[dim1] + a.strides[dim2])
    first = (max(offset, 0) * a.strides[dim2] + max(-offset, 0) * a.strides[dim1]) if count else 0
    return strided(a, shape, strides, first)


@operation(
    "diagonal",
    "the diagonal of {a}",
    a=derivative(
        "1 on the diagonal",
        lambda g, shape, offset, dim1, dim2: on(
            on_diagonal, g, shape=shape, offset=offset, dim1=dim1, dim2=dim2
        ),
    ),
    view=True,
    name="diagonal",
)
def plain_diagonal(a, /, offset, dim1, dim2):
    """See :func:`diagonal`."""
    return _diagonal(a, offset, dim1, dim2)


@operation(
    "diagonal",
    "zeros with {a} on the diagonal",
    a=derivative(
        "1 on the diagonal",
        lambda g, offset, dim1, dim2: on(plain_diagonal, g, offset=offset, dim1=dim1, dim2=dim2),
    ),
    name="diag_embed",
    linear=True,
)
def on_diagonal(a, /, shape, offset, dim1, dim2):
    """Zeros of ``shape`` with ``a`` on a diagonal."""
    result = like(np.zeros_like, a, shape=shape)
    _diagonal(result, offset, dim1, dim2)[...] = a
    return result


def _two_dims(dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    places = place_of(dim1, ndim, "diagonal"), place_of(dim2, ndim, "diagonal")
    if places[0] == places[1]:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return places


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of the elements whose indices in two dimensions differ by ``offset``, as the last one."""
    dim1, dim2 = _two_dims(dim1, dim2, input.array.ndim)
    return plain_diagonal(input, offset=offset, dim1=dim1, dim2=dim2)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension on the diagonals of new matrices, whose dimensions become ``dim1`` and ``dim2``."""
    dim1, dim2 = _two_dims(dim1, dim2, input.array.ndim + 1)
    size = input.array.shape[-1] + abs(offset)
    rest = iter(input.array.shape[:-1])
    shape = tuple([size if place in (dim1, dim2) else next(rest) for place in range(input.array.ndim + 1)])
    return on_diagonal(input, shape=shape, offset=offset, dim1=dim1, dim2=dim2)


@operation(
    "diagonal",
    "the diagonal of {a}",
    a=derivative(
        "1 on the diagonal",
        lambda g, shape, offset: on(on_diagonal, g, shape=shape, offset=offset, dim1=0, dim2=1),
    ),
    name="diagonal_copy",
    backward="DiagonalBackward0_copy",
    linear=True,
)
def copied_diagonal(a, /, offset):
    """The diagonal of a matrix, with memory of its own."""
    return _diagonal(a, offset, 0, 1).copy()


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, copied; or of a vector the matrix with that diagonal."""
    if input.array.ndim == 1:
        return diag_embed(input, diagonal)
    if input.array.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.array.ndim}D")
    return copied_diagonal(input, offset=diagonal)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of ``input`` on its diagonal."""
    return diag_embed(reshape(input, -1), offset)


@operation(
    "diagonal",
    "{a} with {b} on the diagonal",
    a=derivative(
        "1 elsewhere",
        lambda g, offset, dim1, dim2: on(
            plain_diagonal_scatter,
            g,
            on(plain_diagonal, g, offset=offset, dim1=dim1, dim2=dim2) * 0,
            offset=offset,
            dim1=dim1,
            dim2=dim2,
        ),
    ),
    b=derivative(
        "1 on the diagonal",
        lambda g, offset, dim1, dim2: on(plain_diagonal, g, offset=offset, dim1=dim1, dim2=dim2),
    ),
    name="diagonal_scatter",
)
def plain_diagonal_scatter(a, b, /, offset, dim1, dim2):
    """See :func:`diagonal_scatter`."""
    result = writable_copy(a, "K")
    _diagonal(result, offset, dim1, dim2)[...] = b
    return result


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of ``input`` with ``src`` on a diagonal."""
    dim1, dim2 = _two_dims(dim1, dim2, input.array.ndim)
    shape = _diagonal(input.array, offset, dim1, dim2).shape
    if src.array.shape != shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.array.shape)}, slice size = {list(shape)}"
        )
    return plain_diagonal_scatter(input, converted(src, input.dtype), offset=offset, dim1=dim1, dim2=dim2)


# ---------------------------------------------------------------- triangles


def _matrices(a: Any, name: str) -> None:
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@operation(
    "◺",
    "{a} on and below the diagonal",
    a=derivative("1 there", lambda g, diagonal: np.tril(g, diagonal)),
    linear=True,
    layout=contiguous,
)
def tril(a, /, diagonal=0):
    """Matrices with zeros above a diagonal, the one ``diagonal`` places to the right of the main one."""
    _matrices(a, "tril")
    return np.tril(a, diagonal)


@operation(
    "◹",
    "{a} on and above the diagonal",
    a=derivative("1 there", lambda g, diagonal: np.triu(g, diagonal)),
    linear=True,
    layout=contiguous,
)
def triu(a, /, diagonal=0):
    """Matrices with zeros below a diagonal, the one ``diagonal`` places to the right of the main one."""
    _matrices(a, "triu")
    return np.triu(a, diagonal)


def _indices(name: str) -> Any:
    def indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
        for what, size in (("row", row), ("col", col)):
            if size < 0:
                raise RuntimeError(f"{what} must be non-negative, got {size}")
        kind = np.dtype(np.int64) if dtype is None else dtype.numpy
        if kind.name not in ("int64", "int32"):
            raise NotImplementedError(
                f"\"{name}_indices\" not implemented for '{kind.name}': use torch.int64"
            )
        places = getattr(np, f"{name}_indices")(row, offset, col)
        return finished(np.stack(places).astype(kind), False, device)

    indices.__name__ = indices.__qualname__ = f"{name}_indices"
    triangle = "lower left" if name == "tril" else "upper right"
    indices.__doc__ = (
        f"The places in the {triangle} triangle of a matrix, as two rows: row and column numbers."
    )
    return indices


tril_indices, triu_indices = _indices("tril"), _indices("triu")

NAMES = Names(
    both="diag diag_embed diagflat diagonal diagonal_scatter tril triu",
    functions="tril_indices triu_indices",
    in_place="tril triu",
    numpy={
        np.diagonal: lambda a, offset=0, axis1=0, axis2=1: diagonal(a, offset, axis1, axis2),
        np.tril: lambda m, k=0: tril(m, k),
        np.triu: lambda m, k=0: triu(m, k),
    },
)
