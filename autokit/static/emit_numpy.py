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

from autokit.static.calls import is_ufunc
from autokit.static.graph import Graph, Node, mapped
from autokit.static.memory import OwnMemory, Plan, new_arena, runs_of
from autokit.static.naming import SUFFIXES, WORDS, names_for, operation_of
from autokit.static.spelling import Namespace, Text
from autokit.static.traced import astype, getitem, put, put_flat, write

METHODS = {np.reshape: "reshape", np.transpose: "transpose", np.swapaxes: "swapaxes", np.squeeze: "squeeze"}
"""Functions of NumPy that take longer to begin than the array's own method."""

BY_PLACE = {np.dot, np.matmul}
"""Beside elementwise functions, those with the result's memory as their last operand: ``out=`` is slower."""

BY_NAME = {np.maximum, np.minimum}
"""The elementwise functions that take it as ``out=`` alone."""

LOCAL = ("arena", "array", "copyto", "ndarray", "outputs", "start")
"""Names that the code uses itself."""

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

    def __init__(
        self, name: str, source: str, plan: Plan, nodes: dict[int, Node], given: dict[str, Any]
    ) -> None:
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
        given = {name: _with_own_memory(value) for name, value in self._given.items()}
        module = {**given, "arena": new_arena(self.plan)}
        exec(self._code, module)
        return module[self.name]

    def _explain(self, error: Exception) -> None:
        """Add to an error the line of the learner's program from which the failing call comes."""
        for frame, number in walk_tb(error.__traceback__):
            node = self.nodes.get(number) if frame.f_code.co_filename == self.file else None
            if node is not None and node.line is not None:
                file, line = node.line
                text = linecache.getline(file, line).strip()
                error.add_note(f"in {node.operation or node.name}, {file}, line {line}: {text}")


def _with_own_memory(value: Any) -> Any:
    return value.new_function() if isinstance(value, OwnMemory) else value


def build(graph: Graph, name: str = "step") -> Program:
    """Make code of a graph.

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
    tanh_2 = ndarray((2, 3), float32, arena, 0)
    total = ndarray((3,), float32, arena, 64)
    <BLANKLINE>
    <BLANKLINE>
    def example(x):
        # forward
        tanh(x, tanh_2)
        add.reduce(tanh_2, axis=0, out=total)
        return (array(total),)
    >>> example(np.zeros((2, 3), np.float32))
    (array([0., 0., 0.], dtype=float32),)
    """
    return _Writer(graph, name).program()


class _Writer:
    """The text of a program while it is written.

    Attributes
    ----------
    arrays : dict
        An array for each node whose memory is known before the run: views of it are made once.
    given, before, body : list of str
        What the code is given, as comments; the lines before the function, and in it.
    """

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name, self.plan = graph, name, Plan(graph)
        self.space = Namespace({name, *LOCAL, *_functions(graph)})
        self.space.objects |= {"array": np.array, "copyto": np.copyto, "ndarray": np.ndarray}
        self.wishes = names_for(graph)
        for node in reversed(graph.nodes):
            is_word = self.wishes[node] in WORDS.values()
            if node.phase != "update" and self._keeps_name(node) and not is_word:
                self.wishes[self.plan.places[node].over] = self.wishes[node]  # type: ignore[index]
        self.arena = new_arena(self.plan)
        self.arrays: dict[Node, np.ndarray] = {}
        self.given: list[str] = []
        self.before: list[str] = []
        self.body: list[str] = []
        self.lines: dict[int, Node] = {}
        self._said: tuple[Any, ...] = ()

    def program(self) -> Program:
        """Write down all nodes, the outputs, and the new values of states."""
        for run in runs_of(self.graph):
            if run[0].block:
                self._blocks(run)
            else:
                self._node(run[0])
        self._end()
        parameters = ", ".join([self.space.names[node] for node in self.graph.inputs])
        head = [*self.given, *self.before, "", "", f"def {self.name}({parameters}):"]
        source = "\n".join([*head, *[f"    {line}" for line in self.body]]) + "\n"
        lines = {number + len(head): node for number, node in self.lines.items()}
        return Program(self.name, source, self.plan, lines, self.space.objects)

    # ------------------------------------------------------------ nodes

    def _node(self, node: Node) -> None:
        if node.kind == "input":
            self.space.names[node] = self.space.fresh(self.wishes[node])
        elif node.kind == "const" and node.shape == ():
            self.space.names[node] = self.space.number(node.value, node.dtype)
            self.arrays[node] = node.value
        elif node.kind in ("const", "state"):
            name = self.space.names[node] = self.space.fresh(self.wishes[node])
            self.space.objects[name] = self.arrays[node] = node.value
            self.given.append(f"# {name}: {node.kind} {node.dtype}{list(node.shape)}")
        elif node.kind == "number":
            self._number(node)
        elif node.kind == "view":
            self._view(node)
        elif node.kind == "check":
            explain = self.space.given(getattr(node.function, "__name__", "explain"), node.function)
            self._say(node, f"if not {self.space.spelled(node.args[0])}:")
            self._say(node, f"    raise {explain}({self.space.arguments(node.args[1:], {})})")
        else:
            self._call(node)

    def _number(self, node: Node) -> None:
        """A number that Python computes before each run."""
        dtype = self.space.spelled(np.asarray(node.value).dtype)
        name = self.space.names[node] = self._once(f"ndarray((), {dtype})", self.wishes[node])
        compute = self.space.given(f"compute_{name}", node.function)
        self._say(node, f"{name}[()] = {compute}({self.space.arguments(node.args, node.settings)})")

    def _view(self, node: Node) -> None:
        """A view of memory that is known is made once, before the function; others in each run."""
        text = self._expression(node.name, node.function, node.args, node.settings)
        base = self.arrays.get(node.args[0])
        array = None if base is None else node.function(base, *node.args[1:], **node.settings)  # type: ignore[misc]
        if array is not None and (np.may_share_memory(array, base) or not array.size):
            self.arrays[node] = array
            self.space.names[node] = self._once(text, self._wish(node))
        else:
            name = self.space.names[node] = self.space.fresh(self._wish(node))
            self._say(node, f"{name} = {text}")

    def _call(self, node: Node) -> None:
        """A call whose result goes to memory that was planned for it, or to where NumPy finds some."""
        target = self._target(node)
        if target is not None:
            for line in self._into(node, target):
                self._say(node, line)
            return
        args, settings = node.args, node.settings
        if node.kind == "effect":
            args, settings = mapped((args, settings), self._copied)
        name = self.space.names[node] = self.space.fresh(self.wishes[node])
        self._say(node, f"{name} = {self._expression(node.name, node.function, args, settings)}")

    def _copied(self, operand: Any) -> Any:
        """An operand that an effect may keep: its memory is used again."""
        is_array = isinstance(operand, Node) and isinstance(operand.value, np.ndarray)
        return Text(f"array({self.space.names[operand]})") if is_array else operand

    def _target(self, node: Node) -> str | None:
        """The name of the memory that was planned for a node."""
        state, place = self.plan.in_states.get(node), self.plan.places.get(node)
        if state is not None:
            self.arrays[node] = self.arrays[state]
            self.space.names[node] = self.space.names[state]
        elif place is not None:
            shape = (node.block,) if node in self.plan.inner else node.shape
            self.arrays[node] = np.ndarray(shape, node.dtype, self.arena, place.offset)
            text = f"ndarray({shape}, {self.space.spelled(node.dtype)}, arena, {place.offset})"
            if place.over is None:
                self.space.names[node] = self._once(text, self.wishes[node])
            elif self._keeps_name(node):
                self.space.names[node] = self.space.names[place.over]
            else:
                self.space.names[node] = self._once(self.space.names[place.over], self.wishes[node])
        return self.space.names.get(node)

    def _end(self) -> None:
        """Copy the outputs, then write the new values of states that are not there yet, and return."""
        names, plan = self.space.names, self.plan
        copies = ", ".join([f"array({names[node]})" for node in self.graph.outputs])
        outputs = f"({copies},)" if copies else "()"
        late = [pair for pair in self.graph.updates.items() if plan.in_states.get(pair[1]) is not pair[0]]
        if late:
            self.body += ["# the outputs, and the new values of states", f"outputs = {outputs}"]
            outputs = "outputs"
        written = []
        for state, node in late:
            name = names[node]
            if any(owner.kind == "state" for owner in plan.owners[node]):  # which may be written before
                name = self.space.fresh(f"new_{names[state]}")
                self.body.append(f"{name} = array({names[node]})")
            written.append(f"copyto({names[state]}, {name})")
        self.body += [*written, f"return {outputs}"]

    # ------------------------------------------------------------ text

    def _wish(self, node: Node) -> str:
        """The name that a node would like to have: that of the last value which is written over its own."""
        if node.kind == "view" and (suffix := self.wishes[node]) in SUFFIXES:
            return f"{self.space.names[node.args[0]].removesuffix('_view')}_{suffix}"
        return self.wishes[node]

    def _keeps_name(self, node: Node) -> bool:
        """Whether a value that is written over an operand goes by its name: as part of the same operation."""
        over = self.plan.places[node].over if node in self.plan.places else None
        return over is not None and (node.phase == "update" or operation_of(node) == operation_of(over))

    def _say(self, node: Node, text: str) -> None:
        """Append a line to the function, below a comment where it belongs to another line or operation."""
        line = node.phase, node.line
        if line != self._said[:2]:
            shown = f", line {node.line[1]}: {linecache.getline(*node.line).strip()}" if node.line else ""
            self.body.append(f"# {node.phase or 'forward'}{shown}")
        if (*line, node.operation, node.module) != self._said and node.operation:
            self.body.append(f"# · {node.operation}" + (f" in {node.module}" if node.module else ""))
        self._said = (*line, node.operation, node.module)
        self.lines[len(self.body) + 1] = node
        self.body.append(text)

    def _once(self, text: str, wish: str) -> str:
        """The name of what ``text`` gives, before the function."""
        name = self.space.fresh(wish)
        self.before.append(f"{name} = {text}")
        return name

    def _expression(self, name: str, function: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> str:
        """A call, as a reader would write it: by the array's method or brackets where there are such."""
        spelled = self.space
        if args and isinstance(args[0], Node | Text):
            base, rest = spelled.spelled(args[0]), args[1:]
            if function is getitem:
                return f"{base}[{spelled.index(*rest)}]"
            if function is np.transpose and rest in ((), (None,)) and not settings:
                return f"{base}.T"
            if function in METHODS or function is getattr(np.ndarray, name, None):
                return f"{base}.{METHODS.get(function, name)}({spelled.arguments(rest, settings)})"
        return f"{self._function(name, function)}({spelled.arguments(args, settings)})"

    def _function(self, name: str, function: Any) -> str:
        """The name of a function; reductions are methods of theirs."""
        ufunc = getattr(function, "__self__", None)
        if isinstance(ufunc, np.ufunc):
            return f"{self.space.given(ufunc.__name__, ufunc)}.{function.__name__}"
        return self.space.given(getattr(function, "__name__", name), function)

    # ------------------------------------------------------------ calls into memory that is there

    def _into(self, node: Node, target: str) -> list[str]:
        """The lines that compute ``node`` into the array of this name."""
        args, settings, spelled = self._operands(node), node.settings, self.space.spelled
        if node.function is np.copy:
            return [f"copyto({target}, {spelled(args[0])})"]
        if node.function is astype:
            return [f"copyto({target}, {spelled(args[0])}, casting='unsafe')"]
        if node.function in (np.where, write, put, put_flat):
            before = spelled(args[2 if node.function is np.where else 0])
            first = [] if before == target else [f"copyto({target}, {before})"]
            return [*first, self._assignment(node, target, args)]
        if node.function in BY_PLACE or is_ufunc(node) and not settings and node.function not in BY_NAME:
            return [self._expression(node.name, node.function, (*args, Text(target)), settings)]
        settings = {name: value for name, value in settings.items() if value is not False}
        return [self._expression(node.name, node.function, args, {**settings, "out": Text(target)})]

    def _operands(self, node: Node) -> tuple[Any, ...]:
        """The operands; numbers in elementwise calls and ``where`` get the dtype in which NumPy computes."""
        chooses, kinds = node.function is np.where, [getattr(each, "dtype", type(each)) for each in node.args]
        if not chooses and (node.settings or not is_ufunc(node)):
            return node.args
        dtypes: Any = (bool, node.dtype, node.dtype)
        try:
            if not chooses:
                dtypes = node.function.resolve_dtypes((*kinds, None))  # type: ignore[union-attr]
            pairs = zip(node.args, dtypes)
            number = self.space.number
            return tuple([one if isinstance(one, Node) else Text(number(one, dtype)) for one, dtype in pairs])
        except (TypeError, OverflowError):
            return node.args

    def _assignment(self, node: Node, target: str, args: tuple[Any, ...]) -> str:
        """What writes into a part of ``target``."""
        where, value = args[1:]
        if node.function is np.where:
            return f"copyto({target}, {self.space.spelled(where)}, where={self.space.spelled(args[0])})"
        if node.function is put:
            return f"{target}[{self.space.index(where)}] = {self.space.spelled(value)}"
        if node.function is put_flat:
            return f"{target}.put({self.space.spelled(where)}, {self.space.spelled(value)})"
        text, array = Text(target), self.arrays[node]
        for name, function, args, settings in where:
            text = Text(self._expression(name, function, (text, *args), settings))
            array = function(array, *args, **settings)
        assert np.may_share_memory(array, self.arrays[node]) or not array.size, "a write into a copy"
        return f"copyto({self._once(text, f'{target}_part')}, {self.space.spelled(value)}, casting='unsafe')"

    # ------------------------------------------------------------ blocks

    def _blocks(self, run: list[Node]) -> None:
        """A loop in which elementwise calls take some thousand elements at a time."""
        for node in run:
            self._target(node)
        inner, size, length = self.plan.inner, run[0].value.size, run[0].block
        read = [operand for node in run for operand in node.operands()]
        whole = [node for node in dict.fromkeys([*read, *run]) if node.shape and node not in inner]
        flat = dict(self.space.names)
        for node in [node for node in whole if len(node.shape) > 1]:
            flat[node] = self.space.fresh(f"{flat[node]}_flat")
            self._say(node, f"{flat[node]} = {self.space.names[node]}.reshape(-1)")
        self._say(run[0], f"for start in range(0, {size}, {length}):")
        names = dict(self.space.names)
        for node in whole:
            self.space.names[node] = self.space.fresh(f"{names[node]}_block")
            self._say(run[0], f"    {self.space.names[node]} = {flat[node]}[start : start + {length}]")
        for node in run:
            for line in self._into(node, self.space.names[node]):
                self._say(node, f"    {line}")
        self.space.names = names


def _functions(graph: Graph) -> set[str]:
    """The names of the functions that a graph calls."""
    functions = [getattr(node.function, "__self__", None) or node.function for node in graph.nodes]
    return {getattr(function, "__name__", "") for function in functions}
