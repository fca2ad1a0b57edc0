"""autokit.nn.init: PyTorch's numbers from PyTorch's seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit.nn import init
from tests.nn.twins import BOTH

CALLS = [
    lambda init, t: init.uniform_(t, -0.3, 0.7),
    lambda init, t: init.normal_(t, 0.3, 0.7),
    lambda init, t: init.constant_(t, 0.3),
    lambda init, t: init.ones_(t),
    lambda init, t: init.eye_(t),
    lambda init, t: init.xavier_uniform_(t),
    lambda init, t: init.xavier_uniform_(t, gain=init.calculate_gain("relu")),
    lambda init, t: init.xavier_normal_(t),
    lambda init, t: init.kaiming_uniform_(t, nonlinearity="relu"),
    lambda init, t: init.kaiming_uniform_(t, a=0.3, mode="fan_out"),
    lambda init, t: init.kaiming_normal_(t, mode="fan_out"),
    lambda init, t: init.trunc_normal_(t),
    lambda init, t: init.trunc_normal_(t, 0.5, 0.3, 0.4, 0.6),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_same_seed_gives_the_same_values(call: Any, dtype: str):
    for shape in [(2, 3), (40, 30), (1, 1), (1, 16)]:
        made = []
        for torch in BOTH:
            torch.manual_seed(4)
            tensor = torch.zeros(*shape, dtype=getattr(torch, dtype))
            assert call(torch.nn.init, tensor) is tensor
            made.append((tensor.numpy(), torch.get_rng_state().tolist()))
        np.testing.assert_array_equal(made[0][0], made[1][0])
        assert made[0][1] == made[1][1]


@pytest.mark.parametrize(
    "name", ["uniform_", "trunc_normal_", "xavier_normal_", "kaiming_uniform_", "orthogonal_"]
)
def test_a_generator_of_ones_choice_is_drawn_from(name: str):
    before, made = ak.get_rng_state(), []
    for torch in BOTH:
        generator = torch.Generator().manual_seed(7)
        made.append(getattr(torch.nn.init, name)(torch.empty(4, 5), generator=generator).numpy())
    np.testing.assert_allclose(*made, rtol=0, atol=1e-6)
    assert ak.equal(ak.get_rng_state(), before)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (20, 20), (8, 3, 3, 3), (2, 0)])
@pytest.mark.parametrize("gain", [1, 1.4])
def test_orthogonal_agrees_to_rounding(shape: tuple[int, ...], gain: float):
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-12)):
        made = []
        for torch in BOTH:
            torch.manual_seed(4)
            tensor = torch.empty(*shape, dtype=getattr(torch, dtype))
            made.append(torch.nn.init.orthogonal_(tensor, gain).numpy())
        np.testing.assert_allclose(*made, rtol=0, atol=tolerance)


def test_gains_are_pytorchs():
    names = ["linear", "conv1d", "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"]
    mine, wanted = ([torch.nn.init.calculate_gain(name) for name in names] for torch in BOTH)
    assert mine == wanted


def test_a_parameter_may_be_filled_and_the_change_is_noticed():
    parameter = ak.nn.Parameter(ak.zeros(2, 2))
    loss = (parameter * parameter).sum()
    init.ones_(parameter)
    assert parameter.is_leaf and parameter.requires_grad and parameter.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: init.xavier_uniform_(ak.empty(3)), "fewer than 2 dimensions"),
        (lambda: init.kaiming_uniform_(ak.empty(3, 3), mode="fan"), "Mode fan not supported"),
        (lambda: init.calculate_gain("step"), "Unsupported nonlinearity step"),
        (lambda: init.orthogonal_(ak.empty(3)), "2 or more dimensions"),
    ],
)
def test_wrong_use_says_what_is_wrong(call: Any, words: str):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_empty_tensor_is_left_alone_with_a_warning():
    with pytest.warns(UserWarning, match="zero-element"):
        assert ak.nn.Linear(0, 3).weight.shape == (3, 0)
