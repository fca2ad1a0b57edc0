"""TensorFlow 1's graph: operations with names, which are defined first and run by a session.

Each function of this package, such as ``matmul``, adds an :class:`Operation` to the default graph and returns
its outputs, :class:`Tensor`, which have a name, a dtype and a shape, and no numbers. An operation is a
function of autokit's tensors together with its operands. A :class:`Trace` calls it on traced tensors: once
when the program defines it, so that shapes are known and errors come at once, and again in a session, for the
sizes that are fed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from inspect import signature
from typing import Any

import numpy as np

from autokit.base.dtypes import BY_NUMPY
from autokit.engine.modes import enable_grad
from autokit.engine.tensor import Tensor as Value
from autokit.engine.tensor import new_tensor
from autokit.static.errors import Untraceable, described, failed, program_line
from autokit.static.graph import Node, mapped
from autokit.static.tf.shapes import UNKNOWN, TensorShape, as_numpy, converted, different, sizes_of
from autokit.static.traced import Tape, Traced
from autokit.static.tracing import Tracing

__all__ = [
    *("Graph", "GraphKeys", "Operation", "Tensor", "add_to_collection", "control_dependencies"),
    *("get_collection", "get_default_graph", "name_scope", "reset_default_graph"),
]


class Operation:
    """One operation of a graph.

    Attributes
    ----------
    name, type : str
        Such as ``"layer/MatMul_1"`` and ``"MatMul"``.
    compute : callable
        Called with the :class:`Trace`, the values of ``operands``, and ``settings``.
    outputs : list of Tensor
    waits : tuple of Operation
        What runs before it although it is no operand.
    line : (str, int) or None
        The line of the program that defined it.
    place : int
        Its place in the program.
    traced : bool
        Whether it was traced when it was defined.
    """

    def __init__(
        self, graph: Graph, name: str, kind: str, compute: Any, operands: Any, settings: Any
    ) -> None:
        self.graph, self.name, self.type, self.compute = graph, name, kind, compute
        self.operands, self.settings = operands, settings
        self.line, self.waits, self.place = program_line(), tuple(graph.waits[-1]), len(graph.operations)
        self.outputs: list[Tensor] = []
        self.traced = False

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors among the operands and the settings."""
        return tensors_in((self.operands, self.settings))

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run it in ``session``, by default in that of the ``with`` block."""
        default_session(session).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


def tensors_in(values: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists and dicts."""
    found: list[Any] = []
    mapped(values, found.append)
    return [each for each in found if isinstance(each, Tensor)]


class Tensor:
    """An output of an operation, which gets its numbers in a session.

    Attributes
    ----------
    op : Operation
    example : autokit's tensor or None
        What the definition computes it as; None where not even the number of dimensions is known.
    """

    __array_priority__ = 1000
    is_variable = False

    def __init__(self, op: Operation) -> None:
        self.op, self.graph = op, op.graph
        self.example: Any = None
        self.name = f"{op.name}:{len(op.outputs)}"
        op.outputs.append(self)

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        if self.example is None:  # what the operation was told, or else most likely that of an operand
            told = self.op.settings.get("dtype")
            likely = [each.dtype for each in self.op.inputs]
            return BY_NUMPY[as_numpy(told)] if told is not None or not likely else likely[0]
        return BY_NUMPY.get(self.example.array.dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes, as far as they are known."""
        return TensorShape.of(None if self.example is None else self.example.array.shape)

    def get_shape(self) -> TensorShape:
        """The sizes, as far as they are known."""
        return self.shape

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value in ``session``, by default in that of the ``with`` block."""
        return default_session(session).run(self, feed_dict)

    def __repr__(self) -> str:
        dtype = getattr(self.dtype, "name", "string")
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={dtype}>"

    def __bool__(self) -> bool:
        raise Untraceable(
            "Using a `tf.Tensor` as a Python `bool` is not allowed.\n"
            f"  {described(program_line())}\n  The graph is only defined, and there is no number yet. "
            "tf.cond(condition, f, g) or tf.where(condition, a, b) chooses in the graph; session.run(tensor) "
            "gives the number."
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"'Tensor' object is not iterable: write {self.name.partition(':')[0]}[0], or tf.split"
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise Untraceable(
            f"NumPy cannot compute with {self.name}, which has no numbers yet.\n  "
            f"{described(program_line())}\n  Use tf's functions, or NumPy's on what session.run(…) returns."
        )


class Trace:
    """Operations at work on traced tensors.

    Attributes
    ----------
    tape : Tape
        What is written down.
    array_of, generator_of : callable
        The array of a variable, and the generator of an operation that draws random numbers.
    operation : Operation
        The one that is computing.
    values : dict
        The value of each tensor, which is a tensor of autokit's.
    history : dict
        For each variable the values that it has one after the other: the last is the newest.
    assigned : list of Variable
        Those that change.
    states : dict
        For each variable the node of the value with which a run begins.
    """

    operation: Operation

    def __init__(self, array_of: Callable[[Tensor], Any], generator_of: Callable[[Operation], Any]) -> None:
        self.tape, self.array_of, self.generator_of = Tape(), array_of, generator_of
        self.tracing = Tracing(self.tape)
        self.values: dict[Tensor, Any] = {}
        self.history: dict[Tensor, list[Any]] = {}
        self.assigned: list[Tensor] = []
        self.states: dict[Tensor, Node] = {}

    def run(self, operation: Operation) -> None:
        """Let ``operation`` compute, if it does; its nodes have the line that defined it."""
        if operation.compute is None:
            return
        tape = self.tape
        start = len(tape.graph.nodes)
        self.operation = operation
        try:
            with self.tracing, enable_grad():
                operands, settings = mapped((operation.operands, operation.settings), self.value_of)
                results = operation.compute(self, *operands, **settings)
        finally:
            tape.phase, tape.operation = "forward", ""
            for node in tape.graph.nodes[start:]:
                if node.kind != "state":
                    node.line, node.module = operation.line, operation.name.rpartition("/")[0]
        several = results if isinstance(results, tuple | list) else (results,)
        for tensor, value in zip(operation.outputs, several):
            self.values.setdefault(tensor, value)  # it may be fed
            if value is not None:
                self.node(value).label = self.node(value).label or tensor.name
                learning(value)

    def check(self, condition: Traced, explain: Callable[..., Exception], *values: Any) -> None:
        """Stop each run in which ``condition`` is false, with what ``explain`` gives of the values."""
        operation = self.operation

        def explained(*arrays: Any) -> Exception:
            return failed(explain(*arrays), operation.line, operation.name)

        self.effect(explained, condition, *values, kind="check")

    def effect(self, function: Callable[..., Any], *values: Any, kind: str = "effect") -> None:
        """Let each run that needs this operation call ``function`` with ``values``, tensors and words."""
        arrays = tuple([self.traced(each) if isinstance(each, Value) else each for each in values])
        self.tape.add(kind, self.operation.type, function, self.tape.lifted(arrays))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A ``with`` block, inside of :meth:`run`, in which other traces can run."""
        self.tracing.__exit__(None, None, None)
        try:
            yield
        finally:
            self.tracing.__enter__()

    def value_of(self, operand: Any) -> Any:
        """The value of a tensor; that of a variable is the newest one."""
        if not isinstance(operand, Tensor):
            return operand
        return self.read(operand) if operand.is_variable else self.values[operand]

    def traced(self, value: Any) -> Traced:
        """The array of a value; one that was known from the start becomes a constant."""
        if not isinstance(value.array, Traced):
            value.array = Traced(self.tape, self.tape.add("const", "const", value=np.array(value.array)))
        return value.array

    def node(self, value: Any) -> Node:
        """The node of a value."""
        return self.traced(value).node

    def drawn(self, draw: Callable[..., Any], shape: Any, dtype: Any) -> Any:
        """The value of an operation that draws random numbers, by ``draw`` from a generator, in each run."""
        generator, sizes, kind = self.generator_of(self.operation), sizes_of(shape), as_numpy(dtype)

        def numbers() -> np.ndarray:
            return np.asarray(draw(generator, sizes)).astype(kind)

        node = self.tape.add("draw", self.operation.type, numbers, value=np.zeros(sizes, kind))
        return new_tensor(Traced(self.tape, node))

    def noted(self, name: str, function: Callable[..., Any], values: Any, results: Any, kind: str) -> Any:
        """The results of a call in each run, which are like ``results`` and no derivative flows through."""
        nodes = tuple([self.node(each) for each in values])
        return list(map(new_tensor, self.tape.parts(name, function, nodes, {}, list(results), kind)))

    def feed(self, tensor: Tensor, array: np.ndarray, kind: str = "input") -> Any:
        """Let ``tensor`` be an input, or a state, in place of what its operation computes."""
        value = self.values[tensor] = learning(new_tensor(self.tape.given(kind, array, tensor.op.name)))
        value.array.node.line = tensor.op.line
        if tensor.is_variable:
            self.history[tensor] = [value]
        return value

    def read(self, variable: Tensor) -> Any:
        """The newest value of ``variable``."""
        if variable not in self.history:
            self.states[variable] = self.feed(variable, self.array_of(variable), "state").array.node
        return self.history[variable][-1]

    def assign(self, variable: Tensor, value: Any) -> Any:
        """Let ``variable`` have ``value`` from this place of the program on."""
        array, declared = self.traced(value), variable.example.array
        if array.dtype != declared.dtype:
            raise TypeError(f"{variable!r} cannot be assigned {array.dtype.name}: write tf.cast(value, …)")
        if array.shape != declared.shape:
            raise ValueError(f"Shapes must be equal: {variable!r} cannot be assigned {list(array.shape)}")
        newest = learning(new_tensor(Traced(self.tape, array.node)))
        self.history.setdefault(variable, []).append(newest)
        self.assigned.append(variable)
        return newest


def learning(value: Any) -> Any:
    """``value``, by which there are derivatives if it can have some."""
    value._requires_grad = value.array.dtype.kind == "f"
    return value


class VariableScope:
    """The prefix of variables' names, and whether ``get_variable`` gives existing ones."""

    def __init__(self, name: str, reuse: Any) -> None:
        self.name, self.reuse = name, reuse

    def reuse_variables(self) -> None:
        """From here on, give the existing variables."""
        self.reuse = True


class Graph:
    """A graph of TensorFlow's: its operations, in the order of the program, and their names."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.named: dict[str, Any] = {}
        self.taken: set[str] = set()
        self.scopes: list[str] = [""]
        self.waits: list[list[Operation]] = [[]]  # as the scopes, those of the innermost block come last
        self.seed: int | None = None
        self.variable_scopes = [VariableScope("", False)]
        self.collections: dict[str, list[Any]] = {}
        self.trace = Trace(lambda variable: variable.example.array, lambda operation: None)

    def as_default(self) -> Any:
        """A ``with`` block whose operations are added to this graph."""
        return inside(GRAPHS, self)

    def get_operations(self) -> list[Operation]:
        """All operations, in the order of the program."""
        return list(self.operations)

    def named_element(self, name: str) -> Any:
        """The operation of a name such as ``"x"``, or the tensor of a name such as ``"x:0"``."""
        if name not in self.named:
            kind = "Tensor" if ":" in name else "Operation"
            raise KeyError(f"The name '{name}' refers to a {kind} which does not exist.")
        return self.named[name]

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of this name."""
        return self.named_element(name.partition(":")[0])

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of this name, such as ``"x:0"``."""
        return self.named_element(name if ":" in name else f"{name}:0")

    def unique_name(self, name: str) -> str:
        """``name`` in the scope at hand, with a number where another operation has that name."""
        if name.endswith("/"):
            return name[:-1]  # a scope's: it is whole, and unique already
        base = name = self.scopes[-1] + name
        count = 0
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name

    def add(
        self,
        kind: str,
        compute: Callable[..., Any] | None,
        *operands: Any,
        name: str | None = None,
        outputs: int = 1,
        at_once: bool = True,
        **settings: Any,
    ) -> Operation:
        """Define an operation with so many ``outputs``, and trace it, unless that has to wait for a run."""
        operation = Operation(self, self.unique_name(name or kind), kind, compute, operands, settings)
        for _ in range(outputs):
            Tensor(operation)
        if any([each.graph is not self for each in operation.inputs]):
            raise ValueError(f"{operation.inputs} has a tensor that is not an element of this graph.")
        if at_once and all([each.example is not None for each in operation.inputs]):
            self._define(operation)
        self.operations.append(operation)
        self.named.update([(operation.name, operation), *[(each.name, each) for each in operation.outputs]])
        return operation

    def _define(self, operation: Operation) -> None:
        """Compute ``operation`` on examples, so that its outputs have shapes; a run may have to know more."""
        try:
            self.trace.run(operation)
        except (RuntimeError, ValueError) as error:
            shapes = [each.shape for each in operation.inputs]
            if len(shapes) == 2 and not operation.settings:
                pair = different(shapes[0], shapes[1], operation.type == "MatMul")
                if pair is not None:
                    listed = ", ".join([str(list(each)).replace(" ", "") for each in shapes])
                    raise ValueError(
                        f"Dimensions must be equal, but are {pair[0]} and {pair[1]} for '{operation.name}' "
                        f"(op: '{operation.type}') with input shapes: {listed}.\n"
                        f"  {described(operation.line)}"
                    ) from None
            if type(error) not in (RuntimeError, ValueError) or UNKNOWN not in sum(shapes, ()):
                raise
            return
        operation.traced = True
        for tensor in operation.outputs:
            tensor.example = self.trace.values[tensor]


def needed(wanted: Iterable[Operation], fed: Container[Tensor] = ()) -> list[Operation]:
    """What has to run for ``wanted``, in the order of the program; ``fed`` tensors need nothing."""
    seen: set[Operation] = set()
    waiting = list(wanted)
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            given = [each for each in operation.inputs if each not in fed and not each.is_variable]
            waiting += [*[each.op for each in given], *operation.waits]
    return sorted(seen, key=lambda operation: operation.place)


GRAPHS: list[Graph] = [Graph()]
"""The default graphs, the innermost last."""

SESSIONS: list[Any] = []
"""The default sessions, the innermost last."""


@contextmanager
def inside(stack: list[Any], one: Any) -> Iterator[Any]:
    """A ``with`` block in which ``one`` is the last of ``stack``."""
    stack.append(one)
    try:
        yield one
    finally:
        stack.pop()


def get_default_graph() -> Graph:
    """The graph to which operations are added."""
    return GRAPHS[-1]


def reset_default_graph() -> None:
    """Begin with an empty graph."""
    GRAPHS[-1] = Graph()


def default_session(session: Any = None) -> Any:
    """``session``, or that of the ``with`` block."""
    if session is None and not SESSIONS:
        raise ValueError(
            "Cannot execute operation using `run()`: No default session is registered. Use `with "
            "tf.Session() as sess:` or pass a session: `run(session=sess)`, `eval(session=sess)`"
        )
    return session or SESSIONS[-1]


@contextmanager
def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Iterator[str]:
    """A ``with`` block in which names begin with ``name/``."""
    graph, name = get_default_graph(), name or default_name or ""
    whole = name if name.endswith("/") or not name else graph.unique_name(name) + "/"
    with inside(graph.scopes, whole):
        yield whole


@contextmanager
def control_dependencies(control_inputs: Iterable[Any] | None) -> Iterator[None]:
    """A ``with`` block whose operations wait for ``control_inputs``; None ends the waiting."""
    waits, more = get_default_graph().waits, [getattr(each, "op", each) for each in control_inputs or ()]
    with inside(waits, [] if control_inputs is None else [*waits[-1], *more]):
        yield


def add_to_collection(name: str, value: Any) -> None:
    """Put ``value`` into the collection ``name`` of the default graph."""
    get_default_graph().collections.setdefault(name, []).append(value)


def get_collection(name: str, scope: str = "") -> list[Any]:
    """The values in the collection ``name``, those whose names begin with ``scope``."""
    found = get_default_graph().collections.get(name, [])
    return [each for each in found if not scope or each.name.startswith(scope)]


class GraphKeys:
    """The names of TensorFlow's own collections."""

    GLOBAL_VARIABLES = "variables"
    TRAINABLE_VARIABLES = "trainable_variables"


# ---------------------------------------------------------------- functions that define operations


def defines(kind: str, operands: str = "", outputs: Callable[..., int] | None = None) -> Callable[..., Any]:
    """Make a function that defines an operation from a function of autokit's tensors.

    Parameters
    ----------
    kind : str
        The operation's type, which is also its name unless the program gives one.
    operands : str
        The parameters that are tensors; the others are settings. A parameter ``trace`` is the :class:`Trace`.
    outputs : callable, optional
        Called with the operands and settings: how many outputs there are; by default one.
    """
    tensors = operands.split()

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        traces = "trace" in signature(function).parameters
        parameters = signature(partial(function, None) if traces else function)

        @wraps(function)
        def define(*args: Any, name: str | None = None, **settings: Any) -> Any:
            given = parameters.bind(*args, **settings).arguments
            graph = get_default_graph()
            values = as_operands(graph, [given.pop(each, None) for each in tensors])
            count = 1 if outputs is None else outputs(*values, **given)

            def compute(trace: Trace, *values: Any, **settings: Any) -> Any:
                return function(*[trace] * traces, **dict(zip(tensors, values)), **settings)

            made = graph.add(kind, compute, *values, name=name, outputs=count, **given)
            return made.outputs[0] if outputs is None else made.outputs

        define.plain, define.operands = None if traces else function, tensors  # type: ignore[attr-defined]
        return define

    return decorate


def as_operands(graph: Graph, values: list[Any]) -> list[Any]:
    """``values`` with constants in place of lists and arrays, and of numbers if there is no tensor."""
    dtype = next((each.dtype for each in tensors_in(values)), None)

    def lift(value: Any) -> Any:
        if value is None or isinstance(value, Tensor) or dtype and isinstance(value, bool | int | float):
            return value
        if isinstance(value, list | tuple) and tensors_in(value):
            return [lift(each) for each in value]
        if isinstance(value, Value):
            raise TypeError(f"{value!r} is a tensor of eager autokit: feed value.numpy(), or use tf.constant")
        array = converted(value)
        if dtype and dtype.is_floating_point and array.dtype.kind in "fi":
            array = array.astype(dtype.numpy)
        return constant_of(graph, array)

    return list(map(lift, values))


def constant_of(graph: Graph, array: np.ndarray, name: str | None = None) -> Tensor:
    """The output of a new operation ``Const``."""
    return graph.add("Const", lambda trace: new_tensor(array), name=name).outputs[0]
