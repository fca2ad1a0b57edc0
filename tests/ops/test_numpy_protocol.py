"""NumPy's functions on tensors, and arrays and tensors sharing memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.ops.numpy_protocol import KNOWN
from tests.support import require

UFUNCS = [function for function in KNOWN if isinstance(function, np.ufunc)]
FUNCTIONS = [function for function in KNOWN if not isinstance(function, np.ufunc)]
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert)
INTEGERS = (*BITS, np.gcd, np.lcm, np.left_shift, np.right_shift)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_every_ufunc_computes_as_numpy_does_and_records(ufunc: np.ufunc):
    kind = np.int64 if ufunc in INTEGERS else np.float64
    arrays = [np.array([[1, 2], [3, 4]], kind), np.array([[2, 1], [3, 3]], kind)][: ufunc.nin]
    if ufunc is np.ldexp:
        arrays[1] = arrays[1].astype(np.int64)
    tensors = [torch.tensor(array, requires_grad=array.dtype.kind == "f") for array in arrays]
    made = ufunc(*tensors)
    assert isinstance(made, torch.Tensor)
    np.testing.assert_allclose(made.detach().numpy(), ufunc(*arrays))
    assert made.requires_grad == bool(KNOWN[ufunc](*tensors).requires_grad)


CALLS = {
    np.where: lambda x, y: np.where(x > 1, x, y),
    np.sum: lambda x, y: np.sum(x, axis=0),
    np.mean: lambda x, y: np.mean(x, axis=1, keepdims=True),
    np.max: lambda x, y: np.max(x, axis=0),
    np.min: lambda x, y: np.min(x, axis=1),
    np.prod: lambda x, y: np.prod(x, axis=1),
    np.reshape: lambda x, y: np.reshape(x, (4,)),
    np.transpose: lambda x, y: np.transpose(x),
    np.swapaxes: lambda x, y: np.swapaxes(x, 0, 1),
    np.expand_dims: lambda x, y: np.expand_dims(x, 0),
    np.concatenate: lambda x, y: np.concatenate([x, y], axis=1),
    np.stack: lambda x, y: np.stack([x, y]),
    np.zeros_like: lambda x, y: np.zeros_like(x),
    np.ones_like: lambda x, y: np.ones_like(x),
    np.broadcast_to: lambda x, y: np.broadcast_to(x, (3, 2, 2)),
    np.moveaxis: lambda x, y: np.moveaxis(x, 0, 1),
    np.squeeze: lambda x, y: np.squeeze(np.expand_dims(x, 0)),
    np.ravel: lambda x, y: np.ravel(x),
    np.tile: lambda x, y: np.tile(x, (2, 1)),
    np.flip: lambda x, y: np.flip(x, 1),
    np.roll: lambda x, y: np.roll(x, 1, 0),
    np.rot90: lambda x, y: np.rot90(x),
    np.diagonal: lambda x, y: np.diagonal(x),
    np.tril: lambda x, y: np.tril(x),
    np.triu: lambda x, y: np.triu(x, 1),
    np.take: lambda x, y: np.take(x, torch.tensor([1, 0]) if isinstance(x, torch.Tensor) else [1, 0], axis=1),
    np.take_along_axis: lambda x, y: np.take_along_axis(
        x, torch.tensor([[1]]) if isinstance(x, torch.Tensor) else np.array([[1], [1]]), 1
    ),
    np.dot: lambda x, y: np.dot(x, y),
    np.clip: lambda x, y: np.clip(x, 1, 3),
    np.sinc: lambda x, y: np.sinc(x),
    np.round: lambda x, y: np.round(x / 3, 1),
    np.nan_to_num: lambda x, y: np.nan_to_num(x / (y - 6)),
    np.i0: lambda x, y: np.i0(x),
    np.real: lambda x, y: np.real(x * 1j + y),
    np.imag: lambda x, y: np.imag(x * 1j + y),
    np.angle: lambda x, y: np.angle(x - 2, deg=True),
    np.cross: lambda x, y: np.cross(*(np.concatenate(each, axis=1)[:, 1:] for each in ([x, y], [y, x]))),
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_function_computes_as_numpy_does(function: Any):
    x, y = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]])
    made = CALLS[function](torch.tensor(x), torch.tensor(y))
    assert isinstance(made, torch.Tensor)
    rounding = 1e-15 if function is np.i0 else 0  # which is another approximation of the same function
    np.testing.assert_allclose(made.numpy(), CALLS[function](x, y), rtol=rounding, atol=0)


def test_a_function_without_a_rule_is_numpys_own():
    x = torch.tensor([3.0, 1.0, 2.0])
    assert np.partition(x, 1).tolist() == [1, 2, 3] and np.median([x, x]) == 2
    assert np.histogram(x, bins=1)[0].tolist() == [3]
    assert np.shape(x) == (3,) and np.argmax(x) == 0 and np.allclose(x, x.numpy())


def test_where_a_gradient_would_be_lost_numpys_own_functions_say_so():
    x = torch.ones(2, requires_grad=True)
    for call in (np.median, np.hypot.reduce, lambda x: np.add(np.ones(2), x, out=np.ones(2))):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
            call(x)
        with torch.no_grad():
            call(x)
    assert np.shape(x) == (2,) and np.array_equal(x, x) and np.argmax(x) == 0


def test_ufuncs_without_a_rule_give_tensors():
    x = torch.tensor([3.0, 4.0])
    assert isinstance(np.hypot(x, x), torch.Tensor)
    assert np.add.reduce(x).item() == 7 and np.add.accumulate(x).tolist() == [3, 7]
    assert [part.tolist() for part in np.divmod(x, 2)] == [[1, 2], [1, 0]]
    assert np.add(x, x, dtype=np.float64).dtype == torch.float64


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**"])
def test_an_array_takes_in_a_tensor_in_place(symbol: str):
    array = np.array([5.0, 7.0])
    same, expected = array, eval(f"array {symbol} np.array([2.0, 3.0])")
    exec(f"array {symbol}= torch.tensor([2.0, 3.0])", scope := {"array": array, "torch": torch})
    assert scope["array"] is same
    np.testing.assert_array_equal(same, expected)


def test_out_may_be_an_array_or_a_tensor():
    x, array, tensor = torch.tensor([1.0, 2.0]), np.zeros(2, np.float32), torch.zeros(2)
    assert np.add(x, x, out=array) is array and array.tolist() == [2, 4]
    version = tensor._version
    assert np.add(x, x, out=tensor) is tensor and tensor.tolist() == [2, 4] and tensor._version == version + 1
    with pytest.raises(RuntimeError, match="leaf Variable"):
        np.add(x, x, out=torch.zeros(2, requires_grad=True))


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**", "<", "==", "@"])
def test_operators_with_an_array_on_either_side_give_tensors(symbol: str):
    array, tensor = np.array([1.0, 2.0]), torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    expressions = [f"array {symbol} tensor", f"tensor {symbol} array"]
    for expression in expressions:
        made = eval(expression)
        assert isinstance(made, torch.Tensor)
        np.testing.assert_allclose(
            made.detach().numpy(), eval(expression, {"array": array, "tensor": tensor.detach().numpy()})
        )


@pytest.mark.parametrize("program", ["x @ n", "m @ M", "m @ n", "i @ n", "np.dot(n, x)", "np.matmul(M, m)"])
def test_a_product_with_an_array_of_another_dtype_has_numpys_dtype(program: str):
    require("torch")
    import torch as pytorch

    found = []
    for T in (torch, pytorch):
        names = {"x": T.tensor([1.0, 2.0]), "m": T.ones(2, 2), "i": T.tensor([0, 1]), "np": np}
        made = eval(program, {**names, "n": np.array([1.0, 3.0]), "M": np.eye(2)})
        found.append((np.asarray(made).dtype, np.asarray(made).tolist()))
    assert found[0] == found[1]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x @ np.array([1.0, 3.0])).backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [1.0, 3.0]


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
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(x, dtype=np.int64, copy=False)
    assert np.shares_memory(np.array(x, copy=False), x.numpy())
    y = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert np.shares_memory(y.numpy(), y.detach().numpy())


def test_concatenation_takes_arrays_among_tensors():
    made = np.concatenate([np.ones(1), torch.zeros(1).double()])
    assert isinstance(made, torch.Tensor) and made.tolist() == [1, 0]


STRUCTURED = np.zeros(3, [("a", "f4"), ("b", "i1")])["a"]
ODD = [
    np.array(["a"]),
    np.array([None]),
    np.zeros(2, "M8[s]"),
    np.zeros(2, np.longdouble),
    np.zeros(2, ">f4"),
    np.arange(3)[::-1],
    STRUCTURED,
]


@pytest.mark.parametrize("array", ODD, ids=lambda array: f"{array.dtype} {array.strides}")
@pytest.mark.parametrize("name", ["from_numpy", "as_tensor", "tensor"])
def test_arrays_that_no_tensor_can_hold_are_refused_as_by_pytorch(array: np.ndarray, name: str):
    require("torch")
    import torch as pytorch

    if array is STRUCTURED and name == "tensor":
        return  # which is copied
    with pytest.raises((TypeError, ValueError)) as theirs:
        getattr(pytorch, name)(array)
    with pytest.raises(theirs.type) as ours:
        getattr(torch, name)(array)
    assert str(ours.value)[:45] == str(theirs.value)[:45]


def test_a_read_only_array_warns_and_stays_as_it_is():
    array = np.arange(3.0)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        tensor = torch.from_numpy(array)
    with pytest.raises(RuntimeError, match="may not be written to"):
        tensor.add_(1)


def test_no_dimensions_share_memory_too():
    array = np.array(5.0)
    torch.from_numpy(array).add_(1)
    assert array == 6 and torch.tensor(3.0).numpy().shape == ()


# DLPack.


def test_dlpack_shares_memory_with_numpy_both_ways():
    tensor = torch.zeros(2, 3).t()
    array = np.from_dlpack(tensor)
    array[0, 1] = 5
    assert tensor[0, 1].item() == 5 and array.strides == tensor.numpy().strides
    back = torch.from_dlpack(array)
    back[0, 0] = 7
    assert tensor[0, 0].item() == 7
    assert torch.from_dlpack(array, copy=True).data_ptr() != back.data_ptr()
    assert torch.from_dlpack(tensor).data_ptr() == tensor.data_ptr()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8", "bool", "complex64"])
def test_dlpack_shares_memory_with_pytorch_both_ways(dtype: str):
    require("torch")
    import torch as pytorch

    for one, other in ((torch, pytorch), (pytorch, torch)):
        mine = one.ones(2, 2).to(getattr(one, dtype))
        theirs = other.from_dlpack(mine)
        assert theirs.data_ptr() == mine.data_ptr() and repr(theirs.dtype) == f"torch.{dtype}"
        mine[0, 1] = 0
        assert theirs.tolist() == mine.tolist()
        theirs[1, 1] = 0
        assert theirs.tolist() == mine.tolist()
        assert other.utils.dlpack.from_dlpack(one.utils.dlpack.to_dlpack(mine)).tolist() == mine.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda T: T.ones(2, requires_grad=True).__dlpack__(),
        lambda T: np.from_dlpack(T.ones(2, requires_grad=True)),
        lambda T: T.ones(2).__dlpack__(stream=1),
        lambda T: T.from_dlpack([1]),
        lambda T: [T.from_dlpack(capsule) for capsule in [T.ones(2).__dlpack__()] * 2],
    ],
)
def test_dlpack_refuses_as_pytorch_does(call: Any):
    require("torch")
    import torch as pytorch

    with pytest.raises((BufferError, AssertionError, RuntimeError)) as theirs:
        call(pytorch)
    with pytest.raises(theirs.type) as ours:
        call(torch)
    assert str(ours.value)[:40] == str(theirs.value)[:40]


def test_asarray_shares_where_it_can():
    array = np.arange(3.0)
    assert torch.asarray(array).data_ptr() == array.ctypes.data
    assert torch.asarray(array, copy=True).data_ptr() != array.ctypes.data
    with pytest.raises(ValueError, match="alias"):
        torch.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="alias"):
        torch.asarray(array, dtype=torch.float32, copy=False)
    assert torch.asarray([1.0], requires_grad=True).requires_grad
    assert torch.frombuffer(bytearray(8), dtype=torch.int32).tolist() == [0, 0]
