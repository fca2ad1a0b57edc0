"""The text of a compiled function: what a group of calls is in the Python that Numba takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Node
from autokit.static.loops.elements import FORMS, LOGICAL, TRUTH, TYPES, Call, Operand, Place, neutral
from autokit.static.loops.groups import Group
from autokit.static.loops.products import Product

HEAD = """from math import cos, erf, exp, expm1, inf, log, log1p, nan, sin, sqrt, tanh

from numpy import float32 as f4, float64 as f8, int64 as i8, uint8 as u1, uint64 as u8

from autokit.static.loops.blas import gemm, plus, pointer


"""
STOPPED, NEEDS_COPIES = 1, 2
STOP = f"    return {STOPPED}"


class Writer:
    """The text of a function of the arrays that are ``given`` from outside, and an array of addresses.

    The function returns 0; or 1 where a check fails, an index is out of bounds or an array has another size;
    or 2 if an array lies in memory that it would write over.

    Attributes
    ----------
    text : str
    addressed : list of Node
        The nodes whose addresses the function takes, after the two of BLAS.
    """

    def __init__(self, group: Group, given: list[Node], name: str) -> None:
        self.group, self.given = group, given
        self.addressed: list[Node] = []
        self._pointers: dict[str, str] = {}
        self._body: list[str] = []
        for item in group.items:
            one = group.work[item[0]]
            if isinstance(one, Product):
                self._product(item[0], one)
            else:
                self._loop(item)
        lines = [*self._checks(), *self._pointers.values(), *self._body, "return 0"]
        parameters = ", ".join([*[f"x{node.id}" for node in given], "p"])
        self.text = "\n".join([f"{HEAD}def {name}({parameters}):", *_indented(lines)]) + "\n"

    def _checks(self) -> list[str]:
        """Stop where an array has another size; say so where it lies in memory that is written over."""
        states = self.group.memory.values()
        places = tuple([(self._place(state), state.value.nbytes) for state in states])
        lines, shared = [], []
        for node in self.given:
            lines += [f"if x{node.id}.size != {node.value.size}:", STOP]
            if places and node.kind != "number":
                start, size = f"x{node.id}.ctypes.data", node.value.nbytes
                shared += [f"    if {start} < p[k] + size and p[k] < {start} + {size}:"]
                shared += [f"        return {NEEDS_COPIES}"]
        return [*lines, f"for k, size in {places}:", *shared] if shared else lines

    # ------------------------------------------------------------ memory

    def _address(self, node: Node) -> str:
        """The address of the memory of a node."""
        node = self.group.memory.get(node, node)
        if node in self.given:
            return f"x{node.id}.ctypes.data"
        return f"p[{self._place(node)}]"

    def _place(self, node: Node) -> int:
        """At which place of the addresses that of a node is."""
        if node not in self.addressed:
            self.addressed.append(node)
        return self.addressed.index(node) + 2

    def _element(self, place: Place, index: str = "") -> str:
        """An element in memory; truth is kept there as a byte."""
        kind = "u1" if place.dtype == TRUTH else TYPES[place.dtype]
        name = f"m{place.owner.id}_{kind}"
        self._pointers[name] = f"{name} = pointer({self._address(place.owner)}, {kind})"
        return f"{name}[{index or place.text()}]"

    def _load(self, place: Place, index: str = "") -> str:
        element = self._element(place, index)
        return f"({element} != 0)" if place.dtype == TRUTH else element

    def _store(self, place: Place, value: str, index: str = "") -> str:
        value = f"u1({value})" if place.dtype == TRUTH else value
        return f"{self._element(place, index)} = {value}"

    def _scalar(self, operand: Operand) -> str:
        """A number, or what is one."""
        value, dtype = operand
        if isinstance(value, Place):
            return _converted(self._load(value), value.dtype, dtype)
        return _literal(value, dtype)

    # ------------------------------------------------------------ products

    def _product(self, node: Node, product: Product) -> None:
        """BLAS's matrices lie column by column, where ours are their transposes: Cᵀ = Bᵀ Aᵀ."""
        m, n, k = product.sizes
        routine = "p[0]" if node.dtype == np.float32 else "p[1]"
        matrices = (product.b, product.a)
        turns = [str(ord("T" if each.turned else "N")) for each in matrices]
        starts = [
            f"{self._address(x.place.owner)} + {x.place.offset * node.dtype.itemsize}" for x in matrices
        ]
        factors = [f"{start}, {each.width}" for start, each in zip(starts, matrices)]
        if product.base is not None and node not in self.group.memory:
            old, new = [Place(each, node.dtype, 0, 1, 0) for each in (product.base, node)]
            self._body += [f"for i in range({m * n}):", f"    {self._store(new, self._load(old))}"]
        kind = TYPES[node.dtype]
        alpha = " * ".join([f"{kind}({product.sign})", *map(self._scalar, product.scale)])
        beta = f"{kind}({int(product.base is not None)})"
        numbers = [*turns, str(n), str(m), str(k), alpha, *factors, beta, self._address(node), str(n)]
        self._body.append(f"gemm({routine}, ({', '.join(numbers)}))")

    # ------------------------------------------------------------ loops

    def _loop(self, nodes: list[Node]) -> None:
        """A loop over rows and columns: what is read is loaded first, what is kept is stored last."""
        self._nodes, self._loaded = nodes, dict[Place, str]()
        self._before, self._start, self._inner = list[str](), list[str](), list[str]()
        self._stores, self._end, self._after = list[str](), list[str](), list[str]()
        rows, columns = self.group.work[nodes[0]].size  # type: ignore[union-attr]
        for node in nodes:
            call = self.group.work[node]
            assert isinstance(call, Call)
            read = [self._read(each) for each in call.operands]
            if call.row is not None:
                read = [self._selected(call.row, f"k{node.id}", read[0], node.args[0].shape[-1])]
            value = call.form.format(*read)
            if call.result is None:
                self._inner += [f"if not {value}:", STOP]
                continue
            if call.combine:
                self._reduce(node, call.result, call.combine, value)
                continue
            self._inner.append(f"v{node.id} = {TYPES[node.dtype]}({value})")
            if node in self.group.stored:
                self._stores.append(self._store(call.result, f"v{node.id}"))
        inner = [*self._inner, *self._stores]
        if columns > 1:
            inner = [f"for j in range({columns}):", *_indented(inner)]
        row = [*self._start, *inner, *self._end]
        self._body += [*self._before, f"for i in range({rows}):", *_indented(row), *self._after]

    def _read(self, operand: Operand) -> str:
        """An operand, converted; what this loop computes is in a variable."""
        place, dtype = operand
        if not isinstance(place, Place):
            return _literal(place, dtype)
        if place.owner in self._nodes:
            return _converted(f"v{place.owner.id}", place.dtype, dtype)
        if place not in self._loaded:
            self._loaded[place] = name = f"r{place.owner.id}_{len(self._loaded)}"
            outside = self._start if place.down else self._before
            lines = self._inner if place.across else outside
            lines.append(f"{name} = {self._load(place)}")
        return _converted(self._loaded[place], place.dtype, dtype)

    def _selected(self, row: Place, name: str, index: str, size: int) -> str:
        """The element of a row at an index, which counts from the end if it is negative."""
        self._inner += [f"{name} = {index}", f"if {name} < 0:", f"    {name} += {size}"]
        self._inner += [f"if {name} < 0 or {name} >= {size}:", STOP]
        return self._load(row, f"{row._replace(across=0).text()} + {name} * {row.across}")

    def _reduce(self, node: Node, result: Place, combine: str, value: str) -> None:
        """Take an element into a sum, a maximum or the like: of a row, of all, or of what memory holds."""
        kind, total, element = TYPES[node.dtype], f"a{node.id}", f"e{node.id}"
        is_sum = combine == "add" and node.dtype.kind == "f"
        first = _literal(neutral(combine, node.dtype), node.dtype)
        form = (LOGICAL if node.dtype == TRUTH else FORMS)[combine]
        if result.across:
            self._before += [f"for i in range({node.value.size}):"]
            self._before += [f"    {self._store(result, first, 'i')}"]
            self._inner.append(f"{element} = {kind}({value})")
            combined = form.format(f"{self._load(result)}", element)
            self._stores.append(self._store(result, f"{kind}({combined})"))
            return
        before, after = (self._start, self._end) if result.down else (self._before, self._after)
        wide = "f8" if is_sum else kind  # long sums of float32 would round too often
        before.append(f"{total} = {wide}({first})")
        self._inner.append(f"{element} = {wide}({value})")
        combined = f"plus({total}, {element})" if is_sum else form.format(total, element)
        self._inner.append(f"{total} = {combined}")
        after.append(self._store(result, f"{kind}({total})"))


def _literal(value: Any, dtype: np.dtype[Any]) -> str:
    if dtype.kind == "f":
        return f"{TYPES[dtype]}({float(value)!r})"
    return repr(bool(value)) if dtype == TRUTH else f"{TYPES[dtype]}({int(value)})"


def _converted(text: str, dtype: np.dtype[Any], to: np.dtype[Any]) -> str:
    if dtype == to:
        return text
    return f"({text} != 0)" if to == TRUTH else f"{TYPES[to]}({text})"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
