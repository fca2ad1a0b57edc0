"""autokit.nn.init: PyTorch's numbers from PyTorch's seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit.nn import init
from tests.support import require

CALLS = [
    lambda init, t: init.uniform_(t, -0.3, 0.7),
    lambda init, t: init.normal_(t, 0.3, 0.7),
    lambda init, t: init.constant_(t, 0.3),
    lambda init, t: init.ones_(t),
    lambda init, t: init.zeros_(t),
    lambda init, t: init.eye_(t),
    lambda init, t: init.xavier_uniform_(t),
    lambda init, t: init.xavier_uniform_(t, gain=init.calculate_gain("relu")),
    lambda init, t: init.xavier_normal_(t),
    lambda init, t: init.kaiming_uniform_(t, nonlinearity="relu"),
    lambda init, t: init.kaiming_uniform_(t, a=0.3, mode="fan_out"),
    lambda init, t: init.kaiming_normal_(t, mode="fan_out"),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("shape", [(2, 3), (40, 30)])
def test_the_same_seed_gives_the_same_values(call: Any, shape: tuple[int, int]):
    require("torch")
    import torch

    ak.manual_seed(4)
    torch.manual_seed(4)
    ours = ak.empty(*shape)
    assert call(init, ours) is ours
    np.testing.assert_array_equal(ours.numpy(), call(torch.nn.init, torch.empty(*shape)).numpy())


def test_a_parameter_may_be_filled_and_the_change_is_noticed():
    parameter = ak.nn.Parameter(ak.zeros(2, 2))
    loss = (parameter * parameter).sum()
    init.ones_(parameter)
    assert parameter.is_leaf and parameter.requires_grad and parameter.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_more_dimensions_are_a_receptive_field():
    assert init._calculate_fan_in_and_fan_out(ak.empty(8, 3, 5, 5)) == (75, 200)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: init.xavier_uniform_(ak.empty(3)), "fewer than 2 dimensions"),
        (lambda: init.kaiming_uniform_(ak.empty(3, 3), mode="fan"), "Mode fan not supported"),
        (lambda: init.calculate_gain("step"), "Unsupported nonlinearity step"),
        (lambda: init.eye_(ak.empty(3)), "2 dimensions"),
    ],
)
def test_wrong_use_says_what_is_wrong(call: Any, words: str):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_empty_tensor_is_left_alone_with_a_warning():
    with pytest.warns(UserWarning, match="zero-element"):
        assert ak.nn.Linear(0, 3).weight.shape == (3, 0)
