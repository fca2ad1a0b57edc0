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

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from heapq import heappop, heappush, heapreplace
from operator import attrgetter
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.autograd.node import NODES, Hooks, Node
from autokit.autograd.saved import fetch_arrays, fetch_tensors, refuse_changed, refuse_freed
from autokit.batches.batch import active
from autokit.current_gpu import SEVERAL, FollowingGPU
from autokit.ops.blocks import copied
from autokit.ops.large import add as sum_of
from autokit.ops.large import add_to
from autokit.ops.recording import OUTPUT, release, unchanged
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread

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


def run_backward(roots: Sequence[Node | Tensor], seeds: Sequence[Any], **options: Any) -> dict[Any, Any]:
    """Send the gradients ``seeds`` back from ``roots``; the options are those of :func:`flow`."""
    if thread.state.listener is not None:
        options.setdefault("listener", thread.state.listener)
    found: dict[Any, Any] = {}
    try:
        for _ in flow(roots, seeds, found, **options):
            raise AssertionError("a pass stops on its way only where it is asked to")
    except MemoryError as error:
        from autokit.ops.errors import full

        ends: list[Any] = [root.result() if isinstance(root, Node) else root for root in roots]
        raise full([end for end in ends if end is not None], error) from None
    return found


def flow(
    roots: Sequence[Node | Tensor],
    seeds: Sequence[Any],
    found: dict[Any, Any],
    *,
    inputs: Iterable[Node | Tensor] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    listener: Listener | None = None,
    into_leaves: bool = True,
    rehearsal: bool = False,
    stepping: bool = False,
) -> Generator[tuple[Node, Any], Any, None]:
    """The whole pass: a generator, so that a debugger can stop before each node.

    Parameters
    ----------
    roots, seeds
        Where to begin, nodes or leaves, and the gradient of each: arrays, or
        tensors under ``create_graph``.
    found : dict
        Takes the gradient of each of ``inputs`` that is reached, or of each leaf.
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
    stepping : bool
        Yield each node and its gradient before the node runs; what is sent
        back takes the gradient's place.  Nothing is freed, and no ``.grad``
        changes, before the last step is done.

    Raises
    ------
    RuntimeError
        If the graph was freed, or a saved tensor was changed in place.
    """
    # The nodes that a gradient has reached: one at hand, which spares chains the rest, and a heap.
    gradients: dict[Any, Any] = {}
    reached: list[tuple[int, Any]] = []
    at_hand: Any = None
    its_gradient: Any = None
    gpus = FollowingGPU() if SEVERAL in UNUSUAL else None
    for root, seed in zip(roots, seeds):
        if gpus is not None:
            gpus.to(seed)
        if root is at_hand:
            its_gradient = its_gradient + seed
        elif root in gradients:
            gradients[root] = gradients[root] + seed
        elif not isinstance(root, Node):
            gradients[root] = seed if create_graph else seed.copy()
        elif at_hand is None:
            at_hand, its_gradient = root, seed
        else:
            heappush(reached, (-root.sequence, root))
            gradients[root] = seed
    wanted = useful = None
    if inputs is not None:
        wanted = set(inputs)
        useful = leading_to(wanted, roots)
    fetch_values = fetch_tensors if create_graph else fetch_arrays
    # Inside of a vmap one sum may have samples of more levels than the other.
    in_place = listener is None and not (create_graph or rehearsal or active())
    to_free: list[Node] = []
    waiting = _waiting_leaves(roots, useful) if Hooks.on_leaves and not (stepping or rehearsal) else None
    watched = wanted is not None or listener is not None or stepping or rehearsal or gpus is not None
    freeing = not (retain_graph or rehearsal or stepping)
    told = listener is not None or waiting is not None
    lending, lent = freeing and in_place and not told, None

    leaves = (wanted, listener, into_leaves and not rehearsal, rehearsal, found)

    state = thread.state
    before_pass, state.grad_enabled = state.grad_enabled, create_graph
    try:
        while True:
            if at_hand is None:
                if not reached:
                    break
                node = heappop(reached)[1]
                gradient = gradients.pop(node)
            elif reached and -reached[0][0] > at_hand.sequence:
                gradients[at_hand] = its_gradient
                node = heapreplace(reached, (-at_hand.sequence, at_hand))[1]
                gradient = gradients.pop(node)
            else:
                node, gradient = at_hand, its_gradient
            at_hand = None

            hooks = node.hooks
            if watched or hooks is not None or node.freed:
                if gpus is not None:
                    gpus.to(gradient)
                if rehearsal:
                    hooks = None
                elif hooks is not None:
                    gradient = _gradient_after_hooks(hooks, gradient)
                if wanted is not None and node in wanted:
                    found[node] = gradient
                    if useful.isdisjoint(node.targets):  # type: ignore[union-attr]
                        continue  # what lies behind is not asked for
                if listener is not None:
                    listener("ready", node, gradient)
                if stepping:
                    state.grad_enabled = before_pass
                    if gpus is not None:
                        gpus.back()
                    changed = yield node, gradient
                    before_pass, state.grad_enabled = state.grad_enabled, create_graph
                    if gpus is not None:
                        gpus.to(gradient)
                    gradient = gradient if changed is None else changed
                if node.freed and not rehearsal:
                    refuse_freed(node)

            # A node has something saved where its values are large; small ones stay at their sources.
            sources, saved, way = node.sources, node.saved, node.way
            if create_graph:
                rules, fitting = way.plain_rules, False
            else:
                rules, fitting = way.rules if saved is None else way.large_rules, way.fitting
            if way.joint:
                rules = _made_together(rules[0], way, gradient, node, fetch_values)
            if hooks is not None and hooks.after:
                rules = _after_hooks(hooks, node, rules, gradient, fetch_values)
            for slot, vjp, fetch, only, chosen in rules:
                target = sources[slot]
                if useful is not None and target not in useful:
                    continue
                # Most rules need nothing, or one value, and settings: these go without a list of values.
                if fetch is None:
                    made = gradient if vjp is unchanged else vjp(gradient)
                elif only is None:
                    made = vjp(gradient, *fetch_values(node, fetch, target))
                else:
                    if only is OUTPUT:
                        storage = node.storage
                        value = node.output if saved is None or OUTPUT not in saved else saved[OUTPUT].array
                    else:
                        source = sources[only] if saved is None or only not in saved else saved[only]
                        if source.__class__ is Node or source.__class__ in NODES:
                            storage, value = source.storage, source.output
                        else:
                            storage, value = source._storage, source.array
                    if storage is not None and storage.modified > node.sequence:
                        refuse_changed(node, storage, None if only is OUTPUT else node.operand(only))
                    if chosen is None:
                        made = vjp(gradient, value)
                    else:
                        made = vjp(gradient, value, *map(node.settings.__getitem__, chosen))
                    source = value = None  # it may be large, and is not needed while other rules run
                is_node = target.__class__ is Node or target.__class__ in NODES
                if not fitting:
                    raw = made if told else None
                    like = target if is_node else target.array
                    known = node if made is gradient else made  # of the same shape, and sooner asked for it
                    if known.shape != like.shape or known.dtype is not like.dtype:
                        made = _fitted(made, like)
                    known = None  # nor is what was made, once it is added up
                if target is at_hand or target in gradients:
                    before = its_gradient if target is at_hand else gradients[target]
                    if gpus is not None:
                        gpus.to(before)
                    if in_place and not is_node:
                        if saved is None:
                            before += made
                        elif target is lent:
                            before, lent = sum_of(before, made), None
                        else:
                            before = add_to(before, made)
                        total = before
                    elif in_place and made is not gradient and made.base is None:
                        if saved is None:
                            made += before
                        else:
                            made = add_to(made, before)
                        total = made
                    else:
                        total = before + made
                    if target is at_hand:
                        its_gradient = total
                    else:
                        gradients[target] = total
                elif not is_node:
                    # A leaf keeps what it gets: it must be nobody else's memory.
                    if not create_graph and (made is gradient or made.base is not None):
                        if lending and lent is None and saved is not None:
                            lent = target  # until the node is done, as its next contribution may go there too
                        else:
                            made = copied(made)
                    before = None
                    gradients[target] = made
                else:
                    before = None
                    if at_hand is None:
                        at_hand, its_gradient = target, made
                    else:
                        heappush(reached, (-target.sequence, target))
                        gradients[target] = made
                if told:
                    if listener is not None:
                        raw, total = made if fitting else raw, made if before is None else total
                        listener("contribution", node, slot, raw, made, before, total)
                    elif target in waiting:  # type: ignore[operator]
                        waiting[target] -= 1  # type: ignore[index]
                        if not waiting[target]:  # type: ignore[index]
                            total = gradients.pop(target)
                            if gpus is not None:
                                gpus.to(total)
                            _finish_leaf(target, total, *leaves)
            if freeing:
                node.freed = True
                if saved is not None:
                    if lent is not None:
                        gradients[lent] = copied(gradients[lent])
                        lent = None
                    release(node, saved)
            elif stepping and not retain_graph:
                to_free.append(node)

        if into_leaves and not (watched or Hooks.on_leaves):
            for leaf, gradient in gradients.items():
                if leaf._grad is None and not create_graph:
                    leaf._grad = new_tensor(gradient)
                else:
                    leaf._accumulate(gradient)
        else:
            for leaf, gradient in gradients.items():
                if gpus is not None:
                    gpus.to(gradient)
                _finish_leaf(leaf, gradient, *leaves)
        for node in to_free:
            node.freed = True
            if node.saved is not None:
                release(node, node.saved)
    finally:
        state.grad_enabled = before_pass
        if gpus is not None:
            gpus.back()


def _finish_leaf(
    leaf: Any,
    gradient: Any,
    wanted: Any,
    listener: Listener | None,
    accumulate: bool,
    rehearsal: bool,
    found: dict[Any, Any],
) -> None:
    """Run the hooks of a leaf whose gradient is complete, and add it to ``.grad``."""
    if wanted is not None and leaf not in wanted:
        return
    if Hooks.on_leaves and not rehearsal:
        gradient = _run_hooks(leaf.__dict__.get("_hooks"), gradient)
    if listener is not None:
        listener("leaf", leaf, gradient)
    found[leaf] = gradient
    if accumulate:
        leaf._accumulate(gradient)
        if Hooks.on_leaves:
            for hook in tuple(leaf.__dict__.get("_post_accumulate_hooks", {}).values()):
                hook(leaf)


def _waiting_leaves(roots: Iterable[Any], useful: set[Any] | None) -> dict[Tensor, int] | None:
    """How many contributions each leaf with hooks waits for, so that they run as soon as it is complete."""
    ends = set(roots)
    targets = [target for node in _behind(ends) for target in node.targets if isinstance(target, Tensor)]
    counts = Counter(leaf for leaf in targets if useful is None or leaf in useful)
    hooked = {leaf: n for leaf, n in counts.items() if not leaf.__dict__.keys().isdisjoint(_LEAF_HOOKS)}
    return {leaf: n for leaf, n in hooked.items() if leaf not in ends} or None


_LEAF_HOOKS = ("_hooks", "_post_accumulate_hooks")


def _made_together(rule: Any, way: Any, gradient: Any, node: Node, fetch_values: Any) -> list[Any]:
    """The gradients that one rule makes for all operands, each as a rule of its own that is done already."""
    _, vjp, fetch, *_ = rule
    return [
        (place, lambda _, made=made: made, None, None, None)
        for place, made in enumerate(vjp(gradient, *fetch_values(node, fetch or (), None)))
        if made is not None and way.learns[place]
    ]


def _behind(roots: Iterable[Any]) -> set[Node]:
    """The nodes among ``roots``, and all that these were made from."""
    nodes = {root for root in roots if isinstance(root, Node)}
    stack = list(nodes)
    while stack:
        for target in stack.pop().targets:
            if isinstance(target, Node) and target not in nodes:
                nodes.add(target)
                stack.append(target)
    return nodes


def leading_to(wanted: set[Any], roots: Iterable[Any]) -> set[Any]:
    """The nodes and leaves behind ``roots`` that pass a gradient on to one of ``wanted``."""
    useful = set(wanted)
    for node in sorted(_behind(roots), key=attrgetter("sequence")):
        if any(target in useful for target in node.targets):
            useful.add(node)
    return useful


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum ``gradient`` over the dimensions along which an operand of ``shape`` was repeated.

    An element that took part several times has several effects on the result,
    and its gradient is the sum of them.

    >>> import numpy as np
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


def _fitted(gradient: Any, like: Any) -> Any:
    """``gradient`` in the shape and the dtype of ``like``, a node's result or an array."""
    if gradient.shape != like.shape:
        gradient = unbroadcast(gradient, like.shape)
    own, dtype = gradient.dtype, like.dtype
    if isinstance(own, dtypes.dtype):  # a tensor's
        if own.is_complex and dtype.kind != "c":
            gradient = np.real(gradient)
            own = gradient.dtype
        return gradient if own.numpy == dtype else gradient.to(dtypes.BY_NUMPY[dtype])
    if own.kind == "c" != dtype.kind:  # a real number moves along the real axis alone
        return gradient.real.astype(dtype)
    return gradient if own == dtype else gradient.astype(dtype)


# ---------------------------------------------------------------- hooks


def _as_tensor(gradient: Any) -> Tensor:
    return gradient if isinstance(gradient, Tensor) else new_tensor(gradient)


def _run_hooks(hooks: Any, gradient: Any, in_tuples: bool = False) -> Any:
    """``gradient`` as the hooks leave it; each may return another one, in a tuple where it gets a tuple."""
    if not hooks:
        return gradient
    tensor = _as_tensor(gradient)
    for hook in tuple(hooks.values()):
        changed = hook((tensor,) if in_tuples else tensor)
        if changed is not None:
            (changed,) = changed if in_tuples else (changed,)
            tensor = _checked_change(hook, changed, tensor)
    return tensor if isinstance(gradient, Tensor) else tensor.array


def _checked_change(hook: Any, changed: Any, tensor: Tensor) -> Tensor:
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


def _gradient_after_hooks(hooks: Hooks, gradient: Any) -> Any:
    """What the hooks make of a result's gradient: first its own; then it is retained; then the node's."""
    gradient = _run_hooks(hooks.result, gradient)
    if hooks.retain is not None:
        hooks.retain(_as_tensor(gradient))
    return _run_hooks(hooks.before, gradient, in_tuples=True)


def _after_hooks(hooks: Hooks, node: Node, rules: Any, gradient: Any, fetch_values: Any) -> list[Any]:
    """The contributions of ``node`` as its hooks leave them, each as a rule that is done already."""
    made: list[Any] = [None] * len(node.sources)
    for slot, vjp, fetch, *_ in rules:
        target = node.sources[slot]
        raw = vjp(gradient, *fetch_values(node, fetch or (), target))
        made[slot] = _as_tensor(_fitted(raw, target if isinstance(target, Node) else target.array))
    for hook in tuple(hooks.after.values()):
        changed = hook(tuple(made), (_as_tensor(gradient),))
        made = made if changed is None else list(changed)
    bare = not isinstance(gradient, Tensor)
    return [
        (slot, lambda _, value=value: value.array if bare else value, None, None, None)
        for slot, value in enumerate(made)
        if value is not None
    ]
