"""What the graph is made of while it lives: a :class:`Node` for each recorded operation.

A node points from a result back to what it was made from, never forward:
tensors hold their node (``grad_fn``), and nodes hold the nodes and leaves that
they were made from (``sources``).  So the graph has no cycle, and reference
counting alone frees it as soon as nobody holds its end.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from autokit.tensor import Literal, RemovableHandle, Tensor, new_tensor

if TYPE_CHECKING:
    from autokit.memory import Storage
    from autokit.ops.rules import Way


class Node:
    """One run of an operation that was recorded: the ``grad_fn`` of its result.

    It holds what it was made from just once: the value of an operand is found
    at the operand's own source, the tensor that it is or the node that made
    it.  ``saved`` holds the others: values that are too large for their
    source to keep.

    Attributes
    ----------
    operation : Operation
        The rule that ran.
    way : Way
        How gradients go back: the derivatives by those operands that learn.
    sources : tuple of (Node or Tensor or None)
        For each operand the node that made it, or the tensor that it is; None
        where that was large and is not needed on the way back.
    saved : dict or None
        The operands, by their places, that are not to be had at their sources;
        None where all values are small, and stay for the picture even when
        the node is freed.
    output : array or None
        The result; None where it was large and is not needed on the way back.
    settings : dict or None
        The operation's arguments that are no tensors, by name.
    shape, dtype
        Of the result, and so of the gradient that arrives here.
    sequence : int
        When it was made.  What a node was made from is always older.
    code, instruction
        Where in the learner's program it was made; see :func:`autokit.ops.recording.source_line`.
    scope
        The modules whose ``forward`` was running; see ``modes``.
    storage : Storage or None
        Tells whether the memory of ``output`` was changed since.
    hooks : Hooks or None
        Functions to call when a gradient arrives.
    freed : bool
        What it saved was given up by a backward pass.
    """

    operation: Any
    way: Way
    sources: tuple[Any, ...]
    saved: dict[Any, Any] | None
    output: Any
    settings: dict[str, Any] | None
    shape: tuple[int, ...]
    dtype: Any
    sequence: int
    code: Any
    instruction: int
    scope: Any
    storage: Storage | None
    hooks: Hooks | None
    freed: bool
    __slots__ = ("__weakref__", *__annotations__)

    @property
    def kind(self) -> str:
        """PyTorch's class of this node, as ``"MulBackward0"``."""
        return self.operation.backward_name(self)

    @property
    def output_nr(self) -> int:
        """Which result of :attr:`owner` it stands for."""
        own = self.operation.forward is None
        return self.settings.get("slot", 0) if own and self.settings is not None else 0

    @property
    def owner(self) -> Node:
        """The node of the learner's function, where this one stands for one of its several results."""
        own = self.operation.forward is None and self.settings is not None
        return self.sources[0] if own and "slot" in self.settings else self  # type: ignore[operator]

    def shown(self) -> Node:
        """The node itself, of a class that has PyTorch's name: a program may ask for its type.

        It gets that class when it is first shown: as long as all nodes that the engine meets are of one
        class, Python finds their attributes several times as fast.
        """
        if self.__class__ is Node:
            self.__class__ = _class_called(self.kind, self.operation.forward is None)
        return self

    def name(self) -> str:
        """PyTorch's full name of :attr:`kind`."""
        own = self.kind in ("CopyBackwards", "CopySlices", "NotImplemented")
        return f"torch::autograd::{self.kind}" if own else self.kind

    @property
    def targets(self) -> tuple[Node | Tensor | None, ...]:
        """For each operand where its gradient goes: to a node, to a leaf, or nowhere."""
        return tuple([source if learns else None for source, learns in zip(self.sources, self.way.learns)])

    @property
    def operands(self) -> tuple[Tensor | None, ...]:
        """The operands as tensors with their history, None where they were not kept."""
        return tuple([self.operand(place) for place in range(len(self.sources))])

    def operand(self, place: int) -> Tensor | None:
        """The operand at ``place`` as a tensor with its history, None where it was not kept."""
        source = self.sources[place]
        if self.saved is not None and place in self.saved:
            source = self.saved[place]
            if not isinstance(source, Tensor):
                return source.tensor()
        if isinstance(source, Node):
            return source.result()
        if source is not None and source._requires_grad and not self.way.learns[place]:
            from autokit.func.levels import carried_on

            return carried_on(source, source.detach())  # it learns only since then
        return source

    def result(self) -> Tensor | None:
        """What the operation made, as a tensor in the graph, None where it was not kept."""
        output = self.output
        if output is None:
            if self.saved is None or "out" not in self.saved:
                return None
            output = self.saved["out"].array
        result = new_tensor(output)
        result._node, result._requires_grad, result._storage = self, True, self.storage
        if self in NAMES:
            result.name = NAMES[self]
        return result

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Where its gradients go, as PyTorch lists it: pairs of a node, and which of its results it is.

        As there, a change of dtype that the program did not ask for belongs to what needed it.
        """
        from autokit.ops.ends import accumulator

        shown: list[tuple[Any, int]] = []
        targets = self.targets
        for place in self.shown_places():
            target = targets[place]
            while (
                isinstance(target, Node)
                and target.settings is not None
                and not target.settings.get("asked", True)
            ):
                target = target.targets[0]
            if isinstance(target, Node):
                shown.append((target.owner.shown(), target.output_nr))
            else:
                shown.append((target if target is None else accumulator(target), 0))
        return tuple(shown)

    def shown_places(self) -> list[int]:
        """The places of the operands that PyTorch shows, in its order: numbers stand last."""
        rules, names = self.operation.derivatives, self.operation.operands
        hidden = Literal if self.kind in _HIDE_NUMBERS else None
        every = "joint" in rules or self.operation.variadic
        shown = [
            place
            for place, source in enumerate(self.sources)
            if type(source) is not hidden and (every or names[place] in rules)
        ]
        if self.kind == "AddmmBackward0" and names[-1] == "bias":  # PyTorch's is bias + input · weightᵀ
            shown.insert(0, shown.pop())
        return sorted(shown, key=lambda place: type(self.sources[place]) is Literal)

    def __call__(self, gradient: Tensor) -> Any:
        """What its rule makes of ``gradient`` for each of :attr:`next_functions`."""
        from autokit.autograd.watch import gradients_from

        made = gradients_from(self, gradient)
        each = tuple([made.get(place) for place in self.shown_places()])
        return each if len(each) > 1 else each[0]

    def __dir__(self) -> list[str]:
        from autokit.ops.saved_names import is_there

        return [name for name in super().__dir__() if is_there(self, name)]

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the learner's own notes."""
        return self.own_hooks().metadata

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the node runs; it may return other gradients, as a tuple."""
        return RemovableHandle(self.own_hooks().before, hook)

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node; it may return other ``grad_inputs``."""
        return RemovableHandle(self.own_hooks().after, hook)

    def own_hooks(self) -> Hooks:
        """Its hooks, made now if it had none."""
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    requires_grad = True  # PyTorch makes nodes of others too

    def _sequence_nr(self) -> int:
        return self.sequence

    @property
    def _input_metadata(self) -> tuple[Any, ...]:
        from autokit.ops.ends import metadata_of

        return metadata_of(self.owner)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{self.kind}' object")

    def __repr__(self) -> str:
        return f"<{self.kind}>"


NODES: set[Any] = set()
"""The classes of nodes that were shown: to look here takes less time than ``isinstance`` for what is none."""


class NodeOfFunction(Node):
    """A node of the learner's own ``autograd.Function``: it shows what ``ctx`` holds."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        ctx = (self.owner.settings or {}).get("ctx")
        if ctx is None or name.startswith("__"):
            raise AttributeError(f"'{self.kind}' object has no attribute '{name}'")
        return getattr(ctx, name)


@cache
def _class_called(name: str, own: bool) -> type[Node]:
    """A class of nodes; ``own`` for those of the learner's functions."""
    module = "autokit.autograd.function" if own else "builtins"
    base = NodeOfFunction if own else Node
    made = type(name, (base,), {"__slots__": (), "__module__": module, "__doc__": Node.__doc__})
    NODES.add(made)
    return made


_HIDE_NUMBERS = {
    *("CopysignBackward1", "FmodBackward0", "LerpBackward0", "NotImplemented", "PowBackward0"),
    *("PowBackward2", "RemainderBackward0", "RsubBackward1", "XlogyBackward1", "XlogyBackward2"),
}
"""Where a number has no place among PyTorch's ``next_functions``; elsewhere it makes a tensor of it."""


class Hooks:
    """The functions to call at a node: for the result's gradient, and before and after the node runs."""

    __slots__ = ("after", "before", "metadata", "result", "retain")
    on_leaves = False
    """Whether any leaf ever had a hook; as long as none has, a pass does not look for them."""
    turned_leaves = False
    """Whether any leaf ever lay in memory in another order than row by row, as its gradient then does."""
    threads = 0
    in_threads = False
    """Whether backward passes began in several threads, which may come to the same leaf at once."""

    def __init__(self) -> None:
        self.result: dict[int, Any] = {}
        self.before: dict[int, Any] = {}
        self.after: dict[int, Any] = {}
        self.retain: Any = None
        self.metadata: dict[Any, Any] = {}


FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need to access saved tensors after calling backward."
)


NAMES: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
"""The names that the learner gave to results: ``y.name = "hidden"``."""
