"""A run is what a box of the picture stands for: one call of an operation, with its operands and result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.base.devices import beside, on_a_gpu
from autokit.engine.backward import fitted
from autokit.engine.node import SEVERAL, Gradients
from autokit.engine.node import Node as EngineNode
from autokit.engine.observed import Listener, Watch, contributions_of, kept, observed
from autokit.engine.tensor import Tensor
from autokit.graphs.summary import in_reach

_REHEARSAL = Watch((), rehearsal=True)


class Run:
    """One recorded run of an operation.

    An operation with several results has a node for all of it, and one for each result. Where a graph uses
    one result alone, both are one box.

    Attributes
    ----------
    node : EngineNode
        The node whose rules run on the way back.
    result : EngineNode
        The node of the value: the same, or that of the one result that is used.
    places : list of int
        The places of the operands that were given.
    """

    def __init__(self, node: EngineNode, result: EngineNode) -> None:
        self.node, self.result, self.operation = node, result, node.operation
        self.settings = node.settings or {}
        self.is_output = node.owner is not node
        self.places = [place for place in range(len(node.sources)) if not self._is_left_out(place)]
        self.may_run = not (self.is_output or result.shape is SEVERAL or "ctx" in self.settings)
        """Whether it may run for the picture: a learner's own may print, or stop in a debugger."""

    def _is_left_out(self, place: int) -> bool:
        # A learner's own operation takes it for a number, or a word.
        if self.operand_name(place) in self.settings:
            return True
        optional = self.operation.operands[self._name(place)] in getattr(self.operation, "optional", ())
        return optional and self.operand(place) is None

    def _name(self, place: int) -> int:
        return min(place, len(self.operation.operands) - 1)

    @property
    def name(self) -> str:
        """What the operation is called."""
        return f"output {self.settings['slot']}" if self.is_output else self.operation.name

    @property
    def symbol(self) -> str:
        """Its symbol."""
        return self.name if self.is_output else self.operation.symbol

    @property
    def formula(self) -> str:
        """The template of its formula."""
        if self.is_transpose:
            return f"{{{self.operation.operands[0]}}} transposed"  # its name is the letter with a raised T
        return f"{self.name}({{results}})" if self.is_output else self.operation.formula

    @property
    def is_transpose(self) -> bool:
        """Whether it exchanges two dimensions."""
        return self.operation.formula == "{a}ᵀ" or self.settings.get("dims") == (1, 0)

    def operand_name(self, place: int) -> str:
        """What the rule calls the operand at ``place``."""
        return self.operation.operands[self._name(place)]

    def local(self, place: int) -> str:
        """The template of the local derivative by the operand at ``place``."""
        return "1" if self.is_output else self.operation.local(self.operand_name(place))

    def operand(self, place: int) -> Any:
        """The operand at ``place``, a tensor or a number; None where it was not kept, or left out."""
        return operand_of(self.node, place)

    def keeps_what_it_saved(self) -> bool:
        """Whether all that the way back asks for is still there."""
        rules = self.node.rules
        if rules.saves_output and self.node.output is None:
            return False
        return all(self.operand(place) is not None or place not in self.places for place in rules.saves)

    def compute(self, operands: Sequence[Any], dtype: Any = None) -> Any:
        """The result from other operands, arrays by their places; ``dtype`` is to take a cast's place."""
        given = dict(zip(self.places, operands))
        if self.is_output:
            return operands[0][self.settings["slot"]]
        settings = {**self.settings, "dtype": dtype} if self.settings.get("dtype") else self.settings
        result = self.operation.plain(*map(given.get, range(len(self.node.sources))), **settings)
        return result if self.result is self.node else result[self.result.settings["slot"]]  # type: ignore[index]

    def send(self, gradient: Any) -> dict[int, np.ndarray]:
        """What goes back to each operand, by its place, when ``gradient`` arrives."""
        there = next(filter(on_a_gpu, self._arrays()), None)
        arrived = gradient if there is None else beside(gradient, there)
        if self.result is not self.node:
            slot, count = (self.result.settings[name] for name in ("slot", "count"))  # type: ignore[index]
            arrived = Gradients([arrived if place == slot else None for place in range(count)])
        sent = contributions_of(self.node, arrived, _REHEARSAL)
        return {place: in_reach(fitted(raw, self._like(place))) for place, raw in sent}

    def _like(self, place: int) -> Any:
        source = self.node.sources[place]
        return source if isinstance(source, EngineNode) else source.array

    def _arrays(self) -> list[Any]:
        return [self.result.output, *(getattr(self.operand(place), "array", None) for place in self.places)]


def operand_of(node: EngineNode, place: int) -> Any:
    """The operand of ``node`` at ``place``, a tensor or a number; None where it was not kept, or left out."""
    found = kept(node.sources[place])
    if found is None and node.saved is not None and place in node.rules.saves:
        found = node.saved[node.rules.saves.index(place)]
    return found


def rehearse(root: Any, seed: Any, listener: Listener) -> dict[Tensor, Any]:
    """The gradients of all leaves behind ``root``, told to ``listener``, while nothing changes."""
    watch = Watch([root], listener=listener, rehearsal=True)
    for _ in observed([root], [seed], watch):
        pass
    return watch.found
