"""Activation functions beside PyTorch: values, gradients at kinks and far out, and in place."""

from __future__ import annotations

import numpy as np
import pytest

import autokit
from tests.oracle import compare, functional, numbers, refused

KINKS = np.array([[-4.0, -3.0, -1.0, -0.5, 0.0], [0.5, 1.0, 3.0, 6.0, 7.0]])
FAR = np.array([-200.0, -30.0, 0.0, 19.0, 21.0, 200.0])
ODD = np.array([-0.0, 5e-324, -5e-324, np.inf, -np.inf, np.nan])
STRAIGHT = "relu relu6 leaky_relu hardtanh hardsigmoid hardswish hardshrink softshrink"
SMOOTH = "elu selu celu gelu silu mish softplus softsign tanhshrink logsigmoid sigmoid tanh"


@pytest.mark.parametrize("name", [*STRAIGHT.split(), *SMOOTH.split()])
def test_values_and_gradients(name: str):
    compare(functional(name), numbers(2, 3), second=name in SMOOTH.split(), tolerance=1e-7)
    compare(functional(name), KINKS.astype(np.float32), second=False, tolerance=1e-5)
    compare(functional(name), KINKS, second=False, tolerance=1e-7)
    compare(functional(name), FAR, second=False, tolerance=1e-7)
    compare(functional(name), KINKS.astype(np.float16), second=False)
    compare(functional(name), np.float64(0.7), second=False, tolerance=1e-7)


@pytest.mark.parametrize(
    "name", ["relu", "relu6", "leaky_relu", "hardtanh", "elu", "selu", "silu", "sigmoid"]
)
def test_infinities_and_nan(name: str):
    compare(functional(name), ODD, second=False)


def test_a_slope_that_is_learned():
    a = numbers(2, 3, 2)
    compare(lambda torch, a, w: torch.prelu(a, w), a, np.array([0.25]))
    compare(lambda torch, a, w: torch.nn.functional.prelu(a, w), a, numbers(3, seed=1))
    compare(lambda torch, a, w: a.prelu(w), KINKS[0], np.array([-0.5]), second=False)


FLAGGED = "relu relu6 leaky_relu elu selu celu silu mish hardtanh hardswish hardsigmoid"


@pytest.mark.parametrize("name", FLAGGED.split())
def test_in_place(name: str):
    program = functional(name, inplace=True)
    compare(lambda torch, a: program(torch, a * 1), KINKS, second=False, tolerance=1e-7)
    x = autokit.tensor(KINKS)
    assert program(autokit, x) is x


def test_in_place_by_name_and_by_the_last_argument():
    compare(
        lambda torch, a: torch.relu_(a * 1) + torch.nn.functional.leaky_relu_(a * 1, 0.3), KINKS, second=False
    )
    compare(lambda torch, a: torch.nn.functional.relu(a * 1, True), KINKS, second=False)
    compare(lambda torch, a: torch.nn.functional.threshold(a * 1, 1.0, 2.0, True), KINKS, second=False)
    compare(lambda torch, a: (a * 1).sigmoid_() + (a * 1).relu_(), KINKS, second=False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (5, 3), (64, 33)])
def test_the_fast_gradient_of_relu_is_the_plain_one(dtype: str, shape: tuple[int, ...]):
    rule = autokit.relu.operation.derivatives["a"]
    out = np.maximum(np.resize([-1.0, 2.0, 0.0, -0.0, 3.0, np.nan], shape).astype(dtype), 0)
    for values in ([1.0, -2.0, 3.0], [1.0, np.inf, -np.inf, np.nan, 0.5], [1e38, 2.0]):
        g = np.resize(values, shape).astype(dtype)
        np.testing.assert_array_equal(rule.fast(g, out), rule.vjp(g, out))


def test_relu_of_a_transposed_tensor_keeps_its_mask_after_a_step_at_learning_rate_zero():
    """A number −0.0 that a step at the learning rate 0 left behind once changed relu's mask."""
    w = autokit.ones(2, requires_grad=True)
    w.sum().backward()
    with autokit.no_grad():
        w -= w.grad * 0.0
        w.add_(w.grad, alpha=-0.0)
    x = autokit.tensor([[-1.0, -2.0], [3.0, -4.0]], requires_grad=True)
    x.t().relu().sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [1.0, 0.0]]


WRONG = [
    (lambda torch, a: torch.nn.functional.gelu(a, approximate="a"), "none or tanh"),
    (lambda torch, a: torch.nn.functional.glu(a), "must be even"),
    (lambda torch, a: torch.prelu(a, torch.ones(3)), "Mismatch of parameter numbers"),
]

test_errors_say_what_to_do = refused(WRONG, numbers(2, 5).astype(np.float32))
