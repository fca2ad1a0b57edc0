"""A widget that shows a training run while it goes on: the loss, and figures of each layer."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets
from IPython import get_ipython
from IPython.display import display

from autokit.distributed.group import exchange, get_rank, is_initialized, waited
from autokit.draw.table import table_html, table_text
from autokit.graphs.model import Table
from autokit.graphs.summary import number, with_minus
from autokit.graphs.training import Watch
from autokit.graphs.words import counted
from autokit.widgets.live import Live, figure_if_any, finite, live_css, still_bundle
from autokit.widgets.script import bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from autokit.engine.tensor import Tensor
    from autokit.nn.module import Module
    from autokit.optim.optimizer import Optimizer

POINTS = 300
"""How many points of a line a browser is sent: of a longer run, means of neighbours."""

PAUSE = 0.5
"""The least time in seconds between two messages to the browser."""


class Monitor(Live):
    """Watches a training run.  Made by :func:`monitor`; see there.

    The traits follow the run twice a second, and stand exactly when it has ended; all are read only.

    Attributes
    ----------
    steps : int
        How many steps there were.
    total : int
        How many there will be; 0 where nobody said.
    loss, learning_rate : float
        Of the last step.
    running : bool
    alarm : str
        Where the first number arose that is not finite; else empty.
    selected : str
        The layer whose lines are marked; may be set.
    ranks : list of [float, float, float]
        For each rank of a process group the loss, and for how many seconds it has computed, and has waited
        for others or exchanged arrays, since the monitor began.
    """

    _TITLE = "a training run"
    _esm = bundle("monitor.js")
    _css = live_css()

    steps = traitlets.Int(0, read_only=True).tag(sync=True)
    total = traitlets.Int(0, read_only=True).tag(sync=True)
    loss = traitlets.Float(math.nan, read_only=True).tag(sync=True, to_json=finite)
    learning_rate = traitlets.Float(0.0, read_only=True).tag(sync=True, to_json=finite)
    running = traitlets.Bool(False, read_only=True).tag(sync=True)
    alarm = traitlets.Unicode("", read_only=True).tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    _layers: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    _told = traitlets.Dict(read_only=True).tag(sync=True)
    _losses = traitlets.Bytes(b"", read_only=True).tag(sync=True)
    _rates = traitlets.Bytes(b"", read_only=True).tag(sync=True)
    _norms = traitlets.Bytes(b"", read_only=True).tag(sync=True)
    _ratios = traitlets.Bytes(b"", read_only=True).tag(sync=True)

    def __init__(
        self, model: Module, optimizer: Optimizer, total: int = 0, every: int = 10, scale: str | None = None
    ) -> None:
        self._watch = Watch(model, optimizer, every, scale)
        self._next = -math.inf
        self._began, self._waited = time.perf_counter(), waited()
        self.ranks: list[list[float]] = []
        self._place: Any = None
        super().__init__()
        self.set_trait("total", max(0, int(total)))
        self.set_trait("_layers", list(self._watch.history.layers))
        self.set_trait("running", True)
        self._tell()

    def step(self, loss: Tensor | float) -> None:
        """Say, after ``optimizer.step()``, what the loss of this step was."""
        self._watch.step(loss)
        count = len(self._watch.history.losses)
        if count % self._watch.every == 0 or count == self.total:
            waiting = waited() - self._waited
            computing = time.perf_counter() - self._began - waiting
            self.ranks = exchange("ak.monitor", self._watch.history.losses[-1], computing, waiting).tolist()
        if (now := time.monotonic()) >= self._next:
            self._tell()
            self._next = now + PAUSE

    def finish(self) -> None:
        """The run is over: stop watching, and leave its figure as the still.  May be called twice."""
        if not self.running:
            return
        self._watch.close()
        self.set_trait("running", False)
        self._tell()
        if self._place is not None:
            self._place.update(self.still(), raw=True)

    def figure(self) -> Figure:
        """The run as a matplotlib figure."""
        from autokit.plot.training import training

        return training(self._watch.history)

    def still(self) -> dict[str, Any]:
        """The run as a figure, and as a table."""
        words = self._sentence()
        picture = figure_if_any(self.figure, words) if self._watch.history.losses else ""
        ranks = [self._ranks()] if self._ranks().rows else []
        plain = "\n".join([words, *map(table_text, [self._table(), *ranks])])
        return still_bundle(plain, words, picture, *map(table_html, ranks))

    def _without_kernel(self) -> tuple[dict[str, Any], str]:
        self._tell()  # a page holds the run up to now
        return ({"running": False, "_state": "Saved while it ran"} if self.running else {}), ""

    def close(self) -> None:
        """Take the widget away, and stop watching."""
        if hasattr(self, "_watch"):  # not where its arguments were refused
            self._watch.close()
        super().close()

    def __enter__(self) -> Monitor:
        self._display_live()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
        if _is_seen():
            # An output of its own, below the widget: a stored notebook can be compared with a new run.
            display(self.still(), raw=True)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        return f"Monitor({counted(len(self._watch.history.losses), 'step')}, {len(self._layers)} layers)"

    def _ipython_display_(self, **kwargs: Any) -> None:
        if _is_seen():
            self._place = display(self.still(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
        self._display_live(**kwargs)

    def _display_live(self, **kwargs: Any) -> None:
        # No message of a cluster's engine reaches the browser.
        kernel = getattr(get_ipython(), "kernel", None)  # type: ignore[no-untyped-call]
        if _is_seen() and not hasattr(kernel, "engine_id"):
            super()._display_live(**kwargs)

    # ------------------------------------------------------------ what the browser is told

    def _tell(self) -> None:
        history = self._watch.history
        with self.hold_sync():
            self.set_trait("steps", len(history.losses))
            if history.losses:
                self.set_trait("loss", history.losses[-1])
                self.set_trait("learning_rate", history.rates[-1])
            self.set_trait("alarm", history.alarm)
            self.set_trait("_losses", _lines(np.arange(1, len(history.losses) + 1), history.losses))
            self.set_trait("_rates", _lines(np.arange(1, len(history.rates) + 1), history.rates))
            self.set_trait("_norms", _lines(history.sampled, history.norms))
            self.set_trait("_ratios", _lines(history.sampled, history.ratios))
            self.set_trait("_told", self._words())

    def _words(self) -> dict[str, Any]:
        history = self._watch.history
        return {
            "sentence": self._sentence(),
            "loss": number(history.losses[-1]) if history.losses else "—",
            "rate": number(history.rates[-1]) if history.rates else "—",
            "title": history.loss_title,
            "powers": bool(history.powers),
            "constant": history.constant_rate,
            "rows": [list(row) for row in self._table().rows],
            "ranks": [list(row) for row in self._ranks().rows],
        }

    def _sentence(self) -> str:
        losses, total = self._watch.history.losses, self.total
        if not losses:
            return "No step was taken so far."
        steps = counted(len(losses), "step") + (f" of {total:,}" if total else "")
        first, last = number(losses[0]), number(losses[-1])
        when = "At" if self.running else "After"
        told = f"{when} {steps} the loss is {last}; it began at {first}."
        return f"{told} {self._watch.history.alarm}".strip()

    def _table(self) -> Table:
        history = self._watch.history
        norms = dict(zip(history.layers, map(_shown, history.norms[-1] if history.norms else ())))
        ratios = dict(zip(history.layers, map(_shown, history.ratios[-1] if history.ratios else ())))
        dead = {name: f"{dead:,} of {units:,}" for name, (dead, units) in history.dead.items()}
        names = [name for name in history.modules if name in history.layers or name in dead]
        names += sorted(dead.keys() - set(names))  # a rectifier that is called as a function
        rows = [tuple(column.get(name, "") for column in (norms, ratios, dead)) for name in names]
        head = ("layer", "gradient norm", "update ÷ weights", "silent on the batch")
        at = f" at step {history.sampled[-1]:,}" if history.sampled else ""
        return Table(f"Layers{at}", head, tuple((name, *row) for name, row in zip(names, rows)))

    def _ranks(self) -> Table:
        """Nothing but a head, where there is one rank."""
        rows = [
            (str(k), number(loss), f"{own:.2f} s", f"{idle:.2f} s")
            for k, (loss, own, idle) in enumerate(self.ranks)
        ]
        times = [own for _, own, _ in self.ranks] or [0.0]
        slow = times.index(max(times))
        note = f"Rank {slow} computes longest: the others wait for it."
        uneven = max(times) > 1.1 * min(times)
        head = ("rank", "loss", "computing", "waiting")
        return Table("Ranks", head, tuple(rows[1:] and rows), (note,) * uneven)


def _is_seen() -> bool:
    """Whether anybody sees what is displayed here: in a notebook, and of a process group's ranks rank 0."""
    return get_ipython() is not None and not (is_initialized() and get_rank())  # type: ignore[no-untyped-call]


def monitor(
    model: Module, optimizer: Optimizer, total: int = 0, every: int = 10, scale: str | None = None
) -> Monitor:
    """Watch a training run: loss, learning rate, and what happens in each layer, while it happens.

    Call :meth:`Monitor.step` with the loss after each ``optimizer.step()``.  As a ``with`` block it shows
    itself at the beginning, and at the end leaves a figure that stands still; without one, show it as the
    last value of a cell and call :meth:`Monitor.finish`.

    For each layer it shows the norm of the gradient and how far an update moves the weights, as a part of
    their size (a thousandth is common), and for each rectifier how many of its units gave 0 for a whole
    batch.  The first number that is not finite raises an alarm that names its layer.

    In a training on several ranks each of them calls it with the same ``total`` and ``every``. At every so
    many steps, and at the last, the ranks exchange their losses and times, and rank 0 shows all of them: in
    a ``%%px`` cell when the block ends.

    Parameters
    ----------
    model : Module
    optimizer : Optimizer
    total : int, optional
        How many steps there will be, for the progress bar.
    every : int
        At every so many steps the layers are measured; loss and learning rate are noted at each.
    scale : {"powers", "even"}, optional
        The axis of the losses from the first step to the last: of powers of ten, or in even steps, as for a
        loss that may fall below 0.  Left out, powers of ten if the first loss is above 0.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import nn, optim
    >>> model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
    >>> x = torch.ones(4, 3)
    >>> with monitor(model, optimizer, total=20) as watch:
    ...     for step in range(20):
    ...         optimizer.zero_grad()
    ...         loss = (model(x) - 1).pow(2).mean()
    ...         loss.backward()
    ...         optimizer.step()
    ...         watch.step(loss)
    >>> watch
    Monitor(20 steps, 2 layers)
    """
    return Monitor(model, optimizer, total, every, scale)


def _shown(value: float) -> str:
    return with_minus(f"{value:.3g}")


def _lines(steps: Any, rows: Any) -> bytes:
    """Rows of a step and its values in 4-byte floats; of a long run the means of neighbours, and the end."""
    if not len(rows):
        return b""
    values = every = np.column_stack([np.asarray(steps, np.float64), np.asarray(rows, np.float64)])
    wide = math.ceil(len(values) / POINTS)
    if wide > 1:
        starts = np.arange(0, len(values), wide)
        counts = np.diff([*starts, len(values)])
        values = np.add.reduceat(values, starts, axis=0) / counts[:, None]
        values[-1] = every[-1]  # where the line ends is what is told in figures
    return values.astype("<f4").tobytes()
