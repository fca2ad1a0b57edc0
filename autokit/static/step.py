"""Compiled functions: a graph for each signature, and what a :class:`Step` shows of them."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial, update_wrapper
from itertools import combinations
from typing import Any

import numpy as np

from autokit.base import dtypes
from autokit.engine.detours import DETOURS, of_this_thread
from autokit.engine.modes import thread
from autokit.engine.tensor import Tensor
from autokit.static import emit_numpy
from autokit.static.errors import RecompileWarning, StaticError, described
from autokit.static.graph import Graph, Node
from autokit.static.interpret import interpret
from autokit.static.passes import DEFAULT, FOR_LOOPS, Pass, run_passes
from autokit.static.trace import Trace, tensors_in
from autokit.static.traced import Unexpected
from autokit.static.tracing import OPAQUE, LazyState, Tracing
from autokit.static.unknown import Sizes, Unexplained, for_rows, rows_of

MANY = 8
"""After this number of graphs for one function, a warning says so."""


def interpreted(graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """A function that runs ``graph`` node by node."""

    def run(*inputs: Any) -> tuple[Any, ...]:
        values: dict[Node, Any] = {node: node.value for node in graph.states}
        values.update(zip(graph.inputs, inputs))
        for _ in interpret(graph.nodes, values):
            pass
        results = tuple([np.array(values[node]) for node in graph.outputs])
        new = [(state.value, np.array(values[node])) for state, node in graph.updates.items()]
        for array, value in new:
            array[...] = value
        return results

    return run


class Plan:
    """One graph of a function, for one signature, with the code that runs it.

    Attributes
    ----------
    trace : Trace
    passes : list of Pass
        With the graph before and after each of them.
    graph : Graph
        The last of these.
    run : callable
        Takes the inputs' arrays, and returns the outputs'.
    """

    def __init__(self, step: Step, trace: Callable[[], Trace], words: str) -> None:
        start = time.perf_counter()
        self.words = words
        self.trace = trace()
        self.seconds = {"tracing": time.perf_counter() - start}
        self.passes: list[Pass] = []
        self.runs, self.is_traced = 0, True
        self.step = step
        self.bind()

    def bind(self) -> None:
        """Make the code, for the arrays in which the states are now."""
        start = time.perf_counter()
        self.bound = [(tensor, tensor.array) for tensor, _ in self.trace.states]
        for (_, node), (_, array) in zip(self.trace.states, self.bound):
            node.value = array
        self.passes = run_passes(self.trace.graph, self.step.pass_names)
        self.graph = self.passes[-1].after if self.passes else self.trace.graph
        build = BACKENDS[self.step.backend]
        self.run = build(self.graph)
        if self.trace.halves is not None:
            second = run_passes(self.trace.halves.graph, self.step.pass_names)
            self.back = build(second[-1].after if second else self.trace.halves.graph)
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
                return True
        return True

    def __call__(self, given: list[Any]) -> Any:
        self.runs += 1
        trace, arrays = self.trace, [getattr(each, "array", each) for each in given]
        counted = trace.counted()
        if trace.halves is None:
            return trace.finish(self.run(*arrays), counted)
        results = trace.halves.apply(self.run, self.back, arrays, trace.leaves(given))
        return trace.finish(results, counted)


def native(graph: Graph, measured: bool = False) -> Callable[..., Any]:
    """A function of which Numba compiles groups of calls; it needs the extra ``native``."""
    from autokit.static import emit_loops

    return emit_loops.build(graph, measured=measured)


BACKENDS: dict[str, Callable[[Graph], Callable[..., Any]]] = {
    "numpy": emit_numpy.build,
    "native": native,
    "auto": partial(native, measured=True),
    "interpreted": interpreted,
}
"""What makes a function of a graph, by the name of the backend."""


class Step:
    """A function that is traced when a signature first comes, and then runs as a static graph.

    :func:`compile` makes it; its ``graph``, ``passes``, ``source`` and ``memory`` are those of the last run.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        model: Any = None,
        optimizer: Any = None,
        dynamic: bool | None = None,
        backend: str = "numpy",
        passes: Sequence[str] | None = None,
        check: bool = False,
        keep_grads: bool | None = None,
    ) -> None:
        if backend not in BACKENDS:
            raise StaticError(f"there is no backend {backend!r}: there are {', '.join(map(repr, BACKENDS))}")
        self.function, self.model, self.optimizer = function, model, optimizer
        self.dynamic, self.backend, self.keep_grads = dynamic, backend, keep_grads
        usual = FOR_LOOPS if backend in ("native", "auto") else DEFAULT
        self.pass_names = usual if passes is None else tuple(passes)
        self.checks, self.calls, self.warned = check, 0, False
        self.plans: dict[Any, list[Plan]] = {}
        self.last: Plan | None = None
        self.last_key: Any = None
        self.remarks: list[str] = []
        if hasattr(function, "__name__"):
            update_wrapper(self, function)

    def __deepcopy__(self, memo: dict[int, Any]) -> Step:
        function, model, optimizer = [
            copy.deepcopy(each, memo) for each in (self.function, self.model, self.optimizer)
        ]
        settings = self.dynamic, self.backend, self.pass_names, self.checks, self.keep_grads
        return Step(function, model, optimizer, *settings)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if DETOURS and any([isinstance(each, Tracing) for each in of_this_thread()]):
            return self.function(*args, **kwargs)  # as a part of another graph
        self.calls += 1
        if self.checks and self.calls == 2:
            self.check(*args, **kwargs)
        key = self.signature(args, kwargs)
        try:
            plan = self.last
            if plan is None or key != self.last_key or not plan.fits():
                plan = self._plan(args, kwargs)
                self.last_key = key
        except LazyState:
            self._remark("the first call ran eagerly, as the optimizer began its memory in it")
            return self.function(*args, **kwargs)
        given = tensors_in((args, kwargs)) if kwargs or key[0][0] is not None else list(args)
        try:
            return plan(given)
        except Unexpected:
            self._remark("built again, for numbers that were not as in the example before")
            self.plans[key].remove(plan)
            return self._plan(args, kwargs)(given)

    # ------------------------------------------------------------ signatures

    def signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a graph is built for: shapes and dtypes of tensors, and all other arguments as they are."""
        if not (kwargs or DETOURS):
            facts: Any = [None]
            for each in args:
                if not isinstance(each, Tensor):
                    break
                array = each.array
                facts.append((array.shape, array.dtype, array.flags.c_contiguous, each._requires_grad))
            else:  # the commonest call
                return tuple(facts), (), thread.state.recording, dtypes.get_default_dtype(), ()
        state = thread.state
        around = tuple([(type(each), str(vars(each))) for each in of_this_thread()]) if DETOURS else ()
        return (
            _key(args),
            _key(kwargs),
            state.recording,
            dtypes.get_default_dtype(),
            around,
        )

    def _plan(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plan:
        key = self.signature(args, kwargs)
        plans = self.plans.setdefault(key, [])
        for plan in plans:
            if plan.fits():
                self.last = plan
                return plan
        words = in_words(key)
        plan = self.last = self._resized(key, words) or Plan(
            self,
            lambda: Trace(self.function, args, kwargs, (self.model, self.optimizer), self.keep_grads),
            words,
        )
        plans.append(plan)
        count = sum(map(len, self.plans.values()))
        if count >= MANY and plan.is_traced and not self.warned:
            self.warned = True
            warnings.warn(
                f"{_named(self.function)} was built {count} times, the last time for {words}: pass what "
                "changes from call to call as a tensor. .explain() lists them.",
                RecompileWarning,
                stacklevel=3,
            )
        return plan

    def _resized(self, key: Any, words: str) -> Plan | None:
        """A plan for another number of rows than two that were traced before, if that is all that differs."""
        if self.dynamic is False:
            return None
        known = [(each, plans[0]) for each, plans in self.plans.items() if plans and plans[0].is_traced]
        for (one, first), (other, second) in combinations(known, 2):
            rows = rows_of([one, other, key])
            if rows is None or not (first.fits() and second.fits()):
                continue
            try:
                plan = Plan(self, partial(for_rows, first.trace, second.trace, Sizes(*rows)), words)
            except Unexplained as error:
                self._remark(f"traced for each number of rows: {error}")
                return None
            plan.is_traced = False
            return plan
        return None

    def _remark(self, words: str) -> None:
        if words not in self.remarks:
            self.remarks.append(words)

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
        return getattr(self._shown().run, "source", "")

    @property
    def memory(self) -> Any:
        """The plan of the memory."""
        return getattr(self._shown().run, "plan", None)

    def debug(self, *args: Any, **kwargs: Any) -> Any:
        """Run the code in pdb, line by line."""
        import pdb

        plan = self._plan(args, kwargs)
        arrays = [getattr(each, "array", each) for each in tensors_in((args, kwargs))]
        counted = plan.trace.counted()
        return plan.trace.finish(pdb.runcall(plan.run, *arrays) or (), counted)

    def steps(self, *args: Any, **kwargs: Any) -> Iterator[tuple[Node, Any]]:
        """Run node by node, as they were traced; each node with its value. States stay as they are."""
        plan = self._plan(args, kwargs)
        graph = plan.trace.graph
        values: dict[Node, Any] = {node: node.value for node in graph.states}
        given = tensors_in((args, kwargs))
        values.update(zip(graph.inputs, [getattr(each, "array", each) for each in given]))
        yield from interpret(graph.nodes, values)

    def explain(self) -> str:
        """Signatures, what each pass did, numbers that were fixed, and times, as text."""
        lines = [f"{_named(self.function)}: {self.calls} calls"]
        for plan in [plan for plans in self.plans.values() for plan in plans]:
            nodes = plan.trace.graph.nodes
            lines.append(f"built for {plan.words}: {len(nodes)} nodes, {plan.runs} runs")
            lines += [f"  {name}: {seconds * 1e3:.1f} ms" for name, seconds in plan.seconds.items()]
            lines += [f"  {each.name}: {each.words}" for each in plan.passes]
            opaque = [node for node in nodes if node.name.removesuffix("_backward") in OPAQUE]
            lines += [f"  one call: {node.name}, {described(node.line)}" for node in opaque]
            fixed = [node for node in nodes if node.kind == "const"]
            lines += [
                f"  fixed: {node.dtype}{list(node.shape or ())}, {described(node.line)}" for node in fixed
            ]
            lines += [f"  {words}" for words in plan.trace.tracing.tape.remarks.values()]
        return "\n".join([*lines, *self.remarks])

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


def compile(
    function: Callable[..., Any] | None = None,
    *,
    model: Any = None,
    optimizer: Any = None,
    dynamic: bool | None = None,
    backend: str = "numpy",
    passes: Sequence[str] | None = None,
    check: bool = False,
    keep_grads: bool | None = None,
) -> Any:
    """A function that is traced into a static graph when a signature first comes, and then runs as that.

    Parameters
    ----------
    function : callable or Module, optional
        Without it the result is a decorator.
    model, optimizer : optional
        What takes part and cannot be found, as it is neither named in the function nor called by it.
    dynamic : bool, optional
        False traces for each number of rows; otherwise two traces serve for any number, where they show how
        all numbers in the graph depend on it.
    backend : str
        ``"numpy"`` makes NumPy code; ``"native"`` lets Numba compile what it can of it, and ``"auto"`` what
        it makes faster; ``"interpreted"`` runs the graph node by node.
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
    settings: dict[str, Any] = {"model": model, "optimizer": optimizer, "dynamic": dynamic}
    settings |= {"backend": backend, "passes": passes, "check": check, "keep_grads": keep_grads}
    if function is None:
        return lambda function: Step(function, **settings)
    return Step(function, **settings)


def _key(value: Any) -> Any:
    """A part of a signature."""
    if isinstance(value, Tensor):
        array = value.array
        return (array.shape, array.dtype, array.flags.c_contiguous, value._requires_grad)
    if isinstance(value, np.ndarray):
        return ("array", value.shape, value.dtype, value.flags.c_contiguous)
    if isinstance(value, tuple | list):
        return (type(value), *map(_key, value))
    if isinstance(value, dict):
        return tuple([(name, _key(each)) for name, each in value.items()])
    try:
        hash(value)
    except TypeError:
        return (type(value), id(value))
    return (type(value), value)


def in_words(key: Any) -> str:
    """A signature in words."""
    found: list[str] = []

    def say(part: Any) -> None:
        if isinstance(part, tuple) and len(part) == 4 and isinstance(part[1], np.dtype):
            found.append(f"{part[1]}{list(part[0])}")
        elif isinstance(part, tuple):
            for each in part:
                say(each)

    say(key[:2])
    return ", ".join(found) or "no tensors"


def _named(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)
