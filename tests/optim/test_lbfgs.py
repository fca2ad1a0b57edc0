"""autokit.optim.LBFGS beside PyTorch's: its steps, its states, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit import optim
from autokit.optim.line_search import Place, cubic_minimum
from tests.support import require

require("torch")
import torch  # noqa: E402


def valley(module: Any, points: list[Any]) -> Any:
    """Rosenbrock's function of the elements of ``points``, one after the other."""
    x = module.cat([point.reshape(-1) for point in points])
    return ((1 - x[:-1]) ** 2 + 5 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def bowl(module: Any, points: list[Any]) -> Any:
    """A smooth function with one minimum."""
    x = module.cat([point.reshape(-1) for point in points])
    weights = module.arange(1.0, len(x) + 1, dtype=x.dtype)
    return (weights * (x - 1) ** 2).sum() + (x**4).mean()


def stepper(module: Any, function: Any, starts: list[np.ndarray], **options: Any) -> tuple[Any, ...]:
    """A list of parameters, an optimizer, and its closure."""
    points = [module.from_numpy(start.copy()).requires_grad_() for start in starts]
    optimizer = module.optim.LBFGS(points, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = function(module, points)
        loss.backward()
        return loss

    return points, optimizer, closure


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.fixed_dictionaries(
        {
            "lr": st.sampled_from([0.1, 0.5, 1.0]),
            "max_iter": st.sampled_from([1, 4, 8]),  # many more would blow up the rounding of the first
            "line_search_fn": st.sampled_from([None, "strong_wolfe"]),
        },
        optional={
            "history_size": st.sampled_from([1, 3]),
            "max_eval": st.sampled_from([1, 3, 7]),
            "tolerance_grad": st.sampled_from([1e-2]),
            "tolerance_change": st.sampled_from([1e-3]),
        },
    ),
    st.sampled_from([valley, bowl]),
    st.integers(0, 1000),
)
def test_three_calls_are_pytorchs(options: dict[str, Any], function: Any, seed: int):
    rng = np.random.RandomState(seed)
    starts = [rng.randn(2), rng.randn(1, 2)]
    if options["line_search_fn"] is None:
        options["lr"] *= 0.2  # without a search, large steps may lead to infinity
    ours, our, our_closure = stepper(ak, function, starts, **options)
    theirs, their, their_closure = stepper(torch, function, starts, **options)
    for _ in range(3):
        our_loss, their_loss = our.step(our_closure), their.step(their_closure)
        if not np.isfinite(their_loss.item()) or their_loss.item() > 1e6:
            return
        np.testing.assert_allclose(our_loss.item(), their_loss.item(), rtol=1e-6, atol=1e-9)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)
    our_state, their_state = our.state[ours[0]], their.state[theirs[0]]
    assert set(their_state) - {"al"} <= set(our_state)
    assert (our_state["n_iter"], our_state["func_evals"]) == (
        their_state["n_iter"],
        their_state["func_evals"],
    )


def test_it_finds_the_minimum_of_the_valley_in_float32():
    starts = [np.array([-1.0, 2.0, 0.5], np.float32)]
    (x,), optimizer, closure = stepper(ak, valley, starts, line_search_fn="strong_wolfe", max_iter=60)
    optimizer.step(closure)
    np.testing.assert_allclose(x.detach().numpy(), 1, atol=1e-3)


@pytest.mark.parametrize("line_search_fn", [None, "strong_wolfe"])
def test_its_state_goes_round_and_to_pytorch_and_back(line_search_fn: str | None):
    def converted(value: Any, to: Any) -> Any:
        if isinstance(value, ak.Tensor | torch.Tensor):
            return to(value.detach().numpy().copy())
        if isinstance(value, dict):
            return {key: converted(each, to) for key, each in value.items()}
        return [converted(each, to) for each in value] if isinstance(value, list) else value

    starts = [np.array([0.3, -0.2]), np.array([[0.1, 0.7]])]
    options = {"lr": 0.1, "max_iter": 4, "line_search_fn": line_search_fn}
    ours, our, our_closure = stepper(ak, valley, starts, **options)
    theirs, their, their_closure = stepper(torch, valley, starts, **options)
    our.step(our_closure)
    their.step(their_closure)
    state_of_ours = converted(our.state_dict(), torch.from_numpy)
    our.load_state_dict(converted(their.state_dict(), ak.from_numpy))
    their.load_state_dict(state_of_ours)
    our.step(our_closure)
    their.step(their_closure)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-7)


def test_parameters_without_a_gradient_stay_and_complex_ones_count_twice():
    unused = ak.ones(2, requires_grad=True)
    z = ak.tensor([1.0 + 2.0j])
    optimizer = optim.LBFGS([z, unused], lr=0.5)

    def closure() -> Any:
        away = z - ak.tensor([3 - 1j])
        z.grad = 2 * away  # of its square, by hand: autokit has no derivatives of complex numbers
        return (away.abs() ** 2).sum()

    optimizer.step(closure)
    assert unused.tolist() == [1, 1]
    np.testing.assert_allclose(z.detach().numpy(), [3 - 1j], atol=1e-3)


def test_the_change_is_noted_where_step_was_called():
    (x,), optimizer, closure = stepper(ak, bowl, [np.array([2.0, 3.0])])
    loss = (x * x).sum()
    optimizer.step(closure)
    with pytest.raises(RuntimeError, match=r"optimizer\.step\(closure\)"):
        loss.backward()


def test_at_the_minimum_it_stays():
    (x,), optimizer, closure = stepper(ak, valley, [np.array([1.0, 1.0])])
    assert optimizer.step(closure).item() == 0
    assert x.tolist() == [1, 1]


def test_wrong_use_says_what_is_wrong():
    x, y = ak.ones(1, requires_grad=True), ak.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="LBFGS doesn't support per-parameter options"):
        optim.LBFGS([{"params": [x]}, {"params": [y]}])
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        optim.LBFGS([x], lr=-1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'closure'"):
        optim.LBFGS([x]).step()
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optim.LBFGS([x], line_search_fn="golden").step(lambda: (x * x).sum())
    with pytest.raises(TypeError, match="must return the loss"):
        optim.LBFGS([x]).step(lambda: None)


@pytest.mark.parametrize("swapped", [False, True])
def test_the_minimum_of_a_cubic(swapped: bool):
    # f(t) = t³ - 3t has its minimum at 1.
    places = [Place(t, t**3 - 3 * t, None, 3 * t * t - 3) for t in (0.0, 3.0)]
    assert cubic_minimum(*(places[::-1] if swapped else places), 0.0, 3.0) == pytest.approx(1)
    assert cubic_minimum(*places, 2.0, 3.0) == 2
    assert cubic_minimum(Place(0, 0, None, -1), Place(1, float("inf"), None, 1), 0, 1) == 0.5
    assert cubic_minimum(places[0], places[0], 0.0, 3.0) == 1.5
