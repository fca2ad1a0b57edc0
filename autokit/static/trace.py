"""One trace of a function: its graph, and how a call's tensors and the program's state fit to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.engine.record import storage_of
from autokit.engine.tensor import Tensor, new_tensor
from autokit.nn.module import Module
from autokit.optim.optimizer import Optimizer
from autokit.static.errors import refused
from autokit.static.graph import Graph, Node, mapped
from autokit.static.halves import Halves
from autokit.static.reachable import reachable
from autokit.static.traced import Traced
from autokit.static.tracing import Tracing


class Place:
    """Stands for the tensor at a place among a call's arguments, or among a graph's outputs."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at


def tensors_in(values: Any) -> list[Any]:
    """The tensors and arrays in nested tuples, lists and dicts, in order."""
    found: list[Any] = []
    mapped(values, lambda one: found.append(one) if isinstance(one, Tensor | np.ndarray) else None)
    return found


class Trace:
    """A traced function.

    Parameters
    ----------
    function : callable
    args, kwargs
        The example: the tensors in it become the graph's inputs.
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

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        others: tuple[Any, ...] = (),
        keep_grads: bool | None = None,
    ) -> None:
        self.tracing = tracing = Tracing()
        self.graph = tracing.tape.graph
        code: Any = getattr(function, "__code__", None) or function.__call__.__code__  # type: ignore[operator]
        self.line = code, 0
        self.given = _Inputs(tracing, args, kwargs)
        self._adopt(function, others)
        with tracing:
            result = function(*self.given.args, **self.given.kwargs)
            self.learning: list[tuple[int, Tensor]] = []
            self.result = mapped(result, self._output)
            self.halves = self._second_half()
        self.keep_grads = not tracing.optimizers if keep_grads is None else keep_grads
        self.training = [(module, module.training) for module in tracing.modules]
        self.guards = list(tracing.tape.guards.values())
        self.states: list[tuple[Any, Node]] = []
        self.changed: list[Any] = []
        self.gradients: list[tuple[Any, Any, int | None]] = []
        self.had_no_gradient = [
            (kept.tensor, kept.grad is None) for kept in tracing.states.values() if kept.requires_grad
        ]
        for kept in tracing.states.values():
            self._conclude(kept)
        self.given.conclude(self)
        self._refuse_shared_memory()
        self._check_gradients()
        _hoist_checks(self.graph)

    def _adopt(self, function: Any, others: tuple[Any, ...]) -> None:
        tracing = self.tracing
        for name, value in [*[("", other) for other in others if other is not None], *reachable(function)]:
            if isinstance(value, Tensor):
                tracing.names.setdefault(value, name)
            elif isinstance(value, Module):
                tracing.add_module(value, name)
            elif isinstance(value, Optimizer):
                tracing.watch(value)

    def _output(self, value: Any) -> Any:
        """What stands for a result: its place among the outputs, or a state of the program itself."""
        if not isinstance(value, Tensor | Traced):
            return value
        if isinstance(value, Tensor):
            if value in self.tracing.states:
                return value
            self.tracing.adopt(value)
        array = value.array if isinstance(value, Tensor) else value
        place = self.add_output(array.node)
        if isinstance(value, Tensor) and value._requires_grad:
            self.learning.append((place, value))
        return Place(place)

    def add_output(self, node: Node) -> int:
        """Make ``node`` an output; its place among them."""
        self.graph.outputs.append(node)
        return len(self.graph.outputs) - 1

    def _second_half(self) -> Halves | None:
        """What computes gradients later, unless the function's own backward pass has freed the graph."""
        tracing = self.tracing
        leaves = [
            *[kept.tensor for kept in tracing.states.values() if kept.requires_grad],
            *[tensor for _, tensor, _ in self.given.given if tensor._requires_grad],
        ]
        if not (self.learning and leaves) or tracing.passes:
            return None
        return Halves(tracing.tape, self.learning, leaves)

    # ------------------------------------------------------------ what the trace leaves behind

    def _conclude(self, kept: Any) -> None:
        """Note what became of a state, and of its gradient."""
        if not isinstance(kept.traced, Traced):
            return
        if kept.traced.root is None:
            self.states.append((kept.tensor, kept.node))
            new = kept.new
            if not isinstance(new, Traced) or new.shape != kept.array.shape or new.dtype != kept.array.dtype:
                raise refused(f"the function gives {kept.label} another array: write into it, as by copy_().")
            if new.node is not kept.node:
                self.graph.updates[kept.node] = new.node
                self.changed.append(kept.tensor)
        elif kept.traced.node is not kept.first:
            self.changed.append(kept.tensor)
        self._conclude_gradient(kept)

    def _conclude_gradient(self, kept: Any) -> None:
        after, before = kept.grad_after, kept.grad_before
        if before is not None and self.keep_grads:
            self.states.append((_GradientOf(kept.tensor), before))
        if after is None:
            if kept.grad is not None:
                self.gradients.append((kept.tensor, None, None))
        elif not isinstance(after.array, Traced):
            return
        elif not self.keep_grads:
            self.gradients.append((kept.tensor, after.array.node, None))
        elif before is not None:
            if after.array.node is not before:
                self.graph.updates[before] = after.array.node
        else:
            self.gradients.append((kept.tensor, after.array.node, self.add_output(after.array.node)))

    def _check_gradients(self) -> None:
        """Refuse to add to gradients that a run would not leave behind."""
        if self.keep_grads:
            return
        needed = set(self.graph.needed(self.graph.roots()))
        for kept in self.tracing.states.values():
            if kept.grad_before in needed:
                raise refused(
                    f"the function adds to the gradient that {kept.label} has from before, and a compiled "
                    "step leaves none behind: call zero_grad() in it, before backward(); or compile with "
                    "keep_grads=True.",
                    kept.grad_before.line,
                )

    def _refuse_shared_memory(self) -> None:
        """Refuse states that share memory without being views of each other, where one is written to."""
        arrays = [(node, node.value) for _, node in self.states]
        written = set(self.graph.updates)
        for node, array in arrays:
            for other, its_array in arrays if node in written else ():
                if other is not node and np.may_share_memory(array, its_array):
                    raise refused(
                        f"{node.label} and {other.label} share memory, which a graph does not see, and one "
                        "is written to: write through the tensor that owns the memory."
                    )

    # ------------------------------------------------------------ a run

    def holds(self) -> bool:
        """Whether the graph still stands for the program: its modes, its numbers and its tensors."""
        for module, training in self.training:
            if module.training is not training:
                return False
        for guard in self.guards:
            if not guard():
                return False
        return not self.keep_grads or all(
            [(tensor._grad is None) is empty for tensor, empty in self.had_no_gradient]
        )

    def counted(self) -> list[Any]:
        """What the counters of the optimizers will be after a run."""
        return [counter.number.compute() for _, counter in self.tracing.counters]

    def leaves(self, given: list[Any]) -> list[Tensor]:
        """The leaves of the second half, those of a call in place of those of the example."""
        assert self.halves is not None
        table = {tensor: place for place, (_, tensor, _) in enumerate(self.given.given)}
        tensors = [each for each in given if isinstance(each, Tensor)]
        return [tensors[table[leaf]] if leaf in table else leaf for leaf in self.halves.leaves]

    def finish(self, arrays: tuple[Any, ...], counted: list[Any]) -> Any:
        """Write what Python keeps after a run, and build the result from the outputs' ``arrays``."""
        for (tensor, _), number in zip(self.tracing.counters, counted):
            tensor.array[...] = number
        line = self.line
        for tensor in self.changed:
            (tensor._storage or storage_of(tensor)).changed(line)
        for tensor, _, place in self.gradients:
            tensor._grad = None if place is None else new_tensor(arrays[place])
        if self.result.__class__ is Place:
            return as_tensor(arrays[self.result.at])
        return mapped(self.result, lambda one: as_tensor(arrays[one.at]) if one.__class__ is Place else one)


def as_tensor(value: Any) -> Tensor:
    """A tensor as it is, or a new one of an array."""
    return value if isinstance(value, Tensor) else new_tensor(value)


class _GradientOf:
    """The gradient of a leaf, whose array a run reads and writes."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def array(self) -> Any:
        """The array of the gradient; None where there is none."""
        return None if self.tensor._grad is None else self.tensor._grad.array


class _Inputs:
    """The example's tensors, traced, in the structure of the call."""

    def __init__(self, tracing: Tracing, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.leaves: list[Any] = []
        self.given: list[Any] = []
        tape = tracing.tape

        def traced(value: Any) -> Any:
            if not isinstance(value, Tensor | np.ndarray):
                return value
            array = value.array if isinstance(value, Tensor) else value
            one = tape.given("input", array, f"x{len(self.leaves)}")
            self.leaves.append(one)
            if not isinstance(value, Tensor):
                return one
            tensor = new_tensor(one)
            tensor._requires_grad = value._requires_grad
            self.given.append((value, tensor, one.node))
            return tensor

        self.args, self.kwargs = mapped(args, traced), mapped(kwargs, traced)

    def conclude(self, trace: Trace) -> None:
        """Refuse inputs that were written to."""
        for leaf, node in zip(self.leaves, trace.graph.inputs):
            if leaf.node is not node:
                raise refused(
                    f"the function writes into its argument {node.label}: write into a clone() of it."
                )


def _hoist_checks(graph: Graph) -> None:
    """Let checks that no draw leads to run before all else: a run that they stop has changed nothing."""
    drawn: set[Node] = set()
    for node in graph.nodes:
        if node.kind in ("draw", "effect") or any([operand in drawn for operand in node.operands()]):
            drawn.add(node)
    first = set(graph.needed([node for node in graph.nodes if node.kind == "check" and node not in drawn]))
    given = {*graph.inputs, *graph.states}
    graph.nodes.sort(key=lambda node: 0 if node in given else 1 if node in first else 2)
