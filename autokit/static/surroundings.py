"""What a graph stands for: globals, closures, attributes and lists of the program, as a trace met them.

A graph holds no Python. So what the program keeps outside of tensors is fixed in it: where something has been
exchanged since, the function is traced again; and what the function itself exchanges is refused.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterable, Iterator
from functools import partial
from operator import is_
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor
from autokit.nn.module import Module
from autokit.static.errors import is_ours

REGISTERS = {"_stepped", *vars(Module())} - {"training"}
"""Attributes of a module that are noted only where they hold others, and what an optimizer's step sets."""

MOST = 1000
"""Containers with more elements than this are not looked into."""


class Surroundings:
    """Values of the program, and where they stood.

    Attributes
    ----------
    entries : list of (callable, str, object)
        A method that looks a name up, the name, and what it gave: in a dict, such as the attributes of an
        object, or in the cell of an outer function's variable.
    sizes : list of (dict, int)
        How many attributes an object has, and how many entries a dict.
    containers : list of (list or set, list)
        The elements of a list.
    arrays : list of (array, array)
        Arrays of NumPy's, each with a copy.
    named : dict
        The values that functions name.
    """

    def __init__(self) -> None:
        self._random = _states_of_random()
        self.entries: list[tuple[Any, str, Any]] = []
        self.containers: list[tuple[Any, list[Any]]] = []
        self.arrays: list[tuple[np.ndarray, np.ndarray]] = []
        self.sizes: list[tuple[dict[str, Any], int]] = []
        self.named: dict[str, Any] = {}
        self._met: dict[int, Any] = {}

    # ------------------------------------------------------------ what is noted

    def note(self, entries: dict[Any, Any], names: Iterable[Any]) -> None:
        """Note what stands in a dict under some names."""
        found = [(entries.get, name, entries.get(name)) for name in names]
        self.entries += found
        for _, _, value in found:
            self.look_into(value)

    def note_object(self, owner: Any) -> None:
        """Note the attributes of an object, and how many there are."""
        self.sizes.append((vars(owner), len(vars(owner))))
        self.note(vars(owner), [name for name, one in vars(owner).items() if name not in REGISTERS or one])

    def look_into(self, value: Any) -> None:
        """Note what a container, a function or an object of the program has."""
        if id(value) in self._met:
            return
        self._met[id(value)] = value
        if isinstance(value, FunctionType):
            self.note_function(value)
        elif type(value) is dict and len(value) <= MOST:
            self.sizes.append((value, len(value)))
            self.note(value, value)
        elif type(value) in (list, set) and len(value) <= MOST:
            self.containers.append((value, list(value)))
        elif isinstance(value, np.ndarray) and value.size <= MOST:
            self.arrays.append((value, value.copy()))
        elif isinstance(value, partial):
            self.look_into(value.func)
        elif is_of_the_program(value):
            self.note_object(value)

    def note_function(self, function: Any) -> None:
        """Note what a function names, and what the object has whose method it is."""
        if hasattr(function, "__self__"):
            self.look_into(function.__self__)
            self.named |= {"": function.__self__, **getattr(function.__self__, "__dict__", {})}
        function = inspect.unwrap(getattr(function, "__func__", function))
        if not isinstance(function, FunctionType) or is_ours(function.__code__.co_filename):
            return
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if cell != CellType():  # else the name has no value yet
                self.entries.append((cell.__getattribute__, "cell_contents", cell.cell_contents))
                self.named[name] = cell.cell_contents
                self.look_into(cell.cell_contents)
        space = function.__globals__
        names = [name for name in dict.fromkeys(_names(function.__code__)) if name in space]
        found = {name: space[name] for name in names if not isinstance(space[name], ModuleType)}
        self.named |= found
        self.note(space, found)

    # ------------------------------------------------------------ what became of it

    def exchanged(self) -> Iterator[tuple[dict[str, Any], str]]:
        """What is another object now, or has other elements: the dict in which it stood, and its name.

        The dict is empty for a variable of an outer function, and for a container.
        """
        for get, name, value in self.entries:
            if get(name) is not value:
                is_entry = isinstance(get.__self__, dict)
                yield (get.__self__, name) if is_entry else ({}, self._name_of(value, "a variable"))
        for attributes, size in self.sizes:
            if len(attributes) != size:
                yield {}, str(list(attributes)[-1]) if attributes else "a dict"
        for container, items in self.containers:
            if len(container) != len(items) or not all(map(is_, container, items)):
                yield {}, self._name_of(container, "a list")
        for array, numbers in self.arrays:
            if not np.array_equal(array, numbers, equal_nan=numbers.dtype.kind == "f"):
                yield {}, self._name_of(array, "an array")

    def _name_of(self, value: Any, otherwise: str) -> str:
        return next((name for name, one in self.named.items() if one is value), otherwise)

    def exchanged_by_the_function(self) -> Iterator[tuple[dict[str, Any], str]]:
        """The same just after the function was traced; also whether it drew Python's or NumPy's numbers."""
        if self._random != _states_of_random():
            yield {}, "the random numbers of Python's random or of NumPy's"
        yield from self.exchanged()

    def hold(self) -> bool:
        """Whether all is as it was."""
        return next(self.exchanged(), None) is None


def _states_of_random() -> tuple[Any, ...]:
    state: Any = np.random.get_state()
    return random.getstate(), state[1].tobytes(), state[2:]


def is_of_the_program(value: Any) -> bool:
    """Whether this is an object with attributes, of a class that is not autokit's."""
    known = isinstance(
        value, type | ModuleType | FunctionType | MethodType | BuiltinFunctionType | Tensor | Module
    )
    return hasattr(value, "__dict__") and not known and type(value).__module__.partition(".")[0] != "autokit"


def _names(code: CodeType) -> Iterator[str]:
    """The names in a function's code, also in functions and comprehensions inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
