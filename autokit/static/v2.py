"""TensorFlow 2's face, small: tensors compute at once, a tape records them, and ``function`` makes a graph.

``import autokit.static.v2 as tf`` has the functions of ``autokit.static.tf`` on tensors that have numbers,
and ``Variable``, :class:`GradientTape` and :func:`function`.

Examples
--------
>>> import autokit.static.v2 as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from __future__ import annotations

from functools import wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np

from autokit.base.dtypes import as_dtype
from autokit.base.generator import manual_seed
from autokit.engine import tensor as engine
from autokit.engine.modes import set_grad_enabled
from autokit.ops.create import from_numpy
from autokit.static.graph import found_in, mapped
from autokit.static.step import compile
from autokit.static.tf import functions, values
from autokit.static.tf import nn as _layers
from autokit.static.tf.absent import absent
from autokit.static.tf.functions import bind_operators
from autokit.static.tf.graph import lifted
from autokit.static.tf.shapes import converted
from autokit.static.tf.train import derivatives

TAPES: list[GradientTape] = []
"""The tapes that are recording, the outermost first."""


class Tensor(engine.Tensor):
    """A tensor with TensorFlow's operators and its printed form."""

    __slots__ = ()

    def numpy(self, **_: Any) -> Any:
        """The array, or a number of NumPy's where there are no dimensions."""
        return self.array[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        kind = "Variable" if isinstance(self, Variable) else "Tensor"
        return f"<tf.{kind}: shape={self.array.shape}, dtype={self.dtype.name}, numpy={self.array.tolist()}>"


class Variable(Tensor):
    """A tensor that keeps its identity while its value is assigned; tapes watch it.

    Parameters
    ----------
    initial_value : tensor, array or number
    trainable : bool
        Whether tapes watch it.
    """

    def __init__(
        self, initial_value: Any, trainable: Any = True, name: Any = None, dtype: Any = None
    ) -> None:
        value = initial_value() if callable(initial_value) else initial_value
        super().__init__()
        self.array = converted(getattr(value, "array", value), dtype)
        self.trainable, self.name = trainable, name
        self._requires_grad = trainable and self.array.dtype.kind == "f"

    def assign(self, value: Any) -> Variable:
        """Change the value."""
        with set_grad_enabled(False):
            self.copy_(constant(value, self.dtype))
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Add to the value."""
        return self.assign(self + delta)

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract from the value."""
        return self.assign(self - delta)


class GradientTape:
    """Records what is computed inside its ``with`` block, and differentiates it.

    Parameters
    ----------
    persistent : bool
        Differentiate more than once.
    """

    def __init__(self, persistent: bool = False) -> None:
        self.persistent, self.used = persistent, False

    def __enter__(self) -> GradientTape:
        TAPES.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        TAPES.remove(self)

    def watch(self, tensor: Any) -> None:
        """Record what is computed from ``tensor``, which is no variable."""
        for each in found_in(tensor, engine.Tensor):
            each._requires_grad = True

    def gradient(self, target: Any, sources: Any) -> Any:
        """The derivatives of the sum of ``target`` by ``sources``, in their form; None where there is none.

        Inside the ``with`` block of another tape they are recorded, too.
        """
        if self.used and not self.persistent:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or "
                "jacobians): write tf.GradientTape(persistent=True)"
            )
        self.used = True
        ends, leaves = found_in(target, engine.Tensor), found_in(sources, engine.Tensor)
        slopes = derivatives(ends, leaves, retain_graph=True, create_graph=bool(TAPES))
        return mapped(sources, lambda source: _ours(slopes.get(source)))


def _ours(value: Any) -> Any:
    """A result of autokit's functions as a tensor of this face."""
    if type(value) is engine.Tensor:
        value.__class__ = Tensor
    return value


def constant(value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """A tensor with the numbers ``value``; one number fills ``shape``."""
    if isinstance(value, engine.Tensor):
        return value
    return _ours(from_numpy(converted(value, dtype, shape)))


def function(func: Any) -> Any:
    """``func`` as a static graph, one for each signature of its arguments."""
    step = compile(func)

    @wraps(func)
    def call(*args: Any) -> Any:
        given = [constant(each) if isinstance(each, np.ndarray) else each for each in args]
        return mapped(step(*given), _ours)

    vars(call).update(step=step)
    return call


# ---------------------------------------------------------------- TensorFlow 1's functions, on numbers


def _eager(define: Any) -> Any:
    """A function of TensorFlow 1's face on tensors that have numbers."""
    plain, operands, parameters = define.plain, define.operands, signature(define.plain)

    @wraps(plain)
    def apply(*args: Any, name: Any = None, **settings: Any) -> Any:
        given = parameters.bind(*args, **settings).arguments
        given |= lifted({each: given[each] for each in operands}, engine.Tensor, constant)
        with set_grad_enabled(bool(TAPES)):
            return _ours(plain(**given))

    return apply


def _eager_ones(module: Any) -> dict[str, Any]:
    """The functions of a module of TensorFlow 1's face, on numbers."""
    return {name: _eager(each) for name, each in vars(module).items() if hasattr(each, "plain")}


globals().update(_eager_ones(functions))
nn = SimpleNamespace(**_eager_ones(_layers))
bind_operators(Tensor, _eager)


def zeros(shape: Any, dtype: Any = np.float32) -> Any:
    """A tensor of zeros."""
    return constant(0, dtype, shape)


def ones(shape: Any, dtype: Any = np.float32) -> Any:
    """A tensor of ones."""
    return constant(1, dtype, shape)


random = SimpleNamespace(
    normal=_eager(values.random_normal), uniform=_eager(values.random_uniform), set_seed=manual_seed
)
float32, float64, int32, int64 = map(as_dtype, ("float32", "float64", "int32", "int64"))

__getattr__ = absent("tf", globals())
