"""A stand-in for CuPy that computes on the CPU and is as strict as CuPy is.

A GPU is rarely at hand, but most mistakes of GPU code are not about the GPU:
an array is converted behind one's back, a NumPy array slips in, a scalar is
expected where CuPy gives an array of no dimensions, a function or a keyword
is used that CuPy has not.  :class:`ndarray` makes each of these an error, as
CuPy 14 does:

* it refuses ``__array__``, and NumPy arrays beside it;
* functions are reached by NEP 13 and NEP 18 only where CuPy has a function of
  that name with those parameters (``cupy_names.json``, read from CuPy itself);
* ``ufunc.at``, ``.reduce``, ``.accumulate`` are not dispatched;
* reductions and single elements stay arrays;
* an index beyond the end wraps around, and of several values that are written
  to one place not the last one stays.

Every copy to the CPU is noted in :data:`copies`, so that a test can say that
there was none, but for the questions of ``autokit.ops.gpu.ask``.
:func:`installed` puts the stand-in in CuPy's place.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from autokit.ops import approximations, gpu, incomplete_gamma

NAMES = json.loads((Path(__file__).parent / "cupy_names.json").read_text("utf-8"))
MEMORY = 1 << 24
"""An array of more bytes than that is refused, as by a GPU that is full."""

copies: list[str] = []
"""How the elements were read on the CPU, one entry a copy."""

sizes: list[int] = []
"""How many elements each copy had."""

launches: list[str] = []
"""What was computed, one entry for each call: CuPy launches one kernel for it, or for a few calls more."""

_SCALARS = (bool, int, float, complex, np.generic)
_UFUNC_KEYWORDS = {"out", "dtype", "casting", "where"}


class Device:
    """The one GPU that there is."""

    compute_capability = "90"

    def __init__(self, number: int | None = None) -> None:
        if number not in (None, 0):
            raise RuntimeError(f"cudaErrorInvalidDevice: invalid device ordinal {number}")
        self.id = 0

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: object) -> None: ...

    def use(self) -> None: ...

    def synchronize(self) -> None: ...


PROPERTIES = {
    "name": b"a stand-in",
    "totalGlobalMem": 1 << 30,
    "major": 9,
    "minor": 0,
    "multiProcessorCount": 1,
}


class Event:
    """A mark in the work of the GPU, which here is always done."""

    done = True
    time = 0.0

    def __init__(self, block: bool = False, disable_timing: bool = False) -> None: ...

    def record(self, stream: Any = None) -> None:
        self.time = time.perf_counter() * 1000

    def synchronize(self) -> None: ...


class Stream:
    """A queue of work, which here is always empty."""

    null: Stream

    def __init__(self, non_blocking: bool = False) -> None: ...

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None: ...

    def synchronize(self) -> None: ...

    def wait_event(self, event: Event) -> None: ...


Stream.null = Stream()


class Pointer(int):
    """An address "on the GPU", which knows its array's memory."""

    device: Device
    host: np.ndarray
    ptr = property(int)

    def __add__(self, offset: int) -> Pointer:
        moved = Pointer(int(self) + offset)
        moved.host = self.host
        return moved


class ndarray:
    """An array "on the GPU"; ``host`` holds what no test may look at."""

    __array_priority__ = 100
    __slots__ = ("__weakref__", "base", "host")

    def __init__(self, host: Any, base: Any = None, memptr: Any = None, strides: Any = None) -> None:
        if isinstance(memptr, Pointer):  # as CuPy's own: a shape, a dtype, an address and strides
            owner = memptr.host
            offset = int(memptr) - owner.ctypes.data
            host, base = np.ndarray(host, base, owner.reshape(-1).view(np.uint8), offset, strides), None
        self.host = host if isinstance(host, np.ndarray) else np.asarray(host)
        self.base = base
        if base is None and self.host.nbytes > MEMORY:
            raise MemoryError(f"Out of memory allocating {self.host.nbytes:,} bytes")

    # ------------------------------------------------------------ what CuPy's arrays tell of themselves

    device = Device()
    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    ndim = property(lambda self: self.host.ndim)
    size = property(lambda self: self.host.size)
    strides = property(lambda self: self.host.strides)
    itemsize = property(lambda self: self.host.itemsize)
    nbytes = property(lambda self: self.host.nbytes)
    T = property(lambda self: _view(self, self.host.T))
    mT = property(lambda self: _view(self, self.host.mT))
    real = property(lambda self: _view(self, self.host.real))
    imag = property(lambda self: _view(self, self.host.imag))

    @property
    def data(self) -> Any:
        pointer = Pointer(self.host.ctypes.data)
        pointer.host = self.host if self.base is None else self.base.host
        return pointer

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

    def get(self) -> np.ndarray:
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

    def __complex__(self) -> complex:
        return complex(self._copied("complex"))

    def __repr__(self) -> str:
        return f"<stand-in of shape {self.shape}, {self.dtype}>"

    def _copied(self, how: str) -> np.ndarray:
        frame = sys._getframe(2)
        sizes.append(self.size)
        if frame.f_code is not gpu.ask.__code__:
            copies.append(f"{how} in {Path(frame.f_code.co_filename).name}, line {frame.f_lineno}")
        return self.host

    def __dlpack__(self, **settings: Any) -> Any:
        return self.host.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0  # CUDA, the first

    def __reduce__(self) -> Any:
        return ndarray, (self.get(),)

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy()

    # ------------------------------------------------------------ NumPy's functions

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if method != "__call__" or NAMES["cupy"].get(ufunc.__name__) is None:
            return NotImplemented
        if "out" in keywords and len(keywords["out"]) != 1:
            raise ValueError("The 'out' parameter must have exactly one array value")
        if not keywords.keys() <= _UFUNC_KEYWORDS:
            raise TypeError(f"cupy.{ufunc.__name__} takes no {keywords.keys() - _UFUNC_KEYWORDS}")
        for each in inputs:
            if isinstance(each, list | tuple | np.ndarray):
                raise TypeError(f"Unsupported type {type(each)}")
            if not isinstance(each, ndarray | bool | int | float | complex | np.generic):
                return NotImplemented
        launches.append(ufunc.__name__)
        return _wrapped(ufunc(*map(_bare, inputs), **{k: _bare(v) for k, v in keywords.items()}), inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        owner = ".".join(("cupy", *function.__module__.split(".")[1:]))
        if not set(types) <= {ndarray, np.ndarray} or function.__name__ not in NAMES.get(owner, {}):
            return NotImplemented
        return call(owner, function.__name__, function, arguments, keywords)

    # ------------------------------------------------------------ reading and writing

    def __getitem__(self, index: Any) -> ndarray:
        made = _view(self, np.asarray(self.host[_wrapped_around(self.host, index)]))
        if made.base is None:
            launches.append("take")
        return made

    def __setitem__(self, index: Any, value: Any) -> None:
        host_index = _wrapped_around(self.host, index)
        if not isinstance(value, ndarray | bool | int | float | complex | np.generic):
            raise TypeError(f"Unsupported type {type(value)}")
        launches.append("put")
        _write_first(self.host, host_index, _bare(value))


def _bare(value: Any) -> Any:
    """``value`` with NumPy's arrays in place of the stand-in's; NumPy's own are refused."""
    if isinstance(value, ndarray):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}: a NumPy array beside an array on the GPU")
    if isinstance(value, list | tuple):
        return type(value)(map(_bare, value))
    return value


def _wrapped(result: Any, inputs: Any = ()) -> Any:
    """``result`` as the stand-in's; where NumPy returned one of its inputs, that very array."""
    if isinstance(result, tuple | list):
        parts = [_wrapped(part, inputs) for part in result]
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


def _wrapped_around(host: np.ndarray, index: Any) -> Any:
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
    if not any(isinstance(part, np.ndarray) and part.dtype.kind in "iu" and part.ndim for part in index):
        host[index] = value
        return
    places = np.arange(host.size).reshape(host.shape)[index]
    values = np.broadcast_to(value, places.shape)
    flat = np.ravel(host)
    flat[places.ravel()[::-1]] = values.ravel()[::-1]
    host[...] = flat.reshape(host.shape)


# ------------------------------------------------------------ the module


def call(owner: str, name: str, function: Any, arguments: Any, keywords: Any) -> Any:
    """``function`` with what CuPy's function of that name takes."""
    if any(isinstance(each, Traced) for each in arguments):
        return _fused_call(name, function, arguments, keywords)
    takes = NAMES[owner][name]
    if takes == "ufunc":
        if not keywords.keys() <= _UFUNC_KEYWORDS:
            raise TypeError(f"{owner}.{name} takes no {keywords.keys() - _UFUNC_KEYWORDS}")
    elif "kwargs" not in takes and not keywords.keys() <= set(takes):
        raise TypeError(f"{owner}.{name} takes no {keywords.keys() - set(takes)}, only {takes}")
    elif len(arguments) > len(takes) and not any(name.startswith("*") for name in takes):
        raise TypeError(f"{owner}.{name} takes {takes}")
    bare = tuple(map(_bare, arguments)), {key: _bare(value) for key, value in keywords.items()}
    if name in ("put_along_axis", "copyto", "place", "fill_diagonal"):
        launches.append(name)
        return function(*bare[0], **bare[1])
    result = function(*bare[0], **bare[1])
    every = [part for each in arguments for part in (each if isinstance(each, list | tuple) else (each,))]
    if name in ("size", "ndim", "shape", "may_share_memory", "shares_memory"):
        return result
    return _launched(name, _wrapped(result, (*every, *keywords.values())))


def _launched(name: str, made: Any) -> Any:
    """``made``, and a note of what computed it, where that is more than a view."""
    parts = made if isinstance(made, tuple | list) else [made]
    if name not in _NO_WORK and any(isinstance(each, ndarray) and each.base is None for each in parts):
        launches.append(name)
    return made


_NO_WORK = {"empty", "empty_like"}


_ON_THE_CPU = {"result_type", "promote_types", "can_cast", "min_scalar_type", "broadcast_shapes"}


def _function(owner: str, name: str, numpy_function: Any) -> Any:
    if name in _ON_THE_CPU:
        return numpy_function

    @functools.wraps(numpy_function, assigned=("__name__", "__doc__"), updated=())
    def apply(*arguments: Any, **keywords: Any) -> Any:
        return call(owner, name, numpy_function, arguments, keywords)

    if isinstance(numpy_function, np.ufunc):
        apply.at = functools.partial(_at, numpy_function)  # type: ignore[attr-defined]
    return apply


_AT = {"int32", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"}


def _at(ufunc: np.ufunc, array: ndarray, index: Any, values: Any) -> None:
    """``cupy.add.at``, and two more: in the dtypes of CUDA's atomic operations."""
    if ufunc not in (np.add, np.maximum, np.minimum) or array.dtype.name not in _AT:
        raise TypeError(f"CuPy has no {ufunc.__name__}.at of {array.dtype}")
    ufunc.at(array.host, _wrapped_around(array.host, index), _bare(values))


def _from_host(value: Any, dtype: Any = None, copy: bool = True) -> ndarray:
    """``cupy.array`` and ``cupy.asarray``, which alone bring a NumPy array to the GPU."""
    host = value.host if isinstance(value, ndarray) else value
    if isinstance(value, ndarray) and not copy and (dtype is None or host.dtype == dtype):
        return value
    launches.append("copy to the GPU")
    return ndarray(np.array(host, dtype=dtype))


# ------------------------------------------------------------ fused kernels


def fuse(kernel_name: str) -> Any:
    """``cupy.fuse``: one launch for a whole function, which sees placeholders and may do little with them."""

    def decorate(function: Any) -> Any:
        def run(*arguments: Any) -> Any:
            launches.append(kernel_name)
            fusion = Fusion()
            for each in arguments:
                if isinstance(each, np.generic):
                    raise TypeError(f"a number of NumPy's, {each!r}, which CuPy takes for as wide as it is")
            result = function(*[None if each is None else Traced(_bare(each), fusion) for each in arguments])
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


def _fused_call(name: str, function: Any, arguments: Any, keywords: Any) -> Traced:
    """A call on placeholders, with the limits that CuPy sets."""
    fusion = next(each.fusion for each in arguments if isinstance(each, Traced))
    for each in (*arguments, *keywords.values()):
        if isinstance(each, ndarray | np.ndarray):
            raise TypeError("Concrete ndarray is not supported in fusion.")
        if isinstance(each, Traced) and each.after != fusion.reduced:
            raise TypeError("a placeholder from before a sum beside its result")
    if not any(isinstance(each, Traced) and each.ndim >= 0 for each in arguments):
        raise TypeError("two numbers in a kernel make one of float64: give it to the kernel instead")
    bare = [each.host if isinstance(each, Traced) else each for each in arguments]
    if name in _REDUCTIONS:
        if fusion.reduced or keywords.keys() - {"axis"}:
            raise NotImplementedError("two sums in one kernel, or keepdims")
        fusion.reduced = True
        return Traced(np.asarray(function(bare[0], **keywords)), fusion)
    if name != "where" and (NAMES["cupy"][name] != "ufunc" or keywords):
        raise TypeError(f"cupy.{name} with {list(keywords)} cannot be fused")
    if name != "where" and len(bare) > function.nin:
        function(*bare[:-1], out=bare[-1])
        return arguments[-1]
    return Traced(np.asarray(function(*bare)), fusion)


def module() -> ModuleType:
    """A module with CuPy's names that works on :class:`ndarray`."""
    made = {owner: ModuleType(owner) for owner in NAMES if owner not in ("version", "cupy.ndarray")}
    for owner, target in made.items():
        source: Any = np
        for part in owner.split(".")[1:]:
            source = getattr(source, part)
        for name, takes in NAMES[owner].items():
            value = getattr(source, name)
            setattr(target, name, value if takes == "value" else _function(owner, name, value))
    cupy: Any = made["cupy"]
    cupy.linalg = made["cupy.linalg"]
    cupy.lib = ModuleType("cupy.lib")
    cupy.lib.stride_tricks = made["cupy.lib.stride_tricks"]
    cupy.ndarray = ndarray
    cupy.__version__ = NAMES["version"]
    cupy.array = _from_host
    cupy.asarray = functools.partial(_from_host, copy=False)
    cupy.ascontiguousarray = lambda a, dtype=None: (
        a if isinstance(a, ndarray) and a.host.flags.c_contiguous else ndarray(np.array(_bare(a), order="C"))
    )
    cupy.asnumpy = lambda array: array.get()
    cupy.fuse = fuse
    pool = SimpleNamespace(used_bytes=lambda: 0, total_bytes=lambda: 0, free_all_blocks=lambda: None)
    cupy.get_default_memory_pool = lambda: pool
    cupy.cuda = SimpleNamespace(
        Device=Device,
        runtime=SimpleNamespace(
            getDeviceCount=lambda: 1,
            getDeviceProperties=lambda number: PROPERTIES,
            memGetInfo=lambda: (0, 0),
        ),
        Event=Event,
        Stream=Stream,
        get_current_stream=lambda: Stream.null,
        get_elapsed_time=lambda start, end: end.time - start.time,
    )
    return cupy


def _special(name: str, *arrays: Any) -> ndarray:
    """CuPy's special functions: autokit's own for the CPU, since it is the way to them that is tested."""
    if isinstance(arrays[0], Traced):
        return Traced(getattr(approximations, name)(arrays[0].host), arrays[0].fusion)
    launches.append(name)
    name = {"gammaln": "lgamma"}.get(name, name)
    if name == "polygamma":
        name, arrays = "trigamma", arrays[1:]
    if name in ("gammainc", "gammaincc"):
        return ndarray(incomplete_gamma._shares(*map(_bare, arrays))[name == "gammaincc"])
    return ndarray(getattr(approximations, name)(*map(_bare, arrays)))


def _extra() -> dict[str, ModuleType]:
    """``cupyx`` with the parts that autokit uses."""
    cupyx, scipy, special = (ModuleType(n) for n in ("cupyx", "cupyx.scipy", "cupyx.scipy.special"))
    for name in (
        *("erf", "erfc", "erfcx", "erfinv", "log_ndtr", "ndtri", "gammaln", "digamma", "polygamma", "zeta"),
        *("i0", "i1", "i0e", "i1e", "gammainc", "gammaincc"),
    ):
        setattr(special, name, functools.partial(_special, name))
    scipy.special, cupyx.scipy = special, scipy  # type: ignore[attr-defined]
    return {module.__name__: module for module in (cupyx, scipy, special)}


@contextmanager
def installed() -> Iterator[ModuleType]:
    """``import cupy`` gives the stand-in in this block."""
    made = {"cupy": module(), **_extra()}
    before = {name: sys.modules.get(name) for name in made}
    sys.modules.update(made)
    try:
        yield made["cupy"]
    finally:  # what was imported in the block for the first time stays
        for name, module_before in before.items():
            sys.modules.pop(name)
            if module_before is not None:
                sys.modules[name] = module_before


def _method(name: str) -> Any:
    takes = NAMES["cupy.ndarray"][name]

    def apply(self: ndarray, *arguments: Any, **keywords: Any) -> Any:
        unknown = keywords.keys() - set(takes)
        if unknown or (name not in ("reshape", "transpose") and len(arguments) > len(takes)):
            raise TypeError(f"cupy.ndarray.{name} takes {takes}, not {sorted(unknown) or arguments}")
        bare = {key: _bare(value) for key, value in keywords.items() if key != "casting" or value}
        result = getattr(self.host, name)(*map(_bare, arguments), **bare)
        made = _wrapped(result, (self, *keywords.values()))
        return made if made is self else _launched(name, made)

    return apply


_UFUNCS = {"__add__": np.add, "__sub__": np.subtract, "__mul__": np.multiply, "__matmul__": np.matmul}
_UFUNCS["__truediv__"] = np.true_divide


def _operator(name: str) -> Any:
    """The operators meet arrays and numbers, and leave other objects to NumPy's ufunc, as CuPy does."""

    def apply(self: ndarray, *others: Any) -> Any:
        for other in others:
            if isinstance(other, np.ndarray | list | tuple):
                raise TypeError(f"Unsupported type {type(other)}")
            if not isinstance(other, ndarray | bool | int | float | complex | np.generic):
                if name in _UFUNCS and hasattr(other, "__array_ufunc__"):
                    return _UFUNCS[name](self, other)
                return NotImplemented
        launches.append(name.strip("_"))
        result = getattr(self.host, name)(*map(_bare, others))
        return self if name.startswith("__i") and name != "__invert__" else _wrapped(result)

    return apply


for _name in NAMES["cupy.ndarray"]:
    if _name not in ndarray.__dict__ and NAMES["cupy.ndarray"][_name] != "value":
        setattr(ndarray, _name, _method(_name))
for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"),
    *("lshift", "rshift"),
):
    for _form in (f"__{_name}__", f"__r{_name}__", f"__i{_name}__"):
        if _form != "__imatmul__":
            setattr(ndarray, _form, _operator(_form))
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))
ndarray.__hash__ = None  # type: ignore[assignment]
