"""Reverse mode: the gradient of an output by everything that it was made from.

The whole method is in :func:`run_backward`.  Of all nodes that a gradient has
reached, it takes the newest.  What a node was made from is always older than
the node, so every consumer of its result was taken before, and has sent its
contribution: the sum of them is the final gradient there.  The node's rule
turns that gradient into a contribution for each operand, and these are added
up at older nodes and at the leaves.

There is no recursion, so the depth of a graph is limited by memory alone.

References
----------
A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008,
chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.autograd.modes import thread
from autokit.autograd.node import Node, source_line
from autokit.tensor import Tensor, new_tensor

Listener = Callable[..., None]
"""Called while gradients flow, as

* ``listener("ready", node, gradient)``: all contributions to the node are in;
* ``listener("contribution", node, place, raw, made, before, total)``: its rule
  made ``raw`` for the operand at ``place``, which is ``made`` in that
  operand's shape, and brought the sum there from ``before`` (or None) to
  ``total``;
* ``listener("leaf", leaf, gradient)``: all contributions to the leaf are in.

The values are arrays, good until the listener returns (in a rehearsal, for ever).
"""


class ChangedSince(RuntimeError):
    """A value that a derivative needs was changed in place after it was saved."""


def run_backward(
    roots: Iterable[Node | Tensor],
    seeds: Iterable[Any],
    *,
    inputs: Iterable[Node | Tensor] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    listener: Listener | None = None,
    into_leaves: bool = True,
    rehearsal: bool = False,
) -> dict[Any, Any]:
    """Send the gradients ``seeds`` back from ``roots``.

    Parameters
    ----------
    roots, seeds
        Where to begin, nodes or leaves, and the gradient of each: arrays, or
        tensors under ``create_graph``.
    inputs
        Where to look: only what leads to these nodes and leaves is computed.
        None means every leaf.
    retain_graph : bool
        Keep what the nodes saved, for another pass.
    create_graph : bool
        Compute with tensors, so that the gradients have a graph themselves.
    listener : callable, optional
        Told what happens; see :data:`Listener`.
    into_leaves : bool
        Add each leaf's gradient to its ``.grad``.
    rehearsal : bool
        Leave everything as it was: no hooks run, nothing is freed, and nodes
        that were freed take part with the values that they kept.

    Returns
    -------
    dict
        The gradient of each of ``inputs`` that was reached, or of each leaf.

    Raises
    ------
    RuntimeError
        If the graph was freed, or a saved tensor was changed in place.
    """
    gradients: dict[Any, Any] = {}
    for root, seed in zip(roots, seeds):
        own = seed if create_graph or root.__class__ is Node else seed.copy()
        gradients[root] = gradients[root] + own if root in gradients else own
    wanted = None if inputs is None else set(inputs)
    useful = None if wanted is None else _leading_to(wanted, gradients)
    found: dict[Any, Any] = {}
    fetch_values = _fetch_tensors if create_graph else fetch_arrays
    reached = [(-root.sequence, root) for root in gradients if root.__class__ is Node]
    heapify(reached)

    state = thread.state
    before_pass, state.grad_enabled = state.grad_enabled, create_graph
    try:
        while reached:
            node = heappop(reached)[1]
            gradient = gradients.pop(node)
            targets = node.targets
            if node.hooks is not None and not rehearsal:
                gradient = _run_hooks(node.hooks, gradient)
            if wanted is not None and node in wanted:
                found[node] = gradient
            if listener is not None:
                listener("ready", node, gradient)
            if node.freed and not rehearsal:
                _refuse_freed(node)

            rules = node.operation.rules
            if rules[0].slot < 0:
                rules = _made_together(rules[0], gradient, fetch_values(node, rules[0].fetch, None))
            for slot, vjp, fetch, only in rules:
                target = targets[slot]
                if target is None or (useful is not None and target not in useful):
                    continue
                # Most rules need nothing, or one operand: these go without a list of values.
                if not fetch:
                    made = vjp(gradient)
                elif only is None or create_graph:
                    made = vjp(gradient, *fetch_values(node, fetch, target))
                else:
                    operand = node.operands[only]  # type: ignore[index]
                    if operand._storage is not None and operand._storage.modified > node.sequence:
                        _refuse_changed(node, operand._storage, operand)
                    made = vjp(gradient, operand.array)
                raw = made
                is_node = target.__class__ is Node
                like = target if is_node else target.array
                if made.shape != like.shape:
                    made = unbroadcast(made, like.shape)
                if made.dtype is not like.dtype:
                    made = _converted(made, like.dtype)
                before = gradients.get(target)
                if before is None:
                    # A leaf keeps what it gets: it must be nobody else's memory.
                    mine = is_node or create_graph or (made is not gradient and made.base is None)
                    total = made if mine else made.copy()
                    if is_node:
                        heappush(reached, (-target.sequence, target))
                elif not (create_graph or rehearsal) and made is not gradient and made.base is None:
                    made += before
                    total = made
                else:
                    total = before + made
                gradients[target] = total
                if listener is not None:
                    listener("contribution", node, slot, raw, made, before, total)
            if not (retain_graph or rehearsal):
                node.freed = True
                if not node.kept:
                    node.operands = node.output = None

        for leaf, gradient in gradients.items():
            if wanted is not None and leaf not in wanted:
                continue
            hooks = leaf.__dict__.get("_hooks")
            if hooks and not rehearsal:
                gradient = _run_hooks(hooks, gradient)
            if listener is not None:
                listener("leaf", leaf, gradient)
            found[leaf] = gradient
            if into_leaves and not rehearsal:
                leaf._accumulate(gradient)
    finally:
        state.grad_enabled = before_pass
    return found


def _made_together(rule: Any, gradient: Any, values: list[Any]) -> list[Any]:
    """The gradients that one rule makes for all operands, each as a rule of its own that is done already."""
    return [
        (place, lambda _, made=made: made, (), None)
        for place, made in enumerate(rule.vjp(gradient, *values))
        if made is not None
    ]


def _leading_to(wanted: set[Any], roots: Iterable[Any]) -> set[Any]:
    """The nodes and leaves behind ``roots`` that pass a gradient on to one of ``wanted``."""
    nodes = {root for root in roots if root.__class__ is Node}
    stack = list(nodes)
    while stack:
        for target in stack.pop().targets:
            if target.__class__ is Node and target not in nodes:
                nodes.add(target)
                stack.append(target)
    useful = set(wanted)
    for node in sorted(nodes, key=attrgetter("sequence")):
        if any(target in useful for target in node.targets):
            useful.add(node)
    return useful


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum ``gradient`` over the dimensions along which an operand of ``shape`` was repeated.

    An element that took part several times has several effects on the result,
    and its gradient is the sum of them.

    >>> unbroadcast(np.ones((2, 3)), (3,)), unbroadcast(np.ones((2, 3)), (2, 1)).tolist()
    (array([2., 2., 2.]), [[3.0], [3.0]])
    """
    added = len(gradient.shape) - len(shape)
    stretched = tuple(
        place
        for place, size in enumerate(gradient.shape)
        if place < added or (shape[place - added] == 1 != size)
    )
    return (
        gradient.sum(axis=stretched, keepdims=True).reshape(shape) if stretched else gradient.reshape(shape)
    )


def _converted(gradient: Any, dtype: Any) -> Any:
    if isinstance(gradient, np.ndarray | np.generic):
        return gradient if gradient.dtype == dtype else gradient.astype(dtype)
    own = gradient.dtype
    if isinstance(own, dtypes.dtype):  # a tensor's
        return gradient if own.numpy == dtype else gradient.to(dtypes.BY_NUMPY[dtype])
    return gradient if own == dtype else gradient.astype(dtype)


# ---------------------------------------------------------------- what a node saved


def fetch_arrays(node: Node, fetch: tuple[int | str, ...], target: Any) -> list[Any]:
    """The values that a rule asked for, as arrays."""
    values = []
    for key in fetch:
        if key.__class__ is int:
            operand = node.operands[key]  # type: ignore[index]
            storage = operand._storage
            if storage is not None and storage.modified > node.sequence:
                _refuse_changed(node, storage, operand)
            values.append(operand.array)
        elif key == "out":
            storage = node.storage
            if storage is not None and storage.modified > node.sequence:
                _refuse_changed(node, storage, None)
            values.append(node.output)
        elif key == "shape":
            values.append(target.shape if target.__class__ is Node else target.array.shape)
        elif node.operation.variadic and key in node.operation.operands:
            values.append([operand.array for operand in node.operands])  # type: ignore[union-attr]
        else:
            values.append(node.settings[key])  # type: ignore[index]
    return values


def _fetch_tensors(node: Node, fetch: tuple[int | str, ...], target: Any) -> list[Any]:
    """The same as tensors with their history, for a derivative that is to be differentiated."""
    values = fetch_arrays(node, fetch, target)
    for place, key in enumerate(fetch):
        if key.__class__ is int:
            values[place] = node.operands[key]  # type: ignore[index]
        elif key == "out":
            values[place] = _output_of(node)
        elif node.operation.variadic and key in node.operation.operands:
            values[place] = node.operands
    return values


def _output_of(node: Node) -> Tensor:
    """The result of ``node`` as a tensor in the graph."""
    output = new_tensor(node.output)
    output.grad_fn, output._requires_grad = node, True
    return output


def _run_hooks(hooks: Any, gradient: Any) -> Any:
    """``gradient`` as the hooks leave it; each may return another one."""
    bare = not isinstance(gradient, Tensor)
    tensor = new_tensor(gradient) if bare else gradient
    for hook in tuple(hooks.values()):
        changed = hook(tensor)
        tensor = tensor if changed is None else changed
    return tensor.array if bare else tensor


# ---------------------------------------------------------------- refusals


def _refuse_freed(node: Node) -> None:
    if node.operation.saves(node.targets):
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they "
            "have already been freed). Saved intermediate values of the graph are freed when you call "
            ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
            "graph a second time or if you need to access saved tensors after calling backward. The graph "
            f"was freed at {node}{_where(node)}; computing the loss again makes a new graph."
        )


def _refuse_changed(node: Node, storage: Any, operand: Tensor | None) -> None:
    shape = list(operand.array.shape if operand is not None else node.shape)
    maker = operand.grad_fn if operand is not None else node
    after = storage.changed_since(node.sequence)
    lines = [source_line(code, instruction) for _, code, instruction in after]
    changed = (
        f" It was changed by `{lines[0][2]}` in line {lines[0][1]}."
        if lines and lines[0] and lines[0][2]
        else ""
    )
    name = f" named '{operand.name}'" if operand is not None and operand.name else ""
    raise ChangedSince(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{dtypes.BY_NUMPY[node.dtype].name} {shape}]{name}"
        + (f", which is output 0 of {maker.name()}," if maker is not None else "")
        + f" is at version {storage.version}; expected version {storage.version - len(after)} instead."
        + changed
        + f" {node.name()}{_where(node)} saved it for its derivative: use an operation that makes a new "
        "tensor."
    )


def _where(node: Node) -> str:
    line = source_line(node.code, node.instruction)
    return f" (line {line[1]}: `{line[2]}`)" if line is not None and line[2] else ""
