"""The playground: a widget in which a learner changes the arguments of a function and sees its graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from autokit import draw
from autokit.draw.card import shown_in
from autokit.draw.image import image
from autokit.draw.part import part
from autokit.draw.scene import still as everything_known
from autokit.draw.shapes import Scene
from autokit.draw.thumbnail import picture as thumbnail_picture
from autokit.draw.thumbnail import thumbnail
from autokit.graphs.evaluation import Evaluation, Moment, own_name, parameters_of
from autokit.graphs.model import Change, State, Timeline
from autokit.graphs.summary import number
from autokit.plot.functions import levels
from autokit.widgets.live import Live, figure_if_any, finite, finite_numbers, live_css, still_bundle
from autokit.widgets.script import bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


POINTS, GRID = 121, 41
"""How many points a curve has, and a contour along each side."""

ROOM = (830.0, 220.0)
"""The room that the graph has in JupyterLab, in a window of 1280 by 720 px, beside the chart and sliders."""

NUDGE = "h"
"""The slider of the secant's step."""

_PARTS = (0.7, 0.35, 0.8, 0.6, 0.25, 0.9, 0.15, 0.45)
"""Where in its range a slider may begin: not in the middle, a special place of many functions."""

_PLACES = (160, 20)
"""Into how many steps a page without a kernel divides the slider of one input, and those of two."""

_ANSWERS = """
const { grid, answers, pictures } = traits._known;
const nearest = (name) => grid[name].reduce((best, at, k) =>
  Math.abs(at - traits[name]) < Math.abs(grid[name][best] - traits[name]) ? k : best, 0);
const answer = () => {
  let place = 0;
  for (const name of Object.keys(grid)) {
    const k = nearest(name);
    place = place * grid[name].length + k;
    traits[name] = grid[name][k];
  }
  const told = answers[place];
  for (const name of ["value", "gradients"]) model.set(name, told[name]);
  model.set("_svg", pictures[told._svg]);
  model.set("_shown", told._shown);
};
for (const name of Object.keys(grid)) model.on("change:" + name, answer);
"""

_NO_ANSWERS = """
const start = Object.fromEntries(traits._inputs.map(({ name }) => [name, traits[name]]));
for (const name of Object.keys(start)) model.on("change:" + name, () => {
  traits[name] = start[name];
  const problem = "With more than two inputs a saved page shows one moment: run the notebook to move them.";
  model.set("_shown", { ...traits._shown, problem });
});
"""

_ROOM_FOR_NUMBER, _ROOM_FOR_FLOW, _ROOM_FOR_TENSOR = "−888.8888", "−88.8888", "−0.088 to −0.088"
"""What a box has room for, beside what the corners of the ranges show."""


@dataclass(frozen=True)
class _Range:
    low: float
    high: float
    step: float
    start: float


class _Input(traitlets.Float[float, float]):
    """A number that stays within a slider's ends: a linked widget may overshoot them."""

    def __init__(self, bounds: _Range) -> None:
        super().__init__(bounds.start)
        self.bounds = bounds

    def validate(self, obj: Any, value: Any) -> float:
        checked = super().validate(obj, value)
        if checked is None or math.isnan(checked):
            raise traitlets.TraitError(
                f"{self.name} must be a number from {self.bounds.low:g} to {self.bounds.high:g}, not {value}"
            )
        return float(max(self.bounds.low, min(checked, self.bounds.high)))


class Playground(Live):
    """Sliders on the inputs of a function; its value and its gradients follow.  Made by :func:`playground`.

    Each input is a trait by its own name, so ``board.a = 1.5`` moves a slider, ``observe`` tells of a hand
    that does, and ``jslink`` joins it with another widget's.

    Attributes
    ----------
    value : float
        The function's value; read only.
    gradients : dict of str to float
        Its derivative by each input; read only.
    selected : str
        The element name of the node that is marked, as ``"n3"``, or ``""``.
    """

    _TITLE = "a function, and what its inputs do to it"
    _esm = bundle("playground.js")
    _css = live_css()

    value = traitlets.Float(0.0, read_only=True).tag(sync=True, to_json=finite)
    gradients = traitlets.Dict(read_only=True).tag(sync=True, to_json=finite)
    selected = traitlets.Unicode("").tag(sync=True)
    _name = traitlets.Unicode("f", read_only=True).tag(sync=True)
    _inputs: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _svg = traitlets.Unicode(read_only=True).tag(sync=True)
    _shown = traitlets.Dict(read_only=True).tag(sync=True)
    _chart = traitlets.Dict(read_only=True).tag(sync=True)

    def __init__(
        self, evaluation: Evaluation, ranges: Mapping[str, _Range], nudge: _Range | None = None
    ) -> None:
        self._ranges, self._evaluation = dict(ranges), evaluation
        self._sliders = self._ranges | ({} if nudge is None else {NUDGE: nudge})
        self._moment = evaluation.at({name: bounds.start for name, bounds in ranges.items()})
        self._scene = self._drawn()
        self._along = next(iter(ranges))
        super().__init__()
        self._TITLE = f"{evaluation.name}, and what its inputs do to it"
        self.add_traits(**{name: _Input(bounds).tag(sync=True) for name, bounds in self._sliders.items()})
        sliders = [
            {**asdict(bounds), "name": name, "nudge": name not in ranges}
            for name, bounds in self._sliders.items()
        ]
        self._set(_name=evaluation.name, _inputs=sliders, _svg=self._empty(), _chart=self._charted())
        self._show("")
        self.observe(self._follow, [*self._sliders])

    @property
    def inputs(self) -> dict[str, float]:
        """The inputs as they stand."""
        return {name: float(getattr(self, name)) for name in self._ranges}

    def still(self) -> dict[str, Any]:
        """The graph and the chart as they stand now, as images, and in words."""
        words = self._sentence()
        drawn = draw.svg(self._scene, state=_state(self._moment))
        graph = image(drawn, f"{words} {self._scene.title}", self._scene.width)
        chart = figure_if_any(self.figure, f"Chart of the function. {words}")
        return still_bundle(f"{words}\n{draw.text(self._moment.graph)}", words, graph, chart)

    def __repr__(self) -> str:
        return f"Playground({', '.join(f'{name}={number(at)}' for name, at in self.inputs.items())})".replace(
            "−", "-"
        )

    # ------------------------------------------------------------ following the hand

    def _follow(self, change: Any) -> None:
        problem, form = "", _form(self._moment)
        try:
            if change["name"] in self._ranges:
                self._moment = self._evaluation.at(self.inputs)
        except Exception as error:  # the learner's function: what it says belongs on the screen
            problem = f"{type(error).__name__}: {error}"
        with self.hold_sync():
            if _form(self._moment) != form:
                # The function took another branch: another graph, another picture.
                self._scene = self._drawn()
                self.set_trait("_svg", self._empty())
            if len(self._ranges) > 2:
                self._along = change["name"]
                self.set_trait("_chart", self._charted())
            self._show(problem)

    def _show(self, problem: str) -> None:
        shown = {
            "at": {name: float(getattr(self, name)) for name in self._sliders},
            "value": number(self._moment.value),
            "gradients": {name: number(each) for name, each in self._moment.gradients.items()},
            "sentence": self._sentence(),
            "secant": self._secant(),
            "problem": problem,
            "state": self._fitted(),
            "thumbnails": self._thumbnails(),
        }
        self._set(value=self._moment.value, gradients=dict(self._moment.gradients), _shown=shown)

    def _sentence(self) -> str:
        point = ", ".join(f"{name} = {number(at)}" for name, at in self.inputs.items())
        slopes = [
            f"∂{self._name}/∂{name} = {number(gradient)}, so a little more {name} {_effect(gradient)}"
            for name, gradient in self._moment.gradients.items()
        ]
        secant = self._secant()["words"] if NUDGE in self._sliders else ""
        return f"At {point} the value is {number(self._moment.value)}. {'; '.join(slopes)}. {secant}".strip()

    def _secant(self) -> dict[str, Any]:
        """The function a step h farther on, and the slope of the line from here to there."""
        if NUDGE not in self._sliders:
            return {}
        ((name, at),), h = self.inputs.items(), float(getattr(self, NUDGE))
        there = float(self._evaluation.along(name, [at + h], {})[0])
        (tangent,) = self._moment.gradients.values()
        rise = there - self._moment.value
        slope = rise / h
        words = f"From {name} to {name} + h the value changes by {number(rise)}: divided by h = {number(h)}, "
        words += f"the secant has the slope {number(slope)}. The tangent has {number(tangent)}: "
        words += f"the difference is {number(slope - tangent)}."
        return {"value": finite(there), "slope": finite(slope), "text": number(slope), "words": words}

    # ------------------------------------------------------------ the graph

    def _drawn(self) -> Scene:
        """The picture, with room for what it shows here, in the corners and in the middle of the ranges."""
        ends = [(bounds.low, (bounds.low + bounds.high) / 2, bounds.high) for bounds in self._ranges.values()]
        moments = [self._moment]
        for corner in list(product(*ends))[:27]:
            try:
                moments.append(self._evaluation.at(dict(zip(self._ranges, corner))))
            except Exception:  # no value there: the hand that goes there is told
                continue
        form = _form(self._moment)
        alike = [_state(moment) for moment in moments if _form(moment) == form]
        texts = set().union(*map(_texts, alike))
        for node in self._moment.graph.nodes:
            if node.kind != "constant":
                room = _ROOM_FOR_TENSOR if node.shape else _ROOM_FOR_NUMBER
                texts |= {Change(node.element, "value", room), Change(node.element, "gradient", room)}
        texts |= {Change(f"e{edge}", "flow", _ROOM_FOR_FLOW) for edge in self._moment.flows}
        told = sorted(texts, key=lambda change: (change.element, change.field, str(change.value)))
        return draw.scene(Timeline(self._moment.graph, (), (), tuple(told)), room=ROOM)

    def _empty(self) -> str:
        """The picture without numbers, its arrows as the gradients go."""
        back = {f"e{edge}": {"status": "backward"} for edge in self._moment.flows}
        return draw.svg(self._scene, state=back)  # type: ignore[arg-type]

    def _fitted(self) -> State:
        """The state with every text cut to the room that the picture has for it."""
        state = _state(self._moment)
        rooms = self._scene.fields()
        for element, fields in rooms.items():
            shown = state.get(element, {})
            for name, room in fields.items():
                if isinstance(text := shown.get(name), str):
                    shown[name] = shown_in(room, text, name)
        return {element: state[element] for element in rooms if element in state}

    def _thumbnails(self) -> dict[str, dict[str, str]]:
        """The small pictures of tensors, as they are now."""
        nodes = {node.element: node for node in self._moment.graph.nodes}
        drawn: dict[str, dict[str, str]] = {}
        for box in self._scene.boxes:
            node = nodes.get(box.node.element) if box.node else None
            if node is None or not node.shape:
                continue
            for place in box.card.thumbnails:
                summary = node.value if place.part.startswith("value") else node.gradient
                if thumb := thumbnail(summary, *place.room):
                    svg = thumbnail_picture(thumb, place.x, place.y)
                    drawn.setdefault(node.element, {})[place.part] = svg
        return drawn

    # ------------------------------------------------------------ the chart

    def _charted(self) -> dict[str, Any]:
        if len(self._ranges) == 2:
            across, up = self._grid()
            values = self._evaluation.over(across, up)
            rows = [finite_numbers(row) for row in values]
            return {"kind": "contour", "names": [*self._ranges], "values": rows, "levels": levels(values)}
        values = self._evaluation.along(self._along, self._points(self._along, POINTS), self.inputs)
        return {"kind": "curve", "names": [self._along], "values": finite_numbers(values)}

    def _points(self, name: str, count: int) -> list[float]:
        bounds = self._ranges[name]
        return np.linspace(bounds.low, bounds.high, count).tolist()  # type: ignore[no-any-return]

    def _grid(self) -> list[list[float]]:
        return [self._points(name, GRID) for name in self._ranges]

    def _without_kernel(self) -> tuple[dict[str, Any], str]:
        """Of one or two inputs a page knows all answers: one for each place where a slider can stand."""
        if len(self._sliders) > len(_PLACES):
            return {}, _NO_ANSWERS
        most = _PLACES[len(self._sliders) - 1]
        stops = {name: _stops(bounds, most) for name, bounds in self._sliders.items()}
        grid = {name: sorted({*stops[name][1], float(getattr(self, name))}) for name in self._sliders}
        asked = Playground(self._evaluation, self._ranges, self._sliders.get(NUDGE))
        asked.close()  # nobody sees it
        pictures: dict[str, int] = {}
        answers = []
        for place in product(*grid.values()):
            with asked.hold_trait_notifications():
                for name, at in zip(grid, place):
                    setattr(asked, name, at)
            told = asked.get_state(["value", "gradients", "_shown", "_svg"])
            told["_svg"] = pictures.setdefault(told["_svg"], len(pictures))
            answers.append(told)
        sliders = [{**slider, "step": stops[slider["name"]][0]} for slider in self._inputs]
        known = {"grid": grid, "answers": answers, "pictures": list(pictures)}
        return {"_inputs": sliders, "_known": known}, _ANSWERS

    def figure(self) -> Figure:
        """The chart as it stands now, as a matplotlib figure."""
        from autokit.plot import figures, functions

        place, slopes = self.inputs, self._moment.gradients
        with figures.style():
            made, (axes,) = figures.figure(5.2, 3.6)
            if self._chart["kind"] == "contour":
                first, second = self._ranges
                values = np.array(self._chart["values"], dtype=float)
                across, up = self._grid()
                functions.contour(axes, across, up, values, (first, second))
                functions.arrow(axes, (place[first], place[second]), (slopes[first], slopes[second]))
            else:
                name = self._along
                at = place[name], self._moment.value, slopes[name]
                beyond = None
                if NUDGE in self._sliders and self._secant()["value"] is not None:
                    beyond = at[0] + float(getattr(self, NUDGE)), self._secant()["value"]
                named = name, self._name
                functions.curve(axes, self._points(name, POINTS), self._chart["values"], named, at, beyond)
        return made


def playground(
    function: Callable[..., Any], *, secant: bool = False, **ranges: tuple[float, ...]
) -> Playground:
    """Play with the inputs of ``function``: its graph, its value and its gradients follow the sliders.

    The kernel runs the function forward and backward whenever a slider moves.  For one input there is its
    curve with the tangent beside the graph; for two a contour, on which the gradient is an arrow; for more
    the curve along the input that was moved last.  Nobody's ``.grad`` changes.

    Parameters
    ----------
    function : callable
        Takes a 0-dimensional tensor for each input, and returns a tensor of one element.
    secant : bool
        For a function of one input: a second slider ``h``, and the line through the values at ``x`` and
        ``x + h`` beside the tangent, with its slope.
    **ranges : tuple of float
        For each input ``(low, high)`` or ``(low, high, step)``.  A slider begins at the default that the
        function has for it, else where every input matters: where no gradient is 0.

    Returns
    -------
    Playground
        A widget with a trait for each input.

    Raises
    ------
    TypeError
        If there is no input, a range is no pair of numbers, or the function gives no tensor.
    ValueError
        If a range is empty or not finite, or an input is called like a trait that every widget has, or a
        secant is asked for beside several inputs.
    RuntimeError
        If the function gives more than one number, or one that does not depend on the inputs.

    Examples
    --------
    >>> board = playground(lambda a, b: a * b, a=(-2, 2), b=(0, 10))
    >>> board
    Playground(a=0.8, b=6.0)
    >>> board.a = 1.5
    >>> board.value, board.gradients
    (9.0, {'a': 6.0, 'b': 1.5})
    """
    if not callable(function):
        raise TypeError(f"playground() needs a function, and got {type(function).__name__}")
    if not ranges:
        raise TypeError("playground() needs an input to move, as in playground(f, a=(-2, 2))")
    for name in ranges:
        if hasattr(Playground, name) or (secant and name == NUDGE):
            raise ValueError(f"every widget has a {name!r} of its own: call the function's input otherwise")
    if secant and len(ranges) > 1:
        raise ValueError(f"a secant is drawn for a function of one input, not of {', '.join(ranges)}")
    parameters = parameters_of(function)
    starts = {each.name: each.default for each in parameters if isinstance(each.default, int | float)}
    sliders = {name: _range(name, given, starts) for name, given in ranges.items()}
    evaluation = Evaluation(function, [*ranges], own_name(function))
    (first, *_) = sliders.values()
    small = _nice_step(first.step * 20)
    nudge = _range(NUDGE, (small, (first.high - first.low) / 2, small), {}) if secant else None
    return Playground(evaluation, _alive(evaluation, sliders), nudge and _placed(nudge, 0.35))


def _alive(evaluation: Evaluation, sliders: Mapping[str, _Range]) -> dict[str, _Range]:
    """The sliders where they begin: of some places the first at which all inputs matter, or most of them."""
    best: tuple[int, dict[str, _Range]] | None = None
    for turn in range(len(_PARTS)):
        places = {
            name: _placed(bounds, _PARTS[(turn + 3 * k) % len(_PARTS)])
            for k, (name, bounds) in enumerate(sliders.items())
        }
        try:
            moment = evaluation.at({name: bounds.start for name, bounds in places.items()})
        except Exception:  # there is no value there; where there is none anywhere, the first place tells why
            best = best or (-1, places)
            continue
        told = [moment.value, *moment.gradients.values()]
        alive = sum(math.isfinite(each) and abs(each) >= 1e-3 for each in told)
        if best is None or alive > best[0]:
            best = alive, places
        if alive == len(told):
            break
    assert best is not None
    return best[1]


def _placed(bounds: _Range, part: float) -> _Range:
    """The range with a start, on a step of the slider and not at 0, unless the function has a default."""
    if not math.isnan(bounds.start):
        return bounds
    length = bounds.high - bounds.low
    start = min(bounds.high, bounds.low + round(part * length / bounds.step) * bounds.step)
    if abs(start) < bounds.step / 2:
        start += bounds.step if start + bounds.step <= bounds.high else -bounds.step
    return replace(bounds, start=float(f"{start:.12g}"))


def _range(name: str, given: Any, starts: Mapping[str, float]) -> _Range:
    numbers = isinstance(given, tuple | list) and all(isinstance(each, int | float) for each in given)
    if not numbers or len(given) not in (2, 3):
        raise TypeError(f"{name} is (low, high) or (low, high, step), as in {name}=(-2, 2); got {given!r}")
    low, high = float(given[0]), float(given[1])
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"{name} goes from a low number to a higher one, got {given!r}")
    step = float(given[2]) if len(given) == 3 else _nice_step(high - low)
    if not 0 < step <= high - low:
        raise ValueError(f"the step of {name} must lie between 0 and {high - low:g}, got {step:g}")
    start = starts.get(name, math.nan)
    return _Range(low, high, step, float(start) if low <= start <= high else math.nan)


def _nice_step(length: float) -> float:
    """A hundredth of a range, more or less, that reads well: 1, 2 or 5 and zeros.

    >>> _nice_step(4), _nice_step(10)
    (0.05, 0.1)
    """
    power = 10.0 ** math.floor(math.log10(length / 80))
    return float(f"{max(m * power for m in (1, 2, 5) if m * power <= length / 80):.6g}")


def _stops(bounds: _Range, count: int) -> tuple[float, list[float]]:
    """The step of a slider that has ``count`` of them at most, and where it then stands."""
    steps = round((bounds.high - bounds.low) / bounds.step)
    step = bounds.step * max(1, math.ceil(steps / count))
    last = math.floor((bounds.high - bounds.low) / step + 1e-9)
    return step, [float(f"{bounds.low + k * step:.12g}") for k in range(last + 1)]


def _effect(gradient: float) -> str:
    if math.isnan(gradient):
        return "does what nobody can say"
    return "changes nothing" if gradient == 0 else "raises it" if gradient > 0 else "lowers it"


def _form(moment: Moment) -> tuple[Any, ...]:
    """What two moments have in common if one picture can show both."""
    graph = moment.graph
    nodes = tuple((node.kind, node.operation, node.shape) for node in graph.nodes)
    return nodes, tuple((edge.source, edge.target) for edge in graph.edges)


def _state(moment: Moment) -> State:
    state = everything_known(moment.graph, part(moment.graph))
    for edge, sent in moment.flows.items():
        if (fields := state.get(f"e{edge}")) is not None:
            fields["flow"] = sent.text
            fields["status"] = "backward"
    return state


def _texts(state: Any) -> set[Change]:
    """What a moment writes into the boxes and beside the edges."""
    return {
        Change(element, name, str(value))
        for element, fields in state.items()
        for name, value in fields.items()
        if name in ("value", "gradient", "flow") and value
    }
