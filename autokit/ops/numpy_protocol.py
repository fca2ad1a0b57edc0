"""NumPy's functions on tensors: ``np.exp(x)`` records as ``x.exp()`` does.

NumPy dispatches to an operand that is no array: by ``__array_ufunc__`` for ufuncs (NEP 13), and by
``__array_function__`` for other functions (NEP 18).  The derivatives rely on it: one that is written with
NumPy's functions also runs on tensors; it is recorded then, and can be differentiated again.

A function of NumPy's without an operation for tensors is called with their arrays; where a gradient would be
lost by that, an error says so.
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
"""For each of NumPy's functions that tensors support, the function of tensors."""

HAVE_NO_GRADIENT = {
    *(np.allclose, np.array_equal, np.array_repr, np.array_str, np.isclose),
    *(np.argmax, np.argmin, np.argsort, np.count_nonzero, np.nonzero),
    *(np.ndim, np.shape, np.size),
}
"""Functions whose results have no gradient, so that they may be called with any tensor."""


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
    """``Tensor.__array_ufunc__``, which NumPy calls where an operand of a ufunc is a tensor (NEP 13)."""
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
    """``Tensor.__array_function__``, which NumPy calls where an argument of another function is a tensor."""
    ours = KNOWN.get(function)
    if ours is not None:
        return ours(*_of_one_dtype(function, _as_tensors(arguments)), **settings)
    return function(*_arrays(arguments, function), **_arrays(settings, function))


def array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """What ``np.asarray(x)`` gives: the tensor's memory, or a copy where a dtype asks for one."""
    return np.array(self.numpy(), dtype=dtype, copy=copy)


def _of_one_dtype(function: Any, factors: Any) -> Any:
    """The factors of ``np.matmul`` and ``np.dot`` in NumPy's dtype for the result: tensors must have one."""
    dtypes = {factor.array.dtype for factor in factors if isinstance(factor, Tensor)}
    if function not in (np.matmul, np.dot) or len(dtypes) < 2:
        return factors
    common = BY_NUMPY[np.result_type(*dtypes)]
    return [factor.to(common) if isinstance(factor, Tensor) else factor for factor in factors]


def _as_tensor(value: Any) -> Any:
    is_array = isinstance(value, np.ndarray | np.generic) or on_a_gpu(value)
    return new_tensor(value) if is_array else value


def _as_tensors(value: Any) -> Any:
    """``value`` with its arrays as tensors; it may be an array, or a list or tuple of them."""
    if isinstance(value, list | tuple):
        return type(value)(map(_as_tensors, value))
    return new_tensor(value) if isinstance(value, np.ndarray) or on_a_gpu(value) else value


def _arrays(value: Any, function: Any) -> Any:
    """``value`` with its tensors as arrays, for NumPy's ``function``; lists and dicts may hold them."""
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
Tensor.__array__ = array  # type: ignore[method-assign]
