"""How generated code names things, and writes arguments down."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import numpy as np

from autokit.static.graph import Node
from autokit.static.naming import identifier


class Text(str):
    """An operand that is written down already."""


class Namespace:
    """The names of a generated module, and the objects that it is given under some of them.

    Parameters
    ----------
    reserved : iterable of str
        Names that no value gets: those of the functions that the code calls.

    Attributes
    ----------
    objects : dict
        What the code is given: functions, constants, and settings that cannot be written down.
    names : dict
        The name of each node.
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self.objects: dict[str, Any] = {}
        self.names: dict[Node, str] = {}
        self._reserved = {*reserved, *keyword.kwlist, *dir(builtins)}
        self._values: set[str] = set()

    def fresh(self, wish: str) -> str:
        """A name that nothing has yet: ``wish`` as a name of Python, with a number if need be."""
        wish = identifier(wish)
        taken = self._reserved, self._values, self.objects
        name = next(each for each in _numbered(wish) if not any([each in names for names in taken]))
        self._values.add(name)
        return name

    def given(self, wish: str, value: Any) -> str:
        """The name under which the code is given ``value``: ``wish``, unless something else has that."""
        wish = wish.strip("_") if wish.strip("_").isidentifier() else "function"
        names = (each for each in _numbered(wish) if not (each in self._values or keyword.iskeyword(each)))
        same = (each for each in names if _is_same(self.objects.setdefault(each, value), value))
        return next(same)

    def number(self, value: Any, dtype: Any) -> str:
        """A number as an array without dimensions, with which NumPy computes sooner."""
        array = np.asarray(value, dtype)
        digits = re.sub(r"\W", "_", str(array).replace("-", "minus_"))
        return self.given(f"number_{digits}", array)

    def spelled(self, argument: Any) -> str:
        """An argument, as Python writes it."""
        if isinstance(argument, Node):
            return self.names[argument]
        if isinstance(argument, Text):
            return argument
        if argument is None or argument is ... or type(argument) in (bool, int, str, slice):
            return repr(argument)
        if type(argument) is float:
            known = math.isfinite(argument)
            return repr(argument) if known else self.given(repr(argument).replace("-", "minus_"), argument)
        if isinstance(argument, np.dtype):
            plain = np.dtype(argument.type) == argument
            return self.spelled(argument.type) if plain else self.given("dtype", argument)
        if isinstance(argument, np.generic):
            return self.number(argument, argument.dtype)
        if isinstance(argument, tuple | list | dict):
            return self._container(argument)
        return self.given(getattr(argument, "__name__", type(argument).__name__.lower()), argument)

    def _container(self, argument: Any) -> str:
        """A tuple, a named tuple, a list or a dict."""
        if isinstance(argument, dict):
            items = [f"{key!r}: {self.spelled(value)}" for key, value in argument.items()]
            return "{" + ", ".join(items) + "}"
        inner = ", ".join(map(self.spelled, argument))
        if hasattr(argument, "_fields"):
            return f"{self.given(type(argument).__name__, type(argument))}({inner})"
        if isinstance(argument, list):
            return f"[{inner}]"
        return f"({inner},)" if len(argument) == 1 else f"({inner})"

    def index(self, index: Any) -> str:
        """What stands between the brackets, with slices as ``1:3``."""

        def part(one: Any) -> str:
            if type(one) is not slice:
                return "..." if one is ... else self.spelled(one)
            ends = ["" if each is None else repr(each) for each in (one.start, one.stop, one.step)]
            return ":".join(ends if ends[2] else ends[:2])

        if not isinstance(index, tuple) or not index:
            return part(index)
        return ", ".join(map(part, index)) + ("," if len(index) == 1 else "")

    def arguments(self, args: Iterable[Any], settings: dict[str, Any]) -> str:
        """The arguments of a call."""
        named = [f"{name}={self.spelled(value)}" for name, value in settings.items()]
        return ", ".join([*map(self.spelled, args), *named])


def _numbered(wish: str) -> Iterator[str]:
    yield wish
    for number in count(2):
        yield f"{wish}_{number}"


def _is_same(one: Any, other: Any) -> bool:
    """Whether two objects can share a name: as one object, one method, or equal numbers of one dtype."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and not one.ndim and not other.ndim:
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return one is other or callable(one) and type(one) is type(other) and one == other
