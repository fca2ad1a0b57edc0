"""autokit.nn.utils beside PyTorch's: clipped gradients, parameters as a vector, normalized weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import nn
from autokit.nn import utils
from tests.nn.twins import BOTH, assert_both, assert_close, pytorch


def with_gradients(torch: Any, dtype: str = "float64") -> list[Any]:
    """Parameters of several shapes with gradients, and one without."""
    random, parameters = np.random.RandomState(0), []
    for shape in [(3, 4), (4,), ()]:
        parameter = torch.from_numpy(np.array(random.randn(*shape), dtype)).requires_grad_()
        parameter.grad = torch.from_numpy(np.array(random.randn(*shape), dtype))
        parameters.append(parameter)
    return [*parameters, torch.ones(2, requires_grad=True)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("norm_type", [2, 1, 3.5, 0, float("inf"), -float("inf"), "inf"])
@pytest.mark.parametrize("max_norm", [0.5, 100])
def test_norms_are_clipped_as_in_pytorch(dtype: str, norm_type: Any, max_norm: float):
    ours, theirs = (with_gradients(torch, dtype) for torch in BOTH)
    held = ours[0].grad
    assert_close(
        utils.clip_grad_norm_(ours, max_norm, norm_type),
        pytorch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type),
    )
    for mine, wanted in zip(ours[:3], theirs[:3]):
        assert_close(mine.grad, wanted.grad)
    assert ours[0].grad is held and ours[3].grad is None


@pytest.mark.parametrize("clip_value", [0.25, 100])
def test_values_are_clipped_as_in_pytorch(clip_value: float):
    ours, theirs = (with_gradients(torch) for torch in BOTH)
    utils.clip_grad_value_(ours, clip_value)
    pytorch.nn.utils.clip_grad_value_(theirs, clip_value)
    for mine, wanted in zip(ours[:3], theirs[:3]):
        assert_close(mine.grad, wanted.grad)


def test_one_tensor_does_as_well_as_many():
    for clip in (utils.clip_grad_norm_, utils.clip_grad_value_):
        x = ak.zeros(2, requires_grad=True)
        x.grad = ak.tensor([3.0, 0.0])
        clip(x, 1.0)
        np.testing.assert_allclose(x.grad.numpy(), [1, 0], atol=1e-5)
    assert utils.get_total_norm(ak.tensor([3.0, 4.0])).item() == 5
    utils.clip_grads_with_norm_(x, 0.5, ak.tensor(1.0))
    assert x.grad[0].item() == pytest.approx(0.5)
    assert utils.clip_grad_norm_([ak.ones(2, requires_grad=True)], 1.0).item() == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_norm_that_is_not_finite_spreads_or_is_refused(value: float):
    x = ak.zeros(2, requires_grad=True)
    x.grad = ak.tensor([value, 1.0])
    with pytest.raises(RuntimeError, match="non-finite, so it cannot be clipped"):
        utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)
    assert x.grad[1].item() == 1
    utils.clip_grad_norm_([x], 1.0)
    assert x.grad[1].item() != 1


def test_parameters_go_to_a_vector_and_back():
    layer = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(layer.parameters())
    expected = np.concatenate([layer.weight.detach().numpy().ravel(), layer.bias.detach().numpy()])
    np.testing.assert_array_equal(vector.detach().numpy(), expected)
    (vector * ak.arange(9.0)).sum().backward()
    assert layer.weight.grad.tolist() == [[0, 1], [2, 3], [4, 5]] and layer.bias.grad.tolist() == [6, 7, 8]
    weight = layer.weight
    utils.vector_to_parameters(ak.arange(9.0), layer.parameters())
    assert layer.weight is weight and layer.weight.requires_grad and layer.weight.is_leaf
    assert layer.weight.tolist() == [[0, 1], [2, 3], [4, 5]] and layer.bias.tolist() == [6, 7, 8]
    with pytest.raises(RuntimeError):
        utils.vector_to_parameters(ak.arange(4.0), layer.parameters())


@pytest.mark.parametrize("dim", [0, 1, None])
def test_a_weight_as_length_and_direction(dim: int | None):
    def run(torch: Any, layer: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.nn.utils.weight_norm(layer, dim=dim)
        assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_g", "weight_v"]
        out = layer(torch.ones(2, 3))
        (out * out).sum().backward()
        return [out, *[parameter.grad for parameter in layer.parameters()]]

    assert_both(run, "nn.Linear(3, 2)")
    with ak.no_grad():
        layer = utils.weight_norm(nn.Linear(2, 1))
        before = layer(ak.ones(1, 2)) - layer.bias
        layer.weight_g.mul_(2)
    assert_close(layer(ak.ones(1, 2)) - layer.bias, pytorch.tensor((2 * before).tolist()))
