"""Pruning beside PyTorch: masks, training with them, several methods in turn, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autokit as ak
from tests.nn.twins import assert_close, assert_same_state, twins
from tests.support import require

require("torch")
import torch  # noqa: E402
import torch.nn.utils.prune  # noqa: E402

BOTH = (ak, torch)


def layer(T: Any) -> Any:
    return T.nn.Sequential(T.nn.Conv2d(2, 4, 3), T.nn.Flatten(), T.nn.Linear(16, 3))


METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "identity": lambda p, m: p.identity(m[0], "weight"),
    "random_unstructured": lambda p, m: p.random_unstructured(m[2], "weight", 0.3),
    "l1_unstructured": lambda p, m: p.l1_unstructured(m[0], "weight", amount=0.5),
    "a number": lambda p, m: p.l1_unstructured(m[2], "weight", amount=7),
    "nothing": lambda p, m: p.l1_unstructured(m[2], "weight", amount=0),
    "a bias": lambda p, m: p.l1_unstructured(m[0], "bias", amount=2),
    "scores": lambda p, m: p.l1_unstructured(m[2], "bias", 1, importance_scores=-abs(m[2].bias)),
    "random_structured": lambda p, m: p.random_structured(m[0], "weight", 2, dim=0),
    "ln_structured": lambda p, m: p.ln_structured(m[0], "weight", 0.5, n=2, dim=1),
    "ln_structured of columns": lambda p, m: p.ln_structured(m[2], "weight", 0.25, n=1, dim=-1),
    "two after each other": lambda p, m: (
        p.ln_structured(m[2], "weight", 0.25, n=2, dim=1),
        p.l1_unstructured(m[2], "weight", 0.3),
    ),
    "structured after single ones": lambda p, m: (
        p.l1_unstructured(m[0], "weight", 0.3),
        p.ln_structured(m[0], "weight", 1, n=2, dim=0),
    ),
    "norms of what single ones left": lambda p, m: (
        p.l1_unstructured(m[2], "weight", importance_scores=-abs(m[2].weight), amount=0.6),
        p.ln_structured(m[2], "weight", 0.5, n=2, dim=1),
    ),
    "global": lambda p, m: p.global_unstructured(
        [(m[0], "weight"), (m[2], "weight"), (m[2], "bias")], p.L1Unstructured, amount=0.4
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_masks_and_training_are_pytorchs(name: str):
    def build(T: Any) -> Any:
        model = layer(T)
        METHODS[name](T.nn.utils.prune, model)
        return model

    pair = twins(build)
    assert_same_state(*pair, exactly=False)
    names = [[each for each, _ in model.named_parameters()] for model in pair]
    assert names[0] == names[1]
    for T, model in zip(BOTH, pair):
        assert T.nn.utils.prune.is_pruned(model)
        optimizer = T.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(T.linspace(-1, 1, 64).reshape(2, 2, 4, 4)).pow(2).sum().backward()
            optimizer.step()
    assert_same_state(*pair, exactly=False)
    for T, model in zip(BOTH, pair):
        for place in (0, 2):
            for each in ("weight", "bias"):
                if hasattr(model[place], each + "_mask"):
                    zeros = model[place].__getattr__(each + "_mask") == 0
                    T.nn.utils.prune.remove(model[place], each)
                    assert not getattr(model[place], each)[zeros].any()
        assert not T.nn.utils.prune.is_pruned(model)
    assert sorted(pair[0].state_dict()) == sorted(pair[1].state_dict()) == sorted(layer(ak).state_dict())
    for each, value in pair[0].state_dict().items():
        assert_close(value, pair[1].state_dict()[each], each)


def test_a_mask_of_ones_own_and_the_method_by_itself():
    for T in BOTH:
        prune = T.nn.utils.prune
        linear = T.nn.Linear(2, 2)
        prune.custom_from_mask(linear, "weight", T.tensor([[1, 0], [0, 1]]))
        assert linear.weight[0, 1].item() == linear.weight[1, 0].item() == 0
        assert prune.L1Unstructured(amount=1).prune(T.tensor([3.0, -1.0, 2.0])).tolist() == [3, 0, 2]

        class EveryOther(prune.BasePruningMethod):  # type: ignore[misc, name-defined]
            PRUNING_TYPE = "unstructured"

            def compute_mask(self, t: Any, default_mask: Any) -> Any:
                mask = default_mask.clone()
                mask.view(-1)[::2] = 0
                return mask

        linear = T.nn.Linear(2, 2)
        EveryOther.apply(linear, "weight")
        assert linear.weight_mask.tolist() == [[0, 1], [0, 1]]


def test_wrong_use():
    said = []
    for T in BOTH:
        prune = T.nn.utils.prune
        heard = []
        for act in (
            lambda: prune.l1_unstructured(T.nn.Linear(4, 3), "weight", 1.5),
            lambda: prune.l1_unstructured(T.nn.Linear(4, 3), "weight", -1),
            lambda: prune.l1_unstructured(T.nn.Linear(4, 3), "weight", 20),
            lambda: prune.l1_unstructured(T.nn.Linear(4, 3), "weight", "a"),
            lambda: prune.remove(T.nn.Linear(1, 1), "weight"),
            lambda: prune.ln_structured(T.nn.Linear(2, 1), "weight", 0.5, n=2, dim=5),
            lambda: prune.ln_structured(T.nn.Linear(2, 1), "bias", 0.5, n=2, dim=0),
            lambda: prune.global_unstructured(3, prune.L1Unstructured),
        ):
            with pytest.raises((TypeError, ValueError, IndexError)) as caught:
                act()
            heard.append((type(caught.value), str(caught.value)))
        said.append(heard)
    assert said[0] == said[1]


def test_what_cannot_be_pruned_stays_as_it_was():
    linear = ak.nn.Linear(4, 3)
    weight = linear.weight
    with pytest.raises(ValueError, match="smaller than the number"):
        ak.nn.utils.prune.l1_unstructured(linear, "weight", 20)
    assert linear.weight is weight and not ak.nn.utils.prune.is_pruned(linear)
    assert {name for name, _ in linear.named_parameters()} == {"weight", "bias"}
