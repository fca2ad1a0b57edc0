"""Changing a tensor where it stands: ``x += 1``, ``x[0] = 1``, ``x.zero_()``.

An in-place operation is the operation itself, whose result then overwrites
the tensor.  The tensor takes over the result's place in the graph, and its
storage notes the change, so that a derivative that saved the old elements
refuses to use the new ones.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as get_frame
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.autograd.modes import thread
from autokit.autograd.node import next_sequence
from autokit.ops.errors import broadcast_message, describe
from autokit.ops.index import plain_getitem, plain_index, put, write
from autokit.ops.names import Names
from autokit.ops.recording import OUR_FILES, storage_of
from autokit.tensor import Tensor, new_tensor


def in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The in-place form of an operation: ``add`` as ``add_``."""

    def apply(self: Tensor, *arguments: Any, **settings: Any) -> Tensor:
        refuse_change(self)
        overwrite(self, function(_before(self, arguments), *arguments, **settings))
        return self

    apply.__name__ = apply.__qualname__ = f"{function.__name__}_"
    apply.__doc__ = f"In-place form of :func:`{function.__name__}`: the result overwrites the tensor."
    return apply


def refuse_change(tensor: Tensor) -> None:
    """Raise where a change in place would lose a gradient, or change one number for several elements."""
    if not tensor.array.flags.writeable:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            f"location, or it may not be written to. Please clone() {describe(tensor)} before the operation."
        )
    if not thread.state.grad_enabled:
        return
    if tensor._requires_grad and tensor.grad_fn is None:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation: "
            f"{describe(tensor)}. To update a parameter, do it inside `with torch.no_grad():`"
        )


def _before(tensor: Tensor, arguments: tuple[Any, ...]) -> Tensor:
    """The tensor as it was, to take part in the graph; itself where nothing is recorded."""
    others = any(isinstance(argument, Tensor) and argument._requires_grad for argument in arguments)
    if not (thread.state.grad_enabled and (tensor._requires_grad or others)):
        return tensor
    before = new_tensor(tensor.array.copy())
    before.grad_fn, before._requires_grad = tensor.grad_fn, tensor._requires_grad
    if tensor.name:
        before.name = tensor.name
    return before


def overwrite(tensor: Tensor, result: Tensor) -> None:
    """Let ``tensor`` hold the elements of ``result``, and its place in the graph.

    Raises
    ------
    RuntimeError
        If the shape would change, or the elements would lose their kind.
    """
    array, made = tensor.array, result.array
    if made.shape != array.shape:
        raise RuntimeError(
            f"output with shape {list(array.shape)} doesn't match the broadcast shape "
            f"{list(made.shape)}: an in-place operation keeps the shape of {describe(tensor)}"
        )
    if dtypes.category(made.dtype) > dtypes.category(array.dtype):
        raise RuntimeError(
            f"result type {_capital(made.dtype)} can't be cast to the desired output type "
            f"{_capital(array.dtype)}: an in-place operation keeps the dtype of {describe(tensor)}"
        )
    node = result.grad_fn
    if node is not None:
        _refuse_view(tensor)
    array[...] = made
    mark_changed(tensor)
    if node is not None:
        storage_of(tensor).rebase()
        # The node stands for the tensor from here on, and so is newer than the change itself.
        node.sequence = next_sequence()
        node.dtype, node.storage = array.dtype, tensor._storage
        tensor.grad_fn, tensor._requires_grad = node, True


def _refuse_view(tensor: Tensor) -> None:
    """Raise where a recorded change of a view would have to become part of its base's history too."""
    owner = tensor._storage.owner() if tensor._storage is not None else None
    if owner is None or owner is tensor:
        return
    if owner._requires_grad and owner.grad_fn is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation: "
            f"{describe(tensor)} is a view of {describe(owner)}. To update a parameter, do it inside "
            "`with torch.no_grad():`"
        )
    raise RuntimeError(
        f"{describe(tensor)} is a view of {describe(owner)}, and is being used in an in-place operation that "
        "is part of a graph. autokit does not follow gradients from a view to its base: write into the base "
        "itself, as in base[0] = value, or clone() the view first, or work inside `with torch.no_grad():`"
    )


def _capital(dtype: np.dtype) -> str:
    names = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long", "int32": "Int"}
    return names.get(dtype.name, dtype.name.capitalize())


def mark_changed(tensor: Tensor) -> None:
    """Note that the elements of ``tensor`` were changed, after a change made directly to its array."""
    frame = get_frame(1)
    while frame.f_code.co_filename in OUR_FILES:
        frame = frame.f_back  # type: ignore[assignment]
    storage_of(tensor).change(frame.f_code, frame.f_lasti)


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """Write ``value`` at ``index``; a place named twice is written once."""
    refuse_change(self)
    entries = plain_index(self, index)
    if isinstance(value, Tensor) and value.array.ndim and value.array.size == 1:
        value = value.reshape(())  # one element fits everywhere, whatever its dimensions
    recorded = isinstance(value, Tensor) and value._requires_grad or self._requires_grad
    if recorded and thread.state.grad_enabled:
        overwrite(self, put(_before(self, (value,)), value, index=entries))
        return
    try:
        write(self.array, entries, value.array if isinstance(value, Tensor) else value)
    except ValueError as error:
        part = plain_getitem(self.detach(), index=entries).shape
        given = tuple(value.shape) if hasattr(value, "shape") else np.shape(value)
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to indexing result of "
            f"shape {list(part)}. {broadcast_message(given, part)}"
        ) from error
    mark_changed(self)


def fill_(self: Tensor, value: Any) -> Tensor:
    """Set each element to ``value``, a number or a tensor without dimensions."""
    if isinstance(value, Tensor) and value.array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.array.ndim} dimensions: copy_() takes over many elements"
        )
    if not isinstance(value, Tensor | int | float | complex | np.generic):
        raise TypeError(f"fill_(): argument 'value' must be a number or a Tensor, not {type(value).__name__}")
    setitem(self, Ellipsis, value)
    return self


def zero_(self: Tensor) -> Tensor:
    """Set each element to 0."""
    return fill_(self, 0)


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Take over the elements of ``src``, which may broadcast and have another dtype."""
    setitem(self, Ellipsis, src if src.array.dtype == self.array.dtype else src.to(self.dtype))
    return self


NAMES = Names(methods="copy_ fill_ zero_")
