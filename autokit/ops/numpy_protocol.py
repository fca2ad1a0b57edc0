"""NumPy's functions on tensors: ``np.exp(x)`` records as ``x.exp()`` does.

NumPy asks an operand that is no array what to do (NEP 13 for ufuncs, NEP 18
for other functions).  The rules themselves rely on it: a derivative written
for arrays runs on tensors when it is to be differentiated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops import compare, create, elementwise, linalg, reduce, shape
from autokit.tensor import Tensor

UFUNCS = {
    np.add: elementwise.add,
    np.subtract: elementwise.sub,
    np.multiply: elementwise.mul,
    np.true_divide: elementwise.div,
    np.negative: elementwise.neg,
    np.power: elementwise.pow,
    np.floor_divide: elementwise.floor_divide,
    np.remainder: elementwise.remainder,
    np.exp: elementwise.exp,
    np.log: elementwise.log,
    np.sqrt: elementwise.sqrt,
    np.tanh: elementwise.tanh,
    np.absolute: elementwise.abs,
    np.sin: elementwise.sin,
    np.cos: elementwise.cos,
    np.sign: elementwise.sign,
    np.floor: elementwise.floor,
    np.maximum: elementwise.maximum,
    np.minimum: elementwise.minimum,
    np.equal: compare.eq,
    np.not_equal: compare.ne,
    np.less: compare.lt,
    np.less_equal: compare.le,
    np.greater: compare.gt,
    np.greater_equal: compare.ge,
    np.logical_and: compare.logical_and,
    np.logical_or: compare.logical_or,
    np.logical_not: compare.logical_not,
    np.bitwise_and: compare.bitwise_and,
    np.bitwise_or: compare.bitwise_or,
    np.bitwise_xor: compare.bitwise_xor,
    np.invert: compare.bitwise_not,
    np.isnan: compare.isnan,
    np.isfinite: compare.isfinite,
    np.matmul: linalg.matmul,
}

FUNCTIONS = {
    np.where: lambda condition, *rest: elementwise.where(_tensor(condition), *rest),
    np.sum: reduce.sum,
    np.mean: reduce.mean,
    np.reshape: shape.reshape,
    np.transpose: lambda a, axes=None: shape.permute(a, axes or tuple(reversed(range(a.ndim)))),
    np.swapaxes: shape.transpose,
    np.expand_dims: shape.unsqueeze,
    np.concatenate: lambda arrays, axis=0: shape.cat(arrays, axis),
    np.stack: lambda arrays, axis=0: shape.stack(arrays, axis),
    np.zeros_like: lambda a, shape=None: create.zeros(a.shape if shape is None else shape, dtype=a.dtype),
    np.ones_like: lambda a: create.ones_like(a),
    np.broadcast_to: shape.expand,
    np.dot: linalg.matmul,
    np.clip: elementwise.clamp,
}


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else create.as_tensor(value)


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
    """NEP 13: NumPy met a tensor in a ufunc."""
    function = UFUNCS.get(ufunc)
    if function is None or method != "__call__" or settings:
        return NotImplemented
    return function(*(_tensor(each) if isinstance(each, np.ndarray) else each for each in inputs))


def array_function(self: Tensor, function: Any, types: Any, arguments: Any, settings: Any) -> Any:
    """NEP 18: NumPy met a tensor in another of its functions."""
    known = FUNCTIONS.get(function)
    if known is None:
        raise TypeError(
            f"numpy.{function.__name__} does not know tensors: use torch.{function.__name__} where there is "
            "one, or take the array with .detach().numpy()"
        )
    return known(*arguments, **settings)


Tensor.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Tensor.__array_function__ = array_function  # type: ignore[attr-defined]
