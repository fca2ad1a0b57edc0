"""Changes in place: the version counter, views that share memory, and what a change does to the graph.

A tensor and its views share one version counter, :class:`~autokit.engine.record.Storage`. Each change in
place advances it and notes the time on the graph's clock. A backward pass raises at a node whose saved tensor
was changed after the node was recorded.

A change is an operation like others, computed first and then written into the old memory (:func:`assign`).
The tensor gets the node of the result. Where the tensor is a view, its base gets a node too, which sends
the gradient of the part that was written to the new value, and the gradient of the rest to the old one.
All living views of that base are then computed from its new node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit.base import errors
from autokit.base.dtypes import BY_NUMPY, can_cast
from autokit.engine.modes import thread
from autokit.engine.node import Node
from autokit.engine.operation import derivative, operation, source_of
from autokit.engine.record import record, storage_of
from autokit.engine.tensor import Tensor, new_tensor


def mark_changed(tensor: Tensor, line: Any = None) -> None:
    """Advance the version counter of ``tensor``, whose array was written to, at ``line`` of the program."""
    storage_of(tensor).changed(line)


def refuse_change(tensor: Tensor) -> None:
    """Raise if ``tensor`` must not be changed in place: if it, or its base, is a leaf that requires grad."""
    if not thread.state.recording:
        return
    base = tensor.__dict__.get("_base", tensor)
    if base._requires_grad and base._node is None:
        which = "a leaf Variable" if base is tensor else "a view of a leaf Variable"
        raise RuntimeError(
            f"{which} that requires grad is being used in an in-place operation: {errors.describe(base)}. "
            "Write into it under torch.no_grad(), or compute a new tensor"
        )


def in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The form of ``function`` that overwrites its first operand, as ``x.exp_()``."""

    @wraps(function)
    def apply(self: Tensor, *operands: Any, **settings: Any) -> Tensor:
        refuse_change(self)
        if thread.state.recording and (self._requires_grad or any(map(requires_grad, operands))):
            old = new_tensor(self.array.copy())  # derivatives may ask for the old values
            old._node, old._requires_grad = self._node, self._requires_grad
            operands = tuple([old if each is self else each for each in operands])
            return assign(self, function(old, *operands, **settings))
        return assign(self, function(self, *operands, **settings))

    apply.__name__ = apply.__qualname__ = f"{function.__name__}_"
    apply.__doc__ = f"In-place form of ``{function.__name__}``: it overwrites this tensor, and returns it."
    return apply


def requires_grad(value: Any) -> bool:
    """Whether ``value`` is a tensor that requires grad."""
    return isinstance(value, Tensor) and value._requires_grad


def assign(tensor: Tensor, result: Tensor) -> Tensor:
    """Write ``result`` into ``tensor``, and let its node be the node of ``tensor``.

    Raises
    ------
    RuntimeError
        If the shape or the dtype of the result does not fit, or ``tensor`` is a leaf that requires grad.
    """
    if result.array.shape != tensor.array.shape:
        raise RuntimeError(
            f"output with shape {list(tensor.array.shape)} doesn't match the broadcast shape "
            f"{list(result.array.shape)}: an operation in place cannot change a shape"
        )
    ours, given = BY_NUMPY[tensor.array.dtype], BY_NUMPY[result.array.dtype]
    if not can_cast(given, ours):
        raise RuntimeError(
            f"result type {given.name} can't be cast to the desired output type {ours.name}: an operation in "
            "place cannot change a dtype; convert the tensor first, as with .float()"
        )
    return write(tensor, ..., result)


def write(tensor: Tensor, index: Any, value: Any) -> Tensor:
    """Write ``value``, a tensor or a number, into the part of ``tensor`` at ``index``, and record the change.

    ``index`` is NumPy's: a slice, integers, arrays, or ``...`` for the whole.

    Raises
    ------
    RuntimeError
        If the shapes do not broadcast, or ``tensor`` is a leaf that requires grad.
    """
    refuse_change(tensor)
    array = value.array if isinstance(value, Tensor) else value
    recorded = thread.state.recording and (requires_grad(value) or tensor._requires_grad)
    old = _old_values(tensor) if recorded else None
    try:
        tensor.array[index] = array
    except ValueError as error:
        raise _cannot_write(tensor, index, array, error) from None
    storage_of(tensor).changed()
    if recorded:
        rebase(tensor, index, value, old)
    return tensor


def _old_values(tensor: Tensor) -> Any:
    """The source of a change's node: the node of the old value, or a small copy of it for the picture."""
    base = tensor.__dict__.get("_base", tensor)
    if base._node is not None or base.array.size > thread.state.keep:
        return base._node
    return new_tensor(base.array.copy())


def _cannot_write(tensor: Tensor, index: Any, array: Any, error: ValueError) -> Exception:
    if not tensor.array.flags.writeable:
        return RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location, as after expand(). Please clone() the tensor before performing the operation."
        )
    part = np.shape(tensor.array[index])
    if np.shape(array) == part:
        return error
    return RuntimeError(
        f"shape mismatch: a value of shape {list(np.shape(array))} cannot be broadcast to {list(part)}, "
        "the shape of the part that is written"
    )


def rebase(tensor: Tensor, index: Any, value: Any, old: Any = None) -> None:
    """Give new nodes to ``tensor``, where ``value`` was written, and to all tensors that share its memory."""
    base = tensor.__dict__.get("_base", tensor)
    steps = tensor.__dict__.get("_steps", ())
    whole = base is tensor and index is ... and isinstance(value, Tensor)
    if whole and value._node is not None and value.array.dtype is tensor.array.dtype:
        node = value._node  # nothing of the old value is left: the result's own node serves
    else:
        node = _node_of_writing(base, steps, index, value, old)
    _give_node(base, node)
    for view in [view for reference in storage_of(base).views if (view := reference()) is not None]:
        if view.__dict__["_base"] is not base:  # a view of base.detach()
            continue
        followed = base
        for step, settings in view.__dict__["_steps"]:
            followed = step.function(followed, **settings)
        _give_node(view, followed._node)


def _give_node(tensor: Tensor, node: Node | None) -> None:
    """Make ``node`` the node of ``tensor``, which goes on to retain its gradient if it did before."""
    tensor._node, tensor._requires_grad = node, node is not None
    retaining = tensor.__dict__.pop("_retains", None)
    if retaining is not None:
        retaining.remove()
        tensor.retain_grad()


def _node_of_writing(base: Tensor, steps: Any, index: Any, value: Any, old: Any) -> Node | None:
    """A new node for ``base``, whose part at ``steps`` and ``index`` was overwritten by ``value``."""
    given = value if isinstance(value, Tensor) else new_tensor(np.asarray(value))
    rules = written.operation.rules((base._requires_grad, given._requires_grad))
    settings = {"steps": steps, "index": index}
    result = record(thread.state, base.array, (base, given), (old, source_of(given)), settings, rules)
    if result._node is not None:
        result._node.storage = base._storage
    return result._node


def _through(steps: Any, base: Any) -> Any:
    """The view of ``base``, an array or a tensor, that the view operations ``steps`` compute in turn."""
    for step, settings in steps:
        base = (step.function if isinstance(base, Tensor) else step.forward)(base, **settings)
    return base


def _unwritten(g: Any, steps: Any, index: Any) -> Any:
    """``g`` with zeros where the new value was written: the gradient of the old value."""
    old = np.ones_like(g.array if isinstance(g, Tensor) else g, dtype=bool)
    _through(steps, old)[index] = False
    return np.where(old, g, 0.0)


@operation(
    "←",
    "{base} with {value} written into a part",
    base=derivative("0 where it was written, else 1", _unwritten),
    value=derivative("1 where it was written", lambda g, steps, index: _through(steps, g)[index]),
    mixed=True,
    name="copy_",
    backward="CopySlices",
)
def written(base: Any, value: Any, /, steps: Any = (), index: Any = ...) -> Any:
    """``base`` with ``value`` in the part that the views ``steps`` and then ``index`` select."""
    changed = base.copy()
    _through(steps, changed)[index] = value
    return changed
