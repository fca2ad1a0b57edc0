"""More arithmetic of each element: remainders, powers, divisors, and sums and mixtures of three operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.dtypes import HALVES
from autokit.ops.blocks import in_blocks, select
from autokit.ops.complex_numbers import is_complex
from autokit.ops.convert import cast
from autokit.ops.errors import refuse_bools_in, require_floats, require_tensor
from autokit.ops.gpu.kernels import fused
from autokit.ops.guards import guard
from autokit.ops.inplace import in_place
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype, fitting, refuse_bools, taking_numbers
from autokit.ops.operation import derivative, on, operation
from autokit.ops.operators import (
    is_number,
    mul,
    plain_pow,
    plain_sub,
    refuse_zeros,
    rounded_quotient,
    taken,
)
from autokit.ops.own_copies import outlives
from autokit.ops.recording import unchanged
from autokit.tensor import Tensor

# ---------------------------------------------------------------- of one operand


def square(input: Tensor) -> Tensor:
    """The square of each element."""
    return plain_pow(input, 2)


def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# ---------------------------------------------------------------- of two


def rsub(input: Tensor, other: Any, alpha: float = 1) -> Tensor:
    """``other − alpha · input``."""
    refuse_bools((other, input))
    return plain_sub(other, taken(other, input, alpha))


def _fmod(a: Any, b: Any) -> Any:
    refuse_bools_in("fmod_cpu", a)
    if a.dtype.kind not in dtypes.FLOATS:
        refuse_zeros(a, b)
    return np.fmod(a, b)


def _fmod_of_block(a: Any, b: Any, into: Any, /) -> None:
    np.fmod(a, b, out=into)


@operation(
    "fmod",
    "{a} fmod {b}",
    a=derivative("1", unchanged),
    b=derivative("−trunc({a} / {b})", lambda g, a, b: -g * on(rounded_quotient, a, b, mode="trunc")),
    backward=lambda node: f"FmodBackward{int(not is_number(node, 1))}",
    on_arrays=in_blocks(_fmod, _fmod_of_block, "native_arithmetic.fmod"),
)
def fmod(a, b, /):
    """What is left of ``input`` after taking out ``other`` whole times; it has the sign of ``input``."""
    return _fmod(a, b)


def float_power(input: Any, exponent: Any) -> Tensor:
    """``input`` to the power of ``exponent``, in float64 or complex128."""
    complexes = [
        is_complex(each) if isinstance(each, Tensor) else isinstance(each, complex)
        for each in (input, exponent)
    ]
    wide = dtypes.BY_NAME["complex128" if any(complexes) else "float64"]

    def double(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.to(wide)
        return complex(value) if wide.is_complex else float(value)

    return plain_pow(double(input), double(exponent))


def _float_power_in_place(self: Tensor, exponent: Any) -> Tensor:
    """In-place form of :func:`float_power`, for a tensor of float64 or complex128."""
    if self.dtype.name not in ("float64", "complex128"):
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.name} but the operation's result requires "
            "dtype float64"
        )
    return in_place(float_power)(self, exponent)


@operation(
    "· 2ⁿ",
    "{a} · 2^{b}",
    a=derivative("2^{b}", lambda g, b: on(plain_ldexp, g, b)),
    mixed=True,
    elementwise=True,
    name="ldexp",
)
def plain_ldexp(a, b, /):
    """``a`` with its exponent moved by the integers ``b``: right where 2^b alone is too large."""
    wide = a.astype(np.float32 if a.dtype in HALVES else a.dtype, copy=False)
    return np.ldexp(wide, np.clip(b, -4400, 4400).astype(np.int32)).astype(a.dtype, copy=False)


def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """``input · 2^other``."""
    require_tensor("ldexp", other)
    exponent, whole = other, is_whole(other) and not is_whole(input)
    if whole and not is_complex(input):
        refuse_bools_in("ldexp_cpu_exp", other.array)
        made = plain_ldexp(input, other)
    else:
        if whole:
            other = cast(other, dtype=input.array.dtype)  # so that the power has the precision of the input
        made = mul(input, outlives(plain_pow(2.0, other), {1: other}))
    guard(made, [made, exponent] if input._requires_grad else [made])  # as PyTorch, for which it is one step
    return made


def is_whole(value: Any) -> bool:
    """Whether ``value`` is a tensor of integers."""
    return isinstance(value, Tensor) and value.array.dtype.kind in "bui"


@operation("gcd", "gcd({a}, {b})")
def gcd(a, b, /):
    """The greatest common divisor; integers only."""
    _require_integers("gcd_cpu", a)
    return np.gcd(a, b)


@operation("lcm", "lcm({a}, {b})")
def lcm(a, b, /):
    """The least common multiple; integers only."""
    _require_integers("lcm_cpu", a)
    return np.lcm(a, b)


def _require_integers(name: str, a: Any) -> None:
    if a.dtype.kind not in "iu":
        raise NotImplementedError(f'"{name}" not implemented for {a.dtype.name}: it takes integers')


def _first(larger: Any, b: Any) -> Any:
    """Where the first operand is taken: it wins a tie, and a NaN loses to a number."""
    return larger | (b != b)


@operation(
    "max",
    "max({a}, {b})",
    a=derivative("1 where {a} ≥ {b}, else 0", lambda g, a, b: np.where(_first(a >= b, b), g, 0.0)),
    b=derivative("0 where {a} ≥ {b}, else 1", lambda g, a, b: np.where(_first(a >= b, b), 0.0, g)),
)
def fmax(a, b, /):
    """The larger one, element by element; a number where the other is NaN."""
    return np.fmax(a, b)


@operation(
    "min",
    "min({a}, {b})",
    a=derivative("1 where {a} ≤ {b}, else 0", lambda g, a, b: np.where(_first(a <= b, b), g, 0.0)),
    b=derivative("0 where {a} ≤ {b}, else 1", lambda g, a, b: np.where(_first(a <= b, b), 0.0, g)),
)
def fmin(a, b, /):
    """The smaller one, element by element; a number where the other is NaN."""
    return np.fmin(a, b)


# ---------------------------------------------------------------- of three


@operation(
    "+ ×",
    "{input} + {tensor1} · {tensor2}",
    input=derivative("1", unchanged),
    tensor1=derivative("{tensor2}", lambda g, tensor2, value: g * (tensor2 * value)),
    tensor2=derivative("{tensor1}", lambda g, tensor1, value: g * (tensor1 * value)),
    name="addcmul",
    elementwise=True,
)
def plain_addcmul(input, tensor1, tensor2, /, value=1):
    """See :func:`addcmul`."""
    refuse_bools_in("addcmul_cpu_out", input)
    if input.dtype.kind in "ui":
        value = int(fitting(value, input.dtype))
    return input + (tensor1 * tensor2 if value == 1 else value * tensor1 * tensor2)


def _require_real(number: Any, *tensors: Tensor) -> None:
    """Raise where a complex ``number`` is to be a factor of real tensors."""
    if isinstance(number, complex):
        fitting(number, common_dtype(tensors))


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """``input + value · tensor1 · tensor2``."""
    require_tensor("addcmul", tensor1, "tensor1", 2)
    require_tensor("addcmul", tensor2, "tensor2", 3)
    _require_real(value, input, tensor1, tensor2)
    return plain_addcmul(input, tensor1, tensor2, value)


@operation(
    "+ ÷",
    "{input} + {tensor1} / {tensor2}",
    input=derivative("1", unchanged),
    tensor1=derivative("1 / {tensor2}", lambda g, tensor2, value: g * (value / tensor2)),
    tensor2=derivative(
        "−{tensor1} / {tensor2}²",
        lambda g, tensor1, tensor2, value: -g * (value * tensor1 / (tensor2 * tensor2)),
    ),
    name="addcdiv",
    elementwise=True,
)
def plain_addcdiv(input, tensor1, tensor2, /, value=1):
    """See :func:`addcdiv`."""
    return input + (tensor1 / tensor2 if value == 1 else value * tensor1 / tensor2)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """``input + value · tensor1 / tensor2``.

    Raises
    ------
    RuntimeError
        If both are integers: divide them first, and say how to round.
    """
    require_tensor("addcdiv", tensor1, "tensor1", 2)
    require_tensor("addcdiv", tensor2, "tensor2", 3)
    if tensor1.array.dtype.kind in "bui" and tensor2.array.dtype.kind in "bui":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: use (input + value * torch.div(tensor1, "
            'tensor2, rounding_mode="trunc")), or make floats of them'
        )
    _require_real(value, input, tensor1, tensor2)
    return plain_addcdiv(input, tensor1, tensor2, value)


@fused
def _between(input, end, weight, /):
    way = end - input
    return np.where(np.abs(weight) < 0.5, input + weight * way, end - way * (1 - weight))


def _lerp(input: Any, end: Any, weight: Any) -> Any:
    require_floats("lerp_kernel_scalar", input)
    return _between(input, end, weight)


def _lerp_of_block(input: Any, end: Any, weight: Any, into: Any, /) -> None:
    way = end - input
    np.multiply(weight, way, out=into)
    into += input
    near = np.abs(weight) < 0.5
    if not near.all():
        way *= 1 - weight
        select(near, into, end - way, into)


@operation(
    "lerp",
    "{input} + {weight} · ({end} − {input})",
    input=derivative("1 − {weight}", lambda g, weight: g * (1 - weight)),
    end=derivative("{weight}", lambda g, weight: g * weight),
    weight=derivative("{end} − {input}", lambda g, input, end: g * (end - input)),
    name="lerp",
    backward=lambda node: f"LerpBackward{int(not is_number(node, 2))}",
    on_arrays=in_blocks(_lerp, _lerp_of_block, "native_arithmetic.lerp"),
)
def plain_lerp(input, end, weight, /):
    """See :func:`lerp`."""
    return _lerp(input, end, weight)


def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """``input + weight · (end − input)``: from ``input`` at the weight 0 to ``end`` at 1.

    Raises
    ------
    RuntimeError
        If the dtypes differ.
    """
    require_tensor("lerp", end, "end")
    for name, other in (("end", end), ("weight", weight)):
        if isinstance(other, Tensor) and other.array.dtype != input.array.dtype:
            if name == "weight" and not other.array.ndim:
                continue  # it stands for a number
            raise RuntimeError(
                f"expected dtype {input.dtype.name} for `{name}` but got dtype {other.dtype.name}: convert "
                f"it with .to({input.dtype!r})"
            )
    if not isinstance(weight, Tensor):
        require_floats("lerp_kernel_scalar", input.array)
        _require_real(weight, input)
    return plain_lerp(input, end, weight)


NAMES = Names(
    both="addcdiv addcmul float_power fmax fmin fmod gcd lcm ldexp lerp positive square",
    functions="rsub",
    other_methods={"float_power_": _float_power_in_place},
    in_place="addcdiv addcmul fmod gcd lcm ldexp lerp square",
    in_place_functions="gcd lcm ldexp square",
    numpy={
        np.square: square,
        np.positive: positive,
        np.fmod: taking_numbers(fmod),
        np.float_power: float_power,
        np.gcd: taking_numbers(gcd),
        np.lcm: taking_numbers(lcm),
        np.fmax: taking_numbers(fmax),
        np.fmin: taking_numbers(fmin),
        np.ldexp: ldexp,
    },
)
