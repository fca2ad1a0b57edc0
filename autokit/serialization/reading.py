"""A machine that runs the program of a pickle, and knows nothing but tensors, numbers, text and containers.

Python's own machine, ``pickle.load``, imports and calls whatever a file
names.  This one has a list of names; each stands for a function of this
file that checks what it is given, and any other name is refused.  Nor can
a program use up memory or time: it makes nothing larger than itself but the
tensors, whose elements are records of the archive.
"""

from __future__ import annotations

import pickletools
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any, NoReturn

from autokit import dtypes
from autokit.devices import device
from autokit.formats import sparse_coo
from autokit.formats import strided as strided_layout
from autokit.nn.parameter import Buffer, Parameter
from autokit.ops.sparse import is_in_order, sparse_coo_tensor
from autokit.serialization.memory import STORAGE_TYPES, Storages, UntypedStorage, tensor_on
from autokit.serialization.writing import is_key
from autokit.tensor import Size, Tensor, new_tensor


def refused(what: str) -> UnpicklingError:
    """The error for a program that this machine does not run."""
    return UnpicklingError(f"Weights only load failed. {what}")


def run(program: bytes, storages: Storages) -> Any:
    """The object that ``program`` builds.

    Raises
    ------
    pickle.UnpicklingError
        If it needs more than this machine knows, or is no program.
    """
    machine = _Machine(storages, len(program))
    try:
        for opcode, argument, _ in pickletools.genops(program):
            step = _STEPS.get(opcode.name)
            if step is None:
                raise refused(
                    f"Unsupported operand {opcode.name}: a file of tensors needs no such instruction"
                )
            step(machine, argument)
        (result,) = machine.stack
    except (ValueError, IndexError, KeyError, TypeError) as error:
        if storages.asking:
            raise  # it is the error of the caller's map_location
        raise refused(f"The program in data.pkl is damaged: {str(error)[:200]}") from error
    return result


class _Function:
    """What stands on the stack for a name that a program may call."""

    __slots__ = ("build", "name")

    def __init__(self, name: str, build: Callable[..., Any]) -> None:
        self.name = name
        self.build = build

    def __repr__(self) -> str:
        return f"<{self.name}>"


class _StorageType:
    """What stands on the stack for ``torch.FloatStorage`` and the like."""

    __slots__ = ("kind",)

    def __init__(self, kind: dtypes.dtype) -> None:
        self.kind = kind


class _Machine:
    def __init__(self, storages: Storages, size: int) -> None:
        self.storages = storages
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        """The stacks below each mark."""
        self.memo: dict[int, Any] = {}
        self.copies_left = size
        """How many elements may still be copied: each is written in the program at least once."""

    # ------------------------------------------------------------ the stack

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def mark(self, _: Any) -> None:
        self.below.append(self.stack)
        self.stack = []

    def above_mark(self) -> list[Any]:
        above, self.stack = self.stack, self.below.pop()
        return above

    def pop(self, _: Any) -> None:
        self.stack.pop()

    def pop_mark(self, _: Any) -> None:
        self.above_mark()

    def put(self, number: int) -> None:
        self.memo[number] = self.stack[-1]

    def memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def get(self, number: int) -> None:
        self.stack.append(self.memo[number])

    def stop(self, _: Any) -> None:
        if self.below:
            raise ValueError("it ends behind a mark")

    # ------------------------------------------------------------ containers

    def tuple_of(self, count: int) -> None:
        if len(self.stack) < count:
            raise IndexError("its stack is empty")
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def tuple_above_mark(self, _: Any) -> None:
        above = self.above_mark()
        self.stack.append(tuple(above))

    def append(self, _: Any) -> None:
        value = self.stack.pop()
        self.target(list).append(value)

    def appends(self, _: Any) -> None:
        values = self.above_mark()
        self.target(list).extend(values)

    def add_items(self, _: Any) -> None:
        values = self.above_mark()
        self.target(set).update(_checked_keys(values))

    def set_item(self, _: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.target(dict, OrderedDict, Counter)[_checked_key(key)] = value

    def set_items(self, _: Any) -> None:
        values = self.above_mark()
        target = self.target(dict, OrderedDict, Counter)
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[_checked_key(key)] = value

    def target(self, *kinds: type) -> Any:
        target = self.stack[-1]
        if type(target) not in kinds:
            raise TypeError(f"it fills {type(target).__name__} as if that were {kinds[0].__name__}")
        return target

    # ------------------------------------------------------------ names and calls

    def name(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self.push(_known(module, name))

    def stack_name(self, _: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise TypeError("a name must be text")
        self.push(_known(module, name))

    def call(self, _: Any) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if type(function) is not _Function or type(arguments) is not tuple:
            raise refused(f"Trying to call reduce for unrecognized function {type(function).__name__}")
        try:
            self.push(function.build(self, *arguments))
        except (TypeError, ValueError, RecursionError) as error:
            raise refused(f"{function.name} is called with wrong arguments: {str(error)[:200]}") from error

    def build(self, _: Any) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is not OrderedDict:
            raise refused(f"Can only build Tensor, Parameter, OrderedDict, but got {type(target).__name__}")
        _set_attributes(target, state)

    def new_object(self, _: Any) -> NoReturn:
        raise refused("Can only create new object for tensors and containers")

    def storage(self, _: Any) -> None:
        name = self.stack.pop()
        if type(name) is not tuple or [type(part) for part in name] != [str, _StorageType, str, str, int]:
            raise refused("Only persistent_load of storage is allowed")
        _, kind, key, location, count = name
        self.push(self.storages.get(kind.kind, key, location, _whole(count)))

    def copied(self, count: int) -> None:
        """Count what is copied, lest a short program multiply it."""
        self.copies_left -= count
        if self.copies_left < 0:
            raise refused("The program copies the same elements again and again, to fill all memory")


# ---------------------------------------------------------------- what a program may call


def _ordered_dict(machine: _Machine, *pairs: Any) -> OrderedDict[Any, Any]:
    if not pairs:
        return OrderedDict()
    (pairs,) = pairs
    machine.copied(len(_of(list, pairs)))
    return OrderedDict((_checked_key(key), value) for key, value in pairs)


def _counter(machine: _Machine, counts: Any = None) -> Counter[Any]:
    machine.copied(len(_of(dict, counts)) if counts is not None else 0)
    return Counter(counts)


def _set(machine: _Machine, values: Any) -> set[Any]:
    machine.copied(len(_of(list, values)))
    return set(_checked_keys(values))


def _encode(machine: _Machine, text: Any, encoding: Any = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise ValueError(f"bytes are written as latin1, not {encoding!r:.40}")
    machine.copied(len(_of(str, text)))
    return text.encode("latin-1")


def _no_bytes(machine: _Machine) -> bytes:
    return b""


def _bytearray(machine: _Machine, *data: Any) -> bytearray:
    contents = _encode(machine, *data) if len(data) == 2 else _of(bytes, *data) if data else b""
    machine.copied(len(contents))
    return bytearray(contents)


def _complex(machine: _Machine, real: Any, imag: Any) -> complex:
    return complex(_of(float, real), _of(float, imag))


def _size(machine: _Machine, sizes: Any) -> Size:
    machine.copied(len(_of(tuple, sizes)))
    return Size(_wholes(sizes))


def _device(machine: _Machine, name: Any, index: Any = None) -> device:
    return device(_of(str, name)[:40], None if index is None else _whole(index))


def _layout(machine: _Machine, name: Any) -> Any:
    found = _LAYOUTS.get(_of(str, name))
    if found is None:
        raise refused(f"autokit's tensors are torch.strided or torch.sparse_coo, and here is {name!r:.40}")
    return found


_LAYOUTS = {repr(each): each for each in (strided_layout, sparse_coo)}


def _tensor(
    machine: _Machine,
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any = False,
    hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    kind = dtypes.BY_NUMPY[_of(UntypedStorage, storage).array.dtype]
    return _tensor_of(storage, kind, offset, size, stride, requires_grad, metadata)


def _tensor_of_dtype(
    machine: _Machine,
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    hooks: Any,
    kind: Any,
    metadata: Any = None,
) -> Tensor:
    return _tensor_of(
        _of(UntypedStorage, storage), _of(dtypes.dtype, kind), offset, size, stride, requires_grad, metadata
    )


def _tensor_of(
    storage: UntypedStorage,
    kind: dtypes.dtype,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    metadata: Any,
) -> Tensor:
    size, stride = (Size(_wholes(_of((tuple, Size, list), each))) for each in (size, stride))
    tensor = tensor_on(storage, kind, _whole(offset), size, stride)
    if metadata:  # PyTorch conjugates and negates late; autokit at once
        array = tensor.array.conj() if _of(dict, metadata).get("conj") else tensor.array
        tensor = new_tensor(-array if metadata.get("neg") else array)
    if _of(bool, requires_grad):
        tensor.requires_grad = True
    return tensor


def _sparse_tensor(machine: _Machine, kind: Any, parts: Any) -> Tensor:
    if kind is not sparse_coo:
        raise refused(f"a sparse tensor is torch.sparse_coo here, and this one is {kind!r:.40}")
    indices, values, size, *_ = _of(tuple, parts)
    size = _wholes(_of((tuple, Size, list), size))
    try:
        made = sparse_coo_tensor(_of(Tensor, indices), _of(Tensor, values).detach(), size)
    except (RuntimeError, IndexError) as error:
        raise refused(f"The places of a sparse tensor are damaged: {str(error)[:200]}") from error
    made.array.coalesced = is_in_order(made.array)  # whatever the file says of it
    return made


def _parameter(machine: _Machine, data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Parameter:
    parameter = Parameter(_of(Tensor, data), requires_grad=_of(bool, requires_grad))
    return _set_attributes(parameter, state)


def _tensor_of_type(machine: _Machine, function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    if (
        _of(_Function, function).build not in (_tensor, _tensor_of_dtype, _sparse_tensor)
        or kind is not _NAMES["torch.Tensor"]
    ):
        raise refused("Only tensors and parameters have attributes")
    tensor = function.build(machine, *_of(tuple, arguments))
    if type(state) is dict and state.get("_is_buffer") is True:
        tensor = Buffer(tensor)
        state = {name: value for name, value in state.items() if name != "_is_buffer"}
    return _set_attributes(tensor, state)


def _not_called(machine: _Machine, *arguments: Any) -> NoReturn:
    raise TypeError("it is no function here")


def _set_attributes(target: Any, state: Any) -> Any:
    """Give ``target`` the attributes ``state``, none of which may hide one of its type."""
    for name, value in (_of(dict, state) if state is not None else {}).items():
        own = type(target) is Buffer and name == "persistent"
        if type(name) is not str or name.startswith("__") or (hasattr(type(target), name) and not own):
            raise refused(f"The file sets the attribute {name!r:.60} of {type(target).__name__}")
        vars(target)[name] = value
    return target


# ---------------------------------------------------------------- checks


def _of(kind: Any, value: Any) -> Any:
    if type(value) not in (kind if isinstance(kind, tuple) else (kind,)) and not (
        kind is Tensor and isinstance(value, Tensor)
    ):
        raise TypeError(f"{type(value).__name__} where it needs {getattr(kind, '__name__', 'tuple')}")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise TypeError(f"a whole number of 64 bits is needed, and here is {type(value).__name__}")
    return value


def _wholes(values: Any) -> list[int]:
    return [_whole(value) for value in values]


def _checked_key(key: Any) -> Any:
    if not is_key(key):
        raise TypeError(f"{type(key).__name__} is no key of a dict and no element of a set here")
    return key


def _checked_keys(keys: list[Any]) -> list[Any]:
    return [_checked_key(key) for key in keys]


# ---------------------------------------------------------------- the names

_CALLS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": _ordered_dict,
    "collections.Counter": _counter,
    "builtins.set": _set,
    "builtins.complex": _complex,
    "builtins.bytearray": _bytearray,
    "builtins.bytes": _no_bytes,  # as protocol 2 writes b""
    "_codecs.encode": _encode,
    "torch.Size": _size,
    "torch.device": _device,
    "torch.serialization._get_layout": _layout,
    "torch.Tensor": _not_called,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_of_dtype,
    "torch._utils._rebuild_sparse_tensor": _sparse_tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _tensor_of_type,
}
_NAMES: dict[str, Any] = {name: _Function(name, build) for name, build in _CALLS.items()}
_NAMES.update(  # protocol 2 has Python 2's name of builtins
    {name.replace("builtins", "__builtin__"): each for name, each in _NAMES.items() if "builtins" in name}
)
_NAMES.update({f"torch.{name}": _StorageType(kind) for kind, name in STORAGE_TYPES.items()})
_NAMES["torch.storage.UntypedStorage"] = _StorageType(dtypes.BY_NAME["uint8"])
_NAMES.update({f"torch.{kind.name}": kind for kind in dtypes.BY_NAME.values()})


def _known(module: str, name: str) -> Any:
    full = f"{module}.{name}"
    found = _NAMES.get(full)
    if found is not None:
        return found
    full = full[:120]
    if module == "torch" and not name.startswith("_"):
        reason = (
            "autokit has no such dtype: in PyTorch, convert those tensors first, for example with .float()"
        )
    elif module == "torch._utils" and name.startswith("_rebuild"):
        reason = (
            "it holds a tensor of a kind that autokit does not read, such as a quantized one: in PyTorch, "
            "save tensor.dequantize()"
        )
    elif module.startswith("numpy"):
        reason = "it holds a NumPy array or number: in PyTorch, save torch.from_numpy(array) or number.item()"
    elif module.startswith("torch.nn.") or module == "__main__":
        reason = (
            "it holds a whole model, whose code would have to run: in PyTorch, save model.state_dict(), and "
            "load it with model.load_state_dict(...)"
        )
    else:
        reason = "autokit runs no code that a file names, also not with weights_only=False"
    raise refused(f"Unsupported global: GLOBAL {full} was not an allowed global by default: {reason}.")


def _pushed(value: Any) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(value)


_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, _: None,
    "FRAME": lambda machine, _: None,
    "STOP": _Machine.stop,
    "NONE": _pushed(None),
    "NEWTRUE": _pushed(True),
    "NEWFALSE": _pushed(False),
    **dict.fromkeys(("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"), _Machine.push),
    **dict.fromkeys(("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"), _Machine.push),
    **dict.fromkeys(("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"), _Machine.push),
    "EMPTY_TUPLE": _pushed(()),
    "EMPTY_LIST": lambda machine, _: machine.stack.append([]),
    "EMPTY_DICT": lambda machine, _: machine.stack.append({}),
    "EMPTY_SET": lambda machine, _: machine.stack.append(set()),
    "TUPLE": _Machine.tuple_above_mark,
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "APPEND": _Machine.append,
    "APPENDS": _Machine.appends,
    "ADDITEMS": _Machine.add_items,
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_items,
    "MARK": _Machine.mark,
    "POP": _Machine.pop,
    "POP_MARK": _Machine.pop_mark,
    **dict.fromkeys(("BINPUT", "LONG_BINPUT"), _Machine.put),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), _Machine.get),
    "MEMOIZE": _Machine.memoize,
    "GLOBAL": _Machine.name,
    "STACK_GLOBAL": _Machine.stack_name,
    "REDUCE": _Machine.call,
    "BUILD": _Machine.build,
    "NEWOBJ": _Machine.new_object,
    "BINPERSID": _Machine.storage,
}
