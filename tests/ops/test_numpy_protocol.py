"""NumPy's functions on tensors, and arrays and tensors sharing memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.ops.numpy_protocol import KNOWN

UFUNCS = [function for function in KNOWN if isinstance(function, np.ufunc)]
FUNCTIONS = [function for function in KNOWN if not isinstance(function, np.ufunc)]
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_every_ufunc_computes_as_numpy_does_and_records(ufunc: np.ufunc):
    kind = np.int64 if ufunc in BITS else np.float64
    arrays = [np.array([[1, 2], [3, 4]], kind), np.array([[2, 1], [3, 3]], kind)][: ufunc.nin]
    tensors = [torch.tensor(array, requires_grad=kind is np.float64) for array in arrays]
    made = ufunc(*tensors)
    assert isinstance(made, torch.Tensor)
    np.testing.assert_allclose(made.detach().numpy(), ufunc(*arrays))
    assert made.requires_grad == bool(KNOWN[ufunc](*tensors).requires_grad)


CALLS = {
    np.where: lambda x, y: np.where(x > 1, x, y),
    np.sum: lambda x, y: np.sum(x, axis=0),
    np.mean: lambda x, y: np.mean(x, axis=1, keepdims=True),
    np.reshape: lambda x, y: np.reshape(x, (4,)),
    np.transpose: lambda x, y: np.transpose(x),
    np.swapaxes: lambda x, y: np.swapaxes(x, 0, 1),
    np.expand_dims: lambda x, y: np.expand_dims(x, 0),
    np.concatenate: lambda x, y: np.concatenate([x, y], axis=1),
    np.stack: lambda x, y: np.stack([x, y]),
    np.zeros_like: lambda x, y: np.zeros_like(x),
    np.ones_like: lambda x, y: np.ones_like(x),
    np.broadcast_to: lambda x, y: np.broadcast_to(x, (3, 2, 2)),
    np.dot: lambda x, y: np.dot(x, y),
    np.clip: lambda x, y: np.clip(x, 1, 3),
    np.cross: lambda x, y: np.cross(*(np.concatenate(each, axis=1)[:, 1:] for each in ([x, y], [y, x]))),
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_function_computes_as_numpy_does(function: Any):
    x, y = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]])
    made = CALLS[function](torch.tensor(x), torch.tensor(y))
    assert isinstance(made, torch.Tensor)
    np.testing.assert_array_equal(made.numpy(), CALLS[function](x, y))


def test_a_function_that_does_not_know_tensors_says_so():
    with pytest.raises(TypeError, match=r"numpy\.partition does not know tensors"):
        np.partition(torch.ones(2), 1)


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**", "<", "==", "@"])
def test_operators_with_an_array_on_either_side_give_tensors(symbol: str):
    array, tensor = np.array([1.0, 2.0]), torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    expressions = [f"array {symbol} tensor", f"tensor {symbol} array"]
    for expression in expressions[: 1 if symbol == "@" else 2]:  # PyTorch too refuses `tensor @ array`
        made = eval(expression)
        assert isinstance(made, torch.Tensor)
        np.testing.assert_allclose(
            made.detach().numpy(), eval(expression, {"array": array, "tensor": tensor.detach().numpy()})
        )


def test_gradients_flow_through_numpys_functions():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (np.ones(2) * np.exp(x) + np.float64(2.0) * x).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]) + 2, rtol=1e-6)


def test_a_numpy_number_does_not_widen():
    assert (np.float64(2.0) * torch.ones(2)).dtype == torch.float32
    assert (torch.ones(2) * np.float64(2.0)).dtype == torch.float32


def test_from_numpy_and_numpy_share_memory():
    array = np.zeros(3)
    tensor = torch.from_numpy(array)
    array[0] = 7
    tensor[1] = 8
    assert tensor.tolist() == array.tolist() == [7.0, 8.0, 0.0]
    assert np.shares_memory(tensor.numpy(), array) and np.shares_memory(np.asarray(tensor), array)
    assert np.shares_memory(torch.as_tensor(array).numpy(), array)
    assert not np.shares_memory(torch.tensor(array).numpy(), array)


def test_asarray_converts_and_copies():
    x = torch.ones(2)
    assert np.asarray(x, dtype=np.int64).tolist() == [1, 1]
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.asarray([torch.tensor(1.0), torch.tensor(2.0)]).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="dtype"):
        torch.from_numpy(np.array(["a"]))
