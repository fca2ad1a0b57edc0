"""The classes that describe a computation as plain data: :class:`Graph` and :class:`Timeline`.

A ``Graph`` has the operations that computed a tensor, and the edges between them.
A ``Timeline`` adds the story: one :class:`Step` for each thing a learner
should see, first forward in topological order, then backward.  A step names
the elements that it touches, the changes that it makes to what is shown, and
one sentence of plain English.

Nothing here knows a tensor or a picture: the fields are strings, numbers,
tuples and other dataclasses, so a graph can be kept, compared, written as
JSON and drawn long after the arrays are gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any

from autokit.base import doors
from autokit.graphs.view import View

NOT_COMPUTED = "—"
"""How a gradient reads before backward has reached it.  Never 0: 0 is a value."""

NOT_KEPT = "not kept"
"""How the value of a large tensor reads where no recording kept it."""


@dataclass(frozen=True)
class Summary:
    """A tensor's content, small enough to show.

    Attributes
    ----------
    text : str
        One line: the number itself, a short list, or shape and range.
    shape : tuple of int
    dtype : str
        As ``"float32"``.
    values : tuple of float or int or bool, or None
        All elements in row-major order, or None where there are more than
        the summary holds.
    minimum, maximum, mean : float or None
        Over the finite elements; None where there are none.
    nan, infinite : int
        How many elements are NaN, and how many are infinite.
    histogram : tuple of int
        Where there are too many values to hold: how many finite elements lie in each
        of equal parts between minimum and maximum, of 100,000 at most that stand evenly among all.
    """

    text: str
    shape: tuple[int, ...]
    dtype: str
    values: tuple[Any, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    nan: int = 0
    infinite: int = 0
    histogram: tuple[int, ...] = ()


@dataclass(frozen=True)
class Source:
    """The line of the learner's code that ran an operation."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Node:
    """A value in the graph: a leaf, a constant, or the result of an operation.

    Attributes
    ----------
    id : int
        Its place in the topological order of the forward evaluation, from 0.
    kind : str
        ``"leaf"`` (collects a gradient), ``"constant"`` (needs none) or
        ``"operation"``; in a graph of the way back ``"backward"`` and
        ``"accumulate"``; ``"failed"`` for the operation that raised an error.
    operation : str
        The rule's name, as ``"mul"``; empty for a leaf and a constant.
    symbol : str
        As ``"×"``; empty for a leaf and a constant.
    formula : str
        With the operands' names, as ``"a · b"``, or ``"v3 ^ 2.0"`` where the base has no name of its own.
    backward : str
        PyTorch's name of the backward node, as ``"MulBackward0"``.
    label : str
        The learner's own name for the value, or empty.
    shape, dtype
        Of the value.
    value, gradient : Summary or None
        None where the value was not kept, and where no gradient is known.
    requires_grad : bool
    module : str
        Path of the module whose ``forward`` ran it, as ``"encoder.0"``.
    source : Source or None
    saved : tuple of str
        The names of what the operation keeps for the way back: operands, and its own name for its result.
    marks : tuple of str
        What to look out for, as ``"2 of 5 units silent on this batch"``.
    """

    id: int
    kind: str
    operation: str = ""
    symbol: str = ""
    formula: str = ""
    backward: str = ""
    label: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    value: Summary | None = None
    gradient: Summary | None = None
    requires_grad: bool = False
    module: str = ""
    source: Source | None = None
    saved: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def element(self) -> str:
        """The name of this node's element in a picture, as ``"n3"``."""
        return f"n{self.id}"

    @property
    def name(self) -> str:
        """What to call this value in a sentence: its label, else its number."""
        return self.label or name_of(self.id)

    @property
    def is_number(self) -> bool:
        """Whether it is a number of the learner's program, as the 2 of ``x ** 2``: formulas say it."""
        said = self.kind == "constant" and self.label and self.value is not None
        return bool(said and self.value and self.label == self.value.text.removesuffix(".0"))


def name_of(id: int) -> str:
    """What to call a value without a name: ``v`` and its number in the topological order."""
    return f"v{id}"


@dataclass(frozen=True)
class Edge:
    """A value going into an operation: from ``source`` to ``target``, both node ids.

    ``a * a`` has two edges, told apart by ``slot``, the operand's place.
    ``operand`` is PyTorch's word for the operand, as ``"exponent"``; ``local``
    is the local derivative by it, with the operands' names; ``requires_grad``
    says whether a gradient comes back along this edge.
    """

    id: int
    source: int
    target: int
    slot: int
    operand: str
    local: str
    requires_grad: bool

    @property
    def element(self) -> str:
        """The name of this edge's element in a picture, as ``"e3"``."""
        return f"e{self.id}"


@dataclass(frozen=True)
class Group:
    """The nodes that ran inside one module: ``path`` as in ``named_modules``, ``label`` its class."""

    path: str
    label: str
    nodes: tuple[int, ...]


class Drawn:
    """What can be drawn: it prints as a table, a notebook shows its picture, and a file holds that."""

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the picture to ``path``; its ending picks the form: see :func:`autokit.draw.save`.

        A story as ``.html`` plays offline, and as ``.gif`` it plays by itself.
        """
        doors.save(self, path, **options)

    def to_json(self) -> str:
        """All of it as JSON: the fields of these dataclasses, in their order."""
        # Infinity and NaN are no JSON: they are written as the strings that a reader sees.
        return json.dumps(_finite(asdict(self)), ensure_ascii=False, allow_nan=False)  # type: ignore[call-overload]

    def __repr__(self) -> str:
        return doors.text(self)

    _repr_mimebundle_ = doors.shown


@dataclass(frozen=True, repr=False)
class Graph(Drawn):
    """How a value was computed: nodes in topological order, and the edges between them.

    ``groups`` are its modules, ``outputs`` the ids of the values that it was made for, ``left_out`` says
    what is not among the nodes, and ``view`` how it is to be drawn.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...] = ()
    outputs: tuple[int, ...] = ()
    left_out: str = ""
    view: View = field(default_factory=View)

    def __len__(self) -> int:
        return len(self.nodes)

    def incoming(self, node: int) -> list[Edge]:
        """The edges into ``node``, in the order of its operands."""
        return [edge for edge in self.edges if edge.target == node]

    def outgoing(self, node: int) -> list[Edge]:
        """The edges from ``node`` to its consumers."""
        return [edge for edge in self.edges if edge.source == node]

    def to_dot(self, **options: Any) -> str:
        """The graph in Graphviz's language, as :meth:`save` writes it to a ``.dot`` file."""
        return doors.dot(self, **options)


@dataclass(frozen=True)
class Change:
    """One thing that a step alters in the picture.

    ``element`` is a node's or an edge's element name.  ``field`` is, for a
    node, ``"status"``, ``"value"``, ``"gradient"`` or ``"pending"`` (how many
    consumers have yet to send their contribution); for an edge ``"status"``,
    ``"local"`` (its local derivative, where that is one number) or ``"flow"``
    (the contribution that travels back), both as text.
    """

    element: str
    field: str
    value: str | int | None


@dataclass(frozen=True)
class Collapse:
    """A sum over the dimensions along which an operand had been repeated.

    Elements of ``shape`` become elements of ``to``, by sums over ``axes``,
    dimensions of ``shape``.  ``values`` are the elements before, in row-major
    order, and ``sums`` those after; both are None where there are many.
    """

    shape: tuple[int, ...]
    to: tuple[int, ...]
    axes: tuple[int, ...]
    values: tuple[float, ...] | None = None
    sums: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Step:
    """One thing to see.

    Attributes
    ----------
    kind : str
        Forward: ``"input"``, ``"operands"``, ``"value"``.  Between:
        ``"turn"``.  Backward: ``"seed"``, ``"select"``, ``"upstream"``,
        ``"local"``, ``"product"``, ``"unbroadcast"``, ``"travel"``,
        ``"accumulate"``, ``"leaf"``, ``"finish"``.
    phase : str
        ``"forward"``, ``"turn"`` or ``"backward"``.
    chapter : int
        The coarse step that it belongs to: an index into ``Timeline.chapters``.
    sentence : str
        What happens, in plain English.
    formula, numbers : str
        The same in symbols, and with the numbers put in; may be empty.
    touches : tuple of str
        Elements to light up while this step shows.
    changes : tuple of Change
        What is different from here on.
    note : str
        A remark for those who ask why, such as the wrong answer that ``=`` in
        place of ``+=`` would give; may be empty.
    instead : str
        That wrong answer alone, where the step adds to a gradient.
    collapse : Collapse or None
        What is summed, where the step undoes a broadcast.
    """

    kind: str
    phase: str
    chapter: int
    sentence: str
    formula: str = ""
    numbers: str = ""
    touches: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    note: str = ""
    instead: str = ""
    collapse: Collapse | None = None


@dataclass(frozen=True)
class Chapter:
    """A coarse step: the fine steps ``first`` to ``last``, told in one sentence."""

    first: int
    last: int
    sentence: str


@dataclass(frozen=True)
class Account:
    """Where the gradient of a leaf came from, and whether a check agrees with it.

    Attributes
    ----------
    node : int
        The leaf's id.
    edges : tuple of int
        The edges along which its contributions came, in the order in which they came.
    contributions : tuple of str
        What came along each.
    gradient : str
        Their sum, the leaf's ``.grad``.
    difference : str
        The same by central differences, which know no derivative; empty where that was not tried.
    agrees : bool or None
        Whether the two are the same but for rounding.
    assigned : str
        What the gradient would be if every ``+=`` on the way were ``=``.
    """

    node: int
    edges: tuple[int, ...]
    contributions: tuple[str, ...]
    gradient: str
    difference: str = ""
    agrees: bool | None = None
    assigned: str = ""


@dataclass(frozen=True)
class Trouble:
    """Something to worry about, traced to the operation where it began.

    ``kind`` is ``"nan"``, ``"infinite"``, ``"silent"`` or ``"vanishing"``, and ``node`` that operation's id.
    """

    kind: str
    node: int
    sentence: str


@dataclass(frozen=True)
class CellSums:
    """How each element of a tensor came about: one short text for each, in row-major order.

    ``made_of`` names the elements behind each, as ``"n0 value 0 1; n1 value 0 4"``, where there was room.
    """

    element: str
    field: str
    sums: tuple[str, ...]
    made_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ways:
    """The ways from the end to a value, and what comes back along each: together its gradient.

    Attributes
    ----------
    node : int
        The value's id.
    paths : tuple of tuple of int
        For each way its edges, from the end on.
    contributions : tuple of str
        What comes along each.
    sums : tuple of str
        The sums over the elements of these, where they are tensors, and ``total`` that of the gradient.
    """

    node: int
    paths: tuple[tuple[int, ...], ...]
    contributions: tuple[str, ...]
    sums: tuple[str, ...] = ()
    total: str = ""


State = dict[str, dict[str, str | int | None]]
"""What a picture shows: for each element, the value of each field."""


@dataclass(frozen=True, repr=False)
class Timeline(Drawn):
    """A graph and the story of its evaluation, forward and then backward.

    ``initial`` is what is shown before the first step, and ``state(k)`` what
    is shown at step ``k``: the initial state with the changes of the steps
    0 to ``k`` applied in order.  Every drawer, in Python or in JavaScript,
    must agree with it.  ``accounts`` tell for each leaf where its gradient
    came from, ``troubles`` what went wrong and where that began, ``cells``
    for small tensors the sum behind each element, and ``ways`` for values
    behind tensors what comes back along each way.
    """

    graph: Graph
    steps: tuple[Step, ...]
    chapters: tuple[Chapter, ...]
    initial: tuple[Change, ...] = field(default=())
    accounts: tuple[Account, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    cells: tuple[CellSums, ...] = ()
    ways: tuple[Ways, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def state(self, step: int) -> State:
        """What the picture shows at ``step`` (negative counts from the end)."""
        if not -len(self.steps) <= step < len(self.steps):
            raise IndexError(f"step {step} is out of range for a timeline of {len(self.steps)} steps")
        shown: State = {}
        last = step % len(self.steps)
        for change in (*self.initial, *(c for s in self.steps[: last + 1] for c in s.changes)):
            shown.setdefault(change.element, {})[change.field] = change.value
        return shown


@dataclass(frozen=True)
class Table:
    """What has no graph, in rows: all of them as long as ``head``; ``notes`` stand below."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def _finite(value: Any) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
