"""The softmax in clusters beside PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import autokit as ak
from tests.nn.twins import assert_close, assert_same_state, twins
from tests.support import require

require("torch")
import torch  # noqa: E402

BOTH = (ak, torch)


@pytest.mark.parametrize(
    ("cutoffs", "options"),
    [([4], {}), ([3, 7], {"head_bias": True}), ([2, 5, 9], {"div_value": 2.0})],
)
def test_losses_gradients_and_predictions(cutoffs: list[int], options: dict[str, Any]):
    pair = twins(lambda T: T.nn.AdaptiveLogSoftmaxWithLoss(16, 12, cutoffs, **options))
    assert repr(pair[0]) == repr(pair[1])
    assert_same_state(*pair)
    results = []
    for T, layer in zip(BOTH, pair):
        T.manual_seed(1)
        x = T.randn(9, 16, requires_grad=True)
        target = T.tensor([0, 11, 3, 4, 6, 7, 9, 2, 0])
        output, loss = layer(x, target)
        loss.backward()
        single = layer(x[0], target[0])
        results.append(
            [output, loss, x.grad, layer.log_prob(x), layer.predict(x), single.output, single.loss]
            + [each.grad for each in layer.parameters()]
        )
    for our, their in zip(*results, strict=True):
        assert_close(our, their)


def test_wrong_use():
    said = []
    for T in BOTH:
        layer = T.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [4])
        heard = []
        for act in (
            lambda: T.nn.AdaptiveLogSoftmaxWithLoss(8, 12, []),
            lambda: T.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [4, 3]),
            lambda: T.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [12]),
            lambda: layer(T.ones(2, 8), T.tensor([0, 12])),
            lambda: layer(T.ones(2, 8), T.tensor([0, -1])),
            lambda: layer(T.ones(2, 8), T.tensor([0, 1, 2])),
            lambda: layer(T.ones(2, 8), T.tensor([[0], [1]])),
            lambda: layer(T.ones(2, 2, 8), T.tensor([0, 1])),
        ):
            with pytest.raises((ValueError, RuntimeError)) as caught:
                act()
            heard.append((type(caught.value), str(caught.value).strip()))
        said.append(heard)
    for our, their in zip(*said, strict=True):
        assert our[0] is their[0] and our[1].startswith(their[1])  # the layer follows
