"""A debugger of TensorFlow 1's sessions: a run stops before each node.

The run goes node by node through the graph as the program defined it, before any pass: in compiled code many
nodes share memory and loops. A *filter* is a function that is true of a value that one looks for; the run
stops after the first node whose value passes it.
"""

from __future__ import annotations

import cmd
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from autokit.static.errors import described
from autokit.static.graph import Node
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


def name_of(node: Node) -> str:
    """The name of the tensor that ``node`` computes, or its number, as ``%3``."""
    return node.label or f"%{node.id}"


def is_called(node: Node, name: str) -> bool:
    """Whether ``name`` is that of the tensor, also without its ``:0``, or the node's number, as ``%3``."""
    return name in (node.label, node.label.removesuffix(":0"), f"%{node.id}")


class Run:
    """A run of a session that stops before each node.

    Attributes
    ----------
    nodes : list of Node
        In the order of the run.
    values : dict
        The value of each node that has one by now.
    done : int
        How many nodes have run.
    error : Exception or None
        What ended the run.
    """

    def __init__(self, program: Program, feeds: list[np.ndarray]) -> None:
        self.program, self.nodes = program, program.graph.nodes
        self.values: dict[Node, Any] = {}
        self.done = 0
        self.error: Exception | None = None
        self._steps = program.steps(feeds, self.values)

    @property
    def next(self) -> Node | None:
        """The node before which the run stands; None where it has ended."""
        ended = self.error is not None or self.done == len(self.nodes)
        return None if ended else self.nodes[self.done]

    def step(self) -> Node | None:
        """Run the next node, which is returned; None if it fails."""
        try:
            node, _ = next(self._steps)
        except Exception as error:
            self.error = error
            return None
        self.done += 1
        return node

    def go(self, stops: Collection[Node] = (), passes: Filter | None = None) -> Node | None:
        """Run up to the next of ``stops``, or to the first node whose value passes a filter; return that."""
        while self.next is not None:
            node = self.step()
            if node is not None and passes is not None and passes(node, self.values[node]):
                return node
            if self.next in stops:
                break
        return None

    def finish(self) -> list[Any]:
        """Run what is left, and write the variables; return what is fetched of tensors."""
        self.go()
        if self.error is not None:
            raise self.error
        list(self._steps)  # writes the variables
        return self.program.results

    def named(self, name: str) -> Node:
        """The node that ``name`` stands for."""
        found = [node for node in self.nodes if is_called(node, name)]
        if not found:
            raise LookupError(f"this run has no node {name!r}: lt lists those that have run")
        return found[0]


class LocalCLIDebugWrapperSession(Session):
    """A session whose runs stop before each node, and ask in the terminal how to go on.

    It shares the variables of ``session``.

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
        self.filters[name] = tensor_filter

    def watch(self, *names: str) -> None:
        """Keep the values of these nodes in :attr:`watched`."""
        self.watched.update({name: [] for name in names if name not in self.watched})

    def execute(self, program: Program, feeds: list[np.ndarray]) -> list[Any]:
        """Run ``program`` as the terminal says."""
        run = Run(program, feeds)
        if self.is_attached:
            terminal = Terminal(self, run)
            if not self.awaited or terminal.seek(self.awaited):
                terminal.cmdloop()
        results = run.finish()
        for name, values in self.watched.items():
            values += [np.array(run.values[node]) for node in run.nodes if is_called(node, name)]
        return results


class Terminal(cmd.Cmd):
    """The commands of the debugger, on one run."""

    prompt = "tfdbg> "

    def __init__(self, session: LocalCLIDebugWrapperSession, run: Run) -> None:
        super().__init__()
        self.session, self.run = session, run

    def preloop(self) -> None:
        """Say where the run stands."""
        if not self.run.done:
            print(f"a run of {len(self.run.nodes)} nodes, as the program defined them, before any pass")
        self._where()

    def onecmd(self, line: str) -> bool:
        """Do what ``line`` says; a name that is not there is said."""
        try:
            return super().onecmd(line)
        except LookupError as error:
            print(error.args[0])
            return False

    # ------------------------------------------------------------ going on

    def do_run(self, words: str) -> bool:
        """run: to the next breakpoint or the end; at the end, to the next session.run.

        run -f NAME: after the first node whose value passes the filter, in this run or a later one.
        """
        if words:
            return not self.seek(words.removeprefix("-f").strip())
        return self.run.next is None or self.do_cont("")

    def do_s(self, words: str) -> None:
        """s: run the next node."""
        node = self.run.step() if self.run.next else None
        if node is not None:
            self._show(node)
        self._where()

    def do_cont(self, words: str) -> bool:
        """cont [NODE]: up to this node, or the next breakpoint."""
        names = [name_of(self.run.named(each)) for each in words.split()] + [*self.session.breakpoints]
        self.run.go([node for node in self.run.nodes if any(is_called(node, name) for name in names)])
        self._where()
        return False

    def do_exit(self, words: str) -> bool:
        """exit: this run and all others go on without the debugger."""
        self.session.is_attached = False
        return True

    do_EOF = do_exit

    def do_break(self, words: str) -> None:
        """break NODE: stop before this node in each run. break: show all breakpoints."""
        for name in words.split():
            self.run.named(name)
            self.session.breakpoints.add(name)
        print("breakpoints:", ", ".join(sorted(self.session.breakpoints)) or "none")

    def do_watch(self, words: str) -> None:
        """watch NODE: keep its value in each run. watch: show what was kept."""
        self.session.watch(*[name for name in words.split() if self.run.named(name)])
        for name, values in self.session.watched.items():
            print(f"{name}: {', '.join(map(str, values)) or 'nothing yet'}")

    # ------------------------------------------------------------ looking

    def do_lt(self, words: str) -> None:
        """lt: list the nodes that have run."""
        for node in self.run.nodes[: self.run.done]:
            print(_row(node))

    def do_pt(self, words: str) -> None:
        """pt NODE: print its value."""
        self._show(self.run.named(words))

    def do_ni(self, words: str) -> None:
        """ni NODE: what it computes of what, who reads it, and the program's line."""
        node = self.run.named(words)
        print(f"{_row(node)}\n  defined at {described(node.line)}")
        self.do_li(words)
        self.do_lo(words)

    def do_li(self, words: str) -> None:
        """li NODE: list its inputs."""
        for operand in self.run.named(words).operands():
            print(f"  reads {_row(operand)}")

    def do_lo(self, words: str) -> None:
        """lo NODE: list the nodes that read it."""
        for user in self.run.program.graph.users()[self.run.named(words)]:
            print(f"  is read by {_row(user)}")

    # ------------------------------------------------------------ how

    def seek(self, name: str) -> bool:
        """Run to the first node whose value passes the filter ``name``; whether there is one, or an error."""
        if name not in self.session.filters:
            raise LookupError(f"there is no filter {name!r}: there are {', '.join(self.session.filters)}")
        node = self.run.go(passes=self.session.filters[name])
        self.session.awaited = name if node is None and self.run.error is None else ""
        if node is not None:
            print(f"{name} is true of {name_of(node)}, defined at {described(node.line)}")
            self._show(node)
            for operand in node.operands():
                self._show(operand, "reads ")
        return not self.session.awaited

    def _where(self) -> None:
        node, error = self.run.next, self.run.error
        words = f"{type(error).__name__}: {error}" if error else "the run has ended: run goes on to the next"
        print(words if node is None else f"before {_row(node)}\n  {described(node.line)}")

    def _show(self, node: Node, word: str = "") -> None:
        if node not in self.run.values:
            raise LookupError(f"{name_of(node)} has not run yet")
        print(f"{word}{_row(node)}\n{self.run.values[node]}")


def _row(node: Node) -> str:
    """A node in a line: its name, its call, and its form."""
    form = "" if node.dtype is None else f" {node.dtype}{list(node.shape)}"
    call = f" = {node.name}({', '.join(map(name_of, node.operands()))})"
    return name_of(node) + (f": {node.kind}" if node.kind in ("input", "state", "const") else call) + form
