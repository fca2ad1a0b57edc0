"""The inside of a transform, where functions are differentiated: see :mod:`autokit.func.transforms`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary, ref

from autokit import autograd
from autokit.autograd.modes import inference_mode
from autokit.autograd.node import Node
from autokit.func.calls import own, zeros
from autokit.func.trees import flatten, tree_map, unflatten
from autokit.ops.custom_call import nothing
from autokit.ops.names import by_samples_else
from autokit.ops.samples import for_each_sample
from autokit.tensor import Tensor
from autokit.thread_state import thread

Argnums = int | tuple[int, ...]


class Level:
    """The inside of one transform: ``with Level() as level:``.

    It records, also where the caller does not.  One of ``forward`` mode has no leaves of its own.
    """

    def __init__(self, forward: bool = False) -> None:
        self.forward = forward
        self.recorded_outside = thread.state.grad_enabled
        self.own: list[Tensor] = []
        self._mode = inference_mode(False)

    def __enter__(self) -> Level:
        self._mode.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._mode.__exit__(*error)
        for leaf in self.own:
            leaf.__dict__["_closed"] = True

    def enter(self, tensor: Any) -> Tensor:
        """What stands for ``tensor`` in this level."""
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"Thing passed to transform API must be Tensor, got {type(tensor)}: only by tensors can be "
                "differentiated; choose these arguments with argnums"
            )
        tensor = for_each_sample(tensor)
        if self.recorded_outside and tensor._requires_grad:
            return tensor.view_as(tensor)
        same = carried_on(tensor, own(tensor))
        return same if self.forward else self.leaf(same)

    def leaf(self, tensor: Tensor) -> Tensor:
        """``tensor`` itself as a leaf that is known in this level alone."""
        tensor.requires_grad_()
        self.own.append(tensor)
        return tensor

    def is_watched(self, tensors: Iterable[Any]) -> bool:
        """Whether somebody outside may differentiate what is made from ``tensors``."""
        return self.recorded_outside and reaches_open_leaf(tensors, self.own)

    def leave(self, tree: Any) -> Any:
        """``tree`` for the world outside: without the history that is known in this level alone."""

        def out(tensor: Any) -> Any:
            if not isinstance(tensor, Tensor) or not tensor._requires_grad:
                return tensor
            return tensor if self.is_watched([tensor]) else carried_on(tensor, tensor.detach())

        return tree_map(out, tree)

    def derivative(
        self, outputs: list[Tensor], inputs: list[Tensor], seeds: list[Tensor], record: bool
    ) -> list[Tensor]:
        """The gradient of ``outputs`` by ``inputs``, with zeros for what takes no part."""
        pairs = [(output, seed) for output, seed in zip(outputs, seeds) if output._requires_grad]
        found: tuple[Tensor | None, ...] = (None,) * len(inputs)
        if pairs and inputs:
            ends = [output for output, _ in pairs]

            def gradient(*seeds: Tensor) -> tuple[Tensor | None, ...]:
                return autograd.grad(
                    ends, inputs, seeds, retain_graph=True, create_graph=record, allow_unused=True
                )

            # Where a graph of before is run back inside of a vmap, its rules may have none for samples.
            found = by_samples_else(gradient)(*[seed for _, seed in pairs])
        return [zeros(own) if one is None else one for one, own in zip(found, inputs)]


def carried_on(tensor: Tensor, same: Tensor) -> Tensor:
    """``same``, which stands for ``tensor``, moving as that does in each level of forward mode."""
    if thread.state.forward:
        from autokit.func.tangents import carry

        carry(tensor, same)
    return same


def reaches_open_leaf(tensors: Iterable[Any], own: list[Tensor]) -> bool:
    """Whether one of ``tensors`` was made from a leaf that is neither among ``own`` nor closed."""
    closed = set(own)
    came_from: dict[Any, Any] = {
        t._node or t: None for t in tensors if isinstance(t, Tensor) and t._requires_grad
    }
    stack = list(came_from)
    while stack:
        place = stack.pop()
        leaf: Any = _KNOWN.get(place, nothing)() if isinstance(place, Node) else place
        if leaf is not None and leaf not in closed and "_closed" not in leaf.__dict__:
            found = ref(leaf)
            while place is not None:
                if isinstance(place, Node):
                    _KNOWN[place] = found
                place = came_from[place]
            return True
        for target in place.targets if isinstance(place, Node) else ():
            if target is not None and target not in came_from:
                came_from[target] = place
                stack.append(target)
    return False


_KNOWN: WeakKeyDictionary[Node, ref[Tensor]] = WeakKeyDictionary()
"""For nodes that were looked at an open leaf that each was made from: a loop of transforms asks again and
again whether its graph reaches one, and the graph grows."""


class Entered:
    """Arguments of a call, those under ``argnums`` taken into ``level``; trees are taken apart."""

    def __init__(self, level: Level, args: tuple[Any, ...], argnums: Argnums, name: str) -> None:
        if not isinstance(argnums, int | tuple):
            raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
        chosen = (argnums,) if isinstance(argnums, int) else argnums
        if not chosen:
            raise RuntimeError(f"argnums must be non-empty: {name} differentiates by what they name")
        for place in chosen:
            if not isinstance(place, int):
                raise RuntimeError(f"argnum must be int, got: {type(place)}")
            if not -len(args) <= place < len(args):
                raise RuntimeError(
                    f"Got argnum={place}, but only {len(args)} positional inputs: {name} differentiates by "
                    "one of these"
                )
        places = [place % len(args) for place in chosen]
        if len(set(places)) != len(places):
            raise RuntimeError(f"argnums elements must be unique, got {argnums}")
        whole = tuple([args[place] for place in places])
        given, self.structure = flatten(whole[0] if isinstance(argnums, int) else whole)
        self.leaves = [level.enter(leaf) for leaf in given]
        back = unflatten(self.leaves, self.structure)
        replaced = dict(zip(places, (back,) if isinstance(argnums, int) else back))
        self.args = tuple([replaced.get(place, arg) for place, arg in enumerate(args)])


def outputs_of(name: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """What a function returned to be differentiated, and with ``has_aux`` what is only handed on."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    for leaf in flatten(result[1])[0]:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}: Expected tensors, got unsupported type {type(leaf)} in aux: let the function store "
                "what is no tensor somewhere else"
            )
    return result


def tensors_of(name: str, result: Any) -> tuple[list[Tensor], Any]:
    """The tensors that a function returned, and in what structure; ``name`` is the transform that asks."""
    leaves, structure = flatten(result)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}: Expected f(*args) to return only tensors, got unsupported type "
                f"{type(leaf).__name__}"
            )
    return leaves, structure
