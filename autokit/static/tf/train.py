"""TensorFlow 1's derivatives and optimizers, and the file in which a session's variables are saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.autograd import grad
from autokit.engine.tensor import new_tensor
from autokit.ops.create import ones_like
from autokit.serialization import load, save
from autokit.static.errors import NotFoundError, described
from autokit.static.tf import values
from autokit.static.tf.absent import absent
from autokit.static.tf.functions import sqrt
from autokit.static.tf.graph import Evaluation, Operation, Tensor, changed, name_scope, needed


def gradients(ys: Any, xs: Any, name: str = "gradients") -> list[Tensor | None]:
    """The derivatives of the sum of ``ys`` by each of ``xs``; None for one that takes no part."""
    ends, sources = [list(each) if isinstance(each, list | tuple) else [each] for each in (ys, xs)]
    behind, graph = _behind(ends), ends[0].graph
    for each in behind:
        if each.op.type in ("cond", "while") and not _behind(each.op.inputs).isdisjoint(sources):
            raise NotImplementedError(
                "tf.cond and tf.while_loop have no gradient here: tf.where(condition, a, b) has one, and so "
                "has what a for loop of Python's defines"
            )

    def derive(run: Evaluation, *ends: Any) -> list[Any]:
        leaves = [[*run.earlier.get(x, []), run.values.get(x)] for x in sources]
        found = derivatives(ends, [leaf for group in leaves for leaf in group], create_graph=True)
        parts = [[found[leaf] for leaf in group if leaf in found] for group in leaves]
        return [sum(each[1:], each[0]) if each else None for each in parts]

    with changed(graph, phase="backward"):
        slopes = graph.add("Gradients", derive, *ends, name=name, outputs=len(sources))
    unused = [x not in behind or graph.examples.values.get(g, x) is None for x, g in zip(sources, slopes)]
    return [None if is_unused else slope for is_unused, slope in zip(unused, slopes)]


def _behind(tensors: Any) -> set[Tensor]:
    """``tensors`` and those from which they are computed."""
    return {*tensors, *[each for operation in needed(tensors) for each in operation.inputs]}


def derivatives(ends: Any, leaves: Any, **settings: Any) -> dict[Any, Any]:
    """The derivatives of the sum of ``ends`` by those of ``leaves`` that take part.

    A variable has several leaves, the values that it had one after the other.
    """
    ends = [each for each in ends if each._requires_grad]
    leaves = [each for each in leaves if each is not None and each._requires_grad]
    if not ends or not leaves:
        return {}
    slopes = grad(ends, leaves, [ones_like(end) for end in ends], allow_unused=True, **settings)
    return {leaf: slope for leaf, slope in zip(leaves, slopes) if slope is not None}


class Optimizer:
    """Changes variables by their gradients.

    Parameters
    ----------
    learning_rate : float or Tensor
    name : str
    step : callable
        The formula: the new values of a variable and its slots, by the rate, the gradient, and all values.
    slots : tuple of float
        What else it keeps for a variable, in the variable's shape: the first values.
    """

    def __init__(self, learning_rate: Any, name: str, step: Callable[..., Any], *slots: float) -> None:
        self.rate, self.name, self.step, self.slots = learning_rate, name, step, slots

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, name: Any = None) -> Any:
        """The operation that takes one step: it computes the gradients, and changes the variables."""
        return self.apply_gradients(self.compute_gradients(loss, var_list), global_step, name)

    def compute_gradients(self, loss: Tensor, var_list: Any = None) -> list[tuple[Any, Any]]:
        """Pairs of a gradient and its variable."""
        variables = list(values.trainable_variables() if var_list is None else var_list)
        return list(zip(gradients(loss, variables), variables))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Any = None) -> Operation:
        """The operation that changes the variables by gradients, and counts the step."""
        pairs = list(grads_and_vars)
        with changed(pairs[0][1].graph, phase="update"), name_scope(name or self.name) as scope:
            changes = [self._change(*pair) for pair in pairs if pair[0] is not None]
            if not changes:
                names = [repr(variable) for _, variable in pairs]
                raise ValueError(f"No gradients provided for any variable: loss depends on none of {names}.")
            if global_step is not None:
                changes.append(values.assign_add(global_step, 1).op)
            return values.group(*changes, name=scope)

    def _change(self, slope: Tensor, variable: Any) -> Operation:
        """The operation that changes one variable and its slots."""
        zeros = np.zeros_like(variable.example.array)
        slots = [values.Variable(zeros + value, False, variable.op.name) for value in self.slots]
        new = self.step(self.rate, slope, variable, *slots)
        return values.group(*[values.assign(each, value) for each, value in zip([variable, *slots], new)])


def GradientDescentOptimizer(learning_rate: Any, name: str = "GradientDescent") -> Optimizer:
    """Gradient descent: w ← w − rate · g."""
    return Optimizer(learning_rate, name, lambda rate, g, w: (w - rate * g,))


def MomentumOptimizer(learning_rate: Any, momentum: float, name: str = "Momentum") -> Optimizer:
    """Gradient descent with a velocity: v ← momentum · v + g, w ← w − rate · v."""

    def step(rate: Any, g: Any, w: Any, v: Any) -> Any:
        v = momentum * v + g
        return w - rate * v, v

    return Optimizer(learning_rate, name, step, 0.0)


def AdamOptimizer(
    learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, name: str = "Adam"
) -> Optimizer:
    """Adaptive moments; ``epsilon`` is that of the paper's shorter form (its section 2)."""

    def step(rate: Any, g: Any, w: Any, mean: Any, square: Any, power1: Any, power2: Any) -> Any:
        power1, power2 = power1 * beta1, power2 * beta2  # of both decay rates: the means begin with zeros
        mean, square = beta1 * mean + (1 - beta1) * g, beta2 * square + (1 - beta2) * g * g
        rate = rate * sqrt(1 - power2) / (1 - power1)
        return w - rate * mean / (sqrt(square) + epsilon), mean, square, power1, power2

    return Optimizer(learning_rate, name, step, 0.0, 0.0, 1.0, 1.0)


class Saver:
    """Saves the variables of a session in a file, by their names, and restores them."""

    def __init__(self, var_list: Any = None, **_: Any) -> None:
        variables = values.global_variables() if var_list is None else var_list
        if not variables:
            raise ValueError("No variables to save")
        self.variables = {each.op.name: each for each in variables}

    def save(self, sess: Any, save_path: str, global_step: Any = None, **_: Any) -> str:
        """Write the file; return its path."""
        step = sess.run(global_step) if isinstance(global_step, Tensor) else global_step
        path = save_path if step is None else f"{save_path}-{step}"
        save({name: new_tensor(value) for name, value in sess.run(self.variables).items()}, path)
        return path

    def restore(self, sess: Any, save_path: str) -> None:
        """Give the session's variables the values in the file."""
        found = load(save_path)
        for name, variable in self.variables.items():
            if name not in found:
                line = described(variable.op.line)
                raise NotFoundError(f"Key {name} not found in checkpoint\n  it is defined at {line}")
            sess.load(variable, found[name])


__getattr__ = absent("tf.train", globals())
