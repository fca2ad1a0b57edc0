"""A widget that shows several optimizers descending on one loss, step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from autokit.draw.table import table_text
from autokit.graphs.descents import USUAL, Descents, Path, descend, ways
from autokit.graphs.evaluation import Evaluation, parameters_of
from autokit.graphs.model import Table
from autokit.graphs.summary import number
from autokit.graphs.words import counted
from autokit.plot.functions import levels
from autokit.widgets.live import Playing, chosen, figure_if_any, finite_numbers, live_css, still_bundle
from autokit.widgets.script import bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Descent(Playing):
    """Plays how optimizers descend.  Made by :func:`descent`; it runs in the browser, without the kernel.

    Attributes
    ----------
    start : list of float
        Where each optimizer begins; may be set, and a click on the contour sets it: all descend anew.
    step : int
        The step that is shown, from 0, the start; kept within those taken.
    playing : bool
    speed : float
        How many times as fast as the normal pace, from 0.1 to 10.
    selected : str
        The optimizer whose way is marked, by its name, or ``""``.
    """

    _TITLE = "optimizers on their way down"
    _esm = bundle("descent.js")
    _css = live_css()

    start: traitlets.List[Any] = traitlets.List(traitlets.Float()).tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    _descents = traitlets.Dict(read_only=True).tag(sync=True)

    def __init__(
        self, descents: Descents, ways: Callable[[Sequence[float]], tuple[Path, ...]], **traits: Any
    ) -> None:
        self.descents, self._ways = descents, ways
        super().__init__(start=list(descents.paths[0].points[0]))
        self.set_trait("_descents", self._payload())
        for name, value in traits.items():
            setattr(self, name, value)

    def _count(self) -> int:
        return self.descents.steps + 1

    def figure(self, step: int = -1) -> Figure:
        """The ways up to ``step`` as a matplotlib figure."""
        from autokit.plot.descents import descents

        return descents(self.descents, step % (self.descents.steps + 1))

    def still(self) -> dict[str, Any]:
        """The whole ways as a figure, and where they end as a table."""
        words = self._sentence(self.descents.steps)
        plain = f"{words}\n{table_text(self._table(self.descents.steps))}"
        return still_bundle(plain, words, figure_if_any(self.figure, words))

    def __repr__(self) -> str:
        names = ", ".join(path.name for path in self.descents.paths)
        return f"Descent({names}; {counted(self.descents.steps, 'step')})"

    def _payload(self) -> dict[str, Any]:
        made = self.descents
        return {
            "start": self.start,
            "names": list(made.names),
            "ends": [list(side) for side in made.ends],
            "values": [finite_numbers(row) for row in made.values],
            "levels": levels(np.asarray(made.values)),
            "paths": [
                {
                    "name": path.name,
                    "x": finite_numbers(point[0] for point in path.points),
                    "y": finite_numbers(point[1] for point in path.points),
                    "losses": finite_numbers(path.losses),
                }
                for path in made.paths
            ],
            "told": [[list(row[1:]) for row in self._table(step).rows] for step in range(made.steps + 1)],
            "sentences": [self._sentence(step) for step in range(made.steps + 1)],
        }

    def _table(self, step: int) -> Table:
        rows = []
        for path in self.descents.paths:
            told = *path.points[step], path.losses[step], math.hypot(*path.gradients[step])
            rows.append((path.name, *map(number, told)))
        head = ("optimizer", *self.descents.names, "loss", "gradient norm")
        return Table(f"Step {step} of {self.descents.steps}", head, tuple(rows))

    def _sentence(self, step: int) -> str:
        losses = [(path.losses[step], path.name) for path in self.descents.paths]
        where = "At the start" if step == 0 else f"After {counted(step, 'step')}"
        finite = [each for each in losses if math.isfinite(each[0])]
        gone = [name for loss, name in losses if not math.isfinite(loss)]
        told = f"{where} "
        if step == 0:
            told += f"the loss is {number(losses[0][0])}."
        elif finite:
            told += f"{min(finite)[1]} is lowest, at {number(min(finite)[0])}"
            told += f"; {max(finite)[1]} is highest, at {number(max(finite)[0])}." if len(finite) > 1 else "."
        return told + (f" {', '.join(gone)} ran away." if gone else "")

    @traitlets.observe("start")
    def _descend_from_there(self, change: Any) -> None:
        if change["old"]:
            self.descents = replace(self.descents, paths=self._ways(self.start))
            self.set_trait("_descents", self._payload())

    @traitlets.validate("start")
    def _start_within(self, proposal: Any) -> list[float]:
        place = proposal["value"]
        if len(place) != 2 or not all(map(math.isfinite, place)):
            raise traitlets.TraitError(f"start is two numbers, got {place}")
        return [max(low, min(at, high)) for at, (low, high) in zip(place, self.descents.ends)]

    @traitlets.validate("selected")
    def _select_a_way(self, proposal: Any) -> str:
        return chosen(proposal["value"], {path.name: path.name for path in self.descents.paths}, "optimizer")


def descent(
    loss_fn: Callable[..., Any],
    optimizers: Iterable[Any] | Mapping[str, Any] | None = None,
    start: Sequence[float] = (-1.5, 1.5),
    steps: int = 60,
    ends: Sequence[Sequence[float]] | None = None,
    **traits: Any,
) -> Descent:
    """Compare optimizers on a loss of two numbers: their ways from one start, step by step.

    Parameters
    ----------
    loss_fn : callable
        Takes two 0-dimensional tensors, and returns a tensor of one element.
    optimizers : list or dict
        Each a class, as ``optim.Adam``, a pair ``(optim.SGD, {"lr": 0.1})``, or a function that makes one of
        a list of parameters; in a dict by the names to show.  Left out: SGD, SGD with momentum, and Adam.
    start : pair of float
        Where each begins; in the widget a click sets it.
    steps : int
        How many steps each takes.
    ends : pair of pairs, optional
        The lowest and highest of each number in the picture; left out, what the ways need.
    **traits
        Of the :class:`Descent`, such as ``speed=2``.

    Returns
    -------
    Descent
        A widget; ``descent.descents`` holds the numbers.

    Raises
    ------
    TypeError
        If an optimizer is neither a class of them nor a function that makes one.
    ValueError
        If there are no optimizers or no steps, or the start is not two finite numbers.

    Examples
    --------
    >>> from autokit import optim
    >>> plain = {"SGD": (optim.SGD, {"lr": 0.1})}
    >>> race = descent(lambda x, y: x * x + 5 * y * y, plain, start=(1, 1), steps=2)
    >>> race
    Descent(SGD; 2 steps)
    >>> [(round(x, 2), round(y, 2)) for x, y in race.descents.paths[0].points]
    [(1.0, 1.0), (0.8, 0.0), (0.64, 0.0)]
    """
    chosen = USUAL if optimizers is None else optimizers
    chosen = chosen if isinstance(chosen, Mapping) else list(chosen)
    own = [each.name for each in parameters_of(loss_fn)]
    names = (own[0], own[1]) if len(own) == 2 else ("x", "y")
    evaluation = Evaluation(loss_fn, names)
    descents = descend(loss_fn, chosen, start, steps, names, ends)
    return Descent(descents, lambda place: ways(evaluation, chosen, place, steps), **traits)
