"""Modules that hold others: in a row, or in a list."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from autokit.nn.module import Module, indented


class _Numbered(Module):
    """Modules under the names 0, 1, 2, ..., to be used as a list of them."""

    def _place(self, index: int) -> str:
        count = len(self._modules)
        if not -count <= (number := index.__index__()) < count:
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
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put ``module`` before the one at ``index``."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self


class Sequential(_Numbered):
    """Modules in a row: each gets what the one before gives.

    Parameters
    ----------
    *args : Module, or one dict of modules by their names

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
        named = args[0] if len(args) == 1 and isinstance(args[0], dict) else dict(enumerate(args))
        for name, module in named.items():
            self.add_module(str(name), module)

    def _of(self, items: list[tuple[str, Any]]) -> Sequential:
        return type(self)(OrderedDict(items))

    def forward(self, input: Any) -> Any:
        """Send ``input`` through all modules."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input


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
        for text, alike in groupby(indented(module) for module in self):
            count = len(list(alike))
            lines.append(
                f"({place}): {text}" if count == 1 else f"({place}-{place + count - 1}): {count} x {text}"
            )
            place += count
        return lines
