"""Random tensors: what PyTorch refuses is refused, and what draws leave behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

REFUSED: dict[str, Callable[[Any], Any]] = {
    "multinomial expects places": lambda T: T.multinomial(T.ones(3), 4),
    "cannot sample n_sample <= 0 samples": lambda T: T.multinomial(T.ones(3), 0),
    "prob_dist must be 1 or 2 dim": lambda T: T.multinomial(T.ones(2, 2, 2), 1),
    "probability tensor contains either": lambda T: T.multinomial(T.tensor([1.0, -1.0]), 1),
    "probability tensor contains": lambda T: T.multinomial(T.tensor([1.0, T.nan]), 2, True),
    "invalid multinomial distribution": lambda T: T.multinomial(T.zeros(3), 2, replacement=True),
    "multinomial only supports floating-point dtypes": lambda T: T.multinomial(T.tensor([1, 2]), 1),
    "must be int, not float": lambda T: T.multinomial(T.ones(3), 1.5),
    "invalid Poisson rate": lambda T: T.poisson(T.tensor([-1.0])),
    "not implemented for": lambda T: T.poisson(T.tensor([1])),
    "not implemented": lambda T: T.bernoulli(T.tensor([1])),
    "Expected p_in >= 0 && p_in <= 1": lambda T: T.bernoulli(T.tensor([1.5])),
    "Expected p_in": lambda T: T.bernoulli(T.tensor([T.nan])),
    "bernoulli_ expects p to be in [0, 1], but got p=1.5": lambda T: T.bernoulli(T.ones(2), 1.5),
    "bernoulli_ expects p": lambda T: T.ones(2).bernoulli_(-1),
    "normal expects std >= 0.0, but found std -1": lambda T: T.normal(0.0, -1.0, (2,)),
    "normal expects std": lambda T: T.ones(2).normal_(0, -1),
    "normal expects all elements of std": lambda T: T.normal(T.zeros(2), T.tensor([1.0, -1.0])),
    "normal() received an invalid combination": lambda T: T.normal(0.0, 1.0),
    "normal() received an invalid": lambda T: T.normal(T.ones(2), T.ones(2), size=(2,)),
    '"normal_kernel_cpu" not implemented': lambda T: T.normal(T.zeros(2, dtype=T.int64)),
    "The size of tensor a (2) must match": lambda T: T.normal(T.ones(2), T.ones(3)),
    '"normal_kernel_cpu"': lambda T: T.randn(2, dtype=T.int64),
    '"check_uniform_bounds" not implemented': lambda T: T.rand(2, dtype=T.int64),
    '"check_uniform_bounds"': lambda T: T.zeros(2, dtype=T.int32).uniform_(),
    "uniform_ expects to return a [from, to) range": lambda T: T.zeros(2).uniform_(2, 1),
    "which result in to-from to exceed the limit": lambda T: T.zeros(2).uniform_(-3e38, 3e38),
    "to is out of bounds": lambda T: T.zeros(2).uniform_(0, T.inf),
    "from is out of bounds": lambda T: T.zeros(2).uniform_(T.nan, 1),
    "random_ expects 'from' to be less than 'to'": lambda T: T.zeros(2).random_(5, 5),
    "random_ expects 'from'": lambda T: T.randint(0, (2,)),
    "to - 1 is out of bounds": lambda T: T.zeros(2, dtype=T.int8).random_(0, 300),
    "to - 1 is out": lambda T: T.randint(0, 3, (2,), dtype=T.bool),
    "from is out": lambda T: T.randint(-1, 3, (2,), dtype=T.uint8),
    "int": lambda T: T.randint(0.5, (2,)),
    "size": lambda T: T.randint(0, 5),
    "randint() received an invalid combination": lambda T: T.randint(0, 5, 3),
    "can require gradients": lambda T: T.randint(0, 5, (2,), requires_grad=True),
    "negative dimension -1": lambda T: T.randperm(-1),
    "must be int, not": lambda T: T.randperm(2.5),
    "n cannot be greater than 2049": lambda T: T.randperm(3000, dtype=T.float16),
    "exponential_ expects lambda > 0.0, but found lambda=0": lambda T: T.zeros(2).exponential_(0),
    "Exponential distribution is a continuous": lambda T: T.zeros(2, dtype=T.int64).exponential_(),
    "geometric_ expects p to be in (0, 1), but got p=1": lambda T: T.zeros(2).geometric_(1),
    "cauchy_ expects sigma > 0.0, but found sigma=0": lambda T: T.zeros(2).cauchy_(0, 0),
    "Cauchy distribution is a continuous": lambda T: T.zeros(2, dtype=T.int64).cauchy_(),
    "log_normal_ expects std > 0.0, but found std=0": lambda T: T.zeros(2).log_normal_(0, 0),
    '"log_normal_cpu" not implemented': lambda T: T.zeros(2, dtype=T.int64).log_normal_(),
    "more than one element of the written-to tensor": lambda T: T.zeros(1).expand(3).uniform_(),
    "a leaf Variable that requires grad": lambda T: T.zeros(3, requires_grad=True).normal_(),
    "rand()": lambda T: T.rand(2, generator=5),
    "negative dimension -2": lambda T: T.rand(-2),
    "must be": lambda T: T.rand(2.5),
    "dtype": lambda T: T.binomial(T.ones(2), T.ones(2).double()),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_pytorch_refuses_is_refused_alike(words: str):
    with pytest.raises((RuntimeError, TypeError, ValueError)) as theirs:
        REFUSED[words](torch)
    with pytest.raises(theirs.type) as ours:
        REFUSED[words](autokit)
    assert type(ours.value) is type(theirs.value)
    if words in str(theirs.value):
        assert words in str(ours.value)


def test_a_refused_draw_leaves_the_stream_where_it_was():
    autokit.manual_seed(0)
    before = autokit.get_rng_state().tolist()
    for call in (
        lambda: autokit.zeros(3, requires_grad=True).normal_(),
        lambda: autokit.zeros(2).uniform_(2, 1),
    ):
        with pytest.raises(RuntimeError):
            call()
    assert autokit.get_rng_state().tolist() == before


def test_by_what_a_number_was_drawn_with_its_derivative_is_zero():
    mean = autokit.ones(3, requires_grad=True)
    std = autokit.ones(2, 1, requires_grad=True)
    drawn = autokit.normal(mean, std)
    assert drawn.grad_fn is not None and drawn.grad_fn.name() == "NormalBackward3"
    drawn.sum().backward()
    assert mean.grad is not None and mean.grad.tolist() == [0, 0, 0]
    assert std.grad is not None and std.grad.tolist() == [[0], [0]]


LITERALS: list[list[float]] = [
    [34.08704376220703, 0.6873904466629028, 3.74627685546875],
    [-0.5051500797271729, 0.2612515985965729, -0.7845945954322815],
    [0.0, 4.0, 38.0],
    [4, 2, 3, 1, 0],
    [3, 2, 3, 3, 4],
    [0.0, 2.0, 0.0, 0.0, 2.0, 2.0],
    [-0.3032256066799164, -0.10938966274261475, 2.1294922828674316],
    [2067801104987065832, 2157051548305256721, 8185707181808595332],
]


def test_literal_numbers():
    """Numbers that PyTorch 2.13 printed on a processor that is not Intel's; they hold without it."""
    autokit.manual_seed(0)
    assert autokit.zeros(3).exponential_().tolist() == [
        3.508326292037964,
        1.2303847074508667,
        0.615044116973877,
    ]
    assert autokit.zeros(3).log_normal_().tolist() == LITERALS[0]
    assert autokit.zeros(3).cauchy_().tolist() == LITERALS[1]
    assert autokit.poisson(autokit.tensor([0.5, 4.0, 40.0])).tolist() == LITERALS[2]
    assert autokit.multinomial(autokit.arange(1.0, 6.0), 5).tolist() == LITERALS[3]
    assert autokit.multinomial(autokit.arange(1.0, 6.0), 5, replacement=True).tolist() == LITERALS[4]
    assert autokit.nn.functional.dropout(autokit.ones(6), 0.5).tolist() == LITERALS[5]
    assert autokit.normal(autokit.arange(3.0), 0.5).tolist() == LITERALS[6]
    assert autokit.zeros(3, dtype=autokit.int64).random_().tolist() == LITERALS[7]


def test_multinomial_follows_its_weights():
    autokit.manual_seed(0)
    drawn = autokit.multinomial(autokit.tensor([1.0, 0.0, 3.0]), 20_000, replacement=True).numpy()
    np.testing.assert_allclose(np.bincount(drawn, minlength=3) / 20_000, [0.25, 0, 0.75], atol=0.01)
