"""Cases of random tensors: after the same seed they are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.ops.case import Case, I, P, R, case
from tests.support import on_intel


def c(name: str, call: Callable[..., Any], *arrays: Any) -> Case:
    """A case that begins with a seed."""
    return case(name, lambda T, *tensors: (T.manual_seed(3), call(T, *tensors))[1], *arrays)


def w(name: str, call: Callable[..., Any], *arrays: Any) -> Case:
    """The same where Intel's library may draw in place of PyTorch: there the numbers do not count."""
    return c(name, (lambda T, *tensors: call(T, *tensors) * 0) if on_intel() else call, *arrays)


CASES = [
    *(
        c(name, lambda T, name=name, size=size: getattr(T, name)(*size))
        for name in ("rand", "randn")
        for size in ((2, 3), (5,), ((4, 5),), ((),), (0,))
    ),
    c("rand", lambda T: T.rand(3, dtype=T.float16)),
    c("rand", lambda T: T.rand(3, dtype=T.float64, generator=T.Generator().manual_seed(1))),
    c("randn", lambda T: T.randn(size=(3,), requires_grad=True)),
    c("rand", lambda T: T.rand(3, out=T.empty(3, dtype=T.float64))),
    c("randn", lambda T: T.randn(17, out=T.empty(17, dtype=T.float64))),
    c("rand_like", lambda T, a: T.rand_like(a), R(2, 3)),
    c("rand_like", lambda T, a: T.rand_like(a.t(), dtype=T.float64), R(2, 3)),
    c("randn_like", lambda T, a: T.randn_like(a), R(2, 3)),
    c("randn_like", lambda T, a: T.randn_like(a.t()), R(5, 8)),
    c("randint", lambda T: T.randint(10, (3, 3))),
    c("randint", lambda T: T.randint(10, size=(3, 3))),
    c("randint", lambda T: T.randint(-3, 3, (5,))),
    c("randint", lambda T: T.randint(low=0, high=5, size=(5,))),
    c("randint", lambda T: T.randint(high=5, size=(5,))),
    c("randint", lambda T: T.randint(2**33, [3], dtype=T.float64)),
    c("randint", lambda T: T.randint(-(2**63), 2**63 - 1, (3,))),
    c("randint", lambda T: T.randint(0, 2, (9,), dtype=T.bool)),
    c("randint_like", lambda T, a: T.randint_like(a, 5), R(2, 3)),
    c("randint_like", lambda T, a: T.randint_like(a.t(), 2, 500, dtype=T.int32), R(2, 3)),
    c("randperm", lambda T: T.randperm(10)),
    c("randperm", lambda T: T.randperm(10, dtype=T.float32, requires_grad=True)),
    c("normal", lambda T: T.normal(0, 1, (3,))),
    c("normal", lambda T: T.normal(2.0, 0.5, size=(20,))),
    c("normal", lambda T, a: T.normal(a), R(3)),
    c("normal", lambda T, a: T.normal(a, 0.5), R(2, 10)),
    c("normal", lambda T, a, b: T.normal(a, b), R(2, 1), P(3)),
    c("normal", lambda T, a, b: T.normal(a.t(), b), R(4, 5), P(5, 4)),
    c("normal", lambda T, b: T.normal(1.5, b), P(20)),
    c("normal", lambda T: T.normal(0.0, 1.0, (3,), out=T.empty(3))),
    c("bernoulli", lambda T, a: T.bernoulli(a / 2), P(30)),
    c("bernoulli", lambda T, a: (a / 2).t().bernoulli(), P(3, 10)),
    w("bernoulli", lambda T, a: T.bernoulli(a.detach(), 0.3), R(30)),
    w("bernoulli_", lambda T: T.zeros(3, 10).bernoulli_()),
    w("bernoulli_", lambda T, a: (a * 1).bernoulli_(0.2), R(3, 10)),
    c("bernoulli_", lambda T, p: T.zeros(3, 4).bernoulli_(p.detach() / 2), P(4)),
    c("bernoulli_", lambda T, p: T.zeros(3, 4).t().bernoulli_(p.detach() / 2), P(3)),
    c("poisson", lambda T, a: T.poisson(a), P(3, 10)),
    c("poisson", lambda T, a: T.poisson(a * 20), P(30)),
    c("binomial", lambda T, a: T.binomial(T.full((30,), 5.0).to(a.dtype), a.detach() / 2), P(30)),
    c(
        "binomial",
        lambda T, a: T.binomial((a.detach() * 40).long().to(a.dtype), T.tensor(0.7).to(a.dtype)),
        P(30),
    ),
    w("multinomial", lambda T, a: T.multinomial(a, 1), P(5)),
    w("multinomial", lambda T, a: a.multinomial(3), P(2, 5)),
    w("multinomial", lambda T, a: T.multinomial(a.t(), 2), P(5, 2)),
    c("multinomial", lambda T, a: T.multinomial(a, 9, replacement=True), P(2, 5)),
    w("multinomial", lambda T, a: T.multinomial(a, num_samples=1, replacement=True), P(3)),
    c("multinomial", lambda T: T.multinomial(T.zeros(0, 3), 2)),
    c("uniform_", lambda T: T.zeros(5).uniform_(-1, 1)),
    c("uniform_", lambda T: T.zeros(5).uniform_(to=3)),
    c("uniform_", lambda T: T.zeros(5, 4).t().uniform_(-1, 1)),
    c("uniform_", lambda T, a: (a * 2).uniform_(), R(5)),
    c("normal_", lambda T: T.zeros(20).normal_(1, 2)),
    c("normal_", lambda T: T.zeros(20, 3)[:, 1].normal_(1, 2)),
    c("normal_", lambda T, a: (a.detach() * 2).t().normal_(), R(5, 4)),
    c("random_", lambda T: T.zeros(5).random_()),
    c("random_", lambda T, a: a.random_(), I(5)),
    c("random_", lambda T: T.zeros(5).random_(3)),
    c("random_", lambda T, a: a.random_(-3, 8), I(5)),
    c("random_", lambda T: T.zeros(5, dtype=T.int8).random_(100, None)),
    c("random_", lambda T: T.zeros(5).random_(to=9)),
    w("exponential_", lambda T, a: (a * 1).exponential_(), R(5)),
    w("exponential_", lambda T: T.zeros(5, 2).t().exponential_(lambd=3)),
    c("geometric_", lambda T: T.zeros(20).geometric_(0.3)),
    c("geometric_", lambda T, a: a.geometric_(p=0.3), I(20)),
    c("cauchy_", lambda T, a: (a * 1).cauchy_(), R(5)),
    c("cauchy_", lambda T: T.zeros(5).cauchy_(median=1, sigma=0.3)),
    c("log_normal_", lambda T: T.zeros(5).log_normal_()),
    c("log_normal_", lambda T, a: (a * 1).log_normal_(0.5, 0.3), R(5)),
]
