"""The graph has a :class:`Node` for each recorded operation, which leads from the result to the operands.

A tensor holds the node that computed it (``grad_fn``). A node holds, for each operand, the node that computed
that operand, or the operand itself where it is a *leaf*, a tensor that no recorded operation computed
(``sources``). Nothing leads from an operand to a result, so the graph has no cycle, and reference counting
frees it as soon as nobody holds its result.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from autokit.base.handles import RemovableHandle

SEVERAL = (-1,)
"""The shape of a node with several results, whose gradient is a :class:`Gradients`."""

HOOKED: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""The living nodes and leaves with hooks, by their ``id``: while there are any, passes run hooks."""


class Node:
    """One recorded run of an operation: the ``grad_fn`` of its result.

    Attributes
    ----------
    rules : Rules
        The operation, and its derivatives by the operands that require grad.
    sources : tuple
        For each operand: the node that computed it, the leaf tensor that it is, the number that it is, or
        None for a large constant.
    saved : tuple or None
        The saved tensors: operands that the derivatives ask for; None once a backward pass has freed them.
    output : array or None
        The result; None where it was large and no derivative asks for it.
    settings : dict or None
        The operation's other arguments, by name.
    shape, dtype
        Of the result, and so of the gradient that arrives here.
    order : int
        When the node was recorded. The sources are always older.
    code, instruction
        The place in the learner's program that recorded the node; see ``record.source_line``.
    scope
        The modules whose ``forward`` was running.
    hooks : Hooks or None
        Functions to call when a gradient arrives.
    storage : Storage or None
        The version counter of the memory of ``output``: it tells whether the result was changed in place.
    """

    rules: Any
    sources: tuple[Any, ...]
    saved: tuple[Any, ...] | None
    output: Any
    settings: dict[str, Any] | None
    shape: tuple[int, ...]
    dtype: Any
    order: int
    code: Any
    instruction: int
    scope: Any
    hooks: Hooks | None
    storage: Any
    __slots__ = ("__weakref__", *__annotations__)

    @property
    def operation(self) -> Any:
        """The operation that ran."""
        return self.rules.operation

    @property
    def owner(self) -> Node:
        """The node of the operation: another one than this where this stands for one of several results."""
        first = self.sources[0]
        return first if first.__class__ is Node and first.shape is SEVERAL else self

    @property
    def kind(self) -> str:
        """The printed name, such as ``MulBackward0``."""
        return self.owner.operation.backward

    def name(self) -> str:
        """The printed name, such as ``MulBackward0``."""
        return self.kind

    @property
    def targets(self) -> tuple[Any, ...]:
        """Where the gradient of each operand goes: to a node, to a leaf, or nowhere (None)."""
        return tuple([source if learns else None for source, learns in zip(self.sources, self.rules.learns)])

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Where the gradients go: for each operand a node and the number of its result, or None."""
        shown: list[tuple[Any, int]] = []
        for target in self.owner.targets:
            if target.__class__ is Node:
                shown.append((target.owner, (target.settings or {}).get("slot", 0)))
            else:
                shown.append((None if target is None else AccumulateGrad(target), 0))
        return tuple(shown)

    @property
    def own_hooks(self) -> Hooks:
        """The hooks of this node; there are none at first."""
        if self.hooks is None:
            self.hooks = Hooks({}, {}, {})
            HOOKED[id(self)] = self
        return self.hooks

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the node runs; it may return other gradients, as a tuple."""
        return RemovableHandle(self.own_hooks.before, hook)

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node ran; it may return new ``grad_inputs``."""
        return RemovableHandle(self.own_hooks.after, hook)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{self.kind}' object")

    def __repr__(self) -> str:
        return f"<{self.kind}>"


NAMES: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
"""The names that the learner gave to results: ``y.name = "hidden"``."""

USUAL_NAMES: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
"""What textbooks call results, as ``"forget gate"``: their names in pictures where the learner gave none."""


class Hooks(NamedTuple):
    """The functions to call at a node: with the result's gradient, before the node runs, and after it ran."""

    result: dict[int, Any]
    before: dict[int, Any]
    after: dict[int, Any]


class AccumulateGrad:
    """The end of a path in ``next_functions``: the leaf whose ``.grad`` adds up what arrives."""

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    next_functions = ()

    def name(self) -> str:
        """The printed name."""
        return "AccumulateGrad"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccumulateGrad) and other.variable is self.variable

    def __hash__(self) -> int:
        return id(self.variable)

    def __repr__(self) -> str:
        return "<AccumulateGrad>"


class Gradients(tuple[Any, ...]):
    """The gradients of several results of one operation: None where none has arrived."""

    shape = SEVERAL
    dtype = None

    def __add__(self, other: Any) -> Gradients:  # type: ignore[override]
        return Gradients([a if b is None else b if a is None else a + b for a, b in zip(self, other)])
