"""Divergences: every pair that PyTorch knows, and its numbers."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import autokit
import autokit.distributions
from tests.support import require

require("torch")
import torch  # noqa: E402
from torch.distributions.kl import _KL_REGISTRY  # noqa: E402

MATRIX = [[2.0, 0.5], [0.5, 1.0]]

MAKERS: dict[str, list[Any]] = {
    "Bernoulli": [lambda T, D: D.Bernoulli(T.tensor([0.2, 0.9])), lambda T, D: D.Bernoulli(0.4)],
    "Beta": [lambda T, D: D.Beta(T.tensor([0.5, 2.0]), 3.0), lambda T, D: D.Beta(1.5, 0.7)],
    "Binomial": [
        lambda T, D: D.Binomial(5, T.tensor([0.2, 0.9])),
        lambda T, D: D.Binomial(T.tensor([5, 4]), T.tensor([0.3, 0.9])),
    ],
    "Cauchy": [lambda T, D: D.Cauchy(T.tensor([0.5, 2.0]), 3.0), lambda T, D: D.Cauchy(1.5, 0.7)],
    "ContinuousBernoulli": [
        lambda T, D: D.ContinuousBernoulli(T.tensor([0.2, 0.5])),
        lambda T, D: D.ContinuousBernoulli(logits=T.tensor([3.0, -1.0])),
    ],
    "Exponential": [lambda T, D: D.Exponential(T.tensor([0.5, 2.0])), lambda T, D: D.Exponential(1.5)],
    "Gamma": [lambda T, D: D.Gamma(T.tensor([0.5, 2.0]), 3.0), lambda T, D: D.Gamma(1.5, 0.7)],
    "Geometric": [lambda T, D: D.Geometric(T.tensor([0.5, 0.2])), lambda T, D: D.Geometric(0.7)],
    "Gumbel": [lambda T, D: D.Gumbel(T.tensor([0.5, 2.0]), 3.0), lambda T, D: D.Gumbel(1.5, 0.7)],
    "HalfNormal": [lambda T, D: D.HalfNormal(T.tensor([0.5, 2.0])), lambda T, D: D.HalfNormal(1.5)],
    "Laplace": [lambda T, D: D.Laplace(T.tensor([0.5, 2.0]), 3.0), lambda T, D: D.Laplace(1.5, 0.7)],
    "LowRankMultivariateNormal": [
        lambda T, D: D.LowRankMultivariateNormal(T.zeros(2), T.tensor(MATRIX)[:, :1], T.tensor([1.0, 2.0])),
        lambda T, D: D.LowRankMultivariateNormal(T.ones(2), T.tensor(MATRIX), T.tensor([3.0, 0.5])),
    ],
    "MultivariateNormal": [
        lambda T, D: D.MultivariateNormal(T.zeros(2), T.tensor(MATRIX)),
        lambda T, D: D.MultivariateNormal(T.ones(2), T.eye(2)),
    ],
    "Normal": [lambda T, D: D.Normal(T.tensor([0.5, 2.0]), 3.0), lambda T, D: D.Normal(1.5, 0.7)],
    "Pareto": [
        lambda T, D: D.Pareto(T.tensor([0.5, 2.0]), T.tensor([3.0, 1.5])),
        lambda T, D: D.Pareto(0.7, T.tensor([0.7, 2.5])),
    ],
    "Poisson": [lambda T, D: D.Poisson(T.tensor([0.5, 2.0])), lambda T, D: D.Poisson(1.5)],
    "Uniform": [
        lambda T, D: D.Uniform(T.tensor([0.2, -0.5]), T.tensor([0.9, 1.5])),
        lambda T, D: D.Uniform(T.tensor([-1.0, 0.1]), T.tensor([1.5, 0.8])),
    ],
    "Wishart": [
        lambda T, D: D.Wishart(T.tensor(4.0), T.tensor(MATRIX)),
        lambda T, D: D.Wishart(5.0, scale_tril=T.tensor(MATRIX).tril()),
    ],
    "Weibull": [
        lambda T, D: D.Weibull(T.tensor([0.5, 2.0]), 3.0),
        lambda T, D: D.Weibull(T.tensor([0.5, 2.0]), 3.0),
    ],
}
PAIRS = sorted({(p.__name__, q.__name__) for p, q in _KL_REGISTRY})
OTHER_FILE = "Categorical Dirichlet Independent OneHotCategorical"
"""Looked at in ``test_distributions``."""


def test_no_pair_is_missing():
    ours = {(p.__name__, q.__name__) for p, q in autokit.distributions.kl._RULES}
    assert set(PAIRS) <= ours
    without = {p for p, _ in PAIRS} - set(MAKERS) - set(OTHER_FILE.split())
    assert without == {"ExponentialFamily", "TransformedDistribution"}  # Wishart and Weibull are such


@pytest.mark.parametrize(
    "pair",
    [pair for pair in PAIRS if set(pair) <= set(MAKERS)] + [("Wishart", "Wishart"), ("Weibull", "Weibull")],
    ids="-".join,
)
def test_the_divergence_is_pytorchs(pair: tuple[str, str]):
    for make_p, make_q in itertools.product(*(MAKERS[name] for name in pair)):
        found = []
        for T, D in ((autokit, autokit.distributions), (torch, torch.distributions)):
            try:
                p, q = make_p(T, D), make_q(T, D)
                found.append(D.kl_divergence(p, q).detach().numpy())
            except NotImplementedError:
                found.append(np.array(np.nan))
        # PyTorch calls these infinite where both supports are the same, and where p's is the larger.
        if pair in (("ContinuousBernoulli", "Uniform"), ("Uniform", "ContinuousBernoulli")):
            found = [np.where(np.isinf(found[0]), np.inf, found[1]), found[1]]
        np.testing.assert_allclose(*found, rtol=2e-5, atol=1e-6)


def test_a_divergence_is_the_mean_difference_of_the_logarithms():
    D = autokit.distributions
    autokit.manual_seed(0)
    for p, q in (
        (D.ContinuousBernoulli(0.2), D.Uniform(0.0, 1.0)),
        (D.Uniform(0.0, 1.0), D.ContinuousBernoulli(0.2)),
        (D.Gamma(2.0, 1.5), D.Gumbel(0.5, 1.5)),
        (D.Beta(2.0, 1.5), D.Gamma(2.0, 1.5)),
    ):
        x = p.sample((20_000,))
        x = x.clamp(max=1 - 1e-6) if isinstance(q, D.Uniform) else x
        estimate = (p.log_prob(x) - q.log_prob(x)).mean()
        assert D.kl_divergence(p, q).item() == pytest.approx(estimate.item(), abs=0.03)


def test_a_family_of_ones_own_has_an_entropy_and_a_divergence():
    found = []
    for T, D in ((autokit, autokit.distributions), (torch, torch.distributions)):

        class Waiting(D.ExponentialFamily):  # type: ignore[name-defined, misc]
            arg_constraints = {}  # noqa: RUF012
            _mean_carrier_measure = 0

            def __init__(self, rate: Any) -> None:
                self.rate = rate
                super().__init__(rate.shape)

            @property
            def _natural_params(self) -> Any:
                return (-self.rate,)

            def _log_normalizer(self, x: Any) -> Any:
                return -(-x).log()

        p, q = Waiting(T.tensor([0.5, 2.0])), Waiting(T.tensor([3.0, 2.0]))
        found.append((p.entropy().detach().numpy(), D.kl_divergence(p, q).detach().numpy()))
        expected = D.Exponential(T.tensor([0.5, 2.0]))
        np.testing.assert_allclose(found[-1][0], expected.entropy().numpy(), rtol=1e-6)
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


def test_no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("Wishart", "Beta"):
            MAKERS[name][0](autokit, autokit.distributions).sample()
