"""Products of matrices and vectors, and the linear layer: values and gradients, and errors that teach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, functional, numbers, refused


def test_integers_are_multiplied_too():
    whole = np.arange(6).reshape(2, 3)
    compare(
        lambda T, a, b: (a @ b, T.kron(a, b), a.mv(b[:, 0]), T.addmm(a @ b, a, b, beta=2)),
        whole,
        whole.T.copy(),
    )


def test_half_precision_is_computed_in_float32():
    a = numbers(2, 8).astype(np.float16)
    compare(functional("linear"), a, numbers(3, 8, seed=1).astype(np.float16), second=False)


SUMS = {
    "addmm": ((2, 4), (2, 3), (3, 4)),
    "addmv": ((2,), (2, 3), (3,)),
    "baddbmm": ((2, 2, 3), (2, 2, 1), (2, 1, 3)),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_with_a_product(name: str):
    tensors = [numbers(*shape, seed=place) for place, shape in enumerate(SUMS[name])]
    compare(lambda T, s, a, b: getattr(T, name)(s, a, b), *tensors)
    compare(lambda T, s, a, b: getattr(s, name)(a, b, beta=2, alpha=-3), numbers(1), *tensors[1:])
    compare(lambda T, s, a, b: getattr(s * 1, f"{name}_")(a, b, beta=3, alpha=0.5), *tensors)
    compare(lambda T, s, a, b: getattr(T, name)(s.detach() / 0, a, b, beta=0), *tensors)


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 3), (3,), (2, 0, 3), (0, 3)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_linear(shape: tuple[int, ...], with_bias: bool):
    bias = [numbers(2, seed=5)] if with_bias else []
    compare(functional("linear"), numbers(*shape), numbers(2, 3, seed=4), *bias)


def test_the_fast_gradient_of_the_bias_is_the_plain_one():
    from autokit.ops.product import _sum_of_rows, linear

    for shape in ((5, 3), (2, 5, 3), (3,)):
        g = numbers(*shape)
        np.testing.assert_allclose(_sum_of_rows(g), g.reshape(-1, 3).sum(0), rtol=1e-12)
    x, w, b = (autokit.tensor(numbers(*shape), requires_grad=True) for shape in ((4, 3), (2, 3), (2,)))
    plain = autokit.autograd.grad(linear(x, w, b).sum(), (x, w, b), create_graph=True)
    for fast, wanted in zip(autokit.autograd.grad(linear(x, w, b).sum(), (x, w, b)), plain):
        np.testing.assert_allclose(fast.numpy(), wanted.detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize("with_bias", [True, False])
def test_bilinear(with_bias: bool):
    bias = [numbers(4, seed=6)] if with_bias else []
    tensors = [numbers(5, 2), numbers(5, 3, seed=1), numbers(4, 2, 3, seed=2), *bias]
    compare(functional("bilinear"), *tensors)


def o(T: Any, *shape: int) -> Any:
    return T.ones(*shape)


WRONG = [
    (lambda T: o(T, 2, 3) @ o(T, 2, 3), "cannot be multiplied (2x3 and 2x3)"),
    (lambda T: o(T, 2, 2, 3) @ o(T, 3, 3, 2), "must match"),
    (lambda T: o(T, 2, 2) @ T.tensor(2.0), "a number multiplies with *"),
    (lambda T: o(T, 2, 2) @ o(T, 2, 2).double(), "expected m1 and m2 to have the same dtype"),
    (lambda T: T.mm(o(T, 2), o(T, 2, 2)), "torch.matmul takes other shapes"),
    (lambda T: T.dot(o(T, 2), o(T, 3)), "cannot be multiplied (2 and 3)"),
    (lambda T: T.addmm(o(T, 3, 3), o(T, 2, 2), o(T, 2, 2)), "does not expand to [2, 2]"),
    (lambda T: T.nn.functional.linear(o(T, 2, 3), o(T, 4, 5)), "has 3 features, and the weight is for 5"),
    (
        lambda T: T.nn.functional.linear(o(T, 2, 3).double(), o(T, 4, 3)),
        "convert the input with .to(torch.float32)",
    ),
]

test_errors_say_what_does_not_fit = refused(WRONG)
