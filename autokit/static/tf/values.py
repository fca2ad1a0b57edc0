"""Where the values of TensorFlow 1's graph come from: placeholders, constants, variables and random numbers.

A variable is a name for a value that each session keeps. Operations that read and assign it run in the order
in which the program defines them; TensorFlow leaves that order open, but for ``control_dependencies``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autokit.base import dtypes
from autokit.engine.tensor import new_tensor
from autokit.static.errors import InvalidArgumentError, described
from autokit.static.tf import graph as graphs
from autokit.static.tf.graph import GraphKeys, Operation, Tensor, Trace, defines, get_default_graph
from autokit.static.tf.shapes import OPEN, as_numpy, converted, known, sizes_of

__all__ = [
    *("AUTO_REUSE", "Variable", "assign", "assign_add", "assign_sub", "constant", "constant_initializer"),
    *("convert_to_tensor", "fill", "get_variable", "get_variable_scope", "global_variables"),
    *("global_variables_initializer", "glorot_uniform_initializer", "group", "initialize_all_variables"),
    *("linspace", "ones", "placeholder", "placeholder_with_default", "random_normal"),
    *("random_normal_initializer", "random_uniform", "range", "set_random_seed", "trainable_variables"),
    *("truncated_normal", "truncated_normal_initializer", "variable_scope", "zeros", "zeros_initializer"),
]

float32 = dtypes.BY_NAME["float32"]


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor that each run feeds; sizes that are None, or a shape that is left out, may be any."""
    graph, kind = get_default_graph(), dtypes.BY_NUMPY[as_numpy(dtype)]
    made = graph.add("Placeholder", _not_fed, name=name, at_once=False, dtype=kind).outputs[0]
    if shape is not None:
        sizes = [unknown if size in (None, -1) else int(size) for size, unknown in zip(shape, OPEN)]
        made.example = graph.trace.feed(made, np.broadcast_to(np.zeros((), kind.numpy), sizes))
    return made


def _not_fed(trace: Trace, dtype: Any) -> None:
    tensor = trace.operation.outputs[0]
    name, kind = tensor.op.name, {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
    shape = str(tensor.shape).strip("(),").replace(" ", "")
    raise InvalidArgumentError(
        f"You must feed a value for placeholder tensor '{name}' with dtype {kind} and shape [{shape}]\n  it "
        f"was defined at {described(tensor.op.line)}\n  write session.run(…, feed_dict={{{name}: …}})"
    )


@defines("PlaceholderWithDefault", "input")
def placeholder_with_default(input: Any, shape: Any = None) -> Any:
    """A tensor that a run may feed; otherwise it is ``input``."""
    return input.clone()


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor with the numbers ``value``; one number fills ``shape``."""
    array = converted(value, dtype)
    if shape is not None:
        array = np.full(shape, array) if array.size == 1 else array.reshape(shape)
    return graphs.constant_of(get_default_graph(), array, name)


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """``value`` as a tensor of the graph."""
    if not isinstance(value, Tensor):
        return constant(value, dtype, name=name)
    if dtype is not None and value.dtype.numpy != as_numpy(dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype} for {value!r}: write tf.cast(…)")
    return value


@defines("Fill")
def fill(dims: Any, value: Any, dtype: Any = None) -> Any:
    """A tensor of shape ``dims`` whose elements are all ``value``."""
    return new_tensor(np.full(sizes_of(dims), converted(known(value), dtype)))


def zeros(shape: Any, dtype: Any = float32, name: str = "zeros") -> Tensor:
    """A tensor of zeros."""
    return fill(shape, 0, dtype, name=name)


def ones(shape: Any, dtype: Any = float32, name: str = "ones") -> Tensor:
    """A tensor of ones."""
    return fill(shape, 1, dtype, name=name)


@defines("range")
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    """The numbers from ``start``, or 0, up to ``limit``."""
    ends = (0, start, delta) if limit is None else (start, limit, delta)
    return new_tensor(converted(np.arange(*map(known, ends)).tolist(), dtype))


@defines("LinSpace")
def linspace(start: Any, stop: Any, num: int) -> Any:
    """``num`` numbers from ``start`` to ``stop``, at equal distances."""
    return new_tensor(np.linspace(start, stop, num, dtype=np.float32))


# ---------------------------------------------------------------- random numbers


def set_random_seed(seed: int) -> None:
    """Let the random operations of the default graph draw the same numbers in each new session."""
    get_default_graph().seed = seed


@defines("random_normal")
def random_normal(
    trace: Trace, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None
) -> Any:
    """Normal random numbers, new ones in each run."""
    return trace.drawn(lambda generator, sizes: generator.normal(mean, stddev, sizes), shape, dtype)


@defines("truncated_normal")
def truncated_normal(
    trace: Trace, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None
) -> Any:
    """Normal random numbers; those more than two standard deviations from the mean are drawn again."""

    def draw(generator: Any, sizes: Any) -> Any:
        values = generator.standard_normal(sizes)
        while (far := np.abs(values) > 2).any():
            values = np.where(far, generator.standard_normal(sizes), values)
        return mean + stddev * values

    return trace.drawn(draw, shape, dtype)


@defines("random_uniform")
def random_uniform(
    trace: Trace, shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = float32, seed: Any = None
) -> Any:
    """Random numbers from ``minval`` to below ``maxval``, all equally likely."""
    return trace.drawn(lambda generator, sizes: generator.uniform(minval, maxval, sizes), shape, dtype)


# ---------------------------------------------------------------- variables


def _assigning(kind: str, sign: int) -> Callable[..., Tensor]:
    """One of the functions ``assign``, ``assign_add`` and ``assign_sub``."""

    def define(ref: Any, value: Any, name: str | None = None, at_once: bool = True) -> Tensor:
        """Change a variable in each run that needs it; the result is the new value."""
        if not isinstance(value, Tensor):
            value = constant(value, ref.dtype, name=f"{ref.op.name}/value")

        def compute(trace: Trace, value: Any) -> Any:
            return trace.assign(ref, trace.read(ref) + sign * value if sign else value)

        return ref.graph.add(kind, compute, value, name=name, at_once=at_once).outputs[0]

    return define


assign, assign_add, assign_sub = map(_assigning, ("Assign", "AssignAdd", "AssignSub"), (0, 1, -1))


class Variable(Tensor):
    """A tensor whose value a session keeps from run to run.

    Parameters
    ----------
    initial_value : tensor, array or number
        What the initializer computes, in each session that runs it.
    trainable : bool
        Whether an optimizer changes it.
    """

    is_variable = True
    assign, assign_add, assign_sub = assign, assign_add, assign_sub

    def __init__(
        self, initial_value: Any, trainable: Any = True, name: Any = None, dtype: Any = None
    ) -> None:
        graph = get_default_graph()
        name = graph.unique_name(name or "Variable") + "/"
        value = initial_value() if callable(initial_value) else initial_value
        value = convert_to_tensor(value, dtype, name=f"{name}initial_value/")
        if value.example is None:
            raise ValueError("initial_value must have a shape specified")
        super().__init__(graph.add("VariableV2", None, name=name, outputs=0, at_once=False))
        graph.named[self.name] = self
        self.example = new_tensor(np.zeros(value.example.array.shape, value.dtype.numpy))
        self.initializer = self.assign(value, f"{name}Assign/", at_once=False).op
        graphs.add_to_collection(GraphKeys.GLOBAL_VARIABLES, self)
        if trainable:
            graphs.add_to_collection(GraphKeys.TRAINABLE_VARIABLES, self)

    def __repr__(self) -> str:
        return super().__repr__().replace("tf.Tensor", "tf.Variable").replace(">", "_ref>")


def global_variables() -> list[Variable]:
    """All variables of the default graph."""
    return graphs.get_collection(GraphKeys.GLOBAL_VARIABLES)


def trainable_variables() -> list[Variable]:
    """The variables that optimizers change."""
    return graphs.get_collection(GraphKeys.TRAINABLE_VARIABLES)


def global_variables_initializer() -> Operation:
    """An operation that gives all variables, those that are defined by now, their initial values."""
    return group(*[each.initializer for each in global_variables()], name="init")


initialize_all_variables = global_variables_initializer


def group(*inputs: Any, name: str | None = None) -> Operation:
    """An operation that runs all of ``inputs``."""
    with graphs.control_dependencies(inputs):
        return get_default_graph().add("NoOp", None, name=name or "group_deps", outputs=0)


# ---------------------------------------------------------------- variables that functions share

AUTO_REUSE = "auto"


def get_variable_scope() -> graphs.VariableScope:
    """The scope at hand."""
    return get_default_graph().variable_scopes[-1]


@contextmanager
def variable_scope(name_or_scope: Any, reuse: Any = None) -> Iterator[Any]:
    """A ``with`` block in which the names of variables, and of other operations, begin with ``name/``."""
    outer = get_variable_scope()
    name = getattr(name_or_scope, "name", None) or f"{outer.name}/{name_or_scope}".lstrip("/")
    inner = graphs.VariableScope(name, reuse or outer.reuse)
    with (
        graphs.name_scope(name.rpartition("/")[2]),
        graphs.inside(get_default_graph().variable_scopes, inner),
    ):
        yield inner


def get_variable(
    name: str, shape: Any = None, dtype: Any = float32, initializer: Any = None, trainable: bool = True
) -> Variable:
    """The variable of this name in the variable scope: a new one, or under ``reuse`` the existing one."""
    scope = get_variable_scope()
    name = f"{scope.name}/{name}".lstrip("/")
    found = next((each for each in global_variables() if each.op.name == name), None)
    if found is not None and not scope.reuse:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            f"reuse=tf.AUTO_REUSE in VarScope?\n  it was defined at {described(found.op.line)}"
        )
    if found is None and scope.reuse is True:
        raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable().")
    if found is not None:
        return found
    value = _glorot_uniform if initializer is None else initializer
    with graphs.name_scope(""):
        value = value(shape, dtype=dtype) if callable(value) else value
        return Variable(value, trainable, name, dtype)


def _glorot_uniform(shape: Any, dtype: Any = float32, seed: int | None = None) -> Tensor:
    """Numbers that keep the size of signals and gradients, from layer to layer, about the same."""
    fans = [int(size) for size in shape[-2:]] or [1]
    limit = float(np.sqrt(6 / (int(np.prod(shape[:-2])) * (fans[0] + fans[-1]))))
    return random_uniform(shape, -limit, limit, dtype=dtype, seed=seed)


def _constant(shape: Any, value: Any = 0, dtype: Any = float32) -> Tensor:
    return constant(value, dtype, shape)


def _initializer(create: Callable[..., Tensor]) -> Callable[..., Any]:
    """The function that, called with settings, gives an initializer: a function of shape and dtype."""
    return lambda *args, **settings: (
        lambda shape, dtype=float32: create(shape, *args, dtype=dtype, **settings)
    )


zeros_initializer, constant_initializer = _initializer(zeros), _initializer(_constant)
glorot_uniform_initializer = _initializer(_glorot_uniform)
random_normal_initializer = _initializer(random_normal)
truncated_normal_initializer = _initializer(truncated_normal)
