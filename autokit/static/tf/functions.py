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


def _operators(*names: str) -> list[Callable[..., Any]]:
    return [_binary(name.strip("_").capitalize(), f"__{name}__") for name in names]


add, subtract, multiply, divide, floordiv, mod, pow = _operators(
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
)
equal, not_equal, greater, greater_equal, less, less_equal = [
    _binary(kind, f"__{method}__")
    for kind, method in zip(
        ("Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"),
        ("eq", "ne", "gt", "ge", "lt", "le"),
    )
]
maximum, minimum = _binary("Maximum", "maximum"), _binary("Minimum", "minimum")
logical_and, logical_or = _binary("LogicalAnd", "logical_and"), _binary("LogicalOr", "logical_or")
negative, abs, logical_not = _unary("Neg", "neg"), _unary("Abs", "abs"), _unary("LogicalNot", "logical_not")
square, sqrt, exp, log, sin, cos, tanh, sigmoid, sign, floor, round = [
    _unary(name.capitalize(), name)
    for name in ["square", "sqrt", "exp", "log", "sin", "cos", "tanh", "sigmoid", "sign", "floor", "round"]
]


@defines("MatMul", "a b")
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The matrix product."""
    return product.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b)


@defines("Identity", "input")
def identity(input: Any) -> Any:
    """The same values, as an operation of its own."""
    return input.clone()


@defines("StopGradient", "input")
def stop_gradient(input: Any) -> Any:
    """The same values, through which no gradient flows."""
    return input.detach()


@defines("Cast", "x")
def cast(x: Any, dtype: Any) -> Any:
    """The same values in another dtype."""
    return converted_to(x, dtype=as_numpy(dtype))


@defines("Select", "condition x y")
def where(condition: Any, x: Any, y: Any) -> Any:
    """``x`` where the condition holds, else ``y``."""
    return choose.where(condition, x, y)


# ---------------------------------------------------------------- reductions


def _reduction(kind: str, method: str) -> Callable[..., Any]:
    """A function that combines elements: autokit's method."""

    def apply(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        axis = reduction_indices if axis is None else axis
        dims = tuple(range(input_tensor.ndim)) if axis is None else axis
        dims = tuple(dims) if isinstance(dims, list | tuple) else (dims,)
        return (
            getattr(input_tensor, method)(dims, keepdim=bool(keepdims or keep_dims)) if dims else input_tensor
        )

    return defines(kind, "input_tensor")(apply)


reduce_sum, reduce_mean = _reduction("Sum", "sum"), _reduction("Mean", "mean")
reduce_max, reduce_min = _reduction("Max", "amax"), _reduction("Min", "amin")
reduce_all, reduce_any = _reduction("All", "all"), _reduction("Any", "any")


@defines("ArgMax", "input")
def argmax(input: Any, axis: int = 0, dimension: int | None = None) -> Any:
    """Where the largest element along ``axis`` is."""
    return input.argmax(axis if dimension is None else dimension)


# ---------------------------------------------------------------- shapes


@defines("Shape", "input")
def shape(input: Any) -> Any:
    """The sizes of a tensor, as a tensor: they are those that a run feeds."""
    return create.from_numpy(np.array(input.array.shape, np.int32))


@defines("Reshape", "tensor")
def reshape(tensor: Any, shape: Any) -> Any:
    """The same elements in another shape."""
    return tensor.reshape(sizes_of(shape))


@defines("transpose", "a")
def transpose(a: Any, perm: Any = None) -> Any:
    """The dimensions in the order ``perm``, by default turned around."""
    return a.permute(tuple(range(a.ndim))[::-1] if perm is None else tuple(perm))


@defines("ExpandDims", "input")
def expand_dims(input: Any, axis: int = 0, dim: int | None = None) -> Any:
    """One more dimension of size 1 at ``axis``."""
    return input.unsqueeze(axis if dim is None else dim)


@defines("Squeeze", "input")
def squeeze(input: Any, axis: Any = None) -> Any:
    """Without the dimensions of size 1, or those at ``axis``."""
    return input.squeeze() if axis is None else input.squeeze(tuple(axis) if isinstance(axis, list) else axis)


@defines("concat", "values")
def concat(values: Any, axis: int) -> Any:
    """Tensors one after the other along ``axis``."""
    return join.cat(list(values), dim=axis)


@defines("stack", "values")
def stack(values: Any, axis: int = 0) -> Any:
    """Tensors of one shape along a new dimension."""
    return join.stack(list(values), dim=axis)


def _size(value: Any, axis: int = 0, num: int | None = None) -> int:
    return num or len(value.example.array.T if axis in (-1, 1) else value.example.array)


@defines("unstack", "value", outputs=_size)
def unstack(value: Any, axis: int = 0, num: int | None = None) -> Any:
    """The parts of a tensor along ``axis``, as a list."""
    return value.unbind(axis)


def _count(value: Any, num_or_size_splits: Any, axis: int = 0) -> int:
    return num_or_size_splits if isinstance(num_or_size_splits, int) else len(num_or_size_splits)


@defines("split", "value", outputs=_count)
def split(value: Any, num_or_size_splits: Any, axis: int = 0) -> Any:
    """So many equal parts along ``axis``, or parts of these sizes, as a list."""
    size = num_or_size_splits
    if isinstance(size, int) and value.array.shape[axis] % size:
        raise ValueError(
            f"{size} equal parts do not fit into {value.array.shape[axis]} along dimension {axis}"
        )
    return value.split(value.array.shape[axis] // size if isinstance(size, int) else list(size), axis)


@defines("GatherV2", "params indices")
def gather(params: Any, indices: Any, axis: int = 0) -> Any:
    """The parts of ``params`` at ``indices`` along ``axis``."""
    taken = Value.__getitem__(params.movedim(axis, 0), indices.long())
    return taken if axis == 0 else taken.movedim(0, axis)


@defines("one_hot", "indices")
def one_hot(
    indices: Any, depth: Any, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = "float32"
) -> Any:
    """A row for each index: ``on_value`` at its place, else ``off_value``."""
    hot = indices.unsqueeze(-1).eq(create.arange(int(known(depth))))
    return converted_to(choose.where(hot, on_value, off_value), dtype=as_numpy(dtype))


@defines("strided_slice", "input")
def _slice(input: Any, index: Any) -> Any:
    places = index if isinstance(index, tuple) else (index,)
    return Value.__getitem__(input, tuple(map(known, places)))


@defines("zeros_like", "tensor")
def zeros_like(tensor: Any) -> Any:
    """Zeros in the shape of ``tensor``."""
    return create.zeros_like(tensor)


@defines("ones_like", "tensor")
def ones_like(tensor: Any) -> Any:
    """Ones in the shape of ``tensor``."""
    return create.ones_like(tensor)


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
