"""TensorFlow 1's functions of tensors, each by autokit's for the same: names and arguments differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.engine.operation import cast as converted_to
from autokit.engine.tensor import Tensor as Value
from autokit.ops import choose, create, join, product
from autokit.static.tf.graph import Tensor, defines
from autokit.static.tf.shapes import as_numpy, known, sizes_of

# ---------------------------------------------------------------- element by element


def _unary(kind: str, method: str) -> Callable[..., Any]:
    """A function of one tensor: autokit's method."""
    return defines(kind, "x")(lambda x: getattr(x, method)())


def _binary(kind: str, method: str) -> Callable[..., Any]:
    """A function of two tensors, or of a tensor and a number: autokit's operator or method."""

    def apply(x: Any, y: Any) -> Any:
        x = x if isinstance(x, Value) else create.tensor(x, dtype=y.dtype)
        return getattr(Value, method)(x, y)

    return defines(kind, "x y")(apply)


square, sqrt, exp, log, sin, cos, tanh, sigmoid, abs, sign, floor = [
    _unary(name.capitalize(), name)
    for name in ("square", "sqrt", "exp", "log", "sin", "cos", "tanh", "sigmoid", "abs", "sign", "floor")
]
negative, logical_not = _unary("Neg", "neg"), _unary("LogicalNot", "logical_not")
add, subtract, multiply, divide, floordiv, mod, pow = [
    _binary(name.capitalize(), f"__{name}__")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
]
equal, not_equal = _binary("Equal", "__eq__"), _binary("NotEqual", "__ne__")
greater, greater_equal = _binary("Greater", "__gt__"), _binary("GreaterEqual", "__ge__")
less, less_equal = _binary("Less", "__lt__"), _binary("LessEqual", "__le__")
maximum, minimum = _binary("Maximum", "maximum"), _binary("Minimum", "minimum")
logical_and, logical_or = _binary("LogicalAnd", "logical_and"), _binary("LogicalOr", "logical_or")

identity = defines("Identity", "input")(lambda input: input.clone())
stop_gradient = defines("StopGradient", "input")(lambda input: input.detach())
cast = defines("Cast", "x")(lambda x, dtype: converted_to(x, dtype=as_numpy(dtype)))
where = defines("Select", "condition x y")(lambda condition, x, y: choose.where(condition, x, y))
zeros_like = defines("zeros_like", "tensor")(lambda tensor: create.zeros_like(tensor))
ones_like = defines("ones_like", "tensor")(lambda tensor: create.ones_like(tensor))


@defines("MatMul", "a b")
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The matrix product."""
    return product.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b)


# ---------------------------------------------------------------- reductions


def _reduction(kind: str, method: str) -> Callable[..., Any]:
    """A function that combines elements: autokit's method."""

    def apply(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = False,
        reduction_indices: Any = None,
        keep_dims: Any = False,
    ) -> Any:
        dims = reduction_indices if axis is None else axis
        dims = range(input_tensor.ndim) if dims is None else np.atleast_1d(dims).tolist()
        return (
            getattr(input_tensor, method)(tuple(dims), keepdim=keepdims or keep_dims)
            if dims
            else input_tensor
        )

    return defines(kind, "input_tensor")(apply)


reduce_sum, reduce_mean = _reduction("Sum", "sum"), _reduction("Mean", "mean")
reduce_max, reduce_min = _reduction("Max", "amax"), _reduction("Min", "amin")
reduce_all, reduce_any = _reduction("All", "all"), _reduction("Any", "any")


argmax = defines("ArgMax", "input")(lambda input, axis=0: input.argmax(axis))


# ---------------------------------------------------------------- shapes

reshape = defines("Reshape", "tensor")(lambda tensor, shape: tensor.reshape(sizes_of(shape)))
concat = defines("concat", "values")(lambda values, axis: join.cat(list(values), dim=axis))
stack = defines("stack", "values")(lambda values, axis=0: join.stack(list(values), dim=axis))
expand_dims = defines("ExpandDims", "input")(lambda input, axis=0: input.unsqueeze(axis))


@defines("Shape", "input")
def shape(input: Any) -> Any:
    """The sizes of a tensor, as a tensor: they are those that a run feeds."""
    return create.from_numpy(np.array(input.array.shape, np.int32))


@defines("transpose", "a")
def transpose(a: Any, perm: Any = None) -> Any:
    """The dimensions in the order ``perm``, by default turned around."""
    return a.permute(tuple(range(a.ndim))[::-1] if perm is None else tuple(perm))


@defines("Squeeze", "input")
def squeeze(input: Any, axis: Any = None) -> Any:
    """Without the dimensions of size 1, or those at ``axis``."""
    return input.squeeze() if axis is None else input.squeeze(tuple(np.atleast_1d(axis).tolist()))


def _count(value: Any, num_or_size_splits: Any, axis: int = 0) -> int:
    return num_or_size_splits if isinstance(num_or_size_splits, int) else len(num_or_size_splits)


@defines("split", "value", outputs=_count)
def split(value: Any, num_or_size_splits: Any, axis: int = 0) -> Any:
    """So many equal parts along ``axis``, or parts of these sizes, as a list."""
    parts, size = num_or_size_splits, value.array.shape[axis]
    if isinstance(parts, int) and size % parts:
        raise ValueError(f"{parts} equal parts do not fit into {size} along dimension {axis}")
    return value.split(size // parts if isinstance(parts, int) else list(parts), axis)


@defines("GatherV2", "params indices")
def gather(params: Any, indices: Any, axis: int = 0) -> Any:
    """The parts of ``params`` at ``indices`` along ``axis``."""
    taken = Value.__getitem__(params.movedim(axis, 0), indices.long())
    return taken if axis == 0 else taken.movedim(0, axis)


@defines("one_hot", "indices")
def one_hot(
    indices: Any, depth: Any, on_value: Any = 1.0, off_value: Any = 0.0, dtype: Any = "float32"
) -> Any:
    """A row for each index: ``on_value`` at its place, else ``off_value``."""
    hot = indices.unsqueeze(-1).eq(create.arange(int(known(depth))))
    return converted_to(choose.where(hot, on_value, off_value), dtype=as_numpy(dtype))


@defines("strided_slice", "input")
def _slice(input: Any, index: Any) -> Any:
    places = index if isinstance(index, tuple) else (index,)
    return Value.__getitem__(input, tuple(map(known, places)))


__all__ = [name for name, value in globals().items() if hasattr(value, "plain") and name[0] != "_"]

# ---------------------------------------------------------------- operators

_BINARY = {"add": add, "sub": subtract, "mul": multiply, "truediv": divide, "floordiv": floordiv, "mod": mod}
_BINARY |= {"pow": pow, "matmul": matmul, "and": logical_and, "or": logical_or}
_OTHERS = {"neg": negative, "abs": abs, "invert": logical_not, "getitem": _slice}
_OTHERS |= {"gt": greater, "ge": greater_equal, "lt": less, "le": less_equal}


def bind_operators(kind: type, version_of: Callable[[Any], Any] = lambda function: function) -> None:
    """Let the operators of the class ``kind`` be these functions, or the versions of them that are given."""

    def operator(function: Any, name: str, turn: int) -> Any:
        return lambda *operands: function(*operands[::turn], name=name)

    for name, function in _BINARY.items():
        setattr(kind, f"__{name}__", operator(version_of(function), name, 1))
        setattr(kind, f"__r{name}__", operator(version_of(function), name, -1))
    for name, function in _OTHERS.items():
        setattr(kind, f"__{name}__", version_of(function))


bind_operators(Tensor)
