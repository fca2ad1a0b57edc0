"""The stand-in's arrays: strict where CuPy's are, and every copy to the CPU noted."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.gpu.standin.hardware import POOL, Device
from tests.gpu.standin.notes import NAMES, copies
from tests.gpu.standin.ufuncs import applied, keywords_of_ufunc


class ndarray:
    """An array "on the GPU"; ``host`` holds what no test may look at."""

    __module__ = "cupy"
    __array_priority__ = 100
    __slots__ = ("__weakref__", "base", "host", "memory")

    def __init__(self, host: Any, base: Any = None) -> None:
        self.host = host if isinstance(host, np.ndarray) else np.asarray(host)
        self.base = base
        if base is None:
            self.memory = POOL.find(self.host.nbytes)

    # ------------------------------------------------------------ what CuPy's arrays tell of themselves

    device = property(lambda self: Device())
    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    ndim = property(lambda self: self.host.ndim)
    size = property(lambda self: self.host.size)
    strides = property(lambda self: self.host.strides)
    itemsize = property(lambda self: self.host.itemsize)
    nbytes = property(lambda self: self.host.nbytes)
    T = property(lambda self: _view(self, self.host.T))
    mT = property(lambda self: _view(self, self.host.mT))

    data = property(lambda self: SimpleNamespace(ptr=self.host.ctypes.data))

    @property
    def flags(self) -> Any:
        flags = self.host.flags
        return SimpleNamespace(
            c_contiguous=flags.c_contiguous, f_contiguous=flags.f_contiguous, owndata=self.base is None
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (0, False), "version": 3}

    def __len__(self) -> int:
        return len(self.host)

    def __iter__(self) -> Iterator[ndarray]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[place] for place in range(len(self)))

    # ------------------------------------------------------------ ways to the CPU, each counted

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def get(self) -> Any:
        return self._copied("get").copy()

    def item(self) -> Any:
        return self._copied("item").item()

    def tolist(self) -> Any:
        return self._copied("tolist").tolist()

    def __bool__(self) -> bool:
        return bool(self._copied("bool"))

    def __int__(self) -> int:
        return int(self._copied("int"))

    def __float__(self) -> float:
        return float(self._copied("float"))

    def __repr__(self) -> str:
        return f"<stand-in of shape {self.shape}, {self.dtype}>"

    def _copied(self, how: str) -> np.ndarray:
        frame = sys._getframe(2)
        if self.size > 1:
            copies.append(f"{how} in {Path(frame.f_code.co_filename).name}, line {frame.f_lineno}")
        return self.host

    def __reduce__(self) -> Any:
        return ndarray, (self.get(),)

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy()

    # ------------------------------------------------------------ NumPy's functions

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if ufunc.__name__ not in NAMES["cupy"]:
            return NotImplemented
        if method != "__call__":
            from tests.gpu.standin.functions import call_method

            if any(isinstance(each, tuple) for each in inputs):
                return NotImplemented
            return call_method(ufunc, method, inputs, keywords)
        if "out" in keywords and len(keywords["out"]) != 1:
            raise ValueError("The 'out' parameter must have exactly one array value")
        keywords_of_ufunc(ufunc.__name__, keywords)
        for each in inputs:
            if isinstance(each, list | tuple | np.ndarray):
                raise TypeError(f"Unsupported type {type(each)}")
            if not isinstance(each, ndarray | bool | int | float | np.generic):
                return NotImplemented
        return call_ufunc(ufunc, inputs, keywords)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        owner = ".".join(("cupy", *function.__module__.split(".")[1:]))
        if not set(types) <= {ndarray, np.ndarray} or function.__name__ not in NAMES.get(owner, {}):
            return NotImplemented
        from tests.gpu.standin.functions import call

        return call(owner, function.__name__, function, arguments, keywords)

    # ------------------------------------------------------------ reading and writing

    def __getitem__(self, index: Any) -> ndarray:
        try:
            made = _view(self, np.asarray(self.host[wrapped_around(self.host, index)]))
        except IndexError as error:  # CuPy begins with a capital
            raise IndexError(str(error).replace("index", "Index", 1)) from None
        return made

    def __setitem__(self, index: Any, value: Any) -> None:
        host_index = wrapped_around(self.host, index)
        if not isinstance(value, ndarray | bool | int | float | np.generic):
            raise TypeError(f"Unsupported type {type(value)}")
        _write_first(self.host, host_index, bare(value))


def call_ufunc(ufunc: Any, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What CuPy's ufunc of that name gives for ``inputs``."""
    named = {key: bare(value) for key, value in keywords.items()}
    return wrapped(applied(ufunc, tuple(map(bare, inputs)), named), (*inputs, *keywords.get("out", ())))


def arrays_in(values: Iterable[Any]) -> Iterator[ndarray]:
    """The arrays among ``values``, and in the lists among them."""
    for each in values:
        if isinstance(each, ndarray):
            yield each
        elif isinstance(each, list | tuple):
            yield from arrays_in(each)


def bare(value: Any) -> Any:
    """``value`` with NumPy's arrays in place of the stand-in's; NumPy's own are refused."""
    if isinstance(value, ndarray):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}: a NumPy array beside an array on the GPU")
    if isinstance(value, list | tuple):
        return type(value)(map(bare, value))
    return value


def wrapped(result: Any, inputs: Any = ()) -> Any:
    """``result`` as the stand-in's; where NumPy returned one of its inputs, that very array."""
    if isinstance(result, tuple | list):
        parts = [wrapped(part, inputs) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if not isinstance(result, np.ndarray | np.generic):
        return result
    for each in inputs:
        if isinstance(each, ndarray):
            if each.host is result:
                return each
            if isinstance(result, np.ndarray) and result.size and np.may_share_memory(result, each.host):
                return _view(each, result)
    return ndarray(np.asarray(result))


def _view(array: ndarray, host: np.ndarray) -> ndarray:
    shares = np.may_share_memory(host, array.host)
    return ndarray(host, (array if array.base is None else array.base) if shares else None)


def wrapped_around(host: np.ndarray, index: Any) -> Any:
    """``index`` for NumPy, where integers beyond the end wrap around as CuPy's do."""
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, np.ndarray | list):
            raise TypeError(f"an index on the CPU, of type {type(part)}, for an array on the GPU")
    masks = [part for part in parts if isinstance(part, ndarray) and part.dtype.kind == "b"]
    if len(masks) > 1:
        raise NotImplementedError("CuPy takes one boolean array in an index")
    place, made = 0, []
    beyond = sum(part is not None and part is not Ellipsis for part in parts) + sum(
        mask.ndim - 1 for mask in masks
    )
    for part in parts:
        if part is Ellipsis:
            place += host.ndim - beyond
        elif isinstance(part, ndarray) and part.dtype.kind in "iu":
            size = host.shape[place]
            part = part.host % size if size and part.ndim else part.host
            place += 1
        elif isinstance(part, ndarray):
            place += part.ndim
            part = part.host
        elif part is not None:
            place += 1
        made.append(part)
    return tuple(made)


def _write_first(host: np.ndarray, index: Any, value: Any) -> None:
    """Write so that of several values for one place the first one stays, which NumPy never does."""
    if not host.flags.writeable:  # as a diagonal of NumPy's
        host.flags.writeable = True
    if not any(isinstance(part, np.ndarray) and part.dtype.kind in "iu" and part.ndim for part in index):
        host[index] = value
        return
    places = np.arange(host.size).reshape(host.shape)[index]
    values = np.broadcast_to(value, places.shape)
    flat = np.ravel(host)
    flat[places.ravel()[::-1]] = values.ravel()[::-1]
    host[...] = flat.reshape(host.shape)


_ALONG = {"all", "any", "max", "min", "sum", "prod", "mean", "argmax", "argmin", "cumsum", "cumprod"}
_ALONG |= {"amax", "amin", "var", "std", "count_nonzero", "nansum", "median"}


def refuse_axis_of_none(arguments: Any, keywords: dict[str, Any], name: str) -> None:
    """Raise CuPy's error for the dimension 0 of an array without dimensions, which NumPy lets pass."""
    axis = keywords.get("axis")
    if name in _ALONG and axis in (0, -1, (0,), (-1,)) and axis is not False and arguments[0].ndim == 0:
        raise np.exceptions.AxisError(0 if axis in (0, (0,)) else -1, 0)


def _method(name: str) -> Any:
    takes = NAMES["cupy.ndarray"][name]

    def apply(self: ndarray, *arguments: Any, **keywords: Any) -> Any:
        unknown = keywords.keys() - set(takes)
        if unknown or (name not in ("reshape", "transpose") and len(arguments) > len(takes)):
            raise TypeError(f"cupy.ndarray.{name} takes {takes}, not {sorted(unknown) or arguments}")
        named = {key: bare(value) for key, value in keywords.items() if key != "casting" or value}
        given = {"axis": arguments[0]} | keywords if arguments and name in _ALONG else keywords
        refuse_axis_of_none((self,), given, name)
        result = getattr(self.host, name)(*map(bare, arguments), **named)
        return wrapped(result, (self, *keywords.values()))

    return apply


_UFUNCS = {"sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide"}
_UFUNCS |= {"mod": "remainder", "pow": "power", "lshift": "left_shift", "rshift": "right_shift"}
_UFUNCS |= {"matmul": "matmul", "add": "add"} | {name: f"bitwise_{name}" for name in ("and", "or", "xor")}
_OTHERS = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert", "eq": "equal"}
_OTHERS |= {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "ne": "not_equal"}


def _operator(ufunc: Any, form: str = "") -> Any:
    """The operators meet arrays and numbers, and leave other objects to NumPy's ufunc, as CuPy does.

    In place they refuse other objects, and so Python's ``a = a + b`` for ``a += b`` too.
    """

    def apply(self: ndarray, *others: Any) -> Any:
        for other in others:
            if isinstance(other, np.ndarray | list | tuple):
                raise TypeError(f"Unsupported type {type(other)}")
            if not isinstance(other, ndarray | bool | int | float | np.generic):
                if not form and hasattr(other, "__array_ufunc__"):
                    return ufunc(self, other)
                if form == "i":
                    raise TypeError(f"Unsupported type {type(other)}")
                return NotImplemented
        inputs = (*others, self) if form == "r" else (self, *others)
        return call_ufunc(ufunc, inputs, {"out": (self,)} if form == "i" else {})

    return apply


for _name in NAMES["cupy.ndarray"]:
    if _name not in ndarray.__dict__ and NAMES["cupy.ndarray"][_name] != "value":
        setattr(ndarray, _name, _method(_name))
for _name, _of in _UFUNCS.items():
    for _form in ("", "r", "i"):
        if (_form, _name) != ("i", "matmul"):
            setattr(ndarray, f"__{_form}{_name}__", _operator(getattr(np, _of), _form))
for _name, _of in _OTHERS.items():
    setattr(ndarray, f"__{_name}__", _operator(getattr(np, _of)))
ndarray.__hash__ = None  # type: ignore[assignment]
