"""A debugger of TensorFlow 1's sessions: a run stops before each node; a terminal or a widget lets it go on.

The run goes through the operations that the program defined, one after the other: in compiled code many of
them share memory and loops. A *filter* is a function that is true of a value that one looks for; the run
stops after the first node whose value passes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from autokit.base import doors
from autokit.static.errors import described
from autokit.static.graph import Node
from autokit.static.tf.graph import outlined
from autokit.static.tf.session import Program, Session

Filter = Callable[[Node, Any], bool]
"""Called with a node and its value."""


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """A filter: whether ``tensor``, the value of the node ``datum``, has an infinite number or NaN.

    Examples
    --------
    >>> has_inf_or_nan(None, np.array([1.0, np.inf]))
    True
    """
    return getattr(tensor, "dtype", np.dtype(bool)).kind == "f" and not bool(np.isfinite(tensor).all())


def row(node: Node) -> str:
    """A node in a line: its name, its call, and its form."""
    operands = ", ".join([each.label for each in node.operands()])
    form = "" if node.dtype is None else f" {node.dtype}{list(node.shape)}"
    return f"{node.label} = {node.name}({operands}){form}"


class Run:
    """A run of a session that stops before each node.

    Attributes
    ----------
    graph : Graph
        The operations to look at, those that are fed first, and ``nodes`` in the order of the run.
    names : dict
        The node of each name: that of a tensor, also without its ``:0``.
    values : dict
        The value of each node that has run.
    done : int
        How many nodes have run.
    results : list of Tensor
        What the run fetched, once it has ended.
    error : Exception or None
        What ended the run.
    """

    def __init__(self, session: LocalCLIDebugWrapperSession, program: Program, feeds: list[Any]) -> None:
        self.session, self.program, self.done = session, program, 0
        self.fed = [each.op for each in program.fed if each.op not in program.operations]
        self.graph = outlined([*self.fed, *program.operations])
        self.nodes = self.graph.nodes
        named = [(node.label.removesuffix(":0"), node) for node in self.nodes]
        self.names = {f"{name}{end}": node for name, node in named for end in ("", ":0")}
        self.values: dict[Node, Any] = {}
        self.results: list[Any] = []
        self.error: Exception | None = None
        self._steps = self._computed(feeds)

    def _computed(self, feeds: list[Any]) -> Iterator[Any]:
        """Compute operation by operation, and yield each node's value; at the end write the variables."""
        evaluation = self.program.begin(feeds)
        for operation in [*self.fed, *self.program.operations]:
            evaluation.run([operation] if operation not in self.fed else [])
            for end in operation.outputs or [operation]:
                yield getattr(evaluation.values.get(end), "array", None)
        self.results = self.program.end(evaluation)

    @property
    def next(self) -> Node | None:
        """The node before which the run stands; None where it has ended."""
        return None if self.error or self.done == len(self.nodes) else self.nodes[self.done]

    def where(self) -> str:
        """Where the run stands, in words."""
        if self.error is not None:
            return f"{type(self.error).__name__}: {self.error}"
        node = self.next
        return f"before {row(node)}\n  {described(node.line)}" if node else "the run has ended"

    def go(self, stops: Collection[Any] = (), passes: Filter | None = None) -> Node | None:
        """Run up to the next of ``stops``, or to the first node whose value passes a filter; return that.

        At the end of the run, the variables are written.
        """
        try:
            for value in self._steps:
                node = self.nodes[self.done]
                self.values[node] = value
                self.done += 1
                if passes is not None and passes(node, value):
                    return node
                if self.next in stops:
                    break
        except Exception as error:
            self.error = error
        return None

    def step(self) -> Node | None:
        """Run the next node, which is returned; None if it fails, and at the end."""
        return self.go(passes=lambda node, value: True)

    def finish(self) -> list[Any]:
        """Run what is left, keep what is watched; return what is fetched of tensors."""
        self.go()
        if self.error is not None:
            raise self.error
        for name in self.session.watched.keys() & self.names.keys():
            self.session.watched[name].append(np.array(self.values[self.names[name]]))
        return self.results


class LocalCLIDebugWrapperSession(Session):
    """A session whose runs stop before each node, and ask in the terminal how to go on.

    It shares the variables of ``session``. In a notebook, :meth:`debug` shows a run as a widget.

    Parameters
    ----------
    session : Session

    Attributes
    ----------
    filters : dict
    breakpoints : set of str
    watched : dict
        For each name that is watched its values, one of each run that computed it.

    Examples
    --------
    >>> import autokit.static as tf
    >>> sess = tf.debug.LocalCLIDebugWrapperSession(tf.Session())
    >>> sess.add_tensor_filter("is_large", lambda datum, tensor: abs(tensor).max() > 100)
    """

    def __init__(self, session: Session) -> None:
        vars(self).update(vars(session))
        self.filters: dict[str, Filter] = {"has_inf_or_nan": has_inf_or_nan}
        self.breakpoints: set[str] = set()
        self.watched: dict[str, list[Any]] = {}
        self.is_attached, self.awaited = True, ""

    def add_tensor_filter(self, name: str, tensor_filter: Filter) -> None:
        """Let ``run -f name`` stop after the first node for which ``tensor_filter(node, value)`` is true."""
        self.filters[name] = lambda node, value: isinstance(value, np.ndarray) and tensor_filter(node, value)

    def watch(self, *names: str) -> None:
        """Keep the values of these nodes in :attr:`watched`."""
        self.watched |= {name: self.watched.get(name, []) for name in names}

    def debug(self, fetches: Any = None, feed_dict: Any = None) -> Any:
        """A widget in which a run of ``fetches`` goes step by step; without them this session."""
        if fetches is None:
            return self
        return doors.debugger(Run(self, *self.prepare(fetches, feed_dict)))

    def execute(self, program: Program, feeds: list[np.ndarray]) -> list[Any]:
        """Run ``program`` as the terminal says."""
        run = Run(self, program, feeds)
        if self.is_attached:
            doors.terminal(run)
        return run.finish()
