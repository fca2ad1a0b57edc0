"""gradcheck and gradgradcheck pass what is right, find what is wrong, and agree with PyTorch on both."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.autograd.gradcheck import GradcheckError
from tests.beside import assert_same
from tests.func.values import values
from tests.libraries import function

gradcheck = autokit.autograd.gradcheck


def squared(n: Any, backward: Callable[..., Any]) -> Callable[..., Any]:
    """A square whose gradient ``backward(g, x)`` computes."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    return function(n.T, forward, lambda ctx, g: backward(g, ctx.saved_tensors[0])).apply


def check(n: Any, function: Any, *inputs: Any, **settings: Any) -> Any:
    return n.T.autograd.gradcheck(function, inputs, **settings)


def twice(n: Any, function: Any, *inputs: Any, **settings: Any) -> Any:
    return n.T.autograd.gradgradcheck(function, inputs, **settings)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "right": lambda n: [
        check(n, lambda x: (x * n.y).exp(), n.w),
        check(n, lambda a, b: a @ b, n.A.requires_grad_(), n.w),
        n.T.autograd.gradcheck(n.T.sin, [n.w]),
        check(n, lambda a, b: (a * b, a.sum(), b.detach()), n.w, n.y.requires_grad_()),
        check(n, lambda a, k, c: a * k * c, n.w, n.x.detach(), 3),
        check(n, squared(n, lambda g, x: 2 * g * x), n.w),
    ],
    "right twice": lambda n: [
        twice(n, lambda x: x**3, n.w),
        twice(n, lambda a, b: (a @ b).tanh(), n.A.requires_grad_(), n.w),
        twice(n, squared(n, lambda g, x: 2 * g * x), n.w),
        n.T.autograd.gradgradcheck(n.T.exp, n.w, n.x),
    ],
    "a wrong factor": lambda n: check(n, squared(n, lambda g, x: g * x), n.w),
    "said, not raised": lambda n: check(n, squared(n, lambda g, x: g * x), n.w, raise_exception=False),
    "one wrong input": lambda n: check(
        n, lambda a, b: a * squared(n, lambda g, x: g)(b), n.w, n.x.requires_grad_()
    ),
    "not multiplied by g": lambda n: check(n, lambda x: squared(n, lambda g, x: 2 * x)(x).sum(), n.w),
    "a wrong second derivative": lambda n: twice(n, squared(n, lambda g, x: 2 * g * x.detach()), n.w),
    "a kink": lambda n: check(n, n.T.relu, n.t(0.0, 1.0).requires_grad_()),
    "no gradient wanted": lambda n: check(n, n.T.sin, n.x),
    "nothing": lambda n: [
        check(n, n.T.sin, n.t().requires_grad_()),
        check(n, lambda x: x[:0], n.w),
    ],
    "the inputs stay": lambda n: [check(n, lambda x: x * 2, n.w), n.w, n.w.grad, n.w._version],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_says_what_pytorch_says(name: str):
    assert_same(lambda T: PROGRAMS[name](values(T)))


def said(function: Any, x: Any) -> str:
    with pytest.raises(GradcheckError) as caught:
        gradcheck(function, x)
    return str(caught.value)


def test_an_error_shows_where_by_how_much_and_what_the_mistake_may_be():
    n = values(autokit)
    message = said(squared(n, lambda g, x: g * x), n.w)
    assert "with respect to input 0,\nnumerical:[[" in message
    assert "derivative of output 0 at [2] by input 0" in message and "at [2] is 6 by differences" in message
    assert "backward gives 3" in message and "0.5 times the right value everywhere" in message
    assert "-1 times the right value" in said(squared(n, lambda g, x: -2 * g * x), n.w)
    zero = autokit.zeros(1, dtype=autokit.float64, requires_grad=True)
    assert "kink or a jump: the slope is 0 before it, and 1 after it" in said(autokit.relu, zero)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        single = autokit.tensor([3.0, 5.0], requires_grad=True)
        assert "float32: differences of 1e-06 are lost" in said(autokit.exp, single)


@settings(max_examples=40)
@given(st.data())
def test_a_planted_wrong_entry_is_found(data: Any):
    rows, columns = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    i, j = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    by = data.draw(st.floats(0.01, 10)) * data.draw(st.sampled_from([-1, 1]))
    matrix = autokit.tensor(np.random.RandomState(rows).uniform(-1, 1, (rows, columns)))
    planted = matrix.clone()
    planted[i, j] += by

    product = function(autokit, lambda ctx, x: matrix @ x, lambda ctx, g: g @ planted)
    x = autokit.ones(columns, dtype=autokit.float64, requires_grad=True)
    with pytest.raises(GradcheckError, match=rf"at \[{i}\] by input 0, .* at \[{j}\]"):
        gradcheck(product.apply, x)
    assert gradcheck(lambda x: matrix @ x, x)
