"""Sparse tensors beside PyTorch's: graph networks, tables of which few rows are read, and what is refused."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.ops.sparse_array import Refused
from tests.support import require

require("torch")
import torch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch calls its sparse tensors young

BOTH = (autokit, torch)


def numbers(tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    return (tensor.to_dense() if tensor.is_sparse else tensor).numpy()


def agree(call: Callable[[Any], Any]) -> None:
    """What ``call`` gives, dense or sparse, is PyTorch's."""
    ours, theirs = (call(T) for T in BOTH)
    assert ours.is_sparse == theirs.is_sparse and tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype).replace("autokit", "torch") == str(theirs.dtype)
    np.testing.assert_allclose(numbers(ours), numbers(theirs), rtol=1e-6, atol=1e-7)


@st.composite
def matrices(draw: Any) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Places, perhaps named twice, values, and a shape."""
    random = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    shape = (random.randint(1, 6), random.randint(1, 6))
    count = draw(st.integers(0, 12))
    places = np.array([random.randint(0, size, count) for size in shape]).reshape(2, count)
    return places, random.standard_normal(count), shape


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_products_and_their_gradients(matrix: Any):
    places, numbers_held, shape = matrix
    found = []
    for T in BOTH:
        values = T.tensor(numbers_held, requires_grad=True)
        x = T.arange(3.0 * shape[1], dtype=T.float64).reshape(shape[1], 3).requires_grad_()
        a = T.sparse_coo_tensor(T.tensor(places), values, shape)
        made = [T.sparse.mm(a, x), a @ x[:, 0], T.spmm(a.t(), (a @ x)), a.coalesce().to_dense() @ x]
        weights = [T.arange(1.0, 1 + part.numel(), dtype=T.float64).reshape(part.shape) for part in made]
        total = sum((part * weight).sum() for part, weight in zip(made, weights)) + T.sparse.sum(a)
        total.backward()
        found.append([*(part.detach().numpy() for part in made), values.grad.numpy(), x.grad.numpy()])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_two_derivatives_are_right():
    places = autokit.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])

    def total(values: Any, x: Any) -> Any:
        a = autokit.sparse_coo_tensor(places, values, (2, 3))
        return a @ x, a.coalesce().values() * 2, a.to_dense() ** 2, (a * 3).t().to_dense()

    values = autokit.tensor([0.5, -1.0, 2.0, 0.3], dtype=autokit.float64, requires_grad=True)
    x = autokit.randn(3, 2, dtype=autokit.float64, requires_grad=True)
    assert autokit.autograd.gradcheck(total, (values, x))
    assert autokit.autograd.gradgradcheck(total, (values, x))


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_coalescing(matrix: Any):
    places, values, shape = matrix
    ours, theirs = (T.sparse_coo_tensor(T.tensor(places), T.tensor(values), shape) for T in BOTH)
    assert repr(ours) == repr(theirs)
    assert ours._nnz() == theirs._nnz()
    ours, theirs = ours.coalesce(), theirs.coalesce()
    assert ours.is_coalesced() and ours.indices().tolist() == theirs.indices().tolist()
    np.testing.assert_allclose(ours.values().numpy(), theirs.values().numpy())
    np.testing.assert_allclose(ours.to_dense().numpy(), theirs.to_dense().numpy())


MATRIX = ([[0, 1, 1, 0], [2, 0, 2, 2]], [3.0, -4.0, 5.0, 0.5])
"""A place is named twice."""


@pytest.mark.parametrize(
    "call",
    [
        lambda T, a: a * 2,
        lambda T, a: a / 4,
        lambda T, a: -a,
        lambda T, a: a + a,
        lambda T, a: a - 3 * a,
        lambda T, a: a * T.arange(6.0).reshape(2, 3),
        lambda T, a: T.ones(2, 3) + a,
        lambda T, a: a.sum(),
        lambda T, a: a.t(),
        lambda T, a: a.transpose(0, 1),
        lambda T, a: a.T @ T.ones(2, 1),
        lambda T, a: T.ones(4, 2) @ a,
        lambda T, a: T.mm(a, T.ones(3, 2)),
        lambda T, a: T.matmul(a, T.ones(3)),
        lambda T, a: a @ a.t(),
        lambda T, a: T.sparse.mm(a, T.eye(3).to_sparse()),
        lambda T, a: T.sparse.sum(a, 1),
        lambda T, a: T.sparse.sum(a, (0, 1)),
        lambda T, a: T.sparse.addmm(T.ones(2, 1), a, T.ones(3, 1)),
        lambda T, a: T.sparse.addmm(T.full((2, 1), T.nan), a, T.ones(3, 1), beta=0, alpha=2),
        lambda T, a: a.double(),
        lambda T, a: a.to("cpu"),
        lambda T, a: a.clone().detach(),
        lambda T, a: a.to_dense().to_sparse(),
        lambda T, a: T.ones(2, 3).to_dense(),
        lambda T, a: copy.deepcopy(a.detach()),
        lambda T, a: T.nn.functional.linear(T.ones(4, 3), a),
        lambda T, a: T.nn.Parameter(a.detach()),
        lambda T, a: T.sparse.FloatTensor(T.tensor(MATRIX[0]), T.tensor(MATRIX[1]), T.Size([2, 3])),
        lambda T, a: T.sparse_coo_tensor((2, 3)),
        lambda T, a: T.sparse_coo_tensor(MATRIX[0], MATRIX[1], dtype=T.float64),
        lambda T, a: T.sparse_coo_tensor([[1, 1]], [[1, 2], [3, 4]]),
    ],
)
def test_what_a_sparse_matrix_takes_part_in(call: Callable[[Any, Any], Any]):
    def made(T: Any, learns: bool = False) -> Any:
        values = T.tensor(MATRIX[1], requires_grad=learns)
        return call(T, T.sparse_coo_tensor(T.tensor(MATRIX[0]), values, (2, 3))), values

    agree(lambda T: made(T)[0])
    gradients = []
    for T in BOTH:
        result, values = made(T, True)
        if result.requires_grad and not result.is_leaf:
            result.to_dense().sum().backward()
        gradients.append(None if values.grad is None else values.grad.tolist())
    if gradients[1] is not None:
        np.testing.assert_allclose(*gradients, rtol=1e-6)


def through_pickle(protocol: int) -> Callable[[Any], Any]:
    return lambda tensor: pickle.loads(pickle.dumps(tensor, protocol))


@pytest.mark.parametrize("again", [copy.deepcopy, *map(through_pickle, range(pickle.HIGHEST_PROTOCOL + 1))])
@pytest.mark.parametrize("coalesced", [False, True])
@pytest.mark.parametrize("learns", [False, True])
def test_a_copy_and_a_pickle_stay_sparse_and_share_nothing(again: Any, coalesced: bool, learns: bool):
    a = autokit.sparse_coo_tensor(*MATRIX, (2, 3))
    a = (a.coalesce() if coalesced else a).requires_grad_(learns)
    a.name = "adjacency"
    same = again(a)
    assert same.is_sparse and same.is_coalesced() is coalesced and same.requires_grad is learns
    assert repr(same) == repr(a) and same.name == "adjacency"
    before = a.detach().to_dense().tolist()
    same._indices()[:] = 0
    same._values()[:] = 9
    assert a.detach().to_dense().tolist() == before


def test_the_printed_form():
    for learns in (False, True):
        texts = []
        for T in BOTH:
            values = T.tensor(MATRIX[1], requires_grad=learns)
            a = T.sparse_coo_tensor(T.tensor(MATRIX[0]), values, (2, 3))
            hybrid = T.sparse_coo_tensor([[0, 2]], T.ones(2, 3, dtype=T.float64), (4, 3))
            texts.append([repr(each) for each in (a, hybrid, a.double(), T.zeros(2, 2).to_sparse())])
        assert texts[0] == [text.replace(", dtype=torch.int64", "") for text in texts[1]]


def test_a_graph_convolution_trains_as_in_pytorch():
    random = np.random.RandomState(0)
    edges = np.unique(random.randint(0, 30, (2, 80)), axis=1)
    features, labels = random.standard_normal((30, 8)).astype(np.float32), random.randint(0, 3, 30)
    losses = []
    for T in BOTH:
        T.manual_seed(0)
        edge_index = T.tensor(edges)
        loops = T.arange(30).repeat(2, 1)
        places = T.cat([edge_index, loops], 1)
        ones = T.sparse_coo_tensor(places, T.ones(places.shape[1]), (30, 30)).coalesce()
        degree = T.sparse.sum(ones, 1).to_dense()
        row, column = ones.indices()
        scaled = ones.values() / (degree[row] * degree[column]).sqrt()
        adjacency = T.sparse_coo_tensor(ones.indices(), scaled, (30, 30))

        class GCN(T.nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self, T: Any = T) -> None:
                super().__init__()
                self.first, self.second = T.nn.Linear(8, 16), T.nn.Linear(16, 3)

            def forward(self, x: Any, adj: Any, T: Any = T) -> Any:
                return T.spmm(adj, self.second(T.relu(T.sparse.mm(adj, self.first(x)))))

        model = GCN()
        optimizer = T.optim.Adam(model.parameters(), lr=0.05)
        trained = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = T.nn.functional.cross_entropy(model(T.tensor(features), adjacency), T.tensor(labels))
            loss.backward()
            optimizer.step()
            trained.append(loss.item())
        losses.append(trained)
    np.testing.assert_allclose(*losses, rtol=1e-4)
    assert losses[0][-1] < losses[0][0] / 1.2


def test_a_product_of_ones_own_saves_a_sparse_matrix():
    """As pyGAT writes it: attention weights as the values of a sparse matrix."""
    found = []
    for T in BOTH:

        class Product(T.autograd.Function):  # type: ignore[name-defined, misc]
            @staticmethod
            def forward(ctx: Any, indices: Any, values: Any, shape: Any, b: Any, T: Any = T) -> Any:
                a = T.sparse_coo_tensor(indices, values, shape)
                ctx.save_for_backward(a, b)
                ctx.N = shape[0]
                return T.matmul(a, b)

            @staticmethod
            def backward(ctx: Any, grad_output: Any) -> Any:
                a, b = ctx.saved_tensors
                dense = grad_output.matmul(b.t())
                places = a._indices()[0, :] * ctx.N + a._indices()[1, :]
                return None, dense.view(-1)[places], None, a.t().matmul(grad_output)

        values = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
        b = T.arange(6.0).reshape(3, 2).requires_grad_()
        made = Product.apply(T.tensor([[0, 1, 2], [2, 0, 2]]), values, T.Size([3, 3]), b)
        (made * made).sum().backward()
        found.append([made.tolist(), values.grad.tolist(), b.grad.tolist()])
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["SGD", "SparseAdam"])
@pytest.mark.parametrize("rows", [6, 30_000])
@pytest.mark.parametrize("layer", ["Embedding", "EmbeddingBag", "EmbeddingBag of sums"])
def test_a_table_with_a_sparse_gradient_trains_as_in_pytorch(kind: str, rows: int, layer: str):
    start = np.random.RandomState(0).standard_normal((rows, 3)).astype(np.float32)
    tables, gradients = [], []
    for T in BOTH:
        more: dict[str, Any] = {"mode": "sum"} if "sums" in layer else {}
        table = getattr(T.nn, layer.split()[0])(rows, 3, sparse=True, padding_idx=2, **more)
        with T.no_grad():
            table.weight.copy_(T.tensor(start))
        optimizer = getattr(T.optim, kind)(table.parameters(), lr=0.1)
        for step in range(4):
            optimizer.zero_grad()
            for _ in range(2):  # gradients of two batches add up
                read = table(T.tensor([[1, 2, 3], [3, 5, step]]))
                (read * T.arange(1.0, 1 + read.numel()).reshape(read.shape)).sum().backward()
            assert table.weight.grad.is_sparse
            optimizer.step()
        gradients.append(table.weight.grad.coalesce())
        tables.append(table.weight.detach().numpy())
    np.testing.assert_allclose(*tables, rtol=1e-5, atol=1e-6)
    assert gradients[0].indices().tolist() == gradients[1].indices().tolist()
    np.testing.assert_allclose(*(each.values().numpy() for each in gradients), rtol=1e-6)


def test_a_table_that_is_also_used_whole_has_a_dense_gradient():
    found = []
    for T in BOTH:
        T.manual_seed(0)
        table = T.nn.Embedding(4, 2, sparse=True)
        read = table(T.tensor([1, 1, 3]))
        (T.nn.functional.linear(read, table.weight).sum() + (table.weight * 2).sum()).backward()
        found.append(table.weight.grad)
    assert not found[0].is_sparse
    np.testing.assert_allclose(*(numbers(each) for each in found), rtol=1e-5)


def test_sparse_adam_goes_on_from_a_saved_state():
    tables = []
    for T in BOTH:
        T.manual_seed(0)
        table = T.nn.Embedding(4, 2, sparse=True)
        optimizer = T.optim.SparseAdam(table.parameters(), lr=0.1, maximize=True)
        for step in range(4):
            optimizer.zero_grad()
            table(T.tensor([0, step])).pow(2).sum().backward()
            optimizer.step()
            kept = optimizer.state_dict()
            optimizer = T.optim.SparseAdam(table.parameters())
            optimizer.load_state_dict(kept)
        tables.append(table.weight.detach().numpy())
    np.testing.assert_allclose(*tables, rtol=1e-5)


SPARSE_GRADIENT = """
table = T.nn.Embedding(4, 2, sparse=True)
table(T.tensor([1])).sum().backward()
"""


@pytest.mark.parametrize(
    "program",
    [
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).values().fail()",
        "T.sparse_coo_tensor([[0, 0], [2, 2]], [3.0, 4.0], (2, 3)).indices()",
        "T.sparse_coo_tensor([[0, 0], [2, 2]], [3.0, 4.0], (2, 3)).numpy()",
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0], (2, 3))",
        "T.sparse_coo_tensor([[0, 1], [2, -1]], [3.0, 4.0])",
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2,))",
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3), check_invariants=True) @ T.ones(2, 2)",
        "T.sparse_coo_tensor([[0, 1], [3, 0]], [3.0, 4.0], (2, 3), check_invariants=True)",
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)) + T.ones(2, 3, 1)",
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).exp()",
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).view(6)",
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).softmax(1)",
        "T.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).item()",
        "T.ones(2).coalesce()",
        "T.ones(2).values()",
        "T.nn.functional.embedding(T.tensor([0]), T.ones(2, 2).requires_grad_(), "
        "scale_grad_by_freq=True, sparse=True).sum().backward()",
        "T.nn.EmbeddingBag(3, 2, sparse=True, mode='max')(T.tensor([[1]]))",
        "T.optim.SparseAdam([T.ones(1, requires_grad=True)], lr=0)",
        "T.optim.SparseAdam([T.ones(1, requires_grad=True)], betas=(1.0, 0.9))",
        "p = T.ones(1, requires_grad=True); p.sum().backward(); T.optim.SparseAdam([p]).step()",
        SPARSE_GRADIENT + "T.optim.Adam(table.parameters()).step()",
        SPARSE_GRADIENT + "T.optim.RMSprop(table.parameters()).step()",
    ],
)
def test_what_is_refused_is_refused_with_pytorchs_error(program: str):
    kinds = []
    for T in BOTH:
        with pytest.raises(Exception) as caught:
            exec(program, {"T": T})
        kinds.append(caught.type)
    assert issubclass(*kinds) or {kinds[0], kinds[1]} == {RuntimeError, NotImplementedError}


def test_a_refusal_says_what_helps():
    a = autokit.eye(3).to_sparse()
    for wrong in (
        lambda: a.exp(),
        lambda: a.abs(),
        lambda: a[0],
        lambda: autokit.cat([a, a]),
        lambda: autokit.where(a > 0, a, a),
        lambda: a.view(9),
    ):
        with pytest.raises(Refused, match=r"\.to_dense\(\) makes a tensor"):
            wrong()
    before = a.to_dense()
    with pytest.raises(RuntimeError):
        a.mul_(2)
    assert autokit.equal(a.to_dense(), before)


def test_momentum_is_refused_before_anything_changes():
    table = autokit.nn.Embedding(4, 2, sparse=True)
    optimizer = autokit.optim.SGD(table.parameters(), lr=0.1, momentum=0.9)
    table(autokit.tensor([1])).sum().backward()
    before = table.weight.detach().clone()
    with pytest.raises(NotImplementedError, match="velocity"):
        optimizer.step()
    assert autokit.equal(table.weight, before)


def test_pictures_show_a_sparse_matrix():
    values = autokit.tensor([1.0, 2.0], requires_grad=True)
    loss = (autokit.sparse_coo_tensor([[0, 1], [1, 0]], values, (2, 2)) @ autokit.ones(2, 1)).sum()
    assert "svg" in loss._repr_mimebundle_()["text/html"]
    assert autokit.graph(loss).nodes
    assert len(autokit.record(loss).steps) > 4
    alone = autokit.eye(2).to_sparse()
    assert "layout=torch.sparse_coo" in alone._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("T", BOTH)
def test_zeros_of_a_size_alone(T: Any):
    made = T.sparse_coo_tensor(size=(2, 3), dtype=T.float64)
    assert made.is_sparse and made.to_dense().tolist() == [[0.0] * 3] * 2 and made.dtype == T.float64
    with pytest.raises(TypeError):
        T.sparse_coo_tensor()
    with pytest.raises(TypeError):
        T.sparse_coo_tensor(values=[1.0])


def test_what_is_said_of_compressed_rows_makes_the_same_matrix():
    crow, columns, values = [0, 2, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0]
    theirs = torch.sparse_csr_tensor(crow, columns, values, (3, 3))
    with pytest.raises(AttributeError) as told:
        _ = autokit.sparse_csr_tensor
    call, _, rows = re.search(r"use (.*), where rows(.*)= (.*)$", str(told.value)).groups()  # type: ignore[union-attr]
    names = {
        "torch": autokit,
        "crow": autokit.tensor(crow),
        "columns": autokit.tensor(columns),
        "size": (3, 3),
    }
    names |= {"values": autokit.tensor(values)}
    names["rows"] = eval(rows, names)
    x = eval(call, names)
    assert x.to_dense().tolist() == theirs.to_dense().tolist()
    with pytest.raises(AttributeError) as told:
        x.crow_indices()
    counts = eval(re.search(r"use (.*), with a 0", str(told.value))[1], {"x": x})  # type: ignore[index]
    assert [0, *counts.tolist()] == theirs.crow_indices().tolist()
    assert not x.is_sparse_csr and x.to_sparse_coo() is x
    with pytest.raises(AttributeError, match=r"to_sparse_csr.*use x\.to_sparse\(\)"):
        x.to_sparse_csr()


SOFT = [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [3.0, -1.0, 0.5]]


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_a_softmax_counts_what_is_held_alone(name: str, dim: int):
    made = []
    for library in (autokit, torch):
        x = library.tensor(SOFT, dtype=library.float64, requires_grad=True)
        out = getattr(library.sparse, name)(x.to_sparse(), dim)
        made += [
            (out.to_dense(), library.autograd.grad((out.to_dense() ** 2).sum(), x)[0], out.is_coalesced())
        ]
        rows = library.sparse_coo_tensor([[0, 0, 1]], library.tensor([[1.0, 2], [3, 4], [5, 6]]), (3, 2))
        made[-1] += (getattr(library.sparse, name)(rows, dim).to_dense(),)
    for mine, other in zip(*made):
        assert mine == other if isinstance(other, bool) else _is_close(mine, other)


def _is_close(mine: autokit.Tensor, other: torch.Tensor) -> bool:
    return bool(torch.allclose(torch.tensor(mine.tolist()), other.detach().to(torch.float32), atol=1e-6))


def test_a_softmax_of_a_dense_tensor_is_refused():
    for library in (autokit, torch):
        with pytest.raises(NotImplementedError):
            library.sparse.softmax(library.ones(2, 2), 1)
        with pytest.raises(IndexError):
            library.sparse.softmax(library.eye(2).to_sparse(), 2)


@pytest.mark.parametrize(
    ("offsets", "shape"), [([0, -1, 1], (3, 3)), ([0, -1, 2], (5, 4)), ([2, -2, 1], (3, 4))]
)
def test_spdiags_puts_rows_on_diagonals(offsets: list[int], shape: tuple[int, int]):
    made = []
    for library in (autokit, torch):
        rows = library.arange(9.0).reshape(3, 3) + 1
        made.append(library.sparse.spdiags(rows, library.tensor(offsets), shape).to_dense().tolist())
    assert made[0] == made[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda T, x: T.sparse.spdiags(x, T.tensor([0, 1]), (3, 3)),
        lambda T, x: T.sparse.spdiags(x, T.tensor([0, 1, 1]), (3, 3)),
        lambda T, x: T.sparse.spdiags(x, T.tensor([0.0, 1, 2]), (3, 3)),
        lambda T, x: T.sparse.spdiags(x, T.tensor([0, 1, 2]), (3, 3, 3)),
        lambda T, x: T.sparse.spdiags(x, T.tensor([0, 1, 2]), (3, 3), layout=T.strided),
    ],
)
def test_spdiags_refuses_as_pytorch(call: Any):
    for library in (autokit, torch):
        with pytest.raises(RuntimeError):
            call(library, library.ones(3, 3))
