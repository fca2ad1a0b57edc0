"""TensorFlow 1's functions of tensors, each by autokit's for the same: names and arguments differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base.dtypes import BY_NUMPY
from autokit.engine.operation import cast as converted_to
from autokit.engine.tensor import new_tensor
from autokit.ops import choose, create, join
from autokit.static.tf.graph import Tensor, defines
from autokit.static.tf.shapes import as_numpy
from autokit.static.tf.values import known, sizes_of

__all__ = [
    *("abs", "add", "argmax", "cast", "concat", "cos", "divide", "equal", "exp", "expand_dims"),
    *("floor", "floordiv", "gather", "greater", "greater_equal", "identity", "less", "less_equal"),
    *("log", "logical_and", "logical_not", "logical_or", "matmul", "maximum", "minimum", "mod"),
    *("multiply", "negative", "not_equal", "one_hot", "ones_like", "pow", "reduce_all"),
    *("reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_sum", "reshape", "round"),
    *("shape", "sigmoid", "sign", "sin", "split", "sqrt", "square", "squeeze", "stack"),
    *("stop_gradient", "subtract", "tanh", "transpose", "unstack", "where", "zeros_like"),
]

# ---------------------------------------------------------------- element by element


def _unary(kind: str, method: str) -> Callable[..., Any]:
    """A function of one tensor: the method of autokit's."""

    @defines(kind, "x")
    def apply(x: Any) -> Any:
        return getattr(x, method)()

    return apply


def _binary(kind: str, method: str) -> Callable[..., Any]:
    """A function of two tensors or numbers: the operator of autokit's, or its method."""

    @defines(kind, "x y")
    def apply(x: Any, y: Any) -> Any:
        x, y = _both(x, y)
        return getattr(x, method)(y)

    return apply


def _both(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, the first of which is a tensor."""
    return (x if hasattr(x, "array") else new_tensor(np.asarray(x, y.array.dtype))), y


add, subtract, multiply = _binary("Add", "__add__"), _binary("Sub", "__sub__"), _binary("Mul", "__mul__")
divide, pow, floordiv = (
    _binary("truediv", "__truediv__"),
    _binary("Pow", "__pow__"),
    _binary("FloorDiv", "__floordiv__"),
)
mod = _binary("FloorMod", "__mod__")
equal, not_equal = _binary("Equal", "__eq__"), _binary("NotEqual", "__ne__")
greater, greater_equal = _binary("Greater", "__gt__"), _binary("GreaterEqual", "__ge__")
less, less_equal = _binary("Less", "__lt__"), _binary("LessEqual", "__le__")
maximum, minimum = _binary("Maximum", "maximum"), _binary("Minimum", "minimum")
logical_and, logical_or = _binary("LogicalAnd", "logical_and"), _binary("LogicalOr", "logical_or")
negative, abs, sign, square = (
    _unary("Neg", "neg"),
    _unary("Abs", "abs"),
    _unary("Sign", "sign"),
    _unary("Square", "square"),
)
sqrt, exp, log, sin, cos = [_unary(name.capitalize(), name) for name in ("sqrt", "exp", "log", "sin", "cos")]
tanh, sigmoid, round, floor = [
    _unary(name.capitalize(), name) for name in ("tanh", "sigmoid", "round", "floor")
]
logical_not = _unary("LogicalNot", "logical_not")


@defines("MatMul", "a b")
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The matrix product."""
    return (a.mT if transpose_a else a) @ (b.mT if transpose_b else b)


@defines("Identity", "input")
def identity(input: Any) -> Any:
    """The same values, as an operation of its own."""
    return input * 1 if input.array.dtype.kind == "f" else input.clone()


@defines("StopGradient", "input")
def stop_gradient(input: Any) -> Any:
    """The same values, through which no gradient flows."""
    return input.detach()


@defines("Cast", "x")
def cast(x: Any, dtype: Any) -> Any:
    """The same values in another dtype."""
    return converted_to(x, dtype=BY_NUMPY[as_numpy(dtype)].numpy)


@defines("Select", "condition x y")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``x`` where the condition holds, else ``y``."""
    if x is None or y is None:
        raise ValueError(
            "tf.where needs x and y: how many places a condition holds at is not known before a run"
        )
    return choose.where(condition, x, y)


# ---------------------------------------------------------------- reductions


def _reduction(kind: str, method: str) -> Callable[..., Any]:
    """A function that combines elements: the method of autokit's tensors."""

    @defines(kind, "input_tensor")
    def apply(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool = False,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        axis = reduction_indices if axis is None else axis
        axis = tuple(range(input_tensor.ndim)) if axis is None else axis
        axis = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
        if not axis:
            return input_tensor
        return getattr(input_tensor, method)(axis, keepdim=keepdims or bool(keep_dims))

    return apply


reduce_sum, reduce_mean = _reduction("Sum", "sum"), _reduction("Mean", "mean")
reduce_max, reduce_min = _reduction("Max", "amax"), _reduction("Min", "amin")
reduce_all, reduce_any = _reduction("All", "all"), _reduction("Any", "any")


@defines("ArgMax", "input")
def argmax(
    input: Any, axis: int | None = None, dimension: int | None = None, output_type: Any = np.int64
) -> Any:
    """Where the largest element along ``axis`` is; by default along the first one."""
    place = axis if axis is not None else dimension or 0
    return converted_to(input.argmax(place), dtype=as_numpy(output_type))


# ---------------------------------------------------------------- shapes


@defines("Shape", "input")
def shape(input: Any) -> Any:
    """The sizes of a tensor, as a tensor: they are those that a run feeds."""
    return new_tensor(np.array(input.array.shape, np.int32))


@defines("Reshape", "tensor")
def reshape(tensor: Any, shape: Any) -> Any:
    """The same elements in another shape."""
    return tensor.reshape(sizes_of(shape))


@defines("transpose", "a")
def transpose(a: Any, perm: Any = None) -> Any:
    """The dimensions in the order ``perm``, by default turned around."""
    return a.permute(tuple(reversed(range(a.ndim))) if perm is None else tuple(perm))


@defines("ExpandDims", "input")
def expand_dims(input: Any, axis: int | None = None, dim: int | None = None) -> Any:
    """One more dimension of size 1 at ``axis``."""
    return input.unsqueeze(dim if axis is None else axis)


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


def _parts(value: Tensor, axis: int = 0, num: int | None = None) -> int:
    size = num or value.shape[axis].value
    if size is None:
        raise ValueError(f"Cannot infer num from shape {value.shape}")
    return size


@defines("unstack", "value", outputs=_parts)
def unstack(value: Any, axis: int = 0, num: int | None = None) -> Any:
    """The parts of a tensor along ``axis``, as a list."""
    return value.unbind(axis)


@defines(
    "split",
    "value",
    outputs=lambda value, num_or_size_splits, axis=0: (
        num_or_size_splits if isinstance(num_or_size_splits, int) else len(num_or_size_splits)
    ),
)
def split(value: Any, num_or_size_splits: Any, axis: int = 0) -> Any:
    """So many equal parts along ``axis``, or parts of these sizes, as a list."""
    if isinstance(num_or_size_splits, int):
        size = value.shape[axis]
        if size % num_or_size_splits:
            raise ValueError(
                f"{num_or_size_splits} equal parts do not fit into the size {size} of dimension {axis}"
            )
        return value.split(size // num_or_size_splits, axis)
    return value.split(list(num_or_size_splits), axis)


@defines("GatherV2", "params indices")
def gather(params: Any, indices: Any, axis: int = 0) -> Any:
    """The parts of ``params`` at ``indices`` along ``axis``."""
    rows = params if axis == 0 else params.movedim(axis, 0)
    taken = rows[indices.long()]
    return taken if axis == 0 else taken.movedim(0, axis)


@defines("one_hot", "indices")
def one_hot(
    indices: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = np.float32
) -> Any:
    """A row for each index: ``on_value`` at its place, else ``off_value``."""
    hot = indices.unsqueeze(-1) == create.arange(int(known(depth)))
    return converted_to(hot, dtype=as_numpy(dtype)) * (on_value - off_value) + off_value


@defines("strided_slice", "input")
def _part(input: Any, index: Any) -> Any:
    places = index if isinstance(index, tuple) else (index,)
    return input[tuple([each if each is None or isinstance(each, slice) else known(each) for each in places])]


@defines("zeros_like", "tensor")
def zeros_like(tensor: Any, dtype: Any = None) -> Any:
    """Zeros in the shape of ``tensor``."""
    return create.zeros_like(tensor)


@defines("ones_like", "tensor")
def ones_like(tensor: Any, dtype: Any = None) -> Any:
    """Ones in the shape of ``tensor``."""
    return create.ones_like(tensor)


# ---------------------------------------------------------------- operators


def _operator(name: str, function: Callable[..., Any], label: str) -> None:
    """Bind ``function`` to the class as an operator, and turned around as the reflected one."""
    setattr(Tensor, f"__{name}__", lambda self, other: function(self, other, name=label))
    setattr(Tensor, f"__r{name}__", lambda self, other: function(other, self, name=label))


_operator("add", add, "add")
_operator("sub", subtract, "sub")
_operator("mul", multiply, "mul")
_operator("truediv", divide, "truediv")
_operator("floordiv", floordiv, "floordiv")
_operator("mod", mod, "mod")
_operator("pow", pow, "pow")
_operator("matmul", matmul, "matmul")
_operator("and", logical_and, "and")
_operator("or", logical_or, "or")
for _name, _function in (
    *(("neg", negative), ("abs", abs), ("invert", logical_not)),
    *(("gt", greater), ("ge", greater_equal), ("lt", less), ("le", less_equal), ("getitem", _part)),
):
    setattr(Tensor, f"__{_name}__", _function)
