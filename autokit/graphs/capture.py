"""From the engine's live objects to plain data: :func:`graph`.

The values come in the order of the forward evaluation: operations as they
were made, each leaf and constant just before the first operation that uses it.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from autokit import dtypes
from autokit.autograd.node import Node as EngineNode
from autokit.current_gpu import computing_beside
from autokit.graphs.model import Edge, Graph, Group, Node, Source, Summary, name_of
from autokit.graphs.names import Names, namespaces_in_sight
from autokit.graphs.summary import summarize
from autokit.graphs.view import make_view
from autokit.graphs.way_back import way_back
from autokit.graphs.words import fill, put_in
from autokit.nn.module import Module
from autokit.ops.recording import OUTPUT, source_line
from autokit.tensor import Literal, Tensor

OPERATIONS_SHOWN = 1000
"""Of a larger graph, a story takes these many operations nearest to the output."""

OPERATIONS_DRAWN = 20_000
"""And a still these many: it folds them."""


@dataclass
class Capture:
    """A graph as data, and what each of its nodes was in the engine.

    ``origins[i]`` is the engine's node or the tensor behind node ``i``, or
    None where nothing of it was kept.
    """

    graph: Graph
    origins: list[EngineNode | Tensor | None]
    ids: dict[EngineNode | Tensor, int] = field(default_factory=dict)


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
        ``"dtype"``, ``"order"``, ``"formula"``, which are those where nothing is asked for;
        ``"local"`` (the local derivatives), ``"saved"`` (what is kept for the way back),
        ``"source"`` (the line of your program), or ``"all"`` of these.
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
    made = capture(*outputs, most=OPERATIONS_DRAWN).graph
    return replace(way_back(made) if backward else made, view=view)


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
        self.origins: list[EngineNode | Tensor | None] = []
        self.ids: dict[EngineNode | Tensor, int] = {}
        self.paths: dict[int, tuple[str, str]] = {}
        self.models: dict[int, str] = {}
        self.labels_of_paths: dict[str, str] = {}

    def build(self, outputs: Iterable[Tensor], most: int) -> Capture:
        """The graph behind ``outputs``, of ``most`` operations at most."""
        ends = [output if output._node is None else output._node for output in outputs]
        operations, left_out = _newest_operations([end for end in ends if isinstance(end, EngineNode)], most)
        shown = set(operations)
        models = _models(operations)
        if len(models) > 1:
            self.models = self.names.tell_apart(models)
        for operation in reversed(operations):
            self._add_operation(operation, shown)
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

    # -------------------------------------------------------- nodes

    def _add_operation(self, made: EngineNode, shown: set[EngineNode]) -> None:
        operation = made.operation
        path, _ = self._module(made.scope)
        sources: list[int] = []
        for source in made.sources:
            if isinstance(source, EngineNode):
                sources.append(self.ids[source] if source in shown else self._add_earlier(source))
            else:
                sources.append(self._add_tensor(source, path, made))
        label = self._label(self.names.of(made))
        name = label or name_of(len(self.nodes))
        called = [self.nodes[source].name for source in sources]
        # Whose a parameter is says the frame around its module.
        words = put_in(
            operation, [each.removeprefix(f"{path}.") for each in called] if path else called, name
        )
        id = self._append(
            made,
            Node(
                id=len(self.nodes),
                kind="operation",
                operation=operation.name,
                symbol=operation.symbol,
                formula=fill(operation.formula, words),
                backward=made.kind,
                label=label,
                shape=tuple(made.shape or ()),  # several outputs have no one shape
                dtype=_dtype_name(made.dtype),
                value=_value(made.output, made.storage, made.sequence),
                gradient=self._retained(made),
                requires_grad=True,
                module=path,
                source=_source(made),
                saved=tuple(dict.fromkeys(_saved(made, called, name))),
                marks=_dead_units(operation.name, made.output),
            ),
        )
        for slot, (source, target) in enumerate(zip(sources, made.targets)):
            operand = operation.operands[0 if operation.variadic else slot]
            self.edges.append(
                Edge(
                    id=len(self.edges),
                    source=source,
                    target=id,
                    slot=slot,
                    operand=operation.words[operand],
                    local=fill(operation.local(operand), words),
                    requires_grad=target is not None,
                )
            )

    def _add_tensor(self, tensor: Tensor | None, path: str, user: EngineNode | None = None) -> int:
        if tensor is None:
            return self._append(None, _unknown(len(self.nodes)))
        # Each 2 of `2 * x + 2` is a value of its own.
        if tensor in self.ids and not isinstance(tensor, Literal):
            return self.ids[tensor]
        learns = tensor.requires_grad
        gradient = tensor._grad if learns else None
        moment = user.sequence if user is not None else float("inf")
        value = _value(tensor.array, tensor._storage, moment)
        # The 2 of `2 * x` is its own name, and is called 2 where it is computed with as 2.0.
        numeral = value.text.removesuffix(".0") if isinstance(tensor, Literal) and value is not None else ""
        label = numeral or self._label(self.names.of(tensor))
        return self._append(
            tensor,
            Node(
                id=len(self.nodes),
                kind="leaf" if learns else "constant",
                operation="",
                symbol="",
                formula="",
                backward="",
                label=label,
                shape=tuple(tensor.shape),
                dtype=_dtype_name(tensor.array.dtype),
                value=value,
                gradient=summarize(gradient.array) if gradient is not None else None,
                requires_grad=learns,
                module=path if learns and user is not None and _owns(user.scope, tensor) else "",
            ),
        )

    def _add_earlier(self, made: EngineNode) -> int:
        """A value whose own history is left out."""
        if made in self.ids:
            return self.ids[made]
        return self._append(
            made,
            Node(
                id=len(self.nodes),
                kind="operation",
                operation=made.operation.name,
                symbol="…",
                formula="from operations that are not shown",
                backward=made.kind,
                label=self._label(self.names.of(made)),
                shape=tuple(made.shape or ()),  # several outputs have no one shape
                dtype=_dtype_name(made.dtype),
                value=_value(made.output, made.storage, made.sequence),
                gradient=None,
                requires_grad=True,
            ),
        )

    def _label(self, found: str) -> str:
        """The name found for the next node, or none; its number, where the learner has a ``v3`` already."""
        id = len(self.nodes)
        return found or (f"#{id}" if name_of(id) in self.names.used else "")

    def _append(self, origin: EngineNode | Tensor | None, node: Node) -> int:
        self.nodes.append(node)
        self.origins.append(origin)
        if origin is not None:
            self.ids[origin] = node.id
        return node.id

    def _retained(self, made: EngineNode) -> Summary | None:
        tensor = self.names.tensor(made)
        gradient = tensor._grad if tensor is not None else None
        return summarize(gradient.array) if gradient is not None else None

    # -------------------------------------------------------- modules

    def _module(self, scope: Any) -> tuple[str, str]:
        """Path and class of the module that ``scope`` is in, as seen from the outermost module."""
        if scope is None:
            return "", ""
        if id(scope) not in self.paths:  # scopes live as long as their nodes, and so do their ids
            chain = _chain(scope)
            names = [_child_name(parent, child) for child, parent in pairwise(chain)]
            names.append(self.models.get(id(chain[-1]), ""))
            path = ""
            for name, module in zip(reversed(names), reversed(chain)):
                path = ".".join(filter(None, (path, name)))
                if name:
                    self.labels_of_paths.setdefault(path, type(module).__name__)
            self.paths[id(scope)] = (path, type(chain[0]).__name__)
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
    heap = [(-end.sequence, end) for end in dict.fromkeys(ends)]
    heapq.heapify(heap)
    seen = set(ends)
    found: list[EngineNode] = []
    while heap and len(found) < most:
        operation = heapq.heappop(heap)[1]
        found.append(operation)
        for target in operation.targets:
            if isinstance(target, EngineNode) and target not in seen:
                seen.add(target)
                heapq.heappush(heap, (-target.sequence, target))
    return found, f"earlier operations than the last {most:,}" if heap else ""


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


def _saved(made: EngineNode, operands: list[str], result: str) -> list[str]:
    """The names of what is kept for the way back."""
    if made.operation.variadic:
        return operands if made.way.saves else []
    names = {**dict(zip(made.operation.operands, operands)), OUTPUT: result}
    return [names[each] for each in made.way.saves]


def _unknown(id: int) -> Node:
    return Node(id, "constant", "", "", "", "", "", (), "", None, None, False)


def _value(array: Any, storage: Any, moment: float) -> Summary | None:
    """The summary of a value, unless it was not kept, or was overwritten after ``moment``."""
    if array is None or (storage is not None and storage.modified > moment):
        return None
    return summarize(array)


_RECTIFIERS = {"relu", "relu6", "leaky_relu", "threshold", "hardtanh", "clamp"}


def _dead_units(operation: str, array: Any) -> tuple[str, ...]:
    """A rectifier's units that are 0 for every sample of the batch, in words."""
    if operation not in _RECTIFIERS or array is None or array.ndim < 2 or len(array) < 2:
        return ()
    with computing_beside(array):
        alive = array.any(axis=(0, *range(2, array.ndim)))
        dead = int(alive.size - alive.sum())
    return (f"{dead:,} of {alive.size:,} units dead",) if dead else ()


def _dtype_name(dtype: Any) -> str:
    return dtypes.BY_NUMPY[dtype].name if dtype is not None else ""


def _source(made: EngineNode) -> Source | None:
    return shown_source(source_line(made.code, made.instruction))


def shown_source(line: tuple[str, int, str] | None) -> Source | None:
    """A line of the learner's program, with a name for its file that is the same on every run."""
    if line is None or not line[2]:  # such as a program that was typed into a prompt
        return None
    file, number, text = line
    # A notebook's cell lies in a temporary file whose name changes from run to run.
    name = os.path.basename(file)
    in_a_cell = name.removesuffix(".py").isdigit() or name.startswith("<")
    return Source("notebook" if in_a_cell else name, number, text)
