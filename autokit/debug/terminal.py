"""The debugger of TensorFlow 1's sessions in a terminal: commands that let a run go on, and look into it."""

from __future__ import annotations

import cmd

from autokit.static.debugger import Run, row
from autokit.static.errors import described
from autokit.static.graph import Node


def ask(run: Run) -> None:
    """Ask in the terminal how ``run`` is to go on, unless a filter is awaited that nothing passes."""
    terminal = Terminal(run)
    if not run.session.awaited or terminal.seek(run.session.awaited):
        terminal.cmdloop(f"a run of {len(run.nodes)} nodes\n{run.where()}")


class Terminal(cmd.Cmd):
    """The commands of the debugger, on one run."""

    prompt = "tfdbg> "

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

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
        node = self.run.step()
        if node is not None:
            self._show(node)
        print(self.run.where())

    def do_cont(self, words: str) -> bool:
        """cont [NODE]: up to this node, or the next breakpoint."""
        stops = [self._named(name) for name in words.split()]
        self.run.go([*stops, *map(self.run.names.get, self.run.session.breakpoints)])
        print(self.run.where())
        return False

    def do_exit(self, words: str) -> bool:
        """exit: this run and all others go on without the debugger."""
        self.run.session.is_attached = False
        return True

    do_EOF = do_exit

    def do_break(self, words: str) -> None:
        """break NODE: stop before this node in each run. break: show all breakpoints."""
        self.run.session.breakpoints.update([name for name in words.split() if self._named(name)])
        print("breakpoints:", ", ".join(sorted(self.run.session.breakpoints)) or "none")

    def do_watch(self, words: str) -> None:
        """watch NODE: keep its value in each run. watch: show what was kept."""
        self.run.session.watch(*[name for name in words.split() if self._named(name)])
        for name, values in self.run.session.watched.items():
            print(f"{name}: {', '.join(map(str, values)) or 'nothing yet'}")

    # ------------------------------------------------------------ looking

    def do_lt(self, words: str) -> None:
        """lt: list the nodes that have run."""
        print(*map(row, self.run.nodes[: self.run.done]), sep="\n")

    def do_pt(self, words: str) -> None:
        """pt NODE: print its value."""
        self._show(self._named(words))

    def do_ni(self, words: str) -> None:
        """ni NODE, also li, lo: what it computes of what, its line, what it reads, and who reads it."""
        node = self._named(words)
        lines = [row(node), f"  defined at {described(node.line)}"]
        lines += [f"  reads {row(each)}" for each in node.operands()]
        lines += [f"  is read by {row(each)}" for each in self.run.graph.users()[node]]
        print(*lines, sep="\n")

    do_li = do_lo = do_ni

    # ------------------------------------------------------------ how

    def seek(self, name: str) -> bool:
        """Run to the first node whose value passes the filter ``name``; whether there is one, or an error."""
        if name not in self.run.session.filters:
            raise LookupError(f"there is no filter {name!r}: there are {', '.join(self.run.session.filters)}")
        node = self.run.go(passes=self.run.session.filters[name])
        self.run.session.awaited = name if node is None and self.run.error is None else ""
        if node is not None:
            print(f"{name} is true of {node.label}, defined at {described(node.line)}")
            for each in [node, *node.operands()]:
                self._show(each)
        return not self.run.session.awaited

    def _show(self, node: Node) -> None:
        print(f"{row(node)}\n{self.run.values.get(node, 'has not run yet')}")

    def _named(self, name: str) -> Node:
        """The node that ``name`` stands for."""
        if name not in self.run.names:
            raise LookupError(f"this run has no node {name!r}: lt lists those that have run")
        return self.run.names[name]
