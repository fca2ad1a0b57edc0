"""autokit.optim.lr_scheduler beside PyTorch's: rates, momenta, states, warnings and errors."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare_errors, pytorch

Make = Callable[[Any, Any], Any]
"""Creates a scheduler, given ``torch.optim.lr_scheduler`` or autokit's and an optimizer of two groups."""

CASES: dict[str, Make] = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch),
    "LambdaLR by group": lambda s, o: s.LambdaLR(o, [lambda epoch: 1 / (1 + epoch), lambda epoch: 2.0]),
    "StepLR": lambda s, o: s.StepLR(o, 3),
    "StepLR, gamma": lambda s, o: s.StepLR(o, step_size=1, gamma=0.7),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 2, 5, 9], gamma=0.5),
    "LinearLR": lambda s, o: s.LinearLR(o),
    "LinearLR down": lambda s, o: s.LinearLR(o, 1.0, 0.1, total_iters=8),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.95),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 4),
    "CosineAnnealingLR, eta_min": lambda s, o: s.CosineAnnealingLR(o, T_max=7, eta_min=0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3),
    "CosineAnnealingWarmRestarts, T_mult": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.001),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "CyclicLR, triangular2": lambda s, o: s.CyclicLR(
        o, [0.01, 0.02], [0.1, 0.3], 2, 3, mode="triangular2", base_momentum=0.5, max_momentum=0.95
    ),
    "CyclicLR, exp_range": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, step_size_up=3, mode="exp_range", gamma=0.9, cycle_momentum=False
    ),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=20),
    "OneCycleLR, linear": lambda s, o: s.OneCycleLR(
        o, [0.1, 0.2], epochs=4, steps_per_epoch=5, pct_start=0.5, anneal_strategy="linear"
    ),
    "OneCycleLR, three phases": lambda s, o: s.OneCycleLR(
        o, 0.1, total_steps=17, three_phase=True, cycle_momentum=False, div_factor=5, final_div_factor=10
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.ExponentialLR(o, gamma=0.9)], milestones=[4]
    ),
    "SequentialLR with restarts": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=3), s.CosineAnnealingWarmRestarts(o, 4)], milestones=[3]
    ),
}


def optimizer_of(torch: Any, method: str = "SGD") -> Any:
    """An optimizer with two groups of different learning rates."""
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    options = {"momentum": 0.9} if method == "SGD" else {}
    return getattr(torch.optim, method)([{"params": [x]}, {"params": [y], "lr": 0.5}], lr=0.2, **options)


def settings_of(optimizer: Any) -> list[Any]:
    """All numbers that a scheduler may change."""
    names = ("lr", "momentum", "betas", "initial_lr", "max_lr", "min_lr")
    return list(np.hstack([group[key] for group in optimizer.param_groups for key in names if key in group]))


def after(make: Make, torch: Any, steps: int, method: str = "SGD") -> tuple[Any, Any, list[Any]]:
    """Optimizer, scheduler, and the settings after each of some steps."""
    optimizer = optimizer_of(torch, method)
    scheduler = make(torch.optim.lr_scheduler, optimizer)
    path = [settings_of(optimizer)]
    for _ in range(steps):
        optimizer.step()
        scheduler.step()
        assert scheduler.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
        path.append(settings_of(optimizer))
    return optimizer, scheduler, path


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["SGD", "Adam"])
@pytest.mark.parametrize("name", CASES)
def test_the_rates_are_pytorchs(name: str, method: str):
    _, ours, our_path = after(CASES[name], autokit, 16, method)
    _, theirs, their_path = after(CASES[name], pytorch, 16, method)
    np.testing.assert_allclose(our_path, their_path, rtol=1e-13, atol=1e-16)
    assert ours.last_epoch == theirs.last_epoch
    assert getattr(ours, "base_lrs", 0) == pytest.approx(getattr(theirs, "base_lrs", 0))


@pytest.mark.parametrize("name", CASES)
def test_the_state_goes_round(name: str):
    optimizer, scheduler, _ = after(CASES[name], autokit, 5)
    other = optimizer_of(autokit)
    resumed = CASES[name](autokit.optim.lr_scheduler, other)
    resumed.load_state_dict(copy.deepcopy(scheduler.state_dict()))
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert resumed.last_epoch == scheduler.last_epoch
    for _ in range(4):
        for one, plan in ((optimizer, scheduler), (other, resumed)):
            one.step()
            plan.step()
    assert settings_of(other) == settings_of(optimizer)


@pytest.mark.parametrize(
    "name", [name for name in CASES if "Sequential" not in name and "T_mult" not in name]
)
def test_a_training_is_resumed_at_an_epoch(name: str):
    paths: list[list[Any]] = [[], []]
    for torch, path in zip((autokit, pytorch), paths):
        optimizer, scheduler, _ = after(CASES[name], torch, 5)
        kind = type(scheduler)

        class Resumed(kind):  # type: ignore[misc, valid-type]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options, last_epoch=4)

        resumed = CASES[name](type("Schedulers", (), {kind.__name__: Resumed}), optimizer)
        for _ in range(3):
            optimizer.step()
            resumed.step()
            path.append(settings_of(optimizer))
    np.testing.assert_allclose(*paths, rtol=1e-13, atol=1e-16)


def test_warm_restarts_take_fractions_of_epochs():
    paths: list[list[Any]] = [[], []]
    for torch, path in zip((autokit, pytorch), paths):
        optimizer = optimizer_of(torch)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, T_mult=2)
        for epoch in np.arange(0, 15, 0.3):
            optimizer.step()
            scheduler.step(float(epoch))
            path.append(settings_of(optimizer))
    np.testing.assert_allclose(*paths, rtol=1e-9)


def test_a_rate_that_the_program_changes_is_the_one_that_goes_on():
    paths: list[list[Any]] = [[], []]
    for torch, path in zip((autokit, pytorch), paths):
        for name in ("StepLR", "ExponentialLR", "LinearLR", "CosineAnnealingLR"):
            optimizer, scheduler, _ = after(CASES[name], torch, 2)
            optimizer.param_groups[0]["lr"] = 0.7
            optimizer.step()
            scheduler.step()
            path.append(settings_of(optimizer))
    np.testing.assert_allclose(*paths, rtol=1e-13)


PLATEAUS: dict[str, dict[str, Any]] = {
    "default": {},
    "impatient": {"patience": 0, "factor": 0.5},
    "max": {"mode": "max", "patience": 1},
    "absolute": {"threshold_mode": "abs", "threshold": 0.1, "patience": 2},
    "cooldown": {"patience": 1, "cooldown": 3, "factor": 0.3},
    "lowest": {"patience": 0, "min_lr": [0.05, 0.4]},
    "eps": {"patience": 0, "factor": 0.5, "eps": 0.06},
}


@pytest.mark.parametrize("name", PLATEAUS)
def test_plateaus_are_pytorchs(name: str):
    losses = np.abs(np.random.RandomState(0).randn(40)) + np.linspace(2, 1, 40)
    paths: list[list[Any]] = [[], []]
    for torch, path in zip((autokit, pytorch), paths):
        optimizer = optimizer_of(torch)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **PLATEAUS[name])
        for place, loss in enumerate(losses):
            scheduler.step(torch.tensor(loss) if place % 2 else float(loss))
            path.append([*scheduler.get_last_lr(), scheduler.num_bad_epochs, scheduler.cooldown_counter])
            if place == 20:
                state = copy.deepcopy(scheduler.state_dict())
                scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
                scheduler.load_state_dict(state)
    np.testing.assert_allclose(*paths, rtol=1e-13)


@pytest.mark.parametrize("name", ["StepLR", "LambdaLR", "CosineAnnealingLR", "OneCycleLR", "SequentialLR"])
def test_a_rate_may_be_a_tensor(name: str):
    x = autokit.ones(1, requires_grad=True)
    optimizers = [autokit.optim.Adam([x], lr=lr) for lr in (autokit.tensor(0.2), 0.2)]
    schedulers = [CASES[name](autokit.optim.lr_scheduler, optimizer) for optimizer in optimizers]
    for _ in range(6):
        for optimizer, scheduler in zip(optimizers, schedulers):
            optimizer.step()
            scheduler.step()
    rates = [float(optimizer.param_groups[0]["lr"]) for optimizer in optimizers]
    assert rates[0] == pytest.approx(rates[1], rel=1e-5)


def test_the_wrong_order_of_steps_is_warned_of_once():
    scheduler = autokit.optim.lr_scheduler.StepLR(optimizer_of(autokit), 2)
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step\(\)`") as told:
        scheduler.step()
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


WRONG: list[Make] = [
    lambda s, o: s.StepLR(o, 2, last_epoch=3),
    lambda s, o: s.LambdaLR(o, [lambda epoch: 1.0]),
    lambda s, o: s.LinearLR(o, start_factor=0),
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, T_mult=0),
    lambda s, o: s.CyclicLR(o, 0.1, 1, mode="square"),
    lambda s, o: s.OneCycleLR(o, 0.1),
    lambda s, o: s.OneCycleLR(o, 0.1, 10, anneal_strategy="fast"),
    lambda s, o: [(plan := s.OneCycleLR(o, 0.1, 2)), *[plan.step() for _ in range(4)]],
    lambda s, o: s.ReduceLROnPlateau(o, factor=1.0),
    lambda s, o: s.ReduceLROnPlateau(o, mode="most"),
    lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2)], [3]),
    lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), s.ReduceLROnPlateau(o)], [3]),
    lambda s, o: s.LRScheduler(o),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_use_raises_what_pytorch_raises(wrong: Make):
    assert len(compare_errors(lambda T: wrong(T.optim.lr_scheduler, optimizer_of(T)))) > 20
