"""Recording: how the result of an operation takes its place in the graph.

:func:`record` is the moment at which a graph grows by one node.  What it
costs is paid by every operation of every program, so it does nothing twice.
"""

from __future__ import annotations

import os
from sys import _getframe as get_frame
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.autograd.modes import State
from autokit.autograd.node import Node, Storage, next_sequence
from autokit.ops.errors import refuse_stale_views
from autokit.tensor import Tensor

if TYPE_CHECKING:
    from autokit.ops.operation import Operation

OUTPUT = "out"
"""The name under which a rule asks for the result."""

_allocate = object.__new__
_ndarray = np.ndarray


def record(
    state: State,
    operation: Operation,
    array: Any,
    operands: tuple[Tensor, ...],
    targets: tuple[Any, ...],
    settings: dict[str, Any] | None,
) -> Tensor:
    """A tensor around ``array``, the outcome of ``operation``, at the end of the graph."""
    if array.__class__ is not _ndarray and isinstance(array, np.generic):
        array = np.asarray(array)
    if Storage.any_rebased:
        refuse_stale_views(operands)
    node = _allocate(Node)
    node.operation = operation
    node.targets = targets
    node.operands = operands
    node.output = array
    node.settings = settings
    node.shape = array.shape
    node.dtype = array.dtype
    node.sequence = next_sequence()
    node.scope = state.scope
    node.storage = None
    node.hooks = None
    node.freed = False
    node.kept = True
    frame = get_frame(2)
    code = frame.f_code
    while code.co_filename in OUR_FILES:
        frame = frame.f_back  # type: ignore[assignment]
        code = frame.f_code
    node.code = code
    node.instruction = frame.f_lasti
    keep = state.keep
    if array.size > keep:
        _let_go(node, keep)
    elif operation.reduces:
        for operand in operands:
            if operand.array.size > keep:
                _let_go(node, keep)
                break
    tensor = _allocate(Tensor)
    tensor.array = array
    tensor.grad_fn = node
    tensor._requires_grad = True
    tensor._grad = None
    tensor._storage = None
    return tensor


def _let_go(node: Node, keep: float) -> None:
    """Drop the large values that the way back does not need."""
    places, spare_output = node.operation.spares(node.targets)
    for place in places:
        operands = node.operands
        if operands[place].array.size > keep:  # type: ignore[index]
            node.operands = (*operands[:place], None, *operands[place + 1 :])  # type: ignore[index]
    if spare_output and node.output.size > keep:
        node.output = None
    node.kept = False


def _library_files() -> frozenset[str]:
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return frozenset(
        os.path.join(folder, name)
        for folder, _, names in os.walk(home)
        for name in names
        if name.endswith(".py")
    )


OUR_FILES = _library_files()
"""Lines of these files are not the learner's."""


def share_storage(base: Tensor, result: Tensor) -> Tensor:
    """Let ``result`` know of in-place changes of ``base``, where they share memory."""
    memory = result.array.base
    if result.array is base.array or (
        memory is not None and (memory is base.array or memory is base.array.base)
    ):
        result._storage = storage_of(base)
        if result.grad_fn is not None:
            result.grad_fn.storage = result._storage
    return result


def storage_of(tensor: Tensor) -> Storage:
    """The storage of ``tensor``, made now if it had none."""
    if tensor._storage is None:
        tensor._storage = Storage(tensor)
        if tensor.grad_fn is not None:
            tensor.grad_fn.storage = tensor._storage
    return tensor._storage
