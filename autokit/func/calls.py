"""One call of a function at given inputs, and its derivatives: what ``autograd.functional`` computes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit import autograd
from autokit.devices import beside, made_beside
from autokit.func.forward import Tape
from autokit.tensor import Tensor, new_tensor


class Call:
    """One call of ``func``: its inputs as tensors of their own, and its outputs."""

    def __init__(
        self, name: str, func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool
    ) -> None:
        self.name, self.create_graph, self.strict = name, create_graph, strict
        self.of_tuple, given = as_tuple(inputs, "inputs", name)
        # New tensors, so that the same ones used by func directly are constants.
        self.inputs = tuple(
            [
                one.view_as(one) if create_graph and one._requires_grad else own(one).requires_grad_()
                for one in given
            ]
        )
        self.to_tuple, self.outputs = as_tuple(
            func(*self.inputs), "outputs of the user-provided function", name
        )
        for place, output in enumerate(self.outputs):
            if strict and not output._requires_grad:
                self.refuse(f"Output {place} of the user-provided function does not require gradients")

    def refuse(self, what: str) -> None:
        """Raise because of ``strict``."""
        raise RuntimeError(f"{what}. This is not allowed in strict mode of {self.name}().")

    def vector(self, v: Any, like: tuple[Tensor, ...], of_tuple: bool, which: str) -> tuple[Tensor, ...]:
        """The vector ``v``, checked against the tensors ``like``; ones where it may be left out."""
        if v is None:
            if len(like) != 1 or like[0].array.size != 1:
                raise RuntimeError(
                    f"The vector v can only be None if {which} a single Tensor with a single element."
                )
            return (zeros(like[0]) + 1,)
        _, given = as_tuple(v, "v", self.name)
        if len(given) != len(like):
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}."
                if of_tuple
                else "The given v should contain a single Tensor."
            )
        for place, (one, other) in enumerate(zip(given, like)):
            if one.array.shape != other.array.shape:
                raise RuntimeError(
                    f"{f'Entry {place} in ' if of_tuple else ''}v has invalid size: should be {other.shape} "
                    f"but got {one.shape}."
                )
        return given if self.create_graph else tuple([one.detach() for one in given])

    def gradient(
        self, outputs: Any, inputs: Any, seeds: Any, record: bool, what: str = "The output"
    ) -> tuple[Tensor, ...]:
        """The gradient of ``outputs``, those that have one, by ``inputs``; zeros where there is none."""
        pairs = [(output, seed) for output, seed in zip(outputs, seeds) if output._requires_grad]
        found: Any = (None,) * len(inputs)
        if pairs:
            ends, starts = zip(*pairs)
            found = autograd.grad(
                ends, inputs, starts, retain_graph=True, create_graph=record, allow_unused=True
            )
        for place, one in enumerate(found):
            if self.strict and one is None:
                self.refuse(f"{what} of the user-provided function is independent of input {place}")
            if self.strict and record and not one._requires_grad:
                self.refuse(
                    f"The derivative that {self.name}() takes of the user-provided function is independent "
                    f"of input {place}, and cannot be differentiated again"
                )
        return tuple([zeros(own) if one is None else one for one, own in zip(found, inputs)])

    def slope(self) -> tuple[Tensor, ...]:
        """The gradient of the one number that the function returns, with a graph."""
        if self.to_tuple:
            raise RuntimeError(f"The function given to {self.name} should return a single Tensor")
        if self.outputs[0].array.size != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {self.name} should contain a single element, "
                f"and has shape {list(self.outputs[0].shape)}"
            )
        return self.gradient(self.outputs, self.inputs, [zeros(self.outputs[0]) + 1], True)

    def finished(self, tensors: tuple[Tensor, ...], as_tuple: bool) -> Any:
        """``tensors`` as the caller gets them."""
        out = tuple([one if self.create_graph else one.detach() for one in tensors])
        return out if as_tuple else out[0]


def as_tuple(value: Any, what: str, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether ``value`` is a tuple, and what it holds, or it alone in one."""
    is_tuple = isinstance(value, tuple)
    for place, one in enumerate(value if is_tuple else (value,)):
        if not isinstance(one, Tensor):
            where = f"value at index {place}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {where} "
                f"has type {type(one)}."
            )
    return is_tuple, value if is_tuple else (value,)


def own(tensor: Tensor) -> Tensor:
    """The elements of ``tensor`` in one that may learn: the same memory, but for what inference mode made."""
    return tensor.detach().clone() if tensor.is_inference() else tensor.detach()


def zeros(tensor: Tensor) -> Tensor:
    """Zeros of the shape and dtype of ``tensor``."""
    return new_tensor(made_beside(np.zeros_like, tensor.array))


def forward(call: Call, outputs: tuple[Tensor, ...], along: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The derivative of ``outputs`` by the inputs, in the direction ``along``."""
    if not call.strict:
        found = Tape(outputs, call.inputs).along(along, call.create_graph)
        return tuple([zeros(output) if one is None else one for one, output in zip(found, outputs)])
    # Strictness asks what each gradient depends on, so these are made; they are linear in the seeds.
    seeds = tuple([zeros(output).requires_grad_() for output in outputs])
    linear = call.gradient(outputs, call.inputs, seeds, True)
    return call.gradient(linear, seeds, along, call.create_graph, "The gradient")


def basis(tensor: Tensor) -> list[Tensor]:
    """For each element the tensor of that shape which is 1 there, and 0 elsewhere."""
    shape, size = tensor.array.shape, tensor.array.size
    rows = beside(tensor.array, np.eye(size, dtype=tensor.array.dtype))
    return [new_tensor(row.reshape(shape)) for row in rows]
