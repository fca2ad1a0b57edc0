"""Reverse mode: the gradient of a result by every leaf that it was computed from.

The whole method is in :func:`backward`. Each step processes one node: of those that a gradient has reached,
the newest. A node is always newer than its operands, so all nodes that use its result were processed before
and have sent their contributions: the sum of these is the complete gradient of its result. The node's
derivatives turn it into a contribution for each operand, which is added up at an older node or at a leaf.

There is no recursion, so the depth of a graph is limited by memory alone. ``observed`` is the same method for
a pass that someone watches, with hooks for example.

References
----------
A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008, chapter 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from autokit.base import errors
from autokit.engine.modes import enable_grad, thread
from autokit.engine.node import SEVERAL, Node
from autokit.engine.operation import cast, unchanged
from autokit.engine.record import OUT, source_line, storage_of
from autokit.engine.tensor import Tensor, new_tensor


def backward(roots: Sequence[Any], seeds: Sequence[Any], retain_graph: bool = False) -> None:
    """Send the gradients ``seeds`` back from ``roots``, and add up those of the leaves in ``.grad``.

    ``roots`` are nodes or leaves, ``seeds`` are arrays.

    Raises
    ------
    RuntimeError
        If the graph was freed, or a saved tensor was changed in place.
    """
    gradients, others = seeded(roots, seeds)
    newest: Any = None  # a node that was reached and is kept out of the heap; in a chain it is the next
    while newest is not None or others:
        if newest is None or (others and -others[0][0] > newest.order):
            if newest is not None:
                heappush(others, (-newest.order, newest))
            newest = heappop(others)[1]
        node, newest = newest, None
        g = gradients.pop(node)
        rules = node.rules
        for place, vjp, needs in apply_joint(node, g) if rules.joint else rules.for_arrays:
            target = node.sources[place]
            if needs is None:
                contribution = g if vjp is unchanged else vjp(g)
            elif needs.__class__ is int:
                contribution = vjp(g, value_of(node, needs))
            else:
                contribution = vjp(g, *fetch(node, needs, target))
            is_node = target.__class__ is Node
            like = target if is_node else target.array
            if contribution.shape != like.shape or contribution.dtype is not like.dtype:
                contribution = fitted(contribution, like)
            arrived = gradients.get(target)
            if arrived is not None:
                contribution = arrived + contribution
            elif not is_node:
                if contribution is g or contribution.base is not None:
                    contribution = contribution.copy()  # a leaf keeps it: no one else may hold its memory
            elif newest is None:
                newest = target
            else:
                heappush(others, (-target.order, target))
            gradients[target] = contribution
        if not retain_graph:
            node.saved = None
            if rules.saves_output and node.output is not None:
                release(node)
    for leaf, g in gradients.items():
        accumulate(leaf, g)


def seeded(roots: Sequence[Any], seeds: Sequence[Any]) -> tuple[dict[Any, Any], list[tuple[int, Node]]]:
    """The gradient of each root, the sum of its seeds, and a heap of the nodes among them, newest first."""
    gradients: dict[Any, Any] = {}
    nodes: list[tuple[int, Node]] = []
    for root, seed in zip(roots, seeds):
        if root in gradients:
            seed = gradients[root] + seed
        elif root.__class__ is Node:
            heappush(nodes, (-root.order, root))
        elif not isinstance(seed, Tensor):
            seed = seed.copy()  # a leaf keeps it
        gradients[root] = seed
    return gradients, nodes


def release(node: Node) -> None:
    """Free the result that ``node`` saved; a small one stays for the picture."""
    output, keep = node.output, thread.state.keep
    size = sum([each.size for each in output or ()]) if node.shape is SEVERAL else output.size
    if size > keep:
        node.output = None


def accumulate(leaf: Tensor, g: Any) -> None:
    """Add the gradient ``g``, an array or a tensor, to the ``.grad`` of ``leaf``."""
    if not leaf._requires_grad:
        return  # it was frozen since
    if leaf._grad is None:
        leaf._grad = g.clone() if isinstance(g, Tensor) else new_tensor(g)
    elif isinstance(g, Tensor) or leaf._grad._requires_grad:
        with enable_grad():  # the sum keeps the graphs of both
            leaf._grad = leaf._grad + g
    else:
        leaf._grad.array += g
        storage_of(leaf._grad).changed()


def fitted(contribution: Any, like: Any) -> Any:
    """``contribution`` in the shape and the dtype of ``like``: summed where the operand was broadcast."""
    shape = like.shape
    if contribution.shape != shape:
        extra = contribution.ndim - len(shape)
        if extra < 0:
            contribution = np.broadcast_to(contribution, shape)
        elif extra:
            contribution = contribution.sum(tuple(range(extra)))
        repeated = tuple([at for at, size in enumerate(shape) if size == 1 and contribution.shape[at] != 1])
        if repeated:
            contribution = contribution.sum(repeated, keepdims=True)
        if contribution.shape != shape:  # smaller: the same gradient for every element
            contribution = np.broadcast_to(contribution, shape)
    is_tensor = isinstance(contribution, Tensor)
    if (contribution.array if is_tensor else contribution).dtype == like.dtype:
        return contribution
    return cast(contribution, dtype=like.dtype) if is_tensor else contribution.astype(like.dtype)


def fetch(node: Node, needs: tuple[Any, ...], target: Any) -> list[Any]:
    """What a derivative of ``node`` takes after ``g``: saved arrays, settings, or the shape of ``target``.

    Raises
    ------
    RuntimeError
        If they were freed by a backward pass, or changed in place since they were saved.
    """
    return [value_of(node, need) if need.__class__ is int else _by_name(node, need, target) for need in needs]


def value_of(node: Node, need: int) -> Any:
    """The saved operand of ``node`` at the place ``need``, or its result for :data:`OUT`, as an array."""
    saved = node.saved
    if saved is None:
        refuse_freed(node)
    if need < 0:
        storage, array = node.storage, node.output
    else:
        operand = saved[need]  # type: ignore[index]
        if operand.__class__ is not Tensor and not isinstance(operand, Tensor):
            return operand  # a number, or None for an operand that was left out
        storage, array = operand._storage, operand.array
    if storage is not None and storage.modified > node.order:
        refuse_changed(node, need, storage)
    return array


def _by_name(node: Node, need: str, target: Any) -> Any:
    """What a derivative asks for by a name: its operand's shape, all operands as a list, or a setting."""
    if need == "shape":
        return target.shape if target.__class__ is Node else target.array.shape
    if need == "operands":  # of an operation with any number of them
        refuse_freed(node)
        return [fetch(node, (place,), None)[0] for place in range(len(node.saved or ()))]
    return node.settings[need]  # type: ignore[index]


def apply_joint(node: Node, g: Any) -> list[tuple[int, Any, None]]:
    """Compute all gradients by the joint derivative; each is returned as a derivative that is a constant."""
    ((_, vjp, needs),) = node.rules.for_arrays
    needs = (needs,) if needs.__class__ is int else needs or ()
    gradients = vjp(g, *fetch(node, needs, node.sources[0]))
    learns = node.rules.learns
    return [
        (place, lambda _, one=one: one, None)
        for place, one in enumerate(gradients)
        if one is not None and learns[place]
    ]


def refuse_freed(node: Node) -> None:
    """Raise, because the saved tensors of ``node`` were freed."""
    if node.saved is None:
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they "
            "have already been freed). Saved intermediate values of the graph are freed when you call "
            ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
            "graph a second time or if you need to access saved tensors after calling backward."
        )


def refuse_changed(node: Node, need: int, storage: Any) -> None:
    """Raise, because what ``node`` saved was changed in place; the error names the tensor and the line."""
    rules = node.rules
    if need == OUT:
        what, shape = "its result", list(node.shape)
    else:
        operand = node.saved[need]  # type: ignore[index]
        what, shape = errors.describe(operand), list(operand.shape)
    lines = [source_line(code, instruction) for _, code, instruction in storage.changes_since(node.order)]
    where = "".join(
        [
            f"; changed in {errors.shown_file(line[0])}, line {line[1]}: {line[2]}"
            for line in lines[-1:]
            if line
        ]
    )
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"{what}, of shape {shape}, which {rules.operation.name} ({node.kind}) saved, is at version "
        f"{storage.version}{where}. Compute a new tensor in place of changing this one, or clone() it before"
    )
