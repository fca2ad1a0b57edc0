"""What a tensor is: its facts, its gradient's place, copies, conversions to Python, and text."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from typing import Any

import pytest

import autokit as torch
from tests.support import require


def test_facts():
    x = torch.zeros(2, 3)
    assert x.shape == x.size() == torch.Size([2, 3]) == (2, 3)
    assert (x.ndim, x.dim(), x.numel(), x.nelement(), x.size(1), x.size(-1), len(x)) == (2, 2, 6, 6, 3, 3, 2)
    assert (x.dtype, x.itemsize, x.element_size(), x.nbytes) == (torch.float32, 4, 4, 24)
    assert x.stride() == (3, 1) and x.stride(0) == 3 and x.is_contiguous() and not x.t().is_contiguous()
    assert x.data_ptr() == x[0].data_ptr() != x[1].data_ptr()
    assert x.is_floating_point() and not x.long().is_floating_point()
    assert repr(x.shape) == "torch.Size([2, 3])" and x.shape.numel() == 6


def test_a_size_stays_a_size():
    shape = torch.zeros(2, 3).shape
    assert isinstance(shape, tuple) and shape[0] == 2 and [*shape] == [2, 3]
    assert torch.zeros(shape).shape == shape and torch.zeros(*shape).shape == shape
    assert repr(shape[1:]) == "torch.Size([3])" and repr(shape[:1] + (4, 5)) == "torch.Size([2, 4, 5])"
    with pytest.raises(TypeError):
        shape + [4]


def test_sums_and_products_of_sizes_are_sizes():
    shape = torch.Size([2, 3])
    for made in ((1,) + shape, shape + (1,), shape * 2, 2 * shape, shape[::-1], sum([shape, shape], ())):
        assert type(made) is torch.Size and torch.Size(tuple(made)) == made
    assert type(copy.deepcopy(shape)) is type(pickle.loads(pickle.dumps(shape))) is torch.Size


def test_tensors_hash_by_identity():
    a, b = torch.ones(2), torch.ones(2)
    assert len({a, b, a}) == 2


def test_the_gradient_is_set_deleted_and_checked():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.zeros(2)
    assert x.grad.tolist() == [0.0, 0.0]
    del x.grad
    assert x.grad is None
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = torch.zeros(3)
    with pytest.raises(RuntimeError, match="float64"):
        x.grad = torch.zeros(2, dtype=torch.float64)
    with pytest.raises(TypeError, match="Tensor or None"):
        x.grad = 1  # type: ignore[assignment]


def test_an_unknown_keyword_of_backward_is_named_as_the_method():
    with pytest.raises(TypeError, match=r"^Tensor\.backward\(\) got an unexpected keyword"):
        torch.ones(1, requires_grad=True).sum().backward(retain_grap=True)


def test_names():
    x = torch.ones(2)
    assert x.name == ""
    x.name = "<script>alert(1)</script>"
    assert x.name == "<script>alert(1)</script>"
    with pytest.raises(TypeError, match="a name must be str or None, not int"):
        x.name = 3  # type: ignore[assignment]
    x.name = None
    assert x.name == ""


def test_data_is_the_same_memory_and_settable():
    x = torch.ones(2, requires_grad=True)
    x.data[0] = 5
    assert x.tolist() == [5.0, 1.0] and x.data.requires_grad is False
    x.data = torch.zeros(2)
    assert x.tolist() == [0.0, 0.0] and x.requires_grad
    with pytest.raises(TypeError):
        x.data = [1, 2]  # type: ignore[assignment]


def test_pythons_numbers():
    x = torch.tensor([2.5])
    assert (float(x), int(x), complex(x), x.item(), bool(x)) == (2.5, 2, 2.5 + 0j, 2.5, True)
    assert math.sqrt(torch.tensor(9.0)) == 3.0 and round(torch.tensor(2.4).item()) == 2
    assert operator.index(torch.tensor(3)) == 3 and [1, 2, 3][torch.tensor(1)] == 2
    with pytest.raises(TypeError):
        operator.index(torch.tensor(2.0))
    assert isinstance(torch.tensor(1).item(), int) and isinstance(torch.tensor(True).item(), bool)
    assert not torch.tensor(0.0) and torch.tensor(float("nan"))


def test_tolist():
    assert torch.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert torch.tensor(1.5).tolist() == 1.5 and torch.zeros(0, 2).tolist() == []


def test_sums_and_loops_of_python():
    x = torch.tensor([1.0, 2.0, 3.0])
    assert sum(x) == 6.0 and max(x) == 3.0 and sorted(x.tolist()) == [1.0, 2.0, 3.0]
    assert [each.item() for each in x] == [1.0, 2.0, 3.0]
    assert [float(each) for each in reversed([*x])] == [3.0, 2.0, 1.0]


class Dual:
    """A number and its tangent, which know what to do with what stands before them."""

    def __init__(self, value: Any, tangent: Any) -> None:
        self.value, self.tangent = value, tangent

    def __radd__(self, other: Any) -> Dual:
        return Dual(other + self.value, self.tangent)

    def __rsub__(self, other: Any) -> Dual:
        return Dual(other - self.value, -self.tangent)

    def __rmul__(self, other: Any) -> Dual:
        return Dual(other * self.value, other * self.tangent)

    def __rtruediv__(self, other: Any) -> Dual:
        return Dual(other / self.value, -other * self.tangent / self.value**2)

    def __rmatmul__(self, other: Any) -> Dual:
        return Dual(other @ self.value, other @ self.tangent)


class Parts(tuple):
    """Several values at once, each of which is multiplied."""

    def __rmul__(self, other: Any) -> Parts:
        return Parts(other * each for each in self)


def test_a_tuple_of_ones_own_is_asked_too():
    x = torch.tensor(2.0)
    made = x * Parts([torch.ones(2), torch.zeros(1)])
    assert type(made) is Parts and [each.tolist() for each in made] == [[2.0, 2.0], [0.0]]
    for wrong in ((1, 2), [1], "a"):
        with pytest.raises(TypeError, match="must be Tensor, not"):
            x * wrong


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "@"])
def test_an_object_that_answers_itself_is_asked_as_with_pytorch(symbol: str):
    require("torch")
    import torch as pytorch

    found = []
    for T in (torch, pytorch):
        x, dual = T.tensor([4.0, 2.0]), Dual(T.tensor([2.0, 1.0]), T.tensor([1.0, 3.0]))
        made = eval(f"x {symbol} dual")
        assert type(made) is Dual
        found.append([made.value.tolist(), made.tangent.tolist()])
        for function in (T.add, T.sub, T.mul, T.div, T.matmul):
            with pytest.raises(TypeError, match="Dual"):
                function(x, dual)
        with pytest.raises(TypeError):
            eval(f"x {symbol} object()")
    assert found[0] == found[1]
