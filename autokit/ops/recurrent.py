"""Recurrent layers: one step after another, each from its own input and from what the step before gave.

A whole sequence is one operation.  On the way forward each step needs the one
before it, and the formulas of a step are in :mod:`autokit.ops.recurrent_steps`.
Arrays of NumPy go through them in fewer calls; the way back of all arrays is
there too (:mod:`autokit.ops.recurrent_arrays`).

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
from itertools import accumulate
from typing import Any

import numpy as np

from autokit.devices import on_a_gpu
from autokit.ops import recurrent_arrays, recurrent_steps
from autokit.ops.elementwise import relu, sigmoid, tanh
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}
"""How many gates each kind has: its weights have so many times as many rows as the state has places."""


def _step(kind: str, given: Any, recurrent: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """The next state, of arrays or tensors: from what the input and the state before give to the gates."""
    if kind != "RNN_RELU" and on_a_gpu(given):
        return recurrent_steps.step_on_a_gpu(kind, given, recurrent, h, c)
    width = h.shape[1]
    if kind == "GRU":
        both = on(sigmoid, given[:, : 2 * width] + recurrent[:, : 2 * width])
        reset, keep = both[:, :width], both[:, width:]
        new, to_new = given[:, 2 * width :], recurrent[:, 2 * width :]
        return recurrent_steps.gru_state(reset, keep, new, to_new, h), c
    if kind == "RNN_TANH":
        return recurrent_steps.plain_state(given, recurrent), c
    gates = given + recurrent
    if kind == "RNN_RELU":
        return on(relu, gates), c
    width = c.shape[1]
    both = on(sigmoid, gates[:, : 2 * width])
    new = on(tanh, gates[:, 2 * width : 3 * width])
    leave = on(sigmoid, gates[:, 3 * width :])
    return recurrent_steps.lstm_state(both[:, :width], both[:, width:], new, leave, c)


def _times(sizes: tuple[int, ...], backwards: bool) -> Iterator[slice]:
    """The rows of each time, in the order in which they are gone through."""
    rows = [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes)]
    return reversed(rows) if backwards else iter(rows)


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
        h = recurrent_arrays.renewed(h, new)
        c = recurrent_arrays.renewed(c, cells) if c.ndim else c
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


def _scan_on_arrays(given, h, c, weight, bias, sizes, backwards, kind, kept=None):  # fmt: skip
    if all(each.__class__ is np.ndarray for each in (given, h, c, weight, bias)):
        order = list(_times(sizes, backwards))
        return recurrent_arrays.scan(given, h, c, weight, bias, order, kind, kept)
    return scan(given, h, c, weight, bias, sizes, backwards, kind)


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
    kept: recurrent_arrays.Kept | None,
) -> tuple[Any, ...]:
    if any(isinstance(each, Tensor) for each in (g, given, h, c, weight, bias)):
        return _gradients_of_tensors(g, (given, h, c, weight, bias), (sizes, backwards, kind))
    order = list(_times(sizes, backwards))
    return recurrent_arrays.gradients(g, given, h, c, weight, bias, out, order, kind, kept)


def _gradients_of_tensors(g: Any, operands: tuple[Any, ...], settings: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same as a graph, for derivatives of derivatives: every step is recorded again by itself."""
    from autokit.autograd import grad
    from autokit.func.tangents import carry

    operands = tuple(
        [
            carry(each, each.detach()).requires_grad_()
            if isinstance(each, Tensor) and not each.requires_grad
            else each
            for each in operands
        ]
    )
    learning = [each for each in operands if isinstance(each, Tensor) and each.requires_grad]
    found = iter(grad(scan(*operands, *settings), learning, g, create_graph=True, allow_unused=True))
    return tuple([next(found) if any(each is one for one in learning) else None for each in operands])


@operation(
    "recurrence",
    "hₜ = step({given}ₜ, {weight} · hₜ₋₁ + {bias}), from {h}",
    joint=derivative("through all times, last first", _gradients),
    backward="StackBackward0",
    on_arrays=_scan_on_arrays,
)
def recurrence(given, h, c, weight, bias, /, sizes, backwards, kind, kept=None):
    """A recurrent layer, given what the input gives to the gates.

    The result has a row for each row of ``given``, and then the last states
    and, for LSTM, the last cells.  ``c`` and ``bias`` without dimensions stand
    for none.  In ``kept``, where it is a dictionary, the gates wait for the way
    back (:mod:`autokit.ops.recurrent_arrays`).
    """
    return scan(given, h, c, weight, bias, sizes, backwards, kind)


@operation(
    "shape",
    "{a}, by times",
    a=derivative(
        "1", lambda g, shape, batch_first: (np.swapaxes(g, 0, 1) if batch_first else g).reshape(shape)
    ),
    view=True,
    name="sequences",
    backward=lambda node: node.settings["made_by"],
)
def plain_sequences(a, /, size, batch_first, made_by):
    """What a layer returns: its states in the shape ``size``, times before batch unless ``batch_first``."""
    whole = a.reshape(size)
    return np.swapaxes(whole, 0, 1) if batch_first else whole
