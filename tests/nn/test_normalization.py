"""Normalization beside PyTorch: running statistics, half precision, and wrong use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402


@pytest.mark.parametrize("shape", [(4, 3, 5), (2, 3, 4), (2, 3, 2, 2)])
@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_running_statistics(name: str, shape: tuple[int, ...]):
    found = []
    for library in (ak, torch):
        mean, var = library.zeros(3), library.ones(3)
        for step in range(3):
            x = library.tensor(np.random.RandomState(step).randn(*shape).astype("float32") * 3 + 1)
            keywords = {"training": True} if name == "batch_norm" else {}
            getattr(library.nn.functional, name)(x, mean, var, momentum=0.3, **keywords)
        found.append((mean.numpy(), var.numpy()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5)


def test_running_statistics_may_move_on_before_the_way_back():
    x, mean, var = ak.ones(2, 3, requires_grad=True), ak.zeros(3), ak.ones(3)
    weight = ak.ones(3, requires_grad=True)
    out = ak.nn.functional.batch_norm(x, mean, var, weight)
    mean.fill_(5)
    var.fill_(9)
    out.sum().backward()
    np.testing.assert_allclose(weight.grad.numpy(), 2, rtol=1e-4)
    np.testing.assert_allclose(x.grad.numpy(), 1, rtol=1e-4)


LARGE: dict[str, tuple[str, tuple[int, ...], Any, int]] = {
    "layer": ("layer_norm", (70, 300), (300,), 2),
    "layer of two dimensions": ("layer_norm", (3, 70, 10, 30), (10, 30), 2),
    "layer without weights": ("layer_norm", (700, 30), (30,), 0),
    "long layer": ("layer_norm", (2, 70_000), (70_000,), 2),
    "weight alone": ("layer_norm", (70, 300), (300,), 1),
    "rms": ("rms_norm", (7, 10, 300), (300,), 1),
    "rms without weight": ("rms_norm", (70, 300), (300,), 0),
    "group": ("group_norm", (5, 6, 30, 30), 3, 2),
    "batch": ("batch_norm", (5, 6, 30, 30), None, 2),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "shape", "setting", "count"), LARGE.values(), ids=LARGE.keys())
def test_large_arrays(name: str, shape: tuple[int, ...], setting: Any, count: int, dtype: str, loops: str):
    """Rows in pieces, and far from 0, where a variance from squares would lose its digits."""
    found = []
    for library in (ak, torch):
        random = np.random.RandomState(0)
        x = library.tensor((random.randn(*shape) + 30).astype(dtype), requires_grad=True)
        sizes = shape[1:2] if name in ("group_norm", "batch_norm") else setting
        weights = [
            library.tensor(random.randn(*sizes).astype(dtype), requires_grad=True) for _ in range(count)
        ]
        between = (None, None) if name == "batch_norm" else (setting,)
        last = {"training": True} if name == "batch_norm" else {}
        out = getattr(library.nn.functional, name)(x, *between, *weights, **last)
        g = library.tensor(random.randn(*shape).astype(dtype), requires_grad=True)
        first = library.autograd.grad((out * g).sum(), [x, *weights], retain_graph=True)
        plain = library.autograd.grad((out * g).sum(), [x, *weights], create_graph=True)
        second = library.autograd.grad((plain[0] ** 2).sum(), [x, g])
        found.append([each.detach().numpy() for each in (out, *first, *plain, *second)])
    for ours, theirs in zip(*found, strict=True):
        size = np.abs(theirs).max()
        np.testing.assert_allclose(ours / size, theirs / size, atol=1e-9 if dtype == "float64" else 3e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_eps_of_rms_norm_is_that_of_the_dtype_that_computes(dtype: str):
    found = []
    for library in (ak, torch):
        x = library.tensor([[1e-2, 2e-2]], dtype=getattr(library, dtype))
        layer = library.nn.RMSNorm(2, dtype=x.dtype)
        found.append([layer(x).tolist(), library.nn.functional.rms_norm(x, (2,)).tolist()])
    np.testing.assert_allclose(*found, rtol=2e-3)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_half_precision_is_normalized_in_single_precision(name: str):
    found = []
    for library in (ak, torch):
        x = library.tensor(np.random.RandomState(0).randn(3, 40).astype("float16") * 200)
        found.append(getattr(library.nn.functional, name)(x, (40,)).numpy())
    assert found[0].dtype == np.float16
    np.testing.assert_allclose(*found, rtol=4e-3, atol=1e-3)


def test_a_shift_alone():
    b = ak.tensor([1.0, 2.0], requires_grad=True)
    x = ak.tensor([[1.0, 3.0]], requires_grad=True)
    ak.nn.functional.layer_norm(x, [2], bias=b).backward(ak.tensor([[1.0, 5.0]]))
    assert b.grad.tolist() == [1, 5]
    np.testing.assert_allclose(x.grad.numpy(), 0, atol=1e-4)


WRONG = {
    "one value": lambda T, F, x: F.batch_norm(x[:1], None, None, training=True),
    "no statistics": lambda T, F, x: F.batch_norm(x, None, None),
    "two means": lambda T, F, x: F.batch_norm(x, T.zeros(2), T.ones(3)),
    "two weights": lambda T, F, x: F.batch_norm(x, T.zeros(3), T.ones(3), T.ones(2)),
    "no momentum": lambda T, F, x: F.batch_norm(x, T.zeros(3), T.ones(3), training=True, momentum=None),
    "integers": lambda T, F, x: F.batch_norm(x.long(), T.zeros(3), T.ones(3)),
    "dtypes": lambda T, F, x: F.batch_norm(x.double(), T.zeros(3), T.ones(3)),
    "shape": lambda T, F, x: F.layer_norm(x, [4]),
    "number": lambda T, F, x: F.layer_norm(x, 3),
    "weight": lambda T, F, x: F.layer_norm(x, [3], T.ones(2)),
    "bias": lambda T, F, x: F.layer_norm(x, [3], T.ones(3), T.ones(2)),
    "no shape": lambda T, F, x: F.layer_norm(x, []),
    "double weight": lambda T, F, x: F.layer_norm(x, [3], T.ones(3).double()),
    "integers in layer norm": lambda T, F, x: F.layer_norm(x.long(), [3]),
    "groups": lambda T, F, x: F.group_norm(x, 2),
    "no groups": lambda T, F, x: F.group_norm(x, 0),
    "negative groups": lambda T, F, x: F.group_norm(x, -1),
    "single values": lambda T, F, x: F.group_norm(x[:1], 3),
    "group weight": lambda T, F, x: F.group_norm(x, 3, T.ones(2)),
    "one dimension": lambda T, F, x: F.group_norm(x[0], 3),
    "one place": lambda T, F, x: F.instance_norm(x[:, :, None]),
    "instance statistics": lambda T, F, x: F.instance_norm(x, use_input_stats=False),
    "rms weight": lambda T, F, x: F.rms_norm(x, (3,), T.ones(4)),
    "integers in rms": lambda T, F, x: F.rms_norm(x.long(), (3,)),
    "neighbours": lambda T, F, x: F.local_response_norm(x, 2),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_refused_as_in_pytorch(call: Any):
    raised = []
    for library in (torch, ak):
        with pytest.raises(Exception) as caught:
            call(library, library.nn.functional, library.ones(2, 3))
        raised.append(caught)
    assert raised[1].type is raised[0].type
    first = " ".join(str(raised[0].value).split()[:3])
    assert first in " ".join(str(raised[1].value).split()) or "not implemented for" in str(raised[1].value)


@pytest.mark.parametrize("channels", [1.5, True, "3", None])
@pytest.mark.parametrize("affine", [True, False])
def test_a_number_of_channels_that_is_no_whole_number_is_refused(channels: Any, affine: bool):
    for module in (ak, torch):
        with pytest.raises(TypeError, match=r"argument 'size' \(position 1\) must be tuple of ints"):
            module.nn.BatchNorm2d(channels, affine=affine)


def test_without_scale_and_statistics_the_number_of_channels_is_not_asked_for():
    x = [[[1.0, 2.0, 4.0], [0.0, 3.0, 3.0]]]
    ours, theirs = (
        module.nn.BatchNorm1d(None, affine=False, track_running_stats=False)(module.tensor(x))
        for module in (ak, torch)
    )
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)


@pytest.mark.parametrize("function", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize("size", [3, 9000])
def test_a_running_variance_far_below_epsilon_keeps_its_digits(function: str, size: int):
    x = np.random.default_rng(0).normal(size=(2, 2, size)).astype(np.float32) * 1e-6
    found = []
    for module in (ak, torch):
        mean, var = module.zeros(2), module.zeros(2)
        settings = {"training": True} if function == "batch_norm" else {}
        getattr(module.nn.functional, function)(module.tensor(x), mean, var, momentum=1.0, **settings)
        found.append(var.numpy())
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_a_negative_epsilon_leaves_the_running_variance_alone():
    x, found = np.arange(6, dtype=np.float32).reshape(1, 2, 3) * 1e-3, []
    for module in (ak, torch):
        mean, var = module.zeros(2), module.zeros(2)
        module.nn.functional.instance_norm(module.tensor(x), mean, var, momentum=1.0, eps=-1e-3)
        found.append(var.numpy())
    np.testing.assert_allclose(*found, rtol=1e-5)
