"""Complex numbers and their parts: real and imaginary part, size and angle, the conjugate.

A complex tensor lies in memory as pairs of real numbers, and a tensor of pairs
is a complex one: each of :func:`view_as_real` and :func:`view_as_complex` is a
view of the other's memory.  Between a complex number and two real ones there
is no slope but 1: gradients go from one form to the other as the numbers do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.dtypes import BY_NUMPY, FLOATS
from autokit.ops.complex_numbers import is_complex
from autokit.ops.elementwise import sgn
from autokit.ops.errors import describe, kind_of, require_tensor
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.own_copies import outlives
from autokit.ops.shape import select, transpose
from autokit.tensor import Tensor

# ---------------------------------------------------------------- pairs of real numbers


def pairs(a: Any) -> Any:
    """The memory of the complex array ``a`` as real numbers, two along a new last dimension."""
    return a[..., None].view(BY_NUMPY[a.dtype].to_real().numpy)


def _of_pairs(a: Any) -> Any:
    """The memory of pairs of real numbers as complex ones."""
    return a.view(BY_NUMPY[a.dtype].to_complex().numpy)[..., 0]


@operation(
    "Re, Im",
    "(Re {a}, Im {a})",
    a=derivative("1", lambda g: on(plain_view_as_complex, g)),
    view=True,
    name="view_as_real",
)
def plain_view_as_real(a, /):
    """See :func:`view_as_real`."""
    return pairs(a)


def view_as_real(input: Tensor) -> Tensor:
    """The real and the imaginary parts of complex numbers along a new last dimension, in the same memory.

    Raises
    ------
    RuntimeError
        If the numbers are not complex.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.view_as_real(torch.tensor([1 + 2j, 3 - 4j]))
    tensor([[ 1.,  2.],
            [ 3., -4.]])
    """
    require_tensor("view_as_real", input, "input", 1)
    if not is_complex(input):
        raise RuntimeError(f"view_as_real is only supported for complex tensors: {describe(input)} is real")
    return plain_view_as_real(input)


@operation(
    "Re + i Im",
    "{a}₀ + i {a}₁",
    a=derivative("1", lambda g: on(plain_view_as_real, g)),
    view=True,
    name="view_as_complex",
)
def plain_view_as_complex(a, /):
    """See :func:`view_as_complex`."""
    return _of_pairs(a if _are_pairs(a) else np.ascontiguousarray(a)) if a.size else a[..., 0] * 1j


def _are_pairs(a: Any) -> bool:
    """Whether the last dimension's two numbers lie side by side, and pairs at places of pairs."""
    return (
        not a.size
        or a.strides[-1] == a.itemsize
        and not any(step % (2 * a.itemsize) for step, size in zip(a.strides[:-1], a.shape) if size > 1)
    )


def view_as_complex(input: Tensor) -> Tensor:
    """Complex numbers, each from two real ones along the last dimension, in the same memory.

    Parameters
    ----------
    input : Tensor
        Of float32 or float64 and shape (…, 2).

    Returns
    -------
    Tensor
        Of complex64 or complex128 and shape (…).

    Raises
    ------
    RuntimeError
        If the last dimension has not two elements, or they do not lie side by side in memory.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, -4.0]]))
    tensor([1.+2.j, 3.-4.j])
    """
    require_tensor("view_as_complex", input, "input", 1)
    a = input.array
    if a.dtype.kind not in FLOATS:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            f"scalar type: {kind_of(a)}"
        )
    _refuse_halves("view_as_complex", a)
    if not a.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if a.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2: {describe(input)}; .reshape(*x.shape[:-1], -1, 2) "
            "makes pairs of neighbours"
        )
    if a.size and a.strides[-1] != a.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1: make it .contiguous() first")
    if not _are_pairs(a):
        raise RuntimeError(
            "Tensor must have a stride divisible by 2 for all but last dimension: make it .contiguous() first"
        )
    return plain_view_as_complex(input)


def real(input: Tensor) -> Tensor:
    """The real parts, in the same memory; of real numbers the tensor itself."""
    require_tensor("real", input, "input", 1)
    return select(view_as_real(input), -1, 0) if is_complex(input) else input


def imag(input: Tensor) -> Tensor:
    """The imaginary parts, in the same memory.

    Raises
    ------
    RuntimeError
        If the numbers are real.
    """
    require_tensor("imag", input, "input", 1)
    if not is_complex(input):
        raise RuntimeError(
            f"imag is not implemented for tensors with non-complex dtypes: {describe(input)} is real"
        )
    return select(view_as_real(input), -1, 1)


def set_real(self: Tensor, value: Any) -> None:
    """Write ``value`` into the real parts."""
    real(self).copy_(value)


def set_imag(self: Tensor, value: Any) -> None:
    """Write ``value`` into the imaginary parts."""
    imag(self).copy_(value)


# ---------------------------------------------------------------- from two real tensors


@operation(
    "+ i",
    "{a} + i {b}",
    a=derivative("1", lambda g: np.real(g)),
    b=derivative("i", lambda g: np.imag(g)),
    name="complex",
    elementwise=True,
    mixed=True,
)
def _complex(a, b, /):
    """See :func:`complex`."""
    return _of_pairs(np.stack(np.broadcast_arrays(a, b), axis=-1))


@guards(learning="real imag")
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """The complex numbers real + i · imag.

    Parameters
    ----------
    real, imag : Tensor
        Both of float32, or both of float64.

    Returns
    -------
    Tensor
        Of complex64 or complex128.

    Raises
    ------
    RuntimeError
        If they are of other dtypes, or of two.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([0.0, -1.0]))
    tensor([1.+0.j, 2.-1.j])
    """
    _require_floats_alike("complex", real, imag, "real", "imag")
    return _complex(real, imag)


def _turn(g: Any, abs: Any, out: Any) -> Any:
    return np.conjugate(g) * (on(sgn, out) * on(sgn, abs))  # exp iφ, but for 0 at 0, as in PyTorch


@operation(
    "∠",
    "{abs} · exp(i {angle})",
    abs=derivative("exp(i {angle})", _turn),
    angle=derivative("i · {out}", lambda g, out: np.conjugate(g) * (out * 1j)),
    name="polar",
    elementwise=True,
    mixed=True,
)
def _polar(abs, angle, /):
    """See :func:`polar`."""
    return _complex.operation.forward(abs * np.cos(angle), abs * np.sin(angle))


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """The complex numbers of these sizes and angles, abs · (cos angle + i sin angle).

    Parameters
    ----------
    abs, angle : Tensor
        Both of float32, or both of float64; the angle in radians.

    Returns
    -------
    Tensor
        Of complex64 or complex128.

    Raises
    ------
    RuntimeError
        If they are of other dtypes, or of two.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.polar(torch.tensor([1.0, 2.0]), torch.tensor([0.0, torch.pi / 2])).real.round()
    tensor([1., -0.])
    """
    _require_floats_alike("polar", abs, angle, "abs", "angle")
    return outlives(_polar(abs, angle), {0: abs})  # PyTorch finds its sign in the result


def _require_floats_alike(name: str, first: Any, second: Any, *words: str) -> None:
    """Raise unless both are tensors of one dtype that has complex numbers."""
    require_tensor(name, first, words[0], 1)
    require_tensor(name, second, words[1], 2)
    a, b = first.array, second.array
    if not (a.dtype.kind in FLOATS and b.dtype.kind in FLOATS):
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {kind_of(a)} and {kind_of(b)}"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {kind_of(a)} but got scalar type {kind_of(b)} for second "
            "argument: convert one with .to(...)"
        )
    _refuse_halves(name, a)


def _refuse_halves(name: str, a: Any) -> None:
    if a.itemsize == 2:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{kind_of(a)}': there are complex numbers of two float32 or two "
            "float64; convert with .float()"
        )


# ---------------------------------------------------------------- conjugate and angle


@operation(
    "conj",
    "conjugate of {a}",
    a=derivative("the conjugate of what arrives", lambda g: np.conjugate(g)),
    name="conj",
    elementwise=True,
    backward=lambda node: node.settings["node"],
)
def _conj(a, /, node="ConjBackward0"):
    """See :func:`conj`."""
    return np.conjugate(a)


def conj(input: Tensor) -> Tensor:
    """The conjugate of each element, its imaginary part negated; of real numbers the tensor itself.

    It is computed at once, where PyTorch waits until somebody reads it.

    >>> import autokit as torch
    >>> torch.tensor([1 + 2j]).conj()
    tensor([1.-2.j])
    """
    require_tensor("conj", input, "input", 1)
    return _conj(input) if is_complex(input) else input


def conj_physical(input: Tensor) -> Tensor:
    """As :func:`conj`."""
    require_tensor("conj_physical", input, "input", 1)
    return _conj(input, node="ConjPhysicalBackward0") if is_complex(input) else input


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: a conjugate is computed at once."""
    require_tensor("resolve_conj", input, "input", 1)
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: a negative is computed at once."""
    require_tensor("resolve_neg", input, "input", 1)
    return input


def _of_angle(g: Any, a: Any) -> Any:
    if not is_complex(a):
        return np.zeros_like(g)
    return np.where(a == 0, 0, g * (1j / np.conjugate(np.where(a == 0, 1, a))))


@operation("∠", "angle of {a}", a=derivative("i / conjugate of {a}", _of_angle), floating=True)
def angle(a, /):
    """The angle of each element in the complex plane, in radians: for real numbers π below 0, and else 0."""
    if a.dtype.kind == "c":
        return np.arctan2(a.imag, a.real)
    return np.where(np.isnan(a), a, np.where(a < 0, np.pi, 0)).astype(a.dtype)


def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated."""
    if not input.array.ndim:
        return input.view(()) if not is_complex(input) else conj(input)
    if input.array.ndim < 2:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got "
            f"{input.array.ndim}-D tensor."
        )
    return conj(transpose(input, -2, -1))


def mH(self: Tensor) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated."""
    return adjoint(self)


def H(self: Tensor) -> Tensor:
    """The transpose of a matrix, with complex numbers conjugated."""
    if self.array.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.array.ndim}-D tensor."
        )
    return conj(transpose(self, 0, 1))


NAMES = Names(
    both="adjoint angle conj conj_physical resolve_conj resolve_neg",
    functions="complex imag polar real view_as_complex view_as_real",
    properties="H imag mH real",
    in_place="conj_physical",
    in_place_functions="conj_physical",
    numpy={
        np.conjugate: conj,
        np.real: real,
        np.imag: lambda val: imag(val) if is_complex(val) else val * 0,
        np.angle: lambda z, deg=False: angle(z) * (180 / np.pi) if deg else angle(z),
    },
)
