"""Sparse tensors on a GPU: they stay sparse and there, and give the CPU's numbers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn, optim
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("gpu")

PLACES = [[0, 1, 1, 0, 1], [2, 0, 2, 2, 0]]
"""Two places are named twice."""

VALUES = [3.0, -4.0, 5.0, 0.5, 0.25]


def devices() -> list[str]:
    return ["cuda:0", "cuda:1"][: torch.cuda.device_count()]


def matrix(where: str = "cpu", learns: bool = False, dtype: Any = None) -> tuple[Any, Any]:
    """A matrix of 2 × 3, and its values."""
    values = torch.tensor(VALUES, requires_grad=learns, device=where, dtype=dtype)
    return torch.sparse_coo_tensor(torch.tensor(PLACES, device=where), values, (2, 3)), values


def dense(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().to_dense().numpy()


CALLS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "product": lambda a, on: a @ torch.arange(6.0, **on).reshape(3, 2),
    "product with a vector": lambda a, on: a @ torch.arange(3.0, **on),
    "product from the left": lambda a, on: torch.ones(4, 2, **on) @ a,
    "product of two": lambda a, on: a @ a.t(),
    "sparse.mm": lambda a, on: torch.sparse.mm(a, torch.ones(3, 2, **on)),
    "sparse.addmm": lambda a, on: torch.sparse.addmm(torch.ones(2, 1, **on), a, torch.ones(3, 1, **on)),
    "sum": lambda a, on: a.sum(),
    "sparse.sum": lambda a, on: torch.sparse.sum(a, 1),
    "times a number": lambda a, on: a * 2 - a / 4,
    "times numbers": lambda a, on: a * torch.arange(6.0, **on).reshape(2, 3),
    "sum of two": lambda a, on: a + a.t().t(),
    "beside a dense one": lambda a, on: torch.ones(2, 3, **on) + a,
    "transposed": lambda a, on: a.transpose(0, 1),
    "in order": lambda a, on: a.coalesce(),
    "values": lambda a, on: a.coalesce().values() ** 2,
    "indices": lambda a, on: a.coalesce().indices(),
    "dense": lambda a, on: a.to_dense() ** 2,
    "sparse again": lambda a, on: a.to_dense().to_sparse(),
    "rows alone": lambda a, on: a.to_dense().to_sparse(1),
    "copy": lambda a, on: a.clone(),
    "in float64": lambda a, on: a.double(),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_gradients_are_the_cpus_and_nothing_is_copied(name: str):
    def run(where: str) -> tuple[Any, Any]:
        a, values = matrix(where, learns=True)
        standin.copies.clear()
        made = CALLS[name](a, {"device": where})
        if made.requires_grad:
            made.to_dense().sum().backward()
        return made, values.grad

    expected, slope = run("cpu")
    for where in devices():
        made, found = run(where)
        assert not standin.copies
        assert str(made.device) == where and made.is_sparse == expected.is_sparse
        np.testing.assert_allclose(dense(made), dense(expected), rtol=1e-6)
        assert (found is None) == (slope is None)
        if found is not None:
            assert str(found.device) == where
            np.testing.assert_allclose(found.cpu().numpy(), slope.numpy(), rtol=1e-6)


@pytest.mark.parametrize("send", [lambda a, where: a.to(where), lambda a, where: a.cuda(where)])
def test_a_sparse_tensor_that_is_sent_stays_sparse(send: Any):
    a, values = matrix(learns=True)
    for where in devices():
        there = send(a, where)
        assert there.is_sparse and there.is_cuda and there._nnz() == 5 and not there.is_coalesced()
        assert str(there._indices().device) == str(there._values().device) == where
        back = there.cpu()
        assert back.is_sparse and back._indices().tolist() == PLACES
        values.grad = None
        (there.to_dense() * torch.arange(6.0, device=where).reshape(2, 3)).sum().backward()
        assert values.grad.tolist() == [2.0, 3.0, 5.0, 2.0, 3.0]
        kept = pickle.loads(pickle.dumps(there.detach()))
        assert kept.is_sparse and str(kept.device) == where


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float16, torch.int32, torch.int8, torch.bool, torch.complex64]
)
def test_places_that_are_named_twice_hold_the_sum_in_each_dtype(dtype: Any):
    here, there = matrix(dtype=dtype)[0].coalesce(), matrix("cuda", dtype=dtype)[0].coalesce()
    assert there.indices().tolist() == here.indices().tolist()
    assert there.values().tolist() == here.values().tolist() and there.dtype is dtype
    assert matrix("cuda", dtype=dtype)[0].to_dense().tolist() == here.to_dense().tolist()


def test_how_it_is_made_and_printed():
    a = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], device="cuda")
    assert repr(a) == (
        "tensor(indices=tensor([[0, 1],\n                       [1, 0]]),\n       values=tensor([1., 2.]),\n"
        "       device='cuda:0', size=(2, 2), nnz=2, layout=torch.sparse_coo)"
    )
    places = torch.tensor([[0, 1], [1, 0]])
    assert torch.sparse_coo_tensor(places, [1.0, 2.0], device="cuda").is_cuda
    with pytest.raises(RuntimeError, match=r"indices \(cpu\) must match device of values \(cuda:0\)"):
        torch.sparse_coo_tensor(places, torch.ones(2, device="cuda"))
    with pytest.raises(RuntimeError, match="size is 2 but found index 5"):
        torch.sparse_coo_tensor([[5], [0]], [1.0], (2, 2), device="cuda")
    with pytest.raises(RuntimeError, match=r"found at least two devices, (cuda:0 and cpu|cpu and cuda:0)"):
        a @ torch.ones(2, 1)
    with pytest.raises(TypeError, match=r"can't convert Sparse layout.*to_dense\(\)"):
        a.numpy()
    with pytest.raises(NotImplementedError, match="to_dense"):
        torch.exp(a)


METHODS: list[Callable[[Any], Any]] = [
    lambda of: optim.SGD(of, lr=0.1),
    lambda of: optim.SGD(of, lr=0.1, maximize=True),
    lambda of: optim.SGD(of, lr=0.1, weight_decay=0.5),
    lambda of: optim.SparseAdam(of, lr=0.1),
]


@pytest.mark.parametrize("make", METHODS)
def test_a_table_learns_by_the_rows_that_are_read(make: Callable[[Any], Any]):
    def train(where: str) -> list[Any]:
        torch.manual_seed(0)
        table, found = nn.Embedding(6, 3, sparse=True).to(where), []
        method = make(table.parameters())
        for rows in ([1, 3, 1], [2, 1]):
            method.zero_grad()
            index = torch.tensor(rows, device=where)
            for _ in range(2):  # the second adds up
                table(index).pow(2).sum().backward()
            assert table.weight.grad.is_sparse and str(table.weight.grad.device) == where
            method.step()
            found.append(table.weight.detach().cpu().numpy().copy())
        return found

    for where in devices():
        for theirs, ours in zip(train(where), train("cpu"), strict=True):
            np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dense_first", [True, False])
@pytest.mark.parametrize("passes", [1, 2])
def test_sparse_and_dense_gradients_of_one_table_add_up(dense_first: bool, passes: int):
    weight = torch.arange(8.0, device="cuda").reshape(4, 2).requires_grad_()

    def read() -> Any:
        return nn.functional.embedding(torch.tensor([1, 1], device="cuda"), weight, sparse=True).sum()

    def squared() -> Any:
        return weight.pow(2).sum()

    losses = [read, squared] if dense_first else [squared, read]
    if passes == 1:
        (losses[0]() + losses[1]()).backward()
    else:
        for loss in reversed(losses):
            loss().backward()
    assert weight.grad.tolist() == [[0, 2], [6, 8], [8, 10], [12, 14]]


def test_the_sparse_gradient_of_a_turned_table_stays_sparse():
    weight = torch.zeros(2, 4, device="cuda").t().requires_grad_()
    weight.register_hook(lambda gradient: gradient)  # with hooks a leaf's gradient comes by another way
    read = nn.functional.embedding(torch.tensor([1, 1], device="cuda"), weight, sparse=True)
    read.sum().backward()
    assert weight.grad.is_sparse and weight.grad.to_dense().tolist() == [[0, 0], [2, 2], [0, 0], [0, 0]]


def test_pictures_of_it():
    a = matrix("cuda", learns=True)[0]
    made = (a @ torch.ones(3, 1, device="cuda")).sum()
    assert "cuda:0" in made._repr_mimebundle_()["text/plain"]
    there = [node.value.values for node in torch.graph(made).nodes]
    here = [
        node.value.values for node in torch.graph((matrix(learns=True)[0] @ torch.ones(3, 1)).sum()).nodes
    ]
    assert there == here


def test_a_sparse_number():
    here = torch.sparse_coo_tensor(torch.zeros(0, 2, dtype=torch.int64), torch.tensor([1.0, 2.0]), ())
    there = here.to("cuda")
    assert there.coalesce().to_dense().item() == there.t().to_dense().item() == here.to_dense().item() == 3
    assert torch.tensor(4.0, device="cuda").to_sparse().to_dense().item() == 4
