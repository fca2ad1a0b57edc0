"""A machine that runs the program of a pickle, and can create tensors, numbers, text and containers only.

Python's own machine, ``pickle.load``, imports and calls whatever a file
names.  This one has a list of names; each stands for a function of this
file that checks what it is given, and any other name is refused.  Nor can
a program use up memory or time: it builds nothing larger than itself but the
tensors, whose elements are records of the archive.
"""

from __future__ import annotations

import pickletools
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from autokit.base.devices import device
from autokit.base.dtypes import BY_NAME, NAMES_ONLY
from autokit.base.size import Size
from autokit.engine.tensor import Tensor
from autokit.nn.parameter import Parameter
from autokit.serialization.storages import BFLOAT16, STORAGE_TYPES, Storages, UntypedStorage, tensor_on
from autokit.serialization.writing import is_key


def refused(what: str) -> UnpicklingError:
    """The error for a program that this machine does not run."""
    return UnpicklingError(f"Weights only load failed. {what}")


def run(program: bytes, storages: Storages) -> Any:
    """The object that ``program`` builds.

    Raises
    ------
    pickle.UnpicklingError
        If it needs more than this machine has, or is no program.
    """
    machine = _Machine(storages, len(program))
    try:
        for opcode, argument, _ in pickletools.genops(program):
            if not any(step(opcode.name, argument) for step in machine.steps):
                raise refused(
                    f"Unsupported operand {opcode.name}: a file of tensors needs no such instruction"
                )
        (result,) = machine.stack
    except (ValueError, IndexError, KeyError, TypeError) as error:
        if storages.asking:
            raise  # it is the error of the caller's map_location
        raise refused(f"The program in data.pkl is damaged: {str(error)[:200]}") from error
    return result


class _Function:
    """What stands on the stack for a name that a program may call."""

    def __init__(self, name: str, build: Callable[..., Any]) -> None:
        self.name = name
        self.build = build


class _StorageType:
    """What stands on the stack for ``torch.FloatStorage`` and the like."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class _Machine:
    """The stack, the marks in it, and the memo."""

    def __init__(self, storages: Storages, size: int) -> None:
        self.storages = storages
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        """The stacks below each mark."""
        self.memo: dict[int, Any] = {}
        self.copies_left = size
        """How many elements may still be copied: each is written in the program at least once."""
        self.steps = (self.push, self.keep, self.fill, self.call)
        """Each runs its kinds of instruction, and says whether this was one."""

    def above_mark(self) -> list[Any]:
        above, self.stack = self.stack, self.below.pop()
        return above

    def push(self, name: str, argument: Any) -> bool:
        """Put a value on the stack, or a tuple of what is there."""
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name == "TUPLE":
            above = self.above_mark()
            self.stack.append(tuple(above))
        elif name in _TUPLES:
            count = _TUPLES[name]
            if len(self.stack) < count:
                raise IndexError("its stack is empty")
            self.stack[-count:] = [tuple(self.stack[-count:])]
        else:
            return False
        return True

    def keep(self, name: str, argument: Any) -> bool:
        """Mark a place in the stack, keep in the memo what is on its top, or fetch it from there."""
        match name:
            case "MARK":
                self.below.append(self.stack)
                self.stack = []
            case "POP":
                self.stack.pop()
            case "POP_MARK":
                self.above_mark()
            case "BINPUT" | "LONG_BINPUT":
                self.memo[argument] = self.stack[-1]
            case "MEMOIZE":
                self.memo[len(self.memo)] = self.stack[-1]
            case "BINGET" | "LONG_BINGET":
                self.stack.append(self.memo[argument])
            case "STOP":
                if self.below:
                    raise ValueError("it ends behind a mark")
            case "PROTO" | "FRAME":
                pass
            case _:
                return False
        return True

    def fill(self, name: str, argument: Any) -> bool:
        """Fill the container on the stack with what is above it."""
        if name not in _FILLED:
            return False
        if name.endswith("S"):
            values = self.above_mark()
        else:
            count = 2 if name == "SETITEM" else 1
            values, self.stack = self.stack[-count:], self.stack[:-count]
        target = self.stack[-1]
        if type(target) not in _FILLED[name]:
            raise TypeError(f"it fills {type(target).__name__} as if that were {_FILLED[name][0].__name__}")
        if isinstance(target, list):
            target.extend(values)
        elif isinstance(target, set):
            target.update(map(_key, values))
        else:
            for key, value in zip(values[::2], values[1::2], strict=True):
                target[_key(key)] = value
        return True

    def call(self, name: str, argument: Any) -> bool:
        """Find a name, call a function, give an object its attributes, or fetch a storage."""
        match name:
            case "GLOBAL":
                self.stack.append(_named(*argument.split(" ", 1)))
            case "STACK_GLOBAL":
                text, module = self.stack.pop(), self.stack.pop()
                self.stack.append(_named(_of(str, module), _of(str, text)))
            case "REDUCE":
                arguments, function = self.stack.pop(), self.stack.pop()
                self.stack.append(self.result(function, arguments))
            case "BUILD":
                state, target = self.stack.pop(), self.stack[-1]
                if type(target) is not OrderedDict or type(state) is not dict or set(state) - {"_metadata"}:
                    raise refused(f"The file sets attributes of {type(target).__name__}")
                vars(target).update(state)  # the one attribute that PyTorch gives a state_dict
            case "BINPERSID":
                self.stack.append(self.storage(self.stack.pop()))
            case _:
                return False
        return True

    def result(self, function: Any, arguments: Any) -> Any:
        if type(function) is not _Function or type(arguments) is not tuple:
            raise refused(f"Trying to call reduce for unrecognized function {type(function).__name__}")
        self.copies_left -= sum(
            len(each) for each in arguments if isinstance(each, str | list | tuple | dict)
        )
        if self.copies_left < 0:
            raise refused("The program copies the same elements again and again, to fill all memory")
        try:
            return function.build(*arguments)
        except (TypeError, ValueError, RecursionError) as error:
            raise refused(f"{function.name} is called with wrong arguments: {str(error)[:200]}") from error

    def storage(self, name: Any) -> UntypedStorage:
        if type(name) is not tuple or [type(part) for part in name] != [str, _StorageType, str, str, int]:
            raise refused("Only persistent_load of storage is allowed")
        _, kind, key, location, count = name
        return self.storages.get(kind.dtype, key, location, _whole(count))


# ---------------------------------------------------------------- what a program may call


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise ValueError(f"bytes are written as latin1, not {encoding!r:.40}")
    return _of(str, text).encode("latin-1")


def _device(name: Any, index: Any = None) -> device:
    return device(_of(str, name)[:40], None if index is None else _whole(index))


def _tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, metadata: Any = None
) -> Tensor:
    if metadata:
        raise refused("It holds a conjugated or negated view: in PyTorch, save tensor.resolve_neg()")
    size, stride = (tuple(map(_whole, _of(tuple | list, lengths))) for lengths in (size, stride))
    tensor = tensor_on(_of(UntypedStorage, storage), _whole(offset), size, stride)
    if _of(bool, requires_grad):
        tensor.requires_grad = True
    return tensor


def _parameter(data: Any, requires_grad: Any, hooks: Any, attributes: Any = None) -> Parameter:
    return Parameter(_of(Tensor, data), requires_grad=_of(bool, requires_grad))


def _tensor_of_type(function: Any, kind: Any, arguments: Any, attributes: Any) -> Tensor:
    """A tensor with attributes, or a buffer: both are plain tensors here."""
    if _of(_Function, function).build is not _tensor or kind is not _NAMES["torch.Tensor"]:
        raise TypeError("it is no plain tensor")
    return _tensor(*_of(tuple, arguments))


# ---------------------------------------------------------------- checks


def _of(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} where it needs {getattr(kind, '__name__', kind)}")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise TypeError(f"a whole number of 64 bits is needed, and here is {type(value).__name__}")
    return value


def _key(key: Any) -> Any:
    if not is_key(key):
        raise TypeError(f"{type(key).__name__} is no key of a dict and no element of a set here")
    return key


# ---------------------------------------------------------------- the names and the instructions

_CALLS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": lambda: OrderedDict(),
    "collections.Counter": lambda counts: Counter(_of(dict, counts)),
    "builtins.set": lambda values: set(map(_key, _of(list, values))),
    "__builtin__.set": lambda values: set(map(_key, _of(list, values))),  # in Python 2's words
    "__builtin__.bytes": lambda: b"",
    "_codecs.encode": _encode,
    "torch.Size": lambda sizes: Size(map(_whole, _of(tuple, sizes))),
    "torch.device": _device,
    "torch.Tensor": lambda: None,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _tensor_of_type,
}
_NAMES: dict[str, Any] = {name: _Function(name, build) for name, build in _CALLS.items()}
_NAMES.update({f"torch.{name}": _StorageType(kind) for kind, name in STORAGE_TYPES.items()})
_NAMES["torch.BFloat16Storage"] = _StorageType(BFLOAT16)
_NAMES.update({f"torch.{kind.name}": kind for kind in (*BY_NAME.values(), *NAMES_ONLY.values())})

_REASONS = {
    "torch._utils": "it holds a tensor of a kind that autokit does not read, such as a sparse or a quantized "
    "one: in PyTorch, save tensor.to_dense() or tensor.dequantize()",
    "torch": "autokit has no such dtype: in PyTorch, convert those tensors first, for example with .float()",
    "numpy": "it holds a NumPy array or number: in PyTorch, save torch.from_numpy(array) or number.item()",
    "__main__": "it holds a whole model, whose code would have to run: in PyTorch, save model.state_dict(), "
    "and load it with model.load_state_dict(...)",
    "": "autokit runs no code that a file names, also not with weights_only=False",
}
"""Why a name is refused, by the module that it belongs to."""


def _named(module: str, name: str) -> Any:
    full = f"{module}.{name}"
    if full in _NAMES:
        return _NAMES[full]
    kind = "__main__" if module.startswith("torch.nn.") else module
    kind = "numpy" if module.startswith("numpy") else kind
    reason = _REASONS.get(kind, _REASONS[""])
    raise refused(f"Unsupported global: GLOBAL {full[:120]} was not an allowed global by default: {reason}.")


_VALUES = {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BYTEARRAY8"}
_VALUES |= {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8"}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_EMPTY: dict[str, type] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_FILLED: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("APPEND", "APPENDS"), (list,)),
    **dict.fromkeys(("SETITEM", "SETITEMS"), (dict, OrderedDict, Counter)),
    "ADDITEMS": (set,),
}
"""Which containers an instruction fills."""
