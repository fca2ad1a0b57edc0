"""Recurrent layers over whole sequences, beside a loop of PyTorch's cells and its layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from autokit.ops.recurrent import GATES, recurrence
from tests.oracle import compare, numbers

KINDS = {"RNN_TANH": "RNN", "RNN_RELU": "RNN", "LSTM": "LSTM", "GRU": "GRU"}
WIDTH, INPUTS = 4, 3


def layer(torch: Any, kind: str, rows: Any, h: Any, c: Any, weights: Any, sizes: Any, backwards: bool) -> Any:
    """All states, the last state, and for LSTM the last cells; by PyTorch step by step, with its cell."""
    if torch is autokit:
        found = recurrence(kind, rows, h, c, weights[:2], weights[2:], sizes, backwards)
        return found if kind == "LSTM" else found[:2]
    cell = {"LSTM": torch.lstm_cell, "GRU": torch.gru_cell}
    cell |= {"RNN_TANH": torch.rnn_tanh_cell, "RNN_RELU": torch.rnn_relu_cell}
    times = list(torch.split(rows, list(sizes)))
    states: list[Any] = [None] * len(times)
    for place in reversed(range(len(times))) if backwards else range(len(times)):
        size = sizes[place]
        if kind == "LSTM":
            new, cells = cell[kind](times[place], (h[:size], c[:size]), *weights)
            c = torch.cat([cells, c[size:]])
        else:
            new = cell[kind](times[place], h[:size], *weights)
        states[place], h = new, torch.cat([new, h[size:]])
    return [torch.cat(states), h, c] if kind == "LSTM" else [torch.cat(states), h]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("sizes", [(2,), (2, 2, 2), (3, 2, 2, 1)])
def test_all_gradients_of_a_layer(kind: str, backwards: bool, sizes: Any):
    gates = GATES[kind] * WIDTH
    operands = [
        numbers(sum(sizes), INPUTS),
        numbers(sizes[0], WIDTH, seed=1),
        numbers(sizes[0], WIDTH, seed=2),
        *[numbers(gates, width, seed=3) for width in (INPUTS, WIDTH)],
        *[numbers(gates, seed=seed) for seed in (4, 5)],
    ]

    def program(torch: Any, rows: Any, h: Any, c: Any, *weights: Any) -> Any:
        return layer(torch, kind, rows, h, c, list(weights), sizes, backwards)

    compare(program, *operands, tolerance=1e-8)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN_TANH"])
def test_without_biases_and_with_some_results_unused(kind: str):
    gates = GATES[kind] * WIDTH

    def program(torch: Any, rows: Any, h: Any, *weights: Any) -> Any:
        found = layer(torch, kind, rows, h, h * 2, [*weights, None, None], (2, 2), False)
        return found[-1]

    operands = numbers(4, INPUTS), numbers(2, WIDTH, seed=1), numbers(gates, INPUTS), numbers(gates, WIDTH)
    compare(program, *operands, tolerance=1e-8)


def test_half_precision():
    weights = [numbers(4 * WIDTH, width, seed=3).astype(np.float16) for width in (INPUTS, WIDTH)]
    compare(
        lambda torch, rows, h, *weights: layer(
            torch, "LSTM", rows, h, h, [*weights, None, None], (2, 2), False
        ),
        numbers(4, INPUTS).astype(np.float16),
        numbers(2, WIDTH).astype(np.float16),
        *weights,
        second=False,
        tolerance=2e-2,
    )
