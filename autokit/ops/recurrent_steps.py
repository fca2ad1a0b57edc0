"""The steps of recurrent layers, one after another and back: each formula once, for every kind of array.

A CPU has all gates side by side in one array and opens some of them in one
call; a kernel of a GPU has each by itself, and what several calls would do in
one launch.  Both run these lines.  ``into`` names arrays that shall hold what
is computed; without them there are new ones, or tensors.

On the way back each gate gives way to its share: what it gets for one unit
that arrives where it opens to.  With all shares known at once a step back is a
few products.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.ops.gpu.kernels import fused

# ---------------------------------------------------------------- one step on


def opened(said: Any, factor: Any = 0.5, shift: Any = 0.5, into: Any = None) -> Any:
    """Gates that take a sigmoid, σ(x) = tanh(x/2)/2 + 1/2; with 1 and 0 those that take a tanh."""
    made = np.multiply(said, factor, out=into)
    made = np.tanh(made, out=into)
    made = np.multiply(made, factor, out=into)
    return np.add(made, shift, out=into)


def plain_state(given: Any, recurrent: Any, into: Any = None) -> Any:
    """The next state of a layer without gates, whose activation is tanh."""
    return np.tanh(np.add(given, recurrent, out=into), out=into)


def lstm_cells(enter: Any, keep: Any, new: Any, cells: Any, into: Any = None) -> Any:
    """The next cells, from the opened gates."""
    kept = np.multiply(keep, cells, out=into)
    return np.add(kept, enter * new, out=into)


def lstm_state(
    enter: Any, keep: Any, new: Any, leave: Any, cells: Any, into: Any = None, into_cells: Any = None
) -> tuple[Any, Any]:
    """The next state and cells, from the opened gates."""
    cells = lstm_cells(enter, keep, new, cells, into_cells)
    return np.multiply(leave, np.tanh(cells, out=into), out=into), cells


def gru_fresh(reset: Any, new: Any, to_new: Any, into: Any = None) -> Any:
    """The third gate of GRU: what is new, from what input and state say to it."""
    said = np.multiply(reset, to_new, out=into)
    return np.tanh(np.add(said, new, out=into), out=into)


def gru_state(
    reset: Any, keep: Any, new: Any, to_new: Any, h: Any, into: Any = None, into_fresh: Any = None
) -> Any:
    """The next state, from the opened gates and what input and state say to the third one."""
    fresh = gru_fresh(reset, new, to_new, into_fresh)
    kept = np.multiply(keep, np.subtract(h, fresh, out=into), out=into)
    return np.add(fresh, kept, out=into)


# ---------------------------------------------------------------- one step back


def plain_slopes(states: Any, kind: str) -> Any:
    """The share of each state of a layer without gates."""
    return 1 - states * states if kind == "RNN_TANH" else (states > 0).astype(states.dtype)


@fused
def lstm_shares(enter, keep, new, leave, cells, before, /):
    """The gates give way to their shares: of the ``cells``, and the last of the state.

    Returns what the cells get for one unit at the state, and those ``before`` for one at the cells; these
    are written on.
    """
    shown, passed = np.tanh(cells), keep.copy()
    entering, states = enter * new, leave * shown
    before *= keep
    to_cells = leave - states * shown
    # The slope of a sigmoid s is s · (1 - s), that of a tanh t is 1 - t².
    new *= entering
    np.subtract(enter, new, out=new)
    for gate, share in ((enter, entering), (keep, before), (leave, states)):
        gate *= share
        np.subtract(share, gate, out=gate)
    return to_cells, passed


@fused
def gru_shares(reset, keep, to_new, fresh, before, /):
    """The gates, and what the state says to the third of them, give way to their shares of the state.

    Returns what the state ``before`` gets for one unit.
    """
    passed, rest = keep.copy(), 1 - keep
    keep *= rest
    keep *= before - fresh
    fresh *= fresh
    np.subtract(1, fresh, out=fresh)
    fresh *= rest
    to_new *= fresh
    to_new *= reset
    np.subtract(1, reset, out=rest)
    rest *= to_new
    np.multiply(fresh, reset, out=to_new)
    reset[...] = rest
    return passed


@fused
def plain_back(by_state, arriving, slopes, into, /):
    """What arrives at one step, and came back to its state, goes to the gate."""
    by_state += arriving
    np.multiply(by_state, slopes, out=into)


def lstm_back(
    by_state: Any,
    arriving: Any,
    by_cells: Any,
    to_cells: Any,
    passed: Any,
    shares: Sequence[Any],
    into: Sequence[Any],
) -> None:
    """Send what arrives at one step to its gates, one by one or several at once, and on to the cells before.

    The last of the ``shares`` is of the state, the others of the cells.
    """
    by_state += arriving
    by_cells += by_state * to_cells
    *of_cells, of_state = zip(shares, into)
    for share, place in of_cells:
        np.multiply(share, by_cells, out=place)
    np.multiply(of_state[0], by_state, out=of_state[1])
    by_cells *= passed


def gru_back(by_state: Any, arriving: Any, passed: Any, shares: Sequence[Any], into: Sequence[Any]) -> None:
    """As :func:`lstm_back`: all shares are of the state."""
    by_state += arriving
    for share, place in zip(shares, into):
        np.multiply(share, by_state, out=place)
    by_state *= passed


# ---------------------------------------------------------------- as one kernel


def step_on_a_gpu(kind: str, given: Any, recurrent: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """The next state, and for LSTM the next cells: from what input and state say to the gates."""
    width = h.shape[1]
    gates = [
        each[:, start : start + width]
        for each in (given, recurrent)
        for start in range(0, given.shape[1], width)
    ]
    if kind == "RNN_TANH":
        return _plain(given, recurrent), c
    if kind == "GRU":
        return _gru(*gates, h), c
    return _lstm(*gates, c)


@fused
def _plain(given, recurrent, /):
    return plain_state(given, recurrent)


@fused
def _lstm(enter, keep, new, leave, to_enter, to_keep, to_new, to_leave, cells, /):
    enter, keep, leave = opened(enter + to_enter), opened(keep + to_keep), opened(leave + to_leave)
    return lstm_state(enter, keep, opened(new + to_new, 1.0, 0.0), leave, cells)


@fused
def _gru(reset, keep, new, to_reset, to_keep, to_new, h, /):
    return gru_state(opened(reset + to_reset), opened(keep + to_keep), new, to_new, h)


@fused
def open_lstm(enter, keep, new, leave, /):
    """Open what was said to the gates."""
    for gate in (enter, keep, leave):
        opened(gate, into=gate)
    opened(new, 1.0, 0.0, into=new)


@fused
def open_gru(reset, keep, to_new, new, /):
    """Open what was said to the gates; the last, of which the input has spoken, is fresh then."""
    for gate in (reset, keep):
        opened(gate, into=gate)
    new[...] = gru_fresh(reset, new, to_new)


@fused
def cells_into(enter, keep, new, cells, into, /):
    """The next cells, in their place."""
    lstm_cells(enter, keep, new, cells, into)


@fused
def lstm_back_on_a_gpu(
    by_state, arriving, by_cells, to_cells, passed, s0, s1, s2, s3, enter, keep, new, leave, /
):  # fmt: skip
    lstm_back(by_state, arriving, by_cells, to_cells, passed, (s0, s1, s2, s3), (enter, keep, new, leave))


@fused
def gru_back_on_a_gpu(by_state, arriving, passed, s0, s1, s2, s3, reset, keep, to_new, fresh, /):
    gru_back(by_state, arriving, passed, (s0, s1, s2, s3), (reset, keep, to_new, fresh))
