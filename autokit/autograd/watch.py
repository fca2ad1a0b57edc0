"""What is asked of a backward pass beside its method.

It may look for some gradients alone, tell a listener, run hooks, stop at each
node, change nothing, or follow tensors from one GPU to another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextvars import ContextVar
from operator import attrgetter
from threading import Lock
from typing import Any
from weakref import ref

from autokit.autograd.node import Hooks, Node
from autokit.autograd.saved import fetch_tensors, refuse_freed
from autokit.current_gpu import SEVERAL, FollowingGPU
from autokit.devices import copied
from autokit.ops.custom import Parts
from autokit.ops.hooks import arrived_at, as_many, as_tensor, checked_changes, refuse_returned
from autokit.ops.leaves import accumulate
from autokit.ops.unbroadcast import fitted
from autokit.tensor import Tensor
from autokit.thread_state import UNUSUAL, thread

accumulating = Lock()
"""Held while gradients are added to leaves, which several threads may do at once."""

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


class Watch:
    """What one pass is asked for beside gradients in the leaves.

    Parameters
    ----------
    roots, inputs
        Where it begins; and which nodes and leaves to look for, and only for them, where not for all leaves.
    listener : callable, optional
        Told what happens; see :data:`Listener`.
    into_leaves : bool
        Add each leaf's gradient to its ``.grad``.
    rehearsal : bool
        Change nothing: no hooks run, and nodes that were freed take part with the values that they kept.
    stepping : bool
        Yield each node and its gradient before it runs; what is sent back takes the gradient's place.
    """

    running: ContextVar[ref[Watch]] = ContextVar("running")
    """The watch of the pass that runs the present hook, or function of the learner's: it is not held."""

    def __init__(
        self,
        roots: Iterable[Node | Tensor] = (),
        *,
        inputs: Iterable[Node | Tensor] | None = None,
        listener: Listener | None = None,
        into_leaves: bool = True,
        rehearsal: bool = False,
        stepping: bool = False,
    ) -> None:
        self.own, self.roots = ref(self), roots
        self.wanted = None if inputs is None else set(inputs)
        self.useful = None if self.wanted is None else leading_to(self.wanted, roots)
        self.listener = listener
        self.into_leaves = into_leaves and not rehearsal
        self.rehearsal = rehearsal
        self.stepping = stepping
        self.gpus = FollowingGPU() if SEVERAL in UNUSUAL else None
        self.found: dict[Any, Any] = {}  # the gradients of ``inputs`` that are reached, or of the leaves
        runs_at_once = Hooks.on_leaves and not (stepping or rehearsal)
        self._waiting = _waiting_leaves(roots, self.useful) if runs_at_once else {}
        self.is_told = listener is not None or bool(self._waiting)  # of each contribution
        self.looks_on = listener is not None or rehearsal  # no sum may change after it was seen
        self.changes_nothing = rehearsal or stepping  # nodes keep what they saved
        self._raw: dict[int, Any] = {}

    def arrived(self, node: Node, gradient: Any) -> Any:
        """The gradient with which ``node`` goes on, after its hooks; None where it need not go on."""
        if self.gpus is not None:
            self.gpus.to(gradient)
        hooks = None if self.rehearsal else node.hooks
        caught = self.wanted is not None and node in self.wanted and bool(node.kind)
        ends = self.useful is not None and self.useful.isdisjoint(node.targets)
        if caught and not ends:
            self.found[node] = gradient  # before its hooks, as in PyTorch
        if hooks is not None:
            gradient = self._run_hooks(hooks.result, gradient)
            if hooks.retain is not None:
                hooks.retain(as_tensor(gradient))
        if ends:
            if caught:
                self.found[node] = gradient
            return None
        if hooks is not None and hooks.before:  # of the node, which runs now
            gradient = self._before(node, hooks, gradient)
        if self.listener is not None:
            self.listener("ready", node, gradient)
        if node.freed and not self.rehearsal:
            refuse_freed(node)
        return gradient

    def passed(self) -> set[Any]:
        """The nodes and leaves that gradients come to in this pass."""
        if self.useful is not None:
            return self.useful
        nodes = _behind(self.roots)
        return nodes.union(self.roots, *[node.targets for node in nodes])

    def stop(self, node: Node, gradient: Any, outside: bool) -> Generator[tuple[Node, Any], Any, Any]:
        """Let a debugger look at ``node``: the gradient it leaves, and whether it records ``outside``."""
        state = thread.state
        inside, state.grad_enabled = state.grad_enabled, outside
        if self.gpus is not None:
            self.gpus.back()
        changed = yield node, gradient
        outside, state.grad_enabled = state.grad_enabled, inside
        if self.gpus is not None:
            self.gpus.to(gradient)
        return gradient if changed is None else changed, outside

    def rules(self, node: Node, rules: Any, gradient: Any, fetch_values: Any) -> Any:
        """Those of the ``rules`` of ``node`` that are of use, each for one operand.

        Where what they make is to be seen first, they are done already.
        """
        Watch.running.set(self.own)
        after = None if node.hooks is None or self.rehearsal else node.hooks.after
        if after or node.way.joint:
            made = _made_by(rules, node, gradient, fetch_values)
            rules = _done(_after_hooks(after, node, made, gradient) if after else made)
        if self.useful is not None:
            rules = [rule for rule in rules if node.sources[rule[0]] in self.useful]
        if self.listener is not None:
            self._raw = _made_by(rules, node, gradient, fetch_values)
            rules = _done(self._raw)
        return rules

    def contributed(
        self, node: Node, slot: int, made: Any, before: Any, total: Any, gradients: dict[Any, Any]
    ) -> None:
        """Tell what ``made`` brought the sum at an operand to, or finish a leaf whose hooks waited for it."""
        target = node.sources[slot]
        if self.listener is not None:
            raw = made if node.way.fitting else self._raw[slot]
            self.listener("contribution", node, slot, raw, made, before, total)
        elif target in self._waiting:
            self._waiting[target] -= 1
            if not self._waiting[target]:
                self.finish(target, gradients.pop(target))

    def finish(self, leaf: Any, gradient: Any) -> None:
        """Run the hooks of a leaf whose gradient is complete, and add it to ``.grad``."""
        if self.gpus is not None:
            self.gpus.to(gradient)
        if self.wanted is not None and leaf not in self.wanted:
            return
        hooked = Hooks.on_leaves and not self.rehearsal
        around = leaf.__dict__.get("_accumulator_hooks") if hooked and self.into_leaves else None
        hooks = leaf.__dict__.get("_hooks") if hooked else None
        gradient = self._run_hooks(hooks, gradient)
        if around is not None:
            gradient = self._run_hooks(around.before, gradient, in_tuples=True)
        if self.listener is not None:
            self.listener("leaf", leaf, gradient)
        self.found[leaf] = gradient
        if self.into_leaves and leaf._requires_grad:
            kept = bool(hooks) or around is not None
            shared = kept and leaf._grad is None and not isinstance(gradient, Tensor)
            with accumulating:
                accumulate(leaf, copied(gradient) if shared else gradient)  # a hook may have kept it
            if hooked:
                for hook in tuple(leaf.__dict__.get("_post_accumulate_hooks", {}).values()):
                    refuse_returned(hook(leaf), leaf)
            if around is not None:
                for hook in tuple(around.after.values()):
                    hook((), (as_tensor(gradient),))

    def _before(self, node: Node, hooks: Hooks, gradient: Any) -> Any:
        """What hooks before ``node`` make of the gradients of its results."""
        if not isinstance(gradient, Parts):
            return self._run_hooks(hooks.before, gradient, in_tuples=True)
        each = self._changed(hooks.before, arrived_at(node, gradient))
        bare = not any(isinstance(one, Tensor) for one in gradient.slots.values())
        slots = {slot: one for slot, one in enumerate(each) if one is not None}
        return Parts({slot: one.array for slot, one in slots.items()} if bare else slots)

    def _run_hooks(self, hooks: Any, gradient: Any, in_tuples: bool = False) -> Any:
        """``gradient`` as the hooks leave it: each may return another one, in a tuple if it gets a tuple."""
        if not hooks:
            return gradient
        (tensor,) = self._changed(hooks, (as_tensor(gradient),), in_tuples)
        return tensor if isinstance(gradient, Tensor) else tensor.array

    def _changed(self, hooks: dict[int, Any], given: tuple[Any, ...], in_tuples: bool = True) -> Any:
        for hook in tuple(hooks.values()):
            Watch.running.set(self.own)
            changed = hook(given if in_tuples else given[0])
            if changed is not None:
                each = as_many(hook, changed, len(given)) if in_tuples else (changed,)
                given = checked_changes(hook, each, given)
        return given


USUAL = Watch()
"""The watch of a pass of which nothing else is asked."""


def _made_by(rules: Any, node: Node, gradient: Any, fetch_values: Any) -> dict[int, Any]:
    """What ``rules`` make for each operand, by its place; one rule may serve all."""
    if rules and rules[0][0] < 0:
        _, vjp, fetch, *_ = rules[0]
        each = enumerate(vjp(gradient, *fetch_values(node, fetch or (), None)))
        return {place: made for place, made in each if made is not None and node.way.learns[place]}
    return {
        slot: vjp(gradient, *fetch_values(node, fetch or (), node.sources[slot]))
        for slot, vjp, fetch, *_ in rules
    }


def _done(made: dict[int, Any]) -> list[Any]:
    """For each operand a rule that is done already."""
    return [(slot, lambda _, one=one: one, None, None, None) for slot, one in made.items()]


def _waiting_leaves(roots: Iterable[Any], useful: set[Any] | None) -> dict[Tensor, int]:
    """How many contributions each leaf with hooks waits for, so that they run as soon as it is complete."""
    ends = set(roots)
    nodes = _behind(ends) if useful is None else [place for place in useful if isinstance(place, Node)]
    counts = Counter(end for node in nodes for end in node.targets if isinstance(end, Tensor))
    hooks = {"_hooks", "_post_accumulate_hooks", "_accumulator_hooks"}
    hooked = {leaf: n for leaf, n in counts.items() if not hooks.isdisjoint(leaf.__dict__)}
    return {leaf: n for leaf, n in hooked.items() if leaf not in ends and (useful is None or leaf in useful)}


def _behind(roots: Iterable[Any], oldest: int = 0) -> set[Node]:
    """The nodes among ``roots``, and all that these were made from, but nothing before ``oldest``."""
    nodes = {root for root in roots if isinstance(root, Node)}
    stack = list(nodes)
    while stack:
        for target in stack.pop().targets:
            if isinstance(target, Node) and target.sequence >= oldest and target not in nodes:
                nodes.add(target)
                stack.append(target)
    return nodes


def leading_to(wanted: set[Any], roots: Iterable[Any]) -> set[Any]:
    """The nodes and leaves behind ``roots`` that pass a gradient on to one of ``wanted``."""
    useful = set(wanted)
    # What is older than all that is wanted was made from none of it; leaves may be older than all.
    oldest = min([end.sequence if isinstance(end, Node) else 0 for end in wanted], default=0)
    for node in sorted(_behind(roots, oldest), key=attrgetter("sequence")):
        if any(target in useful for target in node.targets):
            useful.add(node)
    return useful


# ---------------------------------------------------------------- hooks


def _after_hooks(after: dict[int, Any], node: Node, made: dict[int, Any], gradient: Any) -> dict[int, Any]:
    """The contributions of ``node``, by their places, as the hooks ``after`` it leave them."""
    places = node.shown_places()
    given = tuple(
        [as_tensor(_fitted(node, place, made[place])) if place in made else None for place in places]
    )
    arrived = arrived_at(node, gradient)
    for hook in tuple(after.values()):
        changed = hook(given, arrived)
        if changed is not None:
            given = checked_changes(hook, as_many(hook, changed, len(given)), given)
    bare = not isinstance(next(one for one in made.values()), Tensor)
    # A hook may have kept them, as a view tells the engine.
    return {slot: one.array[...] if bare else one for slot, one in zip(places, given) if one is not None}


def _fitted(node: Node, place: int, made: Any) -> Any:
    """What the rule ``made`` for the operand at ``place``, in that operand's shape and dtype."""
    source = node.sources[place]
    return fitted(made, source if isinstance(source, Node) else source.array)


def gradients_from(node: Node, gradient: Tensor) -> dict[int, Tensor]:
    """What the rules of ``node`` make of ``gradient``, by the operands' places: ``grad_fn(gradient)``."""
    if node.freed:
        refuse_freed(node)
    made = _made_by(node.way.plain_rules, node, gradient, fetch_tensors)
    return {place: _fitted(node, place, one) for place, one in made.items()}
