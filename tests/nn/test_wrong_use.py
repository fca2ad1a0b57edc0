"""Mistakes of beginners: PyTorch's error, then which layer of the model it is, what it got and needs."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.support import require


def transformer(T: Any, width: int) -> Any:
    """A transformer in which one layer does not fit the others."""
    model = T.nn.Sequential()
    model.add_module(
        "encoder", T.nn.TransformerEncoder(T.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
    )
    model.add_module("head", T.nn.Linear(9, 3))
    if width:
        model.encoder.layers[0].linear1 = T.nn.Linear(width, 16)
    return model


def inside(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The layer as ``body.1`` of a model."""
    return lambda T: T.nn.Sequential(OrderedDict(body=T.nn.Sequential(T.nn.Identity(), build(T))))


WRONG: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], str, str]] = {
    "features, deep inside": (
        lambda T: transformer(T, 5), lambda T: T.ones(2, 3, 8), "encoder.layers.0.linear1: Linear",
        "has 8 features, and the weight is for 5"),
    "features": (
        lambda T: transformer(T, 0), lambda T: T.ones(2, 3, 8), "head: Linear",
        "has 8 features, and the weight is for 9"),
    "width of attention": (
        lambda T: transformer(T, 0), lambda T: T.ones(2, 3, 7),
        "encoder.layers.0.self_attn: MultiheadAttention", "dimension of 8, but got 7"),
    "channels": (
        inside(lambda T: T.nn.Conv2d(3, 4, 3)), lambda T: T.ones(1, 1, 8, 8), "body.1: Conv2d",
        "to have 3 channels, but got 1"),
    "dimensions": (
        inside(lambda T: T.nn.Conv2d(3, 4, 3)), lambda T: T.ones(8, 8), "body.1: Conv2d", "[8, 8]"),
    "channels of a transposed convolution": (
        inside(lambda T: T.nn.ConvTranspose2d(3, 4, 3)), lambda T: T.ones(1, 1, 8, 8),
        "body.1: ConvTranspose2d", "to have 3 channels, but got 1"),
    "a kernel larger than the image": (
        inside(lambda T: T.nn.Conv2d(1, 4, 9)), lambda T: T.ones(1, 1, 8, 8), "body.1: Conv2d", "9 x 9"),
    "channels of batch normalization": (
        inside(lambda T: T.nn.BatchNorm2d(3)), lambda T: T.ones(2, 1, 8, 8), "body.1: BatchNorm2d",
        "has 1 channels, in dimension 1, and the layer is for 3"),
    "dimensions of batch normalization": (
        inside(lambda T: T.nn.BatchNorm1d(3)), lambda T: T.ones(2, 3, 8, 8), "body.1: BatchNorm1d",
        "got 4D input"),
    "a batch of one": (
        inside(lambda T: T.nn.BatchNorm1d(3)), lambda T: T.ones(1, 3), "body.1: BatchNorm1d",
        "or call model.eval() first"),
    "the normalized shape": (
        inside(lambda T: T.nn.LayerNorm(3)), lambda T: T.ones(2, 4), "body.1: LayerNorm", "[*, 3]"),
    "channels in groups": (
        inside(lambda T: T.nn.GroupNorm(2, 4)), lambda T: T.ones(1, 6, 8), "body.1: GroupNorm", "[1, 6, 8]"),
    "an index beyond the table": (
        inside(lambda T: T.nn.Embedding(3, 4)), lambda T: T.tensor([5]), "body.1: Embedding",
        "the rows are 0 to 2"),
    "features of a recurrent layer": (
        inside(lambda T: T.nn.LSTM(3, 4)), lambda T: T.ones(2, 1, 5), "body.1: LSTM", "Expected 3, got 5"),
    "features of a cell": (
        inside(lambda T: T.nn.GRUCell(3, 4)), lambda T: T.ones(2, 5), "body.1: GRUCell", "got 5 expected 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_layer_says_where_it_stands_what_it_got_and_what_it_needs(name: str):
    require("torch")
    import torch

    build, make, path, words = WRONG[name]
    errors = []
    for T in (ak, torch):
        with pytest.raises((RuntimeError, ValueError, IndexError, AssertionError)) as caught:
            build(T)(make(T))
        errors.append(caught.value)
    ours, theirs = errors
    assert isinstance(ours, type(theirs))
    assert str(ours).startswith(str(theirs).rstrip("."))
    assert f"[in {path}(" in str(ours) and words in str(ours)


@pytest.mark.parametrize(
    ("make", "kind"),
    [(lambda T: T.ones(2, 3, dtype=T.int64), "int64"), (lambda T: T.ones(2, 3, dtype=T.float64), "float64")],
)
def test_numbers_of_another_dtype(make: Any, kind: str):
    with pytest.raises(
        RuntimeError, match=rf"must have the same dtype, but got {kind} and float32: .*\[in 0: Linear"
    ):
        nn.Sequential(nn.Linear(3, 4))(make(ak))


LOSSES: dict[str, Callable[[Any], Any]] = {
    "a class too large": lambda T: T.nn.functional.cross_entropy(T.zeros(2, 3), T.tensor([0, 3])),
    "a negative class": lambda T: T.nn.functional.cross_entropy(T.zeros(2, 3), T.tensor([0, -1])),
    "a class of log-probabilities": lambda T: T.nn.functional.nll_loss(T.zeros(2, 3), T.tensor([0, 3])),
    "a column of classes": lambda T: T.nn.functional.cross_entropy(T.zeros(2, 3), T.tensor([[0], [1]])),
    "too many classes": lambda T: T.nn.functional.cross_entropy(T.zeros(2, 3), T.tensor([0, 1, 2])),
    "fewer than no features": lambda T: T.nn.Linear(4, -1),
    "fewer than no channels": lambda T: T.nn.Conv2d(-1, 2, 3),
    "a word for requires_grad": lambda T: setattr(T.ones(2), "requires_grad", "yes"),
    "a target beyond 1": lambda T: T.nn.functional.binary_cross_entropy(T.ones(2), T.tensor([0.0, 2.0])),
    "logits for probabilities": lambda T: T.nn.functional.binary_cross_entropy(
        T.tensor([2.0, -1.0]), T.tensor([0.0, 1.0])
    ),
    "a column and a row": lambda T: T.nn.functional.binary_cross_entropy(T.ones(2, 1), T.ones(2)),
    "a column and a row of logits": lambda T: T.nn.functional.binary_cross_entropy_with_logits(
        T.ones(2, 1), T.ones(2)
    ),
    "margins": lambda T: T.nn.functional.multi_margin_loss(T.ones(2, 3), T.tensor([0, 3])),
}


@pytest.mark.parametrize("name", LOSSES)
def test_targets_that_do_not_fit(name: str):
    require("torch")
    import torch

    errors = []
    for T in (ak, torch):
        with pytest.raises((RuntimeError, ValueError, IndexError)) as caught:
            LOSSES[name](T)
        errors.append(caught.value)
    ours, theirs = errors
    assert isinstance(ours, type(theirs)) and str(ours).startswith(str(theirs).rstrip("."))


def test_a_target_of_another_shape_warns_as_in_pytorch():
    require("torch")
    import torch

    for T in (ak, torch):
        with pytest.warns(UserWarning, match="will likely lead to incorrect results due to broadcasting"):
            T.nn.functional.mse_loss(T.ones(2, 1), T.ones(2))


# ---------------------------------------------------------------- probabilities where logits belong

X = ak.tensor([[0.5, -1.0, 2.0], [1.0, 0.0, -1.0]], requires_grad=True)
CLASSES = ak.tensor([0, 2])
F = nn.functional


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (lambda: F.cross_entropy(F.softmax(X, 1), CLASSES), "takes logits.*what softmax made"),
        (lambda: nn.CrossEntropyLoss()(nn.Softmax(dim=1)(X), CLASSES), "takes logits.*Leave the softmax out"),
        (lambda: F.cross_entropy(X.softmax(-1).reshape(2, 3), CLASSES), "takes logits.*what softmax made"),
        (lambda: F.cross_entropy(X.sigmoid(), CLASSES), "takes logits.*what sigmoid made"),
        (lambda: F.nll_loss(F.softmax(X, 1), CLASSES), "takes log-probabilities.*put log_softmax"),
        (
            lambda: F.binary_cross_entropy_with_logits(X[:, 0].sigmoid().squeeze(), ak.ones(2)),
            "takes logits.*leave the sigmoid out",
        ),
        (lambda: nn.BCEWithLogitsLoss()(nn.Sigmoid()(X), ak.ones(2, 3)), "takes logits"),
        (lambda: F.kl_div(F.softmax(X, 1), ak.ones(2, 3), reduction="sum"), "takes log-probabilities"),
    ],
)
def test_probabilities_where_logits_belong(loss: Any, words: str):
    with pytest.warns(UserWarning, match=words) as caught:
        loss().backward()
    assert caught[0].filename == __file__  # the learner's line


@pytest.mark.parametrize(
    "loss",
    [
        lambda: F.cross_entropy(X, F.softmax(X, 1)),
        lambda: F.cross_entropy(F.log_softmax(X, 1), CLASSES),
        lambda: F.nll_loss(F.log_softmax(X, 1), CLASSES),
        lambda: F.cross_entropy(nn.Linear(3, 3)(F.softmax(X, 1)), CLASSES),
        lambda: F.binary_cross_entropy(X.sigmoid(), ak.ones(2, 3)),
        lambda: F.mse_loss(X.sigmoid(), ak.ones(2, 3)),
        lambda: F.cross_entropy(F.softmax(X, 1).log(), CLASSES),
        lambda: F.kl_div(F.log_softmax(X, 1), F.softmax(X, 1), reduction="sum"),
    ],
)
def test_right_use_does_not_warn(loss: Any):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss()


# ---------------------------------------------------------------- a layer is made, and then called

NOT_CALLED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a layer for its result": (
        lambda T: T.nn.Linear(2, 2)(T.nn.ReLU(T.ones(1, 2))),
        r"must be Tensor, not ReLU; a layer is made first .* relu = ReLU\(...\); relu\(x\)"),
    "a class": (lambda T: T.nn.functional.relu(T.nn.ReLU), "a layer is made first"),
    "a loss": (lambda T: T.nn.MSELoss(T.ones(2), T.zeros(2)), r"loss = nn.MSELoss\(\); loss\(input"),
    "a method of its result": (lambda T: T.nn.ReLU(T.ones(2)).sum(), r"tensors have it; ReLU\(...\) makes a"),
    "where a model is": (lambda T: T.nn.Linear(2, 2).device, r"next\(model.parameters\(\)\).device"),
    "a class in a row": (lambda T: T.nn.Sequential(T.nn.ReLU), r"ReLU is not a .* ReLU\(\) makes a layer"),
    "a list in a row": (lambda T: T.nn.Sequential([T.nn.ReLU()]), r"list is not a .*Sequential\(\*layers\)"),
    "a function in a row": (lambda T: T.nn.Sequential(T.relu), "relu is not a .*: a function is no layer"),
    "all that an LSTM gives": (
        lambda T: T.nn.Linear(5, 1)(T.nn.LSTM(4, 5)(T.ones(3, 4))),
        r"must be Tensor, not tuple; take a tensor out of it: .* gives the output at \[0\]"),
    "a list of tensors": (lambda T: T.relu([T.ones(2)]), r"torch.stack\(...\) makes one tensor of several"),
    "all of it, in a convolution": (lambda T: T.conv1d((T.ones(2), 3), T.ones(1)), "take a tensor out of it"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_CALLED)
def test_what_stands_in_the_place_of_a_tensor(name: str):
    require("torch")
    import torch

    use, words = NOT_CALLED[name]
    with pytest.raises(Exception) as theirs:
        use(torch)
    with pytest.raises(type(theirs.value), match=words):
        use(ak)


@pytest.mark.parametrize(
    "name", ["Conv2d", "BatchNorm1d", "MaxPool3d", "TransformerEncoderLayer", "LazyConv1d"]
)
def test_a_missing_argument_is_of_the_layer_and_not_of_its_base(name: str):
    with pytest.raises(TypeError, match=rf"^{name}\.__init__\(\) missing \d required positional argument"):
        getattr(nn, name)()


# ---------------------------------------------------------------- training


@pytest.mark.parametrize(
    "make",
    [
        lambda T: T.optim.SGD([], lr=0.1),
        lambda T: T.optim.Adam(T.nn.ReLU().parameters()),
        lambda T: T.optim.Adam(T.ones(2)),
        lambda T: T.optim.Adam([T.ones(2, requires_grad=True) * 2]),
        lambda T: T.optim.Adam([3]),
        lambda T: T.optim.Adam(T.nn.Linear(2, 2)),
        lambda T: T.optim.SGD([{"params": []}, {"lr": 0.1}], lr=0.1),
    ],
)
def test_parameters_that_no_optimizer_takes(make: Any):
    require("torch")
    import torch

    errors = []
    for T in (ak, torch):
        with pytest.raises((TypeError, ValueError, KeyError)) as caught:
            make(T)
        errors.append(caught.value)
    ours, theirs = errors
    assert isinstance(ours, type(theirs)) and str(ours).startswith(str(theirs).rstrip("."))


def test_parameters_that_were_used_up():
    parameters = nn.Linear(2, 2).parameters()
    ak.optim.SGD(parameters, lr=0.1)
    with pytest.raises(ValueError, match=r"empty parameter list: .* is used up after one pass"):
        ak.optim.SGD(parameters, lr=0.1)


def test_a_learning_rate_that_makes_nan():
    """Anomaly mode names the step that made it, and the line of the program."""
    w = ak.ones(2, requires_grad=True)
    optimizer = ak.optim.SGD([w], lr=1e30)
    with ak.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError) as caught:
        for _ in range(3):
            optimizer.zero_grad()
            loss = (w * w).exp().sum().log()
            loss.backward()
            optimizer.step()
    words = str(caught.value)
    assert words.startswith("Function 'ExpBackward0' returned nan values in its 0th output.")
    assert "loss = (w * w).exp().sum().log()" in words and "inf" in words


def test_a_state_that_does_not_fit_lists_all_and_changes_nothing():
    require("torch")
    import torch

    said = []
    for T in (ak, torch):
        model = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.Linear(3, 1))
        other = T.nn.Sequential(T.nn.Linear(2, 4), T.nn.ReLU(), T.nn.Linear(4, 1))
        before = [each.tolist() for each in model.parameters()]
        with pytest.raises(RuntimeError) as caught:
            model.load_state_dict(other.state_dict())
        said.append(str(caught.value))
        if T is ak:  # PyTorch has loaded what fits by then
            assert [each.tolist() for each in model.parameters()] == before
    assert said[0] == said[1]
    assert "Missing key(s)" in said[0] and "Unexpected key(s)" in said[0] and "size mismatch" in said[0]


def test_a_checkpoint_for_a_state_and_a_state_of_a_wrapped_model():
    require("torch")
    import torch

    for T in (ak, torch):
        model = T.nn.Linear(2, 3)
        state = model.state_dict()
        wrong = [
            {"epoch": 3, "model_state_dict": state, "optimizer_state_dict": {"state": {}}},
            {f"module.{key}": value for key, value in state.items()},
        ]
        for given, words in zip(wrong, [r'state_dict\["model_state_dict"\]', r'removeprefix\("module."\)']):
            with pytest.raises(RuntimeError, match=words if T is ak else r"Missing key\(s\)"):
                model.load_state_dict(given)


@pytest.mark.parametrize(
    "use",
    [
        lambda layer: sum(each.numel() for each in layer.parameters()),
        lambda layer: layer.weight.sum(),
        lambda layer: layer.weight * 2,
        lambda layer: layer.bias[0],
        lambda layer: import_module(type(layer).__module__.partition(".")[0]).nn.init.zeros_(layer.bias),
    ],
)
def test_a_parameter_without_a_shape_is_refused(use: Any):
    require("torch")
    import torch

    for T in (ak, torch):
        layer = T.nn.LazyLinear(3)
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
            use(layer)
        assert layer.double().weight.dtype == T.float64
        layer(T.ones(2, 4, dtype=T.float64))
        use(layer)
