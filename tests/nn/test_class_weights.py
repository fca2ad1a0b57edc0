"""Losses of classes with weights of 0, infinity and NaN, and of improbable targets, beside PyTorch's.

A target that is ignored takes no part, whatever its likelihood is.  One whose class weighs 0 does:
0 · ∞ is NaN.
"""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.support import require

if importlib.util.find_spec("torch"):
    import torch

WEIGHTS = st.sampled_from([0.0, 0.0, 1.0, 0.5, -1.0, math.inf, math.nan])
SCORES = st.one_of(st.floats(-3, 0, width=32), st.sampled_from([0.0, 1.0, -math.inf, math.inf, math.nan]))
SEEDS = st.sampled_from([1.0, 0.0, -2.0, math.inf])


@st.composite
def losses(draw: Any) -> dict[str, Any]:
    """A call of a loss, and the gradient that arrives at it."""
    classes = draw(st.integers(1, 3))
    before, after = draw(st.sampled_from([((), ()), ((2,), ()), ((3,), ()), ((2,), (2,)), ((2,), (2, 1))]))
    of_samples = (*before, *after)
    ignored = draw(st.sampled_from([-100, 0, 1]))

    def several(each: Any, shape: tuple[int, ...]) -> np.ndarray:
        count = math.prod(shape)
        return np.array(draw(st.lists(each, min_size=count, max_size=count))).reshape(shape)

    return {
        "name": draw(st.sampled_from(["nll_loss", "cross_entropy"])),
        "scores": several(SCORES, (*before, classes, *after)),
        "target": several(st.sampled_from([ignored, *range(classes)]), of_samples),
        "weight": several(WEIGHTS, (classes,)) if draw(st.booleans()) else None,
        "ignored": ignored,
        "reduction": draw(st.sampled_from(["mean", "sum", "none"])),
        "arriving": several(SEEDS, of_samples),
    }


def computed(library: Any, case: dict[str, Any]) -> list[Any]:
    """The loss, and its gradient, as numbers alone and with a graph."""
    scores = library.tensor(case["scores"], dtype=library.float64, requires_grad=True)
    weight = case["weight"]
    loss = getattr(library.nn.functional, case["name"])(
        scores,
        library.tensor(case["target"]),
        weight=None if weight is None else library.tensor(weight, dtype=library.float64),
        ignore_index=case["ignored"],
        reduction=case["reduction"],
    )
    arriving = case["arriving"] if loss.ndim else 2.5
    seed = library.tensor(arriving, dtype=library.float64)
    gradients = [
        library.autograd.grad(loss, scores, seed, retain_graph=True, create_graph=graph)[0]
        for graph in (False, True)
    ]
    return [each.detach().numpy() for each in (loss, *gradients)]


@settings(max_examples=300, deadline=None)
@given(losses())
def test_losses_of_weighted_classes(case: dict[str, Any]):
    require("torch")
    for ours, theirs in zip(computed(autokit, case), computed(torch, case), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_the_gradient_of_weights_that_are_all_0_is_as_little_known_as_the_loss(name: str):
    x = autokit.tensor([[0.5, -1.0], [0.25, 2.0]], requires_grad=True)
    loss = getattr(autokit.nn.functional, name)(x, autokit.tensor([0, 1]), weight=autokit.zeros(2))
    loss.backward()
    at_targets = x.grad[[0, 1], [0, 1]]
    assert math.isnan(loss.item()) and bool(at_targets.isnan().all())
