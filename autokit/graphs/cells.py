"""A single element of a tensor: the sum that gives its value, and the sum that gives its gradient.

Both come from the operation's rule.  For a gradient that is 1 at one element of the result and 0 elsewhere,
its derivative gives this element's row of the Jacobian: how it changes with each element of an operand.  The
engine never computes this matrix; here it is small, and worth seeing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from autokit.base.devices import on_a_gpu, to_numpy
from autokit.graphs.backward import Backward
from autokit.graphs.capture import Capture
from autokit.graphs.model import CellSums, Edge, Node
from autokit.graphs.run import Run
from autokit.graphs.summary import VALUES_SHOWN, bracketed, in_reach, number
from autokit.graphs.words import listed

ELEMENTS_TOLD = 64
"""Of tensors with up to this many elements a story tells every one."""

_RUNS_IN_A_STORY = 2000
_LETTERS_A_STEP = 250
_LARGEST_MATRIX = 1 << 18
_TERMS = 6
_PROBED = 256
"""Of operands with up to this many elements it is told which of them took part."""

NOT_TOLD = "How this element came about is not told: the tensor is too large, or its values were not kept."


@dataclass(frozen=True)
class _Term:
    """A factor times a number, and where the number stands."""

    value: float
    factor: float
    place: str

    @property
    def product(self) -> float:
        return self.value * self.factor

    def text(self, bare: bool) -> str:
        value = bracketed(number(self.value))
        return value if bare else f"{value} · {bracketed(number(self.factor))}"


class Cells:
    """The elements of one story's tensors, as long as its arrays are alive."""

    def __init__(self, captured: Capture, backward: Backward) -> None:
        self.nodes, self.origins = captured.graph.nodes, captured.origins
        self.words, self.root = backward.words, backward.root
        self.contributions = backward.contributions
        self._matrices: dict[int, dict[int, np.ndarray]] = {}
        self._parts: dict[int, dict[int, np.ndarray]] = {}
        self._arrived = backward.arrived
        self.runs = 0

    # -------------------------------------------------------- whole tensors

    def array(self, node: Node, field: str) -> np.ndarray | None:
        """The value or the gradient of ``node``; None where it is not to be had."""
        if field == "gradient":
            if node.id in self._arrived:
                return self._arrived[node.id]
            parts = [sent for _, sent in self.contributions.get(node.id, ())]
            return in_reach(sum(parts[1:], parts[0])) if parts else None
        origin = self.origins[node.id]
        if node.value is None:
            return None
        found = origin.result.output if isinstance(origin, Run) else getattr(origin, "array", origin)
        return in_reach(found)

    def part(self, node: Node, field: str, place: int, count: int) -> np.ndarray | None:
        """Up to ``count`` elements of :meth:`array` from ``place`` on, in row-major order, on the CPU."""
        array = self.array(node, field)
        return None if array is None else to_numpy(array.ravel()[place : place + count])

    # -------------------------------------------------------- one element

    def explain(self, node: Node, field: str, place: int) -> str:
        """The sum that made the element at ``place``, counted in row-major order; empty for what is given."""
        array = self.array(node, field)
        if array is None or not 0 <= place < array.size:
            return NOT_TOLD
        told = self._gradient(node, place) if field == "gradient" else self._value(node, place)
        name = cell_name(node, place, array.shape)
        shown = self.words.by_text(self.root, name) if field == "gradient" else name
        return f"{shown} = {number(_element(array, place))}{told}"

    def made_of(self, node: Node, field: str, place: int) -> str:
        """The elements that made the one at ``place``, as ``"n0 value 0 1; n1 value 0 4"``."""
        found = []
        if field == "gradient":
            for edge, _ in self.contributions.get(node.id, ()):
                matrix = self._jacobian(self.nodes[edge.target]).get(edge.slot)
                if matrix is not None:
                    found.append(_places(f"n{edge.target} gradient", matrix[:, place]))
        elif node.id in self.words.operands:
            parts = self._taking_part(node)
            for edge in self.words.operands[node.id]:
                if edge.slot in parts:
                    column = parts[edge.slot][:, place]
                    found.append(_places(f"n{edge.source} value", column))
        return "; ".join(dict.fromkeys(filter(None, found)))

    def _taking_part(self, node: Node) -> dict[int, np.ndarray]:
        """For each operand which of its elements (a row) takes part in which of the result.

        An element that is not a number makes all that it takes part in not a number.
        """
        if node.id in self._parts:
            return self._parts[node.id]
        run, found = self.origins[node.id], self._parts.setdefault(node.id, {})
        operands = [run.operand(place) for place in run.places]
        given = [np.float64(x) if isinstance(x, int | float) else getattr(x, "array", x) for x in operands]
        if not run.may_run or any(each is None or on_a_gpu(each) for each in given):
            return found
        for k, (place, array) in enumerate(zip(run.places, given)):
            if getattr(array, "dtype", np.dtype(int)).kind == "f" and array.size <= _PROBED:
                self.runs += array.size
                with suppress(RuntimeError):  # as svd refuses what is not a number
                    found[place] = np.array([_spoilt(run, given, k, at) for at in range(array.size)])
        return found

    def _gradient(self, node: Node, place: int) -> str:
        if node.id == self.root.id and node.id not in self.contributions:
            return ", the seed"
        terms: list[_Term] = []
        for edge, _ in self.contributions.get(node.id, ()):
            target = self.nodes[edge.target]
            matrix, arrived = self._jacobian(target).get(edge.slot), self._arrived.get(target.id)
            if matrix is None or arrived is None:
                return f"\n{NOT_TOLD}"
            terms += self._terms(arrived.ravel(), matrix[:, place], target, arrived.shape)
        return _sum(terms) if terms else "\nno element of a result depends on it"

    def _value(self, node: Node, place: int) -> str:
        edges = self.words.operands.get(node.id, [])
        if not edges:
            return ", given"
        return self._element_by_element(node, edges, place) or self._as_sum(node, edges, place)

    def _element_by_element(self, node: Node, edges: list[Edge], place: int) -> str:
        """The operation's formula with the numbers of this element, where no other takes part."""
        index = np.unravel_index(place, node.shape)
        for slot, matrix in self._jacobian(node).items():
            source = self.nodes[next(edge.source for edge in edges if edge.slot == slot)]
            if not _broadcasts(source.shape, node.shape):
                return ""
            others = matrix[place].copy()
            others[_met(index, source.shape)] = 0
            if others.any():
                return ""
        numbers = {}
        for edge in edges:
            source = self.nodes[edge.source]
            array = self.array(source, "value")
            if array is None or not _broadcasts(source.shape, node.shape):
                return ""
            numbers[edge.source] = bracketed(number(_element(array, _met(index, source.shape))))
        filled = self.words.filled(node, lambda each: numbers.get(each.id, each.name))
        return f"\n= {filled}"

    def _as_sum(self, node: Node, edges: list[Edge], place: int) -> str:
        """A sum over elements of operands, where the operation is one; else what it changes with."""
        result, jacobian = self.array(node, "value"), self._jacobian(node)
        sources = {edge.slot: self.nodes[edge.source] for edge in edges}
        arrays = {slot: self.array(sources[slot], "value") for slot in jacobian}
        if result is None or not jacobian or any(array is None for array in arrays.values()):
            return f"\n{NOT_TOLD}"
        for count in range(1, len(jacobian) + 1):
            for slots in combinations(sorted(jacobian), count):
                made = sum(jacobian[slot] @ _wide(arrays[slot]).ravel() for slot in slots)
                if np.allclose(made, _wide(result).ravel(), rtol=1e-4, atol=1e-6):
                    terms = [
                        term
                        for slot in slots
                        for term in self._terms(
                            _wide(arrays[slot]).ravel(), jacobian[slot][place], sources[slot], None
                        )
                    ]
                    return _sum(terms) if terms else ""
        touched = [
            f"{cell_name(sources[slot], int(at))} by {number(matrix[place, at])}"
            for slot, matrix in jacobian.items()
            for at in np.flatnonzero(matrix[place])
        ]
        more = f" and {len(touched) - _TERMS} more" if len(touched) > _TERMS else ""
        return f"\nchanges with {listed(touched[:_TERMS])}{more}" if touched else ""

    # -------------------------------------------------------- the matrix behind it

    def _jacobian(self, node: Node) -> dict[int, np.ndarray]:
        """For each slot that learns, how each element of the result (a row) changes with each operand's."""
        if node.id in self._matrices:
            return self._matrices[node.id]
        run, found = self.origins[node.id], {}
        if isinstance(run, Run) and run.may_run:
            sizes = [
                _size(each) for each in (node, *(self.nodes[e.source] for e in self.words.operands[node.id]))
            ]
            if sizes[0] * max(sizes[1:]) <= _LARGEST_MATRIX and not _is_far(run, max(sizes)):
                self.runs += sizes[0]
                rows = [run.send(one.reshape(node.shape)) for one in np.eye(sizes[0], dtype=run.result.dtype)]
                found = (
                    {slot: np.array([_wide(row[slot]).ravel() for row in rows]) for slot in rows[0]}
                    if rows
                    else {}
                )
        self._matrices[node.id] = found
        return found

    def _terms(
        self, values: np.ndarray, factors: np.ndarray, node: Node, shape: tuple[int, ...] | None
    ) -> Iterator[_Term]:
        for at in np.flatnonzero(factors):
            yield _Term(float(values[at]), float(factors[at]), cell_name(node, int(at), shape))


def told_cells(cells: Cells, steps: int) -> tuple[CellSums, ...]:
    """The sums of all elements of the story's small tensors, the smallest first, as far as there is room."""
    told, room = [], _LETTERS_A_STEP * steps
    wanted = [
        (_size(node), node, field)
        for node in cells.nodes
        for field in ("value", "gradient")
        if node.shape and (field == "value" or node.requires_grad)
    ]
    for size, node, field in sorted(wanted, key=lambda each: (each[0], each[1].id)):
        if size > ELEMENTS_TOLD or cells.runs > _RUNS_IN_A_STORY:
            break
        if not size or cells.array(node, field) is None or (field == "value" and node.kind != "operation"):
            continue
        sums = tuple(cells.explain(node, field, place) for place in range(size))
        room -= sum(map(len, sums))
        if room < 0:
            break
        made = tuple(cells.made_of(node, field, place) for place in range(size))
        room -= sum(map(len, made))
        told.append(CellSums(node.element, field, sums, made if room > 0 else ()))
    return tuple(told)


def _places(name: str, column: np.ndarray) -> str:
    found = np.flatnonzero(column).tolist()
    return " ".join([name, *map(str, found)]) if found else ""


def _spoilt(run: Run, given: list[Any], k: int, at: int) -> np.ndarray:
    """Which elements of the result are not a number where that at ``at`` of operand ``k`` is none."""
    moved = given[k].copy()
    moved.reshape(-1)[at] = np.nan
    with np.errstate(all="ignore"):
        return np.isnan(run.compute([*given[:k], moved, *given[k + 1 :]])).ravel()


def cell_name(node: Node, place: int, shape: tuple[int, ...] | None = None) -> str:
    """An element's name, as ``w[0, 1]``; of a number the number's own."""
    index = np.unravel_index(place, node.shape if shape is None else shape)
    return f"{node.name}[{', '.join(str(int(i)) for i in index)}]" if index else node.name


def _sum(terms: list[_Term]) -> str:
    bare = all(term.factor == 1.0 for term in terms)
    told = [
        f"{'=' if k == 0 else '+'} {term.text(bare)}  ({term.place})" for k, term in enumerate(terms[:_TERMS])
    ]
    rest = terms[_TERMS:]
    if rest:
        total = number(sum(term.product for term in rest))
        told.append(f"+ {bracketed(total)}  ({len(rest)} more terms)")
    return "".join(f"\n{line}" for line in told)


def _size(node: Node) -> int:
    return math.prod(node.shape)


def _is_far(run: Run, size: int) -> bool:
    """Whether rows of the Jacobian are computed on a GPU, and too long to be copied."""
    return size > VALUES_SHOWN and on_a_gpu(run.result.output)


def _element(array: Any, place: int) -> Any:
    return to_numpy(array.reshape(-1)[place])[()]


def _wide(array: Any) -> np.ndarray:
    return to_numpy(array).astype(np.float64)


def _broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    return len(small) <= len(large) and all(
        i in (1, j) for i, j in zip(reversed(small), reversed(large), strict=False)
    )


def _met(index: tuple[Any, ...], shape: tuple[int, ...]) -> int:
    """The place of the element of a broadcast operand that meets the result's element at ``index``."""
    own = index[len(index) - len(shape) :] if shape else ()
    kept = tuple(0 if size == 1 else int(i) for i, size in zip(own, shape))
    return int(np.ravel_multi_index(kept, shape)) if shape else 0
