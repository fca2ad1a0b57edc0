"""The steps of recurrent layers: what opened gates make of a state, and on a GPU a step as one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.elementwise import logistic
from autokit.ops.gpu.kernels import fused


def step(kind: str, given: Any, recurrent: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """The next state, and for LSTM the next cells, on a GPU."""
    gates = [
        each[:, start : start + h.shape[1]]
        for each in (given, recurrent)
        for start in range(0, given.shape[1], h.shape[1])
    ]
    if kind == "RNN_TANH":
        return _plain(given, recurrent), c
    if kind == "GRU":
        return _gru(*gates, h), c
    return _lstm(*gates, c)


def lstm_state(enter: Any, keep: Any, new: Any, leave: Any, cells: Any) -> tuple[Any, Any]:
    """The next state and cells, from the opened gates: of arrays or tensors."""
    cells = keep * cells + enter * new
    return leave * np.tanh(cells), cells


def gru_state(reset: Any, keep: Any, new: Any, to_new: Any, h: Any) -> Any:
    """The next state, from the opened gates and what input and state say to the third one."""
    fresh = np.tanh(new + reset * to_new)
    return fresh + keep * (h - fresh)


@fused
def _plain(given, recurrent, /):
    return np.tanh(given + recurrent)


@fused
def plain_back(into, arriving, by_state, slopes, /):
    """What arrives at one step, and came back to its state, goes to the gate."""
    into[...] = (arriving + by_state) * slopes


@fused
def _lstm(enter, keep, new, leave, to_enter, to_keep, to_new, to_leave, cells, /):
    enter, keep, leave = logistic(enter + to_enter), logistic(keep + to_keep), logistic(leave + to_leave)
    return lstm_state(enter, keep, np.tanh(new + to_new), leave, cells)


@fused
def _gru(reset, keep, new, to_reset, to_keep, to_new, h, /):
    return gru_state(logistic(reset + to_reset), logistic(keep + to_keep), new, to_new, h)


@fused
def cells_of(cells, keep, entering, before, into, /):
    """Note the ``cells`` in ``before``, let them go one step on, and note them in ``into``."""
    before[...] = cells
    cells *= keep
    cells += entering
    into[...] = cells


def lstm_back(
    by_state: Any, arriving: Any, by_cells: Any, to_cells: Any, keep: Any, shares: Any, into: Any
) -> None:
    """Send what arrives at one step to its gates, and ``by_cells`` on to the step before."""
    gates = [each[:, place] for each in (shares, into) for place in range(4)]
    _lstm_back(by_state, arriving, by_cells, to_cells, keep, *gates)


@fused
def _lstm_back(
    by_state, arriving, by_cells, to_cells, keep, s0, s1, s2, s3, enter, kept, new, leave, /
):  # fmt: skip
    by_state += arriving
    by_cells += by_state * to_cells
    enter[...] = s0 * by_cells
    kept[...] = s1 * by_cells
    new[...] = s2 * by_cells
    leave[...] = s3 * by_state
    by_cells *= keep


def gru_back(
    by_state: Any, arriving: Any, keep: Any, reset: Any, shares: Any, of_given: Any, of_recurrent: Any
) -> None:
    """Send what arrives at one step to its gates, and ``by_state`` on, as far as it was kept."""
    gates = [each[:, place] for each in (shares, of_given, of_recurrent) for place in range(3)]
    _gru_back(by_state, arriving, keep, reset, *gates)


@fused
def _gru_back(by_state, arriving, keep, reset, s0, s1, s2, g0, g1, g2, r0, r1, r2, /):
    by_state += arriving
    g0[...] = s0 * by_state
    r0[...] = s0 * by_state
    g1[...] = s1 * by_state
    r1[...] = s1 * by_state
    g2[...] = s2 * by_state
    r2[...] = s2 * by_state * reset
    by_state *= keep
