"""A session runs a graph of TensorFlow 1's: it keeps the values of variables and computes what is fetched.

The first runs of a program compute its operations eagerly, one after the other. Then it is compiled, as any
function of tensors can be. Variables are fetched after all operations have run; TensorFlow leaves that order
open.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import getrandbits
from types import SimpleNamespace
from typing import Any

import numpy as np

from autokit.base.generator import Generator
from autokit.engine.modes import set_grad_enabled
from autokit.engine.tensor import Tensor as Value
from autokit.engine.tensor import new_tensor
from autokit.static.errors import StaticError, described
from autokit.static.graph import mapped
from autokit.static.step import Step
from autokit.static.tf.graph import DEFAULT, Evaluation, Operation, Tensor, changed, learning, needed

__all__ = ["ConfigProto", "InteractiveSession", "Session"]

EAGER_RUNS = 3
"""So often the operations of a program run eagerly before they become a static graph."""

IN_PYTHON = {"Print", "PrintV2", "PyFunc", "cond", "while"}
"""Types of operations that do in Python what no static graph does."""


class Program:
    """What a session runs for one combination of fetches and sizes.

    Attributes
    ----------
    operations : list of Operation
        What it computes, in this order.
    step : Step or None
        The program as a static graph of NumPy's calls.
    """

    def __init__(self, session: Session, fetches: list[Any], fed: list[Tensor]) -> None:
        self.session, self.fetches, self.fed, self.runs = session, fetches, fed, 0
        self.fetched = [each for each in fetches if isinstance(each, Tensor)]
        self.operations = needed(fetches, fed)
        self.step: Step | None = None
        if not any([each.type in IN_PYTHON for each in self.operations]):
            self.step = Step(self.eagerly, passes=None if session.compiled else [])

    def begin(self, feeds: Sequence[np.ndarray]) -> Evaluation:
        """What is to evaluate the operations."""
        fed = zip(self.fed, map(learning, map(new_tensor, feeds)))
        return Evaluation({**self.session.variables, **dict(fed)}, self.session)

    def eagerly(self, *feeds: np.ndarray) -> list[Value]:
        """Run it operation by operation."""
        evaluation = self.begin(feeds)
        evaluation.run(self.operations)
        return self.end(evaluation)

    def end(self, evaluation: Evaluation) -> list[Value]:
        """Write the variables; return what is fetched of tensors, which sees nothing of that."""
        results = [evaluation.value_of(each).clone().detach() for each in self.fetched]
        for variable in evaluation.earlier:
            self.session.load(variable, evaluation.values[variable])
        return results

    def run(self, feeds: Sequence[np.ndarray]) -> list[Value]:
        """Run it: after some runs as a static graph, if it can be one."""
        self.runs += 1
        if self.step is not None and self.runs > EAGER_RUNS:
            try:
                return self.step(*feeds)
            except StaticError:  # it needs numbers, as for a shape that is computed
                self.step = None
            except Exception:
                self.begin(feeds).run(self.operations)  # which says what operation fails
                raise
        return self.eagerly(*feeds)


class Session:
    """Runs a graph.

    Parameters
    ----------
    graph : Graph, optional
        By default the default graph.
    compiled : bool
        Let passes make what runs often faster; else NumPy's calls run as they were traced.

    Attributes
    ----------
    variables : dict
        The values of those variables that have one, as autokit's tensors.

    Examples
    --------
    >>> import autokit.static as tf
    >>> x = tf.placeholder(tf.float32, [None], name="x")
    >>> with tf.Session() as sess:
    ...     print(sess.run(x * 2, feed_dict={x: [1, 2, 3]}))
    [2. 4. 6.]
    """

    def __init__(self, target: Any = "", graph: Any = None, config: Any = None, compiled: Any = True) -> None:
        self.graph, self.compiled = graph or DEFAULT.graph, compiled
        self.variables: dict[Tensor, Value] = {}
        self.generators: dict[Operation, Any] = {}
        self.programs: dict[Any, Program] = {}
        self.accepted: set[Any] = set()  # what was fed before: tensors, with shapes and dtypes of arrays

    def generator_of(self, operation: Operation) -> Any:
        """The generator from which ``operation`` draws: with a seed, the same numbers in each session."""
        if operation not in self.generators:
            seed, every = operation.settings.get("seed"), self.graph.seed
            if seed is None:
                seed = getrandbits(32) if every is None else operation.place
            self.generators[operation] = Generator().manual_seed((every or 0) * 1009 + seed)
        return self.generators[operation]

    # ------------------------------------------------------------ running

    def load(self, variable: Tensor, value: Any) -> None:
        """Give ``variable`` the value of a tensor of autokit's."""
        tensor = self.variables.get(variable)
        if tensor is None:
            tensor = learning(new_tensor(np.zeros_like(variable.example.array)))
            tensor.name = variable.op.name
        with set_grad_enabled(False):
            self.variables[variable] = tensor.copy_(value)

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """Run what ``fetches`` need: tensors, operations, their names, or lists and dicts of these.

        Parameters
        ----------
        fetches
            What to compute. The result has the same form; an operation gives None.
        feed_dict : dict, optional
            Values of tensors, most often of placeholders, by the tensor or by its name.

        Raises
        ------
        InvalidArgumentError
            If a placeholder is not fed, or an operation fails.
        FailedPreconditionError
            If a variable has no value yet.
        ValueError
            If a value has another shape than the tensor that it is fed to.
        """
        program, feeds = self.prepare(fetches, feed_dict)
        results = iter(self.execute(program, feeds))
        fetched = [next(results).array[()] if isinstance(each, Tensor) else None for each in program.fetches]
        values = iter(fetched)
        return mapped(fetches, lambda _: next(values))

    def prepare(self, fetches: Any, feed_dict: Any) -> tuple[Program, list[np.ndarray]]:
        """The program for these fetches and sizes, and the arrays to feed."""
        wanted: list[Any] = []
        mapped(fetches, lambda each: wanted.append(self._element(each)))
        fed = dict([self._fed(name, value) for name, value in (feed_dict or {}).items()])
        key = (*wanted, *[(tensor, array.shape) for tensor, array in fed.items()])
        program = self.programs.get(key)
        if program is None:
            program = self.programs[key] = Program(self, wanted, list(fed))
        return program, list(fed.values())

    def execute(self, program: Program, feeds: list[np.ndarray]) -> list[Value]:
        """Run ``program``; return what is fetched of tensors. A debugger does it in its own way."""
        return program.run(feeds)

    def debug(self, fetches: Any = None, feed_dict: Any = None) -> Any:
        """This session under a debugger; with ``fetches`` a widget in which a run of them goes by steps."""
        from autokit.static.debugger import LocalCLIDebugWrapperSession

        return LocalCLIDebugWrapperSession(self).debug(fetches, feed_dict)

    def _element(self, fetch: Any) -> Any:
        """The tensor or operation that ``fetch`` is, or whose name it is."""
        if isinstance(fetch, str):
            return self.graph.named_element(fetch)
        if isinstance(fetch, Tensor | Operation) and fetch.graph is self.graph:
            return fetch
        raise TypeError(
            f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor of this "
            "graph. A program that writes loss = session.run(loss) has lost its tensor: use another name."
        )

    def _fed(self, name: Any, value: Any) -> tuple[Tensor, np.ndarray]:
        """The tensor of this name, and ``value`` as an array that fits it."""
        if type(value) is np.ndarray and (name, value.shape, value.dtype) in self.accepted:
            return name, value
        tensor = self._element(name)
        if not isinstance(tensor, Tensor) or isinstance(value, Tensor):
            raise TypeError(
                f"The value of a feed cannot be a tf.Tensor object, and the key has to be one: {name!r}, "
                f"{value!r}. An operation has a name such as x, and its tensor one such as x:0."
            )
        given, dtype = np.asarray(value), tensor.dtype.numpy
        if given.dtype.kind == "f" and dtype.kind in "iu":
            words = f"takes integers, and is fed {given.dtype.name}: write .astype({dtype.name!r})"
            raise TypeError(f"{tensor!r} {words}")
        if not tensor.shape.accepts(given.shape):
            raise ValueError(
                f"Cannot feed value of shape {given.shape} for Tensor '{tensor.name}', which has shape "
                f"'{tensor.shape}'\n  it was defined at {described(tensor.op.line)}"
            )
        self.accepted.add((tensor, given.shape, dtype))
        return tensor, given.astype(dtype, copy=False)

    # ------------------------------------------------------------ as a default

    def as_default(self) -> Any:
        """A ``with`` block in which ``.run()`` and ``.eval()`` use this session."""
        return changed(DEFAULT, session=self)

    def __enter__(self) -> Session:
        self.block = changed(DEFAULT, session=self, graph=self.graph)
        self.block.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.block.__exit__(*error)

    def close(self) -> None:
        """No longer be the default."""
        if DEFAULT.session is self:
            DEFAULT.session = None


class InteractiveSession(Session):
    """A session that is the default one as soon as it exists."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        DEFAULT.session = self


class ConfigProto(SimpleNamespace):
    """Settings of a session: they are taken, and have no effect."""

    gpu_options = SimpleNamespace()
