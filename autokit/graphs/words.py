"""How a story speaks of values, operations and derivatives, in symbols and with the numbers put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autokit.autograd.node import Node as EngineNode
from autokit.autograd.saved import fetch_arrays
from autokit.current_gpu import computing_beside
from autokit.devices import beside, on_a_gpu
from autokit.graphs.model import NOT_KEPT, Edge, Graph, Node
from autokit.graphs.sending import is_of_samples
from autokit.graphs.summary import bracketed, number
from autokit.ops.recording import OUTPUT
from autokit.ops.rules import Operation

_LISTED = 5
_IN_FULL = 4
"""Values of up to this many elements are written out in a sentence; of others the shape is told."""


@dataclass(frozen=True)
class Local:
    """A local derivative: in a sentence, in symbols, with numbers, and its value where it is one number."""

    sentence: str
    symbols: str
    numbers: str
    value: str


class Words:
    """The wording of one graph: its values by name, its operations with their operands put in."""

    def __init__(self, graph: Graph, origins: Sequence[Any]) -> None:
        self.graph = graph
        self.origins = origins
        self.operands: dict[int, list[Edge]] = {}
        for edge in graph.edges:
            self.operands.setdefault(edge.target, []).append(edge)

    def name(self, node: Node) -> str:
        """What to call a value: the label, or its number in the order."""
        return node.name

    def value(self, node: Node) -> str:
        """A value in one line."""
        return node.value.text if node.value is not None else NOT_KEPT

    def operation(self, node: Node) -> str:
        """An operation, by its symbol and name."""
        return node.symbol if node.symbol == node.operation else f"{node.symbol} ({node.operation})"

    def saved(self, node: Node) -> list[str]:
        """The names of what is kept for the way back."""
        return [f"its result {name}" if name == self.name(node) else name for name in node.saved]

    def formula(self, node: Node) -> str:
        """The operation's formula with the operands' names."""
        return self.filled(node, self.name)

    def filled(self, node: Node, word: Any) -> str:
        """The operation's formula with a word for each operand."""
        return self._filled(node, self._template(node), word)

    def numbers(self, node: Node) -> str:
        """The formula with the numbers put in and the result; for large values the shapes."""
        sources = [self.graph.nodes[edge.source] for edge in self.operands[node.id]]
        if all(self._in_full(source) for source in (*sources, node)):
            return f"{self._filled(node, self._template(node), self.value)} = {self.value(node)}"
        shapes = " and ".join(shape_text(source.shape) for source in sources)
        return f"{shapes} → {shape_text(node.shape)}, {self.value(node)}"

    def by(self, top: Node, bottom: Node) -> str:
        """The derivative of one value by another, in symbols."""
        return self.by_text(top, self.name(bottom))

    def by_text(self, top: Node, name: str) -> str:
        """The same by what has this name, such as one element of a value."""
        return f"∂{self.name(top)}/∂{name}"

    def local(self, node: Node, edge: Edge, origin: EngineNode) -> Local:
        """The local derivative of ``node`` along ``edge``."""
        symbols = self._filled(node, self._local_template(node, edge), self.name)
        source = self.graph.nodes[edge.source]
        if is_of_samples(origin):
            return Local(f"{symbols}, for each sample", symbols, "a Jacobian that is never built", "")
        if node.shape or source.shape:
            if node.shape == source.shape and origin.operation.elementwise:
                return Local(f"{symbols}, element by element", symbols, "a Jacobian that is never built", "")
            sizes = f"{shape_text(node.shape)} by {shape_text(source.shape)}"
            return Local(f"{symbols}, {sizes}", symbols, f"a Jacobian that is never built, {sizes}", "")
        rule = next((rule for rule in origin.operation.rules if rule.slot == edge.slot), None)
        if rule is None:
            return Local(symbols, symbols, "", "")
        needed = fetch_arrays(origin, rule.fetch, origin.sources[edge.slot])
        there = next(filter(on_a_gpu, needed), None)
        seed = np.ones((), origin.dtype)
        if there is not None:
            seed = beside(there, seed)
        with computing_beside(seed):
            slope = rule.vjp(seed, *needed)
        value = number(slope)
        numbers = self._filled(node, self._local_template(node, edge), self.value)
        steps = [symbols] if says(symbols, numbers) else [symbols, numbers]
        if not says(steps[-1], value):
            steps.append(value)
        return Local(" = ".join(steps), symbols, "".join(f" = {step}" for step in steps[1:]).strip(), value)

    # -------------------------------------------------------- templates

    def _template(self, node: Node) -> str:
        return self.origins[node.id].operation.formula

    def _local_template(self, node: Node, edge: Edge) -> str:
        operation = self.origins[node.id].operation
        operand = operation.operands[0 if operation.variadic else edge.slot]
        return operation.local(operand)

    def _filled(self, node: Node, template: str, word: Any) -> str:
        operands = [word(self.graph.nodes[edge.source]) for edge in self.operands[node.id]]
        return fill(template, put_in(self.origins[node.id].operation, operands, word(node)))

    @staticmethod
    def _in_full(node: Node) -> bool:
        return node.value is not None and node.value.values is not None and len(node.value.values) <= _IN_FULL


def says(text: str, value: str) -> bool:
    """Whether ``text`` tells that value already: the constant ``2`` need not be said to be 2.0.

    >>> says("2", "2.0"), says("x", "2.0")
    (True, False)
    """
    if text == value:
        return True
    try:
        return float(text.strip("()").replace("−", "-")) == float(value)
    except ValueError:
        return False


def fill(template: str, words: dict[str, str]) -> str:
    """A template of a rule with ``words`` put in; a number that stands alone needs no parentheses.

    >>> fill("{a} · {b}", {"a": "x", "b": "(-3)"}), fill("{b}", {"b": "(-3)"})
    ('x · (-3)', '-3')
    """
    alone = template.startswith("{") and template.find("}") == len(template) - 1
    text = template.format_map(words)
    return text[1:-1] if alone and text.startswith("(-") else text


def put_in(operation: Operation, operands: Sequence[str], result: str) -> dict[str, str]:
    """What the templates of a rule take: words for its operands and for its result."""
    told = [bracketed(operand) for operand in operands]
    if operation.variadic:
        told = [", ".join(told if len(told) <= _LISTED else [*told[: _LISTED - 2], "…", told[-1]])]
    words = {} if len(told) == len(operation.operands) else operation.words
    words.update(zip(operation.operands, told))
    words[OUTPUT] = bracketed(result)
    return words


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape in a sentence.

    >>> shape_text((3, 4)), shape_text(())
    ('(3×4)', 'a number')
    """
    return f"({'×'.join(map(str, shape))})" if shape else "a number"


def listed(words: Sequence[str]) -> str:
    """Words in a row.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "step"), counted(2000, "step")
    ('1 step', '2,000 steps')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
