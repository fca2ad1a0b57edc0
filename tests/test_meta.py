"""The meta device: shapes without elements, beside PyTorch's."""

from __future__ import annotations

import copy
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import autokit
from tests.ops.case import Case, call, flat
from tests.ops.cases import CASES
from tests.support import require

require("torch")
import torch  # noqa: E402

BOTH = (autokit, torch)


def facts(tensor: Any) -> tuple[Any, ...]:
    tensor = tensor[0] if isinstance(tensor, tuple) else tensor
    return tuple(tensor.shape), str(tensor.dtype).rpartition(".")[2], str(tensor.device), tensor.is_meta


NETWORKS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "convolutions": (
        lambda nn: nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(8 * 16, 4),
        ),
        (5, 3, 8, 8),
    ),
    "Conv1d": (lambda nn: nn.Conv1d(4, 5, 3), (3, 4, 9)),
    "ConvTranspose2d": (lambda nn: nn.ConvTranspose2d(4, 5, 3, 2), (3, 4, 9, 9)),
    "Conv3d": (lambda nn: nn.Conv3d(2, 3, 3), (1, 2, 5, 5, 5)),
    "pooling": (lambda nn: nn.Sequential(nn.AvgPool2d(2), nn.AdaptiveMaxPool2d(1)), (1, 2, 8, 8)),
    "LayerNorm": (
        lambda nn: nn.Sequential(nn.LayerNorm(4), nn.GELU(), nn.Dropout(0.5), nn.Softmax(-1)),
        (3, 4),
    ),
    "GroupNorm": (
        lambda nn: nn.Sequential(nn.GroupNorm(2, 4), nn.SiLU(), nn.Upsample(scale_factor=2)),
        (3, 4, 5, 5),
    ),
    "LSTM": (lambda nn: nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True), (3, 7, 4)),
    "GRU": (lambda nn: nn.GRU(4, 5), (3, 7, 4)),
    "transformer": (
        lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
        (5, 3, 8),
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_of_shapes_gives_the_shape_of_its_result(name: str):
    make, shape = NETWORKS[name]
    found = []
    for T in BOTH:
        with T.device("meta"):
            model = make(T.nn)
        made = model(T.empty(shape, device="meta"))
        parts = [tuple(part.shape) for part in model.state_dict().values()]
        found.append((facts(made), parts, sum(p.numel() for p in model.parameters())))
        assert all(part.is_meta for part in model.state_dict().values())
    assert found[0] == found[1]


SHAPES: dict[str, Callable[[Any, Any], Any]] = {
    "EmbeddingBag": lambda T, x: T.nn.EmbeddingBag(9, 3)(x.long()[0]),
    "EmbeddingBag of sums": lambda T, x: T.nn.EmbeddingBag(9, 3, mode="sum", padding_idx=0)(x.long()[0]),
    "EmbeddingBag of the largest": lambda T, x: T.nn.EmbeddingBag(9, 3, mode="max")(x.long()[0]),
    "EmbeddingBag with offsets": lambda T, x: T.nn.EmbeddingBag(9, 3)(x.long()[0, 0], T.tensor([0, 2])),
    "Embedding of short rows": lambda T, x: T.nn.Embedding(9, 3, max_norm=1.0)(x.long()),
    "RReLU": lambda T, x: T.nn.RReLU()(x),
    "CTCLoss": lambda T, x: T.nn.CTCLoss()(
        x.transpose(0, 1).log_softmax(-1), T.ones(2, 2).long(), [3, 3], [2, 1]
    ),
    "MultiLabelMarginLoss": lambda T, x: T.nn.MultiLabelMarginLoss()(x[0], x.long()[0]),
    "LazyBatchNorm1d": lambda T, x: next((m(x), m.num_batches_tracked)[1] for m in [T.nn.LazyBatchNorm1d()]),
    "AdaptiveLogSoftmaxWithLoss": lambda T, x: T.nn.AdaptiveLogSoftmaxWithLoss(4, 9, [3, 6]).log_prob(x[0]),
    "MultiheadAttention": lambda T, x: T.nn.MultiheadAttention(4, 2)(x, x, x),
    "Transformer": lambda T, x: T.nn.Transformer(4, 2, 1, 1, 8)(x, x),
    "Bilinear": lambda T, x: T.nn.Bilinear(4, 4, 5)(x, x),
    "multinomial": lambda T, x: T.multinomial(x[0], 2),
    "bucketize": lambda T, x: T.bucketize(x, x[0, 0]),
    "masked_scatter": lambda T, x: x.masked_scatter(x > 0, x),
    "an index of a list": lambda T, x: x[:, [0, 2]],
    "whole quotients": lambda T, x: x.int() // x.int() % 3,
    "matrix_power": lambda T, x: T.linalg.matrix_power(x[:, :, :3], 0),
    "lu": lambda T, x: T.linalg.lu(x)[1],
    "householder_product": lambda T, x: T.linalg.householder_product(x.mT, x[:, :, 0]),
    "a copy": lambda T, x: T.tensor(x.detach()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHAPES)
def test_layers_and_functions_give_shapes(name: str):
    found = []
    for T in BOTH:
        with T.device("meta"):
            made = SHAPES[name](T, T.empty(2, 3, 4))
        found.append(made if isinstance(made, int) else facts(made))
    assert found[0] == found[1]


FIRST = {case.name: case for case in reversed(CASES)}
"""One case of each operation."""

ELSEWHERE = {
    "nansum": "PyTorch's shapes are those of the input",
    **dict.fromkeys(["linalg.eig", "linalg.eigvals"], "of zeros the eigenvectors have no gradient"),
    **dict.fromkeys(["as_strided", "histc", "apply_", "map_", "segment_reduce"], "not without elements here"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in FIRST if name not in ELSEWHERE])
def test_operations_and_their_gradients_have_pytorchs_shapes(name: str):
    ours, theirs = (shapes_of(T, FIRST[name]) for T in BOTH)
    if isinstance(theirs, list):
        assert not isinstance(ours, Exception), ours
        for mine, other in zip(ours, theirs, strict=True):
            assert mine is None or other is None or mine == other


def shapes_of(T: Any, case: Case) -> Any:
    """Of the results, and of the gradients by what may learn; or the error of the way there."""
    try:
        tensors = [T.tensor(each).to("meta") for each in case.arrays]
        leaves = [each.requires_grad_() for each in tensors if each.dtype.is_floating_point]
        made = [each for each in flat(call(T, case, tensors)) if isinstance(each, T.Tensor)]
        ends = [each for each in made if each.requires_grad]
        seeds = [T.ones_like(each) for each in ends]
        back = T.autograd.grad(ends, leaves, seeds, allow_unused=True) if ends and leaves else ()
        return [None if each is None else facts(each) for each in (*made, *back)]
    except Exception as error:
        return error


def test_loading_a_state_says_where_there_are_no_values():
    def program(T: Any) -> list[Any]:
        meta, own = T.nn.Linear(2, 1, device="meta"), T.nn.Linear(2, 1)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            meta.load_state_dict(own.state_dict())
        with pytest.raises(RuntimeError, match='While copying the parameter named "weight"'):
            own.load_state_dict(meta.state_dict())
        return [str(each.message) for each in told]

    ours, theirs = map(program, BOTH)
    assert ours == theirs


def test_a_network_larger_than_memory_can_be_counted():
    tracemalloc.start()
    with autokit.device("meta"):
        model = autokit.nn.TransformerEncoder(autokit.nn.TransformerEncoderLayer(12288, 96, 49152), 96)
    assert sum(p.numel() for p in model.parameters()) > 170e9
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_a_summary_takes_no_memory():
    def told(where: str) -> str:
        with autokit.device(where):
            layers = autokit.nn.Conv2d(1, 4, 3), autokit.nn.BatchNorm2d(4), autokit.nn.Flatten()
            model = autokit.nn.Sequential(*layers, autokit.nn.Linear(144, 10))
        return str(autokit.summary(model, (2, 1, 8, 8)))

    assert told("meta") == told("cpu")


def test_it_is_given_memory_and_its_values():
    values = autokit.nn.Linear(2, 3).state_dict()
    with autokit.device("meta"):
        model, other = autokit.nn.Linear(2, 3), autokit.nn.Linear(2, 3)
    assert model.to_empty(device="cpu") is model
    model.load_state_dict(values)
    other.load_state_dict(values, assign=True)
    x = autokit.ones(1, 2)
    assert autokit.equal(model(x), other(x)) and not model.weight.is_meta and model.weight.requires_grad


@pytest.mark.parametrize(
    "call",
    [
        lambda T, x: x + 1,
        lambda T, x: x.int() * 2.5,
        lambda T, x: x @ x.mT,
        lambda T, x: x.view(-1),
        lambda T, x: x.permute(2, 0, 1).reshape(4, -1),
        lambda T, x: x[0],
        lambda T, x: x[:, 1:, None],
        lambda T, x: x[T.tensor([1, 0, 1])],
        lambda T, x: x.mean((0, 1), keepdim=True),
        lambda T, x: x.topk(2).indices,
        lambda T, x: x.sort(1).values,
        lambda T, x: x.softmax(-1).argmax(-1),
        lambda T, x: T.cat([x, x], 1),
        lambda T, x: T.stack([x, x]),
        lambda T, x: T.where(x > 0, x, 0.0),
        lambda T, x: T.vander(x[0, 0]),
        lambda T, x: T.linalg.vander(x),
        lambda T, x: T.normal(x, 2.0),
        lambda T, x: T.normal(x, x),
        lambda T, x: T.bernoulli(x),
        lambda T, x: T.poisson(x),
        lambda T, x: T.vmap(lambda each: (each * 2).sum(0))(x),
        lambda T, x: T.vmap(lambda each, y: each @ y, in_dims=(0, None))(x, T.ones(4, device="meta")),
        lambda T, x: T.vmap(T.nn.functional.dropout, randomness="different")(x),
        lambda T, x: T.func.jacrev(T.sin)(x),
        lambda T, x: T.func.jacfwd(T.sin)(x),
        lambda T, x: T.func.hessian(lambda y: y.exp().sum())(x[0]),
        lambda T, x: x.masked_fill(x > 0, 1.0),
        lambda T, x: x.tril(),
        lambda T, x: x.chunk(2, 1)[0],
        lambda T, x: x.expand(5, 2, 3, 4),
        lambda T, x: T.einsum("abc,abd->acd", x, x),
        lambda T, x: T.linalg.cholesky(x @ x.mT),
        lambda T, x: T.linalg.cholesky_ex(x @ x.mT),
        lambda T, x: T.linalg.ldl_factor(x @ x.mT),
        lambda T, x: T.linalg.ldl_solve(x @ x.mT, T.ones(2, 3, dtype=T.int32, device="meta"), x),
        lambda T, x: T.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True),
        lambda T, x: T.nn.functional.cross_entropy(x, T.zeros(2, 4, dtype=T.int64, device="meta")),
        lambda T, x: T.nn.functional.embedding(x.long(), T.empty(9, 6, device="meta")),
        lambda T, x: T.nn.functional.pad(x, (1, 2)),
        lambda T, x: x.add_(1),
        lambda T, x: x.fill_(2),
        lambda T, x: x.normal_(),
        lambda T, x: T.nn.init.trunc_normal_(x),
        lambda T, x: T.nn.init.orthogonal_(x),
        lambda T, x: x.clone().detach(),
        lambda T, x: copy.deepcopy(x),
        lambda T, x: T.rand_like(x),
        lambda T, x: T.arange(3, device="meta"),
        lambda T, x: T.ones(3).to("meta"),
        lambda T, x: T.nn.Linear(3, 2).to("meta").weight,
        lambda T, x: T.empty_like(x, device="cpu"),
        lambda T, x: x.new_zeros(2),
        lambda T, x: x.half(),
    ],
)
def test_shapes_and_dtypes_are_pytorchs(call: Callable[[Any, Any], Any]):
    ours, theirs = (facts(call(T, T.empty(2, 3, 4, device="meta"))) for T in BOTH)
    assert ours == theirs


def test_the_printed_form():
    for make in (
        lambda T: T.empty(2, 3, device="meta"),
        lambda T: T.arange(3, device="meta"),
        lambda T: T.zeros((), device="meta", dtype=T.float64, requires_grad=True),
        lambda T: T.ones(1, device="meta", requires_grad=True) * 2,
        lambda T: T.device("meta"),
    ):
        ours, theirs = map(repr, map(make, BOTH))
        assert ours == theirs


def test_gradients_have_shapes():
    found = []
    for T in BOTH:
        model = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 2)).to("meta")
        model(T.empty(5, 3, device="meta")).sum().backward()
        T.optim.SGD(model.parameters(), lr=0.1, momentum=0.9).step()
        found.append([facts(p.grad) for p in model.parameters()])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda T, x: x.cpu(),
        lambda T, x: x.to("cpu"),
        lambda T, x: x.tolist(),
        lambda T, x: x.numpy(),
        lambda T, x: x.sum().item(),
        lambda T, x: float(x.sum()),
        lambda T, x: bool((x > 0).all()),
        lambda T, x: x + T.ones(4),
        lambda T, x: x.nonzero(),
        lambda T, x: x[x > 0],
        lambda T, x: T.equal(x, x),
        lambda T, x: T.allclose(x, x),
        lambda T, x: T.nn.Linear(2, 2, device="meta").to("cpu"),
        lambda T, x: T.nn.Linear(4, 2)(x),
        lambda T, x: x.view(7),
        lambda T, x: x @ x,
        lambda T, x: T.vmap(lambda a, b: a * b)(x, T.ones(2, 4)),
        lambda T, x: T.nn.functional.ctc_loss(T.ones(3, 2, 4), x.long()[:, :, 0], [3, 3], [2, 1]),
    ],
)
def test_what_takes_elements_is_refused_as_by_pytorch(call: Callable[[Any, Any], Any]):
    kinds = []
    for T in BOTH:
        with pytest.raises(Exception) as caught:
            call(T, T.empty(2, 3, 4, device="meta"))
        kinds.append(caught.type)
    assert issubclass(*kinds)


def test_rows_that_nobody_knows_are_not_read():
    with pytest.raises(NotImplementedError, match="no data!"):
        autokit.nn.functional.embedding_bag(
            autokit.ones(2, 2, device="meta").long(), autokit.ones(9, 3), mode="max"
        )


def test_a_refusal_says_what_to_do():
    with pytest.raises(NotImplementedError, match=r"no data!.*model\.to_empty\(device=\"cpu\"\)"):
        autokit.nn.Linear(2, 2, device="meta").to("cpu")
