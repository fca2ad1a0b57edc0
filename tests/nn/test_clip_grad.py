"""autokit.nn.utils beside PyTorch's: clipped gradients, and parameters as a vector."""

from __future__ import annotations

import warnings
from inspect import ismodule, signature
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import nn
from autokit.nn import utils
from tests.support import require

require("torch")
import torch  # noqa: E402

NAMES = [name for name in utils.__all__ if not ismodule(getattr(utils, name))]


def with_gradients(module: Any, dtype: str = "float64") -> list[Any]:
    """Parameters of several shapes with gradients, and one without."""
    rng = np.random.RandomState(0)
    params = []
    for shape in [(3, 4), (4,), ()]:
        param = module.from_numpy(np.array(rng.randn(*shape), dtype)).requires_grad_()
        param.grad = module.from_numpy(np.array(rng.randn(*shape), dtype))
        params.append(param)
    return [*params, module.ones(2, requires_grad=True)]


def assert_alike(ours: list[Any], theirs: list[Any], dtype: str) -> None:
    tolerance = 1e-6 if dtype == "float32" else 1e-13
    for our, their in zip(ours, theirs, strict=True):
        if their.grad is None:
            assert our.grad is None
        else:
            assert str(our.grad.dtype) == str(their.grad.dtype)
            np.testing.assert_allclose(our.grad.numpy(), their.grad.numpy(), rtol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("norm_type", [2, 1, 3.5, 0, float("inf"), -float("inf"), "inf"])
@pytest.mark.parametrize("max_norm", [0.5, 100])
def test_norms_are_clipped_as_in_pytorch(dtype: str, norm_type: Any, max_norm: float):
    ours, theirs = with_gradients(ak, dtype), with_gradients(torch, dtype)
    kept = ours[0].grad
    our = utils.clip_grad_norm_(ours, max_norm, norm_type)
    their = torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type)
    assert our.item() == pytest.approx(their.item(), rel=1e-6 if dtype == "float32" else 1e-13)
    assert str(our.dtype) == str(their.dtype) and our.shape == () and not our.requires_grad
    assert_alike(ours, theirs, dtype)
    assert ours[0].grad is kept


@pytest.mark.parametrize("clip_value", [0.25, 100])
def test_values_are_clipped_as_in_pytorch(clip_value: float):
    ours, theirs = with_gradients(ak), with_gradients(torch)
    utils.clip_grad_value_(ours, clip_value)
    torch.nn.utils.clip_grad_value_(theirs, clip_value)
    assert_alike(ours, theirs, "float64")


def test_one_tensor_does_as_well_as_many():
    for clip in (utils.clip_grad_norm_, utils.clip_grad_value_):
        x = ak.zeros(2, requires_grad=True)
        x.grad = ak.tensor([3.0, 0.0])
        clip(x, 1.0)
        np.testing.assert_allclose(x.grad.numpy(), [1, 0], atol=1e-5)
    assert utils.get_total_norm(ak.tensor([3.0, 4.0])).item() == 5
    utils.clip_grads_with_norm_(x, 0.5, ak.tensor(1.0))
    assert x.grad[0].item() == pytest.approx(0.5)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_norm_that_is_not_finite_spreads_or_is_refused(value: float):
    messages = []
    for module, tools in ((ak, utils), (torch, torch.nn.utils)):
        x = module.zeros(2, requires_grad=True)
        x.grad = module.tensor([value, 1.0])
        with pytest.raises(RuntimeError) as refused:
            tools.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)
        messages.append(str(refused.value))
        assert x.grad[1].item() == 1
        tools.clip_grad_norm_([x], 1.0)
        messages.append(str(x.grad.tolist()))
    assert messages[:2] == messages[2:]


def test_nothing_to_clip_is_no_error_but_a_used_up_generator_is_warned_of():
    total = utils.clip_grad_norm_([ak.ones(2, requires_grad=True)], 1.0)
    assert total.item() == 0 and total.dtype == ak.float32
    layer = nn.Linear(1, 1)
    params = layer.parameters()
    list(params)
    with pytest.warns(UserWarning, match="`parameters` is an empty generator"):
        utils.clip_grad_norm_(params, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        utils.clip_grad_norm_(layer.parameters(), 1.0)
        utils.clip_grad_value_([], 1.0)


def test_the_old_name_warns():
    with pytest.warns(FutureWarning, match="now deprecated in favor of"):
        utils.clip_grad_norm(with_gradients(ak), 1.0)
    weight = ak.ones(1, requires_grad=True)
    weight.grad = ak.tensor([ak.inf])
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm(weight, 1.0, error_if_nonfinite=True)


def test_parameters_go_to_a_vector_and_back():
    layer = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(layer.parameters())
    expected = np.concatenate([layer.weight.detach().numpy().ravel(), layer.bias.detach().numpy()])
    np.testing.assert_array_equal(vector.detach().numpy(), expected)
    assert vector.requires_grad
    (vector * ak.arange(9.0)).sum().backward()
    assert layer.weight.grad.tolist() == [[0, 1], [2, 3], [4, 5]] and layer.bias.grad.tolist() == [6, 7, 8]
    weight = layer.weight
    utils.vector_to_parameters(ak.arange(9.0), layer.parameters())
    assert layer.weight is weight and layer.weight.requires_grad and layer.weight.is_leaf
    assert layer.weight.tolist() == [[0, 1], [2, 3], [4, 5]] and layer.bias.tolist() == [6, 7, 8]


def test_wrong_vectors_are_refused():
    layer = nn.Linear(2, 3)
    with pytest.raises(TypeError, match=r"expected torch\.Tensor, but got: list"):
        utils.vector_to_parameters([1.0], layer.parameters())
    with pytest.raises(RuntimeError, match="invalid for input of size 4"):
        utils.vector_to_parameters(ak.arange(4.0), layer.parameters())


@pytest.mark.parametrize("name", NAMES)
def test_the_signature_is_pytorchs(name: str):
    ours, theirs = (signature(getattr(module.nn.utils, name)).parameters for module in (ak, torch))
    assert list(ours) == list(theirs)
    assert [one.default for one in ours.values()] == [one.default for one in theirs.values()]
