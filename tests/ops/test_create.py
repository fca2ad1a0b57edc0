"""New tensors beside PyTorch's: from data, filled, counted, by the old constructors; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, numbers, pytorch, refused

FROM_DATA = [
    lambda T: T.tensor([[1, 2], [3, 4]]),
    lambda T: T.tensor([1, True, 2.5]),
    lambda T: T.tensor([]),
    lambda T: T.tensor(1.5, dtype=T.float64),
    lambda T: T.tensor([1.7, -1.7], dtype=T.int32),
    lambda T: T.tensor(np.float64(1.5)),
    lambda T: T.tensor([np.float64(1.5), 2]),
    lambda T: T.tensor(range(3)),
    lambda T: T.tensor([T.tensor(1.0), T.tensor(2.0)]),
    lambda T: T.tensor([T.tensor(1), T.tensor(2.5, dtype=T.float64)]),
    lambda T: T.tensor([np.array([1, 2]), np.array([3, 4])]),
    lambda T: T.tensor([(1, 2), [3.0, 4]]),
    lambda T: T.Tensor(2, 3).shape.numel(),
    lambda T: (T.Tensor([1, 2]), T.Tensor(np.arange(3)), T.Tensor()),
    lambda T: T.Tensor(0, 2),
    lambda T: T.LongTensor([[1, 2**40]]),
    lambda T: T.BoolTensor([1, 0]),
    lambda T: isinstance(T.ones(2), T.FloatTensor),
    lambda T: T.as_tensor(np.ones(2), dtype=T.float32),
    lambda T: T.asarray([1, 2.5]),
    lambda T: T.from_numpy(np.ones((2, 2))),
]
FILLED = [
    lambda T: T.zeros((2, 3), dtype=T.int64),
    lambda T: T.zeros([]),
    lambda T: T.ones(T.Size([1, 2]), requires_grad=True),
    lambda T: T.empty(2, 0),
    lambda T: T.full((2, 3), 7),
    lambda T: T.full((2,), T.tensor(3)),
    lambda T: T.eye(2, 3, dtype=T.int64),
    lambda T: T.zeros_like(T.ones(2, 3, dtype=T.float64)),
    lambda T: T.ones_like(T.ones(2), dtype=T.int32),
    lambda T: T.empty_like(T.ones(2, 0)),
    lambda T: T.full_like(T.ones(2, dtype=T.int64), 3.7),
    lambda T: T.scalar_tensor(3, dtype=T.int64),
    lambda T: T.ones(2, dtype=T.int64).new([1, 2]),
    lambda T: T.ones(2).new_ones((2,), dtype=T.int64),
    lambda T: T.ones(2, dtype=T.float64).new_tensor([[1, 2]]),
]
COUNTED = [
    lambda T: T.arange(5, 1, -2),
    lambda T: T.arange(end=3),
    lambda T: T.arange(0, 1, 0.1),
    lambda T: T.arange(start=1, end=4, step=2),
    lambda T: T.arange(1, 2, 0.3, dtype=T.float64),
    lambda T: T.arange(3, dtype=T.float16),
    lambda T: T.arange(0, 100, 0.7, requires_grad=True),
    lambda T: T.linspace(-1, 1, 7),
    lambda T: T.linspace(-5, 5, 101),
    lambda T: T.linspace(0, 1, 0),
    lambda T: T.linspace(0, 10, 5, dtype=T.int64),
    lambda T: T.logspace(0, 3, steps=4, base=2, dtype=T.float64),
    lambda T: T.range(1, 2, 0.5),
]


@pytest.mark.filterwarnings(
    "ignore:torch.range is deprecated", "ignore:.*not writable", "ignore:.*extremely slow"
)
@pytest.mark.parametrize("program", [*FROM_DATA, *FILLED, *COUNTED])
def test_a_new_tensor_is_pytorchs(program: Any):
    compare(program)


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_a_grid_of_coordinates(indexing: str):
    compare(lambda T, a, b: T.meshgrid(a, b, indexing=indexing), numbers(3), numbers(4))
    compare(lambda T, a, b, c: T.meshgrid([a, b, c], indexing=indexing), numbers(3), numbers(), numbers(2))
    compare(lambda T, a: T.meshgrid(a, indexing=indexing), numbers(3))


REFUSED = [
    (lambda T: T.tensor([[1, 2], [3, 4, 5]]), "expected sequence of length 2 at dim 1 (got 3)"),
    (lambda T: T.tensor([1, None]), "Could not infer dtype of NoneType"),
    (lambda T: T.tensor([T.ones(2), T.ones(2)]), "only one element tensors"),
    (lambda T: T.tensor([1, 2], requires_grad=True), "can require gradients"),
    (lambda T: T.tensor(300, dtype=T.int8), "without overflow"),
    (lambda T: T.zeros(2.5), "must be int, not float"),
    (lambda T: T.full(3, 1.0), "write full((3,), …)"),
    (lambda T: T.arange(0, 1, 0), "step must be nonzero"),
    (lambda T: T.arange(5, 1), "inconsistent with step sign"),
    (lambda T: T.from_numpy([1, 2]), "expected np.ndarray"),
    (lambda T: T.meshgrid(T.ones(2), indexing="ji"), 'indexing must be one of "xy" or "ij"'),
    (lambda T: T.zeros_like([1, 2]), "must be Tensor, not list"),
]

test_what_pytorch_refuses_is_refused_in_a_sentence = refused(REFUSED)


def test_complex_numbers_and_bfloat16_are_refused_by_a_sentence():
    with pytest.raises(TypeError, match="no complex64"):
        autokit.zeros(2, dtype=autokit.complex64)
    with pytest.raises(TypeError, match="does not compute in bfloat16"):
        autokit.ones(2).bfloat16()


def test_from_numpy_shares_the_memory_and_tensor_copies():
    array = np.zeros(3)
    shared, copied, back = autokit.from_numpy(array), autokit.tensor(array), autokit.as_tensor(array)
    array[0] = 5
    shared[1] = 6
    assert array.tolist() == [5, 6, 0] and copied.tolist() == [0, 0, 0] and back.tolist() == [5, 6, 0]
    assert autokit.as_tensor(shared) is shared


def test_a_copy_of_a_tensor_warns():
    x = autokit.ones(2)
    with pytest.warns(UserWarning, match="clone"):
        copy = autokit.tensor(x)
    copy[0] = 5
    assert x.tolist() == [1, 1]


def test_empty_is_filled_with_zeros():
    assert autokit.empty(2, 2).tolist() == [[0, 0], [0, 0]]
    assert autokit.empty_like(autokit.ones(2)).tolist() == [0, 0]


def test_the_default_dtype_and_device_are_those_of_new_tensors():
    for T in (autokit, pytorch):
        T.set_default_dtype(T.float64)
        try:
            assert (
                T.zeros(2).dtype
                == T.tensor(1.5).dtype
                == T.rand(2).dtype
                == T.arange(0, 1, 0.5).dtype
                == T.float64
            )
        finally:
            T.set_default_dtype(T.float32)
