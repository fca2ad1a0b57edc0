"""A backward pass that stops before each node, so that a learner can see and change the gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autokit.autograd import _seeds
from autokit.base.devices import to_numpy
from autokit.engine.modes import thread
from autokit.engine.node import Gradients, Node
from autokit.engine.observed import Watch, as_tensors, kept, observed
from autokit.engine.record import source_line
from autokit.engine.tensor import Tensor, new_tensor
from autokit.graphs.run import operand_of


class Step:
    """One node of the graph, just before its derivative is computed.

    Attributes
    ----------
    number : int
        How many nodes ran before.
    node : Node
        The operation, as ``grad_fn`` shows it.
    name : str
        PyTorch's name of it, such as ``MulBackward0``.
    inputs : tuple of (Tensor or number or None)
        What the operation was given; None for a large value that was not kept.
    output : Tensor or None
        What it computed.
    gradient : Tensor
        The gradient of the output, complete; set it to send another one on.
        For a node of several outputs a tuple, None for what nothing came back to.
    """

    def __init__(self, number: int, node: Node, gradient: Any) -> None:
        self.number, self.node, self.name = number, node.owner, node.kind
        self.inputs = tuple([operand_of(node, place) for place in range(len(node.sources))])
        self.output = kept(node)
        self._arrived = gradient
        self._sent: Any = None

    @property
    def gradient(self) -> Any:
        """The gradient that arrived, or the one that was put in its place."""
        if isinstance(self._arrived, Gradients):
            return as_tensors(self._arrived)
        return new_tensor(self._arrived if self._sent is None else self._sent)

    @gradient.setter
    def gradient(self, value: Tensor) -> None:
        if isinstance(self._arrived, Gradients):
            raise TypeError(
                f"{self.name} has several outputs: change the gradient at the step of one of them"
            )
        if not isinstance(value, Tensor):
            raise TypeError(f"a gradient must be a Tensor, not {type(value).__name__}")
        if value.array.shape != self._arrived.shape:
            raise RuntimeError(
                f"the gradient at {self.name} has the shape {tuple(self._arrived.shape)}, and the new one "
                f"{tuple(value.shape)}"
            )
        self._sent = value.array.astype(self._arrived.dtype)

    @property
    def line(self) -> tuple[str, int, str] | None:
        """File, number and text of the line of the program that ran the operation."""
        return source_line(self.node.code, self.node.instruction)

    def __repr__(self) -> str:
        line = self.line
        where = f" (line {line[1]}: {line[2]})" if line is not None and line[2] else ""
        array = getattr(self.gradient, "array", None)
        values = "large" if array is None or array.size > 8 else to_numpy(array).tolist()
        return f"step {self.number}: {self.name}{where}, gradient {values}"


def steps(output: Tensor, gradient: Tensor | None = None, *, retain_graph: bool = False) -> Iterator[Step]:
    """Run ``output.backward()`` one node at a time.

    Each node is yielded before it runs, newest first, as the engine takes
    them.  Its :attr:`Step.gradient` can be changed.  The loop may be left at
    any point: until the last node has run, no leaf's ``.grad`` has changed and
    no saved value was freed.  Hooks of the nodes that ran have run.

    Parameters
    ----------
    output : Tensor
        Where to begin.
    gradient : Tensor, optional
        The gradient to begin with; 1 for a single element.
    retain_graph : bool
        Keep the saved values at the end, for another pass.

    Raises
    ------
    RuntimeError
        As ``backward()`` does: no graph, a freed one, a value changed since, NaN in anomaly mode.

    Examples
    --------
    >>> import autokit as ak
    >>> x = ak.tensor([1.0, 2.0], requires_grad=True)
    >>> loss = (x * x).sum()
    >>> for step in ak.debug.steps(loss):
    ...     print(step.name, step.gradient.tolist())
    SumBackward0 1.0
    MulBackward0 [1.0, 1.0]
    >>> x.grad
    tensor([2., 4.])
    """
    seeds = _seeds([output], gradient, False)
    root = output._node or output
    watch = Watch([root], listener=thread.state.listener, retain_graph=True)
    watch.awaited = {}  # so that every leaf is completed at the end
    return _walk(observed([root], seeds, watch), retain_graph)


def _walk(passing: Any, retain_graph: bool) -> Iterator[Step]:
    walked: list[Node] = []
    sent = None
    try:
        while True:
            node, gradient = passing.send(sent)
            step = Step(len(walked), node, gradient)
            yield step
            walked.append(node)
            sent = step._sent
    except StopIteration:
        if not retain_graph:
            for node in walked:
                node.saved = None
