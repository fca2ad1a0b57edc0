"""TensorFlow 1's graph: operations with names, which are defined first and run by a session.

Each function of this package, such as ``matmul``, adds an :class:`Operation` to the default graph and returns
its outputs, :class:`Tensor`, which have a name, a dtype and a shape, and no numbers. An operation is a
function of autokit's tensors together with its operands. An :class:`Evaluation` calls it: once when the
program defines it, on examples, so that shapes are known and errors come at once, and again in each run of a
session.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any

from autokit.base.dtypes import BY_NUMPY
from autokit.base.generator import Generator
from autokit.engine.detours import new_array
from autokit.engine.modes import enable_grad
from autokit.engine.tensor import new_tensor
from autokit.static import errors
from autokit.static import graph as calls
from autokit.static.errors import DEFINED, OpError, described, failed, program_line
from autokit.static.graph import found_in, mapped
from autokit.static.tf.shapes import UNKNOWN, TensorShape, as_numpy, converted, different

__all__ = [
    *("Graph", "Operation", "Tensor", "constant", "control_dependencies", "get_default_graph"),
    *("name_scope", "reset_default_graph"),
]

DEFAULT = SimpleNamespace(graph=None, session=None)
"""The graph to which operations are added, and the session of ``.run()`` and ``.eval()``."""


def evaluated(element: Any, feed_dict: Any = None, session: Any = None) -> Any:
    """Run it in ``session``, by default in that of the ``with`` block, and return a tensor's value."""
    session = session or DEFAULT.session
    if session is None:
        raise ValueError(
            "Cannot execute operation using `run()`: No default session is registered. Use `with "
            "tf.Session() as sess:` or pass a session: `run(session=sess)`, `eval(session=sess)`"
        )
    return session.run(element, feed_dict)


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
    prefix : str
        With which names began where it was defined.
    waits : tuple of Operation
        What runs before.
    phase : str
        ``"forward"``, ``"backward"`` or ``"update"``.
    line : (str, int) or None
        The line of the program that defined it.
    place : int
        Its place in the program.
    """

    example = None
    run = evaluated

    def __init__(
        self, graph: Graph, name: str, kind: str, function: Any, operands: Any, settings: Any
    ) -> None:
        self.graph, self.name, self.type, self.function, self.op = graph, name, kind, function, self
        self.operands, self.settings = operands, settings
        self.inputs: list[Tensor] = found_in((operands, settings), Tensor)
        self.prefix, self.waits, self.phase = graph.prefix, graph.waits, graph.phase
        self.line, self.place = program_line(), len(graph.operations)
        self.outputs: list[Any] = []
        graph.named[name] = self

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class Tensor:
    """An output of an operation, which gets its numbers in a session.

    Attributes
    ----------
    op : Operation
    """

    __array_priority__ = 1000
    is_variable = False
    eval = evaluated

    def __init__(self, op: Operation) -> None:
        self.op, self.graph = op, op.graph
        self.name = f"{op.name}:{len(op.outputs)}"
        self.graph.named[self.name] = self
        op.outputs.append(self)

    @property
    def example(self) -> Any:
        """What the definition computes it as; None where not even the number of dimensions is known."""
        return self.graph.examples.values.get(self)

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        if self.example is not None:
            return BY_NUMPY.get(self.example.array.dtype)
        told = self.op.settings.get("dtype")  # else it is most likely that of an operand
        if isinstance(told, list):
            told = told[self.op.outputs.index(self)]
        return self.op.inputs[0].dtype if told is None else BY_NUMPY[as_numpy(told)]

    def get_shape(self) -> TensorShape:
        """The sizes, as far as they are known."""
        return TensorShape(None if self.example is None else self.example.array.shape)

    shape = property(get_shape)

    def __repr__(self) -> str:
        dtype = getattr(self.dtype, "name", "string")
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={dtype}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return outlined(needed([self]))._repr_mimebundle_()

    def __bool__(self) -> bool:
        raise _no_number("Using a `tf.Tensor` as a Python `bool` is not allowed.")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise _no_number(f"NumPy cannot compute with {self.name}.")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'Tensor' object is not iterable: write {self.op.name}[0]")


def _no_number(words: str) -> Exception:
    return errors.Untraceable(
        f"{words}\n  {described(program_line())}\n  The graph is only defined, and there is no number yet: "
        "tf.where(condition, a, b) and tf.cond choose in the graph, tf's functions compute in it, and "
        "session.run(tensor) gives the number."
    )


class Evaluation:
    """Values of tensors, computed operation by operation.

    Parameters
    ----------
    given : dict
        The values of variables, and what is fed.
    session : Session or None
        The one that runs. None while the graph is defined: then the values are examples, which nothing
        checks or shows.

    Attributes
    ----------
    values : dict
        The value of each tensor: of a variable, the newest.
    earlier : dict
        For each variable that is assigned the values that it had before, one after the other.
    operation : Operation
        The one that is computing.
    """

    operation: Operation

    def __init__(self, given: dict[Tensor, Any], session: Any = None) -> None:
        self.values, self.session = given, session
        self.earlier: dict[Tensor, list[Any]] = {}

    def run(self, operations: Iterable[Operation]) -> None:
        """Let ``operations`` compute; an error says which of them failed."""
        with enable_grad():
            for operation in operations:
                try:
                    self.compute(operation)
                except Exception as error:
                    raise failed(error, operation) from error

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
            self.values.setdefault(tensor, learning(value))

    def value_of(self, operand: Any) -> Any:
        """The newest value of a tensor; other operands are what they are."""
        if not isinstance(operand, Tensor):
            return operand
        value = self.values.get(operand)
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
        self.earlier.setdefault(variable, []).append(self.values.get(variable))
        self.values[variable] = newest
        return newest

    def generator(self) -> Generator:
        """What the operation that is computing draws its random numbers from."""
        return self.session.generator_of(self.operation) if self.session else Generator()


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
        self.prefix, self.phase = "", "forward"
        self.waits: tuple[Operation, ...] = ()
        self.seed: int | None = None
        self.variables: list[Any] = []
        self.examples = Evaluation({})

    def as_default(self) -> Any:
        """A ``with`` block whose operations are added to this graph."""
        return changed(DEFAULT, graph=self)

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

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return outlined(self.operations)._repr_mimebundle_()

    def unique_name(self, name: str) -> str:
        """``name`` in the scope at hand, with a number where another operation has that name."""
        if name.endswith("/"):
            return name[:-1]  # a scope's: it is whole, and unique already
        base = name = self.prefix + name
        count = 0
        while name in self.named:
            count += 1
            name = f"{base}_{count}"
        self.named[name] = None
        return name

    def add(
        self, kind: str, function: Any, *operands: Any, name: Any = None, outputs: Any = None, **settings: Any
    ) -> Any:
        """Define an operation with so many ``outputs``; return a list of them, or if there are none itself.

        Without ``outputs`` it has one, which is returned. If the operands have examples, they have some, too.
        """
        operation = Operation(self, self.unique_name(name or kind), kind, function, operands, settings)
        for _ in range(1 if outputs is None else outputs):
            Tensor(operation)
        if any([each.graph is not self for each in operation.inputs]):
            raise ValueError(f"{operation.inputs} has a tensor that is not an element of this graph.")
        if all([each.example is not None for each in operation.inputs]):
            self._define(operation)
        self.operations.append(operation)
        return operation.outputs[0] if outputs is None else operation.outputs or operation

    def _define(self, operation: Operation) -> None:
        """Compute ``operation`` on examples, so that its outputs have shapes; a run may have to know more."""
        shapes = [each.shape for each in operation.inputs]
        try:
            with enable_grad(), suppress(OpError):
                self.examples.compute(operation)
        except (RuntimeError, ValueError) as error:
            of_tensors = all([isinstance(each, Tensor) for each in operation.settings.values()])
            pair = different(operation.type, shapes) if of_tensors else None
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
        if each not in fed and each.op not in seen:
            seen.add(each.op)
            waiting += [*each.op.inputs, *each.op.waits]
    return sorted(seen, key=lambda operation: operation.place)


def outlined(operations: Iterable[Operation]) -> calls.Graph:
    """``operations`` as a graph to look at: a node for each output, or for an operation without any."""
    graph = calls.Graph()
    nodes: dict[Any, calls.Node] = {}
    for each in operations:
        kind = {"Placeholder": "input", "VariableV2": "state", "Const": "const"}.get(each.type, "call")
        before = [*each.inputs, *[(one.outputs or [one])[0] for one in each.waits]]
        args = tuple([nodes[one] for one in before if one in nodes])
        for end in each.outputs or [each]:
            example = getattr(end.example, "array", None)
            node = nodes[end] = graph.add(calls.Node(len(nodes), kind, each.type, None, args, value=example))
            node.label = end.name if each.outputs[1:] else each.name
            node.line, node.phase = each.line, each.phase
            node.operation = each.prefix.rstrip("/") if node.phase == "update" else each.name
            node.shape = None if example is None else end.shape
    return graph


# ---------------------------------------------------------------- what is at hand


@contextmanager
def changed(one: Any, **attributes: Any) -> Iterator[Any]:
    """A ``with`` block in which ``one`` has other ``attributes``; it gives the first of them."""
    before = {name: getattr(one, name) for name in attributes}
    vars(one).update(attributes)
    try:
        yield next(iter(attributes.values()))
    finally:
        vars(one).update(before)


def get_default_graph() -> Graph:
    """The graph to which operations are added."""
    return DEFAULT.graph


def reset_default_graph() -> None:
    """Begin with an empty graph."""
    DEFAULT.graph = Graph()


reset_default_graph()


def name_scope(name: str) -> Any:
    """A ``with`` block in which names begin with ``name/``."""
    graph = get_default_graph()
    return changed(graph, prefix=graph.unique_name(name) + "/" if name else "")


def control_dependencies(control_inputs: Iterable[Any] | None) -> Any:
    """A ``with`` block whose operations wait for ``control_inputs``; None ends the waiting."""
    graph, more = get_default_graph(), [each.op for each in control_inputs or ()]
    return changed(graph, waits=() if control_inputs is None else (*graph.waits, *more))


# ---------------------------------------------------------------- functions that define operations


def defines(kind: str, operands: str = "") -> Callable[..., Any]:
    """Make a function that defines an operation from a function of autokit's tensors.

    Parameters
    ----------
    kind : str
        The operation's type, which is also its name unless the program gives one.
    operands : str
        The parameters that are tensors; the others are settings. A parameter ``rng`` is the
        session's generator for this operation.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        parameters = signature(function)
        draws = "rng" in parameters.parameters

        def compute(run: Evaluation, **given: Any) -> Any:
            if draws:
                given["rng"] = run.generator()
            return function(**given)

        @wraps(function)
        def define(*args: Any, name: Any = None, **settings: Any) -> Any:
            given = parameters.bind(*args, **settings).arguments
            given |= lifted({each: given[each] for each in operands.split()}, Tensor, constant)
            return get_default_graph().add(kind, compute, name=name, **given)

        vars(define).update(plain=function, operands=operands.split())
        return define

    return decorate


def lifted(operands: dict[str, Any], kind: type, constant: Any) -> dict[str, Any]:
    """``operands`` as tensors of the class ``kind``; numbers stay numbers if there is a tensor beside."""
    dtype: Any = next((each.dtype for each in found_in(operands, kind)), None)

    def lift(value: Any) -> Any:
        if isinstance(value, kind) or dtype and isinstance(value, bool | int | float):
            return value
        if isinstance(value, list | tuple) and found_in(value, kind):
            return [lift(each) for each in value]
        array = converted(value)
        is_float = dtype and dtype.is_floating_point and array.dtype.kind in "fi"
        return constant(array.astype(dtype.numpy) if is_float else array)

    return {name: lift(value) for name, value in operands.items()}


def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = None) -> Tensor:
    """A tensor with the numbers ``value``; one number fills ``shape``."""
    array = converted(value, dtype, shape)
    return get_default_graph().add("Const", lambda run: new_tensor(new_array(array)), name=name)
