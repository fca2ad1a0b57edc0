"""The names of values: the name that a learner gave, else a parameter's path, else that of a variable.

Names are found by identity: a result by the node that computed it, a leaf or a constant by its tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from sys import _getframe as frame_of
from types import FrameType
from typing import Any

from autokit.engine.node import NAMES, USUAL_NAMES, Node
from autokit.engine.record import OUR_FILES
from autokit.engine.tensor import Tensor
from autokit.nn.module import Module


class Names:
    """The names in sight, by what they name.

    Parameters
    ----------
    namespaces : iterable of mapping
        Where variables are looked up; the first name found is kept.

    Attributes
    ----------
    used : set of str
        What the learner calls anything at all.
    """

    def __init__(self, namespaces: Iterable[Mapping[str, Any]]) -> None:
        self._names: dict[Node | Tensor, str] = {}
        self._tensors: dict[Node | Tensor, Tensor] = {}
        variables = [
            (name, value)
            for namespace in namespaces
            for name, value in list(namespace.items())
            if not name.startswith("_")
        ]
        self.used = {name for name, _ in variables}
        held = {name: value for name, value in reversed(variables) if isinstance(value, Tensor)}
        # A parameter's path first: the variable of a loop over parameters is no name of the last one.
        for name, value in variables:
            if isinstance(value, Module):
                for path, parameter in value.named_parameters():
                    alone = held.get(path, parameter) is parameter
                    self._note(parameter, path if alone else f"{name}.{path}")
        for name, value in variables:
            if isinstance(value, Tensor):
                self._note(value, name)
        self.assigned: dict[Node | Tensor, str] = {}
        """The names that lines of the program gave to values; see :mod:`autokit.graphs.assigned`."""
        self._modules = [(name, value) for name, value in variables if isinstance(value, Module)]

    def _note(self, tensor: Tensor, name: str) -> None:
        key = tensor if tensor._node is None else tensor._node
        self._names.setdefault(key, name)
        self._tensors.setdefault(key, tensor)

    def of(self, value: Node | Tensor) -> str:
        """The name of a node's result or of a tensor, or an empty string."""
        if isinstance(value, Tensor):
            return value.name or self._names.get(value) or self.assigned.get(value, "")
        own = NAMES.get(value) or self._names.get(value) or self.assigned.get(value)
        return own or USUAL_NAMES.get(value, "")

    def is_free(self, value: Node | Tensor) -> bool:
        """Whether the learner gave a result or tensor no name, and no variable in sight holds it."""
        given = value.name if isinstance(value, Tensor) else NAMES.get(value)
        return not (given or self._names.get(value))

    def tell_apart(self, models: Iterable[Module]) -> dict[int, str]:
        """What to call each of several models, by its id; their parameters are called by that name first.

        One that no variable holds is called by its class and a number.
        """
        called: dict[int, str] = {}
        for place, model in enumerate(models, 1):
            found = [
                path or name
                for name, outer in self._modules
                for path, each in outer.named_modules()
                if each is model
            ]
            called[id(model)] = name = found[0] if found else f"{type(model).__name__} {place}"
            for path, parameter in model.named_parameters():
                if self._names.get(parameter, path).endswith(path):
                    self._names[parameter] = f"{name}.{path}"
        return called

    def tensor(self, node: Node) -> Tensor | None:
        """The tensor in sight that ``node`` made."""
        return self._tensors.get(node)


def not_hidden(namespaces: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The variables of each that none before has by the same name: a function's ``x`` hides the notebook's.

    >>> list(not_hidden([{"x": 1}, {"x": 2, "y": 3}]))
    [{'x': 1}, {'y': 3}]
    """
    seen: set[str] = set()
    for namespace in namespaces:
        yield {name: value for name, value in list(namespace.items()) if name not in seen}
        seen.update(namespace)


def namespaces_in_sight() -> Iterator[Mapping[str, Any]]:
    """The variables where autokit was called from: local, global, and the notebook's."""
    return not_hidden(_namespaces_of_the_caller())


def _namespaces_of_the_caller() -> Iterator[Mapping[str, Any]]:
    frame: FrameType | None = frame_of(1)
    while frame is not None and (_is_of(frame, "IPython") or OUR_FILES[frame.f_code.co_filename]):
        frame = frame.f_back  # IPython asks a value to show itself: its variables are not the learner's
    if frame is not None:
        yield frame.f_locals
        yield frame.f_globals
    while frame is not None and not _is_of(frame, "IPython", "ipykernel"):
        frame = frame.f_back
    if frame is not None:
        from IPython import get_ipython  # which is there: the program runs in it

        shell = get_ipython()  # type: ignore[no-untyped-call]
        if shell is not None:
            yield shell.user_ns


def _is_of(frame: FrameType, *packages: str) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in packages
