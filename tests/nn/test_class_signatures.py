"""What the classes of torch.nn, torch.optim and torch.utils.data take, beside PyTorch's."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402
import torch.optim.swa_utils  # noqa: E402
import torch.utils.data  # noqa: E402

PLACES = ["nn", "optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data"]

DEFAULTS = {"generator"}
"""PyTorch's default is its own default generator; here None stands for it."""


def at(T: Any, place: str) -> Any:
    for name in place.split("."):
        T = getattr(T, name)
    return T


def classes(place: str) -> list[str]:
    theirs, ours = at(torch, place), at(ak, place)
    return [
        name
        for name in dir(theirs)
        if isinstance(getattr(theirs, name), type)
        and getattr(theirs, name).__module__.startswith("torch")
        and name in dir(ours)
    ]


def taken(kind: type) -> list[tuple[str, Any]] | None:
    """Names and defaults of what a class takes; None where it takes anything."""
    parameters = inspect.signature(kind).parameters.values()
    if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} & {each.kind for each in parameters}:
        return None
    return [
        (each.name, None if callable(each.default) or each.name in DEFAULTS else repr(each.default))
        for each in parameters
    ]


@pytest.mark.parametrize(("place", "name"), [(place, name) for place in PLACES for name in classes(place)])
def test_a_class_takes_what_pytorchs_takes(place: str, name: str):
    ours, theirs = (getattr(at(T, place), name) for T in (ak, torch))
    if (found := taken(ours)) is None or (expected := taken(theirs)) is None:
        pytest.skip("takes anything")
    if name == "Sampler":  # PyTorch 2.13 has dropped its argument, which older programs give
        expected = [("data_source", "None")]
    assert found == expected


@pytest.mark.parametrize("name", [name for name in dir(torch.nn.Module) if not name.startswith("_")])
def test_a_method_of_modules_takes_what_pytorchs_takes(name: str):
    method = getattr(torch.nn.Module, name)
    if not callable(method) or name in (
        "forward",
        "state_dict",
    ):  # which take anything
        return
    if name in ("ipu", "mtia", "xpu", "share_memory"):
        assert not hasattr(ak.nn.Module, name)
        return
    ours, theirs = (list(inspect.signature(getattr(T.nn.Module, name)).parameters) for T in (ak, torch))
    assert ours == theirs


def test_older_names_of_the_ends_of_hardtanh_warn():
    for T in (ak, torch):
        with pytest.warns(FutureWarning, match="`min_value` is deprecated and renamed to `min_val`"):
            layer = T.nn.Hardtanh(min_value=-0.5, max_val=0.25)
        assert layer(T.tensor([-1.0, 0.0, 1.0])).tolist() == [-0.5, 0, 0.25]


def test_modules_that_are_shared_come_once_or_each_time():
    for T in (ak, torch):
        shared = T.nn.ReLU()
        model = T.nn.Sequential(shared, T.nn.Identity(), shared)
        assert [len(list(model.modules(remove_duplicate=once))) for once in (True, False)] == [3, 4]
