"""NumPy's functions on tensors: ``np.exp(x)`` records as ``x.exp()`` does.

NumPy asks an operand that is no array what to do (NEP 13 for ufuncs, NEP 18
for other functions).  The rules themselves rely on it: a derivative written
for arrays runs on tensors when it is to be differentiated again.

What has no rule here is NumPy's own: it gets the tensors' arrays, and where a
gradient would be lost by that, an error says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import on_a_gpu
from autokit.dtypes import BY_NUMPY
from autokit.ops import FAMILIES
from autokit.ops.create import as_tensor
from autokit.ops.inplace import mark_changed, refuse_change
from autokit.ops.names import public
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import thread

KNOWN = {numpys: public(ours) for family in FAMILIES for numpys, ours in family.NAMES.numpy.items()}
"""NumPy's functions, and ours in their place."""

HAVE_NO_GRADIENT = {
    np.allclose,
    np.argmax,
    np.argmin,
    np.argsort,
    np.array_equal,
    np.array_repr,
    np.array_str,
    np.count_nonzero,
    np.isclose,
    np.ndim,
    np.nonzero,
    np.shape,
    np.size,
}
"""Functions whose results nobody differentiates, so that they may be asked about any tensor."""


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
    """NEP 13: NumPy met a tensor in a ufunc."""
    function = KNOWN.get(ufunc)
    if function is not None and method == "__call__" and not settings:
        return function(*_of_one_dtype(ufunc, list(map(_as_tensors, inputs))))
    outs = settings.pop("out", ())
    for out in outs:
        if isinstance(out, Tensor):
            refuse_change(out)
    if outs:
        settings["out"] = tuple(each.array if isinstance(each, Tensor) else each for each in outs)
    made = getattr(ufunc, method)(*_arrays(inputs, ufunc), **_arrays(settings, ufunc))
    if outs:
        for out in outs:
            if isinstance(out, Tensor):
                mark_changed(out)
        return outs[0] if len(outs) == 1 else outs
    if isinstance(made, tuple):
        return tuple(map(new_tensor, made))
    return new_tensor(made) if isinstance(made, np.ndarray | np.generic) or on_a_gpu(made) else made


def array_function(self: Tensor, function: Any, types: Any, arguments: Any, settings: Any) -> Any:
    """NEP 18: NumPy met a tensor in another of its functions."""
    known = KNOWN.get(function)
    if known is not None:
        return known(*_of_one_dtype(function, list(map(_as_tensors, arguments))), **settings)
    return function(*_arrays(arguments, function), **_arrays(settings, function))


def _of_one_dtype(function: Any, factors: list[Any]) -> list[Any]:
    """The factors of NumPy's products in the dtype that NumPy gives the result: ours take one dtype alone."""
    if function in (np.matmul, np.dot):
        kinds = {each.array.dtype for each in factors if isinstance(each, Tensor)}
        if len(kinds) > 1:
            dtype = BY_NUMPY[np.result_type(*kinds)]
            return [each.to(dtype) if isinstance(each, Tensor) else each for each in factors]
    return factors


def _as_tensors(value: Any) -> Any:
    """Arrays as tensors, alone or in a row."""
    if isinstance(value, list | tuple):
        return type(value)(map(_as_tensors, value))
    return as_tensor(value) if isinstance(value, np.ndarray) or on_a_gpu(value) else value


def _arrays(value: Any, function: Any) -> Any:
    """Tensors as arrays, alone or in rows and tables, for NumPy's own ``function``."""
    if isinstance(value, Tensor):
        if value._requires_grad and thread.state.grad_enabled and function not in HAVE_NO_GRADIENT:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead. "
                f"(numpy.{function.__name__} does not know gradients: torch.{function.__name__} may, where "
                "there is one.)"
            )
        return value.detach().numpy()
    if isinstance(value, dict):
        return {name: _arrays(each, function) for name, each in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return (
            [_arrays(each, function) for each in value]
            if isinstance(value, list)
            else tuple(_arrays(each, function) for each in value)
        )
    return value


Tensor.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Tensor.__array_function__ = array_function  # type: ignore[attr-defined]
