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
from autokit.static.loops.elements import FORMS, TRUTH, Place, is_product, owner_of, place_of, shape_of_loops
from autokit.static.memory import Lives, OwnMemory

HEAD = """from math import inf, nan

import numpy as np
from numpy import float32, float64, int32, int64, uint8, uint64

from autokit.static.loops.compiled import call, plus, pointer


"""
WHOLE = 0x101
"""The flags of an array whose elements lie row by row at addresses that fit them."""

SETTINGS = {"axis", "keepdims", "initial", "dtype"}
"""The settings that compiled forms know."""

FIRST = tuple.__basicsize__ // 8
"""The place of a tuple's first element in its memory, in words."""


def read_by(nodes: Iterable[Node]) -> list[Node]:
    """In whose memory the operands of ``nodes`` lie."""
    return list(dict.fromkeys([owner_of(operand) for node in nodes for operand in node.operands()]))


def may_stop(node: Node) -> bool:
    """Whether a compiled call can end the run."""
    return node.kind == "check" or node.function is np.take_along_axis


class Text:
    """The text of calls.

    Attributes
    ----------
    outputs, given : list of Node
        What is read outside; and what comes from outside in each run, unlike states and constants.
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
        self.given: list[Node] = []
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
        owner = self.states.get(place.owner, place.owner)
        start = f"x{self.given.index(owner)}[2]" if owner in self.given else self._number(owner)
        return f"{start} + {place.offset}" if place.offset else start

    def _element(self, place: Place, last: str = "") -> str:
        """An element in memory, where truth is a byte; with ``last`` in place of the last axis's index."""
        kind = "uint8" if place.dtype == TRUTH else place.dtype.name
        text = f"pointer({self._address(place)}, {kind})"
        pointer = self.pointers.setdefault(text, f"p{len(self.pointers)}")
        return f"{pointer}[{' + '.join(_terms(place.strides, last)) or 0}]"

    # ------------------------------------------------------------ calls

    def written(self, calls: list[Node]) -> list[str]:
        """The lines for calls that share their loops."""
        first, last = calls[0], calls[-1]
        if is_product(first):
            scale = self._descent(calls) if last in self.states else ""
            product = self._product(first, last if scale else first, scale or "1")
            return product if scale or first is last else [*product, *self.written(calls[1:])]
        is_row = last.kind == "call" and not (last.name in FORMS or is_reduction(last) or may_stop(last))
        return self._row(last) if is_row else self._loops(calls)

    def _descent(self, calls: list[Node]) -> str:
        """The factor of the product in ``state ± number · product``, as in a step of gradient descent."""
        product, *scaled, last = calls
        number, change = 1, last.args[1]
        if scaled == [change] and change.function is np.multiply:
            number, change = sorted(change.args, key=lambda each: getattr(each, "shape", ()))
        is_sum = last.function in (np.add, np.subtract) and last.args[0] is self.states.get(last)
        unread = {product, *scaled}.isdisjoint(self.outputs) and len(calls) < 4
        if not is_sum or change is not product or not unread or getattr(number, "shape", None):
            return ""
        sign = "-" if last.function is np.subtract else ""
        return sign + (self._element(place_of(number, ())) if isinstance(number, Node) else str(number))

    def _product(self, node: Node, result: Node, scale: str) -> list[str]:
        """BLAS's matrices lie column by column, where ours are their transposes: Cᵀ = Bᵀ Aᵀ."""
        kind, (m, n), target = node.dtype.name, node.shape, self._address(place_of(result, node.shape))
        routine = self._number(compiled.address_of_gemm({"float32": "s", "float64": "d"}[kind]))
        turns, starts = list[str](), list[str]()
        for operand in reversed(node.args):
            place, turned, width = elements.matrix_of(operand, node.dtype)
            turns.append(f"({ord('T' if turned else 'N')},)")
            starts.append(f"{self._address(place)}, ({width},)")
        sizes, before = f"({n},), ({m},), ({node.args[0].shape[1]},)", int(result is not node)
        numbers = [*turns, sizes, f"({kind}({scale}),)", *starts, f"({kind}({before}),), {target}, ({n},)"]
        return [f"call({routine}, ({', '.join(numbers)}))"]

    def _row(self, node: Node) -> list[str]:
        """NumPy's own loop, for each row; or for all elements where they lie one after the other."""
        (routine, data, places), shape = elements.loop_of(node), node.shape
        if all([place.strides == places[-1].strides or not any(place.strides) for place in places]):
            shape = (node.value.size,)
            places = [place._replace(strides=(int(any(place.strides)),)) for place in places]
        starts, steps = list[str](), list[str]()
        for place in places:
            *outer, step = [step * place.dtype.itemsize for step in place.strides]
            starts.append(" + ".join([self._address(place), *_terms(outer)]))
            steps.append(str(step))
        rows = f"({', '.join(starts)}), ({self._number(shape[-1])},), ({', '.join(steps)})"
        line = f"call({self._number(routine)}, ({rows}, {self._number(data)}))"
        return self._nest(shape, range(len(shape) - 1), [line])

    def _loops(self, calls: list[Node]) -> list[str]:
        """Loops over a shape in which these calls compute an element each."""
        shape, lines, stores = shape_of_loops(calls[-1]), list[str](), list[str]()
        for node in calls:
            read = [self._operand(value, dtype, calls) for value, dtype in elements.operands_of(node)]
            if is_reduction(node):
                return self._reduction(node, read[0], [*lines, *stores])
            if node.kind == "check":
                return [f"if not {read[0]}: return 1"]
            if may_stop(node):  # at an index, which counts from the end if it is negative
                array, size = node.args[0], node.args[0].shape[-1]
                lines.append(f"if not -{size} <= {read[0]} < {size}: return 1")
                value = self._element(place_of(array, array.shape), f"({read[0]} % {size})")
            else:
                value = FORMS[node.name].format(*read)
            lines.append(f"{self.names[node]} = {node.dtype.name}({value})")
            if node is calls[-1] or node in self.outputs or node in self.states:
                stores.append(f"{self._element(elements.result_of(node))} = {self.names[node]}")
        return self._nest(shape, range(len(shape)), [*lines, *stores])

    def _reduction(self, node: Node, value: str, lines: list[str]) -> list[str]:
        """Take elements into a sum, a maximum or the like: in a register, or row by row in memory."""
        shape, result, kind = shape_of_loops(node), elements.result_of(node), node.dtype.name
        axes, memory = range(len(shape)), self._element(result)
        kept = [axis for axis in axes if result.strides[axis]]
        in_rows = kept[-1:] == [*axes[-1:]]
        is_sum = node.name == "add.reduce" and node.dtype.kind == "f"
        wide = "float64" if is_sum and not in_rows else kind  # long sums of float32 round too often
        form = "plus({0}, {1})" if is_sum else FORMS[node.name.removesuffix(".reduce")]
        total = memory if in_rows else self.names[node]
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

    It takes the arrays that come from outside, and returns the values that are read outside; these lie in
    memory that the next call writes over. What is compiled takes two addresses: of the numbers in ``kept``,
    and of the tuple of the arrays. It returns 0; or 1 where an array is another one than it was compiled for
    or lies in memory that it would write over, a check fails, or an index is out of bounds.

    Attributes
    ----------
    loops : list of list of Node
        The calls that share their loops. Those that a check needs come first.
    source : str
    """

    def __init__(self, graph: Graph, calls: list[Node], name: str, is_last: bool) -> None:
        super().__init__(calls)
        self.graph, self.name = graph, name
        users, owners, roots = graph.users(), Lives(graph).owners, dict[Node, Node]()
        for node in reversed(calls):
            readers = [user for user in users[node] if user in roots or user.kind == "view"]
            roots[node] = _root(node, {user if is_product(user) else roots.get(user) for user in readers})
        checked = set(graph.needed([node for node in calls if may_stop(node)]))
        times = {node: (node not in checked, time) for time, node in enumerate(calls)}
        order = sorted(calls, key=lambda node: (times[roots[node]], not is_product(node)))
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
        head = [*self._arguments(), *[f"{pointer} = {text}" for text, pointer in self.pointers.items()]]
        lines = ["a = pointer(numbers, int64)", "x = pointer(arrays, int64)", *head, *body, "return 0"]
        self.source = "\n".join([f"{HEAD}def {name}(numbers, arrays):", *indented(lines)]) + "\n"
        self.function = compiled.compiled(self.source, name)

    def new_function(self) -> Callable[..., Any]:
        """A function with memory of its own."""
        memory = {node: elements.memory_of(node) for node in self.kept if isinstance(node, Node)}
        addresses = [memory[each].ctypes.data if isinstance(each, Node) else each for each in self.kept]
        numbers = np.array(addresses, np.int64)
        results = tuple([memory[self.states.get(node, node)] for node in self.outputs])
        given, function, start = self.given, self.function, numbers.ctypes.data

        def run(*args: Any, alive: Any = (memory, numbers)) -> tuple[np.ndarray, ...]:
            if function(start, id(args)):
                copies = tuple([np.array(array, node.dtype, order="C") for array, node in zip(args, given)])
                if function(start, id(copies)):
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

    def _arguments(self) -> list[str]:
        """Whether the arrays are those that are expected, by the fields of NumPy's ``PyArrayObject``."""
        lines, array = list[str](), self._number(id(np.ndarray))
        states = [f"({self._number(state)}, {state.value.nbytes})" for state in self.states.values()]
        for k, node in enumerate(self.given):
            x, fields = f"x{k}", [f"{array} ^ x{k}[1]", f"{self._number(id(node.dtype))} ^ x{k}[7]"]
            fields += [f"{WHOLE} ^ x{k}[8] & {WHOLE}", f"{len(node.shape)} ^ x{k}[3] & 0xFFFFFFFF"]
            sizes = [f"{size} ^ pointer({x}[4], int64)[{axis}]" for axis, size in enumerate(node.shape)]
            lines.append(f"{x} = pointer(x[{FIRST + k}], int64)")
            lines += [f"if {' | '.join(unlike)}: return 1" for unlike in (fields, sizes) if unlike]
            if states:
                shared = f"start - {node.value.nbytes} < {x}[2] < start + size"
                lines += [f"for start, size in ({', '.join(states)},):", f"    if {shared}: return 1"]
        return lines

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
            and all([each is state and call.name in FORMS and call in own for call, each in reads])
        ):
            self.states[node] = state


def has_loop(node: Node) -> bool:
    """Whether a call has a compiled form: it is written down to see that."""
    try:
        is_call = node.kind == "call" and node.value.size and node.settings.keys() <= SETTINGS
        return bool((is_call or node.kind == "check") and Text([node]).written([node]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False  # NumPy or BLAS does not take such dtypes or shapes


def _root(node: Node, found: set[Node | None]) -> Node:
    """Whose loops a call shares: those of all that read it, if they are the same.

    So does a product that is added to a state, as BLAS may do that.
    """
    root = found.pop() if len(found) == 1 else None
    joins = node.name in FORMS or is_product(node)
    if root is None or not joins or not (root.name in FORMS or is_reduction(root)):
        return node
    return root if shape_of_loops(root) == node.shape else node


def _terms(steps: Sequence[int], last: str = "") -> list[str]:
    """How far an element lies from the first one; with ``last`` in place of the last axis's index."""
    indices = [f"i{axis}" for axis in range(len(steps))][: -1 if last else None]
    return [f"{index} * {step}" for index, step in zip([*indices, last], steps) if step]


def indented(lines: list[str]) -> list[str]:
    """Lines in a loop or a function."""
    return [f"    {line}" for line in lines]
