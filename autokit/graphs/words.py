"""The words of a story for values, operations and derivatives, in symbols and with numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autokit.graphs.model import NOT_KEPT, Edge, Graph, Node
from autokit.graphs.run import Run
from autokit.graphs.summary import bracketed, number, summarize, with_minus

_LISTED = 5
_IN_FULL = 4
"""Values of up to this many elements are written out in a sentence; of others the shape is told."""

_ELEMENTWISE = frozenset(
    f"autokit.ops.{family}"
    for family in (
        "arithmetic",
        "exponential",
        "trigonometry",
        "rounding",
        "special",
        "choose",
        "activation",
        "convert",
    )
)
"""The families of operations that compute each element of the result from one element of each operand."""


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

    def result(self, node: Node) -> str:
        """What follows a formula: the numbers put in and the result; of large values the result alone."""
        sources = [self.graph.nodes[edge.source] for edge in self.operands[node.id]]
        if all(self._in_full(each) for each in (*sources, node)):
            return f" = {self.numbers(node)}"
        held = holds(node.shape, self.value(node))
        return f" {held}" if held.startswith("(") else f" = {held}"

    def by(self, top: Node, bottom: Node) -> str:
        """The derivative of one value by another, in symbols."""
        return self.by_text(top, self.name(bottom))

    def by_text(self, top: Node, name: str) -> str:
        """The same by what has this name, such as one element of a value."""
        return f"∂{self.name(top)}/∂{name}"

    def local(self, node: Node, edge: Edge, slope: float | None = None) -> Local:
        """The local derivative of ``node`` along ``edge``; ``slope``, where its rule is not run for that."""
        run: Run = self.origins[node.id]
        template = run.local(edge.slot)
        symbols = self._filled(node, template, self.name)
        source = self.graph.nodes[edge.source]
        if node.shape or source.shape:
            sizes = f"{shape_text(node.shape)} by {shape_text(source.shape)}"
            sentence = self._of_tensors(node, edge, symbols)
            return Local(sentence, symbols, f"a Jacobian that is never built, {sizes}", "")
        changes = f"How {node.name} changes with {source.name}: "
        if not run.may_run and slope is None:
            return Local(changes + symbols, symbols, "", "")
        value = number(run.send(np.ones((), run.result.dtype))[edge.slot] if run.may_run else slope)
        numbers = self._filled(node, template, self.value)
        steps = [symbols] if says(symbols, numbers) else [symbols, numbers]
        if not says(steps[-1], value):
            steps.append(value)
        return Local(
            changes + " = ".join(steps), symbols, "".join(f" = {step}" for step in steps[1:]).strip(), value
        )

    def _of_tensors(self, node: Node, edge: Edge, symbols: str) -> str:
        """What the rule does with the upstream gradient of a tensor, in a sentence."""
        run, source = self.origins[node.id], self.graph.nodes[edge.source]
        template = "" if run.is_output else run.operation.words.get(run.operand_name(edge.slot), "")
        if template:
            operands = [self.name(self.graph.nodes[each.source]) for each in self.operands[node.id]]
            counts = _counts(run, node, source, edge.slot, template)
            return fill(template, put_in(run, operands, node.name) | counts)
        if run.operation.view:
            rest = ", and what was not read gets 0" if math.prod(source.shape) > math.prod(node.shape) else ""
            return f"Nothing is computed: each number goes back to the place it came from{rest}"
        if symbols in _UNCHANGED:
            return f"{source.name} gets the upstream gradient{_UNCHANGED[symbols]}"
        if symbols.startswith(("1 at ", "1 where ")):
            return f"The upstream gradient passes{symbols[1:].replace(', else 0', '; elsewhere it stops')}"
        if not (run.may_run and _is_elementwise(run)):
            return f"From the upstream gradient to that of {source.name}: {symbols}"
        here = ""
        if node.shape == source.shape:
            here = f", here {summarize(_slopes(run, edge.slot)).text}"
        return f"Element by element, the upstream gradient times {symbols}{here}"

    # -------------------------------------------------------- templates

    def _template(self, node: Node) -> str:
        return self.origins[node.id].formula

    def _filled(self, node: Node, template: str, word: Any) -> str:
        operands = [word(self.graph.nodes[edge.source]) for edge in self.operands[node.id]]
        return fill(template, put_in(self.origins[node.id], operands, word(node)))

    @staticmethod
    def _in_full(node: Node) -> bool:
        return node.value is not None and node.value.values is not None and len(node.value.values) <= _IN_FULL


_UNCHANGED = {"1": " unchanged", "−1": ", with the other sign"}


def _slopes(run: Run, slot: int) -> Any:
    """What goes back to an operand when a gradient of 1 arrives everywhere."""
    return run.send(np.ones(run.result.shape, run.result.dtype))[slot]


def _counts(run: Run, node: Node, source: Node, slot: int, template: str) -> dict[str, str]:
    """The counts that the words of a rule may ask for."""
    size, given = math.prod(node.shape), math.prod(source.shape)
    rows = math.prod((node.shape or source.shape)[:-1])
    counts = {
        "rows": f"the {rows:,} rows" if rows > 1 else "its one row",
        "size": f"{size:,}",
        "share": f"1/{given // max(size, 1):,}",
    }
    if "{zeros}" in template:
        counts["zeros"] = f"{np.count_nonzero(_slopes(run, slot) == 0):,}"
    return counts


def _is_elementwise(run: Run) -> bool:
    return run.operation.function.__module__ in _ELEMENTWISE


def says(text: str, value: str) -> bool:
    """Whether ``text`` tells that value already: the constant ``2`` need not be said to be 2.0.

    >>> says("2", "2.0"), says("x", "2.0")
    (True, False)
    """
    if text == value:
        return True
    try:
        return _read(text) == _read(value)
    except ValueError:
        return False


def _read(text: str) -> float:
    return float(text.strip("()").replace("−", "-"))


_LEFT_OUT = {"min": "−∞", "max": "∞"}
"""What an operand means that is left out, as a bound of ``clamp``."""


def fill(template: str, words: dict[str, str]) -> str:
    """A template of a rule with ``words`` put in, but for a term of which there is no word.

    A number that stands alone needs no parentheses.

    >>> fill("{a} · {b}", {"a": "x", "b": "(−3)"}), fill("{b}", {"b": "(−3)"}), fill("{a} + {b}", {"a": "x"})
    ('x · (−3)', '−3', 'x')
    """
    alone = template.startswith("{") and template.find("}") == len(template) - 1
    for name in set(re.findall(r"\{(\w+)\}", template)) - words.keys():
        template = re.sub(rf" [+·] \{{{name}\}}", "", template).replace(
            f"{{{name}}}", _LEFT_OUT.get(name, name)
        )
    text = template.format_map(words)
    return text[1:-1] if alone and text.startswith("(−") else text


def put_in(run: Run, operands: Sequence[str], result: str) -> dict[str, str]:
    """What the templates of a rule take: words for its operands, its settings and its result."""
    told = [bracketed(operand) for operand in operands]
    if getattr(run.operation, "variadic", False):
        told = [", ".join(told if len(told) <= _LISTED else [*told[: _LISTED - 2], "…", told[-1]])]
    words = {name: with_minus(value) for name, value in run.settings.items()}
    words.update(zip(map(run.operand_name, run.places), told))
    return {**words, "out": bracketed(result)}


def word_for(operand: str) -> str:
    """PyTorch's word for an operand, such as ``input`` for the ``a`` of a rule."""
    return {"a": "input", "b": "other"}.get(operand, operand)


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape in a sentence.

    >>> shape_text((3, 4)), shape_text(())
    ('(3×4)', 'a number')
    """
    return f"({'×'.join(map(str, shape))})" if shape else "a number"


def holds(shape: tuple[int, ...], text: str) -> str:
    """What a tensor holds: its size and range, or its few elements.

    >>> holds((5, 16), "−1.6 to 1.4"), holds((16,), "all 0.0"), holds((2,), "[1.0, 2.0]"), holds((), "3.0")
    ('(5×16, −1.6 to 1.4)', '(16 values, all 0.0)', '[1.0, 2.0]', '3.0')
    """
    if not shape or text.startswith("["):
        return text
    size = "×".join(map(str, shape)) if len(shape) > 1 else f"{shape[0]:,} values"
    return f"({size}, {text})"


def equals(name: str, shape: tuple[int, ...], text: str) -> str:
    """A name and what it holds.

    >>> equals("w", (5, 16), "−1.6 to 1.4"), equals("a", (), "2.0")
    ('w (5×16, −1.6 to 1.4)', 'a = 2.0')
    """
    held = holds(shape, text)
    return f"{name} {held}" if held != text else f"{name} = {text}"


def listed(words: Sequence[str]) -> str:
    """Words in a row.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def awaited(count: int) -> str:
    """What the badge of a value says that waits for contributions.

    >>> awaited(2), awaited(0)
    ('waits for 2', 'ready')
    """
    return f"waits for {count:,}" if count else "ready"


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "step"), counted(2000, "step")
    ('1 step', '2,000 steps')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
