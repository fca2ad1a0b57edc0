"""A session runs a graph of TensorFlow 1's: it keeps the values of variables and computes what is fetched.

For each combination of fetches and sizes, a session traces the operations that are needed into a graph of
NumPy's calls. The first runs interpret it, node by node; then it is compiled. Variables are fetched after all
operations have run; TensorFlow leaves that order open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import getrandbits
from types import SimpleNamespace
from typing import Any

import numpy as np

from autokit.base.generator import Generator
from autokit.static.emit_numpy import build
from autokit.static.errors import FailedPreconditionError, OpError, described, failed
from autokit.static.graph import Node, mapped
from autokit.static.interpret import interpret
from autokit.static.passes import run_passes
from autokit.static.tf import graph as graphs
from autokit.static.tf.graph import Graph, Operation, Tensor, Trace

__all__ = ["ConfigProto", "InteractiveSession", "RunOptions", "Session"]

INTERPRETED_RUNS = 3
"""So often a program is interpreted before it is compiled."""


class Program:
    """What a session runs for one combination of fetches and sizes.

    Attributes
    ----------
    graph : Graph
        The calls of NumPy.
    changed : list of Variable
        The variables that a run assigns.
    function : callable or None
        The compiled program.
    results : list of ndarray
        What the last interpreted run fetched.
    """

    def __init__(self, session: Any, fetches: list[Any], fed: dict[Tensor, np.ndarray]) -> None:
        self.runs = 0
        self.results: list[Any] = []
        self.function: Callable[..., Any] | None = None
        trace = Trace(session.array_of, session.generator_of)
        for tensor, array in fed.items():
            trace.give(tensor, array)
        for operation in graphs.needed(fetches, fed):
            try:
                trace.run(operation)
            except Exception as error:
                raise _failed(error, operation.line, operation.name) from None
        self.graph = graph = trace.tape.graph
        values = [trace.value_of(each) for each in fetches if isinstance(each, Tensor)]
        graph.outputs = [trace.traced(each).node for each in values]
        self.changed = [variable for variable, node in trace.states.items() if node in graph.updates]
        graph.nodes = graph.needed([*graph.roots(), *graph.inputs, *graph.states])

    def steps(self, feeds: Sequence[np.ndarray], values: dict[Node, Any]) -> Iterator[tuple[Node, Any]]:
        """Interpret it, and yield each node with its value; at the end, write the variables."""
        values.update(zip(self.graph.inputs, feeds))
        values.update([(node, node.value) for node in self.graph.states])
        nodes = self.graph.nodes
        try:
            yield from interpret(nodes, values)
        except Exception as error:
            at = next(node for node in nodes if node not in values)
            raise _failed(error, at.line, at.label or at.operation or at.name) from None
        self.results = [np.array(values[node]) for node in self.graph.outputs]  # none sees the changes below
        new = [(state, np.array(values[node])) for state, node in self.graph.updates.items()]
        for state, value in new:
            state.value[...] = value

    def run(self, feeds: Sequence[np.ndarray], compiled: bool) -> list[Any]:
        """Run it; return what is fetched of tensors."""
        self.runs += 1
        with np.errstate(all="ignore"):
            if compiled and self.runs > INTERPRETED_RUNS:
                if self.function is None:
                    self.function = build(run_passes(self.graph)[-1].after, name="session_run")
                return list(self.function(*feeds))
            for _ in self.steps(feeds, {}):
                pass
        return self.results


def _failed(error: Exception, line: Any, name: str) -> Exception:
    return error if isinstance(error, OpError) else failed(error, line, name)


class Session:
    """Runs a graph.

    Parameters
    ----------
    graph : Graph, optional
        By default the default graph.
    compiled : bool
        Compile what runs often; else every run goes node by node.

    Attributes
    ----------
    arrays : dict
        The values of variables.
    initialized : set of Variable
        Those that have a value.

    Examples
    --------
    >>> import autokit.static as tf
    >>> x = tf.placeholder(tf.float32, [None], name="x")
    >>> with tf.Session() as sess:
    ...     print(sess.run(x * 2, feed_dict={x: [1, 2, 3]}))
    [2. 4. 6.]
    """

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: Any = None, compiled: bool = True
    ) -> None:
        self.graph, self.compiled = graph or graphs.get_default_graph(), compiled
        self.arrays: dict[Tensor, np.ndarray] = {}
        self.initialized: set[Tensor] = set()
        self.generators: dict[Operation, Any] = {}
        self.programs: dict[Any, Program] = {}
        self.accepted: set[Any] = set()  # what was fed before: tensors, with shapes and dtypes of arrays

    # ------------------------------------------------------------ what a trace asks for

    def array_of(self, variable: Tensor, written: bool = False) -> np.ndarray:
        """The array of ``variable``, to be read, or only to be ``written``."""
        if variable not in self.initialized and not written:
            raise FailedPreconditionError(
                f"Attempting to use uninitialized value {variable.op.name}\n  it was defined at "
                f"{described(variable.op.line)}\n  run tf.global_variables_initializer() first"
            )
        return self.arrays.setdefault(variable, variable.example.array.copy())

    def generator_of(self, operation: Operation) -> Any:
        """The generator from which ``operation`` draws: with a seed, the same numbers in each session."""
        if operation not in self.generators:
            seed, every = operation.settings.get("seed"), self.graph.seed
            if seed is None:
                seed = getrandbits(32) if every is None else operation.place
            self.generators[operation] = Generator().manual_seed((every or 0) * 1009 + seed)
        return self.generators[operation]

    # ------------------------------------------------------------ running

    def load(self, variable: Tensor, value: Any) -> None:
        """Give ``variable`` a value."""
        self.array_of(variable, written=True)[...] = value
        self.initialized.add(variable)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run what ``fetches`` need: tensors, operations, their names, or lists and dicts of these.

        Parameters
        ----------
        fetches
            What to compute. The result has the same form; an operation gives None.
        feed_dict : dict, optional
            Values of tensors, most often of placeholders, by the tensor or by its name.

        Raises
        ------
        InvalidArgumentError
            If a placeholder is not fed, or an operation fails.
        FailedPreconditionError
            If a variable has no value yet.
        ValueError
            If a value has another shape than the tensor that it is fed to.
        """
        program, feeds, wanted = self.prepare(fetches, feed_dict)
        results = iter(self.execute(program, feeds))
        self.initialized.update(program.changed)
        values = iter([next(results)[()] if isinstance(each, Tensor) else None for each in wanted])
        return mapped(fetches, lambda _: next(values))

    def prepare(self, fetches: Any, feed_dict: Any) -> tuple[Program, list[np.ndarray], list[Any]]:
        """The program for these fetches and sizes, the arrays to feed, and the graph's elements to fetch."""
        wanted: list[Any] = []
        mapped(fetches, lambda each: wanted.append(self._element(each)))
        fed = dict([self._fed(name, value) for name, value in (feed_dict or {}).items()])
        key = (*wanted, *[(tensor, array.shape) for tensor, array in fed.items()])
        program = self.programs.get(key)
        if program is None:
            program = self.programs[key] = Program(self, wanted, fed)
        return program, list(fed.values()), wanted

    def execute(self, program: Program, feeds: list[np.ndarray]) -> list[Any]:
        """Run ``program``; return what is fetched of tensors. A debugger does it in its own way."""
        return program.run(feeds, self.compiled)

    def debug(self, fetches: Any = None, feed_dict: Any = None) -> Any:
        """This session under a debugger; with ``fetches`` a widget in which a run of them goes by steps."""
        from autokit.static.debugger import LocalCLIDebugWrapperSession

        return LocalCLIDebugWrapperSession(self).debug(fetches, feed_dict)

    def _element(self, fetch: Any) -> Any:
        """The tensor or operation that ``fetch`` is, or whose name it is."""
        if isinstance(fetch, str):
            return self.graph.named_element(fetch)
        if isinstance(fetch, Tensor | Operation) and fetch.graph is self.graph:
            return fetch
        raise TypeError(
            f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor of this "
            "graph. A program that writes loss = session.run(loss) has lost its tensor: use another name."
        )

    def _fed(self, name: Any, value: Any) -> tuple[Tensor, np.ndarray]:
        """The tensor of this name, and ``value`` as an array that fits it."""
        if type(value) is np.ndarray and (name, value.shape, value.dtype) in self.accepted:
            return name, value
        tensor = self._element(name)
        if not isinstance(tensor, Tensor) or isinstance(value, Tensor):
            raise TypeError(
                f"The value of a feed cannot be a tf.Tensor object, and the key has to be one: {name!r}, "
                f"{value!r}. An operation has a name such as x, and its tensor one such as x:0."
            )
        given, dtype = np.asarray(value), tensor.dtype.numpy
        if given.dtype.kind == "f" and dtype.kind in "iu":
            words = f"takes integers, and is fed {given.dtype.name}: write .astype({dtype.name!r})"
            raise TypeError(f"{tensor!r} {words}")
        if not tensor.shape.accepts(given.shape):
            raise ValueError(
                f"Cannot feed value of shape {given.shape} for Tensor '{tensor.name}', which has shape "
                f"'{tensor.shape}'\n  it was defined at {described(tensor.op.line)}"
            )
        self.accepted.add((tensor, given.shape, dtype))
        return tensor, given.astype(dtype, copy=False)

    # ------------------------------------------------------------ as a default

    def as_default(self) -> Session:
        """A ``with`` block in which ``.run()`` and ``.eval()`` use this session."""
        return self

    def __enter__(self) -> Session:
        graphs.SESSIONS.append(self)
        graphs.GRAPHS.append(self.graph)
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
        graphs.GRAPHS.pop()

    def close(self) -> None:
        """No longer be the default."""
        if self in graphs.SESSIONS:
            graphs.SESSIONS.remove(self)


class InteractiveSession(Session):
    """A session that is the default one as soon as it exists."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        graphs.SESSIONS.append(self)


class ConfigProto(SimpleNamespace):
    """Settings of a session or a run: they are taken, and have no effect."""

    FULL_TRACE, gpu_options = 3, SimpleNamespace()


RunOptions = RunMetadata = ConfigProto
