"""What hooks get, and what they may return: gradients of nodes, as tensors and checked."""

from __future__ import annotations

from typing import Any

from autokit.autograd.node import Node
from autokit.ops.custom import Parts
from autokit.tensor import Tensor, new_tensor


def as_tensor(gradient: Any) -> Tensor:
    """The engine's ``gradient``, an array or a tensor, as a hook gets it."""
    return gradient if isinstance(gradient, Tensor) else new_tensor(gradient)


def as_many(hook: Any, changed: Any, expected: int) -> tuple[Any, ...]:
    """What ``hook`` returned for a tuple of gradients: a tuple of as many."""
    if not isinstance(changed, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(changed).__name__}'")
    if len(changed) != expected:
        raise RuntimeError(
            f"hook '{getattr(hook, '__name__', 'hook')}' has returned an incorrect number of values (got "
            f"{len(changed)}, but expected {expected})"
        )
    return changed


def arrived_at(node: Node, gradient: Any) -> tuple[Tensor | None, ...]:
    """The gradients of the results of ``node``: None where nothing came back to one of several."""
    if not isinstance(gradient, Parts):
        return (as_tensor(gradient),)
    each = [gradient.slots.get(slot) for slot in range(len(node.settings["ctx"]._outputs))]  # type: ignore[index]
    return tuple([one if one is None else as_tensor(one) for one in each])


def checked_changes(hook: Any, changed: tuple[Any, ...], given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What ``hook`` returned for the gradients ``given``, each checked."""
    pairs = zip(changed, given)
    return tuple([new if old is None else checked_change(hook, new, old) for new, old in pairs])


def checked_change(hook: Any, changed: Any, tensor: Tensor) -> Tensor:
    """What ``hook`` returned, if it can take the gradient's place."""
    if not isinstance(changed, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(changed).__name__}'")
    name = getattr(hook, "__name__", "hook")
    if changed.array.shape != tensor.array.shape:
        raise RuntimeError(
            f"hook '{name}' has changed the size of value: from {tuple(tensor.shape)} to "
            f"{tuple(changed.shape)}"
        )
    if changed.array.dtype != tensor.array.dtype:
        raise RuntimeError(
            f"hook '{name}' has changed the type of value (was {tensor.type()} got {changed.type()})"
        )
    return changed


def refuse_returned(returned: Any, leaf: Tensor) -> None:
    """Refuse what a hook on a leaf ``returned``, but the ``leaf``: the gradient is in ``.grad`` already."""
    if returned is leaf:
        return
    if isinstance(returned, Tensor):
        raise RuntimeError("Tensor post accumulate grad hooks should return None: change leaf.grad itself")
    if returned is not None:
        raise TypeError(f"expected Variable, but hook returned '{type(returned).__name__}'")
