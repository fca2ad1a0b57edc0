"""A group of calls as one function: what they are in the Python that Numba takes.

Calls share their loops where each element is computed from those at its own place only. Such a value stays in
a register; each other one has memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from autokit.static.calls import is_reduction
from autokit.static.graph import Graph, Node
from autokit.static.interpret import interpret
from autokit.static.loops import compiled, elements
from autokit.static.loops.elements import TRUTH, Place, is_product, owner_of, place_of, shape_of_loops
from autokit.static.memory import Lives, OwnMemory

HEAD = """from math import erf, inf, nan

import numpy as np
from numpy import float32, float64, int32, int64, uint8, uint64

from autokit.static.loops.compiled import gemm, plus, pointer


"""

SETTINGS = {"axis", "keepdims", "initial", "dtype"}
"""The settings that compiled forms know."""


def read_by(nodes: Iterable[Node]) -> list[Node]:
    """In whose memory the operands of ``nodes`` lie."""
    return list(dict.fromkeys([owner_of(operand) for node in nodes for operand in node.operands()]))


def may_stop(node: Node) -> bool:
    """Whether a compiled call can end the run."""
    return node.kind == "check" or node.function is np.take_along_axis


def is_plain(node: Node) -> bool:
    """Whether each element is computed from those at its place, and nothing stops the run."""
    return not (may_stop(node) or is_product(node) or is_reduction(node))


class Text:
    """The text of calls.

    Attributes
    ----------
    outputs : list of Node
        What is read outside.
    states : dict
        For each node that is written over a state, that state.
    kept : list of Node or int
        Addresses, where a node stands for that of its memory; and sizes, as LLVM would write out all turns of
        a loop whose size it knows.
    pointers, names : dict
        The names of memory, and those of calls.
    """

    def __init__(self, calls: list[Node]) -> None:
        self.outputs: list[Node] = []
        self.states: dict[Node, Node] = {}
        self.kept: list[Node | int] = []
        self.pointers: dict[str, str] = {}
        self.names = {node: f"v{k}" for k, node in enumerate(calls)}

    # ------------------------------------------------------------ memory

    def _number(self, what: Node | int) -> str:
        """A number that comes in an array: a node stands for the address of its memory."""
        if what not in self.kept:
            self.kept.append(what)
        return f"a[{self.kept.index(what)}]"

    def _address(self, place: Place) -> str:
        """Where the first element of a place lies."""
        start = self._number(self.states.get(place.owner, place.owner))
        return f"{start} + {place.offset}" if place.offset else start

    def _element(self, place: Place, last: str = "") -> str:
        """An element in memory, where truth is a byte; with ``last`` in place of the last axis's index."""
        kind = "uint8" if place.dtype == TRUTH else place.dtype.name
        text = f"pointer({self._address(place)}, {kind})"
        pointer = self.pointers.setdefault(text, f"p{len(self.pointers)}")
        indices = [*[f"i{axis}" for axis in range(len(place.strides))][: -1 if last else None], last]
        terms = [f"{index} * {step}" for index, step in zip(indices, place.strides) if step]
        return f"{pointer}[{' + '.join(terms) or 0}]"

    # ------------------------------------------------------------ calls

    def written(self, calls: list[Node]) -> list[str]:
        """The lines for calls that share their loops."""
        return self._product(calls[-1]) if is_product(calls[-1]) else self._loops(calls)

    def _product(self, node: Node) -> list[str]:
        """BLAS's matrices lie column by column, where ours are their transposes: Cᵀ = Bᵀ Aᵀ."""
        kind, (m, n) = node.dtype.name, node.shape
        routine = self._number(compiled.address_of_gemm({"float32": "s", "float64": "d"}[kind]))
        turns, starts = list[str](), list[str]()
        for operand in reversed(node.args):
            place, turned, width = elements.matrix_of(operand, node.dtype)
            turns.append(str(ord("T" if turned else "N")))
            starts.append(f"{self._address(place)}, {width}")
        sizes, result = f"{n}, {m}, {node.args[0].shape[1]}", self._address(place_of(node, node.shape))
        numbers = [*turns, sizes, f"{kind}(1)", *starts, f"{kind}(0)", result, str(n)]
        return [f"gemm({routine}, ({', '.join(numbers)}))"]

    def _loops(self, calls: list[Node]) -> list[str]:
        """Loops over a shape in which these calls compute an element each."""
        shape, lines, stores = shape_of_loops(calls[-1]), list[str](), list[str]()
        for node in calls:
            form, operands = elements.formula_of(node)
            read = [self._operand(value, dtype, calls) for value, dtype in operands]
            if is_reduction(node):
                return self._reduction(node, form, read[0], [*lines, *stores])
            if node.kind == "check":
                return [f"if not {read[0]}: return 1"]
            value = form.format(*read)
            if may_stop(node):  # at an index, which counts from the end if it is negative
                array, size = node.args[0], node.args[0].shape[-1]
                lines.append(f"if not -{size} <= {read[0]} < {size}: return 1")
                value = self._element(place_of(array, array.shape), f"({read[0]} % {size})")
            lines.append(f"{self.names[node]} = {node.dtype.name}({value})")
            if node is calls[-1] or node in self.outputs or node in self.states:
                stores.append(f"{self._element(elements.result_of(node))} = {self.names[node]}")
        return self._nest(shape, range(len(shape)), [*lines, *stores])

    def _reduction(self, node: Node, form: str, value: str, lines: list[str]) -> list[str]:
        """Take elements into a sum, a maximum or the like: in a register, or row by row in memory."""
        shape, result, kind = shape_of_loops(node), elements.result_of(node), node.dtype.name
        axes, memory = range(len(shape)), self._element(result)
        kept = [axis for axis in axes if result.strides[axis]]
        in_rows = kept[-1:] == [*axes[-1:]]
        is_sum = node.name == "add.reduce" and node.dtype.kind == "f"
        wide = "float64" if is_sum and not in_rows else kind  # long sums of float32 round too often
        total, form = memory if in_rows else self.names[node], "plus({0}, {1})" if is_sum else form
        first = f"{total} = {wide}({elements.first_of(node)})"
        lines += [f"item = {wide}({value})", f"{total} = {wide}({form.format(total, 'item')})"]
        if in_rows:
            return [*self._nest(shape, kept, [first]), *self._nest(shape, axes, lines)]
        inner = self._nest(shape, [axis for axis in axes if axis not in kept], lines)
        return self._nest(shape, kept, [first, *inner, f"{memory} = {kind}({total})"])

    def _nest(self, shape: tuple[int, ...], axes: Sequence[int], lines: list[str]) -> list[str]:
        """Lines in loops over some axes of a shape."""
        for axis in [axis for axis in reversed(axes) if shape[axis] > 1]:
            lines = [f"for i{axis} in range({self._number(shape[axis])}):", *indented(lines)]
        return lines

    def _operand(self, value: Any, dtype: np.dtype[Any], calls: list[Node]) -> str:
        """A number, what these loops have computed, or an element in memory, in the dtype that is needed."""
        if not isinstance(value, Place):
            return f"{dtype.name}({value})"
        text = self.names[value.owner] if value.owner in calls else self._element(value)
        return text if value.dtype == dtype != TRUTH else f"{dtype.name}({text})"


class Loops(Text, OwnMemory):
    """Calls that become one compiled function.

    It takes the arrays that come from outside, which are copied into memory of its own, and returns the
    values that are read outside; these lie in memory that the next call writes over. What is compiled takes
    the address of the numbers in ``kept``. It returns 0; or 1 where a check fails, or an index is out of
    bounds.

    Attributes
    ----------
    given : list of Node
        What comes from outside in each run, unlike states and constants.
    loops : list of list of Node
        The calls that share their loops.
    source : str
    """

    def __init__(self, graph: Graph, calls: list[Node], name: str, is_last: bool) -> None:
        super().__init__(calls)
        self.graph, self.name = graph, name
        users, owners, roots = graph.users(), Lives(graph).owners, dict[Node, Node]()
        for node in reversed(calls):
            readers = [user for user in users[node] if user in roots or user.kind == "view"]
            roots[node] = _root(node, {roots.get(user) for user in readers})
        order = sorted(calls, key=lambda node: calls.index(roots[node]))
        self.loops = [list(loop) for _, loop in groupby(order, roots.__getitem__)]
        ends = {owner for node in [*graph.outputs, *graph.updates.values()] for owner in owners[node]}
        # An input that is read at the end may lie in the memory of a state.
        free = is_last and all([owner.kind != "input" for owner in ends])
        for state, node in graph.updates.items():
            if free and node in roots and node not in self.states and state not in ends:
                self._overwrite(state, node)
        late = [node for state, node in graph.updates.items() if self.states.get(node) is not state]
        outside = [node for node in graph.nodes if node not in roots and node.kind != "view"]
        read = {*read_by(outside), *map(owner_of, [*graph.outputs, *late])}
        self.outputs = [node for node in calls if node in read]
        others = [node for node in read_by(calls) if node not in roots]
        self.given = [node for node in others if node.kind not in ("const", "state")]
        body = [line for loop in self.loops for line in self.written(loop)]
        head = [f"{pointer} = {text}" for text, pointer in self.pointers.items()]
        lines = ["a = pointer(numbers, int64)", *head, *body, "return 0"]
        self.source = "\n".join([f"{HEAD}def {name}(numbers):", *indented(lines)]) + "\n"
        self.function = compiled.compiled(self.source, name)

    def new_function(self) -> Callable[..., Any]:
        """A function with memory of its own."""
        memory = {
            node: elements.memory_of(node) for node in [*self.given, *self.kept] if isinstance(node, Node)
        }
        addresses = [memory[each].ctypes.data if isinstance(each, Node) else each for each in self.kept]
        numbers = np.array(addresses, np.int64)
        results = tuple([memory[self.states.get(node, node)] for node in self.outputs])
        given, start, function = [memory[node] for node in self.given], numbers.ctypes.data, self.function

        def run(*args: Any, alive: Any = (memory, numbers)) -> tuple[np.ndarray, ...]:
            for own, array in zip(given, args):
                np.copyto(own, array)
            if function(start):
                self._explain(args)
            return results

        return run

    def _explain(self, args: tuple[Any, ...]) -> None:
        """Raise what stopped a run: the same calls, one by one. The states are as they were before."""
        values = {state: state.value for state in self.graph.states} | dict(zip(self.given, args))
        for node in self.graph.nodes:
            is_inner = node in self.names or node.kind in ("const", "view")
            if is_inner and node not in values and values.keys() >= set(node.operands()):
                list(interpret([node], values))
        raise RuntimeError(f"{self.name} was stopped by a check that holds in NumPy")

    def _overwrite(self, state: Node, node: Node) -> None:
        """Write ``node`` over a state that nothing reads afterwards, where nothing stops the run."""
        own = next(loop for loop in self.loops if node in loop)
        later = [call for loop in self.loops[self.loops.index(own) :] for call in loop]
        reads = [(call, each) for call in later for each in call.operands() if owner_of(each) is state]
        shared = [each for each in self.graph.states if np.may_share_memory(each.value, state.value)]
        if (
            (node.shape, node.dtype, [state]) == (state.shape, state.dtype, shared)
            and state.value.flags.c_contiguous
            and not any(map(may_stop, later))
            and all([each is state and is_plain(call) and call in own for call, each in reads])
        ):
            self.states[node] = state


def has_loop(node: Node) -> bool:
    """Whether a call has a compiled form: it is written down to see that."""
    try:
        is_call = node.kind == "call" and node.value.size and node.settings.keys() <= SETTINGS
        return bool((is_call or node.kind == "check") and Text([node]).written([node]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False  # NumPy, Numba or BLAS does not take such dtypes or shapes


def _root(node: Node, found: set[Node | None]) -> Node:
    """Whose loops a call shares: those of all that read it, if they are the same."""
    root = found.pop() if len(found) == 1 else None
    if root is None or not is_plain(node) or may_stop(root) or is_product(root):
        return node
    return root if shape_of_loops(root) == node.shape else node


def indented(lines: list[str]) -> list[str]:
    """Lines in a loop or a function."""
    return [f"    {line}" for line in lines]
