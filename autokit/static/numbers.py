"""Numbers of Python's that change from run to run: a learning rate, and what a formula makes of it.

While a step is traced, an optimizer's settings are :class:`Number` objects. They take part in the formulas as
Python's numbers do, and what is computed of them is part of the graph, so that a schedule and Adam's
corrections go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor, new_tensor
from autokit.static.errors import refused
from autokit.static.graph import Node
from autokit.static.traced import Tape, Traced


class Number(Traced):
    """A number of Python's: beside an array it takes the dtype of that.

    Parameters
    ----------
    tape : Tape
    node : Node
        Its value, in float64.
    read : callable, optional
        Gives it before each run, if Python knows it.
    """

    __slots__ = ("read",)
    is_weak = True

    def __init__(self, tape: Tape, node: Node, read: Callable[[], float] | None = None) -> None:
        super().__init__(tape, node)
        self.read = read

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **settings: Any) -> Any:
        result = super().__array_ufunc__(ufunc, method, *args, **settings)
        alone = all([isinstance(each, Number | int | float) for each in args])
        # Among numbers of Python's the result is one, too.
        return Number(self.tape, result.node) if alone and isinstance(result, Traced) else result

    def cast(self, dtype: np.dtype[Any]) -> Traced:
        """The number in ``dtype``."""
        if self.read is None:
            return Traced(self.tape, self.node).astype(dtype)
        return Traced(self.tape, self.tape.number(self.read, self.node.label, self.node.value.astype(dtype)))

    def tensor(self, *others: Any) -> Tensor:
        """The number as a tensor, with the dtype of the ``others`` beside it."""
        arrays = [each.array for each in others if isinstance(each, Tensor)]
        floats = [array.dtype for array in arrays if array.dtype.kind == "f"]
        return new_tensor(self.cast(np.result_type(*floats) if floats else np.dtype(np.float32)))

    def __bool__(self) -> bool:
        holds: Any = np.not_equal(self, 0)
        return holds.expected() or not np.logical_not(holds).expected()

    def __float__(self) -> float:
        raise refused(
            f"{self.node.label or 'a number'} changes from run to run, and float(), int() or a function of "
            "math would fix it: write the formula with + - * / and **, as (1 - beta) ** 0.5 for a root."
        )

    __int__ = __index__ = __float__  # type: ignore[assignment]


class Counter(Traced):
    """A state of an optimizer that is one number, such as how many steps it took."""

    __slots__ = ()

    def item(self) -> Number:
        """The number that it counts up to in this step."""
        return Number(self.tape, self.astype(np.float64).node)
