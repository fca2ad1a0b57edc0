"""From an object to the program of a pickle: the instructions that build it again on a stack.

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
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import device
from autokit.formats import layout, sparse_coo
from autokit.nn.parameter import Buffer, Parameter
from autokit.ops.sparse_array import SparseArray
from autokit.serialization.memory import STORAGE_TYPES, as_bytes, memory_of
from autokit.tensor import Size, Tensor, new_tensor

PROTOCOLS = range(2, 6)

_KEY_ROOM = 64
"""The most elements that a tuple may have, all in all, to be a key."""


def is_key(value: Any) -> bool:
    """Whether ``value`` may be a key of a dict or an element of a set in a file.

    A tuple's hash goes through all that it holds, which in a hostile file may
    be the same tuple twice, in which is the same twice, and so on without end;
    and complex or large numbers can all be made to have the same hash.
    """
    waiting, count = [value], 0
    while waiting:
        each = waiting.pop()
        count += 1
        if type(each) is tuple or type(each) is Size:
            if count + len(each) > _KEY_ROOM:
                return False
            waiting += each
        elif type(each) is int:
            if not -(2**63) <= each < 2**64:
                return False
        elif each is not None and not isinstance(each, _KEYS):
            return False
    return count <= _KEY_ROOM


_KEYS = (bool, float, str, bytes, dtypes.dtype, device, Tensor)


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

    def __init__(self, value: Any, protocol: int = 2) -> None:
        self.storages: list[np.ndarray] = []
        self._keys: dict[int, tuple[str, dtypes.dtype, Any]] = {}
        self._numbers: dict[int, tuple[int, Any]] = {}
        self._globals: dict[str, int] = {}
        self._count = 0
        self._path: list[str] = []
        self._code = bytearray(op.PROTO + bytes([protocol]))
        try:
            self._build(value)
        except RecursionError:
            deep = f"it goes on at {''.join(self._path[:8])}…"
            raise PicklingError(f"Can't save this object, which is nested too deep: {deep}") from None
        self.code = bytes(self._code + op.STOP)

    # ------------------------------------------------------------ what is built once

    def _next_number(self) -> int:
        self._count += 1
        return self._count - 1

    def _put(self, number: int) -> None:
        self._code += op.BINPUT + bytes([number]) if number < 256 else op.LONG_BINPUT + pack("<I", number)

    def _get(self, number: int) -> None:
        self._code += op.BINGET + bytes([number]) if number < 256 else op.LONG_BINGET + pack("<I", number)

    def _remember(self, value: Any) -> None:
        """Give what is on top of the stack a number; ``value`` is kept, lest another take its identity."""
        number = self._next_number()
        self._numbers[id(value)] = number, value
        self._put(number)

    def _fetched(self, value: Any) -> bool:
        known = self._numbers.get(id(value))
        if known is not None:
            self._get(known[0])
        return known is not None

    def _global(self, module: str, name: str) -> None:
        """Put the thing of this name on the stack: a function to call or a type."""
        full = f"{module} {name}"
        if full in self._globals:
            self._get(self._globals[full])
            return
        self._code += op.GLOBAL + f"{module}\n{name}\n".encode()
        number = self._globals[full] = self._next_number()
        self._put(number)

    # ------------------------------------------------------------ one kind of value after the other

    def _build(self, value: Any) -> None:
        if value is None or value is True or value is False:
            self._code += {None: op.NONE, True: op.NEWTRUE, False: op.NEWFALSE}[value]
        elif not self._fetched(value):
            write = _WRITERS.get(type(value))
            if write is None:
                raise self._refusal(value)
            write(self, value)

    def _within(self, place: str, value: Any) -> None:
        self._path.append(place)
        self._build(value)
        self._path.pop()

    def _int(self, value: int) -> None:
        if 0 <= value < 256:
            self._code += op.BININT1 + bytes([value])
        elif 0 <= value < 1 << 16:
            self._code += op.BININT2 + pack("<H", value)
        elif -(1 << 31) <= value < 1 << 31:
            self._code += op.BININT + pack("<i", value)
        else:
            data = op.encode_long(value)  # type: ignore[attr-defined]
            short = len(data) < 256
            self._code += (
                op.LONG1 + bytes([len(data)]) if short else op.LONG4 + pack("<i", len(data))
            ) + data

    def _float(self, value: float) -> None:
        self._code += op.BINFLOAT + pack(">d", value)

    def _complex(self, value: complex) -> None:
        self._global("__builtin__", "complex")
        self._float(value.real)
        self._float(value.imag)
        self._code += op.TUPLE2 + op.REDUCE
        self._remember(value)

    def _str(self, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self._code += op.BINUNICODE + pack("<I", len(data)) + data
        self._remember(value)

    def _bytes(self, value: bytes) -> None:
        # Protocol 2 has no bytes: they are text in which each character is one byte.
        self._global("_codecs", "encode")
        self._str(value.decode("latin-1"))
        self._build("latin1")
        self._code += op.TUPLE2 + op.REDUCE
        self._remember(value)

    def _bytearray(self, value: bytearray) -> None:
        self._global("__builtin__", "bytearray")
        self._bytes(bytes(value))
        self._code += op.TUPLE1 + op.REDUCE
        self._remember(value)

    def _tuple(self, value: tuple[Any, ...]) -> None:
        self._code += op.MARK
        for place, each in enumerate(value):
            self._within(f"[{place}]", each)
        if id(value) in self._numbers:  # it holds a list that holds it, and was built on the way
            self._code += op.POP_MARK
            self._fetched(value)
        else:
            self._code += op.TUPLE
            self._remember(value)

    def _numbers_tuple(self, values: tuple[int, ...]) -> None:
        self._code += op.MARK
        for each in values:
            self._int(each)
        self._code += op.TUPLE

    def _size(self, value: Size) -> None:
        self._global("torch", "Size")
        self._numbers_tuple(value)
        self._code += op.TUPLE1 + op.REDUCE
        self._remember(value)

    def _list(self, value: list[Any]) -> None:
        self._code += op.EMPTY_LIST
        self._remember(value)
        self._code += op.MARK
        for place, each in enumerate(value):
            self._within(f"[{place}]", each)
        self._code += op.APPENDS

    def _set(self, value: set[Any]) -> None:
        self._global("__builtin__", "set")
        self._code += op.EMPTY_LIST + op.MARK
        for each in value:
            self._key(each)
            self._within("{…}", each)
        self._code += op.APPENDS + op.TUPLE1 + op.REDUCE
        self._remember(value)

    def _dict(self, value: Mapping[Any, Any]) -> None:
        self._code += op.EMPTY_DICT
        self._remember(value)
        self._items(value)

    def _ordered_dict(self, value: OrderedDict[Any, Any]) -> None:
        self._empty_ordered_dict()
        self._remember(value)
        self._items(value)
        if attributes := vars(value):  # the _metadata of a state_dict
            self._within(".__dict__", attributes)
            self._code += op.BUILD

    def _empty_ordered_dict(self) -> None:
        self._global("collections", "OrderedDict")
        self._code += op.EMPTY_TUPLE + op.REDUCE

    def _counter(self, value: Counter[Any]) -> None:
        self._global("collections", "Counter")
        self._code += op.EMPTY_DICT
        self._items(value)
        self._code += op.TUPLE1 + op.REDUCE
        self._remember(value)

    def _items(self, value: Mapping[Any, Any]) -> None:
        self._code += op.MARK
        for key, each in value.items():
            self._key(key)
            self._within("{…}", key)
            self._within(f"[{key!r:.60}]", each)
        self._code += op.SETITEMS

    def _key(self, key: Any) -> None:
        if not is_key(key):
            raise PicklingError(
                f"Can't save {self._place()}: a key or an element of a set must be a string, a number or a "
                f"short tuple of these, and {type(key).__name__} is none"
            )

    def _dtype(self, value: dtypes.dtype) -> None:
        self._global("torch", value.name)

    def _device(self, value: device) -> None:
        self._global("torch", "device")
        self._build(value.type)
        if value.index is None:
            self._code += op.TUPLE1
        else:
            self._int(value.index)
            self._code += op.TUPLE2
        self._code += op.REDUCE
        self._remember(value)

    def _layout(self, value: layout) -> None:
        self._global("torch.serialization", "_get_layout")
        self._str(repr(value))
        self._code += op.TUPLE1 + op.REDUCE
        self._remember(value)

    # ------------------------------------------------------------ tensors

    def _tensor(self, value: Tensor) -> None:
        attributes = _attributes_of(value)
        if attributes:
            self._global("torch._tensor", "_rebuild_from_type_v2")
            self._code += op.MARK
            self._rebuilding_function(value)
            self._global("torch", "Tensor")
            self._tensor_arguments(value, value.requires_grad)
            self._within(".__dict__", attributes)
            self._code += op.TUPLE + op.REDUCE
        else:
            self._plain_tensor(value, value.requires_grad)
        self._remember(value)

    def _parameter(self, value: Parameter) -> None:
        attributes = _attributes_of(value)
        self._global("torch._utils", "_rebuild_parameter" + "_with_state" * bool(attributes))
        self._code += op.MARK
        self._plain_tensor(value, False)
        self._build(value.requires_grad)
        self._empty_ordered_dict()
        if attributes:
            self._within(".__dict__", attributes)
        self._code += op.TUPLE + op.REDUCE
        self._remember(value)

    def _plain_tensor(self, value: Tensor, requires_grad: bool) -> None:
        self._rebuilding_function(value)
        self._tensor_arguments(value, requires_grad)
        self._code += op.REDUCE

    def _rebuilding_function(self, value: Tensor) -> None:
        sparse = isinstance(value.array, SparseArray)
        self._global("torch._utils", "_rebuild_sparse_tensor" if sparse else "_rebuild_tensor_v2")

    def _tensor_arguments(self, value: Tensor, requires_grad: bool) -> None:
        """The storage, where in it the first element is, sizes, strides, requires_grad, and no hooks."""
        if isinstance(value.array, SparseArray):
            self._sparse_arguments(value.array)
            return
        owner, offset, strides = memory_of(value)
        self._code += op.MARK
        self._storage(owner, value)
        self._int(offset)
        self._numbers_tuple(value.shape)
        self._numbers_tuple(strides)
        self._build(requires_grad)
        self._empty_ordered_dict()
        self._code += op.TUPLE

    def _sparse_arguments(self, value: SparseArray) -> None:
        """The layout; and places, elements, sizes, and whether the places are in order."""
        self._build(sparse_coo)
        self._code += op.MARK
        for part in (value.indices, value.values):
            self._plain_tensor(new_tensor(part), False)
        self._build(Size(value.shape))
        self._build(value.coalesced)
        self._code += op.TUPLE + op.TUPLE2

    def _storage(self, owner: Any, tensor: Tensor) -> None:
        known = self._keys.get(id(owner))
        if known is None:
            known = self._keys[id(owner)] = str(len(self.storages)), tensor.dtype, owner
            self.storages.append(as_bytes(owner))
        key, kind, _ = known
        if kind != tensor.dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types: "
                f"{self._place()} is {tensor.dtype}, and another view of its memory is {kind}; "
                "save a .clone() of one of them"
            )
        self._code += op.MARK
        self._build("storage")
        self._global("torch", STORAGE_TYPES[kind])
        self._build(key)
        self._build(str(tensor.device))
        self._int(owner.nbytes // kind.itemsize)
        self._code += op.TUPLE + op.BINPERSID

    # ------------------------------------------------------------ what cannot be saved

    def _place(self) -> str:
        return f"what is at {''.join(self._path)[:200]}" if self._path else "this object"

    def _refusal(self, value: Any) -> PicklingError:
        from autokit.nn.module import Module
        from autokit.optim.optimizer import Optimizer

        kind = type(value).__name__
        if isinstance(value, Module | Optimizer):
            what = "model" if isinstance(value, Module) else "optimizer"
            return PicklingError(
                f"Can't save {self._place()}, the {kind}: a whole {what} can only be loaded by running the "
                "code "
                f"that a file names, which autokit never does. Save {what}.state_dict(), and load it with "
                f"{what}.load_state_dict(...) into a new {kind}(...)"
            )
        if isinstance(value, np.ndarray):
            hint = "save torch.from_numpy(array)"
        elif isinstance(value, np.generic):
            hint = "save the Python number, value.item()"
        elif isinstance(value, Tensor):
            hint = "a subclass of Tensor is saved as what it holds, such as tensor.detach()"
        elif isinstance(value, Mapping):
            hint = "save dict(...) of it"
        elif isinstance(value, tuple | list | frozenset):
            hint = "save a plain tuple, list or set of what it holds"
        else:
            hint = "save the numbers, strings and tensors that it is made of"
        return PicklingError(
            f"Can't save {self._place()}: a file holds tensors, numbers, strings, bytes, None, and dicts, "
            "lists, "
            f"tuples and sets of these, and no {type(value).__module__}.{kind}; {hint}"
        )


def _attributes_of(tensor: Tensor) -> dict[str, Any]:
    """What the learner noted on ``tensor``; autokit's own notes begin with ``_``."""
    found = {name: value for name, value in vars(tensor).items() if not name.startswith("_")}
    return {**found, "_is_buffer": True} if type(tensor) is Buffer else found


_WRITERS: dict[type, Callable[[Program, Any], None]] = {
    int: Program._int,
    float: Program._float,
    complex: Program._complex,
    str: Program._str,
    bytes: Program._bytes,
    bytearray: Program._bytearray,
    tuple: Program._tuple,
    Size: Program._size,
    list: Program._list,
    set: Program._set,
    dict: Program._dict,
    OrderedDict: Program._ordered_dict,
    Counter: Program._counter,
    dtypes.dtype: Program._dtype,
    device: Program._device,
    layout: Program._layout,
    Tensor: Program._tensor,
    Buffer: Program._tensor,
    Parameter: Program._parameter,
}
