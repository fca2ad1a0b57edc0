"""autokit.nn.functional: values and gradients as PyTorch's, and what it says of wrong use."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit.nn import functional as F
from tests.support import require

REDUCTIONS = st.sampled_from(["none", "mean", "sum"])


def both(*arrays: np.ndarray) -> tuple[list[Any], list[Any]]:
    """The arrays as tensors here and in PyTorch; floats require grad."""
    import torch

    ours = [ak.from_numpy(array.copy()) for array in arrays]
    theirs = [torch.from_numpy(array.copy()) for array in arrays]
    for tensor in (*ours, *theirs):
        if tensor.is_floating_point():
            tensor.requires_grad_()
    return ours, theirs


def check(name: str, ours: list[Any], theirs: list[Any], *, leaves: int = 1, **options: Any) -> None:
    """The same loss, and the same gradients of the first ``leaves`` tensors."""
    import torch

    our_options = {key: value[0] if isinstance(value, tuple) else value for key, value in options.items()}
    their_options = {key: value[1] if isinstance(value, tuple) else value for key, value in options.items()}
    loss = getattr(F, name)(*ours, **our_options)
    expected = getattr(torch.nn.functional, name)(*theirs, **their_options)
    assert tuple(loss.shape) == tuple(expected.shape)
    assert loss.dtype.name == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_allclose(loss.detach().numpy(), expected.detach().numpy(), rtol=2e-5, atol=2e-6)
    loss.sum().backward()
    expected.sum().backward()
    for our, their in zip(ours[:leaves], theirs[:leaves], strict=True):
        np.testing.assert_allclose(our.grad.numpy(), their.grad.numpy(), rtol=2e-5, atol=2e-6)


@st.composite
def class_losses(draw: st.DrawFn) -> dict[str, Any]:
    rng = np.random.RandomState(draw(st.integers(0, 10_000)))
    classes = draw(st.integers(1, 5))
    rest = draw(st.sampled_from([(), (3,), (2, 3)]))
    batch = draw(st.integers(1, 6))
    shape = draw(st.sampled_from([(batch, classes, *rest), (classes,)]))
    logits = rng.randn(*shape).astype(draw(st.sampled_from(["float32", "float64"]))) * 3
    target = rng.randint(0, classes, (shape[0], *shape[2:]) if len(shape) > 1 else ())
    ignore_index = draw(st.sampled_from([-100, -1, 0]))
    if draw(st.booleans()):
        target = np.where(rng.rand(*target.shape) < 0.3, ignore_index, target)
    return {
        "logits": logits,
        "target": np.asarray(target),
        "weight": rng.rand(classes).astype(logits.dtype) + 0.1 if draw(st.booleans()) else None,
        "ignore_index": ignore_index,
        "reduction": draw(REDUCTIONS),
    }


def pair(array: np.ndarray | None) -> Any:
    import torch

    return None if array is None else (ak.from_numpy(array), torch.from_numpy(array))


@settings(max_examples=200, deadline=None)
@given(class_losses(), st.sampled_from([0.0, 0.3, 1.0]))
def test_cross_entropy_of_classes(case: dict[str, Any], smoothing: float):
    require("torch")
    ours, theirs = both(case["logits"], case["target"])
    check(
        "cross_entropy", ours, theirs, weight=pair(case["weight"]), ignore_index=case["ignore_index"],
        reduction=case["reduction"], label_smoothing=smoothing,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("options", [{}, {"ignore_index": 3}, {"label_smoothing": 0.1}])
def test_cross_entropy_of_many_logits(options: dict[str, Any], reduction: str, dtype: str):
    require("torch")
    import torch

    found = []
    for library in (ak, torch):
        random = np.random.RandomState(0)
        x = library.tensor((random.randn(400, 90) * 20 + 500).astype(dtype), requires_grad=True)
        loss = library.nn.functional.cross_entropy(
            x, library.tensor(random.randint(0, 90, 400)), reduction=reduction, **options
        )
        g = library.tensor(np.asarray(random.randn(*loss.shape), dtype), requires_grad=True)
        (plain,) = library.autograd.grad(loss, x, g, retain_graph=True)
        (first,) = library.autograd.grad(loss, x, g, create_graph=True)
        second = library.autograd.grad(
            (first * library.tensor(random.randn(400, 90).astype(dtype))).sum(), [x, g]
        )
        found.append([each.detach().numpy() for each in (loss, plain, first, *second)])
        if not options:
            assert loss.grad_fn.name() == "NllLossBackward0"
    for ours, theirs in zip(*found, strict=True):
        size = max(np.abs(theirs).max(), 1e-30)
        np.testing.assert_allclose(ours / size, theirs / size, atol=1e-11 if dtype == "float64" else 1e-5)
        assert ours.dtype == theirs.dtype


def test_many_logits_at_the_ends():
    x = ak.zeros(200, 100)
    x[0, 0], x[1, 0], x[2, 0] = 1e30, -math.inf, 1000.0
    x.requires_grad_()
    losses = F.cross_entropy(x, ak.zeros(200, dtype=ak.int64), reduction="none")
    assert losses[:3].tolist() == [0, math.inf, 0]
    losses[2:].sum().backward()
    assert x.grad[2].tolist() == [0] * 100
    np.testing.assert_allclose(x.grad[3].numpy(), [-0.99] + [0.01] * 99, rtol=1e-5)
    with pytest.raises(IndexError, match="Target 100 is out of bounds"):
        F.cross_entropy(x, ak.full((200,), 100))
    with pytest.raises(ValueError, match="to match target batch_size"):
        F.cross_entropy(x, ak.zeros(199, dtype=ak.int64))


@settings(max_examples=200, deadline=None)
@given(class_losses())
def test_nll_loss(case: dict[str, Any]):
    require("torch")
    ours, theirs = both(case["logits"], case["target"])
    check(
        "nll_loss", ours, theirs, weight=pair(case["weight"]), ignore_index=case["ignore_index"],
        reduction=case["reduction"],
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1000), REDUCTIONS, st.sampled_from([0.0, 0.2]), st.booleans())
def test_cross_entropy_of_probabilities(seed: int, reduction: str, smoothing: float, weighted: bool):
    require("torch")
    rng = np.random.RandomState(seed)
    shape = [(3, 4), (4,), (2, 4, 3)][seed % 3]
    ours, theirs = both(rng.randn(*shape), rng.rand(*shape))
    weight = pair(rng.rand(4) if weighted else None)
    check(
        "cross_entropy", ours, theirs, leaves=2, weight=weight, reduction=reduction, label_smoothing=smoothing
    )


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["mse_loss", "l1_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"]),
       st.integers(0, 1000), REDUCTIONS, st.booleans())  # fmt: skip
def test_elementwise_losses(name: str, seed: int, reduction: str, weighted: bool):
    require("torch")
    rng = np.random.RandomState(seed)
    dtype = ["float32", "float64"][seed % 2]
    input = rng.rand(3, 4) if name == "binary_cross_entropy" else rng.randn(3, 4)
    ours, theirs = both(input.astype(dtype), rng.rand(3, 4).astype(dtype))
    options: dict[str, Any] = {"reduction": reduction}
    if weighted and "cross" in name:
        options["weight"] = pair(rng.rand(4).astype(dtype))
        if "logits" in name:
            options["pos_weight"] = pair(rng.rand(4).astype(dtype) + 0.5)
    check(name, ours, theirs, leaves=2, **options)


def test_losses_of_extreme_values_stay_finite():
    logits = ak.tensor([[1000.0, -1000.0], [3.0, 1e4]], requires_grad=True)
    F.cross_entropy(logits, ak.tensor([0, 1])).backward()
    assert logits.grad.tolist() == [[0, 0], [0, 0]]
    x = ak.tensor([-1000.0, 1000.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, ak.tensor([0.0, 1.0]))
    loss.backward()
    assert loss.item() == 0 and x.grad.tolist() == [0, 0]
    p = ak.tensor([0.0, 1.0])
    assert F.binary_cross_entropy(p, ak.tensor([1.0, 0.0])).item() == 100
    assert np.isnan(F.cross_entropy(ak.zeros(2, 3), ak.tensor([-100, -100])).item())


def test_second_derivatives_of_the_losses():
    require("torch")
    import torch
    from torch.autograd.functional import hessian

    rng = np.random.RandomState(0)
    logits, target = rng.randn(2, 3), np.array([0, 2])
    cases = [
        ("cross_entropy", logits, target),
        ("nll_loss", logits, target),
        ("mse_loss", logits, rng.rand(2, 3)),
        ("binary_cross_entropy", rng.rand(2, 3), rng.rand(2, 3)),
        ("binary_cross_entropy_with_logits", logits, rng.rand(2, 3)),
    ]
    for name, input, goal in cases:
        expected = hessian(
            lambda x, name=name, goal=goal: getattr(torch.nn.functional, name)(x, torch.from_numpy(goal)),
            torch.from_numpy(input),
        ).reshape(6, 6)
        x = ak.from_numpy(input.copy()).requires_grad_()
        loss = getattr(F, name)(x, ak.from_numpy(goal))
        (slope,) = ak.autograd.grad(loss, x, create_graph=True)
        for row, part in enumerate(slope.reshape(-1)):
            if not part.requires_grad:  # the derivative is a constant
                np.testing.assert_allclose(expected[row], 0, atol=1e-12)
                continue
            (found,) = ak.autograd.grad(part, x, retain_graph=True, allow_unused=True, materialize_grads=True)
            np.testing.assert_allclose(found.numpy().reshape(-1), expected[row], rtol=1e-6, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([(3,), (5, 3), (2, 4, 3), (0, 3)]), st.booleans())
def test_linear(seed: int, shape: tuple[int, ...], biased: bool):
    require("torch")
    rng = np.random.RandomState(seed)
    arrays = [rng.randn(*shape), rng.randn(2, 3), rng.randn(2)]
    ours, theirs = both(*(arrays if biased else arrays[:2]))
    check("linear", ours, theirs, leaves=len(ours))


@pytest.mark.parametrize("name", ["relu", "softmax", "log_softmax", "tanh", "sigmoid"])
def test_activations(name: str):
    require("torch")
    ours, theirs = both(np.random.RandomState(0).randn(3, 4).astype("float32"))
    check(name, ours, theirs, **({"dim": 1} if "softmax" in name else {}))


def test_dropout_draws_pytorchs_masks():
    require("torch")
    import torch

    for size in (5, 100):
        ak.manual_seed(3)
        torch.manual_seed(3)
        ours = F.dropout(ak.ones(size), 0.3)
        np.testing.assert_array_equal(
            ours.numpy(), torch.nn.functional.dropout(torch.ones(size), 0.3).numpy()
        )
    x = ak.ones(4, requires_grad=True)
    assert F.dropout(x, 0.5, training=False) is x and F.dropout(x, 0) is x
    assert F.dropout(x, 1.0).tolist() == [0, 0, 0, 0]


def test_one_hot():
    assert F.one_hot(ak.tensor([[0], [2]])).tolist() == [[[1, 0, 0]], [[0, 0, 1]]]
    assert F.one_hot(ak.tensor([1]), 4).tolist() == [[0, 1, 0, 0]]


X = ak.zeros(4, 3)
Y = ak.tensor([0, 1, 2, 0])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: F.cross_entropy(X, ak.tensor([0, 1, 2, 3])),
            IndexError,
            "Target 3 is out of bounds.*3 classes",
        ),
        (lambda: F.cross_entropy(X, ak.tensor([0, 1, 2, -1])), IndexError, "Target -1 is out of bounds"),
        (
            lambda: F.cross_entropy(X, Y[:3]),
            ValueError,
            r"input batch_size \(4\) to match target batch_size \(3\)",
        ),
        (lambda: F.cross_entropy(X, Y.float()), RuntimeError, "Long or Byte, but got float32"),
        (lambda: F.cross_entropy(X, Y.int()), RuntimeError, "Long or Byte, but got int32"),
        (lambda: F.cross_entropy(X, Y[:, None]), RuntimeError, "multi-target not supported"),
        (lambda: F.cross_entropy(X[:, :, None], Y), RuntimeError, "Expected target size"),
        (lambda: F.cross_entropy(X, Y, weight=ak.ones(2)), RuntimeError, "all 3 classes"),
        (
            lambda: F.cross_entropy(X, Y, reduction="avg"),
            ValueError,
            "avg is not a valid value for reduction",
        ),
        (lambda: F.cross_entropy(X, Y, label_smoothing=2), RuntimeError, "label_smoothing must be between"),
        (lambda: F.nll_loss(ak.tensor(1.0), Y), ValueError, "1 or more dimensions"),
        (lambda: F.mse_loss(ak.ones(3, 2), ak.ones(3)), RuntimeError, r"size of tensor a \(2\) must match"),
        (lambda: F.binary_cross_entropy(X + 2, X), RuntimeError, "between 0 and 1"),
        (lambda: F.binary_cross_entropy(X, X[:, 0]), ValueError, "different to the input size"),
        (lambda: F.binary_cross_entropy(X, X.long()), RuntimeError, "Found dtype int64 but expected float32"),
        (
            lambda: F.binary_cross_entropy_with_logits(X, X.long()),
            RuntimeError,
            "result type float32 can't be cast to the desired output type int64",
        ),
        (
            lambda: F.binary_cross_entropy_with_logits(X, X[:, 0]),
            ValueError,
            "must be the same as input size",
        ),
        (
            lambda: F.linear(ak.ones(3, 2), ak.ones(2, 3)),
            RuntimeError,
            r"cannot be multiplied \(3x2 and 3x2\)",
        ),
        (lambda: F.linear(ak.ones(2, 5, 2), ak.ones(2, 3)), RuntimeError, r"\(10x2 and 3x2\)"),
        (
            lambda: F.linear(ak.ones(3).long(), ak.ones(2, 3)),
            RuntimeError,
            "same dtype, but got int64 and float32",
        ),
        (
            lambda: F.linear([1.0], ak.ones(2, 3)),
            TypeError,
            r"'input' \(position 1\) must be Tensor, not list",
        ),
        (lambda: F.linear(ak.tensor(1.0), ak.ones(2, 3)), RuntimeError, "at least 1D"),
        (lambda: F.dropout(X, 1.5), ValueError, "between 0 and 1, but got 1.5"),
        (lambda: F.one_hot(ak.tensor([-1])), RuntimeError, "non-negative"),
        (lambda: F.one_hot(ak.tensor([5]), 3), RuntimeError, "smaller than num_classes"),
        (lambda: F.one_hot(ak.tensor([0.5])), RuntimeError, "index tensor"),
    ],
)
def test_wrong_use_says_what_is_wrong(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()


def test_warnings():
    with pytest.warns(
        UserWarning, match=r"target size \(torch.Size\(\[3\]\)\).*input size \(torch.Size\(\[3, 1\]\)\)"
    ):
        F.mse_loss(ak.ones(3, 1), ak.ones(3))
    with pytest.warns(UserWarning, match="broadcasting"):
        F.l1_loss(ak.ones(3, 1), ak.ones(3))
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        F.softmax(X)


def test_the_older_spelling_of_reduction():
    assert F.mse_loss(X, X + 1, size_average=False).item() == 12
    assert F.mse_loss(X, X + 1, reduce=False).shape == (4, 3)
    assert F.mse_loss(X, X + 1, size_average=True, reduction="sum").item() == 1


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: F.cross_entropy(x, Y), "NllLossBackward0"),
        (lambda x: F.cross_entropy(x[:, :, None], Y[:, None]), "NllLoss2DBackward0"),
        (lambda x: F.mse_loss(x, X), "MseLossBackward0"),
        (lambda x: F.l1_loss(x, X), "MeanBackward0"),
        (lambda x: F.binary_cross_entropy(x.sigmoid(), X), "BinaryCrossEntropyBackward0"),
        (lambda x: F.binary_cross_entropy_with_logits(x, X), "BinaryCrossEntropyWithLogitsBackward0"),
        (lambda x: F.linear(x, ak.ones(2, 3), ak.ones(2)), "AddmmBackward0"),
        (lambda x: F.linear(x, ak.ones(2, 3)), "MmBackward0"),
        (lambda x: F.linear(x[None], ak.ones(2, 3), ak.ones(2)), "ViewBackward0"),
    ],
)
def test_backward_nodes_are_called_as_in_pytorch(call: Any, name: str):
    assert call(ak.zeros(4, 3, requires_grad=True)).grad_fn.name() == name


@pytest.mark.parametrize("name", ["binary_cross_entropy", "binary_cross_entropy_with_logits"])
@pytest.mark.parametrize("dtype", [ak.int64, ak.bool, ak.float64])
def test_a_weight_keeps_the_dtype_of_the_losses(name: str, dtype: ak.dtype):
    probabilities = ak.full((2, 3), 0.5, requires_grad=True)
    loss = getattr(F, name)(probabilities, ak.ones(2, 3), ak.ones(2, 3, dtype=dtype))
    loss.backward()
    assert loss.dtype == probabilities.grad.dtype == ak.float32
