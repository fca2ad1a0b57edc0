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
from autokit.static.tf.absent import absent
from autokit.static.tf.graph import Operation, Tensor, Trace, as_operands, get_default_graph
from autokit.static.tf.values import Variable, assign_add, global_variables, group, trainable_variables

__all__ = [
    *("AdagradOptimizer", "AdamOptimizer", "GradientDescentOptimizer", "MomentumOptimizer", "Optimizer"),
    *("RMSPropOptimizer", "Saver"),
]


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients") -> list[Tensor | None]:
    """The derivatives of the sum of ``ys`` by each of ``xs``; None for one that takes no part."""
    graph, many = get_default_graph(), (list, tuple)
    ends, sources, seeds = [list(each) if isinstance(each, many) else [each] for each in (ys, xs, grad_ys)]
    seeds = [None] * len(ends) if grad_ys is None else seeds

    def compute(trace: Trace, ends: Any, seeds: Any) -> list[Any]:
        trace.tape.phase = "backward"
        return _derivatives(trace, ends, sources, seeds)

    given = as_operands(graph, seeds)
    made = graph.add("Gradients", compute, name=name, outputs=len(sources), ends=ends, seeds=given)
    return [None if made.traced and each.example is None else each for each in made.outputs]


def _derivatives(trace: Trace, ends: Any, sources: Any, seeds: Any) -> list[Any]:
    """A variable has several leaves, the values that it had one after the other: their derivatives add up."""
    leaves = [trace.history.get(x, []) if x.is_variable else [trace.values.get(x)] for x in sources]
    several = [leaf for group in leaves for leaf in group if leaf is not None and leaf._requires_grad]
    used = [(end, seed) for end, seed in zip(ends, seeds) if end._requires_grad]
    if not used or not several:
        return [None] * len(sources)
    slopes = [ones_like(end) if seed is None else seed for end, seed in used]
    results = grad([end for end, _ in used], several, slopes, create_graph=True, allow_unused=True)
    found = dict(zip(map(id, several), results))
    parts = [[found[id(leaf)] for leaf in group if found.get(id(leaf)) is not None] for group in leaves]
    return [sum(each[1:], each[0]) if each else None for each in parts]


Step = Callable[..., tuple[Any, ...]]


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

    def __init__(self, learning_rate: Any, name: str, step: Step, *slots: float) -> None:
        self.rate, self.name, self.step, self.slots = learning_rate, name, step, slots

    def minimize(
        self, loss: Tensor, global_step: Any = None, var_list: Any = None, name: Any = None
    ) -> Operation:
        """The operation that takes one step: it computes the gradients, and changes the variables."""
        return self.apply_gradients(self.compute_gradients(loss, var_list), global_step, name)

    def compute_gradients(self, loss: Tensor, var_list: Any = None) -> list[tuple[Any, Any]]:
        """Pairs of a gradient and its variable."""
        variables = list(trainable_variables() if var_list is None else var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        return list(zip(gradients(loss, variables), variables))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Any = None) -> Operation:
        """The operation that changes the variables by gradients, and counts the step."""
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
        if not pairs:
            names = [repr(variable) for _, variable in grads_and_vars]
            raise ValueError(f"No gradients provided for any variable: loss depends on none of {names}.")
        changes: list[Any] = [self._change(gradient, variable) for gradient, variable in pairs]
        if global_step is not None:
            changes.append(assign_add(global_step, 1))
        return group(*changes, name=name or self.name)

    def _change(self, gradient: Tensor, variable: Any) -> Operation:
        """The operation that changes one variable and its slots."""
        zeros, name = np.zeros_like(variable.example.array), f"{variable.op.name}/{self.name}"
        changed = [variable, *[Variable(zeros + value, trainable=False, name=name) for value in self.slots]]

        def compute(trace: Trace, rate: Any, gradient: Any) -> None:
            trace.tape.phase = "update"
            before = [trace.read(each).detach() for each in changed]
            for each, value in zip(changed, self.step(rate, gradient.detach(), *before)):
                trace.assign(each, value)

        return variable.graph.add(f"Apply{self.name}", compute, self.rate, gradient, outputs=0)


def GradientDescentOptimizer(learning_rate: Any, name: str = "GradientDescent") -> Optimizer:
    """Gradient descent: w ← w − rate · g."""
    return Optimizer(learning_rate, name, lambda rate, g, w: (w - rate * g,))


def MomentumOptimizer(
    learning_rate: Any, momentum: float, name: str = "Momentum", use_nesterov: bool = False
) -> Optimizer:
    """Gradient descent with a velocity: v ← momentum · v + g, w ← w − rate · v."""

    def step(rate: Any, g: Any, w: Any, v: Any) -> Any:
        v = momentum * v + g
        return w - rate * (g + momentum * v if use_nesterov else v), v

    return Optimizer(learning_rate, name, step, 0.0)


def AdagradOptimizer(
    learning_rate: Any, initial_accumulator_value: float = 0.1, name: str = "Adagrad"
) -> Optimizer:
    """Steps that shrink with the sum of the squared gradients."""

    def step(rate: Any, g: Any, w: Any, total: Any) -> Any:
        total = total + g * g
        return w - rate * g / total.sqrt(), total

    return Optimizer(learning_rate, name, step, initial_accumulator_value)


def RMSPropOptimizer(
    learning_rate: Any,
    decay: Any = 0.9,
    momentum: Any = 0.0,
    epsilon: Any = 1e-10,
    name: str = "RMSProp",
) -> Optimizer:
    """Steps that are divided by the root of the running average of the squared gradients."""

    def step(rate: Any, g: Any, w: Any, square: Any, v: Any) -> Any:
        square = decay * square + (1 - decay) * g * g
        v = momentum * v + rate * g / (square + epsilon).sqrt()
        return w - v, square, v

    return Optimizer(learning_rate, name, step, 1.0, 0.0)


def AdamOptimizer(
    learning_rate: Any = 0.001,
    beta1: Any = 0.9,
    beta2: Any = 0.999,
    epsilon: Any = 1e-8,
    name: str = "Adam",
) -> Optimizer:
    """Adaptive moments; ``epsilon`` is that of the paper's shorter form (its section 2)."""

    def step(rate: Any, g: Any, w: Any, mean: Any, square: Any, power1: Any, power2: Any) -> Any:
        power1, power2 = power1 * beta1, power2 * beta2  # of both decay rates: the means begin with zeros
        mean, square = beta1 * mean + (1 - beta1) * g, beta2 * square + (1 - beta2) * g * g
        rate = rate * (1 - power2).sqrt() / (1 - power1)
        return w - rate * mean / (square.sqrt() + epsilon), mean, square, power1, power2

    return Optimizer(learning_rate, name, step, 0.0, 0.0, 1.0, 1.0)


class Saver:
    """Saves the variables of a session in a file, by their names, and restores them."""

    def __init__(self, var_list: Any = None, max_to_keep: int = 5, **_: Any) -> None:
        variables = global_variables() if var_list is None else var_list
        if not variables:
            raise ValueError("No variables to save")
        named = variables if isinstance(variables, dict) else {each.op.name: each for each in variables}
        self.variables: dict[str, Any] = named

    def save(self, sess: Any, save_path: str, global_step: Any = None, **_: Any) -> str:
        """Write the file; return its path."""
        step = sess.run(global_step) if isinstance(global_step, Tensor) else global_step
        path = save_path if step is None else f"{save_path}-{step}"
        save({name: new_tensor(sess.array_of(each).copy()) for name, each in self.variables.items()}, path)
        return path

    def restore(self, sess: Any, save_path: str) -> None:
        """Give the session's variables the values in the file."""
        found = load(save_path)
        for name, variable in self.variables.items():
            if name not in found:
                line = described(variable.op.line)
                raise NotFoundError(f"Key {name} not found in checkpoint\n  it is defined at {line}")
            sess.load(variable, found[name].numpy())


__getattr__ = absent("tf.train", globals())
