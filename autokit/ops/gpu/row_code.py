"""CUDA's C for what :mod:`autokit.ops.gpu.rows` runs: a function's lines, written down one after the other.

The function is called with :class:`Value` in place of arrays; each operation on
these adds a line.  What is one for each row is found once, what each element has
of its own in each loop that needs it: to read an element again and to compute
what comes of it costs less than to keep it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autokit.ops.gpu.many import COMMON_FORMS, CONDITIONS

Operand = tuple[np.dtype, bool] | type[float] | None
"""An array's dtype, and whether it varies along a row; float for a number, None for one that is absent."""


STORED = {
    np.dtype(kind): name
    for kind, name in (
        *(("e", "__half"), ("f", "float"), ("d", "double"), ("?", "bool")),
        *(("i", "int"), ("q", "long long"), ("Q", "unsigned long long")),
    )
}
"""The type in C of the elements of each dtype."""

_KINDS = {"f": "real", "b": "bool", "i": "whole", "u": "natural"}
"""In which type of C is computed with the elements of each kind of dtypes."""

FORMS = COMMON_FORMS | {"exp": "exponential({})", "log": "logarithm({})"}
"""The C of each ufunc."""


class Value(NDArrayOperatorsMixin):
    """An operand, or what comes of some, while a function is written down.

    ``varies`` says whether each element of a row has one of its own, ``after``
    how many times the row must have been gone through before it is known.
    """

    __slots__ = ("after", "dtype", "lines", "name", "varies")

    def __init__(self, lines: Lines, name: str, dtype: np.dtype, varies: bool, after: int) -> None:
        self.lines, self.name, self.dtype = lines, name, dtype
        self.varies, self.after = varies, after

    kind = property(lambda self: _KINDS[self.dtype.kind])
    size = 1  # a kernel runs where there are elements

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        form = FORMS.get(ufunc.__name__)
        if method != "__call__" or settings or form is None:
            raise TypeError(f"{ufunc.__name__} cannot be written into a kernel for rows")
        dtype = _dtype_of(inputs)
        made = np.dtype(bool) if ufunc.__name__ in CONDITIONS else dtype
        return self.lines.said(form, inputs, _KINDS[dtype.kind], made)

    def __array_function__(self, function: Any, types: Any, arguments: Any, settings: Any) -> Any:
        if function is not np.where or settings:
            raise TypeError(f"{function.__name__} cannot be written into a kernel for rows")
        condition, *others = arguments
        dtype = _dtype_of(others)
        first, second = (_text(each, _KINDS[dtype.kind]) for each in others)
        return self.lines.said(f"{{}} ? {first} : {second}", (condition,), "bool", dtype, others)

    def astype(self, dtype: Any, copy: bool = True) -> Value:
        dtype = np.dtype(dtype)
        if dtype.kind == self.dtype.kind == "f":  # computed in one type, whatever they are kept in
            return Value(self.lines, self.name, dtype, self.varies, self.after)
        return self.lines.said(f"{_KINDS[dtype.kind]}({{}})", (self,), self.kind, dtype)

    def sum(self, axis: Any, keepdims: bool = False) -> Value:
        return self.lines.gathered("sum", self, axis, keepdims)

    def max(self, axis: Any, keepdims: bool = False) -> Value:
        return self.lines.gathered("largest", self, axis, keepdims)

    def mean(self, axis: Any, keepdims: bool = False) -> Value:
        return self.sum(axis, keepdims) / self.lines.length


def _dtype_of(inputs: Iterable[Any]) -> np.dtype:
    """The dtype of what comes of values and Python's numbers, as NumPy has it."""
    return np.result_type(*[each.dtype if isinstance(each, Value) else each for each in inputs])


def _text(value: Any, kind: str) -> str:
    if isinstance(value, Value):
        return value.name if value.kind == kind else f"{kind}({value.name})"
    if kind == "real" and not np.isfinite(value):
        return {"inf": "-table.least", "-inf": "table.least"}.get(
            str(float(value)), "(table.least - table.least)"
        )
    return f"{kind}({float(value) if kind == 'real' else int(value)!r})"


class Lines:
    """What a function does with its operands, line by line."""

    def __init__(
        self,
        function: Callable[..., Any],
        operands: tuple[Operand, ...],
        fixed: dict[str, Any],
    ) -> None:
        self.function, self.fixed = function, fixed
        self.statements: list[tuple[Value, str, tuple[Value, ...]]] = []
        self.sums: list[tuple[Value, str, Value]] = []
        arrays = [each for each in operands if isinstance(each, tuple)]
        self.stored = [STORED[dtype] for dtype, _ in arrays]
        is_double = any(dtype == np.float64 for dtype, _ in arrays)
        self.real = np.dtype(np.float64 if is_double else np.float32)
        self.loads: list[Value] = []
        self.numbers = 0
        self.length = self._number("real(table.length)")
        given = [self._given(each) for each in operands]
        made = function(*given, **fixed)
        self.several = isinstance(made, tuple)
        self.outputs: list[Value | None] = list(made) if isinstance(made, tuple) else [made]
        self.stored += [STORED[each.dtype] for each in self.outputs if each is not None]

    def _given(self, operand: Operand) -> Value | None:
        if operand is None:
            return None
        if not isinstance(operand, tuple):
            self.numbers += 1
            return self._number(f"table.numbers[{self.numbers - 1}]")
        value = Value(self, f"a{len(self.loads)}", operand[0], operand[1], 0)
        self.loads.append(value)
        return value

    def _number(self, name: str) -> Value:
        return Value(self, name, np.dtype(np.float16), False, 0)  # a dtype that yields to all others

    def said(
        self, form: str, inputs: Iterable[Any], kind: str, dtype: np.dtype, others: Iterable[Any] = ()
    ) -> Value:
        """The value of ``form``, of inputs taken as ``kind``; ``others`` stand in it already."""
        text = form.format(*[_text(each, kind) for each in inputs])
        needed = tuple([each for each in (*inputs, *others) if isinstance(each, Value)])
        return self._add(text, needed, dtype, any(each.varies for each in needed), 0)

    def gathered(self, how: str, value: Value, axis: Any, keepdims: bool) -> Value:
        """The sum or the largest element along a row."""
        if axis != self.fixed["axes"] or not keepdims:
            raise TypeError("a kernel for rows adds up along all of `axes`, with keepdims=True")
        made = Value(self, f"v{len(self.statements)}", value.dtype, False, value.after + 1)
        self.statements.append((made, "", (value,)))
        self.sums.append((made, how, value))
        return made

    def _add(self, text: str, needed: tuple[Value, ...], dtype: np.dtype, varies: bool, after: int) -> Value:
        after = max([each.after for each in needed], default=after)
        made = Value(self, f"v{len(self.statements)}", dtype, varies, after)
        self.statements.append((made, f"const {made.kind} {made.name} = {text};", needed))
        return made

    # ------------------------------------------------------------ the text

    def source(self, name: str, threads: int, wide: bool, nested: bool) -> tuple[str, np.dtype]:
        """CUDA's C, and the table that it takes.

        A block has ``threads``; ``wide`` is for offsets of 64 bits, ``nested`` for elements in two loops.
        """
        self.nested = nested
        outputs = [each for each in self.outputs if each is not None]
        body = [
            f"{stored}* p{place} = ({stored}*)table.arrays[{place}]"
            f" + outer * table.steps[{place}][0] + inner * table.steps[{place}][1];"
            for place, stored in enumerate(self.stored)
        ]
        body += [
            f"const {each.kind} {each.name} = {self._read(each, '0')};"
            for each in self.loads
            if not each.varies
        ]
        body += self._of_rows(0)
        for turn in range(1, 1 + max([made.after for made, _, _ in self.sums], default=0)):
            body += self._turn(turn)
            body += self._of_rows(turn)
        ends = [(len(self.loads) + place, each) for place, each in enumerate(outputs)]
        varying = [(place, each) for place, each in ends if each.varies]
        if varying:
            writes = [f"p{place}[{self._at(place)}] = {each.name};" for place, each in varying]
            body += self._loop([each for _, each in varying], writes)
        body += [f"if (there && !lane) p{place}[0] = {each.name};" for place, each in ends if not each.varies]
        body = _used(body)
        offset, real = np.dtype(np.int64 if wide else np.int32), self.real
        code = _CODE.format(
            include="#include <cuda_fp16.h>" if "__half" in self.stored else "",
            real="double" if real == np.float64 else "float",
            offset="long long" if wide else "int",
            count=len(self.stored),
            numbers=max(self.numbers, 1),
            name=name,
            shared=f"    __shared__ natural shared[{threads}];\n" if self.sums else "",
            body="\n".join(f"    {line}" for line in body),
        )
        fields = [
            ("arrays", np.uint64, (len(self.stored),)),
            ("steps", offset, (len(self.stored), 4)),
            *((each, offset) for each in ("rows", "inner", "length", "near")),
            *((each, np.int32) for each in ("lanes", "across", "along")),
            ("least", real),
            ("numbers", real, (max(self.numbers, 1),)),
        ]
        return code, np.dtype(fields, align=True)

    def _at(self, place: int) -> str:
        if self.nested:
            return f"i / table.near * table.steps[{place}][2] + i % table.near * table.steps[{place}][3]"
        return f"i * table.steps[{place}][3]"

    def _read(self, value: Value, at: str) -> str:
        return f"{value.kind}(p{value.name[1:]}[{at}])"

    def _of_rows(self, turn: int) -> list[str]:
        """What is known of the row as a whole after it was gone through so many times."""
        return [text for made, text, _ in self.statements if text and not made.varies and made.after == turn]

    def _turn(self, turn: int) -> list[str]:
        sums = [each for each in self.sums if each[0].after == turn]
        starts = [
            f"{made.kind} s{made.name} = {'0' if how == 'sum' or made.kind != 'real' else 'table.least'};"
            for made, how, _ in sums
        ]
        adds = [f"s{made.name} = {how}_of(s{made.name}, {value.name});" for made, how, value in sums]
        ends = [
            f"const {made.kind} {made.name} = together(s{made.name}, {how.title()}(), shared, lane, lanes,"
            " table.along ? 1 : table.across);"
            for made, how, _ in sums
        ]
        return [*starts, *self._loop([value for _, _, value in sums], adds), *ends]

    def _loop(self, wanted: list[Value], ends: list[str]) -> list[str]:
        """The lines that find ``wanted`` for each element of the row."""
        names = {each.name for each in wanted}
        found = []
        for made, text, needed in reversed(self.statements):
            if made.name in names and made.varies:
                found.append(text)
                names |= {each.name for each in needed}
        loads = [
            f"const {each.kind} {each.name} = {self._read(each, self._at(place))};"
            for place, each in enumerate(self.loads)
            if each.varies and each.name in names
        ]
        inside = [f"    {line}" for line in (*loads, *reversed(found), *ends)]
        return ["if (there) for (offset i = lane; i < table.length; i += lanes) {", *inside, "}"]


def _used(body: list[str]) -> list[str]:
    """``body`` without what it finds of a row and never uses."""
    while True:
        words = Counter(re.findall(r"\w+", "\n".join(body)))
        kept = [line for line in body if not (found := _FINDS.match(line)) or words[found[1]] > 1]
        if len(kept) == len(body):
            return body
        body = kept


_FINDS = re.compile(r"(?:const \w+ |\w[\w ]*\* )(\w+) = ")

_CODE = """{include}
typedef {real} real;
typedef {offset} offset;
typedef long long whole;
typedef unsigned long long natural;

__device__ real square_root(real a) {{ return sqrt(a); }}
__device__ real exponential(real a) {{ return exp(a); }}
__device__ real logarithm(real a) {{ return log(a); }}
__device__ bool is_finite(real a) {{ return a - a == a - a; }}
__device__ bool is_not(bool a) {{ return !a; }}
template <class T> __device__ T sum_of(T a, T b) {{ return a + b; }}
template <class T> __device__ T largest_of(T a, T b) {{ return a >= b || a != a ? a : b; }}
struct Sum {{
    template <class T> __device__ T operator()(T a, T b) const {{ return sum_of(a, b); }}
}};
struct Largest {{
    template <class T> __device__ T operator()(T a, T b) const {{ return largest_of(a, b); }}
}};

template <class T, class Join>
__device__ T together(T value, Join join, natural* memory, int lane, int lanes, int step) {{
    T* shared = (T*)memory + threadIdx.x;  // the lanes of a row are ``step`` apart
    *shared = value;
    __syncthreads();
    for (int half = lanes / 2; half > 0; half /= 2) {{
        if (lane < half) *shared = join(*shared, shared[half * step]);
        __syncthreads();
    }}
    value = shared[-lane * step];
    __syncthreads();
    return value;
}}

struct Table {{
    unsigned long long arrays[{count}];
    offset steps[{count}][4];
    offset rows, inner, length, near;
    int lanes, across, along;
    real least, numbers[{numbers}];
}};

extern "C" __global__ void {name}(const Table table) {{
{shared}    const int lanes = table.lanes;
    const int lane = table.along ? threadIdx.x % lanes : threadIdx.x / table.across;
    const int beside = table.along ? threadIdx.x / lanes : threadIdx.x % table.across;
    const bool there = (offset)blockIdx.x * table.across + beside < table.rows;
    const offset row = there ? (offset)blockIdx.x * table.across + beside : 0;
    const offset outer = row / table.inner, inner = row % table.inner;
{body}
}}
"""
