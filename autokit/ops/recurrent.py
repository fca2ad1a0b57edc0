"""Recurrent layers: one step after another, each from its own input and from what the step before gave.

A whole sequence is one operation.  On the way forward each step needs the one
before it; on the way back, all the gates are found again at once from the
states that came out, in one product of matrices, so that nothing but the
result has to be kept.

Sequences lie in one array, (rows, width), time after time: ``sizes`` says how
many rows belong to each time.  Where sequences end early the sizes fall, as
in PyTorch's packed sequences.

References
----------
S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997.
K. Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", EMNLP 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from autokit.devices import beside, on_a_gpu
from autokit.ops import recurrent_kernels
from autokit.ops.elementwise import relu, sigmoid, tanh
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}
"""How many gates each kind has: its weights have so many times as many rows as the state has places."""


def _step(kind: str, given: Any, recurrent: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """The next state, of arrays or tensors: from what the input and the state before give to the gates."""
    if kind in ("GRU", "LSTM") and on_a_gpu(given) and h.shape[1] * GATES[kind] == given.shape[1]:
        return recurrent_kernels.step(kind, given, recurrent, h, c)
    width = h.shape[1]
    if kind == "GRU":
        both = on(sigmoid, given[:, : 2 * width] + recurrent[:, : 2 * width])
        new = on(tanh, given[:, 2 * width :] + both[:, :width] * recurrent[:, 2 * width :])
        return new + both[:, width:] * (h - new), c
    gates = given + recurrent
    if kind != "LSTM":
        return on(tanh if kind == "RNN_TANH" else relu, gates), c
    width = c.shape[1]
    both = on(sigmoid, gates[:, : 2 * width])
    new = on(tanh, gates[:, 2 * width : 3 * width])
    c = both[:, width:] * c + both[:, :width] * new
    return on(sigmoid, gates[:, 3 * width :]) * on(tanh, c), c


def _times(sizes: tuple[int, ...], backwards: bool) -> Iterator[slice]:
    """The rows of each time, in the order in which they are gone through."""
    rows = [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes)]
    return reversed(rows) if backwards else iter(rows)


def _renewed(state: Any, part: Any) -> Any:
    """``state`` with its first rows replaced; the other sequences have ended, or not yet begun."""
    return part if len(part) == len(state) else np.concatenate([part, state[len(part) :]])


def walk(
    given: Any,
    h: Any,
    c: Any,
    by_state: Callable[[Any], Any],
    sizes: tuple[int, ...],
    backwards: bool,
    kind: str,
    projection: Any = None,
) -> tuple[list[Any], Any, Any]:
    """The states of each time, the last ``h``, and for LSTM the last ``c``: of arrays or of tensors.

    ``by_state`` gives what the state before has to say to the gates.
    """
    states = []
    for rows in _times(sizes, backwards):
        count = rows.stop - rows.start
        before = h[:count]
        new, cells = _step(kind, given[rows], by_state(before), before, c[:count] if c.ndim else c)
        if projection is not None:
            new = new @ projection.T
        states.append(new)
        h = _renewed(h, new)
        c = _renewed(c, cells) if c.ndim else c
    if backwards:
        states.reverse()
    return states, h, c


def scan(
    given: Any,
    h: Any,
    c: Any,
    weight: Any,
    bias: Any,
    sizes: tuple[int, ...],
    backwards: bool,
    kind: str,
) -> Any:
    """All states in the order of time, then the last ``h``, and for LSTM the last ``c``."""
    turned = weight.T

    def by_state(before: Any) -> Any:
        return before @ turned + bias if bias.ndim else before @ turned

    states, h, c = walk(given, h, c, by_state, sizes, backwards, kind)
    return np.concatenate([*states, h, c] if c.ndim else [*states, h])


# ---------------------------------------------------------------- on arrays, faster


@lru_cache(maxsize=16)
def _halves(width: int, dtype: np.dtype) -> tuple[Any, Any]:
    """1/2 and 1/2 for the gates that take a sigmoid, 1 and 0 for the third, which takes a tanh."""
    factor, shift = np.full((2, 4, width), 0.5, dtype)
    factor[2], shift[2] = 1, 0
    return factor.reshape(-1), shift.reshape(-1)


def _open_gates(gates: Any) -> None:
    """Apply the functions of an LSTM's gates in place: σ(x) = tanh(x/2)/2 + 1/2, so one tanh does."""
    factor, shift = (beside(gates, each) for each in _halves(gates.shape[1] // 4, gates.dtype))
    gates *= factor
    np.tanh(gates, out=gates)
    gates *= factor
    gates += shift


def _scan_on_arrays(
    given: Any,
    h: Any,
    c: Any,
    weight: Any,
    bias: Any,
    sizes: tuple[int, ...],
    backwards: bool,
    kind: str,
) -> Any:
    """:func:`scan`; for LSTM with fewer calls and arrays on the way."""
    if kind != "LSTM" or any(each.__class__ is not np.ndarray for each in (given, h, c, weight, bias)):
        return scan(given, h, c, weight, bias, sizes, backwards, kind)
    count, width, turned = len(given), h.shape[1], weight.T
    out = np.empty((count + 2 * len(h), width), given.dtype)
    for rows in _times(sizes, backwards):
        size = rows.stop - rows.start
        gates = h[:size].dot(turned)
        gates += given[rows]
        if bias.ndim:
            gates += bias
        _open_gates(gates)
        cells = gates[:, width : 2 * width] * c[:size]
        cells += gates[:, :width] * gates[:, 2 * width : 3 * width]
        new = np.tanh(cells, out=out[rows])
        new *= gates[:, 3 * width :]
        h, c = _renewed(h, new), _renewed(c, cells)
    out[count : count + len(h)] = h
    out[count + len(h) :] = c
    return out


# ---------------------------------------------------------------- the way back


def _gradients(
    g: Any,
    given: Any,
    h: Any,
    c: Any,
    weight: Any,
    bias: Any,
    out: Any,
    sizes: tuple[int, ...],
    backwards: bool,
    kind: str,
) -> tuple[Any, ...]:
    if any(isinstance(each, Tensor) for each in (g, given, h, c, weight, bias)):
        return _gradients_of_tensors(g, (given, h, c, weight, bias), (sizes, backwards, kind))
    order = list(_times(sizes, backwards))
    count, batch = len(given), len(h)
    before = _states_before(h, out, order)
    recurrent = before @ weight.T
    if bias.ndim:
        recurrent += bias
    back = {"GRU": _back_gru, "LSTM": _back_lstm}.get(kind, _back_plain)
    arriving = g[:count]
    by_state = g[count : count + batch].copy()
    by_cells = g[count + batch :].copy() if kind == "LSTM" else None
    by_given, by_recurrent = back(
        arriving, given, recurrent, before, out, weight, order, by_state, by_cells, c, kind
    )
    return (
        by_given,
        by_state,
        by_cells,
        by_recurrent.T @ before,
        by_recurrent.sum(axis=0) if bias.ndim else None,
    )


def _gradients_of_tensors(g: Any, operands: tuple[Any, ...], settings: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same as a graph, for derivatives of derivatives: every step is recorded again by itself."""
    from autokit.autograd import grad

    learning = [each for each in operands if isinstance(each, Tensor) and each.requires_grad]
    found = iter(grad(scan(*operands, *settings), learning, g, create_graph=True, allow_unused=True))
    return tuple([next(found) if any(each is one for one in learning) else None for each in operands])


def _states_before(start: Any, states: Any, order: list[slice]) -> Any:
    """For each row the state that it came from."""
    if on_a_gpu(states) and len({each.stop - each.start for each in order}) == 1 and len(order) > 1:
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


def _back_plain(
    arriving, given, recurrent, before, out, weight, order, by_state, by_cells, c, kind
):  # fmt: skip
    states = out[: len(given)]
    slopes = 1 - states * states if kind == "RNN_TANH" else (states > 0).astype(states.dtype)
    by_gates = np.empty_like(given)
    for rows in reversed(order):
        part = by_state[: rows.stop - rows.start]
        np.multiply(arriving[rows] + part, slopes[rows], out=by_gates[rows])
        np.matmul(by_gates[rows], weight, out=part)
    return by_gates, by_gates


def _back_gru(
    arriving, given, recurrent, before, out, weight, order, by_state, by_cells, c, kind
):  # fmt: skip
    width = before.shape[1]
    both = sigmoid.operation.forward(given[:, : 2 * width] + recurrent[:, : 2 * width])
    reset, keep = both[:, :width], both[:, width:]
    new = np.tanh(given[:, 2 * width :] + reset * recurrent[:, 2 * width :])
    # What each gate gets for one unit that arrives at the state.
    by_new = (1 - keep) * (1 - new * new)
    shares = np.concatenate(
        [
            by_new * recurrent[:, 2 * width :] * reset * (1 - reset),
            (before - new) * keep * (1 - keep),
            by_new,
        ],
        axis=1,
    ).reshape(-1, 3, width)
    by_given, by_recurrent = np.empty_like(given), np.empty_like(given)
    of_given, of_recurrent = by_given.reshape(-1, 3, width), by_recurrent.reshape(-1, 3, width)
    for rows in reversed(order):
        part = by_state[: rows.stop - rows.start]
        if on_a_gpu(part):
            recurrent_kernels.gru_back(
                part,
                arriving[rows],
                keep[rows],
                reset[rows],
                shares[rows],
                of_given[rows],
                of_recurrent[rows],
            )
        else:
            part += arriving[rows]
            np.multiply(shares[rows], part[:, None], out=of_given[rows])
            of_recurrent[rows] = of_given[rows]
            of_recurrent[rows, 2] *= reset[rows]
            part *= keep[rows]
        part += by_recurrent[rows] @ weight
    return by_given, by_recurrent


def _back_lstm(
    arriving, given, recurrent, before, out, weight, order, by_state, by_cells, c, kind
):  # fmt: skip
    width = c.shape[1]
    recurrent += given
    gates = recurrent.reshape(-1, 4, width)
    _open_gates(recurrent)
    enter, keep, new, leave = (gates[:, place] for place in range(4))
    entering = enter * new
    cells_before, cells, last = np.empty_like(entering), np.empty_like(entering), c.copy()
    for rows in order:
        part = last[: rows.stop - rows.start]
        if on_a_gpu(part):
            recurrent_kernels.cells_of(part, keep[rows], entering[rows], cells_before[rows], cells[rows])
        else:
            cells_before[rows] = part
            part *= keep[rows]
            part += entering[rows]
            cells[rows] = part
    shown = np.tanh(cells, out=cells)
    # What each gate gets: the first three for one unit at the cells, the last for one at the state.
    shares = np.empty_like(gates)
    shares[:, 0] = entering * (1 - enter)
    shares[:, 1] = cells_before * keep * (1 - keep)
    shares[:, 2] = enter * (1 - new * new)
    shares[:, 3] = shown * leave * (1 - leave)
    to_cells = leave * (1 - shown * shown)
    by_gates = np.empty_like(given)
    of_gates = by_gates.reshape(-1, 4, width)
    for rows in reversed(order):
        count = rows.stop - rows.start
        part, cell_part = by_state[:count], by_cells[:count]
        if on_a_gpu(part):
            recurrent_kernels.lstm_back(
                part, arriving[rows], cell_part, to_cells[rows], keep[rows], shares[rows], of_gates[rows]
            )
        else:
            part += arriving[rows]
            cell_part += part * to_cells[rows]
            np.multiply(shares[rows, :3], cell_part[:, None], out=of_gates[rows, :3])
            np.multiply(shares[rows, 3], part, out=of_gates[rows, 3])
            cell_part *= keep[rows]
        np.matmul(by_gates[rows], weight, out=part)
    return by_gates, by_gates


@operation(
    "recurrence",
    "hₜ = step({given}ₜ, {weight} · hₜ₋₁ + {bias}), from {h}",
    joint=derivative("through all times, last first", _gradients),
    backward="StackBackward0",
    on_arrays=_scan_on_arrays,
)
def recurrence(given, h, c, weight, bias, /, sizes, backwards, kind):
    """A recurrent layer, given what the input gives to the gates.

    The result has a row for each row of ``given``, and then the last states
    and, for LSTM, the last cells.  ``c`` and ``bias`` without dimensions stand
    for none.
    """
    return scan(given, h, c, weight, bias, sizes, backwards, kind)
