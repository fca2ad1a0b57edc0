"""The short way into the graph, for operands that were checked already.

Calling an operation brings its operands together first: numbers and arrays
become tensors, dtypes are promoted, settings are looked up.  The layers and
losses that training runs in every step check their operands themselves, and
then need none of that.
"""

from __future__ import annotations

from typing import Any

from autokit.ops.operation import get_array, recovered
from autokit.ops.recording import record_all
from autokit.ops.unusual import computing
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread


def direct(function: Any, operands: tuple[Tensor, ...], settings: dict[str, Any] | None = None) -> Tensor:
    """What ``function`` gives for tensors that need no promotion, with every setting given by name."""
    operation = function.operation
    arrays = [*map(get_array, operands)]
    forward = computing(operation, arrays) if UNUSUAL else operation.forward
    try:
        out = forward(*arrays, **settings) if settings else forward(*arrays)
    except Exception as error:
        return recovered(function, operation, operands, settings or {}, error)
    layout = operation.layout
    if layout is not None and not out.flags.c_contiguous:
        out = layout(out)
    state = thread.state
    return record_all(state, operation, out, operands, settings) if state.grad_enabled else new_tensor(out)
