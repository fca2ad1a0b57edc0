"""The distributions are PyTorch's: draws for the same seed, densities, moments, gradients, errors."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import numpy as np
import pytest

import autokit
import autokit.distributions
from autokit.distributions.implicit import beta_slope
from tests.distributions.makers import MAKERS, TRANSFORMS
from tests.support import require

require("torch")
import torch  # noqa: E402


def require_scipy() -> Any:
    require("scipy")
    return importlib.import_module("scipy.special")


@pytest.fixture(autouse=True)
def _values_are_looked_at():
    """Have PyTorch look at parameters and values again: its compiler, once loaded, switches that off."""
    torch.distributions.Distribution.set_default_validate_args(True)


QUESTIONS = (
    *("mean", "mode", "variance", "stddev", "entropy", "perplexity", "batch_shape", "event_shape"),
    *("covariance_matrix", "precision_matrix", "scale_tril"),
    *("has_enumerate_support", "enumerate_support"),
)


def both(name: str) -> tuple[Any, Any]:
    make = MAKERS[name]
    return make(autokit, autokit.distributions), make(torch, torch.distributions)


def answer(distribution: Any, question: str) -> Any:
    try:
        found = getattr(distribution, question)
        return found() if callable(found) else found
    except (AttributeError, NotImplementedError):
        return "not known"


def agree(ours: Any, theirs: Any) -> None:
    assert str(ours.dtype).replace("autokit", "torch") == str(theirs.dtype)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("shape", [(), (3,), (20, 2)])
def test_draws_are_pytorchs(name: str, shape: tuple[int, ...]):
    ours, theirs = both(name)
    autokit.manual_seed(5)
    torch.manual_seed(5)
    agree(ours.sample(shape), theirs.sample(shape))
    agree(autokit.rand(3), torch.rand(3))  # the same stream goes on


@pytest.mark.parametrize("name", MAKERS)
def test_densities_are_pytorchs(name: str):
    ours, theirs = both(name)
    values = theirs.sample((4,))
    mine = autokit.from_numpy(values.numpy())
    agree(ours.log_prob(mine), theirs.log_prob(values))
    try:
        expected = theirs.cdf(values)
    except (NotImplementedError, ValueError):
        return
    agree(ours.cdf(mine), expected)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", MAKERS)
def test_what_is_known_of_a_distribution(name: str, question: str):
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
    assert ours.batch_shape == theirs.batch_shape
    assert ours.event_shape == theirs.event_shape
    autokit.manual_seed(1)
    torch.manual_seed(1)
    values = theirs.sample((2,))
    agree(ours.sample((2,)), values)
    agree(ours.log_prob(autokit.from_numpy(values.numpy())), theirs.log_prob(values))


@pytest.mark.parametrize(
    "name", [name for name in MAKERS if "Mixture" not in name and "Transform" not in name]
)
def test_the_text(name: str):
    ours, theirs = both(name)
    assert repr(ours) == repr(theirs)


REPARAMETRIZED: dict[str, Any] = {
    "Normal": lambda D, a, b: D.Normal(a, b),
    "LogNormal": lambda D, a, b: D.LogNormal(a, b),
    "Uniform": lambda D, a, b: D.Uniform(a - 5, b),
    "Exponential": lambda D, a, b: D.Exponential(b),
    "Laplace": lambda D, a, b: D.Laplace(a, b),
    "Gumbel": lambda D, a, b: D.Gumbel(a, b),
    "Cauchy": lambda D, a, b: D.Cauchy(a, b),
    "Gamma": lambda D, a, b: D.Gamma(a.exp(), b),
    "StudentT": lambda D, a, b: D.StudentT(b * 3, a, b),
    "RelaxedOneHotCategorical": lambda D, a, b: D.RelaxedOneHotCategorical(b[0], logits=a),
    "straight through": lambda D, a, b: D.OneHotCategoricalStraightThrough(logits=a * b),
    "MultivariateNormal": lambda D, a, b: D.MultivariateNormal(a, scale_tril=b.diag()),
    "Beta": lambda D, a, b: D.Beta(a.exp(), b),
    "Dirichlet": lambda D, a, b: D.Dirichlet(a.exp() * b),
    "ContinuousBernoulli": lambda D, a, b: D.ContinuousBernoulli(logits=a * b),
    "GeneralizedPareto": lambda D, a, b: D.GeneralizedPareto(a, b, a - 0.3),
    "FisherSnedecor": lambda D, a, b: D.FisherSnedecor(a.exp(), b * 3),
    "Kumaraswamy": lambda D, a, b: D.Kumaraswamy(a.exp(), b),
    "Weibull": lambda D, a, b: D.Weibull(a.exp(), b),
    "Wishart": lambda D, a, b: D.Wishart(2.5 + a.exp(), scale_tril=b.diag()),
}

WITHIN_A_THOUSANDTH = ("Gamma", "StudentT", "Beta", "Dirichlet", "FisherSnedecor", "Wishart")
"""PyTorch's gradients of these draws are of approximations."""


@pytest.mark.parametrize("name", REPARAMETRIZED)
def test_gradients_flow_through_draws(name: str):
    gradients = []
    for T, D in ((autokit, autokit.distributions), (torch, torch.distributions)):
        T.manual_seed(3)
        a = T.tensor([0.5, -0.3, 1.2], requires_grad=True)
        b = T.tensor([0.7, 1.0, 2.0], requires_grad=True)
        drawn = REPARAMETRIZED[name](D, a, b).rsample(() if name == "Wishart" else (4,))
        (drawn * T.arange(1.0, 1 + drawn.shape[-1])).sum().backward()
        gradients.append([None if leaf.grad is None else leaf.grad.numpy() for leaf in (a, b)])
    for ours, theirs in zip(*gradients, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-3 if name in WITHIN_A_THOUSANDTH else 1e-5)


@pytest.mark.parametrize("name", MAKERS)
def test_gradients_of_log_prob(name: str):
    gradients = []
    theirs = both(name)[1]
    values = theirs.sample()
    for T, D in ((autokit, autokit.distributions), (torch, torch.distributions)):
        weight = T.tensor(1.0, requires_grad=True)

        class Weighted:
            """Every tensor that the maker asks for is multiplied by the weight."""

            ones, zeros = T.ones, T.zeros

            @staticmethod
            def tensor(data: Any, T: Any = T, weight: Any = weight) -> Any:
                return T.tensor(data) * weight

        distribution = MAKERS[name](Weighted, D)
        log_prob = distribution.log_prob(T.from_numpy(values.numpy().copy()))
        if log_prob.requires_grad:
            log_prob.sum().backward()
        gradients.append(np.nan if weight.grad is None else weight.grad.item())
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-4, abs=1e-5, nan_ok=True)


OTHERS: dict[str, Any] = {
    "Normal": lambda T, D: D.Normal(0.5, T.tensor([3.0, 1.0])),
    "LogNormal": lambda T, D: D.LogNormal(0.5, T.tensor([3.0, 1.0])),
    "Uniform": lambda T, D: D.Uniform(-1.0, T.tensor([3.0, 2.0])),
    "Bernoulli": lambda T, D: D.Bernoulli(T.tensor([0.5, 0.0])),
    "Categorical": lambda T, D: D.Categorical(T.tensor([0.3, 0.3, 0.4])),
    "OneHotCategorical": lambda T, D: D.OneHotCategorical(T.tensor([0.3, 0.3, 0.4])),
    "MultivariateNormal": lambda T, D: D.MultivariateNormal(T.ones(2), T.eye(2) * 3),
    "Exponential": lambda T, D: D.Exponential(T.tensor([2.5, 2.0])),
    "Laplace": lambda T, D: D.Laplace(T.tensor([1.0, -1.0]), 1.5),
    "Poisson": lambda T, D: D.Poisson(T.tensor([1.5, 20.0])),
    "Gamma": lambda T, D: D.Gamma(T.tensor([2.5, 1.5, 3.0]), T.tensor([1.0, 2.5, 2.0])),
    "Dirichlet": lambda T, D: D.Dirichlet(T.tensor([1.5, 1.0, 2.0])),
    "Beta": lambda T, D: D.Beta(T.tensor([1.5, 2.5]), 1.0),
    "Independent": lambda T, D: D.Independent(D.Normal(T.ones(2, 3), 2 * T.ones(2, 3)), 1),
}


@pytest.mark.parametrize("name", [name for name in MAKERS if name.split()[0] in OTHERS])
def test_the_divergence_of_two(name: str):
    ours, theirs = both(name)
    make = OTHERS[name.split()[0]]
    mine = make(autokit, autokit.distributions)
    yours = make(torch, torch.distributions)
    found = autokit.distributions.kl_divergence(ours, mine)
    agree(found, torch.distributions.kl_divergence(theirs, yours))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda T, D: D.Normal(T.zeros(2), T.tensor([1.0, -1.0])),
        lambda T, D: D.Normal(T.tensor(T.nan), 1.0),
        lambda T, D: D.Normal("a", 1.0),
        lambda T, D: D.Bernoulli(T.tensor([0.5, 1.5])),
        lambda T, D: D.Bernoulli(),
        lambda T, D: D.Bernoulli(0.5, logits=0.0),
        lambda T, D: D.Bernoulli(0.5).log_prob(T.tensor(2.0)),
        lambda T, D: D.Categorical(T.tensor([0.5, -0.5])),
        lambda T, D: D.Categorical(T.tensor(0.5)),
        lambda T, D: D.Categorical(logits=T.tensor([0.5, T.nan])),
        lambda T, D: D.Categorical(T.ones(3)).log_prob(T.tensor(3)),
        lambda T, D: D.Categorical(T.ones(4, 3)).log_prob(T.tensor([0, 1])),
        lambda T, D: D.Categorical(T.ones(3)).log_prob(1),
        lambda T, D: D.Categorical(T.ones(3)).rsample(),
        lambda T, D: D.Uniform(1.0, 0.0),
        lambda T, D: D.Uniform(0.0, 1.0).log_prob(T.tensor(2.0)),
        lambda T, D: D.MultivariateNormal(T.zeros(2), T.tensor([[1.0, 2.0], [2.0, 1.0]])),
        lambda T, D: D.MultivariateNormal(T.zeros(2)),
        lambda T, D: D.MultivariateNormal(T.zeros(2), T.eye(2)).log_prob(T.zeros(3)),
        lambda T, D: D.Exponential(-1.0),
        lambda T, D: D.kl_divergence(D.Normal(0.0, 1.0), D.Poisson(1.0)),
        lambda T, D: D.Independent(D.Normal(0.0, 1.0), 1),
        lambda T, D: D.Normal(0.0, 1.0).sample(3),
    ],
)
def test_errors(wrong: Any):
    with pytest.raises(Exception) as theirs:
        wrong(torch, torch.distributions)
    with pytest.raises(theirs.type) as ours:
        wrong(autokit, autokit.distributions)
    if theirs.type is ValueError:
        assert str(ours.value).split()[:4] == str(theirs.value).split()[:4]


def test_values_are_not_looked_at_where_that_is_not_wanted():
    normal = autokit.distributions.Normal(0.0, -1.0, validate_args=False)
    assert normal.scale.item() == -1


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_pytorchs(name: str):
    found = []
    for T, D in ((autokit, autokit.distributions), (torch, torch.distributions)):
        transform, x = TRANSFORMS[name](T, D)
        y = transform(x)
        parts = [y, transform.inv(y)]
        try:
            parts.append(transform.log_abs_det_jacobian(x, y))
            shown = [repr(transform)]
        except NotImplementedError:
            shown = ["no slope"]
        shown += [tuple(transform.forward_shape(x.shape)), tuple(transform.inverse_shape(y.shape))]
        shown += [transform.bijective, transform.domain.event_dim, transform.codomain.event_dim]
        found.append((parts, shown))
    (ours, shown), (theirs, as_shown) = found
    assert shown == as_shown and len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        agree(mine, other)


def test_a_transform_of_ones_own():
    found = []
    for T, D in ((autokit, autokit.distributions), (torch, torch.distributions)):

        class Stretch(D.Transform):  # type: ignore[name-defined, misc]
            bijective = True
            domain = codomain = D.constraints.real_vector

            def __init__(self, by: Any) -> None:
                super().__init__(cache_size=1)
                self.by, self.calls = by, 0

            def _call(self, x: Any) -> Any:
                self.calls += 1
                return x * self.by

            def _inverse(self, y: Any) -> Any:
                self.calls += 1
                return y / self.by

            def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
                return self.by.abs().log().expand(x.shape).sum(-1)

        stretch = Stretch(T.tensor([2.0, -0.5], requires_grad=True))
        flow = D.TransformedDistribution(D.Normal(T.zeros(2), T.ones(2)), [stretch])
        T.manual_seed(0)
        x = flow.rsample((3,))
        density = flow.log_prob(x)
        density.sum().backward()
        found.append((density, stretch.by.grad, stretch.calls, tuple(flow.event_shape)))
    (density, slope, *facts), (as_density, as_slope, *as_facts) = found
    agree(density, as_density)
    agree(slope, as_slope)
    assert facts == as_facts == [1, (2,)]


@pytest.mark.parametrize(
    "program",
    [
        "D.biject_to(3)",
        "D.biject_to(D.constraints.boolean)",
        "D.biject_to.register(3, abs)",
        "D.TransformedDistribution(D.Normal(0.0, 1.0), 3)",
        "D.TransformedDistribution(D.Normal(0.0, 1.0), [3])",
        "D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())",
        "D.ReshapeTransform((2,), (3,))",
        "D.ExpTransform(cache_size=2)",
        "D.CorrCholeskyTransform().forward_shape((4,))",
        "D.NegativeBinomial(3)",
        "D.Weibull(-1.0, 1.0)",
        "D.HalfCauchy(1.0).log_prob(T.tensor(-1.0))",
    ],
)
def test_wrong_use_is_refused_as_by_pytorch(program: str):
    kinds = []
    for T, D in ((autokit, autokit.distributions), (torch, torch.distributions)):
        with pytest.raises((ValueError, TypeError, NotImplementedError)) as caught:
            eval(program, {"T": T, "D": D})
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]


def test_the_cdf_of_a_mixture_is_pytorchs():
    ours, theirs = both("MixtureSameFamily")
    x = [-2.0, 0.0, 0.5, 3.0]
    agree(ours.cdf(autokit.tensor(x)), theirs.cdf(torch.tensor(x)))


@pytest.mark.parametrize(("a", "b"), [(0.05, 0.3), (0.7, 40.0), (3.0, 2.0), (300.0, 20.0), (2000.0, 0.1)])
def test_a_draw_moves_so_that_its_place_in_the_distribution_stays(a: float, b: float):
    special = require_scipy()
    x = np.random.RandomState(0).beta(a, b, 50).clip(1e-12, 1 - 1e-9)
    step = 1e-5 * a
    below, above = x < a / (a + b), x >= a / (a + b)
    slope = beta_slope(x, np.full(50, a), np.full(50, b)) * (1 - x)
    density = np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b))
    change = special.betainc(a + step, b, x) - special.betainc(a - step, b, x)
    change[above] = (special.betaincc(a - step, b, x) - special.betaincc(a + step, b, x))[above]
    assert below.any() and above.any()
    np.testing.assert_allclose(slope, -change / (2 * step) / density, rtol=1e-4)


@pytest.mark.parametrize("concentration", [1e-4, 1e-3, 0.01, 1e5])
def test_draws_at_the_ends_of_the_range_have_gradients(concentration: float):
    found = []
    for T in (autokit, torch):
        T.manual_seed(0)
        shape = T.full((200, 3), concentration, requires_grad=True)
        drawn = T.distributions.Dirichlet(shape).rsample()
        drawn.pow(2).sum().backward()
        found.append((drawn.detach().numpy(), shape.grad.numpy()))
    (drawn, gradient), (as_drawn, as_gradient) = found
    np.testing.assert_allclose(drawn, as_drawn, rtol=1e-5)
    np.testing.assert_allclose(gradient, as_gradient, rtol=2e-3, atol=1e-6 / concentration)


@pytest.mark.parametrize("name", MAKERS)
def test_samples_of_a_vmap_pickles_and_copies_have_the_same_densities(name: str):
    ours, _ = both(name)
    values = ours.sample((3,))
    expected = ours.log_prob(values).numpy()
    np.testing.assert_allclose(autokit.vmap(ours.log_prob)(values), expected, rtol=1e-5, atol=1e-6)
    for other in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        np.testing.assert_allclose(other.log_prob(values), expected, rtol=1e-6)


def test_distributions_of_samples_are_looked_at_too():
    def density(scale: Any) -> Any:
        return autokit.distributions.Normal(0.0, scale).log_prob(autokit.tensor(1.0))

    scales = autokit.tensor([0.5, 1.0, 2.0])
    each = autokit.stack([density(scale) for scale in scales])
    agree(autokit.vmap(density)(scales), each)
    slopes = autokit.vmap(autokit.func.grad(density))(scales)
    np.testing.assert_allclose(slopes, scales**-3 - 1 / scales, rtol=1e-5)
    with pytest.raises(ValueError, match="Expected parameter scale"):
        autokit.vmap(density)(autokit.tensor([1.0, -1.0]))


@pytest.mark.parametrize(
    "draw",
    [
        lambda D, one: D.Gamma(one, 1.0).sample(),
        lambda D, one: D.Poisson(one * 1e4).sample(),
        lambda D, one: D.Binomial(10**6, one / 2).sample(),
        lambda D, one: D.Dirichlet(one.expand(3)).sample(),
        lambda D, one: D.Beta(one, one).sample(),
        lambda D, one: D.Normal(one, 1.0).sample(),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_samples_of_a_vmap_draw_apart_where_that_is_asked(draw: Any, own: bool):
    """With parameters of their own, and with those that all share."""
    one = autokit.tensor(1.0)

    def program(x: Any) -> Any:
        return x * 0 + draw(autokit.distributions, x if own else one)

    x = autokit.ones(5)
    apart, alike = (autokit.vmap(program, randomness=how)(x) for how in ("different", "same"))
    assert len(apart.reshape(5, -1)[:, 0].unique()) == 5
    assert len(alike.reshape(5, -1)[:, 0].unique()) == 1
    with pytest.raises(RuntimeError, match="randomness error mode"):
        autokit.vmap(program)(x)


def test_gradients_of_samples_flow_through_gamma_draws():
    def slope(concentration: Any) -> Any:
        draw = autokit.func.grad(lambda a: autokit.distributions.Gamma(a, 1.0).rsample())
        return draw(concentration)

    autokit.manual_seed(4)
    each = [slope(autokit.tensor(a)) for a in (0.5, 1.0, 2.0)]
    autokit.manual_seed(4)
    found = autokit.vmap(slope, randomness="different")(autokit.tensor([0.5, 1.0, 2.0]))
    np.testing.assert_allclose(found, autokit.stack(each), rtol=1e-5)
