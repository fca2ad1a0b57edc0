"""A level is one call of a function that is being differentiated; levels nest, as in ``grad(grad(f))``.

``grad``, ``vjp`` and the others enter a level, call the function in it, and leave the level. The inputs by
which they differentiate are replaced by tensors of the level: by a new leaf, or by a view where the level
around differentiates, too. A level computes the derivative by these tensors, and all others are constants to
it. So levels nest to any depth, and no derivative depends on what moves at another level.

References
----------
B. A. Pearlmutter and J. M. Siskind, "Reverse-mode AD in a functional framework: Lambda the ultimate
backpropagator", TOPLAS 30(2), 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autokit.autograd import grad as gradient_of
from autokit.base import errors
from autokit.engine.modes import enable_grad, thread
from autokit.engine.observed import behind
from autokit.engine.tensor import Tensor, new_tensor
from autokit.func.trees import flatten, mapped, unflatten

Argnums = int | tuple[int, ...]


class Level:
    """The call of a function by a transform, ``with Level() as level:``; operations are recorded in it."""

    def __init__(self) -> None:
        self.recorded_outside = thread.state.recording
        self.leaves: list[Tensor] = []
        self._mode = enable_grad()

    def __enter__(self) -> Level:
        self._mode.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._mode.__exit__(*error)
        for leaf in self.leaves:
            leaf.__dict__["_closed"] = True

    def enter(self, tensor: Any) -> Tensor:
        """The tensor that replaces ``tensor`` in this level."""
        if not isinstance(tensor, Tensor):
            raise ValueError(
                "only tensors can be differentiated by, and one argument is of type "
                f"{type(tensor).__name__}; choose the arguments with argnums"
            )
        if tensor.array.dtype.kind != "f":
            raise RuntimeError(
                f"only floating point tensors can be differentiated by: {errors.describe(tensor)}; "
                "convert it with .float()"
            )
        if self.recorded_outside and tensor._requires_grad:
            return tensor.view_as(tensor)
        leaf = tensor.detach()
        leaf._requires_grad = True
        self.leaves.append(leaf)
        return leaf

    def is_watched(self, tensors: Iterable[Any]) -> bool:
        """Whether the caller may differentiate what was computed from ``tensors``."""
        if not self.recorded_outside:
            return False
        tensors = [each for each in tensors if isinstance(each, Tensor) and each._requires_grad]
        ends = {each._node or each for each in tensors}
        for node in behind(ends):
            ends.update(node.targets)
        return any([_is_open(end) and not any(end is leaf for leaf in self.leaves) for end in ends])

    def leave(self, tree: Any) -> Any:
        """``tree`` as the caller gets it: its tensors are detached from the graph of this level alone."""

        def out(tensor: Any) -> Any:
            if not isinstance(tensor, Tensor) or not tensor._requires_grad:
                return tensor
            return tensor if self.is_watched([tensor]) else tensor.detach()

        return mapped(tree, out)


def _is_open(end: Any) -> bool:
    """Whether ``end`` is a leaf, other than the leaves of levels that were left."""
    return isinstance(end, Tensor) and "_closed" not in end.__dict__


def derivative(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], seeds: Sequence[Tensor], record: bool
) -> list[Tensor]:
    """The gradient of ``outputs`` by ``inputs``, with zeros for inputs that they do not depend on."""
    pairs = [(output, seed) for output, seed in zip(outputs, seeds) if output._requires_grad]
    if not pairs:
        return [zeros(each) for each in inputs]
    ends, seeds = zip(*pairs)
    found = gradient_of(ends, inputs, seeds, retain_graph=True, create_graph=record, materialize_grads=True)
    return [each for each in found if each is not None]


def zeros(tensor: Tensor) -> Tensor:
    """Zeros of the shape and dtype of ``tensor``."""
    return new_tensor(np.zeros_like(tensor.array))


def basis(tensor: Tensor) -> list[Tensor]:
    """For each element the tensor of that shape which is 1 there, and 0 elsewhere."""
    found = []
    for place in range(tensor.array.size):
        one = np.zeros_like(tensor.array, order="C")
        one.reshape(-1)[place] = 1
        found.append(new_tensor(one))
    return found


class Entered:
    """The arguments of a call, with those of ``argnums`` replaced by tensors of ``level``.

    ``leaves`` are these tensors, ``structure`` the nested containers that held them.
    """

    def __init__(self, level: Level, args: tuple[Any, ...], argnums: Argnums, name: str) -> None:
        chosen = (argnums,) if isinstance(argnums, int) else argnums
        for place in chosen:
            if not isinstance(place, int):
                raise RuntimeError(f"{name}: argnums must be int or a tuple of int, got {argnums}")
            if not -len(args) <= place < len(args):
                raise RuntimeError(f"{name}: got argnums={argnums}, and {len(args)} positional arguments")
        places = [place % len(args) for place in chosen]
        if not places or len(set(places)) != len(places):
            raise RuntimeError(f"{name}: argnums must name at least one argument, and each once: {argnums}")
        whole = tuple([args[place] for place in places])
        given, self.structure = flatten(whole[0] if isinstance(argnums, int) else whole)
        self.leaves = [level.enter(leaf) for leaf in given]
        back = unflatten(self.leaves, self.structure)
        replaced = dict(zip(places, (back,) if isinstance(argnums, int) else back))
        self.args = tuple([replaced.get(place, arg) for place, arg in enumerate(args)])


def outputs_of(name: str, result: Any, has_aux: bool) -> tuple[list[Tensor], Any, Any]:
    """The tensors that a function returned, their structure, and the second part of a pair if ``has_aux``."""
    aux = None
    if has_aux:
        if not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(f"{name}: with has_aux=True the function must return a pair (output, aux)")
        result, aux = result
    leaves, structure = flatten(result)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}: the function must return tensors, and it returned {type(leaf).__name__}"
            )
    return leaves, structure, aux
