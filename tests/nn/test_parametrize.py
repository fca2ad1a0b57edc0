"""Parameters that are computed from others, beside PyTorch."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import autokit as ak
from tests.nn.twins import assert_close, assert_same_state, twins
from tests.support import require

require("torch")
import torch  # noqa: E402
import torch.nn.utils.parametrizations  # noqa: E402
import torch.nn.utils.prune  # noqa: E402

BOTH = (ak, torch)


def utils(T: Any) -> Any:
    return T.nn.utils


NORMS: dict[str, Callable[[Any], Any]] = {
    "weight_norm": lambda T: utils(T).parametrizations.weight_norm(T.nn.Linear(3, 4)),
    "weight_norm of all": lambda T: utils(T).parametrizations.weight_norm(T.nn.Linear(3, 4), dim=None),
    "weight_norm of columns": lambda T: utils(T).parametrizations.weight_norm(T.nn.Linear(3, 4), dim=1),
    "weight_norm of a bias": lambda T: utils(T).parametrizations.weight_norm(T.nn.Linear(3, 4), "bias"),
    "spectral_norm": lambda T: utils(T).parametrizations.spectral_norm(T.nn.Linear(3, 4)),
    "spectral_norm, three steps": lambda T: utils(T).parametrizations.spectral_norm(
        T.nn.Linear(3, 4), n_power_iterations=3
    ),
    "spectral_norm of a vector": lambda T: utils(T).parametrizations.spectral_norm(T.nn.Linear(3, 4), "bias"),
    "the older weight_norm": lambda T: utils(T).weight_norm(T.nn.Linear(3, 4)),
    "the older spectral_norm": lambda T: utils(T).spectral_norm(T.nn.Linear(3, 4)),
}


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
@pytest.mark.parametrize("name", NORMS)
def test_norms_train_as_pytorchs(name: str):
    ours, theirs = twins(NORMS[name])
    assert repr(ours) == repr(theirs)
    assert_same_state(ours, theirs, exactly=False)
    names = [[each for each, _ in model.named_parameters()] for model in (ours, theirs)]
    assert names[0] == names[1]
    optimizers = [T.optim.SGD(model.parameters(), lr=0.1) for T, model in ((ak, ours), (torch, theirs))]
    for _ in range(3):
        outputs = []
        for T, model, optimizer in zip(BOTH, (ours, theirs), optimizers):
            optimizer.zero_grad()
            out = model(T.linspace(-1, 1, 6).reshape(2, 3))
            (out * out).sum().backward()
            optimizer.step()
            outputs.append(out)
        assert_close(*outputs, rtol=2e-5, atol=1e-5)
    assert_same_state(ours.eval(), theirs.eval(), exactly=False)
    x = [T.ones(2, 3) for T in BOTH]
    assert_close(ours(x[0]), theirs(x[1]), rtol=2e-5, atol=1e-5)
    if "older" not in name:  # those hold a result, which has no copy in PyTorch either
        assert_close(copy.deepcopy(ours)(x[0]), ours(x[0]))


@pytest.mark.parametrize("kind", ["Conv2d", "ConvTranspose2d"])
def test_norms_of_convolutions(kind: str):
    for norm in ("weight_norm", "spectral_norm"):
        ours, theirs = twins(lambda T: getattr(utils(T).parametrizations, norm)(getattr(T.nn, kind)(2, 3, 3)))
        assert_same_state(ours, theirs, exactly=False)
        assert_close(ours(ak.ones(1, 2, 5, 5)), theirs(torch.ones(1, 2, 5, 5)), rtol=1e-4, atol=1e-5)


def test_states_go_both_ways(tmp_path: Any):
    for build in (NORMS["weight_norm"], NORMS["spectral_norm"]):
        for T, other in (BOTH, BOTH[::-1]):
            T.manual_seed(1)
            model = build(T)
            T.save(model.state_dict(), tmp_path / "state.pt")
            again = build(other)
            again.load_state_dict(other.load(tmp_path / "state.pt", weights_only=True))
            pair = (model, again) if T is ak else (again, model)
            assert_same_state(*pair)


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
def test_the_older_states_are_read():
    for T in BOTH:
        older, newer = NORMS["the older weight_norm"](T), NORMS["weight_norm"](T)
        newer.load_state_dict(older.state_dict())
        assert (newer.weight - older.weight).abs().max().item() < 1e-6


def symmetric(T: Any) -> Any:
    class Symmetric(T.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).T

        def right_inverse(self, value: Any) -> Any:
            return value.triu()

    return Symmetric()


def test_a_parametrization_of_ones_own():
    ours, theirs = twins(
        lambda T: T.nn.utils.parametrize.register_parametrization(T.nn.Linear(3, 3), "weight", symmetric(T))
    )
    assert repr(ours) == repr(theirs)
    assert_same_state(ours, theirs)
    assert_close(ours.weight, theirs.weight)
    for T, layer in zip(BOTH, (ours, theirs)):
        with T.no_grad():
            layer.weight = T.eye(3) * 2
        assert layer.weight.tolist() == (T.eye(3) * 2).tolist()
        assert layer(T.ones(1, 3)).shape == (1, 3)
        parametrize = T.nn.utils.parametrize
        assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
        assert not parametrize.is_parametrized(layer, "bias")
        assert parametrize.type_before_parametrizations(layer) is T.nn.Linear
        with parametrize.cached():
            assert layer.weight is layer.weight
        assert layer.weight is not layer.weight


@pytest.mark.parametrize("leave", [True, False])
def test_it_is_taken_away_again(leave: bool):
    for T in BOTH:
        layer = T.nn.Linear(3, 3)
        parametrize = T.nn.utils.parametrize
        parametrize.register_parametrization(layer, "weight", symmetric(T))
        original = layer.parametrizations.weight.original
        value = layer.weight.tolist() if leave else original.tolist()
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=leave)
        assert type(layer) is T.nn.Linear and layer.weight is original and layer.weight.tolist() == value
        assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
        assert layer(T.ones(1, 3)).shape == (1, 3)


def test_two_after_each_other():
    for T in BOTH:
        layer = T.nn.Linear(3, 3)
        parametrize = T.nn.utils.parametrize
        parametrize.register_parametrization(layer, "weight", symmetric(T))
        parametrize.register_parametrization(layer, "weight", T.nn.Tanh())
        assert len(layer.parametrizations.weight) == 2
        assert layer.weight.abs().max().item() < 1
        assert layer.weight.tolist() == layer.weight.T.tolist()


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
def test_the_older_norms_are_taken_away_again():
    for T in BOTH:
        for add, remove in (("weight_norm", "remove_weight_norm"), ("spectral_norm", "remove_spectral_norm")):
            layer = getattr(T.nn.utils, add)(T.nn.Linear(3, 4))
            layer.eval()
            expected = layer(T.ones(1, 3)).tolist()
            getattr(T.nn.utils, remove)(layer)
            assert layer(T.ones(1, 3)).tolist()[0] == pytest.approx(expected[0], abs=1e-6)
            assert {name for name, _ in layer.named_parameters()} == {"weight", "bias"}
            with pytest.raises(ValueError, match="not found in"):
                getattr(T.nn.utils, remove)(layer)


def test_wrong_use():
    said = []
    for T in BOTH:
        heard = []
        parametrize = T.nn.utils.parametrize

        class Wrong(T.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, x: Any) -> Any:
                return x[:1]

        for act in (
            lambda: parametrize.register_parametrization(T.nn.Linear(2, 2), "none", T.nn.Tanh()),
            lambda: parametrize.register_parametrization(T.nn.Linear(2, 2), "weight", Wrong()),
            lambda: parametrize.remove_parametrizations(T.nn.Linear(2, 2), "weight"),
            lambda: utils(T).parametrizations.spectral_norm(T.nn.Linear(2, 2), n_power_iterations=0),
            lambda: parametrize.remove_parametrizations(NORMS["weight_norm"](T), "weight", False),
        ):
            with pytest.raises(ValueError) as caught:
                act()
            heard.append(str(caught.value)[:60])
        said.append(heard)
        with pytest.warns(FutureWarning, match="is deprecated in favor of"):
            T.nn.utils.weight_norm(T.nn.Linear(1, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer = T.nn.utils.weight_norm(T.nn.Linear(1, 1))
            with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks"):
                T.nn.utils.weight_norm(layer)
    assert said[0] == said[1]


SHAPES = {"square": (3, 3), "tall": (2, 5), "wide": (5, 2)}


@pytest.mark.parametrize("use_trivialization", [True, False])
@pytest.mark.parametrize("orthogonal_map", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", SHAPES)
def test_orthogonal_weights_train_as_pytorchs(
    shape: str, orthogonal_map: str | None, use_trivialization: bool
):
    models = twins(
        lambda T: T.nn.utils.parametrizations.orthogonal(
            T.nn.Linear(*SHAPES[shape]).double(),
            orthogonal_map=orthogonal_map,
            use_trivialization=use_trivialization,
        )
    )
    ours, theirs = models
    assert repr(ours) == repr(theirs)
    assert_same_state(ours, theirs, exactly=False)
    for T, model in zip(BOTH, models):
        optimizer = T.optim.SGD(model.parameters(), lr=0.05)
        x = T.linspace(-1, 1, 4 * SHAPES[shape][0], dtype=T.float64).reshape(4, -1)
        for _ in range(4):
            optimizer.zero_grad()
            ((model(x) - 0.3) ** 2).sum().backward()
            optimizer.step()
    assert_close(ours.weight, theirs.weight, rtol=1e-8, atol=1e-9)
    weight = ours.weight if shape == "tall" else ours.weight.T
    if shape == "square" or weight.shape[0] > weight.shape[1]:
        assert ak.allclose(weight.T @ weight, ak.eye(weight.shape[1], dtype=ak.float64))
    new = twins(lambda T: T.nn.init.orthogonal_(T.empty(*ours.weight.shape, dtype=T.float64)))
    if use_trivialization or "householder" in repr(ours.parametrizations.weight[0].orthogonal_map):
        ours.weight, theirs.weight = new
        assert_close(ours.weight, new[0].detach())
        assert_close(theirs.weight, new[1].detach())


def test_what_cannot_be_orthogonal_is_refused_as_in_pytorch():
    for arguments in (("bias",), ("height",), ("weight", "polar")):
        said = []
        for T in BOTH:
            with pytest.raises(ValueError) as caught:
                T.nn.utils.parametrizations.orthogonal(T.nn.Linear(2, 3), *arguments)
            said.append(str(caught.value))
        assert said[0] == said[1]
    for T in BOTH:
        layer = T.nn.utils.parametrizations.orthogonal(
            T.nn.Linear(2, 2), "weight", "cayley", use_trivialization=False
        )
        with pytest.raises(
            NotImplementedError, match="It is not possible to assign to the matrix exponential"
        ):
            layer.weight = T.eye(2)
        layer = T.nn.utils.parametrizations.orthogonal(T.nn.Linear(2, 2))
        with pytest.raises(ValueError, match="Expected a matrix or batch of matrices of shape"):
            layer.parametrizations.weight[0].right_inverse(T.eye(3))


def row(T: Any, *sizes: int) -> Any:
    """Different numbers around zero."""
    return T.linspace(-1, 1, math.prod(sizes)).reshape(sizes)


LAYERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], str]] = {
    "Linear": (lambda T: T.nn.Linear(3, 4), lambda T: (row(T, 2, 3),), "weight"),
    "a bias": (lambda T: T.nn.Linear(3, 4), lambda T: (row(T, 2, 3),), "bias"),
    "Conv1d": (lambda T: T.nn.Conv1d(3, 4, 2), lambda T: (row(T, 2, 3, 5),), "weight"),
    "ConvTranspose1d": (lambda T: T.nn.ConvTranspose1d(3, 4, 2), lambda T: (row(T, 2, 3, 5),), "weight"),
    "Embedding": (lambda T: T.nn.Embedding(5, 4), lambda T: (T.tensor([1, 4, 1]),), "weight"),
    "EmbeddingBag": (lambda T: T.nn.EmbeddingBag(5, 4), lambda T: (T.tensor([[1, 4, 1]]),), "weight"),
    "BatchNorm1d": (lambda T: T.nn.BatchNorm1d(3), lambda T: (row(T, 2, 3),), "weight"),
    "LayerNorm": (lambda T: T.nn.LayerNorm(3), lambda T: (row(T, 2, 3),), "weight"),
    "GroupNorm": (lambda T: T.nn.GroupNorm(1, 3), lambda T: (row(T, 2, 3),), "weight"),
    "RMSNorm": (lambda T: T.nn.RMSNorm(3), lambda T: (row(T, 2, 3),), "weight"),
    "InstanceNorm1d": (lambda T: T.nn.InstanceNorm1d(3, affine=True), lambda T: (row(T, 2, 3, 4),), "bias"),
    "PReLU": (lambda T: T.nn.PReLU(), lambda T: (row(T, 2, 3),), "weight"),
    "Bilinear": (lambda T: T.nn.Bilinear(3, 3, 2), lambda T: (row(T, 2, 3), row(T, 2, 3)), "weight"),
    "RNN": (lambda T: T.nn.RNN(3, 4), lambda T: (row(T, 5, 2, 3),), "weight_hh_l0"),
    "GRU": (lambda T: T.nn.GRU(3, 4, 2, bias=False), lambda T: (row(T, 5, 2, 3),), "weight_ih_l1"),
    "LSTM": (lambda T: T.nn.LSTM(3, 4), lambda T: (row(T, 5, 2, 3),), "weight_hh_l0"),
    "projections": (
        lambda T: T.nn.LSTM(3, 4, proj_size=2, bidirectional=True), lambda T: (row(T, 5, 2, 3),),
        "weight_hr_l0_reverse"),
    "LSTMCell": (lambda T: T.nn.LSTMCell(3, 4), lambda T: (row(T, 2, 3),), "weight_hh"),
    "GRUCell": (lambda T: T.nn.GRUCell(3, 4), lambda T: (row(T, 2, 3),), "bias_ih"),
    "MultiheadAttention": (
        lambda T: T.nn.MultiheadAttention(4, 2), lambda T: (row(T, 3, 1, 4),) * 3, "in_proj_weight"),
    "attention's keys": (
        lambda T: T.nn.MultiheadAttention(4, 2, kdim=3, add_bias_kv=True),
        lambda T: (row(T, 3, 1, 4), row(T, 5, 1, 3), row(T, 5, 1, 4)), "k_proj_weight"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("way", ["delattr", "the register"])
def test_a_tensor_may_take_the_place_of_a_parameter(name: str, way: str):
    build, inputs, place = LAYERS[name]
    layers = twins(build)
    found, left = [], []
    for T, layer in zip(BOTH, layers):
        own = row(T, *getattr(layer, place).shape).requires_grad_()
        if way == "delattr":
            delattr(layer, place)
        else:
            del layer._parameters[place]
        setattr(layer, place, own * 2)
        out = layer(*inputs(T))
        (out[0] if isinstance(out, tuple) else out).pow(2).sum().backward()
        left.append([each for each, _ in layer.named_parameters()])
        found.append(own.grad)
    assert left[0] == left[1] and place not in left[0]
    assert_close(*found)


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
@pytest.mark.parametrize(
    "change",
    [
        lambda T, layer: T.nn.utils.parametrizations.weight_norm(layer, "weight_hh_l0"),
        lambda T, layer: T.nn.utils.spectral_norm(layer, "weight_hh_l0"),
        lambda T, layer: T.nn.utils.weight_norm(layer, "weight_hh_l0"),
        lambda T, layer: T.nn.utils.prune.l1_unstructured(layer, "weight_hh_l0", amount=0.5),
    ],
)
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_recurrent_weights_may_be_computed(kind: str, change: Any):
    layers = twins(lambda T: change(T, getattr(T.nn, kind)(3, 4, dtype=T.float64)))
    outputs = []
    for T, layer in zip(BOTH, layers):
        output = layer(row(T, 5, 2, 3).double())[0]
        output.pow(2).sum().backward()
        outputs.append(output)
    assert_close(*outputs)
    for (name, our), (_, their) in zip(layers[0].named_parameters(), layers[1].named_parameters()):
        assert_close(our.grad, their.grad, name)


def test_functional_call_under_its_older_name():
    found = []
    for T in BOTH:
        layer, weight = T.nn.Linear(3, 2, bias=False), T.arange(6.0).reshape(2, 3)
        with pytest.warns(FutureWarning, match=r"is deprecated.*`torch\.func\.functional_call`"):
            found.append(T.nn.utils.stateless.functional_call(layer, {"weight": weight}, T.ones(1, 3)))
    assert_close(*found)
