"""Compiled functions: a graph for each signature, and what a :class:`Step` shows of them."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial, update_wrapper
from types import MethodType
from typing import Any

import numpy as np

from autokit.base import dtypes
from autokit.base.devices import HostCopy, on_host
from autokit.engine.detours import DETOURS, of_this_thread
from autokit.engine.modes import thread
from autokit.engine.tensor import Tensor
from autokit.static import emit_cupy, emit_loops, emit_numpy
from autokit.static.errors import RecompileWarning, StaticError, described
from autokit.static.graph import Graph, Node
from autokit.static.interpret import node_by_node
from autokit.static.passes import DEFAULT, FOR_LOOPS, Pass, run_passes
from autokit.static.trace import Trace
from autokit.static.traced import Unexpected
from autokit.static.tracing import OPAQUE, LazyState, Tracing

MANY = 8
"""After this number of graphs for one function, a warning says so."""

KEPT = 64
"""So many graphs of a function are kept, each with its memory: the newest."""


ARRAYS = Tensor, np.ndarray

BACKENDS: dict[str, Callable[[Graph], Any]] = {
    "numpy": emit_numpy.build,
    "native": emit_loops.build,
    "cupy": emit_cupy.build,
}
"""What makes a function of a graph, by the name of the backend."""


class Plan:
    """One graph of a function, for one signature, with the code that runs it.

    Attributes
    ----------
    key : tuple
        The signature.
    trace : Trace
    passes : list of Pass
        With the graph before and after each of them.
    graph : Graph
        The last of these.
    run : callable
        Takes the inputs' arrays, and returns the outputs'.
    """

    def __init__(self, key: Any, trace: Callable[[], Trace], code: Callable[[Graph], Any]) -> None:
        start = time.perf_counter()
        self.key, self.trace, self.code, self.runs = key, trace(), code, 0
        self.seconds = {"tracing": time.perf_counter() - start}
        self.bind()

    def bind(self) -> None:
        """Make the code, for the arrays in which the states are now."""
        start = time.perf_counter()
        self.bound = [(tensor, tensor.array) for tensor, _ in self.trace.states]
        for (_, node), (_, array) in zip(self.trace.states, self.bound):
            node.value = on_host(array)
        self.passes, self.graph, self.run = self.code(self.trace.graph)
        if self.trace.halves is not None:
            _, _, self.back = self.code(self.trace.halves.graph)
        self.seconds["passes and code"] = time.perf_counter() - start

    def fits(self) -> bool:
        """Whether the graph stands for the program as it is now; arrays that were replaced are bound anew."""
        if not self.trace.holds():
            return False
        for tensor, array in self.bound:
            now = tensor.array
            if now is not array:
                if now is None or now.shape != array.shape or now.dtype != array.dtype:
                    return False
                self.bind()
                break
        return True

    def __str__(self) -> str:
        return ", ".join([str(list(node.shape)) for node in self.trace.graph.inputs]) or "no tensors"

    def __call__(self, arrays: list[Any], given: Any, run: Callable[..., Any] | None = None) -> Any:
        """Run on the ``arrays`` of the arguments ``given``."""
        self.runs += 1
        run, trace = run or self.run, self.trace
        if trace.halves is None:
            return trace.finish(run(*arrays))
        return trace.finish(trace.halves.apply(run, self.back, arrays, trace.leaves(given)))


class Step:
    """A function that is traced into a static graph when a signature first comes, and then runs as that.

    Parameters
    ----------
    function : callable or Module
    model, optimizer : optional
        What takes part and cannot be found, as it is neither named in the function nor called by it.
    dynamic : bool
        Each number of rows has a graph of its own, since the function may do something else for it. True says
        that this is wanted, so that no warning comes of many graphs.
    backend : str
        ``"numpy"`` makes NumPy code; ``"native"`` lets Numba compile what it makes faster; ``"cupy"`` runs
        on a GPU, as one CUDA graph.
    passes : sequence of str, optional
        The names of the passes, see ``autokit.static.passes``; ``[]`` for none.
    check : bool
        Compare the second call with an eager one.
    keep_grads : bool, optional
        Leave gradients in ``.grad``; by default where no optimizer takes a step in the function.

    Raises
    ------
    Untraceable
        Where the function asks for a number of a tensor, as ``if loss > 1`` does.
    StaticError
        Where it does what a graph cannot.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        model: Any = None,
        optimizer: Any = None,
        dynamic: bool | None = None,
        backend: str = "numpy",
        passes: Sequence[str] | None = None,
        check: bool = False,
        keep_grads: bool | None = None,
    ) -> None:
        if backend not in BACKENDS:
            raise StaticError(f"there is no backend {backend!r}, but {', '.join(BACKENDS)}")
        self.function, self.others, self.keep_grads = function, (model, optimizer), keep_grads
        self.dynamic, self.build, self.compares = dynamic, BACKENDS[backend], check
        plain = FOR_LOOPS if backend in ("native", "cupy") else DEFAULT
        self.pass_names = plain if passes is None else passes
        self.plans: list[Plan] = []
        self.last: Plan | None = None
        self.calls = 0
        self.remarks: dict[str, None] = {}
        update_wrapper(self, function, updated=())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name == "function":  # of a step that is being copied
            raise AttributeError(name)
        return getattr(self.function, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Step:
        twin = copy.copy(self)
        twin.function, twin.others = copy.deepcopy((self.function, self.others), memo)
        twin.plans, twin.last = [], None
        return twin

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if DETOURS and any([isinstance(each, Tracing) for each in of_this_thread()]):
            # This is a part of another graph.
            return self.function(*args, **kwargs)
        self.calls += 1
        if self.calls == 2 and self.compares:
            self.check(*args, **kwargs)
        try:
            plan, arrays = self.plan_for(args, kwargs)
            return plan(arrays, (args, kwargs))
        except LazyState:
            self.remarks["the first call ran eagerly, as the optimizer began its memory in it"] = None
            return self.function(*args, **kwargs)
        except Unexpected:
            self.remarks["built again, for numbers that were not as in the example before"] = None
            self.plans.remove(plan)
            self.last, self.calls = None, self.calls - 1
            return self(*args, **kwargs)
        except StaticError as error:
            # The words name the program's line.
            raise error.with_traceback(None) from None

    def plan_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Plan, list[Any]]:
        """What runs for these arguments, built now unless it was before, and their arrays."""
        key, arrays = signature(args, kwargs)
        plan = self.last
        if plan is None or plan.key != key or not plan.fits():
            built = (each for each in self.plans if each.key == key and each.fits())
            self.last = plan = next(built, None) or self._build(key, args, kwargs)
        return plan, arrays

    def trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trace:
        """A new trace of the function, for these arguments."""
        return Trace(self.function, (args, kwargs), self.others, self.keep_grads)

    def _build(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plan:
        plan = Plan(key, partial(self.trace, args, kwargs), self._code)
        self.plans = [*self.plans[1 - KEPT :], plan]
        if len(self.plans) == MANY and not self.dynamic:
            warnings.warn(
                f"{_named(self.function)} was built {MANY} times, the last time for {plan}: pass what "
                "changes from call to call as a tensor of one shape; dynamic=True says that shapes may "
                "change. .explain() lists them.",
                RecompileWarning,
                stacklevel=4,
            )
        return plan

    def _code(self, graph: Graph) -> tuple[list[Pass], Graph, Callable[..., Any]]:
        """The passes over a graph, what they leave of it, and the function that is made of that."""
        on_a_gpu = any([isinstance(node.value, HostCopy) for node in (*graph.states, *graph.inputs)])
        if on_a_gpu and self.build is not emit_cupy.build:
            raise StaticError("the tensors are on a GPU, where backend='cupy' computes: say so to compile()")
        passes = run_passes(graph, self.pass_names)
        graph = passes[-1].after if passes else graph
        return passes, graph, self.build(graph)

    # ------------------------------------------------------------ what it shows

    def _shown(self) -> Plan:
        if self.last is None:
            raise StaticError("nothing is built yet: call the compiled function first, with an example")
        return self.last

    @property
    def graph(self) -> Graph:
        """The graph of the last run, after all passes."""
        return self._shown().graph

    @property
    def passes(self) -> list[Pass]:
        """Each pass, with its words and the graph before and after it."""
        return self._shown().passes

    @property
    def source(self) -> str:
        """The code of the last run."""
        return self._shown().run.source

    @property
    def memory(self) -> Any:
        """The plan of the memory."""
        return self._shown().run.plan

    def debug(self, *args: Any, **kwargs: Any) -> Any:
        """Run the code in pdb, line by line."""
        import pdb

        plan, arrays = self.plan_for(args, kwargs)
        return plan(arrays, (args, kwargs), partial(pdb.runcall, plan.run.new_function()))

    def steps(self, *args: Any, **kwargs: Any) -> Iterator[tuple[Node, Any]]:
        """Run node by node, as they were traced; each node with its value. States stay as they are."""
        plan, arrays = self.plan_for(args, kwargs)
        return node_by_node(plan.trace.graph, arrays)

    def explain(self) -> str:
        """Signatures, what each pass did, numbers that were fixed, and times, as text."""
        lines = [f"{_named(self.function)}: {self.calls} calls"]
        for plan in self.plans:
            nodes = plan.trace.graph.nodes
            lines.append(f"built for {plan}: {len(nodes)} nodes, {plan.runs} runs")
            lines += [f"  {name}: {seconds * 1e3:.1f} ms" for name, seconds in plan.seconds.items()]
            lines += [f"  {each.name}: {each.words}" for each in plan.passes]
            for node in nodes:
                where = described(node.line)
                if node.name.removesuffix("_backward") in OPAQUE:
                    lines.append(f"  one call: {node.name}, {where}")
                elif node.kind == "const":
                    lines.append(f"  fixed: {node.dtype}{list(node.shape)}, {where}")
                numbers = [each for each in node.args if isinstance(each, float | np.floating)]
                lines += [f"  fixed: {number:g}, {where}" for number in numbers if node.phase == "forward"]
            lines += [f"  {words}" for words in plan.trace.tracing.tape.remarks.values()]
        return "\n".join(dict.fromkeys([*lines, *self.remarks]))

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Run this call eagerly and statically from the same state, and compare all that they compute.

        Afterwards everything is as before.

        Raises
        ------
        StaticError
            If the two differ; it names the first result or state that does.
        """
        from autokit.static.comparing import compare_with_eager

        compare_with_eager(self, args, kwargs)


def compile(function: Callable[..., Any] | None = None, **settings: Any) -> Any:
    """A function that runs as a static graph: a :class:`Step`, with its settings; without it a decorator.

    Examples
    --------
    >>> import autokit as torch
    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> @compile
    ... def step(x, y):
    ...     optimizer.zero_grad()
    ...     loss = ((model(x) - y) ** 2).mean()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss
    >>> x = torch.tensor([[0.0, 1.0], [1.0, 1.0]])
    >>> losses = [step(x, x.sum(1, keepdim=True)).item() for _ in range(100)]
    >>> losses[-1] < losses[0]
    True
    """
    return partial(Step, **settings) if function is None else Step(function, **settings)


def signature(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
    """What a graph is built for: the form of tensors, and all other facts; and the arrays of these."""
    arrays: list[Any] = []
    facts = [_facts(each, arrays) for each in args], _facts(kwargs, arrays) if kwargs else None
    detours = [(type(each), str(vars(each))) for each in of_this_thread()] if DETOURS else None
    return (facts, thread.state.recording, dtypes.get_default_dtype(), detours), arrays


def _facts(value: Any, arrays: list[Any]) -> Any:
    """What a signature says of an argument; arrays in it, also of tensors, join ``arrays``."""
    if isinstance(value, ARRAYS):
        array = value.array if isinstance(value, Tensor) else value
        arrays.append(array)
        return array.shape, array.strides, array.dtype, getattr(value, "_requires_grad", None)
    if isinstance(value, tuple | list):
        return type(value), [_facts(each, arrays) for each in value]
    if isinstance(value, dict):
        return dict, [(name, _facts(each, arrays)) for name, each in value.items()]
    try:
        hash(value)
    except TypeError:
        raise StaticError(
            f"an argument of type {type(value).__name__} says not whether it changed: pass tensors, numbers, "
            "or tuples, lists and dicts of these"
        ) from None
    return type(value), value


def _named(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)
