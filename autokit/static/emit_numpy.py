"""Generated code that NumPy runs: a static graph as a function that a reader can follow, and a debugger.

Each call writes into memory that was planned (:mod:`autokit.static.memory`): its last operand, or ``out=``.
Views of that memory are made once, before the function. The text is known to :mod:`linecache` under a name of
its own, so ``pdb``, tracebacks and profilers show its lines.
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable
from itertools import count
from traceback import walk_tb
from typing import Any

import numpy as np

from autokit.static.calls import COPIES, is_ufunc
from autokit.static.errors import described
from autokit.static.graph import Graph, Node
from autokit.static.memory import OwnMemory, Plan, new_arena, runs_of
from autokit.static.spelling import Namespace, Text, names_for, part_of, suffix_of
from autokit.static.traced import astype, getitem, write

METHODS = {np.reshape, np.transpose, np.swapaxes, np.squeeze, np.dot}
"""Functions of NumPy that take longer to begin than the array's own method."""

BY_NAME = {np.maximum, np.minimum}
"""The elementwise functions that take the result's memory as ``out=`` alone; others begin sooner without."""

_serial = count(1)


class Program:
    """A static graph as a function of the arrays of its inputs.

    It may be called from several threads, and while it runs: each call that is under way has its own arena.

    Attributes
    ----------
    source : str
        The text of the module: the memory, and the function.
    plan : Plan
    nodes : dict
        For each line of the text the node that it computes.
    """

    def __init__(self, name: str, source: str, plan: Plan, nodes: dict[int, Node], given: Any) -> None:
        self.name, self.source, self.plan, self.nodes = name, source, plan, nodes
        self.file = f"<autokit.static {name} #{next(_serial)}>"
        self._given = given
        self._spare: list[Callable[..., Any]] = []
        self._code = compile(source, self.file, "exec")
        linecache.cache[self.file] = len(source), None, source.splitlines(True), self.file
        weakref.finalize(self, linecache.cache.pop, self.file, None)

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        try:
            run = self._spare.pop()
        except IndexError:
            run = self.new_function()
        try:
            return run(*inputs)
        except Exception as error:
            self._explain(error)
            raise
        finally:
            self._spare.append(run)

    def new_function(self) -> Callable[..., Any]:
        """The function, with memory of its own; a debugger steps through it."""
        module = {name: self.provided(value) for name, value in self._given.items()}
        # In autokit's modules NumPy warns of nothing.
        module["__name__"] = __name__
        exec(self._code, module)
        return module[self.name]

    def provided(self, value: Any) -> Any:
        """What one function is given for an object: new memory for a plan, and what keeps memory anew."""
        if isinstance(value, Plan):
            return new_arena(value)
        return value.new_function() if isinstance(value, OwnMemory) else value

    def _explain(self, error: Exception) -> None:
        """Add to an error the line of the learner's program from which the failing call comes."""
        for frame, number in walk_tb(error.__traceback__):
            node = self.nodes.get(number) if frame.f_code.co_filename == self.file else None
            if node is not None and node.line is not None:
                error.add_note(f"in {node.operation or node.name}, {described(node.line)}")


def build(graph: Graph, name: str = "step", program: type[Program] = Program) -> Any:
    """Make code of a graph, as a ``program`` of this class.

    Examples
    --------
    >>> from autokit.static.traced import Tape
    >>> tape = Tape()
    >>> x = tape.given("input", np.ones((2, 3), np.float32), "x")
    >>> tape.graph.outputs = [np.tanh(x).sum(0).node]
    >>> for node in tape.graph.nodes:
    ...     node.line = None
    >>> example = build(tape.graph, "example")
    >>> print(example.source.strip())
    def example(x):
        # forward
        tanh(x, tanh_2)
        add.reduce(tanh_2, axis=0, out=total)
        # what the run leaves
        outputs = (array(total),)
        return outputs
    <BLANKLINE>
    <BLANKLINE>
    # memory and views of it, from run to run
    tanh_2 = ndarray((2, 3), float32, arena, 0)
    total = ndarray((3,), float32, arena, 64)
    >>> example(np.zeros((2, 3), np.float32))
    (array([0., 0., 0.], dtype=float32),)
    """
    return _Writer(graph, name).written(program)


class _Writer:
    """The text of a program while it is written.

    Attributes
    ----------
    arrays : dict
        An array for each node whose memory is known before the run: views of it are made once.
    body, memory : list of str
        The lines in the function, and those after it, which run before it is called.
    """

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name, self.plan = graph, name, Plan(graph)
        own = {"arena": self.plan, "array": np.array, "copyto": np.copyto, "ndarray": np.ndarray}
        self.space = Namespace(own, {name, "dict", "outputs", "slice", "zip"})
        self.wishes = names_for(graph)
        self.arena = new_arena(self.plan)
        self.arrays: dict[Node, np.ndarray] = {}
        self.body: list[str] = []
        self.memory = ["", "", "# memory and views of it, from run to run"]
        self.lines: dict[int, Node] = {}
        self._said: tuple[Any, ...] = ()
        for node, place in reversed(self.plan.places.items()):
            is_result = node.operation and self.wishes[node].endswith(node.operation)
            if is_result and place.over is not None and part_of(place.over) == part_of(node):
                # What leaves an operation names the memory in which it lies.
                self.wishes[place.over] = self.wishes[node]
        # No value gets the name of a function.
        for node in graph.nodes:
            if node.kind in ("call", "view", "draw"):
                self._function(node.function)

    def written(self, program: type[Program]) -> Program:
        """Write down all nodes, the outputs, and the new values of states."""
        for run in runs_of(self.graph):
            if run[0].block:
                self._blocks(run)
            else:
                self._node(run[0])
        self._end()
        parameters = ", ".join([self.space.names[node] for node in self.graph.inputs])
        body = [f"    {line}" for line in self.body]
        source = "\n".join([f"def {self.name}({parameters}):", *body, *self.memory]) + "\n"
        return program(self.name, source, self.plan, self.lines, self.space.objects)

    # ------------------------------------------------------------ nodes

    def _node(self, node: Node) -> None:
        names, arguments = self.space.names, self.space.arguments
        if node.kind == "input":
            names[node] = self.space.fresh(self._wish(node))
        elif node.kind == "const" and node.shape == ():
            names[node] = self.space.number(node.value, node.dtype)
            self.arrays[node] = node.value
        elif node.kind in ("const", "state"):
            names[node] = self.space.given(self._wish(node), node.value)
            self.arrays[node] = node.value
            self.memory.append(f"# {names[node]}: {node.kind} {node.dtype}{list(node.shape)}")
        elif node.kind == "number":
            # Python computes it before each run.
            names[node] = self._once(f"ndarray((), {self.space.spelled(node.dtype)})", self._wish(node))
            compute = self.space.given(f"compute_{names[node]}", node.function)
            self._say(node, f"{names[node]}[()] = {compute}({arguments(node.args, node.settings)})")
        elif node.kind == "check":
            explain = self._function(node.function)
            self._say(node, f"if not {self.space.spelled(node.args[0])}:")
            self._say(node, f"    raise {explain}({arguments(node.args[1:], {})})")
        elif (target := self._target(node)) is not None:
            self._say(node, *self._into(node, target))
        else:
            self._result(node)

    def _target(self, node: Node) -> str | None:
        """The name of the memory that was planned for a node."""
        place, names = self.plan.places.get(node), self.space.names
        over = self.plan.in_states.get(node) or place and place.over
        if over:
            names[node], self.arrays[node] = names[over], self.arrays[over]
        elif place:
            shape = (node.block,) if node in self.plan.inner else node.shape
            self.arrays[node] = np.ndarray(shape, node.dtype, self.arena, place.offset)
            text = f"ndarray({shape}, {self.space.spelled(node.dtype)}, arena, {place.offset})"
            names[node] = self._once(text, self._wish(node))
        return names.get(node)

    def _result(self, node: Node) -> None:
        """What a call returns; a view of memory that is known is made once, before the function is called."""
        args, settings = node.args, node.settings
        base = self.arrays.get(args[0]) if node.kind == "view" else None
        text, wish = self._expression(node.function, args, settings), self._wish(node)
        array = None if base is None else node.function(base, *args[1:], **settings)  # type: ignore[misc]
        if array is not None and (np.may_share_memory(array, base) or not array.size):
            self.arrays[node] = array
            self.space.names[node] = self._once(text, wish)
        else:
            self.space.names[node] = self.space.fresh(wish)
            self._say(node, f"{self.space.names[node]} = {text}")

    def _end(self) -> None:
        """Copy the outputs, then write the new values of states that are not there yet, and return."""
        names, written = self.space.names, self.plan.in_states
        outputs = "".join([f"array({names[node]}), " for node in self.graph.outputs])
        late = [pair for pair in self.graph.updates.items() if written.get(pair[1]) is not pair[0]]
        new = [self.space.fresh(f"new_{names[state]}") for state, _ in late]
        self.body += ["# what the run leaves", f"outputs = ({outputs.strip()})"]
        self.body += [f"{name} = array({names[node]})" for name, (_, node) in zip(new, late)]
        self.body += [f"copyto({names[state]}, {name})" for name, (state, _) in zip(new, late)]
        self.body.append("return outputs")

    # ------------------------------------------------------------ text

    def _wish(self, node: Node) -> str:
        """The name that a node would like to have: a view's follows that of its operand."""
        return self.wishes[node] or f"{self.space.names[node.args[0]]}_{suffix_of(node)}"

    def _say(self, node: Node, *lines: str) -> None:
        """Append lines to the function, below a comment where they belong to another line or operation."""
        said = node.phase, node.line, node.operation, node.module
        if said[:2] != self._said[:2]:
            shown = f", line {node.line[1]}: {linecache.getline(*node.line).strip()}" if node.line else ""
            self.body.append(f"# {node.phase or 'forward'}{shown}")
        if said != self._said and node.operation:
            self.body.append(f"# · {node.operation}" + (f" in {node.module}" if node.module else ""))
        self._said = said
        for text in lines:
            self.body.append(text)
            self.lines[len(self.body) + 1] = node

    def _once(self, text: str, wish: str) -> str:
        """The name of what ``text`` gives, before the function is called."""
        name = self.space.fresh(wish)
        self.memory.append(f"{name} = {text}")
        return name

    def _expression(self, function: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> str:
        """A call, as a reader would write it: by the array's method or brackets where there are such."""
        spelled = self.space
        if args and isinstance(args[0], Node | Text):
            base, rest = spelled.spelled(args[0]), args[1:]
            if function is getitem:
                return f"{base}[{spelled.index(*rest)}]"
            if function is np.transpose and rest in ((), (None,)) and not settings:
                return f"{base}.T"
            name = getattr(function, "__name__", "")
            if function in METHODS or function is getattr(np.ndarray, name, None):
                return f"{base}.{name}({spelled.arguments(rest, settings)})"
        return f"{self._function(function)}({spelled.arguments(args, settings)})"

    def _function(self, function: Any) -> str:
        """The name of a function; reductions are methods of theirs."""
        ufunc, name = getattr(function, "__self__", None), getattr(function, "__name__", "function")
        if isinstance(ufunc, np.ufunc):
            return f"{self.space.given(ufunc.__name__, ufunc)}.{name}"
        return self.space.given(name, function)

    # ------------------------------------------------------------ calls into memory that is there

    def _into(self, node: Node, target: str) -> list[str]:
        """The lines that compute ``node`` into the array of this name."""
        if node.function in COPIES:
            return self._copied(node, target)
        args, settings, function = node.args, node.settings, node.function
        if is_ufunc(node) and not settings:
            args = self._operands(node)
            if function not in BY_NAME:
                return [self._expression(function, (*args, Text(target)), {})]
        settings = {name: value for name, value in settings.items() if value is not False}
        return [self._expression(function, args, {**settings, "out": Text(target)})]

    def _operands(self, node: Node) -> tuple[Any, ...]:
        """The operands of an elementwise call, where numbers get the dtype in which NumPy computes."""
        kinds, number = [getattr(each, "dtype", type(each)) for each in node.args], self.space.number
        try:
            pairs = zip(node.args, node.function.resolve_dtypes((*kinds, None)))  # type: ignore[union-attr]
            return tuple([one if isinstance(one, Node) else Text(number(one, dtype)) for one, dtype in pairs])
        except (TypeError, OverflowError):
            return node.args

    def _copied(self, node: Node, target: str) -> list[str]:
        """The lines that copy the first operand to ``target``, if it is not there, and write over a part."""
        lines, first = list[str](), self.space.spelled(node.args[0])
        if first != target:
            casting = ", casting='unsafe'" if node.function is astype else ""
            lines.append(f"copyto({target}, {first}{casting})")
        if node.function is write:
            lines.append(f"copyto({self._part(node, target)}, {self.space.spelled(node.args[2])})")
        return lines

    def _part(self, node: Node, target: str) -> str:
        """The name of the view into which a part of ``target`` is written."""
        text, array = Text(target), self.arrays[node]
        for _, function, args, settings in node.args[1]:
            text = Text(self._expression(function, (text, *args), settings))
            array = function(array, *args, **settings)
        assert np.may_share_memory(array, self.arrays[node]) or not array.size, "a write into a copy"
        return self._once(text, f"{target}_part")

    # ------------------------------------------------------------ blocks

    def _blocks(self, run: list[Node]) -> None:
        """A loop in which elementwise calls take some thousand elements at a time."""
        for node in run:
            self._target(node)
        names, rows = self.space.names, (run[0].value.size // run[0].block, run[0].block)
        read = dict.fromkeys([*[operand for node in run for operand in node.operands()], *run])
        whole = [node for node in read if node.shape and node not in self.plan.inner]
        blocks = {node: self.space.fresh(f"{names[node]}_block") for node in whole}
        for node, block in blocks.items():
            self._say(run[0], f"{block}s = {names[node]}.reshape({rows})")
        together = ", ".join([f"{block}s" for block in blocks.values()])
        self._say(run[0], f"for {', '.join(blocks.values())} in zip({together}):")
        self.space.names = names | blocks
        for node in run:
            self._say(node, *[f"    {line}" for line in self._into(node, self.space.names[node])])
        self.space.names = names
