"""Numbers that Python computes before each run: a learning rate, and what a formula makes of it.

While a step is traced, an optimizer's settings are :class:`Number` objects. They take part in the formulas as
Python's numbers do, and remember how they were computed, so that a schedule and Adam's corrections go on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor, new_tensor
from autokit.static.errors import refused


class Number:
    """A number of Python's that is computed anew before each run.

    Parameters
    ----------
    tape : Tape
        The graph that it belongs to.
    compute : callable
        Gives its value.
    text : str
        How it is computed, in words; two numbers of one text are the same.
    value : float
        Its value while the graph is built.
    """

    __slots__ = ("compute", "tape", "text", "value")
    __hash__ = object.__hash__

    def __init__(self, tape: Any, compute: Callable[[], float], text: str, value: float) -> None:
        self.tape, self.compute, self.text, self.value = tape, compute, text, value

    def tensor(self) -> Tensor:
        """The same as a tensor without dimensions."""
        return new_tensor(self.tape.number(self, np.dtype(np.float32)))

    def __neg__(self) -> Number:
        compute = self.compute
        return Number(self.tape, lambda: -compute(), f"-{self.text}", -self.value)

    def __bool__(self) -> bool:
        return self.tape.guard(self, bool, self.text)

    def __float__(self) -> float:
        raise refused(
            f"{self.text} changes from run to run, and float(), int() or a function of math would fix it: "
            "write the formula with + - * / and **, as (1 - beta) ** 0.5 for a root."
        )

    __int__ = __index__ = __float__

    def __repr__(self) -> str:
        return self.text


def _arithmetic(symbol: str, function: Callable[[Any, Any], Any], turned: bool) -> Callable[..., Any]:
    """The method of :class:`Number` for an operator; ``turned`` where the number stands on the right."""

    def method(self: Number, other: Any) -> Any:
        if isinstance(other, Tensor):
            return function(other, self.tensor()) if turned else function(self.tensor(), other)
        if isinstance(other, np.generic):
            other = other.item()
        if not isinstance(other, Number | int | float):
            if getattr(other, "tape", None) is None:
                return NotImplemented
            mine = self.tape.number(self, np.result_type(other.dtype, 0.0))
            return function(other, mine) if turned else function(mine, other)
        if not isinstance(other, Number):
            fixed = float(other)
            other = Number(self.tape, lambda: fixed, repr(fixed), fixed)
        one, two = (other, self) if turned else (self, other)
        first, second, text = one.compute, two.compute, f"({one.text} {symbol} {two.text})"
        return Number(self.tape, lambda: function(first(), second()), text, function(one.value, two.value))

    return method


def _comparison(function: Callable[[Any, Any], bool], symbol: str) -> Callable[..., bool]:
    """A comparison with a fixed number: its answer belongs to what the graph stands for."""

    def method(self: Number, other: Any) -> bool:
        limit = other.value if isinstance(other, Number) else other
        return self.tape.guard(
            self, lambda value: bool(function(value, limit)), f"{self.text} {symbol} {limit}"
        )

    return method


for _name, _symbol in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**"}.items():
    setattr(Number, f"__{_name}__", _arithmetic(_symbol, getattr(operator, _name), False))
    setattr(Number, f"__r{_name}__", _arithmetic(_symbol, getattr(operator, _name), True))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(Number, f"__{_name}__", _comparison(getattr(operator, _name), _symbol))


class Counter:
    """A state of an optimizer that is one number, such as how many steps it took.

    It stands in for an array without dimensions, and is written after each run.
    """

    shape: tuple[int, ...] = ()
    ndim, size = 0, 1

    def __init__(self, tape: Any, array: Any, text: str) -> None:
        self.array, self.dtype = array, array.dtype
        self.number = Number(tape, array.item, text, array.item())

    def item(self) -> Number:
        """The number that it counts up to in this step."""
        return self.number

    def _changed(self, number: Number) -> Counter:
        # An array would round as well.
        compute, kind = number.compute, self.dtype.type
        self.number = Number(
            number.tape, lambda: float(kind(compute())), number.text, float(kind(number.value))
        )
        return self

    def __iadd__(self, other: Any) -> Counter:
        return self._changed(self.number + other)

    def __imul__(self, other: Any) -> Counter:
        return self._changed(self.number * other)
