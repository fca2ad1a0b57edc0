"""Reverse mode: the gradient of an output by everything that it was made from.

The whole method is in :func:`run_backward`.  It goes through the nodes from
the newest to the oldest.  What a node was made from is always older than the
node, so when its turn comes, every consumer of its result has already sent
its contribution: the sum of them is the final gradient there.  The node's
rule turns that gradient into a contribution for each operand, and these are
added up at the next nodes and at the leaves.

There is no recursion, so the depth of a graph is limited by memory alone.

References
----------
A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008,
chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit import dtypes
from autokit.autograd.modes import enable_grad, no_grad
from autokit.autograd.node import Node, source_line

if TYPE_CHECKING:
    from autokit.tensor import Tensor

Listener = Callable[..., None]
"""Called as ``listener(event, target, *values)`` while gradients flow.

``"ready"``: node, its final gradient.  ``"vjp"``: node, operand's place, the
raw contribution.  ``"contribution"``: node, operand's place, the contribution
in the operand's shape and dtype.  ``"accumulate"``: target, old sum or None,
new sum.  ``"leaf"``: leaf, its final gradient.  Values are arrays, good until
the listener returns.
"""


def run_backward(
    roots: Iterable[Node | Tensor],
    seeds: Iterable[Any],
    *,
    inputs: Iterable[Node | Tensor] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    listener: Listener | None = None,
    into_leaves: bool = True,
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
        gradients[root] = gradients[root] + seed if root in gradients else seed
    order, uses = _newest_first(gradients)
    wanted = None if inputs is None else set(inputs)
    useful = None if wanted is None else _leading_to(order, wanted)
    found: dict[Any, Any] = {}
    fetch_values = _fetch_tensors if create_graph else _fetch_arrays

    def finish(leaf: Tensor) -> None:
        gradient = gradients.pop(leaf, None)
        if gradient is None or (wanted is not None and leaf not in wanted):
            return
        gradient = _run_hooks(leaf.__dict__.get("_hooks"), gradient)
        if listener is not None:
            listener("leaf", leaf, gradient)
        found[leaf] = gradient
        if into_leaves:
            leaf._accumulate(gradient)

    with enable_grad() if create_graph else no_grad():
        for node in order:
            gradient = gradients.pop(node, None)
            targets = node.targets
            if gradient is None or (useful is not None and node not in useful and node not in wanted):  # type: ignore[operator]
                for target in targets:
                    if target in uses:
                        uses[target] -= 1
                        if not uses[target]:
                            finish(target)
                continue
            if node.hooks is not None:
                gradient = _run_hooks(node.hooks, gradient)
            if wanted is not None and node in wanted:
                found[node] = gradient
            if listener is not None:
                listener("ready", node, gradient)
            if node.freed and listener is None:
                _refuse_freed(node)

            for slot, _, vjp, _, fetch in node.operation.rules:
                if slot >= 0:
                    target = targets[slot]
                    if target is None or (useful is not None and target not in useful):
                        continue
                    made = vjp(gradient, *fetch_values(node, fetch, target)) if fetch else vjp(gradient)
                    contributions: Iterable[Any] = ((slot, target, made),)
                else:
                    all_made = vjp(gradient, *fetch_values(node, fetch, None))
                    contributions = [
                        (place, target, made)
                        for place, (target, made) in enumerate(zip(targets, all_made))
                        if target is not None and made is not None and (useful is None or target in useful)
                    ]
                for place, target, made in contributions:
                    if listener is not None:
                        listener("vjp", node, place, made)
                    is_node = target.__class__ is Node
                    like = target if is_node else target.array
                    if made.shape != like.shape:
                        made = unbroadcast(made, like.shape)
                    if made.dtype is not like.dtype:
                        made = _converted(made, like.dtype)
                    if listener is not None:
                        listener("contribution", node, place, made)
                    before = gradients.get(target)
                    fresh = not create_graph and made is not gradient and made.base is None
                    if before is None:
                        # A leaf keeps what it gets: it must be nobody else's memory.
                        total = made if is_node or fresh or create_graph else made.copy()
                    elif fresh:
                        made += before
                        total = made
                    else:
                        total = before + made
                    gradients[target] = total
                    if listener is not None:
                        listener("accumulate", target, before, total)
            for target in targets:
                if target in uses:
                    uses[target] -= 1
                    if not uses[target]:
                        finish(target)
            if not retain_graph:
                node.freed = True
                if not node.kept:
                    node.operands = node.output = None
        for leaf in [target for target in gradients if target.__class__ is not Node]:
            finish(leaf)
    return found


def _newest_first(roots: Iterable[Any]) -> tuple[list[Node], dict[Tensor, int]]:
    """All nodes behind ``roots``, newest first, and how many contributions each leaf awaits."""
    order = [root for root in roots if root.__class__ is Node]
    uses: dict[Tensor, int] = {}
    seen = set(order)
    stack = list(order)
    while stack:
        for target in stack.pop().targets:
            if target.__class__ is Node:
                if target not in seen:
                    seen.add(target)
                    order.append(target)
                    stack.append(target)
            elif target is not None:
                uses[target] = uses.get(target, 0) + 1
    order.sort(key=attrgetter("sequence"), reverse=True)
    return order, uses


def _leading_to(order: list[Node], wanted: set[Any]) -> set[Any]:
    """The nodes and leaves that pass a gradient on to one of ``wanted``."""
    useful = set(wanted)
    for node in reversed(order):
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
        place for place, size in enumerate(gradient.shape) if place < added or (shape[place - added] == 1 != size)
    )
    return gradient.sum(axis=stretched, keepdims=True).reshape(shape) if stretched else gradient.reshape(shape)


def _converted(gradient: Any, dtype: Any) -> Any:
    if isinstance(gradient, np.ndarray | np.generic):
        return gradient if gradient.dtype == dtype else gradient.astype(dtype)
    own = gradient.dtype
    if isinstance(own, dtypes.dtype):  # a tensor's
        return gradient if own.numpy == dtype else gradient.to(dtypes.BY_NUMPY[dtype])
    return gradient if own == dtype else gradient.astype(dtype)


# ---------------------------------------------------------------- what a node saved


def _fetch_arrays(node: Node, fetch: tuple[int | str, ...], target: Any) -> list[Any]:
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
    values = _fetch_arrays(node, fetch, target)
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
    from autokit.ops.operation import new_tensor

    output = new_tensor(node.output)
    output.grad_fn, output._requires_grad = node, True
    return output


def _run_hooks(hooks: Any, gradient: Any) -> Any:
    """``gradient`` as the hooks leave it; each may return another one."""
    if not hooks:
        return gradient
    from autokit.ops.operation import new_tensor

    bare = not hasattr(gradient, "grad_fn")
    tensor = new_tensor(gradient) if bare else gradient
    for hook in tuple(hooks.values()):
        changed = hook(tensor)
        tensor = tensor if changed is None else changed
    return tensor.array if bare else tensor


# ---------------------------------------------------------------- refusals


def _refuse_freed(node: Node) -> None:
    if node.operation.saves(node.targets):
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have "
            "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
            "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
            f"if you need to access saved tensors after calling backward. The graph was freed at {node}{_where(node)}; "
            "computing the loss again makes a new graph."
        )


def _refuse_changed(node: Node, storage: Any, operand: Tensor | None) -> None:
    shape = list(operand.array.shape if operand is not None else node.shape)
    maker = operand.grad_fn if operand is not None else node
    after = storage.changed_since(node.sequence)
    lines = [source_line(code, instruction) for _, code, instruction in after]
    changed = f" It was changed by `{lines[0][2]}` in line {lines[0][1]}." if lines and lines[0] else ""
    name = f" named '{operand.name}'" if operand is not None and operand.name else ""
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{dtypes.BY_NUMPY[node.dtype].name} {shape}]{name}"
        + (f", which is output 0 of {maker.name()}," if maker is not None else "")
        + f" is at version {storage.version}; expected version {storage.version - len(after)} instead."
        + changed
        + f" {node.name()}{_where(node)} saved it for its derivative: use an operation that makes a new tensor."
    )


def _where(node: Node) -> str:
    line = source_line(node.code, node.instruction)
    return f" (line {line[1]}: `{line[2]}`)" if line is not None and line[2] else ""
