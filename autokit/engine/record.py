"""Recording: the graph grows by one node for each operation whose result requires grad.

Every recorded operation pays for what :func:`record` does, so it does nothing twice, and nothing that only
some feature needs.
"""

from __future__ import annotations

import linecache
import os
from collections import deque
from itertools import count
from sys import _getframe as frame_of
from typing import Any
from weakref import ref

import numpy as np

from autokit.engine.modes import State
from autokit.engine.node import SEVERAL, Gradients, Node
from autokit.engine.tensor import Tensor, bare_tensor, new_tensor

clock = count(1).__next__
"""The clock of the graph: one tick for each node and for each in-place change."""

OUT = -1
"""Stands for the result in what a derivative needs, where the other numbers are places of saved operands."""

_ndarray = np.ndarray


def record(
    state: State,
    array: Any,
    operands: tuple[Any, ...],
    sources: tuple[Any, ...],
    settings: dict[str, Any] | None,
    rules: Any,
) -> Tensor:
    """A tensor around ``array``, the result of an operation, with a node that remembers how it was computed.

    Parameters
    ----------
    state : State
        Of the thread.
    array
        The result.
    operands : tuple of Tensor or number
        The operands of the operation.
    sources : tuple
        For each operand the node that computed it, or itself; see :class:`~autokit.engine.node.Node`.
    settings : dict or None
        The other arguments.
    rules : Rules
        The derivatives by the operands that require grad, and what they need.
    """
    if array.__class__ is not _ndarray:
        if array.__class__ is tuple:
            return record_several(state, array, operands, sources, settings, rules)
        if isinstance(array, np.generic):
            array = np.asarray(array)
        else:
            rules = rules.portable
    node = Node()
    node.rules = rules
    node.sources = sources
    node.saved = tuple([operands[place] for place in rules.saves]) if rules.saves else ()
    node.output = array if rules.saves_output or array.size <= state.keep else None
    node.settings = settings
    shape = array.shape
    if shape == state.shape:
        shape = state.shape  # neighbours are often of one shape: sharing it saves a tenth of their memory
    else:
        state.shape = shape
    node.shape = shape
    node.dtype = array.dtype
    node.order = clock()
    node.hooks = None
    node.storage = None
    node.scope = scope = state.scope
    if scope is not None and scope[2] is not None:
        node.code, node.instruction = scope[2]
    else:
        frame = frame_of(2)
        code = frame.f_code
        if code is not state.code:  # most often the same code runs as at the last node
            while OUR_FILES[code.co_filename]:
                frame = frame.f_back  # type: ignore[assignment]
                code = frame.f_code
            state.code = code
        node.code = code
        node.instruction = frame.f_lasti
    tensor = bare_tensor()
    tensor.array = array
    tensor._node = node
    tensor._requires_grad = True
    tensor._grad = None
    tensor._storage = None
    return tensor


def record_several(
    state: State, arrays: tuple[Any, ...], operands: Any, sources: Any, settings: Any, rules: Any
) -> Any:
    """Tensors around several results: a node for the operation, and one more for each result.

    The node of a result passes its gradient on to that of the operation, in its place among the others. A
    result of integers, such as indices, has no node.
    """
    arrays = tuple([np.asarray(each) if isinstance(each, np.generic) else each for each in arrays])
    whole = record(state, np.empty(0), operands, sources, settings, rules)._node
    assert whole is not None
    whole.shape, whole.dtype = SEVERAL, None
    small = sum([each.size for each in arrays]) <= state.keep
    whole.output = arrays if rules.saves_output or small else None
    return results_of(state, whole, arrays)


def results_of(state: State, whole: Node, arrays: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Tensors around the results of the node ``whole``, each with a node that picks it among the others."""
    count = len(arrays)
    return tuple(
        [
            record(state, array, (), (whole,), {"slot": slot, "count": count}, PICK)
            if array.dtype.kind == "f"
            else new_tensor(array)
            for slot, array in enumerate(arrays)
        ]
    )


class _Pick:
    """One of several results: its derivative puts the gradient into its place among the others."""

    name, symbol, formula, backward = "pick", "", "{results}", "PickBackward0"
    operands, defaults, derivatives = ("results",), {"slot": 0, "count": 1}, {"results": None}
    view = variadic = False

    def local(self, operand: str) -> str:
        """There is no local derivative to be shown."""
        return ""


class _PickRules:
    """The one rule of :class:`_Pick`, in the form that the backward pass reads."""

    operation = _Pick()
    learns, saves, saves_output = (True,), (), False

    @staticmethod
    def hand_on(g: Any, slot: int, count: int) -> Gradients:
        return Gradients([g if place == slot else None for place in range(count)])

    for_arrays = for_tensors = ((0, hand_on, ("slot", "count")),)
    joint = False

    @property
    def portable(self) -> _PickRules:
        return self


PICK = _PickRules()


class Storage:
    """The version counter of the memory that a tensor shares with its views.

    It comes into being with the first view or the first change, so most tensors never have one.

    Attributes
    ----------
    version : int
        How often the memory was changed in place.
    modified : int
        The time of the last change, on the graph's clock.
    changes : deque
        The last few: the time, and the place in the learner's program.
    views : list
        Weak references to the views that follow a recorded change of their base.
    """

    __slots__ = ("changes", "modified", "version", "views")

    def __init__(self) -> None:
        self.version = self.modified = 0
        self.changes: deque[tuple[int, Any, int]] = deque(maxlen=8)
        self.views: list[ref[Tensor]] = []

    def changed(self, line: tuple[Any, int] | None = None) -> None:
        """Note a change by ``line``, or else by the line of the learner's program that is running."""
        self.version += 1
        self.modified = clock()
        self.changes.append((self.modified, *(line or calling_line())))

    def changes_since(self, order: int) -> list[tuple[int, Any, int]]:
        """The remembered changes that came after the time ``order``."""
        return [change for change in self.changes if change[0] > order]

    def add_view(self, view: Tensor) -> None:
        """Remember ``view`` for as long as it lives."""
        if len(self.views) >= 16 and len(self.views) & (len(self.views) - 1) == 0:  # at 16, 32, 64, …
            self.views = [each for each in self.views if each() is not None]
        self.views.append(ref(view))


def storage_of(tensor: Tensor) -> Storage:
    """The storage of ``tensor``, a new one if it had none."""
    if tensor._storage is None:
        tensor._storage = Storage()
        if tensor._node is not None:
            tensor._node.storage = tensor._storage
    return tensor._storage


def share_storage(operation: Any, base: Tensor, view: Tensor, settings: dict[str, Any]) -> Tensor:
    """Let ``view``, the result of a view operation, share the storage of ``base`` if it shares its memory."""
    memory = view.array.base
    if view.array is base.array or (
        memory is not None and (memory is base.array or memory is base.array.base)
    ):
        storage = view._storage = storage_of(base)
        if view._node is not None:
            view._node.storage = storage
        storage.add_view(view)
        facts = base.__dict__
        view.__dict__["_base"] = facts.get("_base", base)
        view.__dict__["_steps"] = (*facts.get("_steps", ()), (operation, settings))
    return view


class _OurFiles(dict[str, bool]):
    """For each file whether it is one of autokit's, found when the file is first asked for."""

    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

    def __missing__(self, filename: str) -> bool:
        ours = self[filename] = filename.startswith(self.home)
        return ours


OUR_FILES = _OurFiles()
"""For each file, by its name, whether it is one of autokit's, so that its lines are not the learner's."""


def calling_line() -> tuple[Any, int]:
    """The line of the learner's program that is running: its code, and the place in it."""
    frame = frame_of(1)
    while OUR_FILES[frame.f_code.co_filename]:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_code, frame.f_lasti


def source_line(code: Any, instruction: int) -> tuple[str, int, str] | None:
    """File, line number and text of the program line at ``instruction`` of ``code``."""
    if code is None:
        return None
    line = code.co_firstlineno
    for start, stop, number in code.co_lines():
        if start <= instruction < stop and number is not None:
            line = number
    return code.co_filename, line, linecache.getline(code.co_filename, line).strip()
