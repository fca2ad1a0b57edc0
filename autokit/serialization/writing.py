"""An object is written as the program of a pickle: instructions that build the object again on a stack.

``[1, x]`` becomes: an empty list; a mark; 1; what builds ``x``; append all above the mark.
What is built once and used again gets a number (``BINPUT``) and is fetched by it (``BINGET``), so what was
one object stays one, and an object may contain itself.

Only what :mod:`autokit.serialization.reading` and PyTorch's ``weights_only=True`` read is written.
"""

from __future__ import annotations

import pickle as op
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from pickle import PicklingError
from struct import pack
from typing import Any, NamedTuple

import numpy as np

from autokit.base.devices import device
from autokit.base.dtypes import dtype
from autokit.base.size import Size
from autokit.engine.tensor import Tensor
from autokit.nn.parameter import Parameter
from autokit.serialization.storages import STORAGE_TYPES, as_bytes, memory_of

_KEY_ROOM = 64
"""The most elements that a tuple may have, all in all, to be a key."""


def is_key(value: Any) -> bool:
    """Whether ``value`` may be a key of a dict or an element of a set in a file.

    A tuple's hash goes through all that it holds, which in a hostile file may
    be the same tuple twice, in which is the same twice, and so on without end;
    and large numbers can all be made to have the same hash.
    """
    waiting, count = [value], 0
    while waiting:
        part = waiting.pop()
        count += 1
        if type(part) is tuple:
            if count + len(part) > _KEY_ROOM:
                return False
            waiting += part
        elif type(part) is int:
            if not -(2**63) <= part < 2**64:
                return False
        elif part is not None and not isinstance(part, bool | float | str | bytes):
            return False
    return count <= _KEY_ROOM


class Program:
    """The instructions that build ``value``, and the storages that they ask for.

    Attributes
    ----------
    code : bytes
        The record ``data.pkl``.
    storages : list of numpy.ndarray
        The bytes of each storage, in the order of their keys.

    Raises
    ------
    pickle.PicklingError
        If something in ``value`` cannot be saved.
    """

    def __init__(self, value: Any) -> None:
        self.storages: list[np.ndarray] = []
        self._keys: dict[int, tuple[str, dtype, Any]] = {}
        self._numbers: dict[int, tuple[int, Any]] = {}
        self._globals: dict[str, int] = {}
        self._count = 0
        self._path: list[str] = []
        self._code = bytearray(op.PROTO + b"\x02")
        try:
            self._build(value)
        except RecursionError:
            deep = f"it goes on at {''.join(self._path[:8])}…"
            raise PicklingError(f"Can't save this object, which is nested too deep: {deep}") from None
        self.code = bytes(self._code + op.STOP)

    # ------------------------------------------------------------ what is built once

    def _put(self) -> int:
        """Give what is on top of the stack the next number."""
        number, self._count = self._count, self._count + 1
        self._code += op.BINPUT + bytes([number]) if number < 256 else op.LONG_BINPUT + pack("<I", number)
        return number

    def _get(self, number: int) -> None:
        self._code += op.BINGET + bytes([number]) if number < 256 else op.LONG_BINGET + pack("<I", number)

    def _remember(self, value: Any) -> None:
        """Number what was built for ``value``, which is kept, lest another object take its identity."""
        self._numbers[id(value)] = self._put(), value

    def _fetched(self, value: Any) -> bool:
        if id(value) not in self._numbers:
            return False
        self._get(self._numbers[id(value)][0])
        return True

    def _global(self, module: str, name: str) -> None:
        """Put the thing of this name on the stack: a function to call or a type."""
        full = f"{module} {name}"
        if full in self._globals:
            self._get(self._globals[full])
            return
        self._code += op.GLOBAL + f"{module}\n{name}\n".encode()
        self._globals[full] = self._put()

    # ------------------------------------------------------------ one kind of value after the other

    def _build(self, value: Any) -> None:
        if value is None or value is True or value is False:
            self._code += {None: op.NONE, True: op.NEWTRUE, False: op.NEWFALSE}[value]
        elif self._fetched(value):
            pass
        elif isinstance(value, Tensor):
            self._call("torch._utils", *(_parameter if isinstance(value, Parameter) else _tensor)(value))
            self._remember(value)
        elif type(value) in _CALLS:
            module, name, arguments = _CALLS[type(value)]
            self._call(module, name, arguments(value))
            self._remember(value)
        elif type(value) in _WRITERS:
            _WRITERS[type(value)](self, value)
        else:
            raise self._refusal(value)

    def _within(self, place: str, value: Any) -> None:
        self._path.append(place)
        self._build(value)
        self._path.pop()

    def _call(self, module: str, name: str, arguments: tuple[Any, ...]) -> None:
        """Call the function of this name."""
        self._global(module, name)
        self._code += op.MARK
        for argument in arguments:
            self._build(argument)
        self._code += op.TUPLE + op.REDUCE

    def _int(self, value: int) -> None:
        if -(1 << 31) <= value < 1 << 31:
            self._code += op.BININT + pack("<i", value)
        elif value.bit_length() < 255 * 8:
            data = op.encode_long(value)  # type: ignore[attr-defined]
            self._code += op.LONG1 + bytes([len(data)]) + data
        else:
            raise PicklingError(f"Can't save {self._place()}: it is a whole number of more than 2,000 bits")

    def _float(self, value: float) -> None:
        self._code += op.BINFLOAT + pack(">d", value)

    def _str(self, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self._code += op.BINUNICODE + pack("<I", len(data)) + data
        self._remember(value)

    def _tuple(self, value: tuple[Any, ...]) -> None:
        self._code += op.MARK
        for place, item in enumerate(value):
            self._within(f"[{place}]", item)
        if id(value) in self._numbers:  # it holds a list that holds it, and was built on the way
            self._code += op.POP_MARK
            self._fetched(value)
        else:
            self._code += op.TUPLE
            self._remember(value)

    def _list(self, value: list[Any]) -> None:
        self._code += op.EMPTY_LIST
        self._remember(value)
        self._code += op.MARK
        for place, item in enumerate(value):
            self._within(f"[{place}]", item)
        self._code += op.APPENDS

    def _dict(self, value: dict[Any, Any]) -> None:
        if isinstance(value, OrderedDict):
            self._call("collections", "OrderedDict", ())
        else:
            self._code += op.EMPTY_DICT
        self._remember(value)
        self._code += op.MARK
        for key, item in value.items():
            self._check_key(key)
            self._build(key)
            self._within(f"[{key!r:.60}]", item)
        self._code += op.SETITEMS

    def _set(self, value: set[Any]) -> None:
        for item in value:
            self._check_key(item)
        self._call("__builtin__", "set", (list(value),))
        self._remember(value)

    def _check_key(self, key: Any) -> None:
        if not is_key(key):
            raise PicklingError(
                f"Can't save {self._place()}: a key or an element of a set must be a string, a number or a "
                f"short tuple of these, and {type(key).__name__} is none"
            )

    def _dtype(self, value: dtype) -> None:
        self._global("torch", value.name)

    def _storage(self, value: _Storage) -> None:
        owner, tensor = value
        if id(owner) not in self._keys:
            self._keys[id(owner)] = str(len(self.storages)), tensor.dtype, owner
            self.storages.append(as_bytes(owner))
        key, kind, _ = self._keys[id(owner)]
        if kind != tensor.dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types: "
                f"{self._place()} is {tensor.dtype}, and another view of its memory is {kind}; "
                "save a .clone() of one of them"
            )
        self._code += op.MARK
        self._build("storage")
        self._global("torch", STORAGE_TYPES[kind.name])
        for part in (key, str(tensor.device), owner.nbytes // kind.itemsize):
            self._build(part)
        self._code += op.TUPLE + op.BINPERSID

    # ------------------------------------------------------------ what cannot be saved

    def _place(self) -> str:
        return f"what is at {''.join(self._path)[:200]}" if self._path else "this object"

    def _refusal(self, value: Any) -> PicklingError:
        kind = type(value).__name__
        if hasattr(value, "load_state_dict"):
            what = "model" if hasattr(value, "parameters") else "optimizer"
            return PicklingError(
                f"Can't save {self._place()}, the {kind}: a whole {what} can only be loaded by running the "
                f"code that a file names, which autokit never does. Save {what}.state_dict(), and load it "
                f"with {what}.load_state_dict(...) into a new {kind}(...)"
            )
        hint = "the numbers, strings and tensors that it is made of"
        if isinstance(value, np.ndarray | np.generic):
            hint = "torch.from_numpy(array), or the Python number, value.item()"
        elif isinstance(value, Mapping | tuple | list | frozenset):
            hint = "a plain dict, tuple, list or set of what it holds"
        return PicklingError(
            f"Can't save {self._place()}: a file holds tensors, numbers, strings, bytes, None, and dicts, "
            f"lists, tuples and sets of these, and no {type(value).__module__}.{kind}; save {hint}"
        )


class _Storage(NamedTuple):
    """The memory of a tensor: the array that owns it, and the tensor."""

    owner: Any
    tensor: Tensor


def _tensor(value: Tensor) -> tuple[str, tuple[Any, ...]]:
    """The call that builds a tensor: a storage, the place of the first element, sizes, strides, no hooks."""
    owner, offset, strides = memory_of(value)
    storage, sizes = _Storage(owner, value), tuple(value.shape)
    return "_rebuild_tensor_v2", (storage, offset, sizes, strides, value.requires_grad, OrderedDict())


def _parameter(value: Tensor) -> tuple[str, tuple[Any, ...]]:
    return "_rebuild_parameter", (value.detach(), value.requires_grad, OrderedDict())


_CALLS: dict[type, tuple[str, str, Callable[[Any], tuple[Any, ...]]]] = {
    bytes: ("_codecs", "encode", lambda value: (value.decode("latin-1"), "latin1")),
    Counter: ("collections", "Counter", lambda value: (dict(value),)),
    Size: ("torch", "Size", lambda value: (tuple(value),)),
    device: (
        "torch",
        "device",
        lambda value: (value.type,) if value.index is None else (value.type, value.index),
    ),
}
"""Values that are the result of a call: its module and name, and the arguments."""

_WRITERS: dict[type, Callable[[Program, Any], None]] = {
    int: Program._int,
    float: Program._float,
    str: Program._str,
    tuple: Program._tuple,
    list: Program._list,
    set: Program._set,
    dict: Program._dict,
    OrderedDict: Program._dict,
    dtype: Program._dtype,
    _Storage: Program._storage,
}
