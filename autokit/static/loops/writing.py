"""The text of a compiled function: what a group of calls is in the Python that Numba takes."""

from __future__ import annotations

from autokit.static.graph import Node
from autokit.static.loops.elements import TRUTH, TYPES, Operand, Place, Work
from autokit.static.loops.schedule import Group

HEAD = """from math import cos, erf, exp, expm1, inf, log, log1p, nan, sin, sqrt, tanh

from numpy import float32 as f4, float64 as f8, int64 as i8, uint8 as u1, uint64 as u8

from autokit.static.loops.functions import exp_f4, gemm, plus, pointer, tanh_f4


"""
STOPPED, NEEDS_COPIES = 1, 2
STOP = f"    return {STOPPED}"


class Writer:
    """The text of a function of the arrays that a group is given, and an array of whole numbers.

    The function returns 0; or 1 where a check fails, an index is out of bounds or an array has another size;
    or 2 if an array lies in memory that it would write over.

    Attributes
    ----------
    text : str
    numbers : list of Node or int
        What the whole numbers are, after the two addresses of BLAS: a node stands for the address of its
        memory. Sizes are among them, as LLVM would write out all turns of a loop whose size it knows.
    """

    def __init__(self, group: Group, name: str) -> None:
        self.group = group
        self.numbers: list[Node | int] = []
        self._pointers: dict[str, str] = {}
        self._body: list[str] = []
        for item in group.items:
            work = group.work[item[0]]
            if work.factors:
                self._product(item[0], work)
            else:
                self._loop(item)
        lines = [*self._checks(), *self._pointers.values(), *self._body, "return 0"]
        parameters = ", ".join([*[f"x{node.id}" for node in group.given], "p"])
        self.text = "\n".join([f"{HEAD}def {name}({parameters}):", *_indented(lines)]) + "\n"

    def _checks(self) -> list[str]:
        """Stop where an array has another size; say so where it lies in memory that is written over."""
        written = [f"({self._address(each)}, {each.value.nbytes})" for each in self.group.memory.values()]
        lines, shared = [], []
        for node in self.group.given:
            name, size = f"x{node.id}", node.value.nbytes
            lines += [f"if {name}.size != {node.value.size}:", STOP, f"{name}_at = {name}.ctypes.data"]
            shared += [f"if {name}_at < other + size and other < {name}_at + {size}:"]
            shared += [f"    return {NEEDS_COPIES}"]
        if written and shared:
            lines += [f"for other, size in ({', '.join(written)},):", *_indented(shared)]
        return lines

    # ------------------------------------------------------------ memory

    def _number(self, what: Node | int) -> str:
        if what not in self.numbers:
            self.numbers.append(what)
        return f"p[{self.numbers.index(what) + 2}]"

    def _address(self, node: Node) -> str:
        """The address of the memory of a node."""
        node = self.group.memory.get(node, node)
        return f"x{node.id}_at" if node in self.group.given else self._number(node)

    def _element(self, place: Place, column: str = "j") -> str:
        """An element in memory; truth is kept there as a byte."""
        kind = "u1" if place.dtype == TRUTH else TYPES[place.dtype]
        name = f"m{place.owner.id}_{kind}"
        self._pointers[name] = f"{name} = pointer({self._address(place.owner)}, {kind})"
        terms = [f"{name} * {step}" for name, step in (("i", place.down), (column, place.across)) if step]
        return f"{name}[{' + '.join([*terms, str(place.offset)])}]"

    def _for(self, name: str, count: int, lines: list[str]) -> list[str]:
        return [f"for {name} in range({self._number(count)}):", *_indented(lines)] if count > 1 else lines

    # ------------------------------------------------------------ products

    def _product(self, node: Node, product: Work) -> None:
        """BLAS's matrices lie column by column, where ours are their transposes: Cᵀ = Bᵀ Aᵀ."""
        m, n, k = product.size
        kind, base = TYPES[node.dtype], product.base
        if base is not None and node not in self.group.memory:
            copy = f"{self._element(base._replace(owner=node))} = {self._element(base)}"
            self._body += self._for("i", m, self._for("j", n, [copy]))
        factors = product.factors[::-1]
        turns = [str(ord("T" if turned else "N")) for _, turned, _ in factors]
        starts = [f"{self._address(x.owner)} + {x.offset * x.dtype.itemsize}, {w}" for x, _, w in factors]
        scales = [self._element(each) if isinstance(each, Place) else each for each, _ in product.operands]
        alpha, beta = " * ".join([f"{kind}({each})" for each in scales]), f"{kind}({int(base is not None)})"
        numbers = [*turns, str(n), str(m), str(k), alpha, *starts, beta, self._address(node), str(n)]
        self._body.append(f"gemm({'p[0]' if kind == 'f4' else 'p[1]'}, ({', '.join(numbers)}))")

    # ------------------------------------------------------------ loops

    def _loop(self, nodes: list[Node]) -> None:
        """A loop over rows and columns: what is read is loaded first, what is kept is stored last."""
        self._names: dict[Place, str] = {}
        self._before, self._start, self._inner = list[str](), list[str](), list[str]()
        self._stores, self._end, self._after = list[str](), list[str](), list[str]()
        for node in nodes:
            self._call(node, self.group.work[node])
        rows, columns, *_ = self.group.work[nodes[0]].size
        row = [*self._start, *self._for("j", columns, [*self._inner, *self._stores]), *self._end]
        self._body += [*self._before, *self._for("i", rows, row), *self._after]

    def _call(self, node: Node, call: Work) -> None:
        read = [self._read(each) for each in call.operands]
        if call.row is not None:
            read = [self._selected(call.row, f"k{node.id}", read[0], node.args[0].shape[-1])]
        name, value = f"v{node.id}", call.form.format(*read)
        if call.result is None:
            self._inner += [f"if not {value}:", STOP]
        elif call.combine:
            self._reduce(call, call.result, name, value)
        else:
            self._names[call.result] = name
            self._inner.append(f"{name} = {TYPES[node.dtype]}({value})")
            if node in self.group.stored:
                self._stores.append(f"{self._element(call.result)} = {name}")

    def _read(self, operand: Operand) -> str:
        """An operand; what this loop loaded or computed is in a variable."""
        value, dtype = operand
        if not isinstance(value, Place):
            return f"{TYPES[dtype]}({value})"
        if value not in self._names:
            name = self._names[value] = f"r{value.owner.id}_{len(self._names)}"
            lines = self._inner if value.across else self._start if value.down else self._before
            lines.append(f"{name} = {self._element(value)}")
        return self._names[value] if value.dtype == dtype else f"{TYPES[dtype]}({self._names[value]})"

    def _selected(self, row: Place, name: str, index: str, size: int) -> str:
        """The element of a row at an index, which counts from the end if it is negative."""
        self._inner += [f"{name} = {index}", f"if {name} < 0:", f"    {name} += {size}"]
        self._inner += [f"if {name} < 0 or {name} >= {size}:", STOP]
        return self._element(row, name)

    def _reduce(self, call: Work, result: Place, total: str, value: str) -> None:
        """Take an element into a sum, a maximum or the like: of a row, of all, or of what memory holds."""
        kind = TYPES[result.dtype]
        if result.across:
            memory = self._element(result)
            self._before += self._for("j", call.size[1], [f"{memory} = {kind}({call.first})"])
            self._inner.append(f"{total} = {kind}({value})")
            self._stores.append(f"{memory} = {kind}({call.combine.format(f'{kind}({memory})', total)})")
            return
        before, after = (self._start, self._end) if result.down else (self._before, self._after)
        is_sum = call.combine == "{0} + {1}" and result.dtype.kind == "f"
        wide = "f8" if is_sum else kind  # long sums of float32 would round too often
        before.append(f"{total} = {wide}({call.first})")
        self._inner.append(f"e{total} = {wide}({value})")
        combined = f"plus({total}, e{total})" if is_sum else call.combine.format(total, f"e{total}")
        self._inner.append(f"{total} = {wide}({combined})")
        after.append(f"{self._element(result)} = {kind}({total})")


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
