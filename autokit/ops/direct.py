"""The short way into the graph, for operands that were checked already.

Calling an operation brings its operands together first: numbers and arrays
become tensors, dtypes are promoted, settings are looked up.  The layers and
losses that training runs in every step check their operands themselves, and
then need none of that.
"""

from __future__ import annotations

from typing import Any

from autokit.autograd.modes import thread
from autokit.ops.errors import explain
from autokit.ops.operation import new_tensor, record
from autokit.tensor import Tensor


def direct(function: Any, *operands: Tensor, **settings: Any) -> Tensor:
    """What ``function`` gives for tensors that need no promotion, with every setting given by name."""
    operation = function.operation
    try:
        out = operation.forward(*[operand.array for operand in operands], **settings)
    except Exception as error:
        raise explain(operation, operands, settings, error) from None
    state = thread.state
    if state.grad_enabled:
        targets: list[Any] = []
        recorded = False
        for operand in operands:
            if operand._requires_grad:
                recorded = True
                targets.append(operand.grad_fn or operand)
            else:
                targets.append(None)
        if recorded:
            return record(state, operation, out, operands, tuple(targets), settings or None)
    return new_tensor(out)
