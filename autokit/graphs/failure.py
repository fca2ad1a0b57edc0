"""The graph of a computation that failed: the nodes until the error, and the operation that raised it.

Nothing is recorded for this while a program computes.  An error has a traceback, and its frames still hold
the operands of the operation that failed.
"""

from __future__ import annotations

import linecache
import os
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from autokit.engine.node import Node as EngineNode
from autokit.engine.operation import Operation
from autokit.engine.record import OUR_FILES, source_line
from autokit.engine.tensor import Tensor
from autokit.graphs.capture import OPERATIONS_DRAWN, Builder, shown_source
from autokit.graphs.model import Edge, Graph, Node, Source
from autokit.graphs.names import Names, namespaces_in_sight, not_hidden
from autokit.graphs.view import make_view

_WIDTH, _LINES = 44, 6
_PASSED_ON = {"apply", "run", "compute", "operator", "call", "forward"}
"""Functions that only hand on what the learner wrote."""
_OUR_LAYERS = str(Path(__file__).parent.parent / "nn") + os.sep
_LIBRARIES = os.path.dirname(os.__file__), "<frozen"
_OUR_FUNCTIONS = str(Path(__file__).parent.parent / "nn" / "functional")


def graph_of_error(error: BaseException | None = None, **view: Any) -> Graph:
    """How the operands of a failed operation came about, with their shapes marked.

    Parameters
    ----------
    error : exception, optional
        The one to explain; left out, the one being handled, or else the last that nobody handled.
    **view
        ``depth``, ``show`` and ``direction``, as for ``ak.graph``.

    Returns
    -------
    Graph
        Its last node, of the kind ``"failed"``, is the operation that raised the error.

    Raises
    ------
    RuntimeError
        If there was no error, or no tensor had to do with it.

    Examples
    --------
    >>> import autokit as ak
    >>> h, w = ak.ones(2, 3), ak.ones(4, 5)
    >>> try:
    ...     h @ w
    ... except RuntimeError as error:
    ...     [(node.name, node.kind, node.shape) for node in ak.graph_of_error(error).nodes]
    [('h', 'constant', (2, 3)), ('w', 'constant', (4, 5)), ('matmul', 'failed', ())]
    """
    checked = make_view(view.pop("depth", None), view.pop("show", None), view.pop("direction", "auto"))
    if view:
        raise TypeError(f"graph_of_error() got an unexpected keyword argument {next(iter(view))!r}")
    if error is None:
        error = sys.exc_info()[1] or getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if error is None:
        raise RuntimeError("there was no error so far: run what fails, and then ask again")
    looked: BaseException | None = error
    while looked is not None:
        found = _explained(looked)
        if found is not None:
            return replace(found, view=checked)
        looked = looked.__cause__ or looked.__context__
    raise RuntimeError(f"no operation on tensors raised this {type(error).__name__}: {error}")


def _explained(error: BaseException) -> Graph | None:
    passed = list(_passed(error.__traceback__))
    frames = [each.tb_frame for each in passed]
    theirs = [place for place, frame in enumerate(frames) if not OUR_FILES[frame.f_code.co_filename]]
    if not theirs:
        return None
    learner, ours = frames[theirs[-1]], frames[theirs[-1] + 1 :]
    names = Names(not_hidden((learner.f_locals, learner.f_globals, *namespaces_in_sight())))
    if (way_back := _way_back(ours)) is not None:
        return _marked(names, *way_back, error)
    operands = _first_operands(ours)
    if operands is None:
        return None
    captured = Builder(names).build([tensor for _, tensor in operands], OPERATIONS_DRAWN)
    graph = captured.graph
    wrong = [captured.ids[tensor if tensor._node is None else tensor._node] for _, tensor in operands]
    nodes = [
        replace(node, marks=(f"shape {_shape(node.shape)}", *node.marks)) if node.id in wrong else node
        for node in graph.nodes
    ]
    failed = Node(
        id=len(nodes),
        kind="failed",
        operation=_name(ours),
        symbol="!",
        label=_name(ours),
        source=_source(passed[theirs[-1]]),
        marks=_words(error),
    )
    edges = [
        Edge(len(graph.edges) + slot, id, failed.id, slot, letter, "", False)
        for slot, (id, (letter, _)) in enumerate(zip(wrong, operands))
    ]
    return replace(graph, nodes=(*nodes, failed), edges=(*graph.edges, *edges), outputs=(failed.id,))


def _passed(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _operands(frame: FrameType) -> list[tuple[str, Tensor]] | None:
    """The tensors among a function's arguments, with the arguments' names."""
    code = frame.f_code
    if _is_layer(frame):
        return None  # it hands its input on with its weights
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
    found = [(name, each) for name in code.co_varnames[:count] for each in _listed(frame.f_locals.get(name))]
    return [(name, each) for name, each in found if isinstance(each, Tensor)] or None


def _first_operands(frames: list[FrameType]) -> list[tuple[str, Tensor]] | None:
    """The tensors that the operation was given, with the names that the first function has for them."""
    found = [(frame.f_code.co_name, operands) for frame in frames if (operands := _operands(frame))]
    if not found:
        return None
    _, first = found[0]
    for name, operands in found:
        same = [id(tensor) for _, tensor in operands] == [id(tensor) for _, tensor in first]
        if same and name not in ("apply", "run", "compute"):
            return [("input" if word == "self" else word, tensor) for word, tensor in operands]
    # What stands in the arguments of these has no names of its own.
    words = ("input", "other") if len(first) == 2 else [name for name, _ in first]
    return [(word, tensor) for word, (_, tensor) in zip(words, first)]


def _is_layer(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(_OUR_LAYERS) and not file.startswith(_OUR_FUNCTIONS)


def _listed(value: Any) -> list[Any]:
    """What ``value`` holds, where it is a list, or a tuple that holds a list, as of ``cat``; else itself."""
    if isinstance(value, list | tuple):
        return [each for item in value for each in _listed(item)]
    return [value]


def _name(ours: list[FrameType]) -> str:
    """The name of the operation, as the learner knows it."""
    for frame in ours:
        operation = frame.f_locals.get("operation")
        if isinstance(operation, Operation):
            return operation.name
        name = frame.f_code.co_name.strip("_")
        if name not in _PASSED_ON and not _is_layer(frame):
            return name
    return "operation"


def _way_back(ours: list[FrameType]) -> tuple[Tensor, EngineNode] | None:
    """Where the error came on the way back: the tensor it began at, and the node that it came to."""
    begun = [frame for frame in ours if frame.f_code.co_name.startswith(("_backward", "backward", "grad"))]
    root = next((tensor for frame in begun for _, tensor in _operands(frame) or ()), None)
    nodes = [node for frame in ours if isinstance(node := frame.f_locals.get("node"), EngineNode)]
    return (root, nodes[-1]) if root is not None and nodes else None


def _marked(names: Names, root: Tensor, at: EngineNode, error: BaseException) -> Graph | None:
    captured = Builder(names).build([root], OPERATIONS_DRAWN)
    if at not in captured.ids:
        return None
    place = captured.ids[at]
    nodes = [
        replace(node, kind="failed", marks=_words(error)) if node.id == place else node
        for node in captured.graph.nodes
    ]
    return replace(captured.graph, nodes=tuple(nodes))


def _words(error: BaseException) -> tuple[str, ...]:
    """What the error says, in a few lines."""
    kind = next(each for each in type(error).__mro__ if not each.__module__.startswith("autokit")).__name__
    lines = textwrap.wrap(f"{kind}: {error}", _WIDTH) or [kind]
    return tuple(lines[:_LINES]) + (("…",) if len(lines) > _LINES else ())


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _source(traceback: TracebackType) -> Source | None:
    # A function that caught the error has gone on since: its frame stands at another line.
    return shown_source(source_line(traceback.tb_frame.f_code, traceback.tb_lasti))


def error_in_words(error: BaseException) -> str:
    """What an error says, with the line of the learner's program in which it came up.

    >>> error_in_words(ZeroDivisionError("division by zero"))
    'it raises ZeroDivisionError: division by zero'
    """
    place = "it"
    for each in _passed(error.__traceback__):
        file = each.tb_frame.f_code.co_filename
        if not (OUR_FILES[file] or file.startswith(_LIBRARIES) or "site-packages" in file):
            text = linecache.getline(file, each.tb_lineno).strip()
            place = f"line {each.tb_lineno} of your code, `{text}`,"
    return f"{place} raises {type(error).__name__}: {error}".partition("\n")[0].removesuffix(": ")
