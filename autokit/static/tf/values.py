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
from autokit.static.errors import described
from autokit.static.tf.graph import (
    GraphKeys,
    Operation,
    Tensor,
    Trace,
    add_to_collection,
    constant_of,
    control_dependencies,
    defines,
    get_collection,
    get_default_graph,
    inside,
    name_scope,
)
from autokit.static.tf.shapes import OPEN, as_numpy, converted, known, sizes_of

__all__ = [
    *("AUTO_REUSE", "Variable", "assign", "assign_add", "assign_sub", "constant"),
    *("constant_initializer", "convert_to_tensor", "fill", "get_variable", "get_variable_scope"),
    *("global_variables", "global_variables_initializer", "glorot_uniform_initializer", "group"),
    *("initialize_all_variables", "linspace", "ones", "ones_initializer", "placeholder"),
    *("placeholder_with_default", "random_normal", "random_normal_initializer", "random_uniform"),
    *("random_uniform_initializer", "range", "set_random_seed", "trainable_variables"),
    *("truncated_normal", "truncated_normal_initializer", "variable_scope"),
    *("variables_initializer", "zeros", "zeros_initializer"),
]

float32 = dtypes.BY_NAME["float32"]


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor that each run feeds; sizes that are None, or a shape that is left out, may be any."""
    kind = dtypes.BY_NUMPY[as_numpy(dtype)]
    given = [-1 if size is None else int(size) for size in (() if shape is None else shape)]
    sizes = [unknown if size < 0 else size for size, unknown in zip(given, OPEN)]

    def compute(trace: Trace, dtype: Any) -> Any:
        return trace.given("input", np.broadcast_to(np.zeros((), kind.numpy), sizes), trace.operation.name)

    graph, settings = get_default_graph(), {"dtype": kind}
    made = graph.add("Placeholder", compute, (), settings, name=name, at_once=shape is not None)
    return made.outputs[0]


@defines("PlaceholderWithDefault", "input")
def placeholder_with_default(input: Any, shape: Any = None) -> Any:
    """A tensor that a run may feed; otherwise it is ``input``."""
    return input.clone()


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor with the numbers ``value``; one number fills ``shape``."""
    array = converted(value, dtype)
    if shape is not None:
        array = np.full(shape, array) if array.size == 1 else array.reshape(shape)
    return constant_of(get_default_graph(), array, name)


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """``value`` as a tensor of the graph."""
    return value if isinstance(value, Tensor) else constant(value, dtype, name=name)


@defines("zeros")
def zeros(trace: Trace, shape: Any, dtype: Any = "float32") -> Any:
    """A tensor of zeros."""
    return trace.constant(np.zeros(sizes_of(shape), as_numpy(dtype)))


@defines("ones")
def ones(trace: Trace, shape: Any, dtype: Any = "float32") -> Any:
    """A tensor of ones."""
    return trace.constant(np.ones(sizes_of(shape), as_numpy(dtype)))


@defines("Fill")
def fill(trace: Trace, dims: Any, value: Any) -> Any:
    """A tensor of shape ``dims`` whose elements are all ``value``."""
    return trace.constant(np.full(sizes_of(dims), converted(known(value))))


@defines("range")
def range(trace: Trace, start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    """The numbers from ``start``, or 0, up to ``limit``."""
    ends = (0, start, delta) if limit is None else (start, limit, delta)
    return trace.constant(converted(np.arange(*map(known, ends)).tolist(), dtype))


@defines("LinSpace")
def linspace(trace: Trace, start: Any, stop: Any, num: int) -> Any:
    """``num`` numbers from ``start`` to ``stop``, at equal distances."""
    return trace.constant(np.linspace(start, stop, num, dtype=np.float32))


# ---------------------------------------------------------------- random numbers


def set_random_seed(seed: int) -> None:
    """Let the random operations of the default graph draw the same numbers in each new session."""
    get_default_graph().seed = seed


@defines("random_normal")
def random_normal(
    trace: Trace, shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = "float32", seed: Any = None
) -> Any:
    """Normal random numbers, new ones in each run."""
    sizes = sizes_of(shape)
    return trace.drawn(lambda generator: generator.normal(mean, stddev, sizes), sizes, as_numpy(dtype))


@defines("truncated_normal")
def truncated_normal(
    trace: Trace, shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = "float32", seed: Any = None
) -> Any:
    """Normal random numbers; those more than two standard deviations from the mean are drawn again."""
    sizes = sizes_of(shape)

    def draw(generator: Any) -> Any:
        values = generator.standard_normal(sizes)
        while (far := np.abs(values) > 2).any():
            values = np.where(far, generator.standard_normal(sizes), values)
        return mean + stddev * values

    return trace.drawn(draw, sizes, as_numpy(dtype))


@defines("random_uniform")
def random_uniform(
    trace: Trace,
    shape: Any,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: Any = "float32",
    seed: Any = None,
) -> Any:
    """Random numbers from ``minval`` to below ``maxval``, all equally likely."""
    sizes = sizes_of(shape)
    return trace.drawn(lambda generator: generator.uniform(minval, maxval, sizes), sizes, as_numpy(dtype))


# ---------------------------------------------------------------- variables


def _assignment(variable: Any, value: Tensor, name: Any, sign: int = 0, at_once: bool = True) -> Tensor:
    """The output of an operation that assigns ``value``; or adds it, or subtracts it, by its ``sign``."""

    def compute(trace: Trace, value: Any) -> Any:
        return trace.assign(variable, trace.read(variable) + sign * value if sign else value)

    kind = {0: "Assign", 1: "AssignAdd", -1: "AssignSub"}[sign]
    return variable.graph.add(kind, compute, (value,), name=name, at_once=at_once).outputs[0]


def _assigning(sign: int) -> Callable[..., Tensor]:
    """The functions ``assign``, ``assign_add`` and ``assign_sub``."""

    def define(ref: Any, value: Any, validate_shape: bool = True, name: str | None = None) -> Tensor:
        """Change a variable in each run that needs it; the result is the new value."""
        if not isinstance(value, Tensor):
            value = constant(value, ref.dtype, name=f"{ref.op.name}/value")
        return _assignment(ref, value, name, sign)

    return define


assign, assign_add, assign_sub = _assigning(0), _assigning(1), _assigning(-1)


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
        self,
        initial_value: Any,
        trainable: Any = True,
        *_: Any,
        name: Any = None,
        dtype: Any = None,
        **settings: Any,
    ) -> None:
        graph = get_default_graph()
        value = initial_value() if callable(initial_value) else initial_value
        name = graph.unique_name(name or "Variable") + "/"
        value = convert_to_tensor(value, dtype, name=f"{name}initial_value/")
        if value.example is None:
            raise ValueError("initial_value must have a shape specified")
        example = {"example": np.zeros(value.example.shape, value.example.array.dtype)}
        made = graph.add("VariableV2", _read, (), example, name=name, outputs=0, at_once=False)
        super().__init__(made)
        graph.named[self.name] = self
        made.at_once = True
        graph.define(made)
        self.trainable, self.initial_value = bool(trainable), value
        self.initializer = _assignment(self, value, f"{name}Assign/", at_once=False).op
        add_to_collection(GraphKeys.GLOBAL_VARIABLES, self)
        if trainable:
            add_to_collection(GraphKeys.TRAINABLE_VARIABLES, self)

    def initialized_value(self) -> Tensor:
        """The value that its initializer computes."""
        return self.initial_value

    def read_value(self) -> Tensor:
        """Its value at this place of the program."""
        return self.graph.add("Identity", lambda trace, a: a, (self,), name="read").outputs[0]

    value = read_value

    def __repr__(self) -> str:
        return super().__repr__().replace("tf.Tensor", "tf.Variable").replace(">", "_ref>")


def _read(trace: Trace, example: Any) -> Any:
    return trace.read(trace.operation.outputs[0])


def global_variables() -> list[Variable]:
    """All variables of the default graph."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES)


def trainable_variables() -> list[Variable]:
    """The variables that optimizers change."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES)


def variables_initializer(var_list: list[Variable], name: str = "init") -> Operation:
    """An operation that gives ``var_list`` their initial values."""
    return group(*[each.initializer for each in var_list], name=name)


def global_variables_initializer() -> Operation:
    """An operation that gives all variables, those that are defined by now, their initial values."""
    return variables_initializer(global_variables())


def group(*inputs: Any, name: str | None = None) -> Operation:
    """An operation that runs all of ``inputs``."""
    with control_dependencies(inputs):
        return get_default_graph().add("NoOp", lambda trace: None, name=name or "group_deps", outputs=0)


# ---------------------------------------------------------------- variables that functions share


class VariableScope:
    """The prefix of variables' names, and whether ``get_variable`` gives existing ones."""

    def __init__(self, name: str, reuse: Any) -> None:
        self.name, self.reuse = name, reuse

    def reuse_variables(self) -> None:
        """From here on, give the existing variables."""
        self.reuse = True


AUTO_REUSE = "auto"


def get_variable_scope() -> VariableScope:
    """The scope at hand."""
    scopes = get_default_graph().variable_scopes
    if not scopes:
        scopes.append(VariableScope("", False))
    return scopes[-1]


@contextmanager
def variable_scope(name_or_scope: Any, default_name: str | None = None, reuse: Any = None) -> Iterator[Any]:
    """A ``with`` block in which the names of variables, and of other operations, begin with ``name/``."""
    outer, scopes = get_variable_scope(), get_default_graph().variable_scopes
    name = getattr(name_or_scope, "name", None)
    if name is None:
        name = f"{outer.name}/{name_or_scope or default_name}".lstrip("/")
    inner = VariableScope(name, reuse or outer.reuse)
    with name_scope(name.rpartition("/")[2]), inside(scopes, inner):
        yield inner


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = float32,
    initializer: Any = None,
    regularizer: Any = None,
    **settings: Any,
) -> Variable:
    """The variable of this name in the variable scope: a new one, or under ``reuse`` the existing one."""
    scope = get_variable_scope()
    name = f"{scope.name}/{name}".lstrip("/")
    known = {each.op.name: each for each in global_variables()}
    if name in known and not scope.reuse:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            f"reuse=tf.AUTO_REUSE in VarScope? It was defined at {described(known[name].op.line)}"
        )
    if name in known or scope.reuse is True:
        if name not in known:
            raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable().")
        return known[name]
    value = glorot_uniform_initializer() if initializer is None else initializer
    value = value(shape, dtype=dtype) if callable(value) else value
    with name_scope(""):
        made = Variable(value, name=name, dtype=dtype, **settings)
    if regularizer is not None:
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, regularizer(made))
    return made


def _initializer(create: Callable[..., Tensor]) -> Callable[..., Any]:
    """The function that, called with settings, gives an initializer: a function of shape and dtype."""
    return lambda *args, **settings: (
        lambda shape, dtype=float32: create(shape, *args, dtype=dtype, **settings)
    )


zeros_initializer, ones_initializer = _initializer(zeros), _initializer(ones)
random_normal_initializer = _initializer(random_normal)
truncated_normal_initializer = _initializer(truncated_normal)
random_uniform_initializer = _initializer(random_uniform)


def constant_initializer(value: Any = 0, dtype: Any = None) -> Any:
    """An initializer that fills a variable with ``value``."""
    return lambda shape, dtype=float32: constant(value, dtype, shape)


def glorot_uniform_initializer(seed: int | None = None) -> Any:
    """An initializer that keeps the size of signals and gradients, from layer to layer, about the same."""

    def create(shape: Any, dtype: Any = float32) -> Tensor:
        fans = [int(size) for size in shape[-2:]] or [1]
        field = int(np.prod(shape[:-2]))
        limit = float(np.sqrt(6 / (field * (fans[0] + fans[-1]))))
        return random_uniform(shape, -limit, limit, dtype=dtype, seed=seed)

    return create


initialize_all_variables = global_variables_initializer
