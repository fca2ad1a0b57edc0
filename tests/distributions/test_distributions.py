"""The distributions beside PyTorch's: draws for the same seed, densities, moments, gradients, divergences."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import autokit
import autokit.distributions
from tests.beside import assert_refused
from tests.oracle import pytorch

BOTH = ((autokit, autokit.distributions), (pytorch, pytorch.distributions))
MATRIX = [[2.0, 0.5], [0.5, 1.0]]

MAKERS: dict[str, Any] = {
    "Normal": lambda T, D: D.Normal(T.tensor([0.0, 1.0]), T.tensor([1.0, 2.0])),
    "Normal of numbers": lambda T, D: D.Normal(0, 1),
    "Laplace": lambda T, D: D.Laplace(T.tensor([0.0, 1.0]), 2.0),
    "Uniform": lambda T, D: D.Uniform(T.tensor([0.0, 1.0]), T.tensor([1.0, 4.0])),
    "Bernoulli": lambda T, D: D.Bernoulli(T.tensor([0.2, 0.9])),
    "Bernoulli by logits": lambda T, D: D.Bernoulli(logits=T.tensor([0.2, -0.9])),
    "Categorical": lambda T, D: D.Categorical(T.tensor([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]])),
    "Categorical by logits": lambda T, D: D.Categorical(logits=T.tensor([0.2, -0.3, 0.5])),
    "MultivariateNormal": lambda T, D: D.MultivariateNormal(T.tensor([0.0, 1.0]), T.tensor(MATRIX)),
    "MultivariateNormal by factor": lambda T, D: D.MultivariateNormal(
        T.zeros(2), scale_tril=T.tensor(MATRIX).tril()
    ),
    "Exponential": lambda T, D: D.Exponential(T.tensor([0.5, 3.0])),
    "Gamma": lambda T, D: D.Gamma(T.tensor([0.5, 1.0, 30.0]), T.tensor([1.0, 0.5, 2.0])),
    "Dirichlet": lambda T, D: D.Dirichlet(T.tensor([0.5, 1.0, 4.0])),
    "Beta": lambda T, D: D.Beta(T.tensor([0.5, 2.0]), 3.0),
    "Independent": lambda T, D: D.Independent(D.Normal(T.zeros(2, 3), T.ones(2, 3)), 1),
}
QUESTIONS = (
    *("mean", "variance", "stddev", "entropy", "batch_shape", "event_shape", "has_rsample"),
    *("covariance_matrix", "scale_tril"),
)


@pytest.fixture(autouse=True)
def _values_are_looked_at() -> None:
    """PyTorch's compiler, once another test has loaded it, switches its distributions' checks off."""
    pytorch.distributions.Distribution.set_default_validate_args(True)


def both(name: str) -> list[Any]:
    return [MAKERS[name](T, D) for T, D in BOTH]


def agree(ours: Any, theirs: Any) -> None:
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("shape", [(), (3,), (20, 2)])
def test_draws_are_pytorchs(name: str, shape: tuple[int, ...]):
    ours, theirs = both(name)
    for T, _ in BOTH:
        T.manual_seed(5)
    agree(ours.sample(shape), theirs.sample(shape))
    agree(autokit.rand(3), pytorch.rand(3))  # the same stream goes on


@pytest.mark.parametrize("name", MAKERS)
def test_densities_are_pytorchs(name: str):
    ours, theirs = both(name)
    values = theirs.sample((4,))
    mine = autokit.tensor(values.numpy())
    agree(ours.log_prob(mine), theirs.log_prob(values))
    if name.split()[0] in ("Normal", "Laplace", "Uniform", "Exponential"):
        agree(ours.cdf(mine), theirs.cdf(values))
    else:
        with pytest.raises(NotImplementedError, match="does not say its cdf"):
            ours.cdf(mine)


def answer(distribution: Any, question: str) -> Any:
    try:
        found = getattr(distribution, question)
        return found() if callable(found) else found
    except AttributeError:
        return "it has none"


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", MAKERS)
def test_what_a_distribution_answers(name: str, question: str):
    ours, theirs = (answer(each, question) for each in both(name))
    if isinstance(ours, autokit.Tensor):
        agree(ours, theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", MAKERS)
def test_a_larger_batch(name: str):
    ours, theirs = both(name)
    shape = (4, *theirs.batch_shape)
    ours, theirs = ours.expand(shape), theirs.expand(shape)
    assert (ours.batch_shape, ours.event_shape) == (theirs.batch_shape, theirs.event_shape)
    for T, _ in BOTH:
        T.manual_seed(1)
    values = theirs.sample((2,))
    agree(ours.sample((2,)), values)
    agree(ours.log_prob(autokit.tensor(values.numpy())), theirs.log_prob(values))


@pytest.mark.parametrize("name", MAKERS)
def test_the_text_and_copies(name: str):
    ours, theirs = both(name)
    if name.split()[0] not in ("MultivariateNormal", "Beta"):  # ours show what they hold
        assert repr(ours) == repr(theirs)
    for same in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert repr(same) == repr(ours)


REPARAMETRIZED: dict[str, Any] = {
    "Normal": lambda D, a, b: D.Normal(a, b),
    "Uniform": lambda D, a, b: D.Uniform(a - 5, b),
    "Exponential": lambda D, a, b: D.Exponential(b),
    "Laplace": lambda D, a, b: D.Laplace(a, b),
    "MultivariateNormal": lambda D, a, b: D.MultivariateNormal(a, scale_tril=b.diag()),
    "Gamma": lambda D, a, b: D.Gamma(a.exp(), b),
    "Beta": lambda D, a, b: D.Beta(a.exp(), b),
    "Dirichlet": lambda D, a, b: D.Dirichlet(a.exp() * b),
}


@pytest.mark.parametrize("name", REPARAMETRIZED)
def test_gradients_flow_through_draws(name: str):
    gradients = []
    for T, D in BOTH:
        T.manual_seed(3)
        a = T.tensor([0.5, -0.3, 1.2], requires_grad=True)
        b = T.tensor([0.7, 1.0, 2.0], requires_grad=True)
        drawn = REPARAMETRIZED[name](D, a, b).rsample((4,))
        (drawn * T.arange(1.0, 4.0)).sum().backward()
        gradients.append([None if leaf.grad is None else leaf.grad.numpy() for leaf in (a, b)])
    for ours, theirs in zip(*gradients, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:  # PyTorch's gradients of gamma draws are of approximations
            np.testing.assert_allclose(
                ours, theirs, rtol=1e-3 if name in ("Gamma", "Beta", "Dirichlet") else 1e-5
            )


@pytest.mark.parametrize("a", [0.05, 0.7, 3.0, 200.0])
def test_draws_move_as_their_places_in_the_distribution_say(a: float):
    # The mean of x is a, and of log x it is ψ(a): so the mean slopes of draws are 1 and ψ'(a).
    autokit.manual_seed(0)
    shape = autokit.full((4000,), a, dtype=autokit.float64, requires_grad=True)
    drawn = autokit.distributions.Gamma(shape, 1.0).rsample()
    (slopes,) = autokit.autograd.grad(drawn.sum(), shape, create_graph=True)
    assert (slopes > 0).all() and slopes.mean().item() == pytest.approx(1, rel=0.25)
    found = (slopes / drawn).mean().item()
    assert found == pytest.approx(autokit.polygamma(1, shape.detach())[0].item(), rel=0.1)


@pytest.mark.parametrize("name", MAKERS)
def test_gradients_of_log_prob(name: str):
    gradients = []
    values = both(name)[1].sample()
    for T, D in BOTH:
        weight = T.tensor(1.0, requires_grad=True)

        class Weighted:
            """Every tensor that the maker asks for is multiplied by the weight."""

            ones, zeros = T.ones, T.zeros

            @staticmethod
            def tensor(data: Any, T: Any = T, weight: Any = weight) -> Any:
                return T.tensor(data) * weight

        log_prob = MAKERS[name](Weighted, D).log_prob(T.tensor(values.numpy()))
        if log_prob.requires_grad:
            log_prob.sum().backward()
        gradients.append(np.nan if weight.grad is None else weight.grad.item())
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-4, abs=1e-5, nan_ok=True)


# ---------------------------------------------------------------- divergences

OTHERS: dict[str, Any] = {
    "Normal": lambda T, D: D.Normal(0.5, T.tensor([3.0, 1.0])),
    "Uniform": lambda T, D: D.Uniform(-1.0, T.tensor([3.0, 2.0])),
    "Bernoulli": lambda T, D: D.Bernoulli(T.tensor([0.5, 0.0])),
    "Categorical": lambda T, D: D.Categorical(T.tensor([0.3, 0.3, 0.4])),
    "MultivariateNormal": lambda T, D: D.MultivariateNormal(T.ones(2), T.eye(2) * 3),
    "Exponential": lambda T, D: D.Exponential(T.tensor([2.5, 2.0])),
    "Laplace": lambda T, D: D.Laplace(T.tensor([1.0, -1.0]), 1.5),
    "Gamma": lambda T, D: D.Gamma(T.tensor([2.5, 1.5, 3.0]), T.tensor([1.0, 2.5, 2.0])),
    "Dirichlet": lambda T, D: D.Dirichlet(T.tensor([1.5, 1.0, 2.0])),
    "Beta": lambda T, D: D.Beta(T.tensor([1.5, 2.5]), 1.0),
    "Independent": lambda T, D: D.Independent(D.Normal(T.ones(2, 3), 2 * T.ones(2, 3)), 1),
}


@pytest.mark.parametrize("name", MAKERS)
def test_divergences_of_one_kind(name: str):
    (p, their_p), other = both(name), OTHERS[name.split()[0]]
    q, their_q = (other(T, D) for T, D in BOTH)
    for one, two, their_one, their_two in ((p, q, their_p, their_q), (q, p, their_q, their_p)):
        ours = autokit.distributions.kl_divergence(one, two)
        agree(ours, pytorch.distributions.kl_divergence(their_one, their_two))


@pytest.mark.parametrize("name", ["Beta", "Exponential", "Laplace", "Uniform"])
def test_divergences_from_a_normal(name: str):
    found = [D.kl_divergence(MAKERS[name](T, D), OTHERS["Normal"](T, D)) for T, D in BOTH]
    agree(*found)


# ---------------------------------------------------------------- wrong use

WRONG: dict[str, tuple[Any, str]] = {
    "scale": (lambda T, D: D.Normal(0.0, T.tensor([1.0, -1.0])), r"scale of shape \[2\] must be above 0.*-1"),
    "chance": (lambda T, D: D.Bernoulli(1.5), "probs .* must be from 0 to 1"),
    "bounds": (lambda T, D: D.Uniform(2.0, 1.0), "high - low"),
    "matrix": (lambda T, D: D.MultivariateNormal(T.zeros(2), -T.eye(2)), "positive definite"),
    "factor": (lambda T, D: D.MultivariateNormal(T.zeros(2), scale_tril=T.ones(2, 2)), "lower triangular"),
    "neither": (lambda T, D: D.MultivariateNormal(T.zeros(2)), "Exactly one"),
    "value": (lambda T, D: D.Bernoulli(0.5).log_prob(T.tensor(0.5)), "must be 0 or 1, but holds 0.5"),
    "category": (lambda T, D: D.Categorical(T.ones(3)).log_prob(T.tensor(3)), "from 0 to 2"),
    "shape": (lambda T, D: D.Normal(T.zeros(3), 1.0).log_prob(T.zeros(2)), "does not broadcast"),
    "rsample": (lambda T, D: D.Bernoulli(0.5).rsample(), "has no rsample"),
    "pair": (lambda T, D: D.kl_divergence(D.Normal(0.0, 1.0), D.Categorical(T.ones(2))), "estimate it"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_raises_pytorchs_type_and_says_what_is_wrong(name: str):
    wrong, words = WRONG[name]
    assert_refused(lambda T: wrong(T, T.distributions), words)


def test_checks_may_be_left_out():
    assert autokit.distributions.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    with pytest.raises(TypeError, match=r"write \(3,\)"):
        autokit.distributions.Normal(0.0, 1.0).sample(3)


class Square(autokit.distributions.Distribution):
    """A learner's own."""

    arg_constraints = {"half": autokit.distributions.constraints.positive}  # noqa: RUF012

    def __init__(self, half: Any) -> None:
        self.half = half
        super().__init__(half.shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.half * (2 * autokit.rand(self._extended_shape(sample_shape)) - 1)

    def log_prob(self, value: Any) -> Any:
        return -(2 * self.half).log().expand(value.shape)


def test_a_distribution_of_ones_own():
    square = Square(autokit.tensor([1.0, 2.0]))
    assert square.expand((3, 2)).sample((4,)).shape == (4, 3, 2)
    whole = autokit.distributions.Independent(square, 1)
    assert whole.log_prob(autokit.zeros(2)).item() == pytest.approx(-np.log(8))
    with pytest.raises(NotImplementedError, match="Square does not say its variance"):
        _ = square.variance
    with pytest.raises(ValueError, match="Square: half of shape"):
        Square(autokit.tensor([-1.0]))
