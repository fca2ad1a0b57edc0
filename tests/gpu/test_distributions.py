"""Distributions of tensors on a GPU: what is drawn and asked of them is there too, and the CPU's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autokit
from autokit import distributions
from tests.distributions.makers import MAKERS, TRANSFORMS

pytestmark = pytest.mark.usefixtures("gpu")

NAMES = [name for name in MAKERS if name != "Normal of numbers"]


def there(make: Callable[..., autokit.Tensor]) -> Callable[..., autokit.Tensor]:
    return lambda *args: make(*args).to("cuda")


NUMBERS = ("tensor", "zeros", "ones", "arange")
GPU = SimpleNamespace(**{name: there(getattr(autokit, name)) for name in NUMBERS})


def both(name: str) -> tuple[Any, Any]:
    return tuple(MAKERS[name](T, distributions) for T in (GPU, autokit))  # type: ignore[return-value]


def agree(ours: autokit.Tensor, theirs: autokit.Tensor) -> None:
    assert ours.is_cuda and not theirs.is_cuda and ours.dtype is theirs.dtype
    np.testing.assert_allclose(ours.detach().cpu(), theirs.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("draw", ["sample", "rsample"])
@pytest.mark.parametrize("name", NAMES)
def test_draws(name: str, draw: str):
    ours, theirs = both(name)
    if draw == "rsample" and not theirs.has_rsample:
        pytest.skip("has no rsample")
    drawn, expected = (getattr(each, draw)((3,)) for each in (ours, theirs))
    assert drawn.is_cuda and drawn.shape == expected.shape and drawn.dtype is expected.dtype
    assert theirs.support.check(drawn.cpu()).all()


QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda each, values: each.mean,
    "mode": lambda each, values: each.mode,
    "variance": lambda each, values: each.variance,
    "stddev": lambda each, values: each.stddev,
    "entropy": lambda each, values: each.entropy(),
    "log_prob": lambda each, values: each.log_prob(values),
    "cdf": lambda each, values: each.cdf(values),
    "enumerate_support": lambda each, values: each.enumerate_support(),
    "divergence": lambda each, values: distributions.kl_divergence(each, each),
    "expand": lambda each, values: each.expand((4, *each.batch_shape)).log_prob(values),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_answers(name: str, question: str):
    ours, theirs = both(name)
    values = theirs.sample((4,))
    ask = QUESTIONS[question]
    try:
        expected = ask(theirs, values)
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            ask(ours, values.to("cuda"))
    else:
        agree(ask(ours, values.to("cuda")), expected)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str):
    found = []
    for T in (GPU, autokit):
        transform, x = TRANSFORMS[name](T, distributions)
        y = transform(x)
        parts = [y, transform.inv(y)]
        if transform.bijective:
            parts.append(transform.log_abs_det_jacobian(x, y))
        found.append(parts)
    for ours, theirs in zip(*found, strict=True):
        agree(ours, theirs)
