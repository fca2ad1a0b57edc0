"""One kernel for rows on a GPU: a formula's own lines, with sums or largest elements of each row in between.

The softmax of a row needs its largest element, then the sum of all exponentials
beside it; a normalization needs the mean, then the variance.  Each of these as a
kernel of its own reads all elements again, and costs a launch.
:func:`over_rows` writes CUDA's C from the lines of a function, by calling it
with :class:`Value` in place of arrays.  Some threads share a row: each goes
through its part of the elements once for each sum that waits for the sum before,
they add up what they found, and go on.  The function's lines stay as they are,
and are what computes on the CPU too.

What can be written: the ufuncs of :data:`_FORMS`, operators, ``np.where``,
``astype``, and the methods ``sum``, ``mean`` and ``max`` with ``axis=axes,
keepdims=True``.  No shapes, no indices, no changes in place, no branch on a
value: ``None`` stands for an operand that is absent.  A row is what lies along
``axes``, however many these are and wherever it lies in memory; where that takes
more than two steps each way, or for other dtypes, the lines compute call by call.

References
----------
"Raw kernels", in CuPy's user guide.
M. Harris, "Optimizing parallel reduction in CUDA", 2007.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, wraps
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autokit.current_gpu import SEVERAL, on_its_gpu
from autokit.devices import module_of, on_a_gpu
from autokit.thread_state import UNUSUAL

ROWS: dict[str, Callable[..., Any]] = {}
"""What can be written, under its file's name and its own; for the tests."""

THREADS = 256
"""How many threads a block has at most: a power of 2."""

_LONG, _FEW = 1 << 16, 4
"""Fewer rows than that, if they are longer, would leave most of a GPU idle: CuPy's own sums are quicker."""

_BESIDE = 8
"""How many rows beside each other in memory a block takes: their elements fill what is read at once."""


def over_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arrays that broadcast, as one kernel where its first argument is on a GPU.

    Parameters
    ----------
    function : callable
        Of what the head of this file lists.  Its positional arguments are
        arrays of as many dimensions, floats that change from call to call, or
        None; ``axes``, a tuple, and the other arguments by keyword are fixed:
        for each of their values a kernel is compiled.  The first array is as
        large as all together.  It returns arrays of that shape, or of that with
        1 along ``axes``, and None: one, or a tuple of them.

    Returns
    -------
    callable
        The same for arrays on the CPU, of samples, for tensors, and on a GPU.
        With ``keepdims=False``, what there is one of for each row is without ``axes``.
    """
    ROWS[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] = function

    @wraps(function)
    def run(*arrays: Any, keepdims: bool = True, **fixed: Any) -> Any:
        first = arrays[0]
        layout = None
        if first.__class__ is not np.ndarray and on_a_gpu(first):
            layout = _layout(
                tuple([_described(each) for each in arrays]),
                _places(fixed["axes"], first.ndim),
            )
        if layout is None:
            made = function(*arrays, **fixed)
            return made if keepdims else _dropped(made, fixed["axes"])
        launch = _written(module_of(first), function, layout.operands, tuple(fixed.items())).launch
        if SEVERAL in UNUSUAL:
            launch = on_its_gpu(launch, arrays)
        return launch(arrays, layout, keepdims)

    return run


def _places(axes: int | tuple[int, ...], ndim: int) -> tuple[int, ...]:
    return tuple([axis % ndim for axis in (axes if isinstance(axes, tuple) else (axes,))]) if ndim else ()


def _described(value: Any) -> Any:
    """What of an operand chooses the kernel."""
    if value is None:
        return None
    return float if value.__class__ is float else (value.dtype, value.shape)


def _dropped(made: Any, axes: tuple[int, ...]) -> Any:
    several = made if isinstance(made, tuple) else (made,)
    found = tuple([each if each is None else each.squeeze(axes) for each in several])
    return found if isinstance(made, tuple) else found[0]


Operand = tuple[np.dtype, bool] | type[float] | None
"""An array's dtype, and whether it varies along a row; float for a number, None for one that is absent."""


class Layout(NamedTuple):
    """What operands of some dtypes and shapes are together, and the shape of one number for each row."""

    operands: tuple[Operand, ...]
    shape: tuple[int, ...]
    of_rows: tuple[int, ...]
    axes: tuple[int, ...]


@lru_cache(maxsize=1024)
def _layout(described: tuple[Any, ...], axes: tuple[int, ...]) -> Layout | None:
    """The layout of operands as ``(dtype, shape)``, float or None; None where their lines compute."""
    arrays = [each for each in described if each.__class__ is tuple]
    if any(dtype not in _STORED for dtype, _ in arrays) or len({len(shape) for _, shape in arrays}) > 1:
        return None
    shape = arrays[0][1]
    if not all(shape) or not axes or np.broadcast_shapes(*(each[1] for each in arrays)) != shape:
        return None
    length = math.prod([shape[axis] for axis in axes])
    if length > _LONG and math.prod(shape) < _FEW * length:
        return None
    operands = tuple(
        [
            (each[0], any([each[1][axis] > 1 for axis in axes])) if each.__class__ is tuple else each
            for each in described
        ]
    )
    of_rows = tuple([1 if place in axes else size for place, size in enumerate(shape)])
    return Layout(operands, shape, of_rows, axes)


class Steps(NamedTuple):
    """What a kernel goes through: rows and elements, each in two loops, and each operand's step in each."""

    counts: tuple[int, int, int, int]
    steps: tuple[tuple[int, int, int, int], ...]


@lru_cache(maxsize=1024)
def _steps(
    shape: tuple[int, ...], axes: tuple[int, ...], described: tuple[tuple[Any, Any, int], ...]
) -> Steps | None:
    """The steps of operands given by shape, strides and the bytes of an element; None where two do not do."""
    every = [
        [0 if own == 1 else stride // size for own, stride in zip(its, strides)]
        for its, strides, size in described
    ]
    halves = []
    for places in ([place for place in range(len(shape)) if place not in axes], sorted(axes)):
        merged: list[tuple[int, list[int]]] = []
        for place in places:
            size, steps = shape[place], [each[place] for each in every]
            if size == 1:
                continue
            if merged and merged[-1][1] == [step * size for step in steps]:
                merged[-1] = merged[-1][0] * size, steps
            else:
                merged.append((size, steps))
        if len(merged) > 2:
            return None
        halves += [(1, [0] * len(every))] * (2 - len(merged)) + merged
    counts: Any = tuple([size for size, _ in halves])
    return Steps(counts, tuple(zip(*(steps for _, steps in halves))))  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _written(*key: Any) -> Written:
    return Written(*key)


class Written:
    """A function as kernels for operands of some dtypes."""

    def __init__(
        self,
        module: Any,
        function: Callable[..., Any],
        operands: tuple[Operand, ...],
        fixed: tuple[Any, ...],
    ) -> None:
        self.module = module
        self.name = function.__name__.strip("_")
        self.lines = Lines(function, operands, dict(fixed))
        self.kernels: dict[Any, tuple[Any, np.dtype]] = {}

    def launch(self, operands: Sequence[Any], layout: Layout, keepdims: bool) -> Any:
        """Run it on the current GPU, which holds the arrays among ``operands``."""
        numbers = [each for each in operands if each.__class__ is float]
        arrays = [each for each in operands if each is not None and each.__class__ is not float]
        made = [self._empty(arrays[0], value, layout, keepdims) for value in self.lines.outputs]
        given = arrays + [
            each if value.varies else each.reshape(layout.of_rows)
            for each, value in zip(made, self.lines.outputs)
            if value is not None
        ]
        steps = _steps(
            layout.shape,
            layout.axes,
            tuple([(each.shape, each.strides, each.itemsize) for each in given]),
        )
        if steps is None:
            plain = self.lines.function(*operands, **self.lines.fixed)
            return plain if keepdims else _dropped(plain, layout.axes)
        outer, inner, far, near = steps.counts
        rows, length = outer * inner, far * near
        along, lanes = _lanes(length, steps)
        across = THREADS // lanes
        wide = max(rows, 1) * length >= 1 << 31 or any(
            abs(step) * count >= 1 << 31 for each in steps.steps for step, count in zip(each, steps.counts)
        )
        kernel, table = self._kernel(wide, far > 1)
        lists = np.zeros((), table)
        lists["arrays"] = [each.data.ptr for each in given]
        lists["steps"] = steps.steps
        lists["numbers"][: len(numbers)] = numbers
        for name, value in (
            *(("rows", rows), ("inner", inner), ("length", length), ("near", near), ("lanes", lanes)),
            *(("across", across), ("along", along), ("least", -np.inf)),
        ):
            lists[name] = value
        kernel((-(-rows // across),), (THREADS,), (lists,))
        return tuple(made) if self.lines.several else made[0]

    def _kernel(self, wide: bool, nested: bool) -> tuple[Any, np.dtype]:
        if (wide, nested) not in self.kernels:
            code, table = self.lines.source(self.name, wide, nested)
            self.kernels[wide, nested] = self.module.RawKernel(code, self.name), table
        return self.kernels[wide, nested]

    def _empty(self, first: Any, value: Value | None, layout: Layout, keepdims: bool) -> Any:
        if value is None:
            return None
        if value.varies:
            return np.empty_like(first, dtype=value.dtype)
        shape = layout.of_rows
        if not keepdims:
            shape = tuple([size for place, size in enumerate(shape) if place not in layout.axes])
        return self.module.empty(shape, value.dtype)


def _lanes(length: int, steps: Steps) -> tuple[bool, int]:
    """Whether threads beside each other take elements of one row, and how many share a row."""
    along = abs(steps.steps[0][3]) <= 1 or steps.counts[3] == 1 or abs(steps.steps[0][1]) != 1
    lanes = 1
    while lanes < min(length, THREADS if along else THREADS // _BESIDE):
        lanes *= 2
    return along, lanes


# ---------------------------------------------------------------- from a function's lines to C

_STORED = {
    np.dtype(kind): name
    for kind, name in (
        *(("e", "__half"), ("f", "float"), ("d", "double"), ("?", "bool")),
        *(("i", "int"), ("q", "long long"), ("Q", "unsigned long long")),
    )
}
"""The type in C of the elements of each dtype."""

_KINDS = {"f": "real", "b": "bool", "i": "whole", "u": "natural"}
"""In which type of C is computed with the elements of each kind of dtypes."""

_CONDITIONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
_CONDITIONS |= {"isfinite", "bitwise_and", "bitwise_or", "invert"}
_FORMS = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "negative": "-{}",
    "sqrt": "square_root({})",
    "exp": "exponential({})",
    "log": "logarithm({})",
    "less": "{} < {}",
    "less_equal": "{} <= {}",
    "greater": "{} > {}",
    "greater_equal": "{} >= {}",
    "equal": "{} == {}",
    "not_equal": "{} != {}",
    "isfinite": "is_finite({})",
    "bitwise_and": "{} & {}",
    "bitwise_or": "{} | {}",
    "invert": "is_not({})",
}
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

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        form = _FORMS.get(ufunc.__name__)
        if method != "__call__" or settings or form is None:
            raise TypeError(f"{ufunc.__name__} cannot be written into a kernel for rows")
        dtype = _dtype_of(inputs)
        made = np.dtype(bool) if ufunc.__name__ in _CONDITIONS else dtype
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
        self.stored = [_STORED[dtype] for dtype, _ in arrays]
        is_double = any(dtype == np.float64 for dtype, _ in arrays)
        self.real = np.dtype(np.float64 if is_double else np.float32)
        self.loads: list[Value] = []
        self.numbers = 0
        self.length = self._number("real(table.length)")
        given = [self._given(each) for each in operands]
        made = function(*given, **fixed)
        self.several = isinstance(made, tuple)
        self.outputs: list[Value | None] = list(made) if isinstance(made, tuple) else [made]
        self.stored += [_STORED[each.dtype] for each in self.outputs if each is not None]

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

    def source(self, name: str, wide: bool, nested: bool) -> tuple[str, np.dtype]:
        """CUDA's C, and the table that it takes.

        ``wide`` is for offsets of 64 bits, ``nested`` for elements in two loops.
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
            shared=f"    __shared__ natural shared[{THREADS}];\n" if self.sums else "",
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
