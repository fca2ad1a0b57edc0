"""What CuPy lacks, or does otherwise than NumPy; the rules of operations call these in NumPy's place.

Nearly everything else is NumPy's vocabulary and reaches CuPy by itself: NEP 13
and NEP 18 hand ``np.exp(a)`` and ``np.where(m, a, b)`` to the library whose
array ``a`` is.  The exceptions:

* methods of ufuncs are not handed on: ``np.add.at``, ``.accumulate``, ``.reduceat``;
* CuPy adds at places only in some dtypes, and accumulates only sums and products;
* an index beyond the end wraps around in silence;
* ``flags`` says nothing of writing;
* ``np.zeros_like(a, shape=())`` has the shape of ``a``;
* without dimensions there is no dimension 0 to reduce;
* ``linalg`` raises for no matrix, unless it is told to, and solves no systems of other batches than its own.

To ask something of an array on a GPU stops the program until the GPU has
caught up.  So rules ask through :func:`any_of` and :func:`ask` alone: where an
error depends on the answer, as with wrong indices, or the shape of a result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from autokit.batches.batch import Batch
from autokit.devices import module_of
from autokit.dtypes import FLOATS
from autokit.late_errors import LATE, raise_late


def any_of(condition: Any) -> bool:
    """Whether ``condition`` holds anywhere."""
    return bool(ask(condition.any()))


def ask(value: Any) -> Any:
    """The one element of ``value`` as a number of Python; of samples the one that all agree on."""
    number = (value.agreed() if value.__class__ is Batch else value).item()
    if LATE:
        raise_late()
    return number


def known(condition: Any) -> Any:
    """Whether ``condition`` holds everywhere, for a shortcut: no on a GPU, which is not asked for that."""
    return is_on_cpu(condition) and condition.all()


def any_known(condition: Any) -> Any:
    """Whether ``condition`` holds anywhere, for a way around it: yes on a GPU, which is not asked."""
    return not is_on_cpu(condition) or condition.any()


def is_writable(array: Any) -> bool:
    """Whether elements of ``array`` may be changed; on a GPU always."""
    return array.__class__ is not np.ndarray or array.flags.writeable


def is_on_cpu(array: Any) -> bool:
    """Whether NumPy computes with ``array``."""
    return isinstance(array, np.ndarray | np.generic | Batch)


_SPECIAL = {"lgamma": "gammaln"}
"""SciPy's names, which CuPy has, of functions that PyTorch calls otherwise."""


def special(name: str, *arrays: Any) -> Any:
    """A special function of float64 arrays on a GPU: CuPy brings SciPy's."""
    from cupyx.scipy import special  # type: ignore[import-not-found]

    if name == "trigamma":
        return special.polygamma(np.ones_like(arrays[0]), *arrays)  # a number of Python it does not take
    function = getattr(special, _SPECIAL.get(name, name))
    through = getattr(arrays[0], "through", None)  # of what stands for an array while a kernel is traced
    return function(*arrays) if through is None else through(function, *arrays)


def like(make: Callable[..., Any], array: Any, *values: Any, shape: Any, **settings: Any) -> Any:
    """``make``, such as ``np.zeros_like``, of any ``shape``: CuPy takes an empty one, and 0, for none."""
    if shape:
        return make(array, *values, shape=shape, **settings)
    if shape == ():
        return make(array, *values, shape=(1,), **settings).reshape(())
    return make(array, *values, shape=(0,), **settings)


def reduced(a: Any, dim: Any) -> Any:
    """``dim``, along which ``a`` is to be reduced: None for an array without dimensions on a GPU."""
    return dim if a.ndim or is_on_cpu(a) else None


def raising(a: Any) -> Any:
    """A context in which ``np.linalg`` raises for matrices such as ``a`` that it fails on.

    On a GPU that asks for the answer, as PyTorch does too.
    """
    if is_on_cpu(a):
        return nullcontext()
    import cupyx  # type: ignore[import-not-found]

    return cupyx.errstate(linalg="raise")


def solve(a: Any, b: Any) -> Any:
    """``np.linalg.solve`` for matrices on both sides, in batches that broadcast."""
    if not is_on_cpu(a) and a.shape[:-2] != b.shape[:-2]:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(each, (*lead, *each.shape[-2:])) for each in (a, b))
    with raising(a):
        return np.linalg.solve(a, b)


# ------------------------------------------------------------ the methods of ufuncs

_ADDS = {"int32", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"}
"""The dtypes in which CuPy adds at places."""

_COMPARES = {"int32", "int64", "uint32", "uint64", "float32", "float64"}
"""The dtypes in which it takes the larger there, or the smaller."""


def add_at(array: Any, places: Any, values: Any) -> None:
    """``np.add.at``: add ``values`` into ``array``; places that are named twice get both."""
    _at("add", array, places, values)


def combine_at(ufunc: np.ufunc, array: Any, places: Any, values: Any) -> None:
    """``ufunc.at(array, places, values)``, for sums, products, and the larger or smaller of two."""
    if is_on_cpu(array):
        ufunc.at(array, places, values)
    elif ufunc is np.multiply:
        _multiply_at(array, places, values)
    else:
        _at(ufunc.__name__, array, places, values)


def _at(name: str, array: Any, places: Any, values: Any) -> None:
    if is_on_cpu(array):
        getattr(np, name).at(array, places, values)
        return
    module = module_of(array)
    kind = array.dtype
    if kind.name in (_ADDS if name == "add" else _COMPARES):
        getattr(module, name).at(array, places, values)
    elif name == "add" and kind == np.int64:  # sums wrap around alike, with a sign and without
        module.add.at(array.view(np.uint64), places, module.asarray(values, kind).view(np.uint64))
    else:
        wide = array.astype(np.float32 if kind.kind in FLOATS else np.int32)
        getattr(module, name).at(wide, places, module.asarray(values).astype(wide.dtype))
        array[...] = wide.astype(kind)


def _multiply_at(array: Any, places: Any, values: Any) -> None:
    """Products at places: of the sizes by their logarithms, and of the signs by counting them."""
    module = module_of(array)
    values = np.broadcast_to(module.asarray(values), array[places].shape).astype(np.float64)
    sizes, signs, zeros = (module.zeros(array.shape, np.float64) for _ in range(3))
    is_zero = values == 0
    module.add.at(sizes, places, np.log(np.abs(np.where(is_zero, 1.0, values))))
    module.add.at(signs, places, (values < 0).astype(np.float64))
    module.add.at(zeros, places, is_zero.astype(np.float64))
    products = np.where(zeros > 0, 0.0, np.where(signs % 2 == 1, -1.0, 1.0) * np.exp(sizes))
    products = array.astype(np.float64) * products
    array[...] = (np.rint(products) if array.dtype.kind in "iu" else products).astype(array.dtype)


def accumulate(ufunc: np.ufunc, array: Any, axis: int, dtype: Any = None) -> Any:
    """``ufunc.accumulate``: the running result of an associative ``ufunc`` along a dimension.

    Where CuPy has none, each pass combines every element with the one that is
    1, 2, 4, … places before it, so that a few passes reach all of them
    (Hillis and Steele, Data parallel algorithms, 1986).
    """
    if is_on_cpu(array):
        return ufunc.accumulate(array, axis=axis, dtype=dtype)
    if ufunc is np.add or ufunc is np.multiply:
        return (np.cumsum if ufunc is np.add else np.cumprod)(array, axis=axis, dtype=dtype)
    run = array.astype(array.dtype if dtype is None else dtype)
    step, lead = 1, (slice(None),) * (axis % array.ndim)
    while step < array.shape[axis]:
        later, earlier = (*lead, slice(step, None)), (*lead, slice(None, -step))
        run[later] = ufunc(run[earlier], run[later])
        step *= 2
    return run


def reduceat(ufunc: np.ufunc, array: Any, starts: Any, axis: int = 0) -> Any:
    """``ufunc.reduceat`` along a dimension: a result for each run of elements between ``starts``, none empty.

    ``starts`` lies beside ``array``.
    """
    if is_on_cpu(array):
        return ufunc.reduceat(array, starts, axis=axis)
    module = module_of(array)
    size = array.shape[axis]
    marks = module.zeros(size, np.int64)
    marks[starts] = 1
    runs = np.cumsum(marks) - 1
    rows = np.moveaxis(array, axis, 0)
    if ufunc is np.add or ufunc is np.multiply:
        total = module.full((len(starts), *rows.shape[1:]), ufunc.identity, array.dtype)
    else:  # the first of each run, which taken again changes nothing
        total = rows[starts].copy()
    of_numbers = np.maximum if ufunc is np.fmax else np.minimum if ufunc is np.fmin else ufunc
    combine_at(of_numbers, total, runs, rows)
    return np.moveaxis(total, 0, axis)
