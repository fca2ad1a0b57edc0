"""autokit.optim.LBFGS beside PyTorch's: its steps, its states, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit import optim
from autokit.optim.line_search import Place, cubic_minimum
from tests.oracle import pytorch


def valley(torch: Any, points: list[Any]) -> Any:
    """Rosenbrock's function of the elements of ``points``, one after the other."""
    x = torch.cat([point.reshape(-1) for point in points])
    return ((1 - x[:-1]) ** 2 + 5 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def bowl(torch: Any, points: list[Any]) -> Any:
    """A smooth function with one minimum."""
    x = torch.cat([point.reshape(-1) for point in points])
    weights = torch.arange(1.0, len(x) + 1, dtype=x.dtype)
    return (weights * (x - 1) ** 2).sum() + (x**4).mean()


def stepper(torch: Any, function: Any, starts: list[np.ndarray], **options: Any) -> tuple[Any, ...]:
    """A list of parameters, an optimizer, and its closure."""
    points = [torch.tensor(start, requires_grad=True) for start in starts]
    optimizer = torch.optim.LBFGS(points, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = function(torch, points)
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
            "tolerance_grad": st.just(1e-2),
            "tolerance_change": st.just(1e-3),
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
    ours, our, our_closure = stepper(autokit, function, starts, **options)
    theirs, their, their_closure = stepper(pytorch, function, starts, **options)
    for _ in range(3):
        our_loss, their_loss = our.step(our_closure), their.step(their_closure)
        if not np.isfinite(their_loss.item()) or their_loss.item() > 1e6:
            return
        np.testing.assert_allclose(our_loss.item(), their_loss.item(), rtol=1e-6, atol=1e-9)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)
    our_state, their_state = our.state[ours[0]], their.state[theirs[0]]
    assert set(their_state) - {"al"} <= set(our_state)
    for count in ("n_iter", "func_evals"):
        assert our_state[count] == their_state[count]


def test_it_finds_the_minimum_of_the_valley_in_float32():
    starts = [np.array([-1.0, 2.0, 0.5], np.float32)]
    (x,), optimizer, closure = stepper(autokit, valley, starts, line_search_fn="strong_wolfe", max_iter=60)
    optimizer.step(closure)
    np.testing.assert_allclose(x.detach().numpy(), 1, atol=1e-3)
    (x,), optimizer, closure = stepper(autokit, valley, [np.array([1.0, 1.0])])
    assert optimizer.step(closure).item() == 0  # at the minimum it stays
    assert x.tolist() == [1, 1]


def test_wrong_use_says_what_is_wrong():
    x, y = autokit.ones(1, requires_grad=True), autokit.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="LBFGS doesn't support per-parameter options"):
        optim.LBFGS([{"params": [x]}, {"params": [y]}])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'closure'"):
        optim.LBFGS([x]).step()
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
