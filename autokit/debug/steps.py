"""A backward pass that stops before each node, so that a learner can look and change what flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autokit.autograd import seeds
from autokit.autograd.engine import flow
from autokit.autograd.node import Node
from autokit.autograd.watch import Watch
from autokit.batches.batch import of_all_samples
from autokit.devices import to_numpy
from autokit.ops.recording import free, source_line
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import thread


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
    inputs : tuple of (Tensor or None)
        What the operation was given; None for a large value that was not kept.
    output : Tensor or None
        What it made.
    gradient : Tensor
        The gradient of the output, complete; set it to send another one on.
        For a node of several outputs a tuple, None for what nothing came back to.
    """

    def __init__(self, number: int, node: Node, gradient: Any) -> None:
        self.number = number
        self.node = node.shown()
        self.name = node.kind
        self.inputs = node.operands
        self.output = node.result()
        self._arrived = gradient
        self._sent: Any = None

    @property
    def gradient(self) -> Any:
        """The gradient that arrived, or the one that was put in its place."""
        shown = self._arrived if self._sent is None else self._sent
        if hasattr(shown, "slots"):
            return tuple(
                [
                    new_tensor(shown.slots[k]) if k in shown.slots else None
                    for k in range(max(shown.slots) + 1)
                ]
            )
        return new_tensor(shown)

    @gradient.setter
    def gradient(self, value: Tensor) -> None:
        if hasattr(self._arrived, "slots"):
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
        array = of_all_samples(getattr(self.gradient, "array", None))
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
    begin = seeds([output], gradient, False)
    root = output._node or output
    watch = Watch([root], listener=thread.state.listener, stepping=True)
    return _walk(flow([root], begin, watch), retain_graph)


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
                free(node)
    finally:
        recorded = thread.state.grad_enabled
        passing.close()
        thread.state.grad_enabled = recorded  # as it is where the loop is left, not where it began
