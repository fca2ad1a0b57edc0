"""Wrong indices on a GPU: nobody waits for the answer, and yet no wrong result is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import late_errors
from autokit.nn import functional as F
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("gpu")


def there(*numbers: int) -> torch.Tensor:
    return torch.tensor([*numbers], device="cuda")


X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
WRONG: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a row": (lambda x: x[there(0, 5)], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    "a row from the end": (lambda x: x[there(-3)], IndexError, "index -3 is out of bounds for dimension 0"),
    "embedding": (
        lambda x: F.embedding(there(4), x),
        IndexError,
        "index out of range in self: the rows are 0",
    ),
    "a class": (
        lambda x: F.cross_entropy(x, there(0, 9)),
        IndexError,
        r"Target 9 is out of bounds\. There are 3",
    ),
    "a negative class": (
        lambda x: F.cross_entropy(x, there(-1, 2)),
        IndexError,
        "Target -1 is out of bounds",
    ),
    "gather": (lambda x: torch.gather(x, 1, there(1, 3)[None]), RuntimeError, "index 3 is out of bounds"),
    "index_select": (
        lambda x: x.index_select(0, there(2)),
        IndexError,
        "index out of range in self: 2 is not in 0 to 1",
    ),
    "take_along_dim": (
        lambda x: torch.take_along_dim(x, there(-4)[None], 1),
        RuntimeError,
        "index -4 is out",
    ),
}
for name, divide in (("//", lambda a, b: a // b), ("%", lambda a, b: a % b), ("fmod", torch.fmod)):
    WRONG[f"an integer {name} 0"] = (
        lambda x, divide=divide: divide(x.long(), there(1, 0, 2)),
        RuntimeError,
        "ZeroDivisionError: an integer is divided by 0",
    )

LOOKS: dict[str, Callable[[Any], Any]] = {
    "item": lambda made: made.sum().item(),
    "cpu": lambda made: made.cpu(),
    "print": lambda made: repr(made),
    "tolist": lambda made: made.tolist(),
    "bool": lambda made: bool(made.sum() > 0),
    "float": lambda made: float(made.sum()),
    "format": lambda made: f"{made.sum()}",
    "synchronize": lambda made: torch.cuda.synchronize(),
}


@pytest.mark.parametrize("what", WRONG)
def test_it_raises_when_numbers_are_read(what: str):
    do, kind, message = WRONG[what]
    x = torch.tensor(X, device="cuda")
    standin.sizes.clear()
    with pytest.raises(kind, match=message) as error:  # a quick GPU may answer in the same call
        made = do(x)
        assert not standin.sizes, "the program waited"
        made.sum().item()
    (note,) = error.value.__notes__
    assert "It was done by the line `" in note and "CUDA_LAUNCH_BLOCKING=1" in note
    assert not late_errors.LATE and x.sum().item() == 21, "the program goes on"


@pytest.mark.parametrize("look", LOOKS)
def test_no_number_is_seen_before_the_error(look: str):
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        LOOKS[look](torch.tensor(X, device="cuda")[there(7)])


@pytest.mark.parametrize("what", WRONG)
def test_it_raises_at_once_where_that_is_wanted(what: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    do, kind, message = WRONG[what]
    with pytest.raises(kind, match=message):
        do(torch.tensor(X, device="cuda"))


def test_what_is_written_is_checked_before():
    x = torch.tensor(X, device="cuda")
    with pytest.raises(IndexError, match="index 2 is out of bounds"):
        x[there(2)] = 0.0
    with pytest.raises(RuntimeError, match="index 2 is out of bounds"):
        x.index_add_(0, there(2), torch.ones(1, 3, device="cuda"))
    assert x.tolist() == X


def test_right_indices_stay_right_however_many(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(late_errors, "COUNT", 8)
    x = torch.tensor(X, device="cuda")
    for number in range(30):
        assert x[there(number % 2)].tolist() == [X[number % 2]]
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        x[there(3)]
        for _ in range(9):
            x[there(1)]


def test_targets_that_do_not_count_cost_no_answer():
    found = []
    for where in ("cpu", "cuda"):
        x = torch.tensor(X, device=where, requires_grad=True)
        for targets, weight in (([0, -100], None), ([-100, -100], None), ([1, 2], [1.0, 0.5, 0.0])):
            for reduction in ("mean", "sum", "none"):
                loss = F.cross_entropy(
                    x,
                    torch.tensor(targets, device=where),
                    None if weight is None else torch.tensor(weight, device=where),
                    reduction=reduction,
                )
                x.grad = None
                standin.sizes.clear()
                loss.sum().backward()
                assert not standin.sizes
                found.append((where, loss.tolist(), x.grad.tolist()))
    half = len(found) // 2
    for (_, loss, gradient), (_, other, other_gradient) in zip(found[:half], found[half:]):
        assert loss == pytest.approx(other, nan_ok=True, rel=1e-6)
        np.testing.assert_allclose(other_gradient, gradient, rtol=1e-6, atol=1e-7)
