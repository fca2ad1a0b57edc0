"""A function of a few numbers is evaluated at many points, for the playground, a widget with sliders.

:class:`Evaluation` runs the function at a point, forward and backward, and gives the graph with its values
and gradients as plain data; along a line and over a grid it gives the function's values alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.base.dtypes import get_default_dtype
from autokit.base.errors import describe
from autokit.engine.modes import enable_grad, no_grad, recording
from autokit.engine.tensor import Tensor
from autokit.graphs.capture import OPERATIONS_SHOWN, Builder, Capture
from autokit.graphs.model import Graph, Summary
from autokit.graphs.names import Names, namespaces_in_sight
from autokit.graphs.run import rehearse
from autokit.graphs.summary import summarize
from autokit.ops.create import tensor


@dataclass(frozen=True)
class Moment:
    """A function at one point.

    Attributes
    ----------
    graph : Graph
        How the value was computed; its nodes hold values and gradients.
    flows : mapping of int to Summary
        For each edge, by its id, the contribution that came back along it.
    value : float
    gradients : mapping of str to float
        By the names of the inputs; 0 for one that the value does not depend on.
    """

    graph: Graph
    flows: Mapping[int, Summary]
    value: float
    gradients: Mapping[str, float]


class Evaluation:
    """A function from numbers to one number.

    Parameters
    ----------
    function : callable
        Takes a 0-dimensional tensor for each of ``names``, and returns a tensor of one element.
    names : sequence of str
    name : str
        What to call the function.

    Examples
    --------
    >>> square = Evaluation(lambda a: a * a, ["a"])
    >>> moment = square.at({"a": 3.0})
    >>> moment.value, moment.gradients
    (9.0, {'a': 6.0})
    >>> square.along("a", [1.0, 2.0], {}).tolist()
    [1.0, 4.0]
    """

    def __init__(self, function: Callable[..., Any], names: Sequence[str], name: str = "f") -> None:
        self.function, self.names, self.name = function, list(names), name
        self._by_name = _takes(function, self.names)

    def at(self, values: Mapping[str, float]) -> Moment:
        """The function at ``values``, forward and backward; no ``.grad`` of anything changes."""
        leaves = {name: tensor(float(values[name]), requires_grad=True) for name in self.names}
        for name, leaf in leaves.items():
            leaf.name = name
        with enable_grad(), recording():
            output = self._call(leaves)
            _check(output)
            if output.grad_fn is None and not output.requires_grad:
                raise RuntimeError(
                    f"the result, {describe(output)}, does not depend on {', '.join(self.names)} by "
                    "operations of autokit: compute it from the arguments, without .item() or .detach()"
                )
            captured = Builder(Names([*namespaces_in_sight(), {self.name: output}])).build(
                [output], OPERATIONS_SHOWN
            )
            seen = Gradients(captured)
            found = rehearse(output._node or output, np.ones_like(output.array), seen)
        nodes = tuple(
            replace(node, gradient=summarize(seen.gradients[node.id])) if node.id in seen.gradients else node
            for node in captured.graph.nodes
        )
        return Moment(
            graph=replace(captured.graph, nodes=nodes),
            flows={edge: summarize(sent) for edge, sent in seen.flows.items()},
            value=float(to_numpy(output.array).reshape(())),
            gradients={name: float(found[leaf]) if leaf in found else 0.0 for name, leaf in leaves.items()},
        )

    def along(self, name: str, points: Sequence[float], others: Mapping[str, float]) -> np.ndarray:
        """The values of the function where ``name`` goes through ``points``, and the others stand still."""
        columns = {
            each: np.asarray(points, float) if each == name else np.full(len(points), others[each])
            for each in self.names
        }
        return self._values(columns)

    def over(self, across: Sequence[float], up: Sequence[float]) -> np.ndarray:
        """The values of a function of two numbers over a grid: one row for each of ``up``."""
        x, y = np.meshgrid(np.asarray(across, float), np.asarray(up, float))
        first, second = self.names
        return self._values({first: x.ravel(), second: y.ravel()}).reshape(x.shape)

    def loss(self, tensors: Sequence[Tensor]) -> Tensor:
        """The result itself, for these tensors in the order of the names, checked to be one number."""
        output = self._call(dict(zip(self.names, tensors)))
        _check(output)
        return output  # type: ignore[no-any-return]

    # ------------------------------------------------------------ inside

    def _call(self, tensors: Mapping[str, Tensor]) -> Any:
        return self.function(**tensors) if self._by_name else self.function(*tensors.values())

    def _values(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """All points in one call where the function allows that, else one by one."""
        with no_grad():
            try:
                together = self._of_columns(columns)
                some = range(0, len(together), max(1, len(together) // _COMPARED))
                one_by_one = [self._of_point([column[k] for column in columns.values()]) for k in some]
                if np.allclose(together[some], one_by_one, rtol=1e-3, atol=1e-5, equal_nan=True):
                    return together
            except Exception:  # it asks for single values, as an `if` does
                pass
            return np.array([self._of_point(point) for point in zip(*columns.values())])

    def _of_columns(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """The values at all points, for a function that computes element by element."""
        (length,) = {len(column) for column in columns.values()}
        whole = {name: tensor(column, dtype=get_default_dtype()) for name, column in columns.items()}
        return np.broadcast_to(to_numpy(self._call(whole).array), length).astype(float)

    def _of_point(self, point: Sequence[float]) -> float:
        """The value at one point; NaN where the function is not defined."""
        values = [tensor(float(each), dtype=get_default_dtype()) for each in point]
        try:
            return float(self._call(dict(zip(self.names, values))))
        except ArithmeticError:
            return float("nan")


_COMPARED = 12
"""Of many points computed at once about so many are computed alone too: there a sum over all would differ."""


class Gradients:
    """A listener of the engine: collects what arrives at each node, and what goes along each edge."""

    def __init__(self, captured: Capture) -> None:
        self.captured = captured
        self.edges: dict[Any, int] = {(edge.target, edge.slot): edge.id for edge in captured.graph.edges}
        self.gradients: dict[int, Any] = {}
        self.flows: dict[int, Any] = {}

    def __call__(self, event: str, node: Any, *details: Any) -> None:
        id = self.captured.concerned(event, node)
        if event == "contribution":
            edge = self.edges.get((id, details[0]))  # not of what is left out
            if edge is not None:
                self.flows[edge] = details[2]
        elif id is not None:
            self.gradients[id] = details[0]


def own_name(function: Callable[..., Any]) -> str:
    """The name of a function: its own, else that of a variable of the learner's that holds it, else ``f``."""
    name = getattr(function, "__name__", "<lambda>")
    if name != "<lambda>":
        return str(name)
    for variables in namespaces_in_sight():
        for name, each in variables.items():
            if each is function and name[0].isalpha():  # `_` is what a notebook showed last
                return name
    return "f"


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that a function declares; none of one that does not tell them."""
    try:
        return [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return []


def _takes(function: Callable[..., Any], names: Sequence[str]) -> bool:
    """Whether the function takes these arguments by their names."""
    if not callable(function):
        raise TypeError(f"playground() needs a function, and got {type(function).__name__}")
    try:
        inspect.signature(function).bind(**dict.fromkeys(names))
    except (TypeError, ValueError):
        return False
    return True


def _check(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise TypeError(
            f"the function should return a Tensor of one element, and gave {type(output).__name__}"
        )
    if output.array.size != 1:
        raise RuntimeError(
            f"the function should return one number, and gave {describe(output)}: reduce it, as with .sum()"
        )
