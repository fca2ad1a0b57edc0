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
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import signature
from typing import Any

import numpy as np

from autokit.base import doors
from autokit.base.dtypes import BY_NUMPY
from autokit.engine.modes import enable_grad
from autokit.engine.tensor import Tensor as Value
from autokit.engine.tensor import new_tensor
from autokit.static import graph as calls
from autokit.static.errors import OpError, Untraceable, described, failed, program_line
from autokit.static.graph import mapped
from autokit.static.tf.shapes import UNKNOWN, TensorShape, as_numpy, converted, different
from autokit.static.traced import Tape, Traced
from autokit.static.tracing import Tracing

__all__ = [
    *("Graph", "GraphKeys", "Operation", "Tensor", "add_to_collection", "control_dependencies"),
    *("get_collection", "get_default_graph", "get_variable_scope", "name_scope", "reset_default_graph"),
    "variable_scope",
]


@dataclass
class Scope:
    """What the ``with`` blocks around an operation say.

    Attributes
    ----------
    prefix, name : str
        With which the names of operations begin, and those of variables.
    reuse : bool or "auto"
        Whether ``get_variable`` gives existing variables.
    waits : tuple of Operation
        What runs before.
    phase : str
        ``"forward"``, ``"backward"`` or ``"update"``.
    """

    prefix: str = ""
    name: str = ""
    reuse: Any = False
    waits: tuple[Any, ...] = ()
    phase: str = "forward"

    def reuse_variables(self) -> None:
        """From here on, give the existing variables."""
        self.reuse = True


class Operation:
    """One operation of a graph.

    Attributes
    ----------
    name, type : str
        Such as ``"layer/MatMul_1"`` and ``"MatMul"``.
    compute : callable or None
        Called with the :class:`Trace`, the values of ``operands``, and ``settings``.
    inputs, outputs : list of Tensor
        The tensors among the operands and the settings, and the results.
    scope : Scope
    line : (str, int) or None
        The line of the program that defined it.
    place : int
        Its place in the program.
    """

    def __init__(
        self, graph: Graph, name: str, kind: str, compute: Any, operands: Any, settings: Any
    ) -> None:
        self.graph, self.name, self.type, self.compute = graph, name, kind, compute
        self.operands, self.settings = operands, settings
        self.inputs: list[Tensor] = tensors_in((operands, settings), Tensor)
        self.line, self.scope, self.place = program_line(), graph.scopes[-1], len(graph.operations)
        self.outputs: list[Tensor] = []

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run it in ``session``, by default in that of the ``with`` block."""
        default_session(session).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


def tensors_in(values: Any, kind: type) -> list[Any]:
    """The tensors of the class ``kind`` in nested tuples, lists and dicts."""
    found: list[Any] = []
    mapped(values, found.append)
    return [each for each in found if isinstance(each, kind)]


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
        if self.example is not None:
            return BY_NUMPY.get(self.example.array.dtype)
        told = self.op.settings.get("dtype")  # else it is most likely that of an operand
        return self.op.inputs[0].dtype if told is None else BY_NUMPY[as_numpy(told)]

    def get_shape(self) -> TensorShape:
        """The sizes, as far as they are known."""
        return TensorShape(None if self.example is None else self.example.array.shape)

    shape = property(get_shape)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value in ``session``, by default in that of the ``with`` block."""
        return default_session(session).run(self, feed_dict)

    def __repr__(self) -> str:
        dtype = getattr(self.dtype, "name", "string")
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={dtype}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return doors.mimebundle(picture(needed([self.op])))

    def __bool__(self) -> bool:
        raise _no_number("Using a `tf.Tensor` as a Python `bool` is not allowed.")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise _no_number(f"NumPy cannot compute with {self.name}.")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'Tensor' object is not iterable: write {self.op.name}[0], or tf.split")


def _no_number(words: str) -> Exception:
    return Untraceable(
        f"{words}\n  {described(program_line())}\n  The graph is only defined, and there is no number yet: "
        "tf.where(condition, a, b) and tf.cond choose in the graph, tf's functions compute in it, and "
        "session.run(tensor) gives the number."
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
        For each tensor the values that it has one after the other: of a variable, the last is the newest.
    states : dict
        For each variable that takes part the node of its array.
    """

    operation: Operation

    def __init__(self, array_of: Callable[..., Any], generator_of: Callable[[Operation], Any]) -> None:
        self.tape, self.array_of, self.generator_of = Tape(), array_of, generator_of
        self.tracing = Tracing(self.tape)
        self.values: dict[Tensor, list[Any]] = {}
        self.states: dict[Tensor, calls.Node] = {}

    def run(self, operation: Operation) -> None:
        """Let ``operation`` compute, if it does; its nodes have the line that defined it."""
        if operation.compute is None:
            return
        tape, self.operation = self.tape, operation
        start = len(tape.graph.nodes)
        tape.phase, tape.operation = operation.scope.phase, ""
        operands, settings = mapped((operation.operands, operation.settings), self.value_of)
        results = operation.compute(self, *operands, **settings)
        for node in tape.graph.nodes[start:]:
            if node.kind != "state":
                node.line, node.module = operation.line, operation.name.rpartition("/")[0]
            if node.kind == "check":
                node.function = partial(_explained, node.function, operation)
        several = results if isinstance(results, tuple | list) else (results,)
        for tensor, value in zip(operation.outputs, several):
            self.values.setdefault(tensor, [value])  # it may be fed
            if value is not None:
                self.traced(value).node.label = self.traced(value).node.label or tensor.name
                learning(value)

    def value_of(self, operand: Any) -> Any:
        """The newest value of a tensor; other operands are what they are."""
        if not isinstance(operand, Tensor):
            return operand
        if operand.is_variable and operand not in self.values:
            self.states[operand] = self.give(operand, self.array_of(operand), "state")
        value = self.values[operand][-1]
        if value is None:
            raise ValueError(f"{operand.name} has no value: no gradient reaches it")
        return value

    def give(self, tensor: Tensor, array: np.ndarray, kind: str = "input") -> calls.Node:
        """Let ``tensor`` be an input, or a state, in place of what its operation computes."""
        traced = self.tape.given(kind, array, tensor.op.name)
        traced.node.line = tensor.op.line
        self.values[tensor] = [learning(new_tensor(traced))]
        return traced.node

    def traced(self, value: Any) -> Traced:
        """The array of a value; one that was known from the start becomes a constant."""
        value.array = self.tracing.created(value.array)
        return value.array

    def effect(self, function: Callable[..., Any], *values: Any, kind: str = "effect") -> None:
        """Let each run that needs this operation call ``function`` with ``values``, tensors and words."""
        arrays = tuple([self.traced(each) if isinstance(each, Value) else each for each in values])
        self.tape.add(kind, self.operation.type, function, self.tape.lifted(arrays))

    def noted(self, function: Callable[..., Any], values: Any, results: Any) -> Any:
        """What each run gets by a call; it is like ``results``, and no derivative flows through."""
        nodes, name = tuple([self.traced(each).node for each in values]), self.operation.type
        return list(map(new_tensor, self.tape.parts(name, function, nodes, {}, list(results), "effect")))

    def assign(self, variable: Tensor, value: Any) -> Any:
        """Let ``variable`` have ``value`` from this place of the program on."""
        array, declared = self.traced(value), variable.example.array
        if (array.shape, array.dtype) != (declared.shape, declared.dtype):
            given = f"{array.dtype.name}{list(array.shape)}: write tf.reshape or tf.cast"
            raise ValueError(f"Shapes and dtypes must be equal: {variable!r} cannot be assigned {given}")
        if variable not in self.states:
            state = self.tape.given("state", self.array_of(variable, written=True), variable.op.name)
            self.states[variable] = state.node
        self.tape.graph.updates[self.states[variable]] = array.node
        newest = learning(new_tensor(Traced(self.tape, array.node)))
        self.values.setdefault(variable, []).append(newest)
        return newest


def learning(value: Any) -> Any:
    """``value``, by which there are derivatives if it can have some."""
    value._requires_grad = value.array.dtype.kind == "f"
    return value


def _explained(explain: Any, operation: Operation, *values: Any) -> Exception:
    """The error of a check, with the line that defined its operation."""
    return failed(explain(*values), operation.line, operation.name)


class Graph:
    """A graph of TensorFlow's: its operations, in the order of the program, and their names."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.named: dict[str, Any] = {}  # that of a scope is taken by None
        self.scopes = [Scope()]
        self.seed: int | None = None
        self.collections: dict[str, list[Any]] = {}
        self.trace = Trace(lambda variable, written=False: variable.example.array, lambda operation: None)

    def as_default(self) -> Any:
        """A ``with`` block whose operations are added to this graph."""
        return inside(GRAPHS, self)

    def get_operations(self) -> list[Operation]:
        """All operations, in the order of the program."""
        return list(self.operations)

    def named_element(self, name: str) -> Any:
        """The operation of a name such as ``"x"``, or the tensor of a name such as ``"x:0"``."""
        if self.named.get(name) is None:
            kind = "Tensor" if ":" in name else "Operation"
            raise KeyError(f"The name '{name}' refers to a {kind} which does not exist.")
        return self.named[name]

    get_operation_by_name = get_tensor_by_name = named_element

    def picture(self) -> Any:
        """The graph to draw: a box for each operation, and one for the steps of an optimizer."""
        return picture(self.operations)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return doors.mimebundle(self.picture())

    def unique_name(self, name: str) -> str:
        """``name`` in the scope at hand, with a number where another operation has that name."""
        if name.endswith("/"):
            return name[:-1]  # a scope's: it is whole, and unique already
        base = name = self.scopes[-1].prefix + name
        count = 0
        while name in self.named:
            count += 1
            name = f"{base}_{count}"
        self.named[name] = None
        return name

    def add(
        self, kind: str, compute: Any, *operands: Any, name: Any = None, outputs: int = 1, **settings: Any
    ) -> Operation:
        """Define an operation with so many ``outputs``; trace it, unless only a run knows the shapes."""
        operation = Operation(self, self.unique_name(name or kind), kind, compute, operands, settings)
        for _ in range(outputs):
            Tensor(operation)
        if any([each.graph is not self for each in operation.inputs]):
            raise ValueError(f"{operation.inputs} has a tensor that is not an element of this graph.")
        if all([each.example is not None for each in operation.inputs]):
            self._define(operation)
        self.operations.append(operation)
        self.named.update([(operation.name, operation), *[(each.name, each) for each in operation.outputs]])
        return operation

    def _define(self, operation: Operation) -> None:
        """Compute ``operation`` on examples, so that its outputs have shapes; a run may have to know more."""
        shapes = [each.shape for each in operation.inputs]
        try:
            self.trace.run(operation)
            for tensor in operation.outputs:
                tensor.example = self.trace.values[tensor][-1]
        except OpError:
            pass
        except (RuntimeError, ValueError) as error:
            pair = None if operation.settings else different(operation.type, shapes)
            if pair is not None:
                listed = ", ".join([str(list(each)).replace(" ", "") for each in shapes])
                raise ValueError(
                    f"Dimensions must be equal, but are {pair[0]} and {pair[1]} for '{operation.name}' "
                    f"(op: '{operation.type}') with input shapes: {listed}.\n  {described(operation.line)}"
                ) from None
            if type(error) not in (RuntimeError, ValueError) or UNKNOWN not in sum(shapes, ()):
                raise


def needed(wanted: Iterable[Any], fed: Container[Tensor] = ()) -> list[Operation]:
    """What has to run for tensors and operations, in the order of the program; ``fed`` ones need nothing."""
    seen: set[Operation] = set()
    waiting = list(wanted)
    while waiting:
        each = waiting.pop()
        operation = getattr(each, "op", each)
        if each not in fed and operation not in seen:
            seen.add(operation)
            waiting += [*operation.inputs, *operation.scope.waits]
    return sorted(seen, key=lambda operation: operation.place)


def picture(operations: Iterable[Operation]) -> Any:
    """The graph to draw of ``operations``: a box for each, and one for all those of an optimizer's scope."""
    graph = calls.Graph()
    nodes: dict[Any, calls.Node] = {}
    for each in operations:
        kind = {"Placeholder": "input", "VariableV2": "state", "Const": "const"}.get(each.type, "call")
        before = dict.fromkeys([getattr(one, "op", one) for one in (*each.inputs, *each.scope.waits)])
        example = each.outputs[0].example if each.outputs else None
        node = calls.Node(each.place, kind, each.type, None, tuple([nodes[one] for one in before]))
        node.shape, node.dtype = getattr(example, "shape", None), getattr(example, "dtype", None)
        node.label, node.line, node.phase = each.name, each.line, each.scope.phase
        node.operation = each.scope.prefix.rstrip("/") if node.phase == "update" else each.name
        nodes[each] = graph.add(node)
    return doors.program(graph)


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


def get_variable_scope() -> Scope:
    """The scope at hand."""
    return get_default_graph().scopes[-1]


def scoped(**changes: Any) -> Any:
    """A ``with`` block in which the scope at hand has ``changes``."""
    return inside(get_default_graph().scopes, replace(get_variable_scope(), **changes))


@contextmanager
def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Iterator[str]:
    """A ``with`` block in which names begin with ``name/``."""
    name = name or default_name or ""
    whole = name if name.endswith("/") or not name else get_default_graph().unique_name(name) + "/"
    with scoped(prefix=whole):
        yield whole


@contextmanager
def variable_scope(name_or_scope: Any, reuse: Any = None) -> Iterator[Scope]:
    """A ``with`` block in which the names of variables, and of other operations, begin with ``name/``."""
    outer = get_variable_scope()
    name = getattr(name_or_scope, "name", None) or f"{outer.name}/{name_or_scope}".lstrip("/")
    with name_scope(name.rpartition("/")[2]), scoped(name=name, reuse=reuse or outer.reuse) as scope:
        yield scope


def control_dependencies(control_inputs: Iterable[Any] | None) -> Any:
    """A ``with`` block whose operations wait for ``control_inputs``; None ends the waiting."""
    return scoped(waits=() if control_inputs is None else (*get_variable_scope().waits, *control_inputs))


def add_to_collection(name: str, value: Any) -> None:
    """Put ``value`` into the collection ``name`` of the default graph."""
    get_default_graph().collections.setdefault(name, []).append(value)


def get_collection(name: str, scope: str = "") -> list[Any]:
    """The values in the collection ``name``, those whose names begin with ``scope``."""
    found = get_default_graph().collections.get(name, [])
    return [each for each in found if not scope or each.name.startswith(scope)]


class GraphKeys:
    """The names of TensorFlow's own collections."""

    GLOBAL_VARIABLES, TRAINABLE_VARIABLES = "variables", "trainable_variables"


# ---------------------------------------------------------------- functions that define operations


def defines(kind: str, operands: str = "", outputs: Callable[..., int] | None = None) -> Callable[..., Any]:
    """Make a function that defines an operation from a function of autokit's tensors.

    Parameters
    ----------
    kind : str
        The operation's type, which is also its name unless the program gives one.
    operands : str
        The parameters that are tensors; the others are settings. A parameter ``rng`` is the
        session's generator for this operation.
    outputs : callable, optional
        Called with the operands and settings: how many outputs there are; by default one.
    """
    tensors = operands.split()

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = signature(function)

        def compute(trace: Trace, *values: Any, **settings: Any) -> Any:
            if "rng" in parameters.parameters:
                settings["rng"] = trace.generator_of(trace.operation)
            with trace.tracing, enable_grad():
                return function(**dict(zip(tensors, values)), **settings)

        @wraps(function)
        def define(*args: Any, name: str | None = None, **settings: Any) -> Any:
            given = parameters.bind(*args, **settings).arguments
            graph = get_default_graph()
            values = as_operands([given.pop(each) for each in tensors], Tensor, partial(constant_of, graph))
            count = 1 if outputs is None else outputs(*values, **given)
            made = graph.add(kind, compute, *values, name=name, outputs=count, **given)
            return made.outputs[0] if outputs is None else made.outputs

        define.plain, define.operands = function, tensors  # type: ignore[attr-defined]
        return define

    return decorate


def as_operands(values: list[Any], kind: type, constant: Callable[[Any], Any]) -> list[Any]:
    """``values`` as tensors of the class ``kind``; numbers stay numbers, if there is a tensor beside them."""
    dtype: Any = next((each.dtype for each in tensors_in(values, kind)), None)

    def lift(value: Any) -> Any:
        if isinstance(value, kind) or dtype and isinstance(value, bool | int | float):
            return value
        if isinstance(value, list | tuple) and tensors_in(value, kind):
            return [lift(each) for each in value]
        array = converted(value)
        is_float = dtype and dtype.is_floating_point and array.dtype.kind in "fi"
        return constant(array.astype(dtype.numpy) if is_float else array)

    return list(map(lift, values))


def constant_of(graph: Graph, array: np.ndarray, name: str | None = None) -> Tensor:
    """The output of a new operation ``Const``."""
    return graph.add("Const", lambda trace: new_tensor(array), name=name).outputs[0]
