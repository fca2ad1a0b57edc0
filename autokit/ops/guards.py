"""Tensors that PyTorch saves for the way back, though the rule here has no need of their elements.

An index is copied here, a pooling's input let go: the gradient would be right after a change of both.  But
PyTorch refuses the way back then, and a program may count on that.  A guard holds no elements, only what
tells when they were last changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np

from autokit.autograd.node import Node
from autokit.ops.recording import storage_of
from autokit.ops.rules import Way
from autokit.tensor import Tensor, new_tensor


class _Guarded(dict[str, Any]):
    """The settings of a node, and of each tensor that it guards the storage, shape and dtype."""

    tensors: list[tuple[Any, ...]]
    __slots__ = ("tensors",)


class _Guard:
    """What a rule asks for last: nothing but that the guarded tensors were not changed since."""

    @staticmethod
    def check(node: Node) -> None:
        """Raise where one of them was changed after ``node`` was made."""
        for storage, shape, dtype in node.settings.tensors:  # type: ignore[union-attr]
            if storage.modified > node.sequence:
                from autokit.autograd.saved import refuse_changed

                stand_in = np.broadcast_to(np.zeros((), dtype), shape)
                refuse_changed(node, storage, new_tensor(stand_in))


_GUARD = _Guard()
_guarded_ways: dict[Way, Way] = {}


class _GuardedWay(Way):
    """``way``, each of whose rules asks for the guard too."""

    __slots__ = ()

    def __init__(self, way: Way) -> None:
        self.learns, self.saves, self.spare = way.learns, way.saves, way.spare
        self.joint, self.complex, self.fitting, self.alike = way.joint, way.complex, way.fitting, self
        self.rules, self.large_rules, self.plain_rules = [
            tuple([(slot, vjp, (*(fetch or ()), _GUARD), None, None) for slot, vjp, fetch, _, _ in rules])
            for rules in (way.rules, way.large_rules, way.plain_rules)
        ]


def guard(result: Tensor, tensors: Iterable[Tensor]) -> None:
    """Refuse the way back from ``result``, which was made just now, where one of ``tensors`` changes."""
    node = result._node
    if node is None:
        return
    way, held = node.way, [(storage_of(each), each.array.shape, each.array.dtype) for each in tensors]
    guarded = _guarded_ways.get(way)
    if guarded is None:
        if way.__class__ is _GuardedWay:  # two functions guard it
            held += node.settings.tensors  # type: ignore[union-attr]
            guarded = way
        elif way.__class__ is Way:
            guarded = _guarded_ways[way] = _GuardedWay(way)
        else:  # of samples, or of shapes alone
            return
    node.way = guarded
    node.settings = settings = _Guarded(node.settings or ())
    settings.tensors = held


def guards(
    *names: str, learning: str = "", results: tuple[int, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Guard operands of a function, and its results.

    Parameters
    ----------
    *names : str
        The operands to guard.
    learning : str
        Further ones, in one string, to guard where they require grad.
    results : tuple of int
        Which of the results to guard.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        made_of = getattr(function, "operation", None)
        parameters = function.__code__.co_varnames if made_of is None else made_of.operands
        places = [(parameters.index(name), name, False) for name in names]
        places += [(parameters.index(name), name, True) for name in learning.split()]

        @wraps(function)
        def apply(*arguments: Any, **settings: Any) -> Any:
            before = arguments[0]._node if arguments and isinstance(arguments[0], Tensor) else None
            made = function(*arguments, **settings)
            several = made if isinstance(made, tuple) else (made,)
            recorded = [each for each in several if each._node is not None and each._node is not before]
            if recorded:
                count = len(arguments)
                guarded = [several[number] for number in results if number < len(several)]
                for place, name, if_learning in places:
                    operand = arguments[place] if place < count else settings.get(name)
                    if isinstance(operand, Tensor) and (operand._requires_grad or not if_learning):
                        guarded.append(operand)
                for each in recorded:
                    guard(each, guarded)
            return made

        return apply

    return decorate
