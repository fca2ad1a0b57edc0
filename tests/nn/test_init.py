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
    lambda init, t: init.xavier_normal_(t, gain=2.0),
    lambda init, t: init.kaiming_uniform_(t, nonlinearity="relu"),
    lambda init, t: init.kaiming_uniform_(t, a=0.3, mode="fan_out"),
    lambda init, t: init.kaiming_normal_(t, mode="fan_out"),
    lambda init, t: init.kaiming_normal_(t, nonlinearity="tanh"),
]


DRAWN = [
    *CALLS,
    lambda init, t: init.kaiming_normal_(t, a=0.2),
    lambda init, t: init.trunc_normal_(t),
    # In half precision a candidate at the edge may be judged otherwise.
    lambda init, t: init.trunc_normal_(t, 0.5, 0.3, 0.4, 0.6) if t.itemsize > 2 else t,
    lambda init, t: init.trunc_normal_(t, std=0.02),
    lambda init, t: init.sparse_(t, 0.3),
    lambda init, t: init.sparse_(t, 0, std=2.0),
]
SHAPES = [(2, 3), (40, 30), (1, 1), (3, 5), (4, 4), (100, 100), (1, 16)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_seed_gives_the_same_values(shape: tuple[int, int], turned: bool, dtype: str):
    require("torch")
    import torch

    for call in DRAWN:
        ak.manual_seed(4), torch.manual_seed(4)
        ours, theirs = (
            ak.zeros(*shape, dtype=getattr(ak, dtype)),
            torch.zeros(*shape, dtype=getattr(torch, dtype)),
        )
        if turned:
            ours, theirs = ours.t(), theirs.t()
        assert call(init, ours) is ours
        np.testing.assert_array_equal(ours.numpy(), call(torch.nn.init, theirs).numpy())
        assert ak.get_rng_state().tolist() == torch.get_rng_state().tolist()


@pytest.mark.parametrize(
    "name",
    [
        *("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_"),
        *("kaiming_normal_", "orthogonal_"),
    ],
)
def test_a_generator_of_ones_own_is_drawn_from(name: str):
    require("torch")
    import torch

    before, made = ak.get_rng_state(), []
    for T in (ak, torch):
        generator = T.Generator()
        generator.manual_seed(7)
        made.append(getattr(T.nn.init, name)(T.empty(4, 5), generator=generator).numpy())
    np.testing.assert_allclose(*made, rtol=0, atol=1e-6)
    assert ak.equal(ak.get_rng_state(), before)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (20, 20), (8, 3, 3, 3), (2, 0)])
@pytest.mark.parametrize("gain", [1, 1.4])
def test_orthogonal_agrees_to_rounding(shape: tuple[int, ...], gain: float):
    require("torch")
    import torch

    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-12)):
        ak.manual_seed(4), torch.manual_seed(4)
        ours = init.orthogonal_(ak.empty(*shape, dtype=getattr(ak, dtype)), gain)
        theirs = torch.nn.init.orthogonal_(torch.empty(*shape, dtype=getattr(torch, dtype)), gain)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("shape", [(4, 2, 3), (2, 4, 3, 4), (6, 2, 3, 3, 5)])
@pytest.mark.parametrize("groups", [1, 2])
def test_dirac_hands_channels_on(shape: tuple[int, ...], groups: int):
    require("torch")
    import torch

    ours = init.dirac_(ak.ones(*shape), groups)
    np.testing.assert_array_equal(ours.numpy(), torch.nn.init.dirac_(torch.ones(*shape), groups).numpy())


OLD_NAMES = ["uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal"]
OLD_NAMES += ["kaiming_uniform", "kaiming_normal", "orthogonal", "sparse"]


@pytest.mark.parametrize("name", OLD_NAMES)
def test_old_names_warn(name: str):
    settings = {"constant": (0.5,), "sparse": (0.5,)}.get(name, ())
    tensor = ak.empty(2, 3, 3) if name == "dirac" else ak.empty(2, 3)
    with pytest.warns(
        FutureWarning, match=rf"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`"
    ):
        assert getattr(init, name)(tensor, *settings) is tensor


def test_trunc_normal_warns_of_a_mean_far_outside():
    with pytest.warns(UserWarning, match="mean is more than 2 std"):
        values = init.trunc_normal_(ak.empty(50), 5.0, 1.0, -1.0, 1.0)
    assert ((values >= -1) & (values <= 1)).all()


def test_gains_are_pytorchs():
    require("torch")
    import torch

    names = ["linear", "conv1d", "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"]
    assert [init.calculate_gain(n) for n in names] == [torch.nn.init.calculate_gain(n) for n in names]


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
        (lambda: init.calculate_gain("leaky_relu", True), "negative_slope True not a valid number"),
        (lambda: init.dirac_(ak.empty(3, 3)), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda: init.dirac_(ak.empty(3, 3, 3), 2), "dim 0 must be divisible by groups"),
        (lambda: init.orthogonal_(ak.empty(3)), "2 or more dimensions"),
        (lambda: init.sparse_(ak.empty(3), 0.1), "Only tensors with 2 dimensions are supported"),
        (lambda: init.eye_(ak.empty(3)), "2 dimensions"),
    ],
)
def test_wrong_use_says_what_is_wrong(call: Any, words: str):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_empty_tensor_is_left_alone_with_a_warning():
    with pytest.warns(UserWarning, match="zero-element"):
        assert ak.nn.Linear(0, 3).weight.shape == (3, 0)
