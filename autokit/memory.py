"""When memory was changed: the :class:`Storage` of a tensor and its views, and the clock."""

from __future__ import annotations

from collections import deque
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from autokit.autograd.node import Node
    from autokit.tensor import Tensor

clock = count(1)
"""The clock of the graph: one tick for each node made and each in-place change."""


_CHANGES_REMEMBERED = 16


class Storage:
    """When the memory that a tensor shares with its views was last changed in place.

    It is made when the first view is taken or the first change is made, so
    most tensors never have one.  ``modified`` is when its elements were last
    changed; ``views`` refers weakly to the views that must follow when a
    recorded change gives their base a new history, and ``keepers`` to the
    nodes that need the elements as they are, with the places of the operand:
    see :mod:`autokit.ops.own_copies`.
    """

    __slots__ = ("_roomy", "changes", "keepers", "modified", "version", "views")
    of_inference = False

    def __init__(self) -> None:
        self.version = 0
        self.modified = 0
        self.changes: deque[tuple[int, Any, int]] | None = None
        self.views: list[ref[Tensor]] = []
        self.keepers: list[tuple[ref[Node], int]] = []
        self._roomy = 16

    def change(self, code: Any, instruction: int) -> None:
        """Note a change made by the line at ``instruction`` of ``code``."""
        self.note((next(clock), code, instruction))

    def note(self, change: tuple[int, Any, int]) -> None:
        """Note a change: when it was made, and by the line at which instruction of which code."""
        self.version += 1
        self.modified = change[0]
        if self.changes is None:
            self.changes = deque(maxlen=_CHANGES_REMEMBERED)
        self.changes.append(change)

    def at_rest(self) -> Storage:
        """What is known until now, for a copy of the elements that nobody changes any more."""
        rest = Storage()
        rest.version, rest.modified = self.version, self.modified
        if self.changes is not None:
            rest.changes = self.changes.copy()
        return rest

    def add_view(self, view: Tensor) -> None:
        """Remember ``view`` for as long as it lives."""
        if len(self.views) >= self._roomy:
            self.views = [known for known in self.views if known() is not None]
            self._roomy = 2 * len(self.views) + 16
        self.views.append(ref(view))

    def add_keeper(self, node: Node, place: int) -> None:
        """Remember that ``node``, as long as it lives, needs the elements as they are for its operand."""
        if len(self.keepers) >= self._roomy:
            self.keepers = [known for known in self.keepers if known[0]() is not None]
            self._roomy = 2 * max(len(self.keepers), len(self.views)) + 16
        self.keepers.append((ref(node), place))

    def living_views(self) -> list[Tensor]:
        """The views that somebody still holds."""
        return [view for known in self.views if (view := known()) is not None]

    def changed_since(self, sequence: int) -> list[tuple[int, Any, int]]:
        """The remembered changes that came after ``sequence``."""
        return [change for change in self.changes or () if change[0] > sequence]


class _StorageOfInference(Storage):
    """The storage of everything made in inference mode: it keeps no versions, and nothing may save it."""

    __slots__ = ()
    of_inference = True

    def __init__(self) -> None:
        super().__init__()
        self.modified = inf  # type: ignore[assignment]

    def note(self, change: tuple[int, Any, int]) -> None:
        """Note nothing."""

    def add_view(self, view: Tensor) -> None:
        """Note nothing: no recorded change can happen to it."""


INFERENCE = _StorageOfInference()
"""The one storage of all tensors that were made in inference mode."""
