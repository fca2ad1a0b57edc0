"""TensorFlow 1's functions of tensors, each by autokit's for the same: names and arguments differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.engine.operation import cast as converted_to
from autokit.engine.tensor import Tensor as Value
from autokit.ops import choose, create, join, product
from autokit.static.tf.graph import Tensor, defines
from autokit.static.tf.shapes import as_numpy

# ---------------------------------------------------------------- element by element


def _unary(kind: str, method: str) -> Any:
    """A function of one tensor: autokit's method."""
    return defines(kind, "x")(lambda x: getattr(x, method)())


def _binary(kind: str, method: str) -> Any:
    """A function of two tensors, or of a tensor and a number: autokit's operator or method."""

    def apply(x: Any, y: Any) -> Any:
        x = x if isinstance(x, Value) else create.tensor(x, dtype=y.dtype)
        return getattr(Value, method)(x, y)

    return defines(kind, "x y")(apply)


square, sqrt, exp, log, tanh, sigmoid, abs = [
    _unary(name.capitalize(), name) for name in ("square", "sqrt", "exp", "log", "tanh", "sigmoid", "abs")
]
negative, add, subtract = _unary("Neg", "neg"), _binary("Add", "__add__"), _binary("Sub", "__sub__")
multiply, divide, pow = [_binary(name.capitalize(), f"__{name}__") for name in ("mul", "truediv", "pow")]
equal, maximum, minimum = [_binary(name.capitalize(), name) for name in ("eq", "maximum", "minimum")]
greater, greater_equal = _binary("Greater", "gt"), _binary("GreaterEqual", "ge")
less, less_equal = _binary("Less", "lt"), _binary("LessEqual", "le")

identity = defines("Identity", "input")(lambda input: input.clone())
stop_gradient = defines("StopGradient", "input")(lambda input: input.detach())
cast = defines("Cast", "x")(lambda x, dtype: converted_to(x, dtype=as_numpy(dtype)))
where = defines("Select", "condition x y")(lambda condition, x, y: choose.where(condition, x, y))


@defines("MatMul", "a b")
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The matrix product."""
    return product.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b)


# ---------------------------------------------------------------- reductions


def _reduction(kind: str, method: str) -> Any:
    """A function that combines elements: autokit's method. The last two parameters have older names."""

    def apply(
        x: Any, axis: Any = None, keepdims: Any = False, reduction_indices: Any = None, keep_dims: Any = False
    ) -> Any:
        dims = reduction_indices if axis is None else axis
        dims = range(x.ndim) if dims is None else np.atleast_1d(dims).tolist()
        return getattr(x, method)(tuple(dims), keepdim=keepdims or keep_dims)

    return defines(kind, "x")(apply)


reduce_sum, reduce_mean = _reduction("Sum", "sum"), _reduction("Mean", "mean")
reduce_max, reduce_all = _reduction("Max", "amax"), _reduction("All", "all")
argmax = defines("ArgMax", "input")(lambda input, axis=0: input.argmax(axis))


# ---------------------------------------------------------------- shapes

reshape = defines("Reshape", "tensor")(lambda tensor, shape: tensor.reshape(tuple(map(int, shape))))
concat = defines("concat", "values")(lambda values, axis: join.cat(list(values), dim=axis))
stack = defines("stack", "values")(lambda values, axis=0: join.stack(list(values), dim=axis))
expand_dims = defines("ExpandDims", "input")(lambda input, axis=0: input.unsqueeze(axis))
_slice = defines("strided_slice", "input")(lambda input, index: Value.__getitem__(input, index))


@defines("transpose", "a")
def transpose(a: Any, perm: Any = None) -> Any:
    """The dimensions in the order ``perm``, by default turned around."""
    return a.permute(tuple(range(a.ndim))[::-1] if perm is None else tuple(perm))


@defines("Squeeze", "input")
def squeeze(input: Any, axis: Any = None) -> Any:
    """Without the dimensions of size 1, or those at ``axis``."""
    return input.squeeze() if axis is None else input.squeeze(tuple(np.atleast_1d(axis).tolist()))


@defines("GatherV2", "params indices")
def gather(params: Any, indices: Any, axis: int = 0) -> Any:
    """The parts of ``params`` at ``indices`` along ``axis``."""
    return Value.__getitem__(params.movedim(axis, 0), indices.long()).movedim(0, axis)


@defines("one_hot", "indices")
def one_hot(indices: Any, depth: Any, *, axis: int = -1, dtype: Any = "float") -> Any:
    """For each index, along ``axis``: 1 at its place, else 0."""
    hot = indices.unsqueeze(-1).eq(create.arange(int(depth))).movedim(-1, axis)
    return converted_to(hot, dtype=as_numpy(dtype))


__all__ = [name for name, value in globals().items() if hasattr(value, "plain") and name[0] != "_"]

# ---------------------------------------------------------------- operators

_NAMED = {"add": add, "sub": subtract, "mul": multiply, "truediv": divide, "pow": pow, "matmul": matmul}
_OTHERS = {"neg": negative, "abs": abs, "getitem": _slice}
_OTHERS |= {"gt": greater, "ge": greater_equal, "lt": less, "le": less_equal}


def bind_operators(kind: type, version_of: Any = lambda function: function) -> None:
    """Let the operators of the class ``kind`` be these functions, or the versions of them that are given."""

    def operator(function: Any, name: str, turn: int) -> Any:
        return lambda *operands: function(*operands[::turn], name=name)

    for name, function in _NAMED.items():
        setattr(kind, f"__{name}__", operator(version_of(function), name, 1))
        setattr(kind, f"__r{name}__", operator(version_of(function), name, -1))
    for name, function in _OTHERS.items():
        setattr(kind, f"__{name}__", version_of(function))


bind_operators(Tensor)
