"""autokit.optim.lr_scheduler beside PyTorch's: rates, momenta, states, warnings and errors."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.ops.beside import refusals
from tests.support import require

require("torch")
import torch  # noqa: E402

Make = Callable[[Any, Any], Any]
"""Makes a scheduler, given ``torch.optim.lr_scheduler`` or autokit's and an optimizer of two groups."""

CASES: dict[str, Make] = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch),
    "LambdaLR by group": lambda s, o: s.LambdaLR(o, [lambda epoch: 1 / (1 + epoch), lambda epoch: 2.0]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9 + 0.01 * epoch),
    "StepLR": lambda s, o: s.StepLR(o, 3),
    "StepLR, gamma": lambda s, o: s.StepLR(o, step_size=1, gamma=0.7),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 2, 5, 9], gamma=0.5),
    "ConstantLR": lambda s, o: s.ConstantLR(o),
    "ConstantLR, factor": lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=2),
    "LinearLR": lambda s, o: s.LinearLR(o),
    "LinearLR down": lambda s, o: s.LinearLR(o, 1.0, 0.1, total_iters=8),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.95),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o),
    "PolynomialLR, power": lambda s, o: s.PolynomialLR(o, total_iters=9, power=2.5),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 4),
    "CosineAnnealingLR, eta_min": lambda s, o: s.CosineAnnealingLR(o, T_max=7, eta_min=0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3),
    "CosineAnnealingWarmRestarts, T_mult": lambda s, o: s.CosineAnnealingWarmRestarts(
        o, 2, T_mult=2, eta_min=0.001
    ),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "CyclicLR, triangular2": lambda s, o: s.CyclicLR(
        o, [0.01, 0.02], [0.1, 0.3], 2, 3, mode="triangular2", base_momentum=0.5, max_momentum=0.95
    ),
    "CyclicLR, exp_range": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, step_size_up=3, mode="exp_range", gamma=0.9, cycle_momentum=False
    ),
    "CyclicLR, scale_fn": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 2, scale_fn=lambda x: 1 / x),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=20),
    "OneCycleLR, linear": lambda s, o: s.OneCycleLR(
        o, [0.1, 0.2], epochs=4, steps_per_epoch=5, pct_start=0.5, anneal_strategy="linear"
    ),
    "OneCycleLR, three phases": lambda s, o: s.OneCycleLR(
        o, 0.1, total_steps=17, three_phase=True, cycle_momentum=False, div_factor=5, final_div_factor=10
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, factor=0.1, total_iters=4), s.ExponentialLR(o, gamma=0.9)], milestones=[4]
    ),
    "SequentialLR of three": lambda s, o: s.SequentialLR(
        o,
        [s.LinearLR(o, total_iters=3), s.StepLR(o, 2), s.CosineAnnealingLR(o, 4)],
        milestones=[3, 8],
    ),
    "SequentialLR of chains": lambda s, o: s.SequentialLR(
        o,
        [
            s.LinearLR(o, 0.1, total_iters=3),
            s.CosineAnnealingWarmRestarts(o, 4),
        ],
        milestones=[3],
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, factor=0.1, total_iters=2), s.ExponentialLR(o, gamma=0.9)], optimizer=o
    ),
    "ChainedScheduler of two decays": lambda s, o: s.ChainedScheduler([s.StepLR(o, 2), s.LinearLR(o)]),
}


def optimizer_of(module: Any, method: str = "SGD") -> Any:
    """An optimizer with two groups of different learning rates."""
    x, y = module.ones(1, requires_grad=True), module.ones(1, requires_grad=True)
    options = {"momentum": 0.9} if method == "SGD" else {}
    return getattr(module.optim, method)([{"params": [x]}, {"params": [y], "lr": 0.5}], lr=0.2, **options)


def settings_of(optimizer: Any) -> list[Any]:
    """All numbers that a scheduler may change."""
    return [
        value
        for group in optimizer.param_groups
        for key in ("lr", "momentum", "betas", "initial_lr", "max_lr", "min_lr")
        if key in group
        for value in (group[key] if isinstance(group[key], tuple) else [group[key]])
    ]


def after(make: Make, module: Any, steps: int, method: str) -> tuple[Any, Any, list[Any]]:
    """Optimizer, scheduler, and the settings after each of some steps."""
    optimizer = optimizer_of(module, method)
    scheduler = make(module.optim.lr_scheduler, optimizer)
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
    _, ours, our_path = after(CASES[name], ak, 16, method)
    _, theirs, their_path = after(CASES[name], torch, 16, method)
    for our, their in zip(our_path, their_path, strict=True):
        np.testing.assert_allclose(our, their, rtol=1e-13, atol=1e-16)
    our_state, their_state = ours.state_dict(), theirs.state_dict()
    assert set(our_state) == set(their_state)
    for key in ("last_epoch", "_step_count", "base_lrs"):
        if key in their_state:
            assert our_state[key] == pytest.approx(their_state[key])


@pytest.mark.parametrize("name", CASES)
def test_the_state_goes_round_also_from_pytorch(name: str):
    make = CASES[name]
    ours, ours_scheduler, _ = after(make, ak, 5, "SGD")
    theirs, theirs_scheduler, _ = after(make, torch, 5, "SGD")
    rates = []
    for scheduler, optimizer in ((ours_scheduler, ours), (theirs_scheduler, theirs)):
        other = optimizer_of(ak)
        resumed = make(ak.optim.lr_scheduler, other)
        resumed.load_state_dict(copy.deepcopy(scheduler.state_dict()))
        for group, saved in zip(other.param_groups, optimizer.param_groups, strict=True):
            group.update({key: value for key, value in saved.items() if key != "params"})
        assert resumed.last_epoch == scheduler.last_epoch if hasattr(scheduler, "last_epoch") else True
        for _ in range(4):
            other.step()
            resumed.step()
        rates.append(settings_of(other))
    for _ in range(4):
        theirs.step()
        theirs_scheduler.step()
    np.testing.assert_allclose(rates, [settings_of(theirs)] * 2, rtol=1e-13)


CLOSED = [name for name in CASES if "Chained" not in name and "Sequential" not in name]


@pytest.mark.parametrize("name", [name for name in CLOSED if "Cyclic" not in name])
def test_an_epoch_may_be_given_with_a_warning(name: str):
    found = []
    for module in (ak, torch):
        optimizer = optimizer_of(module)
        scheduler = CASES[name](module.optim.lr_scheduler, optimizer)
        optimizer.step()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for epoch in (4, 7):
                scheduler.step(epoch)
                found.append(settings_of(optimizer))
        found.append([len(told)])
    for our, their in zip(found[:3], found[3:], strict=True):
        np.testing.assert_allclose(our, their, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("name", CLOSED)
def test_a_training_is_resumed_at_an_epoch(name: str):
    found = []
    for module in (ak, torch):
        optimizer, scheduler, _ = after(CASES[name], module, 5, "SGD")
        kind = getattr(module.optim.lr_scheduler, type(scheduler).__name__)

        class Resumed(kind):  # type: ignore[misc, valid-type]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options, last_epoch=4)

        resumed = CASES[name](type("Schedulers", (), {type(scheduler).__name__: Resumed}), optimizer)
        for _ in range(3):
            optimizer.step()
            resumed.step()
            found.append(settings_of(optimizer))
    for our, their in zip(found[:3], found[3:], strict=True):
        np.testing.assert_allclose(our, their, rtol=1e-13, atol=1e-16)


PLATEAUS: dict[str, dict[str, Any]] = {
    "default": {},
    "impatient": {"patience": 0, "factor": 0.5},
    "max": {"mode": "max", "patience": 1},
    "absolute": {"threshold_mode": "abs", "threshold": 0.1, "patience": 2},
    "absolute max": {"mode": "max", "threshold_mode": "abs", "threshold": 0.1, "patience": 2},
    "cooldown": {"patience": 1, "cooldown": 3, "factor": 0.3},
    "lowest": {"patience": 0, "min_lr": [0.05, 0.4]},
    "eps": {"patience": 0, "factor": 0.5, "eps": 0.06},
}


@pytest.mark.parametrize("name", PLATEAUS)
def test_plateaus_are_pytorchs(name: str):
    losses = np.abs(np.random.RandomState(0).randn(40)) + np.linspace(2, 1, 40)
    paths = []
    for module in (ak, torch):
        optimizer = optimizer_of(module)
        scheduler = module.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **PLATEAUS[name])
        path = []
        for place, loss in enumerate(losses):
            scheduler.step(module.tensor(loss) if place % 2 else float(loss))
            path.append([*scheduler.get_last_lr(), scheduler.num_bad_epochs, scheduler.cooldown_counter])
            if place == 20:
                state = copy.deepcopy(scheduler.state_dict())
                scheduler = module.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
                scheduler.load_state_dict(state)
        paths.append(path)
        assert set(scheduler.state_dict()) == set(state)
    np.testing.assert_allclose(paths[0], paths[1], rtol=1e-13)


@pytest.mark.parametrize("name", ["StepLR", "LambdaLR", "CosineAnnealingLR", "OneCycleLR", "SequentialLR"])
def test_a_rate_that_is_a_tensor_stays_the_same_tensor(name: str):
    x = ak.ones(1, requires_grad=True)
    rate = ak.tensor(0.2)
    optimizer = ak.optim.Adam([x], lr=rate)
    scheduler = CASES[name](ak.optim.lr_scheduler, optimizer)
    expected = ak.optim.Adam([x], lr=0.2)
    same = CASES[name](ak.optim.lr_scheduler, expected)
    for _ in range(6):
        optimizer.step()
        expected.step()
        scheduler.step()
        same.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == pytest.approx(expected.param_groups[0]["lr"], rel=1e-5)
    (last,) = scheduler.get_last_lr()
    assert last is not rate and last.item() == rate.item()


def test_the_wrong_order_of_steps_is_warned_of_once():
    optimizer = optimizer_of(ak)
    scheduler = ak.optim.lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step\(\)`") as told:
        scheduler.step()
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


def test_a_step_that_was_put_in_the_optimizers_place_is_warned_of():
    optimizer = optimizer_of(ak)
    scheduler = ak.optim.lr_scheduler.StepLR(optimizer, 2)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden after learning rate scheduler"):
        scheduler.step()


def test_asking_for_get_lr_is_warned_of():
    scheduler = ak.optim.lr_scheduler.StepLR(optimizer_of(ak), 2)
    with pytest.warns(UserWarning, match=r"please use `get_last_lr\(\)`") as told:
        scheduler.get_lr()
    assert told[0].filename == __file__


def test_a_callable_object_keeps_its_state():
    class Falling:
        def __init__(self) -> None:
            self.slope = 0.5

        def __call__(self, epoch: float) -> float:
            return self.slope**epoch

    steep, flat = Falling(), Falling()
    steep.slope = 0.1
    for kind, options in (("LambdaLR", {}), ("MultiplicativeLR", {})):
        make = getattr(ak.optim.lr_scheduler, kind)
        state = make(optimizer_of(ak), steep, **options).state_dict()
        assert state["lr_lambdas"] == [{"slope": 0.1}] * 2
        flat.slope = 0.5
        make(optimizer_of(ak), flat).load_state_dict(state)
        assert flat.slope == 0.1
    cyclic = ak.optim.lr_scheduler.CyclicLR(optimizer_of(ak), 0.1, 1.0, scale_fn=steep)
    flat.slope = 0.5
    ak.optim.lr_scheduler.CyclicLR(optimizer_of(ak), 0.1, 1.0, scale_fn=flat).load_state_dict(
        cyclic.state_dict()
    )
    assert flat.slope == 0.1


WRONG: list[Make] = [
    lambda s, o: s.StepLR(None, 2),
    lambda s, o: s.StepLR(o, 2, last_epoch=3),
    lambda s, o: s.LambdaLR(o, [lambda epoch: 1.0]),
    lambda s, o: s.MultiplicativeLR(o, 0.5),
    lambda s, o: s.ConstantLR(o, factor=1.5),
    lambda s, o: s.LinearLR(o, start_factor=0),
    lambda s, o: s.LinearLR(o, end_factor=1.5),
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 0),
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, T_mult=0),
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, eta_min="a"),
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 2).step(-1),
    lambda s, o: s.CyclicLR(None, 0.1, 1),
    lambda s, o: s.CyclicLR(o, [0.1], 1),
    lambda s, o: s.CyclicLR(o, 0.1, 1, mode="square"),
    lambda s, o: s.OneCycleLR(None, 0.1, 3),
    lambda s, o: s.OneCycleLR(o, 0.1),
    lambda s, o: s.OneCycleLR(o, 0.1, 0),
    lambda s, o: s.OneCycleLR(o, 0.1, epochs=1.5, steps_per_epoch=2),
    lambda s, o: s.OneCycleLR(o, 0.1, epochs=1, steps_per_epoch=-2),
    lambda s, o: s.OneCycleLR(o, 0.1, 10, pct_start=2.0),
    lambda s, o: s.OneCycleLR(o, 0.1, 10, anneal_strategy="fast"),
    lambda s, o: s.OneCycleLR(o, [0.1, 0.2, 0.3], 10),
    lambda s, o: [s.OneCycleLR(o, 0.1, 2).step() for _ in range(1)] and _exhaust(s.OneCycleLR(o, 0.1, 2)),
    lambda s, o: s.ReduceLROnPlateau(None),
    lambda s, o: s.ReduceLROnPlateau(o, factor=1.0),
    lambda s, o: s.ReduceLROnPlateau(o, mode="most"),
    lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="most"),
    lambda s, o: s.ReduceLROnPlateau(o, min_lr=[0.1]),
    lambda s, o: s.SequentialLR(o, [], []),
    lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2)], [3]),
    lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), s.ReduceLROnPlateau(o)], [3]),
    lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), 5], [3]),
    lambda s, o: s.ChainedScheduler([]),
    lambda s, o: s.ChainedScheduler([5], o),
    lambda s, o: s.ChainedScheduler([s.StepLR(o, 2), s.ReduceLROnPlateau(o)]),
    lambda s, o: s.ChainedScheduler([s.StepLR(o, 2)], copy.deepcopy(o)),
]


def _exhaust(scheduler: Any) -> None:
    for _ in range(4):
        scheduler.step()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", range(len(WRONG)))
def test_wrong_use_is_refused_in_pytorchs_words(place: int):
    ours, theirs = refusals(lambda T: WRONG[place](T.optim.lr_scheduler, optimizer_of(T)))
    assert ours == theirs


def test_momentum_is_needed_to_cycle_it():
    x = ak.ones(1, requires_grad=True)
    optimizer = ak.optim.Adagrad([x], lr=0.1)
    for make in (CASES["CyclicLR"], CASES["OneCycleLR"]):
        with pytest.raises(ValueError, match="optimizer must support momentum or beta1"):
            make(ak.optim.lr_scheduler, optimizer)


def test_groups_that_came_later_need_a_lowest_rate():
    optimizer = optimizer_of(ak)
    scheduler = ak.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.1, 0.1])
    easy = ak.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    optimizer.add_param_group({"params": ak.ones(1, requires_grad=True)})
    easy.step(1.0)
    easy.step(1.0)
    assert optimizer.param_groups[2]["lr"] == pytest.approx(0.02)
    scheduler.step(1.0)
    with pytest.raises(RuntimeError, match=r"The number of param groups in the `optimizer` \(3\) differs"):
        scheduler.step(1.0)


@pytest.mark.parametrize("name", sorted(ak.optim.lr_scheduler.__all__))
def test_the_signature_is_pytorchs(name: str):
    ours, theirs = (signature(getattr(module.optim.lr_scheduler, name)).parameters for module in (ak, torch))
    assert list(ours) == list(theirs)
    assert [one.default for one in ours.values()] == [one.default for one in theirs.values()]


@pytest.mark.parametrize("kind", ["LambdaLR", "MultiplicativeLR"])
def test_functions_stand_last_in_the_state(kind: str):
    import autokit

    optimizer = autokit.optim.SGD([autokit.ones(1, requires_grad=True)], lr=0.1)
    scheduler = getattr(autokit.optim.lr_scheduler, kind)(optimizer, lambda epoch: 0.5)
    assert list(scheduler.state_dict())[-1] == "lr_lambdas"
