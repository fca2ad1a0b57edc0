"""Generated code that CuPy runs on a GPU, from the second run on as one CUDA graph.

The code is that of NumPy with CuPy's functions. A GPU takes longer to be told of a call than to compute it,
so the second run is *captured*: its calls are written down, and from then on launched all at once. They
compute on the same memory in each run, and nothing of the GPU's is asked for meanwhile. So inputs are copied
into arrays that stay, as are the numbers that Python computes; memory that functions allocate comes from a
pool of their own; and checks are read after the run, in which states change only if all of them hold.

Draws, and rules that are one call, as a convolution, do more on the CPU than a capture may contain: a graph
that has such is refused.

References
----------
NVIDIA, "CUDA C++ Programming Guide", section "CUDA Graphs".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base.devices import module_for, to_numpy
from autokit.gpu.lacking import Ufunc, placed
from autokit.static import emit_numpy, traced
from autokit.static.errors import refused
from autokit.static.graph import Graph, Node, found_in
from autokit.static.interpret import interpret
from autokit.static.memory import Plan
from autokit.static.passes.rewriting import Rewriting


def build(graph: Graph, name: str = "step") -> CudaProgram:
    """Make code of a graph whose states are on a GPU: their values are of :func:`on_host`.

    Raises
    ------
    StaticError
        If a state is on the CPU, or a call cannot be captured.
    """
    graph = graph.copy()
    numbers = [node for node in graph.nodes if node.kind == "number"]
    checks = [node for node in graph.nodes if node.kind == "check"]
    for node in graph.nodes:
        _refuse(node)
        node.kind, node.block = "input" if node in numbers else node.kind, 0
    graph.nodes = [node for node in graph.nodes if node not in checks]
    graph.inputs += numbers
    count = len(graph.outputs)
    if checks:
        _change_states_if_all_hold(graph, checks)
    program = emit_numpy.build(graph, name, CudaProgram)
    program.checks, program.numbers, program.count = checks, numbers, count
    return program


def _refuse(node: Node) -> None:
    """Raise for what a capture cannot contain."""
    if node.kind == "state" and getattr(node.value, "original", None) is None:
        raise refused(f"{node.label} is on the CPU, and backend='cupy' computes on a GPU: use .to('cuda').")
    is_call = node.kind in ("call", "view") and not _is_numpy(node.function)
    if is_call or node.kind == "draw":
        words = "is more than CuPy's functions, and no part of a CUDA graph: let this step run eagerly."
        raise refused(f"{node.name} {words}", node.line)


def _is_numpy(function: Any) -> bool:
    home = getattr(function, "__module__", None) or "numpy"
    return home.partition(".")[0] == "numpy" or home == traced.__name__


def _change_states_if_all_hold(graph: Graph, checks: list[Node]) -> None:
    """Let states keep their values unless all checks hold; this, and what explains why, become outputs."""
    new = Rewriting(graph)
    holds = checks[0].args[0]
    for check in checks[1:]:
        holds = new.call(check, np.logical_and, holds, check.args[0])
    for state, node in graph.updates.items():
        graph.updates[state] = new.call(node, np.where, holds, node, state)
    graph.nodes += new.nodes
    graph.outputs += [holds, *found_in([check.args for check in checks], Node)]


class CudaProgram(emit_numpy.Program):
    """A static graph as a function of arrays on a GPU.

    Attributes
    ----------
    checks, numbers : list of Node
        What is read after a run, and what Python computes before it.
    count : int
        How many of the outputs are the graph's; the others are for the checks.
    """

    checks: list[Node]
    numbers: list[Node]
    count: int

    def new_function(self) -> Callable[..., Any]:
        """The function, with memory, a stream and a CUDA graph of its own."""
        cupy, function = module_for("cuda"), super().new_function()
        stream, pool = cupy.cuda.Stream(), cupy.cuda.MemoryPool()
        fixed: list[Any] = []
        graph: Any = None
        results: Any = None

        def run(*inputs: Any) -> tuple[Any, ...]:
            nonlocal graph, results
            numbers = [np.asarray(node.function(), node.dtype) for node in self.numbers]  # type: ignore[misc]
            values = [cupy.asarray(value) for value in (*inputs, *numbers)]
            with stream, cupy.cuda.using_allocator(pool.malloc):
                for array, value in zip(fixed, values):
                    array[...] = value
                # The first run also compiles CuPy's kernels.
                if results is None:
                    fixed.extend([value.copy() for value in values])
                    results = function(*fixed)
                elif graph is None:
                    stream.begin_capture()
                    results = function(*fixed)
                    graph = stream.end_capture()
                if graph is not None:
                    graph.launch(stream)
            return self._checked(results)

        return run

    def _checked(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Copies of the graph's outputs, which the next run writes over; an error where a check failed."""
        if self.checks and not results[self.count].item():
            operands = found_in([check.args for check in self.checks], Node)
            values = zip(operands, map(to_numpy, results[self.count + 1 :]))
            # The check that failed explains why, and stops this.
            list(interpret(self.checks, dict(values)))
        return tuple([array.copy() for array in results[: self.count]])

    def provided(self, value: Any) -> Any:
        """CuPy's object for one of NumPy's, and a state's array on the GPU for its copy."""
        cupy = module_for("cuda")
        if isinstance(value, Plan):
            return cupy.empty(value.size, np.uint8)
        if value is np.ndarray:
            return placed
        if isinstance(value, np.ndarray):
            original = getattr(value, "original", None)
            return cupy.asarray(value) if original is None else original
        if isinstance(value, np.ufunc):
            return Ufunc(cupy, value)
        return getattr(cupy, getattr(value, "__name__", ""), value) if _is_numpy(value) else value
