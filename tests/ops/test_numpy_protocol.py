"""NumPy's functions on tensors, and arrays and tensors sharing memory."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.ops import NUMPY

UFUNCS = [function for function in NUMPY if isinstance(function, np.ufunc)]
FUNCTIONS = [function for function in NUMPY if not isinstance(function, np.ufunc)]
INTEGERS = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert}
INTEGERS |= {np.gcd, np.lcm, np.left_shift, np.right_shift}


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_every_ufunc_computes_as_numpy_does_and_records(ufunc: np.ufunc):
    kind = np.int64 if ufunc in INTEGERS else np.float64
    arrays = [np.array([[1, 2], [3, 4]], kind), np.array([[2, 1], [3, 3]], kind)][: ufunc.nin]
    tensors = [torch.tensor(array, requires_grad=array.dtype.kind == "f") for array in arrays]
    result = ufunc(*tensors)
    assert isinstance(result, torch.Tensor)
    np.testing.assert_allclose(result.detach().numpy(), ufunc(*arrays))
    assert result.requires_grad == NUMPY[ufunc](*tensors).requires_grad


CALLS = {
    np.where: lambda x, y: np.where(x > 1, x, y),
    np.sum: lambda x, y: np.sum(x, axis=0),
    np.mean: lambda x, y: np.mean(x, axis=1, keepdims=True),
    np.reshape: lambda x, y: np.reshape(x, (4,)),
    np.swapaxes: lambda x, y: np.swapaxes(x, 0, 1),
    np.expand_dims: lambda x, y: np.expand_dims(x, 0),
    np.concatenate: lambda x, y: np.concatenate([x, y], axis=1),
    np.stack: lambda x, y: np.stack([x, y]),
    np.broadcast_to: lambda x, y: np.broadcast_to(x, (3, 2, 2)),
    np.moveaxis: lambda x, y: np.moveaxis(x, 0, 1),
    np.squeeze: lambda x, y: np.squeeze(np.expand_dims(x, 0)),
    np.tile: lambda x, y: np.tile(x, (2, 1)),
    np.flip: lambda x, y: np.flip(x, 1),
    np.roll: lambda x, y: np.roll(x, 1, 0),
    np.take: lambda x, y: np.take(x, [1, 0], axis=1),
    np.take_along_axis: lambda x, y: np.take_along_axis(x, np.array([[1], [1]]), 1),
    np.cross: lambda x, y: np.cross(
        np.stack([x[0, 0], x[0, 1], y[0, 0]]), np.stack([y[0, 0], x[1, 1], y[1, 0]])
    ),
    np.cumprod: lambda x, y: np.cumprod(x, axis=1),
    np.cumsum: lambda x, y: np.cumsum(x, axis=0),
    np.einsum: lambda x, y: np.einsum("ij,jk->ik", x, y),
    np.outer: lambda x, y: np.outer(x[0], y[0]),
    np.linalg.cholesky: lambda x, y: np.linalg.cholesky(x.T @ x),
    np.clip: lambda x, y: np.clip(x, 1, 3),
    np.full_like: lambda x, y: np.full_like(x, 3),
    np.transpose: lambda x, y: np.transpose(x) + np.transpose(y, (1, 0)),
}
"""How a function is called that takes more than a matrix, or two."""

PAIRS = {np.allclose, np.array_equal, np.cross, np.dot, np.inner, np.isclose, np.linalg.solve}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_function_computes_as_numpy_does(function: Any):
    x, y = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]])
    call = CALLS.get(function, lambda x, y: function(x, y) if function in PAIRS else function(x))
    result, wanted = call(torch.tensor(x), torch.tensor(y)), call(x, y)
    results, wanted = (result, wanted) if isinstance(result, tuple) else ((result,), (wanted,))
    for one, other in zip(results, wanted):
        assert isinstance(one, torch.Tensor | bool)
        np.testing.assert_allclose(np.asarray(one), other, atol=1e-12)


def test_a_function_without_a_rule_is_numpys_own():
    x = torch.tensor([3.0, 1.0, 2.0])
    assert np.partition(x, 1).tolist() == [1, 2, 3] and np.median([x, x]) == 2
    assert np.shape(x) == (3,) and np.argmax(x) == 0 and np.allclose(x, x.numpy())
    assert isinstance(np.hypot(x, x), torch.Tensor) and np.add.reduce(x).item() == 6
    assert [part.tolist() for part in np.divmod(x, 2)] == [[1, 0, 1], [1, 1, 0]]
    assert np.add(x, x, dtype=np.float64).dtype == torch.float64


def test_where_a_gradient_would_be_lost_numpys_own_functions_say_so():
    x = torch.ones(2, requires_grad=True)
    for call in (np.median, np.hypot.reduce, lambda x: np.add(np.ones(2), x, out=np.ones(2))):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
            call(x)
        with torch.no_grad():
            call(x)
    assert np.shape(x) == (2,) and np.array_equal(x, x) and np.argmax(x) == 0


def test_out_may_be_an_array_or_a_tensor():
    x, array, tensor = torch.tensor([1.0, 2.0]), np.zeros(2, np.float32), torch.zeros(2)
    assert np.add(x, x, out=array) is array and array.tolist() == [2, 4]
    version = tensor._version
    assert np.add(x, x, out=tensor) is tensor and tensor.tolist() == [2, 4] and tensor._version == version + 1
    with pytest.raises(RuntimeError, match="leaf Variable"):
        np.add(x, x, out=torch.zeros(2, requires_grad=True))
    same = array
    array += x
    assert same is array and array.tolist() == [3, 6]


OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "eq", "matmul"]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_with_an_array_on_either_side_give_tensors(name: str):
    operate = getattr(operator, name)
    array, tensor = np.array([1.0, 2.0]), torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    for left, right in ((array, tensor), (tensor, array)):
        result = operate(left, right)
        assert isinstance(result, torch.Tensor)
        plain = [each if each is array else each.detach().numpy() for each in (left, right)]
        np.testing.assert_allclose(result.detach().numpy(), operate(*plain))


def test_gradients_flow_through_numpys_functions():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (np.ones(2) * np.exp(x) + np.float64(2.0) * x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]) + 2, rtol=1e-6)
    product = torch.tensor([1.0, 2.0], requires_grad=True)
    (product @ np.array([1.0, 3.0])).backward()
    assert product.grad.dtype == torch.float32 and product.grad.tolist() == [1, 3]
    assert (np.float64(2.0) * torch.ones(2)).dtype == torch.float32  # NumPy's number does not widen


def test_arrays_and_tensors_share_memory():
    array = np.zeros(3)
    tensor = torch.from_numpy(array)
    array[0] = 7
    tensor[1] = 8
    assert tensor.tolist() == array.tolist() == [7, 8, 0]
    assert np.shares_memory(np.asarray(tensor), array) and not np.shares_memory(np.array(tensor), array)
    assert np.asarray(tensor, dtype=np.int64).tolist() == [7, 8, 0]
    assert np.asarray([torch.tensor(1.0), torch.tensor(2.0)]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(tensor, dtype=np.int64, copy=False)
    learning = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(learning)
