"""One trace of a function: its graph, and how a call's tensors and the program's state fit to it."""

from __future__ import annotations

import inspect
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from autokit.engine.record import storage_of
from autokit.engine.tensor import Tensor, new_tensor
from autokit.func.trees import flatten
from autokit.optim.optimizer import Optimizer
from autokit.static.errors import Untraceable, refused
from autokit.static.graph import Graph, Node, found_in, mapped
from autokit.static.halves import Halves
from autokit.static.surroundings import is_of_the_program
from autokit.static.traced import Traced
from autokit.static.tracing import Kept, Tracing


class Place(int):
    """Stands for the tensor at this place among a graph's outputs."""


class Trace:
    """A traced function.

    Parameters
    ----------
    function : callable
    given : (tuple, dict)
        The example's arguments: the tensors in them become the graph's inputs.
    others : sequence
        Modules and optimizers that take part.
    keep_grads : bool or None
        Whether gradients of leaves are left in ``.grad``; None if no optimizer takes a step.

    Attributes
    ----------
    graph : Graph
    states : list of (tensor, node)
        Where the values of the graph's states are.
    """

    def __init__(self, function: Any, given: Any, others: Any, keep_grads: bool | None) -> None:
        self.tracing = tracing = Tracing()
        self.graph = tracing.tape.graph
        self.line = getattr(inspect.unwrap(function), "__code__", Trace.__init__.__code__), 0
        self.inputs: list[tuple[Any, Any, Traced]] = []
        self.learning: list[tuple[int, Tensor]] = []
        self.new_leaves: set[int] = set()
        args, kwargs = mapped(given, self._input)
        Untraceable.last = None
        with tracing:
            self._meet(function, given, others)
            result = function(*args, **kwargs)
            if Untraceable.last is not None:  # the program has caught it
                raise Untraceable.last
            self.result = mapped(result, self._output)
            self.halves = self._second_half()
        self.keep_grads = not tracing.steps if keep_grads is None else keep_grads
        self.states: list[tuple[Any, Node]] = []
        self.changed: list[Any] = []
        self.gradients: list[tuple[Any, int | None]] = []
        self.modes: list[tuple[dict[str, Any], bool]] = []
        for kept in tracing.states.values():
            self._conclude(kept)
        self._refuse_what_a_run_does_not_do()
        _hoist_checks(self.graph)
        for graph in (self.graph, *([self.halves.graph] if self.halves else [])):
            graph.forget_examples()
        tracing.tape.constants.clear()

    def _meet(self, function: Any, given: Any, others: Any) -> None:
        """Let what takes part be states; modules first, as they give the names."""
        around = self.tracing.around
        around.note_function(function)
        objects = [each for each in flatten(given)[0] if not isinstance(each, Tensor | np.ndarray)]
        for each in objects:
            around.look_into(each)
        named = [*around.named.items(), *[("", each) for each in (function, *objects, *others)]]
        for name, each in sorted(named, key=lambda pair: isinstance(pair[1], Optimizer)):
            self.tracing.take_part(name, each)

    def _input(self, value: Any) -> Any:
        """What stands for an argument: an input of the graph, if it is a tensor or an array."""
        if not isinstance(value, Tensor | np.ndarray):
            return value
        array = value.array if isinstance(value, Tensor) else value
        traced = self.tracing.tape.given("input", array, f"x{len(self.inputs)}")
        tensor: Any = traced
        if isinstance(value, Tensor):
            tensor = new_tensor(traced)
            tensor._requires_grad = value._requires_grad
        self.inputs.append((tensor, traced.node, traced))
        return tensor

    def _output(self, value: Any) -> Any:
        """What stands for a result: its place among the outputs, or a state of the program itself."""
        if inspect.isgenerator(value) or is_of_the_program(value):
            kind = type(value).__name__
            raise refused(
                f"the function returns a {kind}: return tensors, or tuples, lists and dicts of them."
            )
        if not isinstance(value, Tensor | Traced) or value in self.tracing.states:
            return value
        if isinstance(value, Traced):
            return Place(self.add_output(value.node))
        self.tracing.adopt(value)
        place = self.add_output(value.array.node)
        if value._requires_grad and value._node is None:
            self.new_leaves.add(place)
        elif value._requires_grad:
            self.learning.append((place, value))
        return Place(place)

    def add_output(self, node: Node) -> int:
        """Make ``node`` an output; its place among them."""
        self.graph.outputs.append(node)
        return len(self.graph.outputs) - 1

    def _second_half(self) -> Halves | None:
        """What computes gradients later, unless the function's own backward pass has freed the graph."""
        tracing = self.tracing
        given = [*tracing.states, *[tensor for tensor, _, _ in self.inputs]]
        leaves = [each for each in given if getattr(each, "_requires_grad", False)]
        if not (self.learning and leaves) or tracing.passes:
            return None
        return Halves(tracing.tape, self.learning, leaves)

    # ------------------------------------------------------------ what the trace leaves behind

    def _conclude(self, kept: Kept) -> None:
        """Note what became of a state and of its gradient, which a run leaves only if it is to be kept."""
        new, after, learns = kept.left
        node, before = kept.node, kept.grad_before
        if learns is not kept.requires_grad:
            raise refused(f"the function changes requires_grad of {kept.label}: change it outside.")
        if not isinstance(new, Traced) or (new.shape, new.dtype) != (kept.array.shape, kept.array.dtype):
            raise refused(f"the function gives {kept.label} another array: write into it, as by copy_().")
        if new.node is not node:
            self.changed.append(kept.tensor)
        if kept.traced.base is None:
            self.states.append((kept.tensor, node))
            if new.node is not node:
                self.graph.updates[node] = new.node
        if before is None and after is None:
            return
        if self.halves is not None and after is not None and after.array.node is not before:
            raise refused(f"the function sets the gradient of {kept.label}, and calls no backward().")
        if after is None or not self.keep_grads:
            self.gradients.append((kept.tensor, None))
        elif before is None or before not in self.graph.needed([after.array.node]):
            self.gradients.append((kept.tensor, self.add_output(after.array.node)))
        elif after.array.node is not before:
            self.graph.updates[before] = after.array.node

    def _refuse_what_a_run_does_not_do(self) -> None:
        """Refuse inputs and Python's numbers that change, gradients that add up, and shared memory."""
        for tensor, node, traced in self.inputs:
            if traced.node is not node:
                raise refused(
                    f"the function writes into its argument {node.label}: write into a clone() of it."
                )
            if getattr(tensor, "_grad", None) is not None:
                raise refused(
                    f"backward() gives its argument {node.label} a gradient, and a compiled step leaves none "
                    "there: return torch.autograd.grad(loss, x); a parameter is named, and not passed."
                )
        for entries, name in self.tracing.around.exchanged_by_the_function():
            if name != "training" or name not in entries:
                raise refused(
                    f"the function changes {name}, and a graph runs no Python: change it outside, or keep it "
                    "in a tensor that is written to, as by copy_()."
                )
            self.modes.append((entries, entries[name]))
        needed = set(self.graph.needed(self.graph.roots()))
        for kept in self.tracing.states.values():
            if kept.grad_before not in needed:
                continue
            if not self.keep_grads:
                raise refused(
                    f"the function adds to the gradient that {kept.label} has from before, and a compiled "
                    "step leaves none behind: call zero_grad() in it, before backward(); or compile with "
                    "keep_grads=True.",
                    kept.grad_before.line,
                )
            self.states.append((_GradientOf(kept.tensor), kept.grad_before))
        self.graph.states = list(dict.fromkeys([node for _, node in self.states]))
        for node, other in product(self.graph.updates, self.graph.states):
            if other is not node and np.may_share_memory(node.value, other.value):
                raise refused(
                    f"{node.label} and {other.label} share memory, which a graph does not see, and one is "
                    "written to: write through the tensor that owns the memory."
                )

    # ------------------------------------------------------------ a run

    def holds(self) -> bool:
        """Whether the graph still stands for the program: its layers, its numbers and its tensors."""
        for tensor, kept in self.tracing.states.items():
            if (
                tensor._requires_grad is not kept.requires_grad
                or kept.grad is None
                and tensor._grad is not None
            ):
                return False
        return self.tracing.around.hold()

    def leaves(self, given: Any) -> list[Tensor]:
        """The leaves of the second half, those of a call in place of those of the example."""
        assert self.halves is not None
        now = found_in(given, Tensor | np.ndarray)
        table = {tensor: each for (tensor, _, _), each in zip(self.inputs, now)}
        return [table.get(leaf, leaf) for leaf in self.halves.leaves]

    def finish(self, arrays: tuple[Any, ...]) -> Any:
        """Write what Python keeps after a run, and build the result from the outputs' ``arrays``."""
        line = self.line
        for tensor in self.changed:
            (tensor._storage or storage_of(tensor)).changed(line)
        for tensor, place in self.gradients:
            tensor._grad = None if place is None else new_tensor(arrays[place])
        for attributes, training in self.modes:
            attributes["training"] = training
        if self.result.__class__ is Place:
            return self._tensor_of(arrays, self.result)
        return mapped(self.result, partial(self._tensor_of, arrays))

    def _tensor_of(self, arrays: tuple[Any, ...], one: Any) -> Any:
        """The tensor for a place among the outputs; what the function returned beside it is as it is."""
        if one.__class__ is not Place:
            return one
        value = arrays[one]
        tensor = value if isinstance(value, Tensor) else new_tensor(value)
        tensor._requires_grad |= one in self.new_leaves
        return tensor


class _GradientOf:
    """The gradient of a leaf, whose array a run reads and writes."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def array(self) -> Any:
        """The array of the gradient; None where there is none."""
        return None if self.tensor._grad is None else self.tensor._grad.array


def _hoist_checks(graph: Graph) -> None:
    """Let checks that no draw leads to run before all else: a run that they stop has changed nothing."""
    drawn: set[Node] = set()
    for node in graph.nodes:
        if node.kind == "draw" or not drawn.isdisjoint(node.operands()):
            drawn.add(node)
    first = set(graph.needed([node for node in graph.nodes if node.kind == "check" and node not in drawn]))
    given = {*graph.inputs, *graph.states}
    nodes = [node for node in graph.nodes if node.kind != "state" or node in given]
    graph.nodes = sorted(nodes, key=lambda node: 0 if node in given else 1 if node in first else 2)
