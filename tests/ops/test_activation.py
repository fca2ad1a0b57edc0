"""Activations, line by line beside PyTorch, and their gradients at kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.ops.beside import assert_same_error, assert_same_gradients, assert_same_outcome
from tests.support import require

require("torch")
import torch  # noqa: E402

CALLS = [
    "F.relu(i)",
    "F.hardtanh(i)",
    "F.hardtanh(x,1.,1.)",
    "F.relu6(i)",
    "F.threshold(i,1,0)",
    "F.glu(x)",
    "F.softsign(i)",
    "F.tanhshrink(i)",
    "F.softmin(x)",
    "F.softmax(x)",
    "F.sigmoid(i)",
    "F.tanh(i)",
    "F.gelu(h)",
    "F.elu(h)",
    "F.softplus(h)",
    "F.silu(h)",
    "F.leaky_relu(h)",
    "F.mish(h)",
    "F.hardswish(h)",
    "F.logsigmoid(h)",
    "F.relu_(x)",
    "F.leaky_relu_(x,.1)",
    "F.elu_(x)",
    "F.threshold(x,1.,2.,True)",
    "F.hardtanh_(x)",
    "F.relu6(x,True)",
    "F.rrelu(x,inplace=True)",
    "F.selu(x,True)",
    "F.celu(x,1.,True)",
    "F.silu(x,True)",
    "F.mish(x,True)",
    "F.hardsigmoid(x,True)",
    "F.hardswish(x,True)",
]

WRONG = [
    "F.relu(b)",
    "F.leaky_relu(i)",
    "F.elu(i)",
    "F.gelu(i)",
    'F.gelu(x,approximate="a")',
    'F.gelu(x,"tanh")',
    "F.silu(i)",
    "F.softplus(i)",
    "F.mish(i)",
    "F.hardtanh(x,1.,-1.)",
    "F.hardsigmoid(i)",
    "F.hardswish(i)",
    "F.hardshrink(i)",
    "F.softshrink(i)",
    "F.softshrink(x,-1)",
    "F.threshold(x,1)",
    "F.glu(T.ones(3))",
    "F.glu(T.tensor(1.))",
    "F.glu(x,5)",
    "F.logsigmoid(i)",
    "F.celu(x,0.)",
    "F.celu(i)",
    "F.selu(i)",
    "F.prelu(x,T.ones(3))",
    "F.prelu(x,2.)",
    "F.prelu(i,i)",
    "F.rrelu(i)",
    "F.rrelu(x,.5,.1,True)",
    "F.elu(b)",
]


@pytest.mark.parametrize("line", CALLS)
def test_a_call_gives_what_pytorch_gives(line: str):
    assert_same_outcome(line)


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_call_raises_what_pytorch_raises(line: str):
    assert_same_error(line)


SMOOTH_OR_BENT: dict[str, Any] = {
    "relu": lambda T, x: T.relu(x),
    "leaky": lambda T, x: T.nn.functional.leaky_relu(x),
    "elu": lambda T, x: T.nn.functional.elu(x),
    "hardtanh": lambda T, x: T.nn.functional.hardtanh(x),
    "relu6": lambda T, x: T.nn.functional.relu6(x),
    "silu": lambda T, x: T.nn.functional.silu(x),
    "softplus": lambda T, x: T.nn.functional.softplus(x),
    "gelu": lambda T, x: T.nn.functional.gelu(x),
    "gelut": lambda T, x: T.nn.functional.gelu(x, approximate="tanh"),
    "mish": lambda T, x: T.nn.functional.mish(x),
    "logsig": lambda T, x: T.nn.functional.logsigmoid(x),
    "hardswish": lambda T, x: T.nn.functional.hardswish(x),
    "hardsig": lambda T, x: T.nn.functional.hardsigmoid(x),
    "hshr": lambda T, x: T.nn.functional.hardshrink(x),
    "sshr": lambda T, x: T.nn.functional.softshrink(x),
    "thr": lambda T, x: T.nn.functional.threshold(x, 0.5, 2.0),
    "selu": lambda T, x: T.nn.functional.selu(x),
    "celu": lambda T, x: T.nn.functional.celu(x),
    "tanhshrink": lambda T, x: T.nn.functional.tanhshrink(x),
    "softsign": lambda T, x: T.nn.functional.softsign(x),
    "rrelu": lambda T, x: T.nn.functional.rrelu(x),
    "prelu": lambda T, x: T.nn.functional.prelu(x, T.tensor([0.25])),
}


@pytest.mark.parametrize("seed", [1.0, 0.0, -2.5])
@pytest.mark.parametrize("name", SMOOTH_OR_BENT)
def test_gradients_at_kinks_zeros_infinities_and_nan_are_pytorchs(name: str, seed: float):
    assert_same_gradients(SMOOTH_OR_BENT[name], seed)


@pytest.mark.parametrize(
    "name",
    [
        "relu",
        "leaky",
        "relu6",
        "hardtanh",
        "hshr",
        "sshr",
        "thr",
        "rrelu",
        "prelu",
        "hardswish",
        "elu",
        "selu",
    ],
)
def test_the_second_derivative_of_straight_pieces_is_zero_and_not_an_error(name: str):
    found = []
    for library in (autokit, torch):
        x = library.tensor([-4.0, -1.0, 0.0, 0.25, 2.0, 7.0], requires_grad=True)
        slope = library.autograd.grad(SMOOTH_OR_BENT[name](library, x).sum(), x, create_graph=True)[0]
        curvature = library.autograd.grad(slope.sum(), x, create_graph=True)[0]
        mixed = library.autograd.grad((slope * x * x).sum(), x)[0]
        found.append([each.detach().numpy() for each in (slope, curvature, mixed)])
    np.testing.assert_allclose(*found, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [5, 17, 40])
def test_random_slopes_come_from_pytorchs_stream(count: int, dtype: str):
    found = []
    for library in (autokit, torch):
        library.manual_seed(3)
        x = library.tensor(np.linspace(-2, 2, count).astype(dtype), requires_grad=True)
        y = library.nn.functional.rrelu(x, training=True)
        y.sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy(), library.rand(2).numpy()))
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_relu_passes_gradients_by_the_sign_whatever_else_the_numbers_are(dtype: str):
    # Its gradient looks at the bits of small results: none may be -0, at any place in memory.
    special = [-0.0, 0.0, 1e-45, -1e-45, 5e-324, np.inf, -np.inf, np.nan, -np.nan, 3.0, -3.0]
    for count in (1, 2, 3, 7, 8, 16, 31, 64, 100):
        for start in range(4):
            values = np.resize(special, count + start).astype(dtype)[start:]
            arriving = np.resize([1.0, -2.0, np.inf, -np.inf, np.nan, -0.0, 1e-45], count).astype(dtype)
            found = []
            for library in (autokit, torch):
                x = library.from_numpy(values.copy() if start % 2 else values).requires_grad_()
                y = library.relu(x)
                y.backward(library.from_numpy(arriving))
                found.append(x.grad.numpy())
                if library is autokit:
                    assert not np.signbit(y.detach().numpy()[~np.isnan(values)]).any()
            np.testing.assert_array_equal(*found)
