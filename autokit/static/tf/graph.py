"""TensorFlow 1's graph: operations with names, which are defined first and run by a session.

Each function of this package, such as ``matmul``, adds an :class:`Operation` to the default graph and returns
its outputs, :class:`Tensor`, which have a name, a dtype and a shape, and no numbers. An operation is a
function of autokit's tensors together with its operands. An :class:`Evaluation` calls it: once when the
program defines it, on examples, so that shapes are known and errors come at once, and again in each run of a
session.
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
from autokit.base.generator import Generator
from autokit.engine.detours import new_array
from autokit.engine.modes import enable_grad
from autokit.engine.tensor import new_tensor
from autokit.static import errors
from autokit.static import graph as calls
from autokit.static.errors import DEFINED, OpError, described, failed, program_line
from autokit.static.graph import mapped
from autokit.static.tf.shapes import UNKNOWN, TensorShape, as_numpy, converted, different

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
    function : callable or None
        Called with the :class:`Evaluation`, the values of ``operands``, and ``settings``: what it computes.
    inputs, outputs : list of Tensor
        The tensors among the operands and the settings, and the results.
    scope : Scope
    line : (str, int) or None
        The line of the program that defined it.
    place : int
        Its place in the program.
    """

    def __init__(
        self, graph: Graph, name: str, kind: str, function: Any, operands: Any, settings: Any
    ) -> None:
        self.graph, self.name, self.type, self.function = graph, name, kind, function
        self.operands, self.settings = operands, settings
        self.inputs: list[Tensor] = tensors_in((operands, settings), Tensor)
        self.line, self.scope, self.place = program_line(), graph.scopes[-1], len(graph.operations)
        self.outputs: list[Any] = []

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
    """

    __array_priority__ = 1000
    is_variable = False

    def __init__(self, op: Operation) -> None:
        self.op, self.graph = op, op.graph
        self.name = f"{op.name}:{len(op.outputs)}"
        op.outputs.append(self)

    @property
    def example(self) -> Any:
        """What the definition computes it as; None where not even the number of dimensions is known."""
        return self.graph.examples.values.get(self, [None])[-1]

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
        return doors.mimebundle(doors.program(outlined(needed([self.op]))[0]))

    def __bool__(self) -> bool:
        raise _no_number("Using a `tf.Tensor` as a Python `bool` is not allowed.")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise _no_number(f"NumPy cannot compute with {self.name}.")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'Tensor' object is not iterable: write {self.op.name}[0], or tf.split")


def _no_number(words: str) -> Exception:
    return errors.Untraceable(
        f"{words}\n  {described(program_line())}\n  The graph is only defined, and there is no number yet: "
        "tf.where(condition, a, b) and tf.cond choose in the graph, tf's functions compute in it, and "
        "session.run(tensor) gives the number."
    )


class Evaluation:
    """Operations at work, one after the other, on autokit's tensors.

    Parameters
    ----------
    given : dict
        The values that tensors have before: variables, and what is fed.
    generator_of : callable or None
        The generator of an operation that draws random numbers. None while the graph is defined: then the
        values are examples, which nothing checks or shows.

    Attributes
    ----------
    values : dict
        For each tensor the values that it has one after the other: of a variable, the last is the newest.
    changed : dict
        For each variable that is assigned its newest value.
    operation : Operation
        The one that is computing.
    """

    operation: Operation

    def __init__(self, given: dict[Tensor, Any], generator_of: Callable[[Operation], Any] | None) -> None:
        self.values = {tensor: [value] for tensor, value in given.items()}
        self.generator_of = generator_of
        self.changed: dict[Tensor, Any] = {}

    def run(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        """Let ``operations`` compute, and yield each; an error says which of them failed."""
        for operation in operations:
            try:
                self.compute(operation)
            except Exception as error:
                raise failed(error, operation) from error
            yield operation

    def compute(self, operation: Operation) -> None:
        """Let ``operation`` compute, if it does; outputs that are fed stay as they are."""
        if operation.function is None:
            return
        operands, settings = mapped((operation.operands, operation.settings), self.value_of)
        self.operation, line = operation, DEFINED.set(operation.line)
        try:
            results = operation.function(self, *operands, **settings)
        finally:
            DEFINED.reset(line)
        several = results if isinstance(results, tuple | list) else (results,)
        for tensor, value in zip(operation.outputs, several):
            self.values.setdefault(tensor, [learning(value)])

    def value_of(self, operand: Any) -> Any:
        """The newest value of a tensor; other operands are what they are."""
        if not isinstance(operand, Tensor):
            return operand
        value = self.values.get(operand, [None])[-1]
        if value is None and operand.is_variable:
            words = f"Attempting to use uninitialized value {operand.op.name}"
            words += ": run tf.global_variables_initializer() first"
            raise failed(errors.FailedPreconditionError(words), operand.op)
        if value is None:
            raise ValueError(f"{operand.name} has no value: no gradient reaches it")
        return value

    def assign(self, variable: Tensor, value: Any) -> Any:
        """Let ``variable`` have ``value`` from this place of the program on."""
        newest, declared = learning(value.clone().detach()), variable.example
        if (newest.shape, newest.dtype) != (declared.shape, declared.dtype):
            given = f"{newest.dtype.name}{list(newest.shape)}: write tf.reshape or tf.cast"
            raise ValueError(f"Shapes and dtypes must be equal: {variable!r} cannot be assigned {given}")
        self.values.setdefault(variable, []).append(newest)
        self.changed[variable] = newest
        return newest


def learning(value: Any) -> Any:
    """``value``, by which there are derivatives if it can have some."""
    if value is not None:
        value._requires_grad = value.array.dtype.kind == "f"
    return value


class Graph:
    """A graph of TensorFlow's: its operations, in the order of the program, and their names."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.named: dict[str, Any] = {}  # that of a scope is taken by None
        self.scopes = [Scope()]
        self.seed: int | None = None
        self.collections: dict[str, list[Any]] = {}
        self.examples = Evaluation({}, None)

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
        return doors.program(outlined(self.operations)[0])

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
        self, kind: str, function: Any, *operands: Any, name: Any = None, outputs: int = 1, **settings: Any
    ) -> Operation:
        """Define an operation with so many ``outputs``, with examples of them if its operands have some."""
        operation = Operation(self, self.unique_name(name or kind), kind, function, operands, settings)
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
            with enable_grad():
                self.examples.compute(operation)
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


def outlined(operations: Iterable[Operation]) -> tuple[calls.Graph, dict[Any, calls.Node]]:
    """``operations`` as a graph to look at, and its node for each output, or an operation without any."""
    graph = calls.Graph()
    nodes: dict[Any, calls.Node] = {}
    for each in operations:
        kind = {"Placeholder": "input", "VariableV2": "state", "Const": "const"}.get(each.type, "call")
        before = [*each.inputs, *[(getattr(one, "op", one).outputs or [one])[0] for one in each.scope.waits]]
        operands = tuple([nodes[one] for one in before if one in nodes])
        for end in each.outputs or [each]:
            example = getattr(getattr(end, "example", None), "array", None)
            node = nodes[end] = graph.add(
                calls.Node(len(nodes), kind, each.type, None, operands, value=example)
            )
            node.label = end.name if each.outputs[1:] else each.name
            node.line, node.phase = each.line, each.scope.phase
            node.operation = each.scope.prefix.rstrip("/") if node.phase == "update" else each.name
            node.shape = None if example is None else end.shape
    return graph, nodes


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
        draws = "rng" in parameters.parameters

        def compute(evaluation: Evaluation, *values: Any, **settings: Any) -> Any:
            if draws:
                source = evaluation.generator_of
                settings["rng"] = source(evaluation.operation) if source else Generator()
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
    return graph.add("Const", lambda evaluation: new_tensor(new_array(array)), name=name).outputs[0]
