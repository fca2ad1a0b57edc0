"""What the graph is made of while it lives: a :class:`Node` for each recorded operation.

A node points from a result back to what it was made from, never forward:
tensors hold their node (``grad_fn``), and nodes hold the nodes and leaves that
a gradient flows on to (``targets``).  So the graph has no cycle, and reference
counting alone frees it as soon as nobody holds its end.
"""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

if TYPE_CHECKING:
    from autokit.tensor import Tensor

next_sequence = count(1).__next__
"""The clock of the graph: one tick for each node made and each in-place change."""


class Node:
    """One run of an operation that was recorded: the ``grad_fn`` of its result.

    Attributes
    ----------
    operation : Operation
        The rule that ran.
    targets : tuple of (Node or Tensor or None)
        For each operand where its gradient goes: to the node that made it, to
        the leaf that it is, or nowhere.
    operands : tuple of (Tensor or None), or None
        The operands themselves: all where they are small, for the picture;
        else those that the rule needs on the way back, None for the others.
        None altogether once they are freed.
    output : array or None
        The result, kept on the same terms.
    settings : dict or None
        The operation's arguments that are no tensors, by name.
    shape, dtype
        Of the result, and so of the gradient that arrives here.
    sequence : int
        When it was made.  What a node was made from is always older.
    code, instruction
        Where in the learner's program it was made; see :func:`source_line`.
    scope
        The modules whose ``forward`` was running; see ``modes``.
    storage : Storage or None
        Tells whether the memory of ``output`` was changed since.
    hooks : dict or None
        Functions to call with the gradient that arrived.
    freed : bool
        What it saved was given up by a backward pass.
    kept : bool
        Its values are small, or were recorded: they stay for the picture even
        when the node is freed.
    """

    __slots__ = (
        "__weakref__",
        "code",
        "dtype",
        "freed",
        "hooks",
        "instruction",
        "kept",
        "operands",
        "operation",
        "output",
        "scope",
        "sequence",
        "settings",
        "shape",
        "storage",
        "targets",
    )
    operation: Any
    targets: tuple[Any, ...]
    operands: tuple[Any, ...] | None
    output: Any
    settings: dict[str, Any] | None
    shape: tuple[int, ...]
    dtype: Any
    sequence: int
    code: Any
    instruction: int
    scope: Any
    storage: Storage | None
    hooks: dict[int, Any] | None
    freed: bool
    kept: bool

    def name(self) -> str:
        """PyTorch's name of this kind of node, as ``"MulBackward0"``."""
        return self.operation.backward_name(self)

    @property
    def next_functions(self) -> tuple[tuple[Node | AccumulateGrad | None, int], ...]:
        """Where its gradients go, as PyTorch lists it: pairs of a node and 0."""
        return tuple(
            (accumulator(target) if target is not None and not isinstance(target, Node) else target, 0)
            for target in self.targets
        )

    def __repr__(self) -> str:
        return f"<{self.name()}>"


NAMES: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
"""The names that the learner gave to results: ``y.name = "hidden"``."""


class AccumulateGrad:
    """The end of the graph at a leaf, where its gradient is added to ``.grad``.

    The engine sends gradients straight to the leaf; this object only shows
    that end in ``next_functions``.
    """

    __slots__ = ("__weakref__", "variable")

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable

    next_functions = ()

    def name(self) -> str:
        """PyTorch's name of this kind of node."""
        return "torch::autograd::AccumulateGrad"

    def __repr__(self) -> str:
        return "<AccumulateGrad>"


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """The one ``AccumulateGrad`` of ``leaf``, for as long as somebody holds it."""
    known = leaf.__dict__.get("_accumulator", lambda: None)()
    if known is None:
        known = AccumulateGrad(leaf)
        leaf.__dict__["_accumulator"] = ref(known)
    return known


_CHANGES_REMEMBERED = 16


class Storage:
    """When the memory that a tensor shares with its views was last changed in place.

    It is made when the first view is taken or the first change is made, so
    most tensors never have one.  ``owner`` refers weakly to the tensor that
    it was made for; ``modified`` is when its elements were last changed, and
    ``rebased`` when they last were by a recorded operation, which gave the
    tensor a new history and left that of older views behind.
    """

    __slots__ = ("changes", "modified", "owner", "rebased", "version")
    any_rebased = False

    def __init__(self, owner: Tensor) -> None:
        self.owner = ref(owner)
        self.version = 0
        self.modified = 0
        self.rebased = 0
        self.changes: deque[tuple[int, Any, int]] = deque(maxlen=_CHANGES_REMEMBERED)

    def change(self, code: Any, instruction: int) -> None:
        """Note a change made by the line at ``instruction`` of ``code``."""
        self.version += 1
        self.modified = next_sequence()
        self.changes.append((self.modified, code, instruction))

    def rebase(self) -> None:
        """Note that the last change was recorded."""
        self.rebased = self.modified
        Storage.any_rebased = True

    def changed_since(self, sequence: int) -> list[tuple[int, Any, int]]:
        """The remembered changes that came after ``sequence``."""
        return [change for change in self.changes if change[0] > sequence]


def source_line(code: Any, instruction: int) -> tuple[str, int, str] | None:
    """File, line number and text of the program line at ``instruction`` of ``code``."""
    import linecache

    if code is None:
        return None
    line = code.co_firstlineno
    for start, stop, number in code.co_lines():
        if start <= instruction < stop and number is not None:
            line = number
    return code.co_filename, line, linecache.getline(code.co_filename, line).strip()
