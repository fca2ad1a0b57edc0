"""NumPy's functions on tensors: ``np.exp(x)`` records as ``x.exp()`` does.

NumPy asks an operand that is no array what to do (NEP 13 for ufuncs, NEP 18 for other functions).  The rules
themselves rely on it: a derivative written for arrays runs on tensors when it is to be differentiated again.

What has no rule here is NumPy's own: it gets the tensors' arrays, and where a gradient would be lost by that,
an error says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import on_a_gpu
from autokit.base.dtypes import BY_NUMPY
from autokit.engine.inplace import mark_changed, refuse_change
from autokit.engine.modes import thread
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops import NUMPY
from autokit.ops.names import public

KNOWN = {numpys: public(ours) for numpys, ours in NUMPY.items()}
"""NumPy's functions, and ours in their place."""

HAVE_NO_GRADIENT = {
    *(np.allclose, np.array_equal, np.array_repr, np.array_str, np.isclose),
    *(np.argmax, np.argmin, np.argsort, np.count_nonzero, np.nonzero),
    *(np.ndim, np.shape, np.size),
}
"""Functions whose results nobody differentiates, so that they may be asked about any tensor."""


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
    """NEP 13: NumPy met a tensor in a ufunc."""
    function = KNOWN.get(ufunc)
    if function is not None and method == "__call__" and not settings:
        return function(*_of_one_dtype(ufunc, _as_tensors(inputs)))
    outs = settings.pop("out", ())
    changed = [out for out in outs if isinstance(out, Tensor)]
    for out in changed:
        refuse_change(out)
    if outs:
        settings["out"] = tuple([out.array if isinstance(out, Tensor) else out for out in outs])
    result = getattr(ufunc, method)(*_arrays(inputs, ufunc), **_arrays(settings, ufunc))
    for out in changed:
        mark_changed(out)
    if outs:
        return outs[0] if len(outs) == 1 else outs
    return tuple(map(_as_tensor, result)) if isinstance(result, tuple) else _as_tensor(result)


def array_function(self: Tensor, function: Any, types: Any, arguments: Any, settings: Any) -> Any:
    """NEP 18: NumPy met a tensor in another of its functions."""
    ours = KNOWN.get(function)
    if ours is not None:
        return ours(*_of_one_dtype(function, _as_tensors(arguments)), **settings)
    return function(*_arrays(arguments, function), **_arrays(settings, function))


def array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """What ``np.asarray(x)`` gives: the tensor's memory, or a copy where a dtype asks for one."""
    return np.array(self.numpy(), dtype=dtype, copy=copy)


def _of_one_dtype(function: Any, factors: Any) -> Any:
    """The factors of NumPy's products in the dtype that NumPy gives the result: ours need one dtype."""
    dtypes = {factor.array.dtype for factor in factors if isinstance(factor, Tensor)}
    if function not in (np.matmul, np.dot) or len(dtypes) < 2:
        return factors
    common = BY_NUMPY[np.result_type(*dtypes)]
    return [factor.to(common) if isinstance(factor, Tensor) else factor for factor in factors]


def _as_tensor(value: Any) -> Any:
    is_array = isinstance(value, np.ndarray | np.generic) or on_a_gpu(value)
    return new_tensor(value) if is_array else value


def _as_tensors(value: Any) -> Any:
    """Arrays as tensors, alone or in a row."""
    if isinstance(value, list | tuple):
        return type(value)(map(_as_tensors, value))
    return new_tensor(value) if isinstance(value, np.ndarray) or on_a_gpu(value) else value


def _arrays(value: Any, function: Any) -> Any:
    """Tensors as arrays, alone or in rows and tables, for NumPy's own ``function``."""
    if isinstance(value, Tensor):
        if value._requires_grad and thread.state.recording and function not in HAVE_NO_GRADIENT:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead: "
                f"numpy.{function.__name__} does not know gradients; torch.{function.__name__} may, where "
                "there is one."
            )
        return value.detach().numpy()
    if isinstance(value, dict):
        return {name: _arrays(one, function) for name, one in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)([_arrays(one, function) for one in value])
    return value


Tensor.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Tensor.__array_function__ = array_function  # type: ignore[attr-defined]
Tensor.__array__ = array  # type: ignore[attr-defined]
