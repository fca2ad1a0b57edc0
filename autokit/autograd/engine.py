"""Reverse mode: the gradient of an output by everything that it was made from.

The whole method is in :func:`flow`.  Of all nodes that a gradient has
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

from collections.abc import Generator, Sequence
from heapq import heappop, heappush, heapreplace
from typing import Any

import numpy as np

from autokit.autograd.node import NODES, Hooks, Node
from autokit.autograd.saved import fetch_array, fetch_arrays, fetch_tensors
from autokit.autograd.watch import USUAL, Watch
from autokit.current_gpu import SEVERAL
from autokit.ops.blocks import copied
from autokit.ops.large import add as sum_of
from autokit.ops.large import add_to
from autokit.ops.leaves import accumulate
from autokit.ops.recording import OUTPUT, release, unchanged
from autokit.ops.unbroadcast import fitted
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread


def run_backward(
    roots: Sequence[Node | Tensor],
    seeds: Sequence[Any],
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
    **unusual: Any,
) -> dict[Any, Any]:
    """Send the gradients ``seeds`` back from ``roots``, as :func:`flow` does; all else is for :class:`Watch`.

    Returns what an unusual pass found.
    """
    state = thread.state
    state.passes += 1
    state.depth += 1
    if state.passes == 1:  # of this thread
        Hooks.in_threads = bool(Hooks.threads)
        Hooks.threads += 1
    listener = state.listener
    if listener is not None:
        unusual.setdefault("listener", listener)
    watch = Watch(roots, **unusual) if unusual or Hooks.on_leaves or SEVERAL in UNUSUAL else USUAL
    passing = flow(roots, seeds, watch, retain_graph, create_graph)
    try:
        if state.depth % DEEPEST:
            for _ in passing:
                raise AssertionError("a pass stops on its way only where it is asked to")
        else:
            from autokit.new_thread import in_a_new_thread

            in_a_new_thread(tuple, passing)
    except MemoryError as error:
        from autokit.ops.errors import full

        ends: list[Any] = [root.result() if isinstance(root, Node) else root for root in roots]
        raise full([end for end in ends if end is not None], error) from None
    except RuntimeError as error:
        # What a hook raised must not look like the end of a generator, such as `flow` is.
        stop = error.__cause__
        if isinstance(stop, StopIteration) and stop.__traceback__.tb_frame.f_code is flow.__code__:  # type: ignore[union-attr]
            raise stop from None
        raise
    finally:
        state.depth -= 1
    return watch.found


DEEPEST = 32
"""Of so many passes, each begun inside of the one before it, one goes on in a new thread: see there."""


def flow(
    roots: Sequence[Node | Tensor],
    seeds: Sequence[Any],
    watch: Watch,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> Generator[tuple[Node, Any], Any, None]:
    """The whole pass: a generator, so that a debugger can stop before each node.

    Parameters
    ----------
    roots, seeds
        Where to begin, nodes or leaves, and the gradient of each: arrays, or
        tensors under ``create_graph``.
    watch : Watch
        What is unusual in this pass; :data:`USUAL` where nothing is.
    retain_graph : bool
        Keep what the nodes saved, for another pass.
    create_graph : bool
        Compute with tensors, so that the gradients have a graph themselves.

    Raises
    ------
    RuntimeError
        If the graph was freed, or a saved tensor was changed in place.
    """
    state = thread.state
    unusual, told, gpus = watch is not USUAL, watch.is_told, watch.gpus
    fetch_values = fetch_tensors if create_graph else fetch_arrays
    freeing = not (retain_graph or watch.changes_nothing)
    # Inside of a vmap one sum may have samples of more levels than the other.
    in_place = not (create_graph or watch.looks_on or state.levels)
    # The sums of what has arrived.  One node is at hand, which spares chains the heap of the others.
    at_hand: Any = None
    its_gradient: Any = None
    others: list[tuple[int, Any]] = []
    gradients: dict[Any, Any] = {}  # at leaves, and at those others
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
            heappush(others, (-root.sequence, root))
            gradients[root] = seed

    outside, state.grad_enabled = state.grad_enabled, create_graph
    try:
        while True:
            # The newest node: nothing more can arrive there.
            if at_hand is None:
                if not others:
                    break
                node = heappop(others)[1]
                gradient = gradients.pop(node)
            elif others and -others[0][0] > at_hand.sequence:
                gradients[at_hand] = its_gradient
                node = heapreplace(others, (-at_hand.sequence, at_hand))[1]
                gradient = gradients.pop(node)
            else:
                node, gradient = at_hand, its_gradient
            at_hand = None

            asked = unusual or node.hooks is not None or node.freed
            if asked:
                gradient = watch.arrived(node, gradient)
                if gradient is None:
                    continue
                if watch.stepping:
                    gradient, outside = yield from watch.stop(node, gradient, outside)

            # Its rules.  A node has something saved where values are large; small ones stay at their sources.
            sources, saved, way = node.sources, node.saved, node.way
            if create_graph:
                rules, fitting = way.plain_rules, False
            else:
                rules, fitting = way.rules if saved is None else way.large_rules, way.fitting
            if asked or way.joint:
                rules = watch.rules(node, rules, gradient, fetch_values)

            for slot, vjp, fetch, only, chosen in rules:
                # What a rule makes for one operand.  Most need nothing, or one value, and settings.
                target = sources[slot]
                try:
                    if fetch is None:
                        made = gradient if vjp is unchanged else vjp(gradient)
                    elif only is None:
                        made = vjp(gradient, *fetch_values(node, fetch, target))
                    else:
                        # As fetch_array, without its call, which a chain's way back takes 4% longer for.
                        source = node if only is OUTPUT else sources[only]
                        if saved and only in saved:
                            source = saved[only]
                        if type(source) is Node or type(source) in NODES:
                            storage, value = source.storage, source.output
                        else:
                            storage, value = source._storage, source.array
                        if storage is not None and storage.modified > node.sequence:
                            value = fetch_array(node, only)  # it says who changed it
                        if chosen is None:
                            made = vjp(gradient, value)
                        else:
                            made = vjp(gradient, value, *map(node.settings.__getitem__, chosen))
                        value = source = None  # it may be large, and is not needed while other rules run
                except RuntimeWarning:  # a program's filter makes errors of NumPy's warnings
                    with np.errstate(all="ignore"):
                        made = vjp(gradient, *(fetch_values(node, fetch, target) if fetch else ()))
                if gpus is not None:
                    gpus.to(made)
                is_node = target.__class__ is Node or type(target) in NODES
                if not fitting:
                    like = target if is_node else target.array
                    known = node if made is gradient else made  # of the same shape, and sooner asked for it
                    if known.shape != like.shape or known.dtype is not like.dtype:
                        made = fitted(made, like)
                    known = None  # what was made can go once it is added up

                # The sum of what has arrived there.
                if target is at_hand:
                    before = its_gradient
                else:
                    before = gradients.get(target) if others or not is_node else None
                if before is None:
                    if is_node:
                        if at_hand is None:
                            at_hand = target
                        else:
                            heappush(others, (-target.sequence, target))
                    elif not create_graph and (made is gradient or made.base is not None):
                        # A leaf keeps it: it must be nobody else's memory.  The sum for x + x will be new.
                        twice = in_place and saved is not None and made is gradient
                        if not (twice and sum([sources[rule[0]] is target for rule in rules]) > 1):
                            made = copied(made)
                    total = made
                elif in_place and (
                    (made is not gradient and made.base is None) if is_node else before is not gradient
                ):
                    total, more = before, made
                    if is_node:
                        total, more = made, before
                    if saved is None:
                        try:
                            total += more
                        except TypeError:  # of a sparse gradient beside CuPy's
                            total = add_to(total, more)
                    else:
                        total = add_to(total, more)
                else:
                    total = sum_of(before, made) if in_place and saved is not None else before + made
                if target is at_hand:
                    its_gradient = total
                else:
                    gradients[target] = total
                if told:
                    watch.contributed(node, slot, made, before, total, gradients)

            if freeing:
                node.freed = True
                if saved is not None:
                    release(node, saved)

        if (Hooks.on_leaves or Hooks.in_threads) and not unusual:  # on_leaves since a hook on the way
            watch, unusual = Watch(), True
        for leaf, gradient in gradients.items():
            if unusual:
                watch.finish(leaf, gradient)
            elif not leaf._requires_grad:
                continue  # it was frozen since
            elif leaf._grad is None and not (create_graph or Hooks.turned_leaves):
                leaf._grad = new_tensor(gradient)
            else:
                accumulate(leaf, gradient)
    finally:
        state.grad_enabled = outside
        if gpus is not None:
            gpus.back()
