"""The short way into the graph, for operands that are tensors of the right dtypes already.

Calling an operation brings its operands together first: numbers and arrays
become tensors, dtypes are promoted, settings are looked up.  The layers and
losses that training runs in every step check their operands themselves, and
then need none of that.
"""

from __future__ import annotations

from typing import Any

from autokit.memory import INFERENCE
from autokit.ops.recording import OUTPUT, record, refuse_inference, settle
from autokit.ops.unusual import carried, computing
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread


def direct(
    function: Any, operands: tuple[Tensor, ...], settings: dict[str, Any] | None = None, made: Any = None
) -> Tensor:
    """What ``function`` gives for tensors that need no promotion, with every setting given by name.

    ``made`` is the array that it gave, where that is known: it is recorded whatever the mode is.
    """
    operation = function.operation
    state = thread.state
    if UNUSUAL and state.forward:
        return carried(function, operation, operands, settings, made)
    small = state.small
    arrays: list[Any] = []
    sources: list[Any] = []
    learns: list[bool] = []
    large: dict[int, Tensor] = {}
    of_inference = False
    for operand in operands:  # a single time: every step of a training comes here for every layer
        array = operand.array
        arrays.append(array)
        source = operand._node
        if source:  # a view whose base was changed raises here
            sources.append(source)
            learns.append(True)
            if source.saved is not None and array.size > small:  # its value may be let go
                large[len(arrays) - 1] = operand
        elif operand._requires_grad:  # a leaf that learns: however large, it stays
            sources.append(operand)
            learns.append(True)
        else:
            sources.append(operand)
            learns.append(False)
            if array.size > small:
                large[len(arrays) - 1] = operand
            if operand._storage is INFERENCE:
                of_inference = True
    if made is None:
        forward = computing(operation, arrays) if UNUSUAL else operation.forward
        try:
            made = forward(*arrays, **settings) if settings else forward(*arrays)
        except Exception as error:
            from autokit.ops.samples import recovered

            return recovered(function, operation, operands, settings or {}, error)
        layout = operation.layout
        if layout is not None and not made.flags.c_contiguous:
            made = layout(made)
        if not (state.grad_enabled and operation.rules):
            return new_tensor(made)
    if True not in learns:
        return new_tensor(made)
    pattern = tuple(learns)
    way = operation.ways.get(pattern) or operation.way(pattern)
    if of_inference:
        refuse_inference(way, operands)
    result = record(state, operation, made, way, tuple(sources), settings)
    node: Any = result._node
    if large or node.saved is not None:
        if small > 0 and way.spare.isdisjoint(large):
            # All of them are needed: as `settle` does, without its call in every step of a training.
            if node.saved is not None and OUTPUT not in way.saves:
                node.output = None
            node.saved = large
        else:
            settle(state, node, operands, large)
    return result
