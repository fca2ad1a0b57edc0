"""NumPy's functions on tensors: ``np.exp(x)`` records as ``x.exp()`` does.

NumPy asks an operand that is no array what to do (NEP 13 for ufuncs, NEP 18
for other functions).  The rules themselves rely on it: a derivative written
for arrays runs on tensors when it is to be differentiated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import ops
from autokit.tensor import Tensor

UFUNCS = {
    np.add: ops.add,
    np.subtract: ops.sub,
    np.multiply: ops.mul,
    np.true_divide: ops.div,
    np.negative: ops.neg,
    np.power: ops.pow,
    np.floor_divide: ops.floor_divide,
    np.remainder: ops.remainder,
    np.exp: ops.exp,
    np.log: ops.log,
    np.sqrt: ops.sqrt,
    np.tanh: ops.tanh,
    np.absolute: ops.abs,
    np.sin: ops.sin,
    np.cos: ops.cos,
    np.sign: ops.sign,
    np.floor: ops.floor,
    np.maximum: ops.maximum,
    np.minimum: ops.minimum,
    np.equal: ops.eq,
    np.not_equal: ops.ne,
    np.less: ops.lt,
    np.less_equal: ops.le,
    np.greater: ops.gt,
    np.greater_equal: ops.ge,
    np.logical_and: ops.logical_and,
    np.logical_or: ops.logical_or,
    np.logical_not: ops.logical_not,
    np.isnan: ops.isnan,
    np.isfinite: ops.isfinite,
    np.matmul: ops.matmul,
}

FUNCTIONS = {
    np.where: lambda condition, *rest: ops.where(_tensor(condition), *rest),
    np.sum: ops.sum,
    np.mean: ops.mean,
    np.reshape: ops.reshape,
    np.transpose: lambda a, axes=None: ops.permute(a, axes or tuple(reversed(range(a.ndim)))),
    np.swapaxes: ops.transpose,
    np.expand_dims: ops.unsqueeze,
    np.concatenate: lambda arrays, axis=0: ops.cat(arrays, axis),
    np.stack: lambda arrays, axis=0: ops.stack(arrays, axis),
    np.zeros_like: lambda a, shape=None: ops.zeros(a.shape if shape is None else shape, dtype=a.dtype),
    np.ones_like: lambda a: ops.ones_like(a),
    np.broadcast_to: lambda a, shape: ops.expand(a, shape),
    np.dot: ops.matmul,
    np.clip: ops.clamp,
}


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else ops.as_tensor(value)


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
            f"numpy.{function.__name__} does not know tensors: use torch.{function.__name__} where there is one, "
            "or take the array with .detach().numpy()"
        )
    return known(*arguments, **settings)


Tensor.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Tensor.__array_function__ = array_function  # type: ignore[attr-defined]
