""":func:`graph` copies the graph of a tensor, the engine's nodes and tensors, to plain data.

The values are in the order of the forward evaluation: operations as they ran, and each leaf and constant just
before the first operation that uses it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from autokit.base.dtypes import BY_NUMPY
from autokit.base.errors import shown_file
from autokit.engine.node import SEVERAL
from autokit.engine.node import Node as EngineNode
from autokit.engine.record import source_line
from autokit.engine.tensor import Tensor
from autokit.graphs.assigned import assigned_names, operand_names, told_apart
from autokit.graphs.model import Edge, Graph, Group, Node, Source, Summary, name_of
from autokit.graphs.names import Names, namespaces_in_sight
from autokit.graphs.run import Run
from autokit.graphs.summary import summarize
from autokit.graphs.view import make_view
from autokit.graphs.way_back import way_back
from autokit.graphs.words import fill, put_in, word_for
from autokit.nn.module import Module

OPERATIONS_SHOWN = 1000
"""Of a larger graph, a story takes these many operations nearest to the output."""

OPERATIONS_DRAWN = 20_000
"""And a still these many: it folds them."""


@dataclass
class Capture:
    """A graph as data, and what each of its nodes was in the engine.

    ``origins[i]`` is the run, the tensor or the number behind node ``i``, or
    None where nothing of it was kept.  ``ids`` finds a node by the engine's.
    """

    graph: Graph
    origins: list[Any]
    ids: dict[EngineNode | Tensor, int] = field(default_factory=dict)

    def concerned(self, event: str, target: Any) -> int | None:
        """The node that an event of a backward pass is told of; None for what goes on inside of a box."""
        id = self.ids.get(target)
        origin = None if id is None else self.origins[id]
        if isinstance(origin, Run) and target is not (origin.result if event == "ready" else origin.node):
            return None
        return id


def graph(
    *outputs: Tensor,
    depth: int | None = None,
    show: str | Iterable[str] | None = None,
    direction: str = "auto",
    backward: bool = False,
) -> Graph:
    """How ``outputs`` were computed, as plain data that shows itself in a notebook.

    Works before and after ``backward()``, and touches no ``.grad``.  A tensor
    without a history is a graph of one node.

    Parameters
    ----------
    *outputs : Tensor
        The ends of the graph.
    depth : int, optional
        How many levels of modules to draw open; deeper ones fold into one box each.
        Left out, all are open, as long as the picture fits on a page.
    show : str or iterable of str, optional
        What a box shows: ``"value"``, ``"heatmap"``, ``"gradient"``, ``"shape"``,
        ``"order"``, ``"formula"``, which are those where nothing is asked for;
        ``"dtype"`` (also where it is a usual one), ``"local"`` (the local derivatives), ``"saved"`` (what
        is kept for the way back), ``"source"`` (the line of your program), ``"constants"`` (a box for each
        number of your program, which else stands in the formulas alone), or ``"all"`` of these.
    direction : {"auto", "LR", "TB"}
        From left to right, or from top to bottom.
    backward : bool
        Draw the way back in place of the way there: for each operation its
        ``grad_fn`` and what that saves, and ``AccumulateGrad`` at the leaves.

    Returns
    -------
    Graph
        With ``nodes`` in topological order, and ``edges``.

    Raises
    ------
    TypeError
        If there are no outputs, or one is no tensor.
    ValueError
        For a depth below 0, and for something to show or a direction that there is not.

    Examples
    --------
    >>> import autokit as ak
    >>> a = ak.tensor(15.0, requires_grad=True)
    >>> b = ak.tensor(20.0, requires_grad=True)
    >>> [(node.label, node.value.text) for node in ak.graph(a * b).nodes]
    [('a', '15.0'), ('b', '20.0'), ('', '300.0')]
    >>> [node.label for node in ak.graph(a * b, backward=True).nodes]
    ['MulBackward0', 'AccumulateGrad', 'AccumulateGrad']
    """
    view = make_view(depth, show, direction)
    ran = capture(*outputs, most=OPERATIONS_DRAWN).graph
    return replace(way_back(ran) if backward else ran, view=view)


def capture(*outputs: Tensor, most: int = OPERATIONS_SHOWN) -> Capture:
    """As :func:`graph`, with the way back from the data to the engine's objects."""
    if not outputs:
        raise TypeError("graph() needs a tensor: the end of the computation to show")
    for output in outputs:
        if not isinstance(output, Tensor):
            raise TypeError(f"graph() shows the history of a Tensor, and got {type(output).__name__}")
    return Builder(Names(namespaces_in_sight())).build(outputs, most)


class Builder:
    """Collects the nodes and edges of one graph."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.origins: list[Any] = []
        self.ids: dict[EngineNode | Tensor, int] = {}
        self.paths: dict[int, str] = {}
        self.models: dict[int, str] = {}
        self.labels_of_paths: dict[str, str] = {}

    def build(self, outputs: Iterable[Tensor], most: int) -> Capture:
        """The graph behind ``outputs``, of ``most`` operations at most."""
        ends = [output if output._node is None else output._node for output in outputs]
        operations, left_out = _newest_operations([end for end in ends if isinstance(end, EngineNode)], most)
        models = _models(operations)
        if len(models) > 1:
            self.models = self.names.tell_apart(models)
        runs = _runs(operations[::-1])
        self._note_assigned(runs)
        for run in runs:
            self._add_operation(run)
        for end in ends:
            if isinstance(end, Tensor):
                self._add_tensor(end, "")
        graph = Graph(
            nodes=tuple(self.nodes),
            edges=tuple(self.edges),
            groups=self._groups(),
            outputs=tuple(dict.fromkeys(self.ids[end] for end in ends)),
            left_out=left_out,
        )
        return Capture(graph, self.origins, self.ids)

    def _note_assigned(self, runs: list[Run]) -> None:
        """Let the names that the program assigned hold for results that have no name of their own."""
        results: set[EngineNode | Tensor] = {run.result for run in runs}
        sources = {source for run in runs for source in run.node.sources if isinstance(source, Tensor)}
        found: list[tuple[EngineNode | Tensor, str]] = [*assigned_names(runs)]
        found += reversed([*operand_names(runs)])  # the first name of each stays
        named = {value: name for value, name in found if self.names.is_free(value)}
        others = {self.names.of(value) for value in results | sources if value not in named}
        self.names.assigned = told_apart(named, others)

    # -------------------------------------------------------- nodes

    def _add_operation(self, run: Run) -> None:
        ran, result = run.node, run.result
        path = self._path(ran.scope)
        sources = [self._add_source(run, place, path) for place in run.places]
        called = [self.nodes[source].name for source in sources]
        label = self._label(self.names.of(result) or (f"{called[0]}ᵀ" if run.is_transpose else ""))
        name = label or name_of(len(self.nodes))
        # Whose a parameter is says the frame around its module.
        words = put_in(run, [each.removeprefix(f"{path}.") for each in called] if path else called, name)
        id = self._append(
            run,
            self._of_operation(
                result,
                operation=run.name,
                symbol=run.symbol,
                formula=fill(run.formula, words),
                label=label,
                gradient=self._retained(result),
                module=path,
                source=shown_source(source_line(ran.code, ran.instruction)),
                saved=_saved(run, called, name),
                marks=_silent_units(run.name, result.output),
            ),
        )
        self.ids[ran] = self.ids[result] = id
        for source, place in zip(sources, run.places):
            word, local = word_for(run.operand_name(place)), fill(run.local(place), words)
            learns = run.node.rules.learns[place]
            self.edges.append(Edge(len(self.edges), source, id, place, word, local, learns))

    def _of_operation(self, ran: EngineNode, **facts: Any) -> Node:
        several = ran.shape is SEVERAL
        return Node(
            id=len(self.nodes),
            kind="operation",
            backward=ran.kind,
            shape=() if several else tuple(ran.shape),  # several results have no one shape
            dtype="" if several else BY_NUMPY[ran.dtype].name,
            value=None if several else _value(ran.output, ran.storage, ran.order),
            requires_grad=True,
            **facts,
        )

    def _add_source(self, run: Run, place: int, path: str) -> int:
        """The node of an operand, which is new where nothing used it before."""
        source = run.node.sources[place]
        if isinstance(source, EngineNode):
            return self.ids[source] if source in self.ids else self._add_earlier(source)
        if source is None:
            source = run.operand(place)
        if source is None:
            return self._append(None, Node(len(self.nodes), "constant"))
        if isinstance(source, Tensor):
            return self._add_tensor(source, path, run.node)
        # Each 2 of `2 * x + 2` is a value of its own, called 2 where it is computed with as 2.0.
        value = summarize(np.asarray(source, run.node.dtype))
        name = value.text.removesuffix(".0")
        constant = Node(len(self.nodes), "constant", label=name, dtype=value.dtype, value=value)
        return self._append(source, constant)

    def _add_tensor(self, tensor: Tensor, path: str, user: EngineNode | None = None) -> int:
        if tensor in self.ids:
            return self.ids[tensor]
        learns = tensor.requires_grad
        gradient = tensor._grad if learns else None
        id = self._append(
            tensor,
            Node(
                id=len(self.nodes),
                kind="leaf" if learns else "constant",
                label=self._label(self.names.of(tensor)),
                shape=tuple(tensor.shape),
                dtype=tensor.dtype.name,
                value=_value(tensor.array, tensor._storage, float("inf") if user is None else user.order),
                gradient=summarize(gradient.array) if gradient is not None else None,
                requires_grad=learns,
                module=path if learns and user is not None and _owns(user.scope, tensor) else "",
            ),
        )
        self.ids[tensor] = id
        return id

    def _add_earlier(self, ran: EngineNode) -> int:
        """A value whose own history is left out."""
        earlier = self._of_operation(
            ran,
            operation=ran.operation.name,
            symbol="…",
            formula="from operations that are not shown",
            label=self._label(self.names.of(ran)),
            gradient=None,
        )
        self.ids[ran] = self._append(None, earlier)
        return self.ids[ran]

    def _label(self, found: str) -> str:
        """The name found for the next node, or none; its number, where the learner has a ``v3`` already."""
        id = len(self.nodes)
        return found or (f"#{id}" if name_of(id) in self.names.used else "")

    def _append(self, origin: Any, node: Node) -> int:
        self.nodes.append(node)
        self.origins.append(origin)
        return node.id

    def _retained(self, ran: EngineNode) -> Summary | None:
        tensor = self.names.tensor(ran)
        gradient = tensor._grad if tensor is not None else None
        return summarize(gradient.array) if gradient is not None else None

    # -------------------------------------------------------- modules

    def _path(self, scope: Any) -> str:
        """The path of the module that ``scope`` is in, as seen from the outermost module."""
        if scope is None:
            return ""
        if id(scope) not in self.paths:  # scopes live as long as their nodes, and so do their ids
            chain = _chain(scope)
            names = [_child_name(parent, child) for child, parent in pairwise(chain)]
            names.append(self.models.get(id(chain[-1]), ""))
            path = ""
            for name, module in zip(reversed(names), reversed(chain)):
                path = ".".join(filter(None, (path, name)))
                if name:
                    self.labels_of_paths.setdefault(path, type(module).__name__)
            self.paths[id(scope)] = path
        return self.paths[id(scope)]

    def _groups(self) -> tuple[Group, ...]:
        paths: dict[str, list[int]] = {}
        for node in self.nodes:
            parts = node.module.split(".") if node.module else []
            for end in range(1, len(parts) + 1):
                paths.setdefault(".".join(parts[:end]), []).append(node.id)
        return tuple(
            Group(path, self.labels_of_paths.get(path, ""), tuple(members))
            for path, members in sorted(paths.items())
        )


def _newest_operations(ends: list[EngineNode], most: int) -> tuple[list[EngineNode], str]:
    """The operations behind ``ends``, newest first, and a sentence on what was left out."""
    heap = [(-end.order, end) for end in dict.fromkeys(ends)]
    heapq.heapify(heap)
    seen = set(ends)
    found: list[EngineNode] = []
    while heap and len(found) < most:
        operation = heapq.heappop(heap)[1]
        found.append(operation)
        for target in operation.targets:
            if isinstance(target, EngineNode) and target not in seen:
                seen.add(target)
                heapq.heappush(heap, (-target.order, target))
    return found, f"earlier operations than the last {most:,}" if heap else ""


def _runs(operations: list[EngineNode]) -> list[Run]:
    """The operations as boxes: one of several results and its only result that is used are one."""
    results = {node: node.owner for node in operations if node.owner is not node}
    counts = Counter(results.values())
    alone = {
        owner: node for node, owner in results.items() if counts[owner] == 1 and owner in set(operations)
    }
    shown = [node for node in operations if alone.get(node.owner) is not node]
    return [Run(node, alone.get(node, node)) for node in shown]


def _models(operations: list[EngineNode]) -> list[Module]:
    """The outermost modules that are alive and ran some of the operations, where they hold anything."""
    scopes = {id(operation.scope): operation.scope for operation in reversed(operations)}
    found = [_chain(scope)[-1] for scope in scopes.values() if scope is not None]
    holding = [model for model in found if model is not None and (model._modules or model._parameters)]
    return list({id(model): model for model in holding}.values())


def _chain(scope: Any) -> list[Module | None]:
    """The module that ``scope`` is in, and those around it as far as they are alive."""
    chain: list[Module | None] = []
    while scope is not None:
        module, scope = scope[1](), scope[0]
        if module is None and chain:
            break
        chain.append(module)
    return chain


def _child_name(parent: Module | None, child: Module | None) -> str:
    if parent is None or child is None:
        return ""
    return next((name for name, module in parent.named_modules() if module is child), "")


def _owns(scope: Any, tensor: Tensor) -> bool:
    module = scope[1]() if scope is not None else None
    return module is not None and any(parameter is tensor for parameter in module._parameters.values())


def _saved(run: Run, operands: list[str], result: str) -> tuple[str, ...]:
    """The names of what is kept for the way back."""
    called, rules = dict(zip(run.places, operands)), run.node.rules
    if "ctx" in run.settings:  # the learner's own forward chose
        named = {run.node.sources[place]: name for place, name in called.items()}
        kept = [each._node or each for each in run.settings["ctx"]._saved if each is not None]
        return tuple([named.get(each, result) for each in kept])
    names = [called[place] for place in rules.saves if place in called]
    return tuple(dict.fromkeys([*names, result] if rules.saves_output else names))


def _value(array: Any, storage: Any, moment: float) -> Summary | None:
    """The summary of a value, unless it was not kept, or was overwritten after ``moment``."""
    if array is None or (storage is not None and storage.modified > moment):
        return None
    return summarize(array)


_RECTIFIERS = {"relu", "relu6", "leaky_relu", "threshold", "hardtanh", "clamp"}


def _silent_units(operation: str, array: Any) -> tuple[str, ...]:
    """A rectifier's units that are 0 for every sample of the batch, in words."""
    if operation not in _RECTIFIERS or array is None or array.ndim < 2 or len(array) < 2:
        return ()
    alive = array.any(axis=(0, *range(2, array.ndim)))
    silent = int(alive.size - alive.sum())
    return (f"{silent:,} of {alive.size:,} units silent on this batch",) if silent else ()


def shown_source(line: tuple[str, int, str] | None) -> Source | None:
    """A line of the learner's program, with a name for its file that is the same on every run."""
    if line is None or not line[2]:  # such as a program that was typed into a prompt
        return None
    file, number, text = line
    return Source(shown_file(file), number, text)
