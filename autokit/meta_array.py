"""Arrays of a shape and a dtype without elements: :class:`MetaArray`, what tensors on ``device="meta"`` hold.

A network can be built of them whatever its size, its parameters counted, and its
shapes followed.  Nothing of its own is known here about any operation: each is
computed with zeros in the place of the elements, whose memory the system hands
out only as it is written to, and of the result only shape and dtype are kept.
Where these depend on the elements, or the elements themselves are asked for,
it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autokit.batches.batch import Batch, of_all_samples
from autokit.thread_state import UNUSUAL

META = "meta"


class NoData(NotImplementedError, AttributeError):
    """What is asked for takes the elements of a tensor on ``device="meta"``, which has none."""


NO_DATA = (
    "Cannot copy out of meta tensor; no data! It has a shape and a dtype alone: make it on the CPU, or give "
    'a module memory with model.to_empty(device="cpu"), and load or draw its values'
)

_FUNCTIONS_OF_ELEMENTS = {np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.bincount, np.array_equal}
_FUNCTIONS_OF_ELEMENTS |= {np.repeat, np.compress, np.extract, np.allclose}
"""NumPy's functions whose results depend on the elements, in their shapes too."""

_OPERATIONS_OF_ELEMENTS = {"nonzero", "masked_select", "unique", "unique_consecutive"}
"""The same of our operations, by their names."""


class MetaArray(NDArrayOperatorsMixin):
    """The shape and the dtype of an array."""

    __slots__ = ("dtype", "shape")
    base = None
    flags = SimpleNamespace(c_contiguous=True, writeable=True)
    __hash__ = object.__hash__

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        UNUSUAL.add(META)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape, dtype=object)))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    T = property(lambda self: self.transpose())
    real = property(lambda self: run(np.real, (self,), {}))
    imag = property(lambda self: run(np.imag, (self,), {}))

    @property
    def strides(self) -> tuple[int, ...]:
        steps = [self.itemsize]
        for size in self.shape[:0:-1]:
            steps.append(steps[-1] * max(size, 1))
        return tuple(reversed(steps[: self.ndim]))

    def __getattr__(self, name: str) -> Any:
        method = None if name.startswith("_") else getattr(np.ndarray, name, None)
        if not callable(method) or name in ("item", "tolist", "nonzero", "tobytes", "dump", "data"):
            raise NoData(f"{name}: {NO_DATA}")
        return lambda *given, **settings: run(method, (self, *given), settings)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise NoData(NO_DATA)

    def __bool__(self) -> bool:
        raise _no_item()

    __int__ = __float__ = __index__ = __complex__ = __bool__  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.shape[0]

    def item(self) -> Any:
        raise _no_item()

    def copy(self, order: str = "C") -> MetaArray:
        return self

    def astype(self, dtype: Any, **_: Any) -> MetaArray:
        return MetaArray(self.shape, dtype)

    def __getitem__(self, index: Any) -> Any:
        return run(np.ndarray.__getitem__, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        run(np.ndarray.__setitem__, (self, index, value), {})

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, out: Any = None, **settings: Any) -> Any:
        made = run(getattr(ufunc, method), given, settings)
        return made if out is None else out[0] if len(out) == 1 else out

    def __array_function__(self, function: Any, types: Any, given: Any, settings: Any) -> Any:
        if function in (np.may_share_memory, np.shares_memory):
            return True
        if function in _FUNCTIONS_OF_ELEMENTS or function is np.where and len(given) == 1:
            raise NoData(f"{function.__name__}: the result depends on the elements. {NO_DATA}")
        return run(function, given, settings)


def _made(shape: Any, dtype: Any = float) -> MetaArray:
    return MetaArray((shape,) if isinstance(shape, int) else shape, dtype)


class _MakesMeta:
    """What stands for ``numpy`` where an array of a shape is to be made."""

    empty = zeros = ones = staticmethod(_made)

    @staticmethod
    def eye(rows: int, columns: int | None = None, dtype: Any = float) -> MetaArray:
        return MetaArray((rows, rows if columns is None else columns), dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


MAKES_META: Any = _MakesMeta()


def _no_item() -> NotImplementedError:
    return NotImplementedError(f"Tensor.item() cannot be called on meta tensors. {NO_DATA}")


def run(function: Callable[..., Any], given: Any, settings: Any) -> Any:
    """What ``function`` gives for zeros in the place of all that is meta, without its elements."""
    try:
        return without_elements(function(*zeros_for(given), **zeros_for(settings)))
    except RuntimeError as error:
        if not str(error).startswith("ZeroDivisionError"):
            raise
        # Of whole numbers, which nobody knows to be 0.
        return without_elements(function(*zeros_for(given, np.ones), **zeros_for(settings)))


def zeros_for(value: Any, make: Callable[..., Any] = np.zeros) -> Any:
    """``value``, or what is in it, with zeros, or what else ``make`` makes, for each :class:`MetaArray`."""
    if value.__class__ is MetaArray:
        return make(value.shape, value.dtype)
    if value.__class__ is Batch:
        return Batch(zeros_for(value.full, make), value.level)
    if isinstance(value, tuple | list):
        parts = [zeros_for(each, make) for each in value]
        return value.__class__(*parts) if hasattr(value, "_fields") else value.__class__(parts)
    return {name: zeros_for(each, make) for name, each in value.items()} if value.__class__ is dict else value


def without_elements(made: Any) -> Any:
    """The shape and the dtype of each array in ``made``."""
    if isinstance(made, np.ndarray | np.generic):
        return MetaArray(made.shape, made.dtype)
    if made.__class__ is Batch:
        return Batch(without_elements(made.full), made.level)
    if isinstance(made, tuple | list):
        parts = [without_elements(each) for each in made]
        return made.__class__(*parts) if hasattr(made, "_fields") else made.__class__(parts)
    return made


def is_meta(array: Any) -> bool:
    """Whether ``array``, or what holds the samples of a batch, is one without elements."""
    return of_all_samples(array).__class__ is MetaArray


def has_elements(array: Any) -> bool:
    """Whether ``array``, or what holds the samples of a batch, is one of NumPy's."""
    return isinstance(of_all_samples(array), np.ndarray)


def refuse_meta(name: str, *tensors: Any) -> None:
    """Raise where the function ``name`` is given a tensor without elements."""
    if META in UNUSUAL and any(is_meta(each.array) for each in tensors):
        raise NoData(f"{name}: the result depends on the elements. {NO_DATA}")


def computing_shapes(forward: Callable[..., Any], name: str) -> Callable[..., Any]:
    """``forward``, the rule of the operation ``name``, for shapes alone."""
    if name in _OPERATIONS_OF_ELEMENTS:
        raise NoData(f"{name}: the shape of the result depends on the elements. {NO_DATA}")

    def shapes(*arrays: Any, **settings: Any) -> Any:
        # Masks that rules make themselves have elements.
        if any(has_elements(each) and each.ndim and each.dtype.kind != "b" for each in arrays):
            raise RuntimeError(
                f"Tensor on device cpu is not on the expected device meta! {name} got tensors of the shapes "
                f"{[each.shape for each in arrays]}, of which some have elements and some have none"
            )
        if _is_mask(settings.get("index")):
            raise NoData(f"{name}: the shape of the result depends on the elements of a mask. {NO_DATA}")
        return run(forward, arrays, settings)

    return shapes


def of_shapes(vjp: Callable[..., Any]) -> Callable[..., Any]:
    """``vjp``, a derivative of arrays, for shapes alone."""

    def shapes(*values: Any) -> Any:
        return run(vjp, values, {})

    return shapes


def _is_mask(value: Any) -> bool:
    if value.__class__ in (tuple, list):
        return any(_is_mask(each) for each in value)
    return value.__class__ is MetaArray and value.dtype.kind == "b"
