"""Kernels for rows on a GPU: how operands lie in memory, and how many threads share a row.

See :mod:`autokit.ops.gpu.rows`, which says what they are, and
:mod:`autokit.ops.gpu.row_code`, which writes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from autokit.current_gpu import SEVERAL, on_its_gpu
from autokit.devices import module_of
from autokit.ops.gpu.row_code import STORED, Lines, Operand, Value
from autokit.ops.gpu.rows import dropped
from autokit.thread_state import UNUSUAL

THREADS = 256
"""How many threads a block has at most: a power of 2."""

_LONG, _FEW = 1 << 16, 4
"""Fewer rows than that, if they are longer, would leave most of a GPU idle: CuPy's own sums are quicker."""

_BESIDE = 8
"""How many rows beside each other in memory a block takes: their elements fill what is read at once."""


_PLANS = 1024
"""So many shapes a kernel remembers."""


def computed(
    function: Callable[..., Any], operands: tuple[Any, ...], fixed: dict[str, Any], keepdims: bool
) -> Any:
    """What ``function`` gives for operands of which the first is on a GPU: by one kernel, where it can."""
    if not operands[0].ndim:  # one number is a row of one
        rows = [each.reshape(1) if hasattr(each, "ndim") else each for each in operands]
        return dropped(computed(function, tuple(rows), {**fixed, "axes": (0,)}, True), (0,))
    axes = _places(fixed["axes"], operands[0].ndim)
    described = tuple([_described(each) for each in operands])
    layout = _layout(described, axes)
    if layout is None:
        made = function(*operands, **fixed)
        return made if keepdims else dropped(made, axes)
    launch = _written(module_of(operands[0]), function, layout.operands, tuple(fixed.items())).launch
    if SEVERAL in UNUSUAL:
        launch = on_its_gpu(launch, operands)
    return launch(operands, layout, keepdims, described)


def _places(axes: int | tuple[int, ...], ndim: int) -> tuple[int, ...]:
    return tuple([axis % ndim for axis in (axes if isinstance(axes, tuple) else (axes,))]) if ndim else ()


def _described(value: Any) -> Any:
    """What of an operand chooses the kernel."""
    if value is None:
        return None
    return float if value.__class__ is float else (value.dtype, value.shape, value.strides)


class Layout(NamedTuple):
    """What operands of some dtypes and shapes are together, and the shape of one number for each row."""

    operands: tuple[Operand, ...]
    shape: tuple[int, ...]
    of_rows: tuple[int, ...]
    axes: tuple[int, ...]


@lru_cache(maxsize=1024)
def _layout(described: tuple[Any, ...], axes: tuple[int, ...]) -> Layout | None:
    """The layout of operands as ``(dtype, shape, strides)``, float or None; None for their lines."""
    arrays = [each for each in described if each.__class__ is tuple]
    if any(dtype not in STORED for dtype, _, _ in arrays) or len({len(each[1]) for each in arrays}) > 1:
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
        self.plans: dict[Any, Any] = {}

    def launch(
        self, operands: Sequence[Any], layout: Layout, keepdims: bool, described: tuple[Any, ...]
    ) -> Any:
        """Run it on the current GPU, which holds the arrays among ``operands``."""
        numbers = [each for each in operands if each.__class__ is float]
        arrays = [each for each in operands if each is not None and each.__class__ is not float]
        made = [self._empty(arrays[0], value, layout, keepdims) for value in self.lines.outputs]
        plan = self.plans.get(described, self)
        if plan is self:
            if len(self.plans) > _PLANS:
                self.plans.clear()
            plan = self.plans[described] = self._plan(arrays, made, layout)
        if plan is None:
            plain = self.lines.function(*operands, **self.lines.fixed)
            return plain if keepdims else dropped(plain, layout.axes)
        kernel, blocks, table = plan
        table = table.copy()  # another thread may be about to fill it too
        table["arrays"] = [each.data.ptr for each in (*arrays, *made) if each is not None]
        if numbers:
            table["numbers"] = numbers
        kernel(blocks, (THREADS,), (table,))
        return tuple(made) if self.lines.several else made[0]

    def _plan(self, arrays: list[Any], made: list[Any], layout: Layout) -> tuple[Any, Any, Any] | None:
        """The kernel, its blocks, and its table without what changes from call to call; None without one."""
        given = arrays + [
            each if value.varies else each.reshape(layout.of_rows)
            for each, value in zip(made, self.lines.outputs)
            if value is not None
        ]
        steps = _steps(
            layout.shape, layout.axes, tuple([(each.shape, each.strides, each.itemsize) for each in given])
        )
        if steps is None:
            return None
        outer, inner, far, near = steps.counts
        rows, length = outer * inner, far * near
        along, lanes = _lanes(length, steps)
        across = THREADS // lanes
        wide = rows * length >= 1 << 31 or any(
            abs(step) * count >= 1 << 31 for each in steps.steps for step, count in zip(each, steps.counts)
        )
        kernel, dtype = self._kernel(wide, far > 1)
        table = np.zeros((), dtype)
        table["steps"] = steps.steps
        for name, value in (
            *(("rows", rows), ("inner", inner), ("length", length), ("near", near), ("lanes", lanes)),
            *(("across", across), ("along", along), ("least", -np.inf)),
        ):
            table[name] = value
        return kernel, (-(-rows // across),), table

    def _kernel(self, wide: bool, nested: bool) -> tuple[Any, np.dtype]:
        if (wide, nested) not in self.kernels:
            code, table = self.lines.source(self.name, THREADS, wide, nested)
            self.kernels[wide, nested] = self.module.RawKernel(code, self.name), table
        return self.kernels[wide, nested]

    def _empty(self, first: Any, value: Value | None, layout: Layout, keepdims: bool) -> Any:
        if value is None:
            return None
        if value.varies:
            if first.flags.c_contiguous:
                return self.module.empty(layout.shape, value.dtype)
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
