"""Walking a backward pass node by node: what each step shows, changes to gradients, leaving early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit as ak
from tests.libraries import function


def loss_of(x: Any, w: Any) -> Any:
    hidden = x * w
    active = hidden.tanh()
    return (active * active).sum()


def two() -> tuple[Any, Any]:
    x = ak.tensor([1.0, 2.0], requires_grad=True)
    return x, ak.tensor([0.5, -0.5], requires_grad=True)


def test_each_step_shows_the_node_before_it_runs():
    x, w = two()
    seen = [(s.number, s.name, s.gradient.tolist()) for s in ak.debug.steps(loss_of(x, w))]
    assert [name for _, name, _ in seen] == ["SumBackward0", "MulBackward0", "TanhBackward0", "MulBackward0"]
    assert seen[0] == (0, "SumBackward0", 1.0)
    expected = ak.autograd.grad(loss_of(x, w), [x, w])
    assert x.grad.tolist() == expected[0].tolist() and w.grad.tolist() == expected[1].tolist()


def test_inputs_output_and_line():
    x, w = two()
    *_, last = ak.debug.steps(loss_of(x, w))
    assert [each.tolist() for each in last.inputs] == [x.tolist(), w.tolist()]
    assert last.output.tolist() == [0.5, -1.0]
    assert last.line[2] == "hidden = x * w"
    assert "MulBackward0" in repr(last) and "hidden = x * w" in repr(last)


def test_a_gradient_can_be_changed():
    x, w = two()
    for step in ak.debug.steps(loss_of(x, w)):
        if step.name == "TanhBackward0":
            step.gradient = ak.tensor([0.0, 1.0])
    assert x.grad.tolist()[0] == 0.0
    np.testing.assert_allclose(x.grad.tolist()[1], -0.5 * (1 - np.tanh(-1) ** 2), rtol=1e-6)
    for step in ak.debug.steps(loss_of(x, w)):
        with pytest.raises(RuntimeError, match="has the shape"):
            step.gradient = ak.zeros(7)
        with pytest.raises(TypeError, match="must be a Tensor"):
            step.gradient = 3.0


@given(st.integers(0, 4))
def test_it_can_be_left_at_any_point_with_nothing_half_done(stop: int):
    x, w = two()
    loss = loss_of(x, w)
    steps = ak.debug.steps(loss)
    for _ in range(stop):
        next(steps)
    steps.close()
    assert x.grad is None and w.grad is None and ak.is_grad_enabled()
    loss.backward()  # nothing was freed
    expected = ak.autograd.grad(loss_of(x, w), [x, w])
    assert x.grad.tolist() == expected[0].tolist() and w.grad.tolist() == expected[1].tolist()


def test_an_exception_in_the_loop_leaves_nothing_half_done():
    x, w = two()
    loss = loss_of(x, w)
    with pytest.raises(ZeroDivisionError):
        for _ in ak.debug.steps(loss):
            raise ZeroDivisionError
    assert x.grad is None and ak.is_grad_enabled()
    loss.backward()
    assert x.grad is not None


def test_a_walked_graph_is_freed_at_the_end_unless_retained():
    x, w = two()
    loss = loss_of(x, w)
    list(ak.debug.steps(loss, retain_graph=True))
    list(ak.debug.steps(loss))
    with pytest.raises(RuntimeError, match="second time"):
        list(ak.debug.steps(loss))


def test_hooks_and_functions_of_several_outputs_take_part():
    split = function(ak, lambda ctx, a: (a * 2, a * 3), lambda ctx, g, h: g * 2 + h * 3)
    x = ak.ones(2, requires_grad=True)
    first, second = split.apply(x)
    names = [step.name for step in ak.debug.steps((first + second).sum())]
    assert names.count("FBackward") >= 1 and x.grad.tolist() == [5.0, 5.0]


def test_a_tensor_without_a_graph_is_refused_at_once():
    with pytest.raises(RuntimeError, match="does not require grad"):
        ak.debug.steps(ak.ones(()))


def test_the_mode_of_where_the_loop_is_left_stays():
    x, w = two()
    steps = ak.debug.steps(loss_of(x, w))
    next(steps)
    with ak.no_grad():
        del steps
        assert not ak.is_grad_enabled()
    assert ak.is_grad_enabled()


def test_a_walk_in_anomaly_mode_stops_where_nan_comes_from():
    x = ak.tensor([1.0, 0.0], requires_grad=True)
    loss = (x.sqrt() * ak.tensor([1.0, 0.0])).sum()
    seen = []
    with (
        ak.autograd.set_detect_anomaly(True),
        pytest.raises(RuntimeError, match=r"Function 'SqrtBackward0' returned nan"),
    ):
        for step in ak.debug.steps(loss):
            seen.append(step.name)
    assert seen == ["SumBackward0", "MulBackward0", "SqrtBackward0"]
    assert x.grad is None
