"""One kernel in place of many on a GPU: CuPy fuses a rule's own lines.

Each call of NumPy's vocabulary on a GPU launches a kernel, which reads its
operands from the GPU's memory and writes its result there.  A rule of ten
calls on small arrays costs ten launches, and on large ones ten times the way
to memory.  :func:`fused` lets CuPy trace a function and compile all of its
calls as one kernel, the first time that it meets operands of these dtypes and
numbers of dimensions.  The function's lines stay as they are, and are what
computes on the CPU too, so that no rule is written twice.

What can be fused, as of CuPy 14: ufuncs, operators, ``np.where``, ``astype``,
changes in place, and one ``np.sum`` or ``np.any`` (without ``keepdims``),
after which only its result and fixed numbers may be used.  No shapes, no
indices, and no branch on a value: ``None`` stands for an operand that is absent.
Two numbers do not meet: what comes of them is float64 and makes all that follows
so.

References
----------
"Kernel fusion", in CuPy's user guide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import CO_VARARGS
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autokit.current_gpu import SEVERAL, on_its_gpu
from autokit.devices import module_of, on_a_gpu
from autokit.thread_state import UNUSUAL

FUSED: dict[str, Callable[..., Any]] = {}
"""What can be fused, under its file's name and its own; for the tests."""


def fused(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arrays and numbers, as one kernel where its first argument is on a GPU.

    Parameters
    ----------
    function : callable
        Of what the head of this file lists.  Its positional-only arguments, or
        all before the keywords where there may be any number, are arrays,
        numbers that change from call to call, and None.  The others are fixed:
        for each of their values a kernel is compiled.

    Returns
    -------
    callable
        The same for arrays on the CPU, of samples, and on a GPU.
    """
    code = function.__code__
    variadic = code.co_flags & CO_VARARGS
    count = None if variadic else code.co_posonlyargcount
    names = () if variadic else code.co_varnames[count : code.co_argcount]
    kernels: dict[Any, Callable[..., Any]] = {}
    FUSED[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] = function

    @wraps(function)
    def run(*arguments: Any, **fixed: Any) -> Any:
        first = arguments[0]
        kind = first.__class__
        if kind is np.ndarray or not on_a_gpu(first) or first.dtype.kind == "V":  # bfloat16 CuPy fuses not
            return function(*arguments, **fixed)
        if names:
            fixed.update(zip(names, arguments[count:]))
        key = (kind, *fixed.items()) if fixed else kind
        kernel = kernels.get(key)
        if kernel is None:
            module, name = module_of(first), function.__name__.strip("_")
            kernel = kernels[key] = module.fuse(kernel_name=name)(traced(function, module, fixed))
        if SEVERAL in UNUSUAL:
            kernel = on_its_gpu(kernel, (first,))
        # CuPy knows Python's numbers for what they are; NumPy's would make all that follows as wide.
        return kernel(*[each.item() if isinstance(each, np.generic) else each for each in arguments[:count]])

    return run


def traced(function: Callable[..., Any], module: Any, fixed: dict[str, Any]) -> Callable[..., Any]:
    """``function`` for CuPy to trace: NumPy's functions on its placeholders become CuPy's."""

    def trace(*placeholders: Any) -> Any:
        result = function(*[_wrapped(module, each) for each in placeholders], **fixed)
        return tuple(map(_bare, result)) if isinstance(result, tuple) else _bare(result)

    return trace


class Placeholder(NDArrayOperatorsMixin):
    """An operand while a function is traced; CuPy's own placeholders know nothing of NumPy's functions."""

    __slots__ = ("inner", "module")

    def __init__(self, module: Any, inner: Any) -> None:
        self.module = module
        self.inner = inner

    @property
    def dtype(self) -> Any:
        return self.inner.dtype

    @property
    def ndim(self) -> Any:
        return self.inner.ndim

    def astype(self, dtype: Any, copy: bool = True) -> Placeholder:
        return Placeholder(self.module, self.inner.astype(np.dtype(dtype), copy=copy))

    def copy(self) -> Placeholder:
        return Placeholder(self.module, self.inner.copy())

    def through(self, function: Any, *others: Any) -> Placeholder:
        """A function of CuPy's that NumPy does not have."""
        return Placeholder(self.module, function(*map(_bare, others)))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.inner[index] = _bare(value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **settings: Any) -> Any:
        if method != "__call__" or settings:
            return NotImplemented
        given = [*inputs, *out]
        result = getattr(self.module, ufunc.__name__)(*map(_bare, given))
        return out[0] if out else _wrapped(self.module, result)

    def __array_function__(self, function: Any, types: Any, arguments: Any, settings: Any) -> Any:
        made = getattr(self.module, function.__name__)(*map(_bare, arguments), **settings)
        return _wrapped(self.module, made)


def _wrapped(module: Any, value: Any) -> Any:
    """A placeholder of CuPy's as one of ours; None stays."""
    return None if value is None else Placeholder(module, value)


def _bare(value: Any) -> Any:
    return value.inner if value.__class__ is Placeholder else value
