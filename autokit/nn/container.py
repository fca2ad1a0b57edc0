"""Modules that hold others: in a row, or in a list."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import index as as_index
from typing import Any

from autokit.nn.module import Module, indented
from autokit.nn.parameter import Parameter
from autokit.tensor import Tensor


class _Numbered(Module):
    """Modules under the names 0, 1, 2, ..., to be used as a list of them."""

    def _place(self, index: int) -> str:
        count = len(self._modules)
        if not -count <= (number := as_index(index)) < count:
            raise IndexError(f"index {index} is out of range: there are {count} modules")
        return list(self._modules)[number]

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._of(list(self._modules.items())[index])
        return self._modules[self._place(index)]

    def _of(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)([module for _, module in items])  # type: ignore[call-arg]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._place(index), module)

    def __delitem__(self, index: int | slice) -> None:
        chosen = range(len(self))[index] if isinstance(index, slice) else [self._place(index)]
        names = list(self._modules)
        gone = {names[place] if isinstance(place, int) else place for place in chosen}
        self._renumber([module for name, module in self._modules.items() if name not in gone])

    def _renumber(self, modules: Iterable[Any]) -> None:
        self.__dict__["_modules"] = {str(place): module for place, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Any:
        """Add ``module`` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add all ``modules`` at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put ``module`` before the one at ``index``."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove the module at ``key`` and give it back."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules in a row: each gets what the one before gives.

    Parameters
    ----------
    *args : Module, or one OrderedDict of modules by their names

    Examples
    --------
    >>> from autokit import nn
    >>> model = Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> model[:2]
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict) else dict(enumerate(args))
        for name, module in named.items():
            self.add_module(str(name), module)

    def _of(self, items: list[tuple[str, Any]]) -> Sequential:
        return type(self)(OrderedDict(items))

    def forward(self, input: Any) -> Any:
        """Send ``input`` through all modules."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def insert(self, index: int, module: Module) -> Sequential:
        """Put ``module`` before the one at ``index``."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        super().insert(index, module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        self._check_row(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        self._check_row(other)
        self.extend(other)
        return self

    def __mul__(self, other: int) -> Sequential:
        self._check_times(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        self._check_times(other)
        self.extend(list(self) * (other - 1))
        return self

    def _check_row(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )

    def _check_times(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")


class ModuleList(_Numbered):
    """A list of modules; a plain list would hide their parameters from the model.

    >>> from autokit import nn
    >>> layers = ModuleList(nn.Linear(4, 4) for _ in range(3))
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __repr__(self) -> str:
        return self._text("")  # PyTorch's asks no extra_repr

    def _children_text(self) -> list[str]:
        lines, place = [], 0
        for text, alike in groupby(indented(module) for module in self):
            count = len(list(alike))
            lines.append(
                f"({place}): {text}" if count == 1 else f"({place}-{place + count - 1}): {count} x {text}"
            )
            place += count
        return lines


class ModuleDict(Module):
    """Modules by name; a plain dict would hide their parameters from the model.

    >>> from autokit import nn
    >>> ModuleDict({"first": nn.Linear(2, 2), "act": nn.ReLU()})
    ModuleDict(
      (first): Linear(in_features=2, out_features=2, bias=True)
      (act): ReLU()
    )
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove the module ``key`` and give it back."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names with their modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs; those of a name that is taken replace the old ones."""
        for key, module in _pairs("ModuleDict", modules):
            self[key] = module


def _pairs(kind: str, given: Any) -> Iterator[tuple[str, Any]]:
    """The names and values of a mapping, or of pairs."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{kind}.update should be called with an iterable of key/value pairs, but got "
            f"{type(given).__name__}"
        )
    if hasattr(given, "items"):
        yield from given.items()
        return
    for place, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{kind} update sequence element #{place} should be Iterable; is {type(pair).__name__}"
            )
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{kind} update sequence element #{place} has length {len(pair)}; 2 is required")
        yield pair


def _held(value: Any) -> Any:
    """A tensor as a parameter, and anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _line(name: Any, value: Any, old_words: bool = False) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    elements = value.type() if old_words else value.dtype
    return f"  ({name}): {kind} containing: [{elements} of size {'x'.join(map(str, value.shape))}]"


class ParameterList(Module):
    """A list of parameters, which a plain list would hide from the model; tensors become parameters.

    >>> import autokit as torch
    >>> ParameterList([torch.ones(2, 3), torch.ones(4)])
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2x3]
        (1): Parameter containing: [torch.float32 of size 4]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _place(self, index: int) -> str:
        if not -self._size <= (number := as_index(index)) < self._size:
            raise IndexError(f"index {index} is out of range: there are {self._size}")
        return str(number % self._size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(self[place] for place in range(self._size)[index])
        return getattr(self, self._place(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._place(index), _held(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[place] for place in range(self._size))

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: Any) -> ParameterList:
        """Add ``value`` at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add all ``values`` at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got " + type(values).__name__
            )
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return "\n".join(_line(place, value) for place, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a list of parameters computes nothing."""
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name, which a plain dict would hide from the model; tensors become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _checked(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, _checked(key), _held(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter ``key``; it becomes ``default`` if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all."""
        for key in tuple(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove the parameter ``key`` and give it back."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last parameter, and give back its name and itself."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter ``key``, or ``default``."""
        return getattr(self, key) if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with ``default`` under each of ``keys``."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names with their parameters."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterator[Any]:
        """The parameters."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add parameters from a mapping or from pairs; a plain dict's come in the order of their names."""
        pairs = _pairs("ParameterDict", parameters)
        plain = hasattr(parameters, "items") and not isinstance(parameters, OrderedDict | ParameterDict)
        for key, value in sorted(pairs, key=lambda pair: pair[0]) if plain else pairs:
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return "\n".join(_line(key, value, old_words=True) for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a dict of parameters computes nothing."""
        raise RuntimeError("ParameterDict should not be called.")


def _checked(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
            f"'{type(key).__name__}')."
        )
    return key
