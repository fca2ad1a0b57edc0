"""One kernel for many arrays on a GPU: a formula's own lines, run over the elements of all of them at once.

A model has many parameters, most of them small, and an optimizer does the same
to each: to launch a kernel for each one costs more than what it computes.
:func:`over_many` writes CUDA's C from the lines of a function, by calling it
with :class:`Element` in place of arrays.  The kernel is told where the arrays
are by value, in a table; each of its blocks finds its array there, and its part
of the elements.  The function's lines stay as they are, and are what computes
on the CPU too.

What can be written: the ufuncs of :data:`_FORMS`, operators, ``np.where``,
``copy``, and changes in place.  No shapes, no indices, no branch on a value:
``None`` stands for an operand that is absent.

References
----------
"Raw kernels", in CuPy's user guide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autokit.devices import contiguous, module_of, on_a_gpu

MANY: dict[str, Callable[..., Any]] = {}
"""What can be written, under its file's name and its own; for the tests."""

Row = Sequence[Any]
"""The arrays of one shape that meet element by element; None for one that is absent."""

THREADS, PART = 256, 2048
"""How many threads a block has, and how many elements."""

_TABLE = 4000
"""The bytes that the table may take: CUDA passes 4096 by value."""


def over_many(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arrays and numbers, for many rows of arrays as one kernel where they are on a GPU.

    Parameters
    ----------
    function : callable
        Of what the head of this file lists.  Its positional arguments are the
        arrays of a row, the first of which it changes, and after them numbers;
        arguments by keyword are fixed.  It may return a condition.

    Returns
    -------
    callable
        Of a list of rows on one device, the current one, a sequence of numbers, and the fixed arguments.
        It returns whether the condition held anywhere, as an array of one element: None without one.
    """
    MANY[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] = function

    def run(rows: Iterable[Row], numbers: Sequence[float | None] = (), /, **fixed: Any) -> Any:
        given = tuple([number is not None for number in numbers])
        constants = tuple(fixed.items())
        kinds: dict[Written, list[Row]] = {}
        alone, found = [], None
        for row in rows:
            kernel = _kernel_for(function, row, given, constants)
            if kernel is None:
                alone.append(row)
            elif row[0].size:
                kinds.setdefault(kernel, []).append([each for each in row if each is not None])
        for kernel, some in kinds.items():
            found = kernel.launch(some, [float(each) for each in numbers if each is not None], found)
        for row in alone:
            met = function(*row, *numbers, **fixed)
            if met is not None:
                found = met.any() if found is None else found | met.any()
        return found

    return run


def _kernel_for(
    function: Callable[..., Any], row: Row, given: tuple[bool, ...], fixed: tuple[Any, ...]
) -> Written | None:
    """The kernel that takes this row; None where its arrays go alone: on the CPU, or of several kinds."""
    first = row[0]
    if first.__class__ is np.ndarray or first.dtype not in _REALS or not on_a_gpu(first):
        return None
    present = tuple([each is not None for each in row])
    kernel = _written(module_of(first), function, first.dtype, present, given, fixed)
    arrays = row if all(present) else [each for each in row if each is not None]
    for each, changes in zip(arrays, kernel.changes):
        if each.dtype != first.dtype or each.shape != first.shape:
            return None
        if changes and not each.flags.c_contiguous:
            return None
    return kernel


@lru_cache(maxsize=256)
def _written(*key: Any) -> Written:
    return Written(*key)


class Written:
    """A function as a kernel for arrays of one dtype."""

    def __init__(
        self,
        module: Any,
        function: Callable[..., Any],
        dtype: np.dtype,
        present: tuple[bool, ...],
        given: tuple[bool, ...],
        fixed: tuple[Any, ...],
    ) -> None:
        name = function.__name__.strip("_")
        code, self.table, self.changes, self.tells = source(
            function, name, dtype.name, present, given, dict(fixed)
        )
        self.most = self.table["arrays"].shape[1]
        self.module = module
        self.kernel = module.RawKernel(code, name)

    def launch(self, rows: list[Row], numbers: list[float], found: Any) -> Any:
        """Run it; ``found`` is where it says that the condition held, made where that is None."""
        if self.tells and found is None:
            found = self.module.zeros(1, np.int32)
        rows = [
            [each if changes else contiguous(each) for each, changes in zip(row, self.changes)]
            for row in rows
        ]  # they live until the kernel has them
        for start in range(0, len(rows), self.most):
            self._launch(rows[start : start + self.most], numbers, found)
        return found

    def _launch(self, some: list[Row], numbers: list[float], found: Any) -> None:
        lists = np.zeros((), self.table)
        count = len(some)
        sizes = [row[0].size for row in some]
        starts = [0, *accumulate([-(-size // PART) for size in sizes])]
        lists["arrays"][:, :count] = [[each.data.ptr for each in arrays] for arrays in zip(*some)]
        lists["sizes"][:count] = sizes
        lists["starts"][: count + 1] = starts
        lists["count"] = count
        lists["numbers"][: len(numbers)] = numbers
        if self.tells:
            lists["found"] = found.data.ptr
        self.kernel((starts[-1],), (THREADS,), (lists,))


# ---------------------------------------------------------------- from a function's lines to C


class Element(NDArrayOperatorsMixin):
    """An element of an array, or a number, while a function is written down: the name that it has so far."""

    __slots__ = ("lines", "name")

    def __init__(self, lines: list[str], name: str) -> None:
        self.lines = lines
        self.name = name

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **settings: Any) -> Any:
        form = _FORMS.get(ufunc.__name__)
        if method != "__call__" or settings or form is None:
            raise TypeError(f"{ufunc.__name__} cannot be written into a kernel for many arrays")
        made = self._said(form, inputs, "bool" if ufunc.__name__ in CONDITIONS else "real")
        if not out:
            return made
        out[0].name = made.name
        return out[0]

    def __array_function__(self, function: Any, types: Any, arguments: Any, settings: Any) -> Any:
        if function is not np.where or settings:
            raise TypeError(f"{function.__name__} cannot be written into a kernel for many arrays")
        return self._said("chosen({}, {}, {})", arguments, "real")

    def _said(self, form: str, inputs: Iterable[Any], kind: str) -> Element:
        made = Element(self.lines, f"v{len(self.lines)}")
        self.lines.append(f"const {kind} {made.name} = {form.format(*map(_text, inputs))};")
        return made

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis or not isinstance(value, Element):
            raise TypeError("all elements change at once in a kernel for many arrays")
        self.name = value.name

    def copy(self) -> Element:
        return Element(self.lines, self.name)


def _text(value: Any) -> str:
    return value.name if isinstance(value, Element) else f"real({float(value)!r})"


CONDITIONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isfinite"}
CONDITIONS |= {"invert", "bitwise_and", "bitwise_or"}
COMMON_FORMS = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "negative": "-{}",
    "sqrt": "square_root({})",
    "less": "{} < {}",
    "less_equal": "{} <= {}",
    "greater": "{} > {}",
    "greater_equal": "{} >= {}",
    "equal": "{} == {}",
    "not_equal": "{} != {}",
    "isfinite": "is_finite({})",
    "invert": "is_not({})",
    "bitwise_and": "{} & {}",
    "bitwise_or": "{} | {}",
}
"""The C of each ufunc, here and in :mod:`autokit.ops.gpu.row_code`."""

_FORMS = COMMON_FORMS | {
    "absolute": "size_of({})",
    "sign": "sign_of({})",
    "maximum": "larger({}, {})",
    "minimum": "smaller({}, {})",
}

_REALS = {np.dtype(kind): real for kind, real in (("e", "float"), ("f", "float"), ("d", "double"))}
"""In which type of C the elements of each dtype are computed."""

_TYPES = {"float16": "__half", "float32": "float", "float64": "double"}

_CODE = """{include}
typedef {type} stored;
typedef {real} real;

__device__ real square_root(real a) {{ return sqrt(a); }}
__device__ real size_of(real a) {{ return fabs(a); }}
__device__ real sign_of(real a) {{ return a > 0 ? real(1) : a < 0 ? real(-1) : a; }}
__device__ real larger(real a, real b) {{ return a >= b || a != a ? a : b; }}
__device__ real smaller(real a, real b) {{ return a <= b || a != a ? a : b; }}
__device__ real chosen(bool is_first, real a, real b) {{ return is_first ? a : b; }}
__device__ bool is_finite(real a) {{ return a - a == a - a; }}
__device__ bool is_not(bool a) {{ return !a; }}

struct Table {{
    unsigned long long arrays[{arrays}][{most}];
    long long sizes[{most}];
    int starts[{most} + 1];
    int count;
    real numbers[{numbers}];
    unsigned long long found;
}};

extern "C" __global__ void {name}(const Table table) {{
    int row = 0, beyond = table.count;  // the block's row is the last that starts no later than the block
    while (beyond - row > 1) {{
        int middle = (row + beyond) / 2;
        if (table.starts[middle] <= (int)blockIdx.x) row = middle; else beyond = middle;
    }}
    long long first = (long long)((int)blockIdx.x - table.starts[row]) * {part};
    long long last = first + {part} < table.sizes[row] ? first + {part} : table.sizes[row];
{pointers}
    for (long long i = first + threadIdx.x; i < last; i += blockDim.x) {{
{body}
    }}
}}
"""


def source(
    function: Callable[..., Any],
    name: str,
    dtype: str,
    present: Sequence[bool],
    given: Sequence[bool],
    fixed: dict[str, Any],
) -> tuple[str, np.dtype, tuple[bool, ...], bool]:
    """CUDA's C for ``function``, the table that it takes, which arrays it changes, and if it has a condition.

    ``present`` says which arrays of a row there are, ``given`` which numbers.
    """
    lines: list[str] = []
    arrays = [Element(lines, f"a{place}") if there else None for place, there in _counted(present)]
    numbers = [
        Element(lines, f"table.numbers[{place}]") if there else None for place, there in _counted(given)
    ]
    condition = function(*arrays, *numbers, **fixed)
    mine = [each for each in arrays if each is not None]
    body = [*lines]
    body += [f"p{place}[i] = {each.name};" for place, each in enumerate(mine) if each.name != f"a{place}"]
    if condition is not None:
        body.append(f"if ({condition.name}) *(int*)table.found = 1;")
    read = set(re.findall(r"\ba\d+\b", "\n".join(body)))
    body[:0] = [f"real a{place} = p{place}[i];" for place in range(len(mine)) if f"a{place}" in read]
    pointers = [f"stored* p{place} = (stored*)table.arrays[{place}][row];" for place in range(len(mine))]
    real = _REALS[np.dtype(dtype)]
    wide = np.dtype(np.float32 if real == "float" else np.float64)
    count = max(sum(given), 1)
    most = (_TABLE - wide.itemsize * count) // (8 * len(mine) + 12)
    code = _CODE.format(
        include="#include <cuda_fp16.h>" if dtype == "float16" else "",
        type=_TYPES[dtype],
        real=real,
        arrays=len(mine),
        most=most,
        numbers=count,
        name=name,
        part=PART,
        pointers="\n".join(f"    {line}" for line in pointers),
        body="\n".join(f"        {line}" for line in body),
    )
    fields = [
        ("arrays", np.uint64, (len(mine), most)),
        ("sizes", np.int64, (most,)),
        ("starts", np.int32, (most + 1,)),
        ("count", np.int32),
        ("numbers", wide, (count,)),
        ("found", np.uint64),
    ]
    changes = tuple(each.name != f"a{place}" for place, each in enumerate(mine))
    return code, np.dtype(fields, align=True), changes, condition is not None


def _counted(flags: Sequence[bool]) -> Iterator[tuple[int, bool]]:
    """Each flag, with the number of those before it that are true."""
    count = 0
    for flag in flags:
        yield count, flag
        count += flag
