"""What the functions of matrices ask of their operands, and the errors they raise."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.batches.batch import Batch
from autokit.devices import contiguous, module_of
from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.complex_numbers import is_complex
from autokit.ops.errors import describe, way_to_a_tensor
from autokit.tensor import Tensor


class LinAlgError(RuntimeError):
    """A matrix has no answer: it is singular, not positive definite, or not finite."""


_TITLES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
_C_NAMES = {"float16": "c10::Half", "float32": "float", "float64": "double", "int32": "int", "int64": "long"}


def title(tensor: Tensor) -> str:
    """The dtype as PyTorch's errors call it: ``Float`` for float32."""
    name = tensor.array.dtype.name
    return _TITLES.get(name, name)


def c_name(tensor: Tensor) -> str:
    """The dtype as PyTorch's older errors call it: ``double`` for float64."""
    name = tensor.array.dtype.name
    return _C_NAMES.get(name, name)


def require_tensors(function: str, **values: Any) -> None:
    """Raise unless all values are tensors; the keywords are the names of the arguments."""
    for place, (name, value) in enumerate(values.items(), 1):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{function}(): argument '{name}' (position {place}) must be Tensor, not "
                f"{type(value).__name__}; {way_to_a_tensor(value)}"
            )


def svd(a: Any, **settings: Any) -> Any:
    """``numpy.linalg.svd``; NaN for a matrix with an infinity, from which LAPACK may never come back.

    Raises
    ------
    LinAlgError
        If a number is NaN.
    """
    numbers = a
    while numbers.__class__ is Batch:
        numbers = numbers.full
    if numbers.__class__ is not np.ndarray or np.isfinite(numbers).all():
        return np.linalg.svd(a, **settings)
    if np.isnan(numbers).any():
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite "
            "values."
        )
    infinite = np.isinf(a)
    made = np.linalg.svd(np.where(infinite, 0, a), **settings)
    lost = infinite.any(axis=(-2, -1))
    if not settings.get("compute_uv", True):
        return np.where(lost[..., None], np.nan, made).astype(a.dtype)
    return tuple(
        [
            np.where(lost[..., None] if each.ndim < a.ndim else lost[..., None, None], np.nan, each).astype(
                a.dtype
            )
            for each in made
        ]
    )


def in_columns(a: Any) -> Any:
    """Matrices column by column in memory, as LAPACK leaves them, and PyTorch with it."""
    return np.swapaxes(contiguous(np.swapaxes(a, -2, -1)), -2, -1)


def require_matrices(function: str, tensor: Any, name: str = "A") -> None:
    """Raise unless ``tensor`` holds matrices, as its last two dimensions."""
    require_tensors(function, **{name: tensor})
    if tensor.array.ndim < 2:
        raise RuntimeError(
            f"{function}: The input tensor {name} must have at least 2 dimensions. Got {describe(tensor)}"
        )


def require_kernel(kernel: str, tensor: Tensor) -> None:
    """As :func:`require_floating`, where PyTorch finds a wrong dtype only in the code called ``kernel``."""
    if tensor.array.dtype.kind not in DIFFERENTIABLE or tensor.array.dtype.itemsize < 4:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{title(tensor)}': convert {describe(tensor)} with .float()"
        )


def require_floating(function: str, tensor: Tensor) -> None:
    """Raise unless the elements are of a precision that LAPACK knows."""
    dtype = tensor.array.dtype
    if dtype.kind not in DIFFERENTIABLE:
        raise RuntimeError(
            f"{function}: Expected a floating point or complex tensor as input. Got {title(tensor)}: "
            "convert it with .float()"
        )
    if dtype.itemsize < 4:
        raise RuntimeError(
            f"{function}: Low precision dtypes not supported. Got {title(tensor)}: convert it with .float()"
        )


def require_square(function: str, tensor: Any) -> None:
    """Raise unless ``tensor`` holds square matrices."""
    require_matrices(function, tensor)
    rows, columns = tensor.array.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{function}: A must be batches of square matrices, but they are {rows} by {columns} matrices. "
            f"Got {describe(tensor)}"
        )


def require_square_floating(function: str, tensor: Any) -> None:
    """Raise unless ``tensor`` holds square matrices of a precision that LAPACK knows."""
    require_square(function, tensor)
    require_floating(function, tensor)


def in_batch(infos: Any) -> tuple[str, int]:
    """For an error: where in the batch the first failure stands, and the failure's number."""
    if not infos.ndim:
        return "", int(infos)
    place = int(np.flatnonzero(infos)[0])
    return f"(Batch element {place}): ", int(infos.reshape(-1)[place])


def transposed(a: Any) -> Any:
    """Each matrix transposed."""
    return np.swapaxes(a, -1, -2)


def adjoint(a: Any) -> Any:
    """Each matrix transposed, and conjugated where it is complex."""
    return np.conjugate(transposed(a)) if is_complex(a) else transposed(a)


def mirrored(a: Any, conjugated: bool = True) -> Any:
    """The matrices of which ``a`` holds the lower half; a Hermitian one is real on its diagonal."""
    below, diagonal = np.tril(a, -1), module_of(a).eye(a.shape[-1], dtype=bool)
    above = adjoint(below) if conjugated else transposed(below)
    return below + above + np.where(diagonal, a.real if conjugated else a, 0).astype(a.dtype)


def row(scalars: Any) -> Any:
    """A vector for each matrix, as a row: it scales columns."""
    return scalars.reshape((*scalars.shape[:-1], 1, scalars.shape[-1]))


def column(scalars: Any) -> Any:
    """A vector for each matrix, as a column: it scales rows."""
    return scalars.reshape((*scalars.shape, 1))
