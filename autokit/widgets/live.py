"""The base of all widgets: a still picture, the widget that replaces it in a notebook, and files of both."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets
from IPython.display import display

from autokit.draw.escape import xml
from autokit.draw.files import write
from autokit.widgets.page import page
from autokit.widgets.reruns import take_the_place
from autokit.widgets.script import FOLDER, player_css
from autokit.widgets.still import in_its_place

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def live_css() -> str:
    """The style sheet of the live widgets: the player's, and what they add."""
    return player_css() + (FOLDER / "live.css").read_text(encoding="utf-8")


def still_bundle(plain: str, words: str, *pictures: str) -> dict[str, Any]:
    """A still in the forms that a notebook asks for: ``pictures`` in HTML, and below them ``words``."""
    shown = "".join(f"<div>{picture}</div>" for picture in pictures if picture)
    return {"text/plain": plain, "text/html": in_its_place(f"{shown}<p>{xml(words)}</p>")}


def figure_if_any(make: Callable[[], Figure], words: str) -> str:
    """The figure in HTML; nothing where there is no matplotlib to draw it, and the words stand alone."""
    from autokit.plot.figures import figure_html

    try:
        return figure_html(make(), words)
    except ModuleNotFoundError:
        return ""


def finite(value: Any, _: Any = None) -> Any:
    """A number, or several by their names, as JSON has them: None for NaN and infinity."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    return value if math.isfinite(value) else None


def finite_numbers(values: Iterable[float]) -> list[float | None]:
    """Numbers for a chart: six digits, and None for NaN and infinity."""
    return [None if finite(value) is None else float(f"{value:.6g}") for value in values]


def chosen(name: str, known: Mapping[str, str], what: str) -> str:
    """``name``, if it is empty or one of the ``known``, which an error shows as they stand there."""
    if name and name not in known:
        some = ", ".join([*known.values()][:8]) + (", …" if len(known) > 8 else "")
        raise traitlets.TraitError(f"selected names no {what}: {name!r}; there are {some}")
    return name


_ANYWIDGETS = ("_esm", "_css", "_anywidget", "_model", "_view", "_dom")
_BASE = {"layout", "tabbable", "tooltip"}


class Live(anywidget.AnyWidget):
    """A widget with a still: a subclass says what the still is, and how it prints."""

    _TITLE = ""

    def save(self, path: str | PathLike[str], *, title: str = "") -> None:
        """Write the widget, as it stands now, to ``path``, which ends in ``.html``.

        The page works in any browser, without a kernel and without a network.

        Parameters
        ----------
        path : path-like
            Where to write; a file that stands there is replaced.
        title : str, optional
            The page's title and heading.

        Raises
        ------
        ValueError
            For another ending.
        """
        if Path(path).suffix.lower() != ".html":
            raise ValueError(f"{str(path)!r} should end in .html")
        known, stand_in = self._without_kernel()
        kept = [name for name in self.keys if name not in _BASE and not name.startswith(_ANYWIDGETS)]
        traits, still = {**self.get_state(kept), **known}, self.still()["text/html"]
        title = title or f"autokit: {self._TITLE}"
        write(path, page(title, str(self._css), str(self._esm), traits, still, stand_in))

    def _set(self, **values: Any) -> None:
        """Set traits, read-only ones too, and tell the browser of all of them at once."""
        with self.hold_sync():
            for name, value in values.items():
                self.set_trait(name, value)

    def _without_kernel(self) -> tuple[dict[str, Any], str]:
        """For a page: traits that are other than here, and JavaScript that stands in for the kernel."""
        return {}, ""

    def still(self) -> dict[str, Any]:
        """What stands in the widget's place where there is no kernel: ``text/plain`` and ``text/html``."""
        raise NotImplementedError

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Show the still, and the widget, which hides the still as long as it is alive.

        These are two outputs: a notebook that is opened without its kernel looks in vain for the
        widget of an output, and shows nothing else of it.
        """
        take_the_place(self)
        display(self.still(), raw=True)  # type: ignore[no-untyped-call]
        self._display_live(**kwargs)

    def _display_live(self, **kwargs: Any) -> None:
        live, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        display({**live, "text/plain": ""}, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]


class Playing(Live):
    """A widget that stands on a step, and plays on from there; a subclass says how many steps there are."""

    step = traitlets.Int(0).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    speed = traitlets.Float(1.0, min=0.1, max=10.0).tag(sync=True)

    def _count(self) -> int:
        raise NotImplementedError

    def seek(self, step: int) -> None:
        """Show ``step``; a negative one counts from the end, as in ``Timeline.state``."""
        step, count = operator.index(step), self._count()
        if not -count <= step < count:
            raise IndexError(f"step {step} is out of range: there are {count} steps")
        self.step = step % count

    @traitlets.validate("step")
    def _stay_within(self, proposal: Any) -> int:
        # A linked slider may overshoot, so a step out of range is taken to the nearest end.
        return int(max(0, min(proposal["value"], self._count() - 1)))

    @traitlets.validate("speed")
    def _play_at_a_speed(self, proposal: Any) -> float:
        speed: float = proposal["value"]
        if math.isnan(speed):  # no bound refuses it
            raise traitlets.TraitError("speed must be a number from 0.1 to 10, not nan")
        return speed
