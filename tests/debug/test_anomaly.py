"""Anomaly mode: the first NaN of a backward pass is found, with where it came from."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit as torch
from tests.libraries import function
from tests.support import require


def model(x: Any) -> Any:
    hidden = x.sqrt()  # the line that makes the NaN
    return hidden * 2


def test_the_first_nan_is_named_with_its_values_and_the_forward_line():
    x = torch.tensor([1.0, 0.0, -1.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = model(x)
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
    text = str(caught.value)
    assert text.startswith("Function 'SqrtBackward0' returned nan values in its 0th output.")
    assert "x (float32, shape [3])" in text and "[ 1.,  0., -1.]" in text
    assert "hidden = x.sqrt()  # the line that makes the NaN" in text
    assert "y = model(x)" in text  # the whole stack, and nothing of autokit's own
    assert "autokit/" not in text.split("Traceback of the forward call")[1].replace("tests/", "")
    assert x.grad is None


def test_the_words_are_pytorchs():
    require("torch")
    import torch as oracle

    texts = []
    for T in (torch, oracle):
        x = T.tensor([1.0, 0.0, -1.0], requires_grad=True)
        with warnings.catch_warnings(), pytest.raises(RuntimeError) as caught:
            warnings.simplefilter("ignore")
            with T.autograd.detect_anomaly():
                model(x).sum().backward()
        texts.append(str(caught.value).split("output.")[0])
    assert texts[0] == texts[1]


def test_nothing_is_found_where_nothing_is_wrong():
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        model(x).sum().backward()
    assert x.grad.tolist() == [1.0, 0.5]


def test_large_values_are_summed_up():
    x = torch.linspace(-1, 1, 100).requires_grad_()
    with torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError) as caught:
        x.sqrt().sum().backward()
    assert "100 numbers between -1 and 1" in str(caught.value)


def test_it_finds_nan_in_gradients_of_gradients_and_in_custom_functions():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (slope,) = torch.autograd.grad((x**2).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="returned nan values"):
            torch.autograd.grad((slope.sqrt() * torch.tensor([0.0, 1.0])).sum(), x)

        wrong = function(torch, lambda ctx, a: a.clone(), lambda ctx, g: g * float("nan"))
        with pytest.raises(RuntimeError, match="Function 'FBackward' returned nan values"):
            wrong.apply(x).sum().backward()


def test_the_modes_nest_and_end():
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        x = torch.tensor([0.0], requires_grad=True)
        (x.sqrt() * 0).sum().backward()
        assert np.isnan(x.grad.item())
        with torch.autograd.set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    torch.autograd.set_detect_anomaly(True)
    assert torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        torch.autograd.detect_anomaly()


def test_a_node_from_before_the_mode_is_named_by_its_line():
    x = torch.tensor([-1.0], requires_grad=True)
    y = x.sqrt()
    with torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match=r"y = x\.sqrt\(\)"):
        y.sum().backward()


def test_a_nan_is_found_among_several_results():
    x = torch.tensor([[0.0, 1.0], [1.0, 2.0]], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match="'SqrtBackward0'"):
        ((x.sqrt() * 0).max(0).values + x.sort(0).values[0]).sum().backward()


@pytest.mark.parametrize("arguments", [("a",), (1,), (True, 1)])
def test_what_is_no_bool_switches_nothing(arguments: tuple[Any, ...]):
    with pytest.raises(TypeError, match="must be bool, not"):
        torch.autograd.set_detect_anomaly(*arguments)
    assert not torch.is_anomaly_enabled()
