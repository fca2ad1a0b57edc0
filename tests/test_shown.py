"""What has no text of its own shows no address: a notebook's stored output stays the same."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import autokit as T
from tests.support import require

LEAF = T.ones(1, requires_grad=True)
OPTIMIZER = T.optim.SGD([LEAF], 0.1)
UTILS = T.utils.data


class OwnData(UTILS.Dataset):  # type: ignore[misc]
    """A learner's own."""


class OwnSchedule(T.optim.lr_scheduler.LRScheduler):
    """A learner's own."""

    def get_lr(self) -> Any:
        return [0.1]


MADE = {
    "manual_seed": lambda: T.manual_seed(3),
    "Generator": lambda: T.Generator(),
    "a tensor's hook": lambda: LEAF.register_hook(print),
    "a module's hook": lambda: T.nn.Linear(1, 1).register_forward_hook(print),
    "an optimizer's hook": lambda: OPTIMIZER.register_step_post_hook(print),
    "hooks of several": lambda: T.autograd.graph.register_multi_grad_hook([LEAF], print),
    "no_grad": lambda: T.no_grad(),
    "enable_grad": lambda: T.enable_grad(),
    "inference_mode": lambda: T.inference_mode(),
    "set_grad_enabled": lambda: T.set_grad_enabled(True),
    "set_detect_anomaly": lambda: T.autograd.set_detect_anomaly(False),
    "detect_anomaly": lambda: T.autograd.detect_anomaly(),
    "saved_tensors_hooks": lambda: T.autograd.graph.saved_tensors_hooks(print, print),
    "save_on_cpu": lambda: T.autograd.graph.save_on_cpu(),
    "dual_level": lambda: T.autograd.forward_ad.dual_level(),
    "autocast": lambda: T.autocast("cpu"),
    "GradScaler": lambda: T.amp.GradScaler(),
    "DataLoader": lambda: UTILS.DataLoader([1]),
    "its iterator": lambda: iter(UTILS.DataLoader([1])),
    "TensorDataset": lambda: UTILS.TensorDataset(T.ones(1)),
    "random_split": lambda: UTILS.random_split([1, 2], [1, 1]),
    "own data": lambda: OwnData(),
    "sampler": lambda: UTILS.RandomSampler([1]),
    "batches": lambda: UTILS.BatchSampler([1], 1, False),
    "schedule": lambda: T.optim.lr_scheduler.StepLR(OPTIMIZER, 1),
    "plateau": lambda: T.optim.lr_scheduler.ReduceLROnPlateau(OPTIMIZER),
    "own schedule": lambda: OwnSchedule(OPTIMIZER),
}


@pytest.mark.parametrize("name", MADE)
def test_two_of_a_kind_show_the_same(name: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = MADE[name](), MADE[name]()
    assert repr(first) == repr(second)
    assert " at 0x" not in repr(first)


def test_a_mode_shows_what_pytorchs_shows():
    require("torch")
    import torch

    for mode in (False, True):
        ours, theirs = T.set_grad_enabled(mode), torch.set_grad_enabled(mode)
        assert repr(ours) == repr(theirs)
    assert repr(T.Generator().manual_seed(7)) == "<torch.Generator on cpu, seed 7>"
