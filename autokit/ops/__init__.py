"""All operations, one rule each, and the forms that are made from a rule.

The families are files of this package.  Here each operation gets its other
forms: the method ``x.exp()``, the operator ``x + y`` with its reflection
``2 + x``, and the in-place form ``x.exp_()``.
"""

from __future__ import annotations

import warnings
from typing import Any

from autokit.ops.compare import (
    allclose,
    eq,
    equal,
    ge,
    gt,
    is_tensor,
    isfinite,
    isnan,
    le,
    logical_and,
    logical_not,
    logical_or,
    lt,
    ne,
    numel,
)
from autokit.ops.convert import CONVERSIONS, cpu, cuda, to, type_as
from autokit.ops.create import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    tensor,
    zeros,
    zeros_like,
)
from autokit.ops.elementwise import (
    abs,
    add,
    clamp,
    clone,
    cos,
    div,
    exp,
    floor,
    floor_divide,
    log,
    maximum,
    minimum,
    mul,
    neg,
    pow,
    relu,
    remainder,
    sigmoid,
    sign,
    sin,
    sqrt,
    sub,
    tanh,
    where,
)
from autokit.ops.index import getitem, nonzero
from autokit.ops.inplace import copy_, fill_, in_place, normal_, setitem, uniform_, zero_
from autokit.ops.linalg import bmm, dot, matmul, mm, mv
from autokit.ops.reduce import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    log_softmax,
    logsumexp,
    max,
    mean,
    min,
    softmax,
    std,
    sum,
    var,
)
from autokit.ops.shape import (
    cat,
    contiguous,
    expand,
    expand_as,
    flatten,
    gather,
    permute,
    ravel,
    reshape,
    squeeze,
    stack,
    t,
    transpose,
    unsqueeze,
    view,
    view_as,
)
from autokit.tensor import Tensor

# An overflow or a division by zero gives inf or nan in silence, as in PyTorch.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autokit\.")

CREATION = {
    "arange": arange,
    "as_tensor": as_tensor,
    "empty": empty,
    "empty_like": empty_like,
    "eye": eye,
    "from_numpy": from_numpy,
    "full": full,
    "full_like": full_like,
    "linspace": linspace,
    "ones": ones,
    "ones_like": ones_like,
    "rand": rand,
    "rand_like": rand_like,
    "randint": randint,
    "randn": randn,
    "randn_like": randn_like,
    "randperm": randperm,
    "tensor": tensor,
    "zeros": zeros,
    "zeros_like": zeros_like,
}
"""Functions that make a tensor of something else."""

QUERIES = {"allclose": allclose, "equal": equal, "is_tensor": is_tensor, "numel": numel}
"""Functions whose answer is no tensor."""

FUNCTIONS = {
    function.__name__: function
    for function in (
        *(abs, add, clamp, clone, cos, div, eq, exp, floor, floor_divide, ge, gt, isfinite, isnan, le, log),
        *(logical_and, logical_not, logical_or, lt, maximum, minimum, mul, ne, neg, pow, relu, remainder, sigmoid),
        *(sign, sin, sqrt, sub, tanh, where, nonzero),
        *(bmm, dot, matmul, mm, mv),
        *(all, amax, amin, any, argmax, argmin, log_softmax, logsumexp, max, mean, min, softmax, std, sum, var),
        *(flatten, gather, permute, ravel, reshape, squeeze, t, transpose, unsqueeze),
    )
}
"""Operations that are functions and methods under one name."""

FUNCTIONS.update(
    absolute=abs,
    clip=clamp,
    divide=div,
    multiply=mul,
    negative=neg,
    subtract=sub,
    true_divide=div,
    swapaxes=transpose,
)

METHODS = {
    **{each.__name__: each for each in (contiguous, cpu, cuda, expand, expand_as, to, type_as, view, view_as)},
    **{each.__name__: each for each in (copy_, fill_, normal_, uniform_, zero_)},
    **CONVERSIONS,
}
"""What is a method alone."""

IN_PLACE = ("abs", "add", "clamp", "clip", "cos", "div", "divide", "exp", "floor", "log", "mul", "multiply", "neg")
IN_PLACE += ("pow", "relu", "remainder", "sigmoid", "sin", "sqrt", "sub", "subtract", "tanh")

OPERATORS = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "truediv": div,
    "floordiv": floor_divide,
    "mod": remainder,
    "pow": pow,
    "matmul": matmul,
}


def _bind() -> None:
    """Give :class:`Tensor` its methods and operators."""
    for name, function in {**FUNCTIONS, **METHODS}.items():
        setattr(Tensor, name, function)
    for name in IN_PLACE:
        setattr(Tensor, f"{name}_", in_place(FUNCTIONS[name]))
    for name, function in OPERATORS.items():
        setattr(Tensor, f"__{name}__", _operator(function))
        setattr(Tensor, f"__r{name}__", _reflected(function))
        if name != "matmul":
            setattr(Tensor, f"__i{name}__", in_place(function))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Tensor, f"__{name}__", FUNCTIONS[name])
    for name, one in {"neg": neg, "abs": abs, "getitem": getitem, "setitem": setitem}.items():
        setattr(Tensor, f"__{name}__", one)
    for name, both in {"and": logical_and, "or": logical_or}.items():
        setattr(Tensor, f"__{name}__", both)
    setattr(Tensor, "__invert__", logical_not)
    setattr(Tensor, "__hash__", object.__hash__)
    setattr(Tensor, "T", property(lambda self: permute(self, tuple(range(self.ndim))[::-1])))
    setattr(Tensor, "mT", property(lambda self: transpose(self, -2, -1)))


def _operator(function: Any) -> Any:
    return function


def _reflected(function: Any) -> Any:
    def apply(self: Tensor, other: Any) -> Tensor:
        return function(other, self)

    return apply


_bind()

from autokit.ops import numpy_protocol  # noqa: E402, F401 - needs the functions above
