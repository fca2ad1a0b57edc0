"""The stand-in's ``cupy.fuse``: one launch for a whole function, which may do only what CuPy can trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.gpu.standin.arrays import bare, launched, ndarray
from tests.gpu.standin.notes import NAMES


def fuse(kernel_name: str) -> Any:
    """``cupy.fuse``: one launch for a whole function, which sees placeholders and may do little with them."""

    def decorate(function: Any) -> Any:
        def run(*arguments: Any) -> Any:
            launched(kernel_name, arguments)
            fusion = Fusion()
            for each in arguments:
                if isinstance(each, ndarray) and each.dtype.kind == "V":
                    raise KeyError(each.dtype)  # of bfloat16 there are no kernels
                if isinstance(each, np.generic):
                    raise TypeError(f"a number of NumPy's, {each!r}, which CuPy takes for as wide as it is")
            result = function(*[None if each is None else Traced(bare(each), fusion) for each in arguments])
            return tuple(map(_made, result)) if isinstance(result, tuple) else _made(result)

        return run

    return decorate


class Fusion:
    """A function while it is traced: ``reduced`` once it has taken a sum."""

    reduced = False


class Traced:
    """CuPy's placeholder: operators and CuPy's ufuncs take it, nothing else does."""

    def __init__(self, host: Any, fusion: Fusion) -> None:
        self.host = host
        self.fusion = fusion
        self.after = fusion.reduced

    dtype = property(lambda self: np.asarray(self.host).dtype)
    ndim = property(lambda self: self.host.ndim if isinstance(self.host, np.ndarray) else -1)
    shape = property(lambda self: _refuse("`shape` is not supported, currently."))
    __array_ufunc__ = property(lambda self: _refuse("NumPy's ufunc of a placeholder"))

    def __bool__(self) -> bool:
        raise TypeError("Cannot convert to Python scalar in cupy.fuse")

    def __getitem__(self, index: Any) -> Any:
        raise TypeError("an index in a function to fuse")

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis:
            raise ValueError("The fusion supports `[...]` or `[:]`.")
        self.host[...] = value.host if isinstance(value, Traced) else value

    def astype(self, dtype: Any, copy: bool = True) -> Traced:
        return Traced(self.host.astype(dtype), self.fusion)

    def copy(self) -> Traced:
        return Traced(self.host.copy(), self.fusion)


def _refuse(what: str) -> Any:
    raise NotImplementedError(what)


def _made(result: Any) -> Any:
    return None if result is None else ndarray(np.array(result.host))


_REDUCTIONS = {"sum", "prod", "max", "min", "amax", "amin", "all", "any"}


def fused_call(name: str, function: Any, arguments: Any, keywords: Any) -> Traced:
    """A call on placeholders, with the limits that CuPy sets."""
    fusion = next(each.fusion for each in arguments if isinstance(each, Traced))
    for each in (*arguments, *keywords.values()):
        if isinstance(each, ndarray | np.ndarray):
            raise TypeError("Concrete ndarray is not supported in fusion.")
        if isinstance(each, Traced) and each.after != fusion.reduced:
            raise TypeError("a placeholder from before a sum beside its result")
    if not any(isinstance(each, Traced) and each.ndim >= 0 for each in arguments):
        raise TypeError("two numbers in a kernel make one of float64: give it to the kernel instead")
    values = [each.host if isinstance(each, Traced) else each for each in arguments]
    if name in _REDUCTIONS:
        if fusion.reduced or keywords.keys() - {"axis"}:
            raise NotImplementedError("two sums in one kernel, or keepdims")
        fusion.reduced = True
        return Traced(np.asarray(function(values[0], **keywords)), fusion)
    if name != "where" and (NAMES["cupy"][name] != "ufunc" or keywords):
        raise TypeError(f"cupy.{name} with {list(keywords)} cannot be fused")
    if name != "where" and len(values) > function.nin:
        function(*values[:-1], out=values[-1])
        return arguments[-1]
    return Traced(np.asarray(function(*values)), fusion)
