"""Recurrent layers: each step computes a state from its input and the state of the step before.

A whole sequence is one operation.  The forward pass computes one step after the other.  The backward pass
computes what it needs of the gates for all times at once; only a few products remain for each step, from the
last to the first.

Sequences lie in one array, (rows, width), time after time: ``sizes`` says how many rows belong to each time.
Where sequences end early the sizes decrease, as in packed sequences.

References
----------
J. L. Elman, "Finding Structure in Time", Cognitive Science 14, 1990.
S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997.
K. Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", EMNLP 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from autokit.base.devices import beside
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.index import index_select
from autokit.ops.product import linear

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}
"""How many gates each kind has: its weights have this number of rows for each element of the state."""


def recurrence(
    kind: str,
    rows: Tensor,
    h: Tensor,
    c: Tensor | None,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor | None],
    sizes: tuple[int, ...],
    backwards: bool = False,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """One recurrent layer in one direction: all states, the last state, and for LSTM the last cells.

    Parameters
    ----------
    kind : str
        One of :data:`GATES`.
    rows : Tensor
        The inputs of all times, one time after another, (rows, input width).
    h, c : Tensor
        The first state, (batch, width), and for LSTM the first cells.
    weights, biases : pairs of Tensor
        From the input to the gates, and from the state to the gates.
    sizes : tuple of int
        How many rows belong to each time.
    backwards : bool
        Whether to begin with the last time.
    """
    given = linear(rows, weights[0], biases[0])
    settings = {"sizes": sizes, "backwards": backwards}
    if kind == "LSTM":
        states, cells, _ = lstm(given, h, c, weights[1], biases[1], **settings)
        return states, _last(states, sizes, backwards), _last(cells, sizes, backwards)
    if kind == "GRU":
        states = gru(given, h, weights[1], biases[1], **settings)
    else:
        states = rnn(given, h, weights[1], biases[1], relu=kind == "RNN_RELU", **settings)
    return states, _last(states, sizes, backwards), None


def _last(states: Tensor, sizes: tuple[int, ...], backwards: bool) -> Tensor:
    """The last state of each sequence; that at its first time if ``backwards``."""
    if backwards or sizes[0] == sizes[-1]:
        first = 0 if backwards else len(states) - sizes[0]
        return states[first : first + sizes[0]]
    starts = [end - size for end, size in zip(accumulate(sizes), sizes)]
    ends = [sum(size > place for size in sizes) - 1 for place in range(sizes[0])]
    index = np.array([starts[end] + place for place, end in enumerate(ends)])
    return index_select(states, 0, new_tensor(beside(index, states.array)))


# ---------------------------------------------------------------- from time to time


def _times(sizes: tuple[int, ...], backwards: bool) -> list[slice]:
    """The rows of each time, in the order in which the steps are computed."""
    times = [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes)]
    return times[::-1] if backwards else times


def _renewed(state: Any, part: Any) -> Any:
    """``state`` with its first rows replaced; the other sequences have ended, or have not begun."""
    return part if len(part) == len(state) else np.concatenate([part, state[len(part) :]])


def _in_order(parts: list[Any], times: list[slice]) -> Any:
    """The results for each of the ``times``, joined in the order of time."""
    return np.concatenate(parts if times[0].start == 0 else parts[::-1])


def _before(state: Any, states: Any, times: list[slice]) -> Any:
    """For each row the state from which it was computed; ``state`` is the first one."""
    found = []
    for rows in times:
        found.append(state[: rows.stop - rows.start])
        state = _renewed(state, states[rows])
    return _in_order(found, times)


def _to_gates(before: Any, weight: Any, bias: Any) -> Any:
    """The contribution of the states to the gates: their product with the weight, plus the bias."""
    product = before @ weight.T
    return product if bias is None else product + bias


def _sigmoid(x: Any) -> Any:
    return np.tanh(x * 0.5) * 0.5 + 0.5


def _parts(a: Any, count: int) -> list[Any]:
    """``a`` (rows, count · width) by gates."""
    width = a.shape[1] // count
    return [a[:, start : start + width] for start in range(0, a.shape[1], width)]


def _by_parameters(by_gates: Any, before: Any, bias: Any) -> tuple[Any, Any]:
    """The gradients of weight and bias, from those of the gates at all times."""
    return by_gates.T @ before, None if bias is None else by_gates.sum(0)


# ---------------------------------------------------------------- Elman's network


def _rnn_states(given: Any, h: Any, weight: Any, bias: Any, times: list[slice], relu: bool) -> Any:
    states = []
    for rows in times:
        said = given[rows] + _to_gates(h[: rows.stop - rows.start], weight, bias)
        states.append(np.maximum(said, 0) if relu else np.tanh(said))
        h = _renewed(h, states[-1])
    return _in_order(states, times)


def _rnn_gradients(
    g: Any, given: Any, h: Any, weight: Any, bias: Any, out: Any, sizes: Any, backwards: bool, relu: bool
) -> Any:
    times = _times(sizes, backwards)
    states = _rnn_states(given, h, weight, bias, times, relu) if isinstance(g, Tensor) else out
    before, by_h, by_gates = _before(h, states, times), h * 0, []
    for rows in reversed(times):
        arrived = by_h[: rows.stop - rows.start] + g[rows]
        new = states[rows]
        by_gates.append(np.where(new > 0, arrived, 0.0) if relu else arrived * (1 - new * new))
        by_h = _renewed(by_h, by_gates[-1] @ weight)
    by_given = _in_order(by_gates, times[::-1])
    return by_given, by_h, *_by_parameters(by_given, before, bias)


@operation(
    "rnn",
    "hₜ = tanh({given}ₜ + {weight} · hₜ₋₁ + {bias}), from {h}",
    joint=derivative("through all times, last first", _rnn_gradients),
    name="rnn",
)
def rnn(given, h, weight, bias=None, /, sizes=(), backwards=False, relu=False):
    """The states of Elman's network, from the products of the inputs; ``relu`` in place of tanh."""
    return _rnn_states(given, h, weight, bias, _times(sizes, backwards), relu)


# ---------------------------------------------------------------- LSTM


@lru_cache(maxsize=16)
def _halves(width: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Factor and shift of the gates, for σ(x) = tanh(x/2)/2 + 1/2: both 1/2, but 1 and 0 for the third."""
    factor, shift = np.full((2, 4, width), 0.5, dtype)
    factor[2], shift[2] = 1.0, 0.0
    return factor.reshape(-1), shift.reshape(-1)


def _halves_for(given: Any) -> list[Any]:
    array = given.array if isinstance(given, Tensor) else given
    found = [beside(each, array) for each in _halves(array.shape[1] // 4, array.dtype)]
    return list(map(new_tensor, found)) if isinstance(given, Tensor) else found


def _lstm_states(
    given: Any, h: Any, c: Any, weight: Any, bias: Any, times: list[slice]
) -> tuple[Any, Any, Any]:
    """States, cells and gates: the third gate takes a tanh, the others a sigmoid, tanh(x/2)/2 + 1/2."""
    factor, shift = _halves_for(given)
    states, cells, gates = [], [], []
    given = (given if bias is None else given + bias) * factor
    turned = _by_rows(weight.T * factor)
    for rows in times:
        size = rows.stop - rows.start
        gates.append(np.tanh(given[rows] + h[:size] @ turned) * factor + shift)
        enter, keep, new, leave = _parts(gates[-1], 4)
        cells.append(keep * c[:size] + enter * new)
        states.append(leave * np.tanh(cells[-1]))
        h, c = _renewed(h, states[-1]), _renewed(c, cells[-1])
    return _in_order(states, times), _in_order(cells, times), _in_order(gates, times)


def _by_rows(a: Any) -> Any:
    """``a`` with contiguous rows, which halves the time of products with it (the LSTM's row)."""
    return a if isinstance(a, Tensor) else a.copy(order="C")


def _lstm_gradients(
    g: Any, given: Any, h: Any, c: Any, weight: Any, bias: Any, out: Any, sizes: Any, backwards: bool
) -> Any:
    times, (by_states, by_all_cells, _) = _times(sizes, backwards), g
    on_tensors = isinstance(given, Tensor)
    states, cells, gates = _lstm_states(given, h, c, weight, bias, times) if on_tensors else out
    before = _before(h, states, times)
    cells_before = _before(c, cells, times)
    enter, keep, new, leave = _parts(gates, 4)
    shown = np.tanh(cells)
    to_cells = leave * (1 - shown * shown)
    factor, shift = _halves_for(given)
    slopes = factor * factor - np.square(gates - shift)  # f² (1 − t²) of a gate t · f + s, where t is a tanh
    # The derivatives of the cells by the gates, and of the state by the last gate.
    shares = np.concatenate([new, cells_before, enter, shown], 1) * slopes
    by_h, by_c, by_gates = h * 0, c * 0, []
    for rows in reversed(times):
        size = rows.stop - rows.start
        to_h = by_h[:size] if by_states is None else by_h[:size] + by_states[rows]
        to_c = by_c[:size] + to_h * to_cells[rows]
        to_c = to_c if by_all_cells is None else to_c + by_all_cells[rows]
        by_gates.append(np.concatenate([to_c, to_c, to_c, to_h], 1) * shares[rows])
        by_h = _renewed(by_h, by_gates[-1] @ weight)
        by_c = _renewed(by_c, to_c * keep[rows])
    by_given = _in_order(by_gates, times[::-1])
    return by_given, by_h, by_c, *_by_parameters(by_given, before, bias)


@operation(
    "lstm",
    "hₜ, cₜ = step({given}ₜ + {weight} · hₜ₋₁ + {bias}, cₜ₋₁), from {h} and {c}",
    joint=derivative("through all times, last first", _lstm_gradients),
    name="lstm",
)
def lstm(given, h, c, weight, bias=None, /, sizes=(), backwards=False):
    """The states, cells and gates of long short-term memory, from the inputs' contributions to the gates."""
    return _lstm_states(given, h, c, weight, bias, _times(sizes, backwards))


# ---------------------------------------------------------------- GRU


def _gru_gates(given: Any, said: Any) -> tuple[Any, Any, Any, Any]:
    """The gates reset, keep and new, and the contribution of the state to the last."""
    width = given.shape[1] // 3
    reset, keep = _parts(_sigmoid(given[:, : 2 * width] + said[:, : 2 * width]), 2)
    to_new = said[:, 2 * width :]
    return reset, keep, np.tanh(given[:, 2 * width :] + reset * to_new), to_new


def _gru_states(given: Any, h: Any, weight: Any, bias: Any, times: list[slice]) -> Any:
    states = []
    for rows in times:
        before = h[: rows.stop - rows.start]
        _, keep, new, _ = _gru_gates(given[rows], _to_gates(before, weight, bias))
        states.append(new + keep * (before - new))
        h = _renewed(h, states[-1])
    return _in_order(states, times)


def _gru_gradients(
    g: Any, given: Any, h: Any, weight: Any, bias: Any, out: Any, sizes: Any, backwards: bool
) -> Any:
    times = _times(sizes, backwards)
    states = _gru_states(given, h, weight, bias, times) if isinstance(g, Tensor) else out
    before = _before(h, states, times)
    reset, keep, new, to_new = _gru_gates(given, _to_gates(before, weight, bias))
    # The derivatives of the state by the gates.
    of_new = (1 - keep) * (1 - new * new)
    of_reset = of_new * to_new * reset * (1 - reset)
    of_keep = (before - new) * keep * (1 - keep)
    shares = np.concatenate([of_reset, of_keep, of_new * reset], 1)
    by_h, by_states, by_said = h * 0, [], []
    for rows in reversed(times):
        by_states.append(by_h[: rows.stop - rows.start] + g[rows])
        by_said.append(np.concatenate([by_states[-1]] * 3, 1) * shares[rows])
        by_h = _renewed(by_h, by_states[-1] * keep[rows] + by_said[-1] @ weight)
    by_states = _in_order(by_states, times[::-1])
    by_said = _in_order(by_said, times[::-1])
    by_given = np.concatenate([by_said[:, : 2 * h.shape[1]], by_states * of_new], 1)
    return by_given, by_h, *_by_parameters(by_said, before, bias)


@operation(
    "gru",
    "hₜ = step({given}ₜ, {weight} · hₜ₋₁ + {bias}), from {h}",
    joint=derivative("through all times, last first", _gru_gradients),
    name="gru",
)
def gru(given, h, weight, bias=None, /, sizes=(), backwards=False):
    """The states of gated recurrent units, from the inputs' contributions to the gates."""
    return _gru_states(given, h, weight, bias, _times(sizes, backwards))
