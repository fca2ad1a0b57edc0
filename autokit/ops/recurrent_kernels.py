"""The steps of recurrent layers on a GPU, each of them one kernel beside its product of matrices.

They compute what :mod:`autokit.ops.recurrent` computes call by call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.gpu.kernels import fused


def step(kind: str, given: Any, recurrent: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """The next state, and for LSTM the next cells."""
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


def _opened(x: Any) -> Any:
    """The sigmoid of ``x``."""
    return np.tanh(x * 0.5) * 0.5 + 0.5


@fused
def _plain(given, recurrent, /):
    return np.tanh(given + recurrent)


@fused
def plain_back(into, arriving, by_state, slopes, /):
    """What arrives at one step, and came back to its state, goes to the gate."""
    into[...] = (arriving + by_state) * slopes


@fused
def _lstm(enter, keep, new, leave, to_enter, to_keep, to_new, to_leave, cells, /):
    kept = _opened(keep + to_keep) * cells
    cells = kept + _opened(enter + to_enter) * np.tanh(new + to_new)
    return _opened(leave + to_leave) * np.tanh(cells), cells


@fused
def _gru(reset, keep, new, to_reset, to_keep, to_new, h, /):
    fresh = np.tanh(new + _opened(reset + to_reset) * to_new)
    return fresh + _opened(keep + to_keep) * (h - fresh)


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
