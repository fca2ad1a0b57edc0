"""A backward pass that someone watches: the method of ``backward``, which calls hooks and a listener.

A pass is observed where hooks are registered, where the gradients of some inputs alone are wanted, where the
gradients themselves get a graph, or where a listener, the anomaly detector or the step debugger watches.
``autokit.autograd`` decides once, before the pass begins, so the plain pass contains nothing of this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from autokit.engine.backward import accumulate, fetch, fitted, release, seeded
from autokit.engine.modes import thread
from autokit.engine.node import HOOKED, SEVERAL, Gradients, Node
from autokit.engine.record import OUT, results_of
from autokit.engine.tensor import Tensor, new_tensor

Listener = Callable[..., None]
"""Called while gradients flow, as

* ``listener("ready", node, gradient)``: all contributions to the node are in;
* ``listener("contribution", node, place, raw, fitted, before, total)``: its rule computed ``raw`` for the
  operand at ``place``, ``fitted`` to that operand's shape, and brought the sum there from ``before`` (or
  None) to ``total``;
* ``listener("leaf", leaf, gradient)``: all contributions to the leaf are in.
"""


class Watch:
    """What an observed backward pass is to do, and the gradients that it found.

    Parameters
    ----------
    roots, wanted
        The nodes and leaves where the pass begins, and those whose gradients are wanted, None for all leaves.
    listener : callable, optional
        Told what happens; see :data:`Listener`.
    create_graph : bool
        Compute with tensors, so that the gradients have a graph themselves.
    retain_graph : bool
        Keep the saved tensors of the nodes.
    into_leaves : bool
        Add each leaf's gradient to its ``.grad``.
    rehearsal : bool
        Change nothing: no hook runs, and freed nodes take part with the values that stayed for the picture.
    """

    def __init__(
        self,
        roots: Sequence[Any],
        wanted: set[Any] | None = None,
        listener: Listener | None = None,
        create_graph: bool = False,
        retain_graph: bool = False,
        into_leaves: bool = True,
        rehearsal: bool = False,
    ) -> None:
        self.wanted, self.listener = wanted, listener
        self.create_graph, self.rehearsal = create_graph, rehearsal
        self.retain_graph = retain_graph or rehearsal
        self.into_leaves = into_leaves and not rehearsal
        self.useful = None if wanted is None else leading_to(wanted, roots)
        self.found: dict[Any, Any] = {}
        self.awaited = awaited_by_hooks(roots) if HOOKED and not rehearsal else {}

    def arrived(self, node: Node, g: Any) -> Any:
        """The complete gradient of a node's result, as the hooks of the node leave it."""
        if self.wanted is not None and node in self.wanted:
            self.found[node] = g
        if node.hooks is not None and not self.rehearsal:
            g = run_hooks(node.hooks.result, g)
            (g,) = as_tuple(run_hooks(node.hooks.before, (g,)), 1)
            if node in self.found:
                self.found[node] = g
        if self.listener is not None:
            self.listener("ready", node, g)
        return g

    def leads_on(self, target: Any) -> bool:
        """Whether a gradient at ``target`` reaches one of the wanted nodes and leaves."""
        return self.useful is None or target in self.useful

    def completed(self, leaf: Tensor, g: Any) -> None:
        """Run the hooks of a leaf whose gradient is complete, and add it to ``.grad``."""
        hooks = {} if self.rehearsal else leaf.__dict__
        g = run_hooks(hooks.get("_hooks"), g)
        if self.listener is not None:
            self.listener("leaf", leaf, g)
        self.found[leaf] = g
        if self.into_leaves:
            accumulate(leaf, g if self.create_graph else g.copy())
            for hook in tuple(hooks.get("_post_accumulate_hooks", {}).values()):
                hook(leaf)


def observed(
    roots: Sequence[Any], seeds: Sequence[Any], watch: Watch
) -> Generator[tuple[Node, Any], Any, None]:
    """The pass, as a generator that stops before each node; a value sent to it replaces the gradient."""
    gradients, others = seeded(roots, seeds)
    while others:
        node = heappop(others)[1]
        g = watch.arrived(node, gradients.pop(node))
        if not any(watch.leads_on(target) for target in node.targets if target is not None):
            continue
        changed = yield node, g
        outside = thread.state.recording
        g = g if changed is None else changed
        thread.state.recording = watch.create_graph
        try:
            contributions = contributions_of(node, g, watch)
        finally:
            thread.state.recording = outside
        for place, raw in contributions:
            target = node.sources[place]
            if not watch.leads_on(target):
                continue
            is_node = target.__class__ is Node
            contribution = fitted(raw, target if is_node else target.array)
            before = gradients.get(target)
            total = gradients[target] = contribution if before is None else before + contribution
            if is_node and before is None:
                heappush(others, (-target.order, target))
            if watch.listener is not None:
                watch.listener("contribution", node, place, raw, contribution, before, total)
            if target in watch.awaited:
                watch.awaited[target] -= 1
                if not watch.awaited[target]:
                    watch.completed(target, gradients.pop(target))
        if not watch.retain_graph:
            node.saved = None
            if node.rules.saves_output and node.output is not None:
                release(node)
    for leaf, g in gradients.items():
        watch.completed(leaf, g)


def contributions_of(node: Node, g: Any, watch: Watch) -> list[tuple[int, Any]]:
    """What the rules of ``node`` compute from ``g``, by the operand's place, after the node's hooks."""
    rules = node.rules
    fetch_values = fetch_tensors if watch.create_graph else fetch_kept if watch.rehearsal else fetch
    computed: dict[int, Any] = {}
    for place, vjp, needs in rules.for_tensors if watch.create_graph else rules.for_arrays:
        needs = (needs,) if needs.__class__ is int else needs or ()
        one = vjp(g, *fetch_values(node, needs, node.sources[place]))
        if rules.joint:
            computed = {at: each for at, each in enumerate(one) if each is not None and rules.learns[at]}
        else:
            computed[place] = one
    if node.hooks is not None and node.hooks.after and not watch.rehearsal:
        given = tuple([computed.get(place) for place in range(len(node.sources))])
        for hook in tuple(node.hooks.after.values()):
            given = as_tuple(
                run_hooks({0: lambda grads, hook=hook: hook(grads, as_tensors((g,)))}, given), len(given)
            )
        computed = {place: one for place, one in enumerate(given) if one is not None}
    return list(computed.items())


# ---------------------------------------------------------------- what a derivative takes


def fetch_tensors(node: Node, needs: tuple[Any, ...], target: Any) -> list[Any]:
    """As ``fetch``, but tensors with their nodes, so that the derivative can be differentiated again."""
    values = []
    for need, value in zip(needs, fetch(node, needs, target)):
        if need == OUT:
            value = _result_of(node, value)
        elif need.__class__ is int:
            value = node.saved[need]  # type: ignore[index]
        elif need == "operands":
            value = list(node.saved or ())
        values.append(value)
    return values


def _result_of(node: Node, output: Any) -> Any:
    """The result ``output`` of ``node`` as a tensor with that node; several results as a tuple of them."""
    if output.__class__ is tuple:
        return results_of(thread.state, node, output)
    result = new_tensor(output)
    result._node, result._requires_grad, result._storage = node, True, node.storage
    return result


def fetch_kept(node: Node, needs: tuple[Any, ...], target: Any) -> list[Any]:
    """As ``fetch``, but where the saved values are freed, from those that stayed for the picture."""
    if node.saved is not None:
        return fetch(node, needs, target)
    node.saved = tuple([kept(node.sources[place]) for place in node.rules.saves])
    try:
        return fetch(node, needs, target)
    finally:
        node.saved = None


def kept(source: Any) -> Any:
    """The value of a node's operand, a tensor or a number; None where the graph does not keep it any more."""
    if source.__class__ is not Node:
        return source
    return None if source.output is None or source.shape is SEVERAL else _result_of(source, source.output)


# ---------------------------------------------------------------- hooks


def run_hooks(hooks: dict[int, Any] | None, g: Any) -> Any:
    """``g``, a gradient or a tuple of them, as the hooks leave it: each may return another one."""
    if not hooks:
        return g
    several = g.__class__ is tuple
    given = as_tensors(g if several else (g,))
    bare = not any(isinstance(each, Tensor) for each in (g if several else (g,)))
    for hook in tuple(hooks.values()):
        changed = hook(given if several else given[0])
        if changed is not None:
            given = as_tuple(changed, len(given)) if several else (_checked(changed, given[0]),)
    back = tuple([each.array if bare and isinstance(each, Tensor) else each for each in given])
    return back if several else back[0]


def _checked(changed: Any, given: Tensor) -> Tensor:
    if not isinstance(changed, Tensor):
        raise TypeError(f"a hook must return a tensor or None, not {type(changed).__name__}")
    if changed.array.shape != given.array.shape:
        raise RuntimeError(
            f"hook has changed the size of value: from {list(given.shape)} to {list(changed.shape)}"
        )
    return changed


def as_tensors(gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """Gradients as a hook gets them: tensors."""
    return tuple(
        [
            each if each is None or isinstance(each, Tensor | Gradients) else new_tensor(each)
            for each in gradients
        ]
    )


def as_tuple(value: Any, count: int) -> tuple[Any, ...]:
    """The value that a hook returned for ``count`` gradients, as a tuple.

    Raises
    ------
    RuntimeError
        If there are more or fewer of them.
    """
    gradients = value if isinstance(value, tuple) else (value,)
    if len(gradients) != count:
        raise RuntimeError(f"a hook returned {len(gradients)} gradients for {count}")
    return gradients


def awaited_by_hooks(roots: Sequence[Any]) -> dict[Any, int]:
    """How many contributions each leaf with hooks awaits: they run as soon as all are in."""
    counts = Counter(end for node in behind(roots) for end in node.targets if isinstance(end, Tensor))
    return {leaf: count for leaf, count in counts.items() if id(leaf) in HOOKED and leaf not in set(roots)}


# ---------------------------------------------------------------- which part of the graph


def behind(roots: Iterable[Any], oldest: int = 0) -> set[Node]:
    """All nodes from which the nodes ``roots`` were computed, and these, but none older than ``oldest``."""
    nodes = {root for root in roots if root.__class__ is Node}
    stack = list(nodes)
    while stack:
        for target in stack.pop().targets:
            if target.__class__ is Node and target.order >= oldest and target not in nodes:
                nodes.add(target)
                stack.append(target)
    return nodes


def leading_to(wanted: set[Any], roots: Iterable[Any]) -> set[Any]:
    """The nodes and leaves that pass a gradient from ``roots`` on to one of ``wanted``."""
    useful = set(wanted)
    oldest = min([end.order if end.__class__ is Node else 0 for end in wanted], default=0)
    for node in sorted(behind(roots, oldest), key=lambda node: node.order):
        if any(target in useful for target in node.targets):
            useful.add(node)
    return useful
