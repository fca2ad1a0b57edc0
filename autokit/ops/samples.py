"""Into a batch of samples and out of it, where gradients follow; and what has no rule, sample by sample.

A value that all samples share has an effect on each of them, so its gradient is
the sum over the samples.  ``shared`` stands in the graph where such a value
meets batches, and adds up; see ``autokit.batches`` for what a batch is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import Any

import numpy as np

from autokit.autograd.modes import no_grad
from autokit.autograd.node import Node
from autokit.batches import Batch, Level, NotBatched, active, full_of, levels_of, newest, wrap
from autokit.devices import made_beside
from autokit.dtypes import RARE
from autokit.ops.errors import explain
from autokit.ops.gpu.arrays import like
from autokit.ops.join import stack
from autokit.ops.operands import on_one_device
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import unchanged
from autokit.ops.rules import Way
from autokit.tensor import Tensor, new_tensor

# ---------------------------------------------------------------- the way in and out


@operation(
    "⇉",
    "{a}, a sample at a time",
    a=derivative("1", lambda g, level, dim: leave(g, level, dim)),
    view=True,
    name="into_samples",
)
def plain_enter(a, /, level, dim):
    """The array of each sample, where they lie along ``dim``."""
    return wrap(np.moveaxis(a, dim, 0), level)


def _name_inside(node: Node) -> str:
    """As PyTorch has it, where the result of the last operation inside is that of ``vmap``."""
    source = node.sources[0]
    return source.kind if isinstance(source, Node) else "FromSamplesBackward0"


@operation(
    "⇇",
    "{a}, all samples",
    a=derivative("1", lambda g, level, dim: on(plain_enter, g, level=level, dim=dim)),
    linear=True,
    name="from_samples",
    backward=_name_inside,
)
def plain_leave(a, /, level, dim):
    """All samples in one array, along a new dimension ``dim``."""
    return np.moveaxis(full_of(a, level), 0, dim)


@operation(
    "Σ",
    "Σ over the samples of {a}",
    a=derivative("1", unchanged),
    linear=True,
    name="sum_of_samples",
)
def plain_added(a, /, levels):
    """The sum over the samples of all ``levels``; what is the same for all counts for each."""
    for level in levels:
        if a.__class__ is Batch and a.level is level and a.full.shape[0] == 1:
            a = a.full[0] * level.size
        elif level not in levels_of(a):
            a = a * level.size
        else:
            a = full_of(a, level).sum(axis=0)
    return a


@operation(
    "=",
    "{a} for every sample",
    a=derivative("the sum over the samples", lambda g, levels: on(plain_added, g, levels=levels)),
    linear=True,
    name="shared",
)
def plain_shared(a, /, levels):
    """``a`` as a batch of one sample, which stands for all."""
    for level in reversed(levels):
        a = wrap(a[None], level)
    return a


def enter(input: Tensor, level: Level, dim: int) -> Tensor:
    """``input`` for each sample, where they lie along ``dim``."""
    return plain_enter(input, level=level, dim=dim)


def leave(value: Any, level: Level, dim: int) -> Any:
    """The samples of a tensor, or array, along a new dimension ``dim``."""
    if not isinstance(value, Tensor):
        return plain_leave.operation.forward(value, level=level, dim=dim)
    if level not in levels_of(value.array):
        value = plain_shared(value, levels=(level,))
    return plain_leave(value, level=level, dim=dim)


def for_each_sample(input: Tensor) -> Tensor:
    """``input`` as each sample's own, in every ``vmap`` that is running; its gradient is not added up."""
    return _own(input, [level for level in reversed(active()) if not level.looping])


def for_each_sample_of(sources: Sequence[Any], input: Tensor) -> Tensor:
    """The same for the samples that one of ``sources`` has, nodes or tensors.

    A node may be of a single sample, while the ``vmap`` is over all of them.
    """
    levels = {level for source in sources for level in _levels_behind(source)}
    return _own(input, sorted(levels, key=lambda level: -level.serial))


def _own(input: Tensor, levels: list[Level]) -> Tensor:
    known = levels_of(input.array)
    missing = tuple([level for level in levels if level not in known])
    return plain_shared(input, levels=missing) if missing else input


# ---------------------------------------------------------------- in the graph


def recorded_with_samples(operation: Any, array: Any, way: Any, sources: tuple[Any, ...]) -> tuple[Any, Any]:
    """How an operation on batches is recorded: its way back, and its sources.

    Where a source that learns is shared by samples of the result, :func:`plain_shared` comes between.
    """
    own = levels = levels_of(array)
    if RARE:
        way = operation.own_way(way, array, sources)
    if operation.name in _BETWEEN:
        return WayOfSamples(way, way.rules, own), sources
    for source, learns in zip(sources, way.learns):
        for level in _levels_behind(source) if learns else ():
            if level not in levels:
                levels = (*levels, level)
    made = []
    for source, learns in zip(sources, way.learns):
        if learns:
            known = _levels_behind(source)
            missing = tuple([level for level in levels if level not in known])
            if missing:
                source = plain_shared(_tensor_behind(source), levels=missing)._node
        made.append(source)
    rules = _rules.get(way)
    if rules is None:
        rules = _rules[way] = tuple(
            [(slot, _derivative_of_samples(vjp, operation.name), *rest) for slot, vjp, *rest in way.rules]
        )
    return WayOfSamples(way, rules, own), tuple(made)


_BETWEEN = {"into_samples", "from_samples", "sum_of_samples", "shared"}

_rules: dict[Way, tuple[Any, ...]] = {}


class WayOfSamples(Way):
    """How gradients go back through an operation on batches: its result has samples of ``levels``.

    A derivative that has no rule for all samples at once goes through them.
    """

    __slots__ = ("levels",)

    def __init__(self, way: Way, rules: tuple[Any, ...], levels: tuple[Level, ...]) -> None:
        self.rules, self.plain_rules, self.joint = rules, way.plain_rules, way.joint
        self.large_rules = rules
        self.learns, self.saves, self.spare = way.learns, way.saves, way.spare
        self.fitting, self.complex = False, way.complex
        self.levels = levels

    @property
    def alike(self) -> WayOfSamples:  # type: ignore[override]
        """Itself: the engine always looks."""
        return self


def _levels_behind(source: Any) -> tuple[Level, ...]:
    """The levels that the value of a source has samples of, also where it let the value go."""
    if isinstance(source, Tensor):
        return levels_of(source.array)
    return source.way.levels if source.way.__class__ is WayOfSamples else levels_of(source.output)


def _tensor_behind(source: Any) -> Tensor:
    if isinstance(source, Tensor):
        return source
    known = source.result()
    if known is None:  # its value was large, and is not needed here
        known = new_tensor(np.broadcast_to(np.zeros((), source.dtype), source.shape))
        known._node, known._requires_grad = source, True
    return known


def _derivative_of_samples(vjp: Callable[..., Any], name: str) -> Callable[..., Any]:
    def compute(*values: Any) -> Any:
        try:
            return vjp(*values)
        except Exception:
            level = newest(values)
            if level is None:
                raise
            told(name)
            rows = [
                vjp(*[_pick_arrays(value, level, place) for value in values]) for place in range(level.size)
            ]
            return _joined_arrays(rows, level)

    compute.of_samples = True  # type: ignore[attr-defined]
    return compute


def _pick_arrays(value: Any, level: Level, place: int) -> Any:
    """What one sample has of arrays in containers."""
    if value.__class__ is Batch:
        return full_of(value, level)[place] if level in levels_of(value) else value
    if value.__class__ in (list, tuple):
        return value.__class__([_pick_arrays(each, level, place) for each in value])
    if value.__class__ is slice or not isinstance(value, dict):
        return value
    return {name: _pick_arrays(each, level, place) for name, each in value.items()}


def _joined_arrays(rows: Sequence[Any], level: Level) -> Any:
    first = rows[0]
    if first is None:
        return None
    if isinstance(first, list | tuple):
        return [_joined_arrays([row[place] for row in rows], level) for place in range(len(first))]
    return wrap(np.stack(rows), level)


# ---------------------------------------------------------------- sample by sample

told_of: list[Callable[[str], None]] = []
"""Called with the name of each operation that is run on one sample after the other."""


def told(name: str) -> None:
    for listener in told_of:
        listener(name)


def recovered(
    function: Callable[..., Any],
    operation: Any,
    operands: tuple[Any, ...],
    settings: dict[str, Any],
    error: Exception,
) -> Any:
    """The result of an operation whose rule raised ``error``: sample by sample, where there are samples.

    Raises
    ------
    Exception
        PyTorch's error, where there are none, and the tensors are on one device.
    """
    if hasattr(error, "came_late"):  # it is of another operation
        raise error
    if isinstance(error, RuntimeWarning):  # a program's filter made an error of NumPy's warning
        with np.errstate(all="ignore"):
            return function(*operands, **settings)
    level = newest([*[_array(operand) for operand in operands], *settings.values()])
    if level is None:
        moved = on_one_device(operation, operands)
        if moved is not None:
            return function(*moved, **settings)
        raise explain(operation, operands, settings, error) from None
    return by_samples(function, operation.name, operands, settings, level)


def _array(value: Any) -> Any:
    if value.__class__ in (list, tuple):
        return [_array(each) for each in value]
    return value.array if isinstance(value, Tensor) else value


def newest_among(values: Sequence[Any]) -> Level | None:
    """The innermost level of the tensors and arrays in ``values``."""
    return newest([_array(value) for value in values])


def by_samples(
    function: Callable[..., Any],
    name: str,
    arguments: Sequence[Any],
    settings: dict[str, Any],
    level: Level,
) -> Any:
    """``function`` on one sample of ``level`` after the other, and the results as batches."""
    told(name)
    spread: dict[int, Tensor] = {}

    def pick(value: Any, place: int) -> Any:
        if isinstance(value, Tensor):
            if level not in levels_of(value.array):
                return value
            if id(value) not in spread:
                spread[id(value)] = leave(value, level, 0)
            return spread[id(value)][place]
        if value.__class__ in (list, tuple):
            return value.__class__([pick(each, place) for each in value])
        return _pick_arrays(value, level, place)

    from autokit import random

    looping, level.looping = level.looping, True
    try:
        rows = []
        for place in range(level.size):
            given = [pick(each, place) for each in arguments]
            named = {key: pick(each, place) for key, each in settings.items()}
            again = level.randomness == "same" and place + 1 < level.size
            with random.fork_rng() if again else nullcontext():
                rows.append(function(*given, **named))
        if level.size:
            return _joined(rows, level)
        return _of_nothing(function, arguments, settings, level)
    finally:
        level.looping = looping


def one_sample_at_a_time(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """``function`` of a tensor, which in a ``vmap`` is called for each of its samples."""

    @wraps(function)
    def apply(input: Tensor) -> Tensor:
        level = newest([input.array])
        if level is None:
            return function(input)
        return by_samples(apply, function.__name__, (input,), {}, level)

    return apply


def _joined(rows: list[Any], level: Level) -> Any:
    first = rows[0]
    if isinstance(first, Tensor):
        if len({row.array.shape for row in rows}) > 1:
            raise NotBatched(
                "vmap: each sample would have another shape, and all together none: "
                f"{', '.join(str(list(row.array.shape)) for row in rows[:3])}"
            )
        return enter(stack(rows), level, 0)
    if isinstance(first, tuple | list):
        parts = [_joined([row[place] for row in rows], level) for place in range(len(first))]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if all([row == first for row in rows]):
        return first
    raise NotBatched("vmap: each sample would have another value, and there is no tensor to hold them")


def _of_nothing(
    function: Callable[..., Any], arguments: Sequence[Any], settings: dict[str, Any], level: Level
) -> Any:
    """The result for no samples: shaped as for a sample of zeros."""

    def zeros(value: Any) -> Any:
        if isinstance(value, Tensor):
            if level not in levels_of(value.array):
                return value
            return new_tensor(_no_samples(value.array, level))
        if value.__class__ in (list, tuple):
            return value.__class__([zeros(each) for each in value])
        return _no_samples(value, level) if value.__class__ is Batch else value

    def none_of(value: Any) -> Any:
        if isinstance(value, Tensor):
            shape = (0, *value.array.shape)
            return new_tensor(wrap(made_beside(np.zeros_like, value.array, shape=shape), level))
        if isinstance(value, tuple | list):
            parts = [none_of(each) for each in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return value

    with no_grad():
        found = function(*map(zeros, arguments), **{key: zeros(each) for key, each in settings.items()})
    return none_of(found)


def _no_samples(array: Any, level: Level) -> Any:
    full = full_of(array, level)
    return like(np.zeros_like, full, shape=full.shape[1:])
