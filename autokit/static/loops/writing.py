"""The text of a compiled function: what a group of calls is in the Python that Numba takes.

Calls share their loops where each element is computed from those at its own place only. Such a value stays in
a register; each other one has memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autokit.static.calls import is_reduction
from autokit.static.graph import Graph, Node
from autokit.static.loops import elements
from autokit.static.loops.elements import TRUTH, Place, is_product, owner_of, place_of, shape_of_loops
from autokit.static.memory import Lives

HEAD = """from math import erf, inf, nan

import numpy as np
from numpy import float32, float64, int32, int64, uint8, uint64

from autokit.static.loops.compiled import gemm, plus, pointer


"""
NEEDS_COPIES = 2


def read_by(nodes: Iterable[Node]) -> list[Node]:
    """In whose memory the operands of ``nodes`` lie."""
    return list(dict.fromkeys([owner_of(operand) for node in nodes for operand in node.operands()]))


def may_stop(node: Node) -> bool:
    """Whether a compiled call can end the run."""
    return node.kind == "check" or node.function is np.take_along_axis


def is_plain(node: Node) -> bool:
    """Whether each element is computed from those at its place, and nothing stops the run."""
    return not (may_stop(node) or is_product(node) or is_reduction(node))


class Group:
    """Calls that become one compiled function.

    Attributes
    ----------
    home : dict
        For each call the last one that shares its loops.
    loops : dict
        For each of these all calls there. Those that a check needs come first.
    memory : dict
        For each node that is written over a state, that state.
    descents : dict
        For each of these that is ``state ± number · product`` the sign, the number and the product.
    outputs, given : list of Node
        What is read outside; and what comes from outside in each run, unlike states and constants.
    """

    def __init__(self, graph: Graph, calls: list[Node], is_last: bool) -> None:
        self.graph, self.users, owners = graph, graph.users(), Lives(graph).owners
        self.home: dict[Node, Node] = {}
        for node in reversed(calls):
            self.home[node] = self._home(node)
        checked = set(graph.needed([node for node in calls if may_stop(node)]))
        self.loops: dict[Node, list[Node]] = {}
        for root in sorted(
            set(self.home.values()), key=lambda root: (root not in checked, calls.index(root))
        ):
            self.loops[root] = [node for node in calls if self.home[node] is root]
        ends = {owner for node in [*graph.outputs, *graph.updates.values()] for owner in owners[node]}
        self.memory: dict[Node, Node] = {}
        for state, node in graph.updates.items():
            if is_last and node in self.home and state not in ends and self._can_overwrite(state, node):
                self.memory[node] = state
        outside = [node for node in graph.nodes if node not in self.home and node.kind != "view"]
        late = [node for state, node in graph.updates.items() if self.memory.get(node) is not state]
        read = {*read_by(outside), *map(owner_of, [*graph.outputs, *late])}
        self.outputs = [node for node in calls if node in read]
        others = [node for node in read_by(calls) if node not in self.home]
        self.given = [node for node in others if node.kind not in ("const", "state")]
        self.descents: dict[Node, tuple[str, Any, Node]] = {}
        for node, state in self.memory.items():
            self._find_descent(state, node)

    def _home(self, node: Node) -> Node:
        """Whose loops a call shares: those of all that read it, if they are the same."""
        homes = {self.home.get(user) for user in self.users[node] if user in self.home or user.kind == "view"}
        root = homes.pop() if len(homes) == 1 else None
        if root is None or not is_plain(node) or may_stop(root) or is_product(root):
            return node
        return root if shape_of_loops(root) == node.shape else node

    def _can_overwrite(self, state: Node, node: Node) -> bool:
        """Whether nothing reads an element of the state after it is written, and nothing stops the run."""
        roots, root = list(self.loops), self.home[node]
        shared = [each for each in self.graph.states if np.may_share_memory(each.value, state.value)]
        later = [call for each in roots[roots.index(root) :] for call in self.loops[each]]
        reads = [(call, each) for call in later for each in call.operands() if owner_of(each) is state]
        return (
            (node.shape, node.dtype, [state]) == (state.shape, state.dtype, shared)
            and state.value.flags.c_contiguous
            and node not in self.memory
            and not any(map(may_stop, later))
            and all([is_plain(node) and self.home[call] is root and each is state for call, each in reads])
        )

    def _find_descent(self, state: Node, node: Node) -> None:
        """Let BLAS add a product to a state, as in a step of gradient descent on the weights of a layer."""
        if node.function not in (np.add, np.subtract) or node.args[0] is not state:
            return
        number, product, calls = 1, node.args[1], self.loops[self.home[node]]
        if getattr(product, "function", None) is np.multiply:
            number, product = sorted(product.args, key=lambda each: getattr(each, "shape", ()))
        if product in self.loops and is_product(product) and getattr(number, "shape", ()) == ():
            only_here = calls[1:] in ([], [node]) and self.users[product] == calls[:1]
            unread = {product, *calls[:-1]}.isdisjoint(self.outputs)
            unchanged = all([owner.kind != "state" for owner in read_by([product])])
            if only_here and unread and unchanged and product.shape == state.shape:
                self.descents[node] = ("-" if node.function is np.subtract else "+"), number, product
                self.loops[self.home[node]] = [node]
                del self.loops[product]


class Text:
    """The text of a function of the arrays that a group is given, and an array of whole numbers.

    The function returns 0; or 1 where a check fails, an index is out of bounds or an array has another size;
    or 2 if an array lies in memory that it would write over.

    Attributes
    ----------
    source : str
    kept : list of Node or int
        What the numbers are, after the addresses of the two routines of BLAS. Sizes are among them, as LLVM
        would write out all turns of a loop whose size it knows.
    """

    def __init__(self, group: Group, name: str) -> None:
        self.group, self.kept = group, list[Node | int]()
        self.pointers: dict[str, str] = {}
        self.names = {node: f"v{k}" for k, node in enumerate(reversed(group.home))}
        body = list[str]()
        for root, calls in group.loops.items():
            body += self._product(root) if is_product(root) or root in group.descents else self._loops(calls)
        given = {f"x{k}": node for k, node in enumerate(group.given)}
        checks = [f"x{k}_at = x{k}.ctypes.data" for k in range(len(given))]
        checks += [f"if {x}.size != {node.value.size}: return 1" for x, node in given.items()]
        if given and group.memory:
            bounds = [f"({self._address(node)}, {node.value.nbytes})" for node in group.memory]
            checks.append(f"for other, size in ({', '.join(bounds)},):")
            for x, node in given.items():
                shared = f"{x}_at < other + size and other < {x}_at + {node.value.nbytes}"
                checks.append(f"    if {shared}: return {NEEDS_COPIES}")
        checks += [f"{pointer} = {text}" for text, pointer in self.pointers.items()]
        head = f"{HEAD}def {name}({', '.join([*given, 'a'])}):"
        self.source = "\n".join([head, *indented([*checks, *body, "return 0"])]) + "\n"

    # ------------------------------------------------------------ memory

    def _number(self, what: Node | int) -> str:
        """A number that comes in an array: a node stands for the address of its memory."""
        if what not in self.kept:
            self.kept.append(what)
        return f"a[{self.kept.index(what) + 2}]"

    def _address(self, node: Node) -> str:
        given, node = self.group.given, self.group.memory.get(node, node)
        return f"x{given.index(node)}_at" if node in given else self._number(node)

    def _element(self, place: Place, last: str = "") -> str:
        """An element in memory, where truth is a byte; with ``last`` in place of the last axis's index."""
        kind = "uint8" if place.dtype == TRUTH else place.dtype.name
        text = f"pointer({self._address(place.owner)}, {kind})"
        pointer = self.pointers.setdefault(text, f"p{len(self.pointers)}")
        indices = [*[f"i{axis}" for axis in range(len(place.strides))][: -1 if last else None], last]
        terms = [f"{index} * {step}" for index, step in zip(indices, place.strides) if step]
        return f"{pointer}[{' + '.join([*terms, str(place.offset)])}]"

    # ------------------------------------------------------------ calls

    def _product(self, node: Node) -> list[str]:
        """BLAS's matrices lie column by column, where ours are their transposes: Cᵀ = Bᵀ Aᵀ."""
        kind, (m, n), result = node.dtype.name, node.shape, self._address(node)
        sign, number, product = self.group.descents.get(node, ("", 1, node))
        alpha = self._element(place_of(number, ())) if isinstance(number, Node) else number
        turns, starts = list[str](), list[str]()
        for place, turned, width in map(elements.matrix_of, reversed(product.args)):
            turns.append(str(ord("T" if turned else "N")))
            starts.append(f"{self._address(place.owner)} + {place.offset * place.dtype.itemsize}, {width}")
        sizes, scale = f"{n}, {m}, {product.args[0].shape[1]}", f"{kind}({sign}{alpha})"
        numbers = [*turns, sizes, scale, *starts, f"{kind}({int(product is not node)}), {result}, {n}"]
        return [f"gemm(a[{int(kind == 'float64')}], ({', '.join(numbers)}))"]

    def _loops(self, calls: list[Node]) -> list[str]:
        """Loops over a shape in which these calls compute an element each."""
        shape, lines, stores = shape_of_loops(calls[-1]), list[str](), list[str]()
        for node in calls:
            name, (form, operands) = self.names[node], elements.formula_of(node)
            read = [self._operand(value, dtype, calls) for value, dtype in operands]
            if is_reduction(node):
                return self._reduction(node, form, read[0], lines, stores)
            if node.kind == "check":
                return [f"if not {read[0]}: return 1"]
            value = form.format(*read)
            if may_stop(node):  # at an index, which counts from the end if it is negative
                size, value = node.args[0].shape[-1], self._element(elements.row_of(node), "k")
                lines += [f"k = {read[0]} + {size} * ({read[0]} < 0)", f"if not 0 <= k < {size}: return 1"]
            lines.append(f"{name} = {node.dtype.name}({value})")
            if node is calls[-1] or node in self.group.outputs or node in self.group.memory:
                stores.append(f"{self._element(elements.result_of(node))} = {name}")
        return self._nest(shape, range(len(shape)), [*lines, *stores])

    def _reduction(self, node: Node, form: str, value: str, lines: list[str], stores: list[str]) -> list[str]:
        """Take elements into a sum, a maximum or the like: in a register, or row by row in memory."""
        shape, result, kind = shape_of_loops(node), elements.result_of(node), node.dtype.name
        axes, first, total = range(len(shape)), elements.first_of(node), self.names[node]
        kept, item = [axis for axis in axes if result.strides[axis]], f"{total}_item"
        if kept[-1:] == [*axes[-1:]]:
            total, start = self._element(result), self._element(place_of(node, node.shape))
            lines += [f"{item} = {kind}({value})", f"{total} = {kind}({form.format(total, item)})", *stores]
            fill = self._nest(node.shape, range(len(node.shape)), [f"{start} = {kind}({first})"])
            return [*fill, *self._nest(shape, axes, lines)]
        is_sum = node.function == np.add.reduce and node.dtype.kind == "f"
        wide = "float64" if is_sum else kind  # long sums of float32 would round too often
        combined = f"plus({total}, {item})" if is_sum else form.format(total, item)
        lines += [f"{item} = {wide}({value})", f"{total} = {wide}({combined})", *stores]
        inner = self._nest(shape, [axis for axis in axes if axis not in kept], lines)
        ends = f"{total} = {wide}({first})", f"{self._element(result)} = {kind}({total})"
        return self._nest(shape, kept, [ends[0], *inner, ends[1]])

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


def indented(lines: list[str]) -> list[str]:
    """Lines in a loop or a function."""
    return [f"    {line}" for line in lines]
