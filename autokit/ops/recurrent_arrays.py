"""Recurrent layers on NumPy's arrays: what :mod:`autokit.ops.recurrent` computes, in fewer calls.

The arrays of one step are so small that a call costs as much as its numbers.
So one tanh opens all gates, as σ(x) = tanh(x/2)/2 + 1/2; what is added to each
row is spread over as many rows as there are before the first step; and results
are written where they stay.

The gates are kept for the way back, (gates, rows, width): all that one gate
was lies side by side.  So what can be said of all times at once is computed at
once, and a step back is left with what needs the step after it.

``order`` are the rows of each time, in the order in which they are gone
through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.affine import bias_gradient
from autokit.ops.native import compiled, is_large
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
    if gates is None:
        again: Kept = {}
        scan(given, h, c, weight, bias, order, kind, again)
        gates = again["gates"]
    count, batch = len(given), len(h)
    arriving, before, by_cells = g[:count], states_before(h, out, order), None
    by_state = g[count : count + batch].copy()
    if kind == "LSTM":
        by_cells = g[count + batch :].copy()
        by_given = by_recurrent = _lstm_back(arriving, gates, c, weight, order, by_state, by_cells)
    elif kind == "GRU":
        by_given, by_recurrent = _gru_back(arriving, gates, before, weight, order, by_state)
    else:
        by_given = by_recurrent = _plain_back(arriving, out[:count], weight, order, by_state, kind)
    by_weight = by_recurrent.T.dot(before)
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
        new += given[rows]
        if added is not None:
            new += added[:size]
        if kind == "RNN_TANH":
            np.tanh(new, out=new)
        else:
            np.maximum(new, 0, out=new)
        h = renewed(h, new)
    return h


def _plain_back(arriving, states, weight, order, by_state, kind):
    """What arrives at the gates; ``by_state`` becomes what arrives at the first state."""
    slopes = 1 - states * states if kind == "RNN_TANH" else (states > 0).astype(states.dtype)
    by_gates = np.empty_like(states)
    for rows in reversed(order):
        part, into = by_state[: rows.stop - rows.start], by_gates[rows]
        part += arriving[rows]
        np.multiply(part, slopes[rows], out=into)
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
    both, entering = np.empty((batch, 4 * width), given.dtype), np.empty_like(h)
    # 1/2 and 1/2 for the gates that take a sigmoid, 1 and 0 for the third, which takes a tanh.
    halves = np.repeat(np.array([[0.5, 0.5, 1, 0.5], [0.5, 0.5, 0, 0.5]], given.dtype), width, axis=1)
    turned, factor, shift = weight.T, _spread(halves[0], batch), _spread(halves[1], batch)
    added = _spread(bias, batch) if bias.ndim else None
    for rows in order:
        size = rows.stop - rows.start
        opened = both[:size]
        np.dot(h[:size], turned, out=opened)
        opened += given[rows]
        if added is not None:
            opened += added[:size]
        opened *= factor[:size]
        np.tanh(opened, out=opened)
        opened *= factor[:size]
        opened += shift[:size]
        where = rows if keeps else slice(0, size)
        enter, keep, new, leave = here = gates[:, where]
        np.copyto(here, _by_gate(opened, 4))
        now = np.multiply(keep, c[:size], out=cells[where])
        now += np.multiply(enter, new, out=entering[:size])
        state = np.tanh(now, out=out[rows])
        state *= leave
        h, c = renewed(h, state), renewed(c, now)
    return (gates, cells), h, c


def _lstm_back(arriving, found, c, weight, order, by_state, by_cells):
    """As :func:`_plain_back`, with the gates and cells that were ``found`` on the way forward."""
    gates, cells = found
    by_gates = np.empty((len(cells), 4 * c.shape[1]), cells.dtype)
    if is_large(by_gates) and weight.size <= MOST_WEIGHTS:
        read = arriving, gates, cells, c, weight
        if _by_loop("native_recurrent.lstm_back", read, order, len(c), (by_state, by_cells, by_gates)):
            return by_gates
    enter, keep, new, leave = gates
    shown, kept = np.tanh(cells), keep * states_before(c, cells, order)
    entering, states, passed = enter * new, leave * shown, keep.copy()
    to_cells = leave - states * shown
    # Each gate gives way to what it gets: the first three for one unit at the cells, the last for one at the
    # state.  The slope of a sigmoid s is s · (1 - s), that of a tanh t is 1 - t².
    new *= entering
    np.subtract(enter, new, out=new)
    for gate, share in ((enter, entering), (keep, kept), (leave, states)):
        gate *= share
        np.subtract(share, gate, out=gate)
    sent, shown_to = np.empty((4, *c.shape), cells.dtype), np.empty_like(c)
    for rows in reversed(order):
        size = rows.stop - rows.start
        part, cell_part, into = by_state[:size], by_cells[:size], sent[:, :size]
        part += arriving[rows]
        cell_part += np.multiply(part, to_cells[rows], out=shown_to[:size])
        np.multiply(gates[:3, rows], cell_part, out=into[:3])
        np.multiply(leave[rows], part, out=into[3])
        cell_part *= passed[rows]
        np.copyto(_by_gate(by_gates[rows], 4), into)
        np.dot(by_gates[rows], weight, out=part)
    return by_gates


# ---------------------------------------------------------------- GRU


def _gru(given, h, weight, bias, out, order, keeps):
    """Write all states into ``out``; the gates of all times if they are kept, and the last state.

    Beside the three gates stands what the state before said to the third of them.
    """
    batch, width = h.shape
    gates = np.empty((4, len(given) if keeps else batch, width), given.dtype)
    said, opened = np.empty((batch, 3 * width), given.dtype), np.empty((batch, 2 * width), given.dtype)
    turned, added = weight.T, _spread(bias, batch) if bias.ndim else None
    for rows in order:
        size = rows.stop - rows.start
        from_state, both, from_input = said[:size], opened[:size], given[rows]
        np.dot(h[:size], turned, out=from_state)
        if added is not None:
            from_state += added[:size]
        np.add(from_state[:, : 2 * width], from_input[:, : 2 * width], out=both)
        both *= 0.5
        np.tanh(both, out=both)
        both *= 0.5
        both += 0.5
        here = gates[:, rows if keeps else slice(0, size)]
        np.copyto(here[:2], _by_gate(both, 2))
        reset, keep, new, to_new = here
        to_new[...] = from_state[:, 2 * width :]
        np.multiply(reset, to_new, out=new)
        new += from_input[:, 2 * width :]
        np.tanh(new, out=new)
        state = np.subtract(h[:size], new, out=out[rows])
        state *= keep
        state += new
        h = renewed(h, state)
    return gates, h


def _gru_back(arriving, gates, before, weight, order, by_state):
    """What arrives at what the input gave to the gates, and what the state gave; as :func:`_plain_back`."""
    reset, keep, new, to_new = gates
    let_go = 1 - keep
    # What each gate gets for one unit that arrives at the state, in the gates' own order.
    shares = np.empty((3, *before.shape), before.dtype)
    by_reset, by_keep, by_new = shares
    np.multiply(new, new, out=by_new)
    np.subtract(1, by_new, out=by_new)
    by_new *= let_go
    np.subtract(before, new, out=by_keep)
    by_keep *= keep
    by_keep *= let_go
    np.multiply(by_new, to_new, out=by_reset)
    by_reset *= reset
    by_reset *= np.subtract(1, reset, out=let_go)
    by_given = np.empty((before.shape[0], 3 * before.shape[1]), before.dtype)
    by_recurrent = np.empty_like(by_given)
    sent, passed = np.empty((3, *by_state.shape), before.dtype), np.empty_like(by_state)
    for rows in reversed(order):
        size = rows.stop - rows.start
        part, into = by_state[:size], sent[:, :size]
        part += arriving[rows]
        np.multiply(shares[:, rows], part, out=into)
        np.copyto(_by_gate(by_given[rows], 3), into)
        into[2] *= reset[rows]
        np.copyto(_by_gate(by_recurrent[rows], 3), into)
        part *= keep[rows]
        part += np.dot(by_recurrent[rows], weight, out=passed[:size])
    return by_given, by_recurrent
