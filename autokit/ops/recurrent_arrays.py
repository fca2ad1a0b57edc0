"""Recurrent layers on arrays: forward in fewer calls on NumPy's, and back on those of any kind.

The arrays of one step are so small that a call costs as much as its numbers.
So on NumPy's one tanh opens all gates; what is added to each row is spread over
as many rows as there are before the first step; and results are written where
they stay.

There the gates are kept for the way back, (gates, rows, width): all that one
gate was lies side by side.  So what can be said of all times at once is
computed at once, and a step back is left with what needs the step after it.
Where they were not kept, as on a GPU, they are found again at once from the
states that came out, in one product of matrices.

The formulas of a step are those of :mod:`autokit.ops.recurrent_steps`.

``order`` are the rows of each time, in the order in which they are gone
through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.affine import bias_gradient
from autokit.ops.native import compiled, is_large
from autokit.ops.recurrent_steps import (
    cells_into,
    gru_back,
    gru_back_on_a_gpu,
    gru_shares,
    gru_state,
    lstm_back,
    lstm_back_on_a_gpu,
    lstm_shares,
    lstm_state,
    open_gru,
    open_lstm,
    opened,
    plain_back,
    plain_slopes,
    plain_state,
)
from autokit.threads import each, get_count

Kept = dict[str, Any]
"""What the way forward leaves for the way back: empty at first, and filled once.

The first way back takes the gates out, and writes over them; another one computes them again.
"""


def scan(
    given: Any, h: Any, c: Any, weight: Any, bias: Any, order: list[slice], kind: str, kept: Kept | None
) -> Any:
    """All states in the order of time, then the last ``h``, and for LSTM the last ``c``."""
    count, batch = len(given), len(h)
    out = np.empty((count + batch * (2 if kind == "LSTM" else 1), h.shape[1]), given.dtype)
    keeps = kept == {}
    if kind == "LSTM":
        gates, h, out[count + batch :] = _lstm(given, h, c, weight, bias, out, order, keeps)
    elif kind == "GRU":
        gates, h = _gru(given, h, weight, bias, out, order, keeps)
    else:
        gates, h = (), _plain(given, h, weight, bias, out, order, kind)
    out[count : count + batch] = h
    if kept is not None and keeps:
        kept.update(filled=True, gates=gates)
    return out


def gradients(
    g: Any,
    given: Any,
    h: Any,
    c: Any,
    weight: Any,
    bias: Any,
    out: Any,
    order: list[slice],
    kind: str,
    kept: Kept | None,
) -> tuple[Any, ...]:
    """The gradients of the five operands of :func:`scan`; None of those that are absent."""
    gates = kept.pop("gates", None) if kept else None
    count, batch = len(given), len(h)
    arriving, before, by_cells = g[:count], states_before(h, out, order), None
    by_state = g[count : count + batch].copy()
    if gates is None and kind in _AGAIN:
        said = before @ weight.T
        gates = _AGAIN[kind](given, said + bias if bias.ndim else said, c, order)
    if kind == "LSTM":
        by_cells = g[count + batch :].copy()
        by_given = by_recurrent = _lstm_back(arriving, gates, c, weight, order, by_state, by_cells)
    elif kind == "GRU":
        by_given, by_recurrent = _gru_back(arriving, gates, before, weight, order, by_state)
    else:
        by_given = by_recurrent = _plain_back(arriving, out[:count], weight, order, by_state, kind)
    by_weight = by_recurrent.T @ before
    return by_given, by_state, by_cells, by_weight, bias_gradient(by_recurrent) if bias.ndim else None


def states_before(start: Any, states: Any, order: list[slice]) -> Any:
    """For each row the state that it came from."""
    if len({rows.stop - rows.start for rows in order}) == 1:
        if len(order) == 1:
            return start
        forward = order[0].start < order[1].start
        between = slice(0, order[-1].start) if forward else slice(order[-2].start, order[0].stop)
        return np.concatenate([start, states[between]] if forward else [states[between], start])
    before = np.empty_like(states, shape=(sum(rows.stop - rows.start for rows in order), start.shape[1]))
    last = start.copy()
    for rows in order:
        count = rows.stop - rows.start
        before[rows] = last[:count]
        last[:count] = states[rows]
    return before


def renewed(state: Any, part: Any) -> Any:
    """``state`` with its first rows replaced; the other sequences have ended, or not yet begun."""
    return part if len(part) == len(state) else np.concatenate([part, state[len(part) :]])


def _spread(row: Any, count: int) -> Any:
    """So many copies of ``row``: NumPy adds two arrays of one shape twice as fast as an array and a row."""
    return np.broadcast_to(row, (count, len(row))).copy()


def _by_gate(rows: Any, gates: int) -> Any:
    """(rows, gates · width) as (gates, rows, width).  A view."""
    return rows.reshape((len(rows), gates, rows.shape[1] // gates)).swapaxes(0, 1)


# ---------------------------------------------------------------- without gates


def _plain(given, h, weight, bias, out, order, kind):
    """Write all states into ``out``; the last of them."""
    turned, added = weight.T, _spread(bias, len(h)) if bias.ndim else None
    for rows in order:
        size = rows.stop - rows.start
        new = np.dot(h[:size], turned, out=out[rows])
        if added is not None:
            new += added[:size]
        if kind == "RNN_TANH":
            plain_state(given[rows], new, into=new)
        else:
            new += given[rows]
            np.maximum(new, 0, out=new)
        h = renewed(h, new)
    return h


def _plain_back(arriving, states, weight, order, by_state, kind):
    """What arrives at the gates; ``by_state`` becomes what arrives at the first state."""
    slopes, by_gates = plain_slopes(states, kind), np.empty_like(states)
    for rows in reversed(order):
        part, into = by_state[: rows.stop - rows.start], by_gates[rows]
        plain_back(part, arriving[rows], slopes[rows], into)
        np.dot(into, weight, out=part)
    return by_gates


# ---------------------------------------------------------------- LSTM

PARTS, FEWEST = 8, 8
"""Into so many parts a compiled loop's work is divided among threads, of so many sequences or more."""

MOST_WEIGHTS = 1 << 20
"""Larger weights do not stay in the cache from four rows to the next, as BLAS' parts of them do."""


def _by_loop(
    name: str, read: tuple[Any, ...], order: list[slice], batch: int, written: tuple[Any, ...]
) -> bool:
    """Whether the compiled loop ``name`` went through all times, a few sequences at a time on each thread."""
    starts, sizes = (
        np.array(numbers) for numbers in zip(*[(rows.start, rows.stop - rows.start) for rows in order])
    )
    loop = compiled(name, *read, starts, sizes, 0, batch, *written)
    if loop is None:
        return False

    # Numbers of one time lie together: the more sequences a part has, the longer are its runs.
    together = batch if get_count() == 1 else max(4 * -(-batch // (4 * PARTS)), FEWEST)

    def work(first: int) -> None:
        loop(*read, starts, sizes, first, min(first + together, batch), *written)

    each(work, range(0, batch, together))
    return True


def _lstm(given, h, c, weight, bias, out, order, keeps):
    """Write all states into ``out``; gates and cells if they are kept, the last state and cells."""
    batch, width = h.shape
    kept = len(given) if keeps else batch
    gates, cells = np.empty((4, kept, width), given.dtype), np.empty((kept, width), given.dtype)
    if is_large(given) and weight.size <= MOST_WEIGHTS:
        added = bias if bias.ndim else np.zeros(4 * width, bias.dtype)
        read = given, h, c, np.ascontiguousarray(weight.T), added
        if _by_loop("native_recurrent.lstm", read, order, batch, (int(keeps), out, gates, cells)):
            return (gates, cells), out[len(given) : -batch], out[-batch:]
    both = np.empty((batch, 4 * width), given.dtype)
    # 1/2 and 1/2 for the gates that take a sigmoid, 1 and 0 for the third, which takes a tanh.
    halves = np.repeat(np.array([[0.5, 0.5, 1, 0.5], [0.5, 0.5, 0, 0.5]], given.dtype), width, axis=1)
    turned, factor, shift = weight.T, _spread(halves[0], batch), _spread(halves[1], batch)
    added = _spread(bias, batch) if bias.ndim else None
    for rows in order:
        size = rows.stop - rows.start
        said = np.dot(h[:size], turned, out=both[:size])
        said += given[rows]
        if added is not None:
            said += added[:size]
        opened(said, factor[:size], shift[:size], into=said)
        where = rows if keeps else slice(0, size)
        enter, keep, new, leave = here = gates[:, where]
        np.copyto(here, _by_gate(said, 4))
        state, now = lstm_state(enter, keep, new, leave, c[:size], out[rows], cells[where])
        h, c = renewed(h, state), renewed(c, now)
    return (gates, cells), h, c


def _lstm_again(given, said, c, order):
    """The gates and cells of all times, from what the states before them say."""
    said += given
    gates = np.empty_like(said, shape=(4, len(given), c.shape[1]))
    gates[...] = _by_gate(said, 4)
    open_lstm(*gates)
    enter, keep, new, _leave = gates
    cells = np.empty_like(enter)
    for rows in order:
        cells_into(enter[rows], keep[rows], new[rows], c[: rows.stop - rows.start], cells[rows])
        c = renewed(c, cells[rows])
    return gates, cells


def _lstm_back(arriving, found, c, weight, order, by_state, by_cells):
    """As :func:`_plain_back`, with the gates and cells that were ``found``; it writes over the gates."""
    gates, cells = found
    by_gates = np.empty_like(cells, shape=(len(cells), 4 * c.shape[1]))
    in_turn = gates.__class__ is np.ndarray
    if in_turn and is_large(by_gates) and weight.size <= MOST_WEIGHTS:
        read = arriving, gates, cells, c, weight
        if _by_loop("native_recurrent.lstm_back", read, order, len(c), (by_state, by_cells, by_gates)):
            return by_gates
    before = states_before(c, cells, order)
    to_cells, passed = lstm_shares(*gates, cells, before.copy() if before is c else before)
    del before  # it is as large as a gate
    for rows in reversed(order):
        size = rows.stop - rows.start
        part, cell_part, into = by_state[:size], by_cells[:size], _by_gate(by_gates[rows], 4)
        met = part, arriving[rows], cell_part, to_cells[rows], passed[rows]
        if in_turn:
            shares = gates[:, rows]
            both = shares[:3], shares[3]
            lstm_back(*met, both, both)
            np.copyto(into, shares)
        else:
            lstm_back_on_a_gpu(*met, *gates[:, rows], *into)
        np.dot(by_gates[rows], weight, out=part)
    return by_gates


# ---------------------------------------------------------------- GRU


def _gru(given, h, weight, bias, out, order, keeps):
    """Write all states into ``out``; the gates of all times if they are kept, and the last state.

    Between them stands what the state before said to the third.
    """
    batch, width = h.shape
    gates = np.empty((4, len(given) if keeps else batch, width), given.dtype)
    said, sums = np.empty((batch, 3 * width), given.dtype), np.empty((batch, 2 * width), given.dtype)
    turned, added = weight.T, _spread(bias, batch) if bias.ndim else None
    for rows in order:
        size = rows.stop - rows.start
        from_state, both, from_input = said[:size], sums[:size], given[rows]
        np.dot(h[:size], turned, out=from_state)
        if added is not None:
            from_state += added[:size]
        np.add(from_state[:, : 2 * width], from_input[:, : 2 * width], out=both)
        opened(both, into=both)
        here = gates[:, rows if keeps else slice(0, size)]
        np.copyto(here[:2], _by_gate(both, 2))
        reset, keep, to_new, fresh = here
        to_new[...] = from_state[:, 2 * width :]
        h = renewed(h, gru_state(reset, keep, from_input[:, 2 * width :], to_new, h[:size], out[rows], fresh))
    return gates, h


def _gru_again(given, said, c, order):
    """The gates of all times, as :func:`_gru` keeps them, from what the states before them say."""
    width = said.shape[1] // 3
    gates = np.empty_like(said, shape=(4, len(given), width))
    gates[:3] = _by_gate(said, 3)
    gates[:2] += _by_gate(given[:, : 2 * width], 2)
    gates[3] = given[:, 2 * width :]
    open_gru(*gates)
    return gates


def _gru_back(arriving, gates, before, weight, order, by_state):
    """What arrives at what the input gave to the gates, and what the state gave; as :func:`_plain_back`."""
    passed, in_turn = gru_shares(*gates, before), gates.__class__ is np.ndarray
    by_recurrent = np.empty_like(before, shape=(len(before), 3 * before.shape[1]))
    from_state = np.empty_like(by_state)
    for rows in reversed(order):
        size, shares, into = rows.stop - rows.start, gates[:, rows], _by_gate(by_recurrent[rows], 3)
        part = by_state[:size]
        met = part, arriving[rows], passed[rows]
        if in_turn:
            gru_back(*met, (shares,), (shares,))
            np.copyto(into, shares[:3])
        else:
            gru_back_on_a_gpu(*met, *shares, *into, shares[3])
        part += np.dot(by_recurrent[rows], weight, out=from_state[:size])
    by_given = by_recurrent.copy()
    _by_gate(by_given, 3)[2] = gates[3]
    return by_given, by_recurrent


_AGAIN = {"LSTM": _lstm_again, "GRU": _gru_again}
