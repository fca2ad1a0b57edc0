"""Tangents: how tensors move while a :class:`ForwardLevel` is open, found as each operation runs.

Whether a graph is recorded makes no difference: a level notes for each tensor
how it moves, beside the tensor and its history.  Levels nest, and so the
tangents of an inner one move themselves in those that are outside of it.

References
----------
R. E. Wengert, "A simple automatic derivative evaluation program", CACM 7(8), 1964.
B. A. Pearlmutter and J. M. Siskind, "Lazy multivariate higher-order forward-mode
AD", POPL 2007: why levels must be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from autokit.autograd.modes import set_grad_enabled
from autokit.autograd.node import NODES, Node
from autokit.batches import levels_of
from autokit.devices import address_of, copied, made_beside
from autokit.dtypes import DIFFERENTIABLE, RARE
from autokit.func.calls import zeros
from autokit.func.forward import tangent_of
from autokit.memory import clock
from autokit.ops.convert import clone
from autokit.ops.custom_call import has_jvp, jvp_of, record_call
from autokit.ops.inplace import setitem
from autokit.ops.samples import plain_shared
from autokit.ops.strides import as_strided, storage_offset
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import FORWARD, UNUSUAL, thread

Tangents = list[Tensor | None]
"""How a tensor moves in each direction of a level; None where it does not."""

_open = 0
_lock = Lock()


class ForwardLevel:
    """How tensors move, in so many ``directions`` at once, until it is closed.

    With ``recording`` the tangents have a graph, whatever the mode is.
    """

    def __init__(self, directions: int = 1, recording: bool = False) -> None:
        self.directions, self.recording = directions, recording
        self._known: dict[int, tuple[Any, Tangents]] = {}
        self._known_by_node: WeakKeyDictionary[Node, Tangents] = WeakKeyDictionary()

    def open(self) -> None:
        """Let operations of this thread carry tangents of this level."""
        global _open
        thread.state.forward = (*thread.state.forward, self)
        with _lock:
            _open += 1
            UNUSUAL.add(FORWARD)

    def close(self) -> None:
        """Give the tangents up."""
        global _open
        thread.state.forward = tuple([each for each in thread.state.forward if each is not self])
        self._known.clear()
        self._known_by_node.clear()
        with _lock:
            _open -= 1
            if not _open:
                UNUSUAL.discard(FORWARD)

    def __enter__(self) -> ForwardLevel:
        self.open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def note(self, tensor: Tensor, tangents: Tangents, changed: bool = False) -> None:
        """Note how ``tensor`` moves; and its node in the graph, unless that is of what it was before."""
        key = id(tensor)
        known = self._known
        known[key] = (ref(tensor, lambda _: known.pop(key, None)), tangents)
        if not changed:
            self.note_node(tensor, tangents)

    def note_node(self, tensor: Tensor, tangents: Tangents) -> None:
        """Note how that of the graph moves which stands for ``tensor`` there."""
        if tensor._node is not None:
            self._known_by_node[tensor._node] = tangents

    def forget(self, tensor: Tensor) -> None:
        """Note that ``tensor`` does not move any more."""
        self._known.pop(id(tensor), None)

    def of(self, tensor: Tensor) -> Tangents | None:
        """How ``tensor`` moves, or None."""
        known = self._known.get(id(tensor))
        if known is not None:
            return known[1]
        base = tensor.__dict__.get("_base")
        at_base = self._known.get(id(base)) if base is not None else None
        if at_base is not None:  # the base began to move when it, or another view, was changed
            assert base is not None
            parts = [part_of(each, base, tensor) for each in self.in_its_layout(base, at_base[1])]
            self.note(tensor, parts)
            return parts
        return None if tensor._node is None else self._known_by_node.get(tensor._node)

    def for_change(self, tensor: Tensor) -> Tangents:
        """The tangents of ``tensor``, to be changed in place: zeros where it did not move."""
        if self.of(tensor) is None:
            base = tensor.__dict__.get("_base", tensor)
            still: Tangents = [_zeros_in_the_layout_of(base) for _ in range(self.directions)]
            self.note(base, still, changed=True)
        tangents = self.of(tensor)
        assert tangents is not None
        for place, each in enumerate(tangents):
            if each is None:
                tangents[place] = _zeros_in_the_layout_of(tensor)
        return tangents

    def in_its_layout(self, tensor: Tensor, tangents: Tangents) -> Tangents:
        """``tangents``, lying in memory as ``tensor`` does, so that its views can be views of theirs."""
        for place, each in enumerate(tangents):
            if each is not None and each.array.strides != tensor.array.strides:
                tangents[place] = in_the_layout_of(tensor, each)
        return tangents

    def found(self, outputs: Sequence[Tensor]) -> list[list[Tensor]]:
        """How each of ``outputs`` moves, in each direction; zeros where it does not."""
        return [
            [zeros(output) if one is None else one for one in self.of(output) or [None] * self.directions]
            for output in outputs
        ]

    def facts_of(self, tensor: Tensor) -> dict[str, Any]:
        """What the printed form of ``tensor`` shows of it in this level."""
        return {}


def require_numbers_that_move(kind: str, tensor: Tensor) -> None:
    """Raise unless ``tensor``, the "primal" or the "tangent" that ``kind`` says, may change a little."""
    if not _may_move(tensor):
        raise ValueError(
            f"Expected {kind} to be floating point or complex, but got: {tensor.dtype!r}: whole numbers and "
            "bools have no slope; convert it with .float()"
        )


def in_the_layout_of(tensor: Tensor, tangent: Tensor | None) -> Tensor:
    """The elements of ``tangent``, or zeros, lying in memory as those of ``tensor`` do."""
    made = _zeros_in_the_layout_of(tensor)
    return made if tangent is None else made.copy_(tangent)


def _zeros_in_the_layout_of(tensor: Tensor) -> Tensor:
    return new_tensor(made_beside(np.zeros_like, tensor.array))


def part_of(tangent: Tensor | None, whole: Tensor, view: Tensor) -> Tensor | None:
    """The part of ``tangent``, which lies as ``whole`` does, that lies as ``view`` lies in ``whole``."""
    if tangent is None:
        return None
    size = whole.array.itemsize
    offset = (address_of(view.array) - address_of(whole.array)) // size
    steps = [each // size for each in view.array.strides]
    return as_strided(tangent, view.array.shape, steps, storage_offset(tangent) + offset)


class Moment(Node):
    """One run of an operation as its derivative sees it: not in the graph, and with all of its values."""

    __slots__ = ()

    def result(self) -> Tensor | None:
        """What the operation made."""
        return self.saved["out"]  # type: ignore[index]


NODES.add(Moment)


def _moment(operation: Any, operands: Sequence[Tensor], settings: Any, result: Tensor, moving: Any) -> Moment:
    recorded = thread.state.grad_enabled
    learns = tuple(
        [place in moving or (recorded and each._requires_grad) for place, each in enumerate(operands)]
    )
    way = operation.ways.get(learns) or operation.way(learns)
    sources = tuple([each._node or each for each in operands])
    node = Moment()
    node.operation, node.sources, node.settings = operation, sources, settings or {}
    node.way = operation.own_way(way, result.array, sources) if RARE else way
    node.saved = {**dict(enumerate(operands)), "out": result}
    node.output, node.shape, node.dtype = result.array, result.array.shape, result.array.dtype
    node.sequence = next(clock)
    node.scope = node.code = node.storage = node.hooks = None
    node.instruction, node.freed = 0, False
    return node


@contextmanager
def outside_of(levels: tuple[ForwardLevel, ...], recording: bool = False) -> Iterator[None]:
    """Compute with these levels alone; with ``recording`` a graph is made, whatever the mode is."""
    state = thread.state
    before, state.forward = state.forward, levels
    try:
        with set_grad_enabled(recording or state.grad_enabled):
            yield
    finally:
        state.forward = before


def carried(apply: Callable[..., Any], operation: Any, operands: Sequence[Any], settings: Any) -> Any:
    """What ``apply``, which runs ``operation``, gives; how it moves is noted in each open level."""
    levels = thread.state.forward
    with outside_of(()):
        result = apply(*operands, **(settings or {}))
    if not _may_move(result) or not operation.rules:
        return result
    if thread.state.inference and not _lies_in(result, operands[0]):
        return result  # nothing moves there, but for parts of what moves
    for depth, level in enumerate(levels):
        moving = _moving(level, operands)
        if not moving:
            continue
        with outside_of(levels[:depth], level.recording):
            if 0 in moving and _lies_in(result, operands[0]):
                level.in_its_layout(operands[0], moving[0])
            tangents: Tangents = []
            for direction in range(level.directions):
                here = {place: t for place, each in moving.items() if (t := each[direction]) is not None}
                tangents.append(_moved(operation, operands, settings, result, here) if here else None)
            level.note(result, tangents)
    return result


def _may_move(value: Any) -> bool:
    return isinstance(value, Tensor) and value.array.dtype.kind in DIFFERENTIABLE


def _moving(level: ForwardLevel, operands: Sequence[Any]) -> dict[int, Tangents]:
    """The tangents of those of ``operands`` that move, by their places."""
    moving = {}
    for place, each in enumerate(operands):
        tangents = level.of(each) if isinstance(each, Tensor) else None
        if tangents is not None:
            moving[place] = tangents
            level.note_node(each, tangents)  # which may be another one since it was changed
    return moving


def _moved(operation: Any, operands: Any, settings: Any, result: Tensor, moving: dict[int, Tensor]) -> Any:
    """The tangent of the result of one run, in memory of its own; of a view, in that of its operand's."""
    node = _moment(operation, operands, settings, result, moving)
    learns = thread.state.grad_enabled and any(
        [each._requires_grad for each in (*operands, *moving.values())]
    )
    try:
        made = tangent_of(node, moving, bool(learns or thread.state.forward))
    except RuntimeError as error:
        if isinstance(error, NotImplementedError) or "is not implemented" not in str(error):
            raise
        raise NotImplementedError(
            f"Trying to use forward AD with {operation.name} that does not support it: {error}"
        ) from None
    if made is None:
        return None
    missing = tuple([each for each in levels_of(result.array) if each not in levels_of(made.array)])
    if missing:
        made = plain_shared(made, levels=missing)
    if _lies_in(result, operands[0]):
        return made
    is_own = made.array.__class__ is not np.ndarray or made.array.base is None
    return made if is_own and not any(made is each for each in moving.values()) else clone(made)


def _lies_in(result: Tensor, operand: Tensor) -> bool:
    """Whether ``result`` is a view of the elements of ``operand``, and these of NumPy's memory."""
    return (
        result._is_view()
        and result.array.__class__ is operand.array.__class__ is np.ndarray
        and result.array.dtype == operand.array.dtype
        and result._storage is operand._storage
    )


def carried_by_function(
    cls: Any, ctx: Any, operands: tuple[Tensor, ...], sources: tuple[Any, ...], outputs: list[Any]
) -> None:
    """Note how the ``outputs`` of a custom function move: by its ``jvp``, else by its ``backward``, twice."""
    levels = thread.state.forward
    for depth, level in enumerate(levels):
        moving = _moving(level, operands)
        if not moving or thread.state.inference:
            continue
        with outside_of(levels[:depth], level.recording):
            rows = []
            for direction in range(level.directions):
                here = {place: t for place, each in moving.items() if (t := each[direction]) is not None}
                by_rule = _by_jvp if has_jvp(cls) else _by_backward
                rows.append(by_rule(cls, ctx, operands, sources, outputs, here))
            constant = {id(each) for each in ctx._constant}
            for output, tangents in zip(outputs, zip(*rows)):
                if _may_move(output) and id(output) not in constant and any(t is not None for t in tangents):
                    level.note(output, list(tangents))


def _by_jvp(cls: Any, ctx: Any, operands: Any, sources: Any, outputs: list[Any], moving: Any) -> list[Any]:
    now = copy(ctx)  # a copy, since it is called for each direction
    now._to_see = ctx._to_save
    if ctx.materialize_grads:
        still = {place: zeros(each) for place, each in enumerate(operands) if place not in moving}
        moving = {**still, **moving}
    like = [(one.array.shape, one.array.dtype, None) if isinstance(one, Tensor) else None for one in outputs]
    return list(jvp_of(cls, now, moving, like))


def _by_backward(
    cls: Any, ctx: Any, operands: Any, sources: Any, outputs: list[Any], moving: Any
) -> list[Any]:
    now = copy(ctx)
    doubles = {id(one): new_tensor(one.array) for one in outputs if isinstance(one, Tensor)}
    for name in ("_to_save", "_dirty", "_constant"):
        setattr(now, name, tuple([doubles.get(id(each), each) for each in getattr(ctx, name)]))
    now._dirty = ()
    places = [place for place, is_tensor in enumerate(ctx._places) if is_tensor]
    now.needs_input_grad = tuple([False] * len(ctx._places))
    now.needs_input_grad = tuple(
        [is_tensor and places.index(place) in moving for place, is_tensor in enumerate(ctx._places)]
    )
    made = [doubles.get(id(one), one) for one in outputs]
    record_call(cls, now, operands, sources, made)
    found = []
    for one in made:
        node = one._node if isinstance(one, Tensor) else None
        found.append(None if node is None else tangent_of(node.owner, moving, bool(thread.state.forward)))
    return found


# ---------------------------------------------------------------- other ways to make and to change tensors


def carry(source: Tensor, target: Tensor) -> Tensor:
    """Let ``target``, which stands for ``source``, move as that does."""
    for level in thread.state.forward:
        tangents = level.of(source)
        if tangents is not None:
            level.note(target, tangents)
    return target


def keep(tensor: Tensor, before: Tensor) -> None:
    """Let ``before``, a copy of ``tensor``, move as that does now, whatever becomes of it."""
    levels = thread.state.forward
    for depth, level in enumerate(levels):
        tangents = level.of(tensor)
        if tangents is not None:
            with outside_of(levels[:depth], level.recording):
                level.note(before, [each if each is None else clone(each) for each in tangents])


def before_change(tensor: Tensor) -> Tensor:
    """What an unrecorded change in place takes for ``tensor``: a copy, where tangents will need it."""
    if not any(level.recording for level in thread.state.forward):
        return tensor
    before = new_tensor(copied(tensor.array))
    keep(tensor, before)
    return before


def apart_from_graph(tensors: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """``tensors`` without their history, moving as they do."""
    return tuple([each if each is None else carry(each, each.detach()) for each in tensors])


def follow(tensor: Tensor, result: Tensor | None) -> None:
    """Let ``tensor``, whose elements those of ``result`` replace, move as that does; not at all without."""
    levels = () if thread.state.inference else thread.state.forward
    for depth, level in enumerate(levels):
        new = None if result is None else level.of(result)
        if new is None and level.of(tensor) is None:
            continue
        with outside_of(levels[:depth], level.recording):
            for place, old in enumerate(level.for_change(tensor)):
                assert old is not None
                moved = None if new is None else new[place]
                if moved is None:
                    old.zero_()
                elif moved is not old:
                    old.copy_(moved)


def follow_item(tensor: Tensor, entries: Any, value: Any) -> None:
    """The same where a part of ``tensor`` was replaced by ``value``."""
    levels = () if thread.state.inference else thread.state.forward
    for depth, level in enumerate(levels):
        new = level.of(value) if isinstance(value, Tensor) else None
        if new is None and level.of(tensor) is None:
            continue
        with outside_of(levels[:depth], level.recording):
            for place, old in enumerate(level.for_change(tensor)):
                assert old is not None
                moved = None if new is None else new[place]
                setitem(old, entries, 0 if moved is None else moved)


def reshape(tensor: Tensor, change: Callable[[Tensor], Tensor]) -> None:
    """Let the tangents of ``tensor`` follow it to another shape."""
    levels = thread.state.forward
    for depth, level in enumerate(levels):
        tangents = level.of(tensor)
        if tangents is not None:
            with outside_of(levels[:depth], level.recording):
                lying = level.in_its_layout(tensor, tangents)
                level.note(tensor, [each if each is None else change(each) for each in lying])


def forget(tensor: Tensor) -> None:
    """Let ``tensor``, which holds another array now, not move."""
    for level in thread.state.forward:
        level.forget(tensor)
