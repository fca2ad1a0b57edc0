"""Containers: modules that hold other modules, or parameters, in a sequence, in a list, or by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import groupby
from operator import index as as_index
from typing import Any

from autokit.engine.tensor import Tensor
from autokit.nn.module import Module, indented
from autokit.nn.parameter import Parameter

__all__ = ["DataParallel", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class _Numbered(Module):
    """Modules under the names 0, 1, 2, …, to be used as a list of them."""

    def _name_at(self, index: int) -> str:
        count = len(self._modules)
        if not -count <= (place := as_index(index)) < count:
            raise IndexError(f"index {index} is out of range: there are {count} modules")
        return list(self._modules)[place]

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])  # type: ignore[call-arg]
        return self._modules[self._name_at(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self)
        del modules[index]
        self._renumber(modules)

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules.clear()
        self.extend(modules)

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
        """Remove the module at ``key`` and return it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules in sequence: the output of one is the input of the next.

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

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return super().__getitem__(index)

    def forward(self, input: Any) -> Any:
        """Send ``input`` through all modules."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)


class DataParallel(Module):
    """A module around ``module`` for programs that split batches over several GPUs; here one computes all."""

    def __init__(self, module: Module, *args: Any, **settings: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Run the module."""
        return self.module(*inputs, **named)


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

    def _children_text(self) -> list[str]:
        lines, place = [], 0
        for text, equal in groupby(indented(module) for module in self):
            count = len(list(equal))
            last = place + count - 1
            lines.append(f"({place}): {text}" if count == 1 else f"({place}-{last}): {count} x {text}")
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
        self.update(modules or {})

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
        """Remove the module ``key`` and return it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """Names with their modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs; one whose name is there already replaces the old one."""
        for key, module in dict(modules).items():
            self[key] = module


# ---------------------------------------------------------------- parameters


def _as_parameter(value: Any) -> Any:
    """A tensor as a parameter, and anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _line(name: Any, value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {kind} containing: [{value.dtype} of size {'x'.join(map(str, value.shape))}]"


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
        self.extend(values or ())

    def _name_at(self, index: int) -> str:
        if not -self._size <= (place := as_index(index)) < self._size:
            raise IndexError(f"index {index} is out of range: there are {self._size}")
        return str(place % self._size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name_at(index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[place] for place in range(self._size)])

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: Any) -> ParameterList:
        """Add ``value`` at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add all ``values`` at the end."""
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return "\n".join(_line(place, value) for place, value in enumerate(self))


class ParameterDict(Module):
    """Parameters by name, which a plain dict would hide from the model; tensors become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"the keys of a ParameterDict are strings, but {key!r} is a {type(key).__name__}")
        setattr(self, key, _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def clear(self) -> None:
        """Remove all."""
        for key in tuple(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove the parameter ``key`` and return it."""
        value = self[key]
        del self[key]
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter ``key``, or ``default``."""
        return self[key] if key in self._keys else default

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> list[tuple[str, Any]]:
        """Names with their parameters."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> list[Any]:
        """The parameters."""
        return [self[key] for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Add parameters from a mapping or from pairs."""
        pairs = parameters.items() if isinstance(parameters, Mapping | ParameterDict) else parameters
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return "\n".join(_line(key, value) for key, value in self.items())
