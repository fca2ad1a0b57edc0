"""Where the values of TensorFlow 1's graph come from: placeholders, constants, variables and random numbers.

A variable is a name for a value that each session keeps. Operations that read and assign it run in the order
in which the program defines them; TensorFlow leaves that order open, but for ``control_dependencies``.
"""

from __future__ import annotations

from math import erf
from typing import Any

import numpy as np

from autokit.base import dtypes
from autokit.engine.tensor import new_tensor
from autokit.ops.create import empty
from autokit.ops.draw import normal_, uniform_
from autokit.static.errors import InvalidArgumentError, described
from autokit.static.tf import graph as graphs
from autokit.static.tf.functions import identity
from autokit.static.tf.graph import Operation, Tensor, constant, defines, get_default_graph
from autokit.static.tf.shapes import OPEN, UNKNOWN, TensorShape, as_numpy

float32 = dtypes.BY_NAME["float32"]


def placeholder(dtype: Any, shape: Any = None, name: Any = None) -> Tensor:
    """A tensor that each run feeds; sizes that are None, or a shape that is left out, may be any."""
    declared = TensorShape(shape)

    def not_fed(run: graphs.Evaluation, dtype: Any) -> Any:
        if run.session is None and declared.dims is not None:
            sizes = [prime if size is UNKNOWN else size for size, prime in zip(declared, OPEN)]
            return new_tensor(np.broadcast_to(np.zeros((), dtype.numpy), sizes))
        name, kind = run.operation.name, {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
        listed = str(declared).strip("(),").replace(" ", "")
        raise InvalidArgumentError(
            f"You must feed a value for placeholder tensor '{name}' with dtype {kind} and shape [{listed}]: "
            f"write session.run(…, feed_dict={{{name}: …}})"
        )

    return get_default_graph().add("Placeholder", not_fed, name=name, dtype=dtypes.BY_NUMPY[as_numpy(dtype)])


def placeholder_with_default(input: Any, shape: Any = None, name: Any = None) -> Tensor:
    """A tensor that a run may feed; otherwise it is ``input``."""
    return identity(input, name=name or "PlaceholderWithDefault")


def convert_to_tensor(value: Any, dtype: Any = None, name: Any = None) -> Tensor:
    """``value`` as a tensor of the graph."""
    return value if isinstance(value, Tensor) else constant(value, dtype, name=name)


def zeros(shape: Any, dtype: Any = float32, name: str = "zeros") -> Tensor:
    """A tensor of zeros."""
    return constant(0, dtype, shape, name)


def ones(shape: Any, dtype: Any = float32, name: str = "ones") -> Tensor:
    """A tensor of ones."""
    return constant(1, dtype, shape, name)


def fill(dims: Any, value: Any, name: str = "Fill") -> Tensor:
    """A tensor of shape ``dims`` whose elements are all ``value``."""
    return constant(value, None, dims, name)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """The numbers from ``start``, or 0, up to ``limit``."""
    numbers = np.arange(start) if limit is None else np.arange(start, limit, delta)
    return constant(numbers.tolist(), dtype, name=name)


def linspace(start: float, stop: float, num: int, name: str = "LinSpace") -> Tensor:
    """``num`` numbers from ``start`` to ``stop``, at equal distances."""
    return constant(np.linspace(start, stop, num), float32, name=name)


# ---------------------------------------------------------------- random numbers


def set_random_seed(seed: int) -> None:
    """Let the random operations of the default graph draw the same numbers in each new session."""
    get_default_graph().seed = seed


@defines("random_normal")
def random_normal(
    shape: Any, mean: Any = 0, stddev: Any = 1, dtype: Any = float32, seed: Any = None, rng: Any = None
) -> Any:
    """Normal random numbers, new ones in each run."""
    return normal_(empty(tuple(shape), dtype=as_numpy(dtype)), mean, stddev, generator=rng)


@defines("random_uniform")
def random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = 1, dtype: Any = float32, seed: Any = None, rng: Any = None
) -> Any:
    """Random numbers from ``minval`` to below ``maxval``, all equally likely."""
    return uniform_(empty(tuple(shape), dtype=as_numpy(dtype)), minval, maxval, generator=rng)


@defines("truncated_normal")
def truncated_normal(
    shape: Any, mean: Any = 0, stddev: Any = 1, dtype: Any = float32, seed: Any = None, rng: Any = None
) -> Any:
    """Normal random numbers that lie at most two standard deviations from the mean."""
    part = erf(2**0.5)  # of all that lies there: the inverse of its distribution gives the numbers
    even = random_uniform.plain(shape, -part, part, dtype, rng=rng)
    return even.erfinv() * (2**0.5 * stddev) + mean


# ---------------------------------------------------------------- variables


def assign(ref: Any, value: Any, name: str = "Assign") -> Tensor:
    """Change a variable in each run that needs it; the result is the new value."""
    value = value if isinstance(value, Tensor) else constant(value, ref.dtype, name=f"{ref.op.name}/value")
    return ref.graph.add("Assign", lambda run, new: run.assign(ref, new), value, name=name)


def assign_add(ref: Any, value: Any, name: str = "AssignAdd") -> Tensor:
    """Add to a variable in each run that needs it; the result is the new value."""
    return assign(ref, ref + value, name)


def assign_sub(ref: Any, value: Any, name: str = "AssignSub") -> Tensor:
    """Subtract from a variable in each run that needs it; the result is the new value."""
    return assign(ref, ref - value, name)


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
        with graphs.control_dependencies(None):
            value = initial_value() if callable(initial_value) else initial_value
            value = convert_to_tensor(value, dtype, f"{name}initial_value/")
            if value.example is None:
                raise ValueError("initial_value must have a shape specified")
            super().__init__(graph.add("VariableV2", None, name=name, outputs=0))
            zeros = new_tensor(np.zeros(value.example.shape, as_numpy(dtype or value.dtype)))
            graph.examples.values[self] = graphs.learning(zeros)
            self.initializer = self.assign(value, f"{name}Assign/").op
        self.trainable = trainable
        graph.variables.append(self)

    def __repr__(self) -> str:
        return super().__repr__().replace("tf.Tensor", "tf.Variable").replace(">", "_ref>")


def global_variables() -> list[Variable]:
    """All variables of the default graph."""
    return list(get_default_graph().variables)


def trainable_variables() -> list[Variable]:
    """The variables that optimizers change."""
    return [each for each in global_variables() if each.trainable]


def global_variables_initializer() -> Operation:
    """An operation that gives all variables, those that are defined by now, their initial values."""
    return group(*[each.initializer for each in global_variables()], name="init")


initialize_all_variables = global_variables_initializer


def group(*inputs: Any, name: str = "group_deps") -> Operation:
    """An operation that runs all of ``inputs``."""
    with graphs.control_dependencies(inputs):
        return get_default_graph().add("NoOp", None, name=name, outputs=0)


def variable_scope(name: str) -> Any:
    """A ``with`` block in which names begin with ``name/``, also where another block has that name."""
    graph = get_default_graph()
    return graphs.changed(graph, prefix=name if name.endswith("/") else f"{graph.prefix}{name}/")


def get_variable(
    name: str, shape: Any = None, dtype: Any = float32, initializer: Any = None, trainable: bool = True
) -> Variable:
    """A new variable, and the only one of this name in the scope at hand."""
    whole = get_default_graph().prefix + name
    for each in global_variables():
        if each.op.name == whole:
            line = described(each.op.line)
            raise ValueError(f"Variable {whole} already exists, disallowed.\n  it was defined at {line}")
    value = _glorot_uniform if initializer is None else initializer
    value = value(shape, dtype=dtype) if callable(value) else value
    return Variable(value, trainable, name, dtype)


def _glorot_uniform(shape: Any, dtype: Any) -> Tensor:
    """Numbers that keep the size of signals and gradients, from layer to layer, about the same."""
    fans = [int(size) for size in shape[-2:]] or [1]
    limit = float(np.sqrt(6 / (int(np.prod(shape[:-2])) * (fans[0] + fans[-1]))))
    return random_uniform(shape, -limit, limit, dtype)


_own = [name for name, each in globals().items() if getattr(each, "__module__", "") == __name__]
__all__ = [name for name in _own if name[0] != "_"]
