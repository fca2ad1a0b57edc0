"""Recording: how the result of an operation takes its place in the graph.

:func:`record` is the moment at which a graph grows by one node.  What it
costs is paid by every operation of every program, so it does nothing twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from sys import _getframe as get_frame
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.autograd.node import Node
from autokit.batches.batch import Batch
from autokit.devices import copied
from autokit.dtypes import RARE
from autokit.memory import INFERENCE, Storage, clock
from autokit.meta_array import MetaArray
from autokit.tensor import Tensor, bare_tensor
from autokit.thread_state import SMALL, State, thread

if TYPE_CHECKING:
    from autokit.ops.rules import Operation, Way

OUTPUT = "out"
"""The name under which a rule asks for the result."""


def apart(array: Any, learns: bool) -> Any:
    """``array``, places or a mask that a graph keeps: a copy, if it is recorded that an operand ``learns``.

    They may be changed by another name of their memory, such as NumPy's, and nothing would tell of it.
    """
    return copied(array) if learns and thread.state.grad_enabled else array


def unchanged(g: Any) -> Any:
    """The derivative of an operation by what it passes on as it is: the engine need not call it."""
    return g


_ndarray = np.ndarray


def record(
    state: State,
    operation: Operation,
    array: Any,
    way: Way,
    sources: tuple[Any, ...],
    settings: dict[str, Any] | None,
) -> Tensor:
    """A tensor around ``array``, the outcome of ``operation``, at the end of the graph.

    Where the result is not small, which its node's ``saved`` tells, or an operand is not, :func:`settle`
    must follow.
    """
    if array.__class__ is not _ndarray:
        if isinstance(array, np.generic):
            array = np.asarray(array)
        elif array.__class__ is MetaArray:
            from autokit.ops.rules import WayOfShapes

            way = WayOfShapes(operation.own_way(way, array, sources))
        elif array.__class__ is Batch or array.__class__.__name__ == "Parts":
            from autokit.ops.samples import recorded_with_samples

            way, sources = recorded_with_samples(operation, array, way, sources)
    node = Node()
    node.operation = operation
    if RARE:
        way = operation.own_way(way, array, sources)
    node.sources = sources
    node.output = array
    node.settings = settings
    node.dtype = array.dtype
    shape = array.shape
    small = state.small
    source = sources[0]
    if source.__class__ is Node and source.shape == shape and source.saved is None and small > 0:
        # Neighbours are often of one shape: sharing it saves memory, and asking for the size.  The few nodes
        # that were shown, and so have classes of their own, go without.
        node.shape = source.shape
        node.saved = None
        node.way = way.alike
    else:
        node.shape = shape
        node.way = way
        node.saved = {} if array.size > small else None
    node.sequence = next(clock)
    node.scope = state.scope
    node.storage = None
    node.hooks = None
    node.freed = False
    if state.line is None:
        frame = get_frame(2)
        code = frame.f_code
        if code is not state.code:  # mostly the same part of the program goes on
            while OUR_FILES[code.co_filename]:
                frame = frame.f_back  # type: ignore[assignment]
                code = frame.f_code
            state.code = code
        node.code = code
        node.instruction = frame.f_lasti
    else:
        node.code, node.instruction = state.line
    tensor = bare_tensor()
    tensor.array = array
    tensor._node = node
    tensor._requires_grad = True
    tensor._grad = None
    tensor._storage = None
    return tensor


def refuse_inference(way: Way, operands: tuple[Tensor, ...]) -> None:
    """Raise where a graph would save a tensor that was made in inference mode."""
    if not thread.state.grad_enabled:
        return
    for place, operand in enumerate(operands):
        if operand._storage is INFERENCE and place not in way.spare:
            from autokit.ops.errors import describe

            raise RuntimeError(f"{INFERENCE_SAVED} It is {describe(operand)}.")


INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
    "use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
)


def settle(state: State, node: Node | None, operands: tuple[Tensor, ...], places: Iterable[int]) -> None:
    """Hold what the way back needs of large values, and let the others go; ``places`` may hold large ones.

    A small value stays where it was made.  A large one is held by the nodes
    that need it and by nobody else, so that it can go when they are freed.
    """
    assert node is not None
    way, sources, limit = node.way, node.sources, state._keep
    large = node.output.size > limit
    if large and OUTPUT not in way.saves:
        node.output = None
    saved = {}
    for place in places:
        operand = operands[place]
        if operand.array.size > limit:
            large = True
            if place not in way.spare:
                if sources[place] is not operand or not way.learns[place]:  # a leaf that learns stays
                    saved[place] = operand
            elif sources[place] is operand and not way.learns[place]:
                node.sources = _without(node.sources, place)
    node.saved = saved if large else None
    if state._watchers:
        for watch in state._watchers:
            watch(node)


def _without(sources: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    others = list(sources)
    others[place] = None
    return tuple(others)


def free(node: Node) -> None:
    """Give up what ``node`` saved: a gradient went through it."""
    node.freed = True
    if node.saved is not None:
        release(node, node.saved)


def release(node: Node, saved: dict[Any, Any]) -> None:
    """Give up the large values that ``node`` holds in ``saved``, after a gradient went through it."""
    output = node.output
    if output is not None and output.size > SMALL:
        node.output = None
    if saved:
        node.saved = {}  # and not None: they are not to be had at their sources
        for place, held in saved.items():
            if place.__class__ is int and held is node.sources[place]:
                node.sources = _without(node.sources, place)


class _OurFiles(dict[str, bool]):
    """For each file whether it is one of autokit's, found when it is first asked for."""

    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

    def __missing__(self, filename: str) -> bool:
        ours = self[filename] = filename.startswith(self.home)
        return ours


OUR_FILES = _OurFiles()
"""Lines of files for which this is true are not the learner's."""


def calling_line() -> tuple[Any, int]:
    """The line of the learner's program that is running: its code, and the place in it.

    Only for a function of autokit's: the line that calls this is never it.
    """
    frame = get_frame(2)
    while OUR_FILES[frame.f_code.co_filename]:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_code, frame.f_lasti


def source_line(code: Any, instruction: int) -> tuple[str, int, str] | None:
    """File, line number and text of the program line at ``instruction`` of ``code``."""
    import linecache

    if code is None:
        return None
    line = code.co_firstlineno
    for start, stop, number in code.co_lines():
        if start <= instruction < stop and number is not None:
            line = number
    return code.co_filename, line, linecache.getline(code.co_filename, line).strip()


def share_storage(base: Tensor, result: Tensor) -> Tensor:
    """Let ``result``, made by a view of ``base``, follow in-place changes where they share memory."""
    memory = result.array.base
    if result.array is base.array or (
        memory is not None
        and (
            memory is base.array
            or memory is base.array.base
            or (base.array.__class__ is Batch and memory is base.array.memory)
        )
    ):
        storage = result._storage = storage_of(base)
        if result._node is not None:
            result._node.storage = storage
        storage.add_view(result)
        known, notes = base.__dict__, result.__dict__
        root = notes["_base"] = known.get("_base", base)
        if not thread.state.grad_enabled:
            notes["_made"] = INFERRED if thread.state.inference else UNRECORDED
        elif "_made" in known:
            made = known["_made"]
            notes["_made"] = made if made.__class__ is str else 0
            if result._node is not None:
                from autokit.ops.views import listen

                listen(result)
        if result._node is None:
            if storage.version:
                notes["_version"] = storage.version
            if root._requires_grad:
                from autokit.ops.views import require_grad_as_base

                require_grad_as_base(result)
    return result


UNRECORDED, INFERRED, CUSTOM = "no_grad", "inference", "custom function"
"""How a view was made that cannot follow its base; or as one of several, and then its number stands there."""


def storage_of(tensor: Tensor) -> Storage:
    """The storage of ``tensor``, made now if it had none."""
    if tensor._storage is None:
        tensor._storage = Storage()
        if tensor._node is not None:
            tensor._node.storage = tensor._storage
    return tensor._storage
