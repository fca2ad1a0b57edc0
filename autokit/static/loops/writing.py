"""The text of a compiled function: what a group of calls is in the Python that Numba takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Node
from autokit.static.loops.elements import REDUCTIONS, TRUTH, TYPES, Call, Operand, neutral
from autokit.static.loops.frames import region_of
from autokit.static.loops.groups import Check, Group, Loop
from autokit.static.loops.products import Matrix, Product

HEAD = """from math import cos, erf, exp, expm1, inf, log, log1p, nan, sin, sqrt, tanh

from numpy import float32 as f4, float64 as f8, int64 as i8, uint8 as u1

from autokit.static.loops.blas import gemm, plus, pointer


"""
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
STOP = "return 1"


def written(group: Group, given: list[Node], name: str) -> tuple[str, list[Node]]:
    """The text of a module, and the nodes whose addresses its function takes, after the two of BLAS.

    The function takes the arrays that are ``given`` from outside and the addresses. It returns 0, or 1 where
    a check fails or an index is out of bounds.
    """
    writer = _Writer(group, given)
    writer.write()
    checks = [line for x in given for line in (f"if x{x.id}.size != {x.value.size}:", f"    {STOP}")]
    lines = [*checks, *writer.heads.values(), *writer.body, "return 0"]
    parameters = ", ".join([*[f"x{node.id}" for node in given], "p"])
    text = "\n".join([f"def {name}({parameters}):", *_indented(lines)])
    return f"{HEAD}{text}\n", writer.addressed


class _Writer:
    """The lines of a function.

    Attributes
    ----------
    heads : dict
        For each node in memory the line that makes a pointer of its address.
    before, start, inner, end, after : list of str
        Of the loop that is being written: the lines before it, those before, in and after the columns of a
        pass, and the lines after it.
    """

    def __init__(self, group: Group, given: list[Node]) -> None:
        self.group, self.given = group, given
        self.addressed: list[Node] = []
        self.heads: dict[Node, str] = {}
        self.body: list[str] = []
        self.loop = Loop(0)

    def write(self) -> None:
        """Write all items of the group."""
        for item in self.group.items:
            if isinstance(item, Loop):
                self._loop(item)
                continue
            work = self.group.work[item]
            if isinstance(work, Product):
                self._product(item, work)
            elif isinstance(work, Check):
                self.body += [f"if not {self._scalar(work.condition, TRUTH)}:", f"    {STOP}"]

    # ------------------------------------------------------------ memory

    def _address(self, node: Node, offset: int = 0) -> str:
        """The address of an element."""
        while node in self.group.memory:
            node = self.group.memory[node]
        if node in self.given:
            address = f"x{node.id}.ctypes.data"
        else:
            if node not in self.addressed:
                self.addressed.append(node)
            address = f"p[{self.addressed.index(node) + 2}]"
        return f"{address} + {offset * node.value.itemsize}" if offset else address

    def _load(self, node: Node, index: str) -> str:
        """An element in memory."""
        truth = node.dtype == TRUTH
        name = f"m{node.id}"
        if node not in self.heads:
            kind = "u1" if truth else TYPES[node.dtype]  # type: ignore[index]
            self.heads[node] = f"{name} = pointer({self._address(node)}, {kind})"
        return f"({name}[{index}] != 0)" if truth else f"{name}[{index}]"

    def _store(self, node: Node, index: str, value: str) -> str:
        """The line that writes an element."""
        place = self._load(node, index)
        return f"m{node.id}[{index}] = u1({value})" if node.dtype == TRUTH else f"{place} = {value}"

    def _scalar(self, value: Any, dtype: np.dtype[Any]) -> str:
        """A number, or a node that is one."""
        if not isinstance(value, Node):
            return _literal(value, dtype)
        region = region_of(value)
        assert region is not None
        return _converted(self._load(region.owner, str(region.offset)), value.dtype, dtype)

    # ------------------------------------------------------------ calls by themselves

    def _product(self, node: Node, product: Product) -> None:
        """BLAS's matrices lie column by column, where ours are their transposes: Cᵀ = Bᵀ Aᵀ."""
        m, n, k = product.sizes
        routine = "p[0]" if node.dtype == FLOAT32 else "p[1]"
        turns = ", ".join([str(ord("T" if each.turned else "N")) for each in (product.b, product.a)])
        a, b = [self._matrix(each) for each in (product.a, product.b)]
        alpha, beta = [
            " * ".join([self._scalar(each, np.dtype(node.dtype)) for each in scale])
            for scale in (product.alpha, product.beta)
        ]
        sizes, result = f"{n}, {m}, {k}", self._address(node)
        if product.base and node not in self.group.memory:
            copy = self._store(node, "i", self._load(product.base, "i"))
            self.body += [f"for i in range({node.value.size}):", f"    {copy}"]
        self.body.append(f"gemm({routine}, {turns}, {sizes}, {alpha}, {b}, {a}, {beta}, {result}, {n})")

    def _matrix(self, matrix: Matrix) -> str:
        return f"{self._address(matrix.region.owner, matrix.region.offset)}, {matrix.width}"

    # ------------------------------------------------------------ loops

    def _loop(self, loop: Loop) -> None:
        self.loop = loop
        self.before, self.after = list[str](), list[str]()
        self.hoisted = set[Node]()
        rows: list[str] = []
        for columns, nodes in loop.passes:
            self.start, self.inner, self.end = list[str](), list[str](), list[str]()
            for node in nodes:
                self._call(node)
            inner = [f"for j in range({columns}):", *_indented(self.inner)] if columns > 1 else self.inner
            rows += [*self.start, *inner, *self.end]
        self.body += [*self.before, f"for i in range({loop.rows}):", *_indented(rows), *self.after]

    def _call(self, node: Node) -> None:
        """An element of a call."""
        call = self.group.work[node]
        assert isinstance(call, Call)
        kind = TYPES[node.dtype]  # type: ignore[index]
        base = self._index(call)
        read = [self._read(each, node, base) for each in call.operands]
        value = call.form.format(*[self._named(node, k, text, call.form) for k, text in enumerate(read)])
        if call.combine:
            self._reduce(node, call, value)
            return
        self.inner.append(f"v{node.id} = {kind}({value})")
        if node in self.group.stored:
            index = call.result.text(self.loop.rows)
            self.inner.append(self._store(node, index, f"v{node.id}"))
        elif self._is_read_in_later_pass(node):
            self.inner.append(self._store(node, "j", f"v{node.id}"))

    def _named(self, node: Node, number: int, text: str, form: str) -> str:
        """An operand, by a name where the form chooses: LLVM reads no memory that may not be needed."""
        if " if " not in form or "[" not in text:
            return text
        self.inner.append(f"x{node.id}_{number} = {text}")
        return f"x{node.id}_{number}"

    def _index(self, call: Call) -> str:
        """Compute where in memory an index leads; what is to be added to the place of an element."""
        names = []
        for number, (operand, size, stride) in enumerate(call.indices):
            name = f"k{call.node.id}_{number}"
            names.append(f" + {name}" if stride == 1 else f" + {name} * {stride}")
            self.inner += [
                f"{name} = {self._read(operand, call.node)}",
                f"if {name} < 0:",
                f"    {name} += {size}",
                f"if {name} < 0 or {name} >= {size}:",
                f"    {STOP}",
            ]
        return "".join(names)

    def _is_read_in_later_pass(self, node: Node) -> bool:
        place = self.loop.place
        readers = [each for each in place if node in self.group.work[each].owners()]
        return self.group.work[node].width > 1 and any([place[each] > place[node] for each in readers])  # type: ignore[union-attr]

    def _read(self, operand: Operand, reader: Node, base: str = "") -> str:
        """An operand, converted to the dtype in which is computed; ``base`` is where an index leads."""
        if operand.region is None or operand.access is None:
            return _literal(operand.value, operand.dtype)
        owner, place = operand.region.owner, self.loop.place
        if owner.kind == "const" and owner.value.size == 1:
            return _literal(owner.value.item(), operand.dtype)
        index = operand.access.text(self.loop.rows) + base
        if owner in place and not base:
            call = self.group.work[owner]
            if call.width == 1 or place[owner] == place[reader]:  # type: ignore[union-attr]
                return _converted(f"v{owner.id}", owner.dtype, operand.dtype)
        if owner in place and owner not in self.group.stored:
            index = operand.access.text(self.loop.rows, in_row=True) + base
        if owner.value.size > 1 or owner in place:
            return _converted(self._load(owner, index), owner.dtype, operand.dtype)
        if owner not in self.hoisted:
            self.hoisted.add(owner)
            self.before.append(f"h{owner.id} = {self._load(owner, '0')}")
        return _converted(f"h{owner.id}", owner.dtype, operand.dtype)

    # ------------------------------------------------------------ reductions

    def _reduce(self, node: Node, call: Call, value: str) -> None:
        """Take an element into a sum, a maximum or the like: of a row, of all, or of what memory holds."""
        dtype = np.dtype(node.dtype)
        kind, total, element = TYPES[dtype], f"a{node.id}", f"e{node.id}"
        sums = call.combine == "add" and dtype.kind == "f"
        wide = "f8" if sums else kind  # long sums of float32 would round too often
        first = _literal(neutral(call.combine, dtype), dtype)
        taken = f"plus({total}, {element})" if sums else REDUCTIONS[call.combine].format(total, element)
        index = call.result.text(self.loop.rows)
        if not call.result.step and (call.frame.columns > 1 or not call.result.rows):
            self.inner += [f"{element} = {wide}({value})", f"{total} = {taken}"]
            if not call.result.rows:
                self.before.append(f"{total} = {wide}({first})")
                self.after.append(self._store(node, "0", f"{kind}({total})"))
                return
            self.start.append(f"{total} = {wide}({first})")
            lines, value = self.end, total
        else:
            lines = self.inner
        if call.ends_with_row():
            lines.append(f"v{node.id} = {kind}({value})")
            lines += [self._store(node, index, f"v{node.id}")] if node in self.group.stored else []
            return
        self.before += [f"for i in range({node.value.size}):", f"    {self._store(node, 'i', first)}"]
        part = f"b{node.id}"
        lines.append(f"{part} = {kind}({value})")
        taken = REDUCTIONS[call.combine].format(self._load(node, index), part)
        lines.append(self._store(node, index, f"{kind}({taken})"))


def _literal(value: Any, dtype: np.dtype[Any]) -> str:
    if dtype.kind == "f":
        return f"{TYPES[dtype]}({float(value)!r})"
    return repr(bool(value)) if dtype == TRUTH else f"i8({int(value)})"


def _converted(text: str, dtype: Any, to: np.dtype[Any]) -> str:
    if dtype == to:
        return text
    return f"({text} != 0)" if to == TRUTH else f"{TYPES[to]}({text})"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
