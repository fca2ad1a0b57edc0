"""``assert_close`` says what PyTorch's says."""

from __future__ import annotations

from typing import Any

import pytest

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

PAIRS: dict[str, Any] = {
    "equal": lambda T: (T.ones(2), T.ones(2)),
    "close": lambda T: (T.ones(2), T.ones(2) + 1e-6),
    "far": lambda T: (T.tensor([[1.0, 2.0], [3.0, 4.0]]), T.tensor([[1.0, 2.5], [3.0, 5.0]])),
    "far from zero": lambda T: (T.ones(2), T.zeros(2)),
    "one number": lambda T: (T.tensor(1.0), T.tensor(2.0)),
    "whole": lambda T: (T.tensor([1, 2]), T.tensor([1, 3])),
    "double": lambda T: (T.ones(2).double(), T.ones(2).double() + 1e-6),
    "shapes": lambda T: (T.ones(2), T.ones(3)),
    "dtypes": lambda T: (T.ones(2), T.ones(2).double()),
    "numbers": lambda T: (1.0, 1.5),
    "whole numbers that differ": lambda T: (1, 2),
    "whole numbers": lambda T: (1, 1),
    "nan": lambda T: (T.tensor(T.nan), T.tensor(T.nan)),
    "lists": lambda T: ([T.ones(1), 2.0], [T.ones(1), 2.0]),
    "lists that differ": lambda T: ([T.ones(1), 2.0], [T.ones(1), 3.0]),
    "lengths": lambda T: ([1.0], [1.0, 2.0]),
    "mappings": lambda T: ({"a": T.ones(1)}, {"a": T.zeros(1)}),
    "whole numbers beyond float64": lambda T: (T.tensor([2**53, 1]), T.tensor([2**53 + 1, 1])),
    "a whole number beyond float64": lambda T: (2**60, 2**60 + 1),
    "bytes": lambda T: (T.tensor([3, 0], dtype=T.uint8), T.tensor([250, 0], dtype=T.uint8)),
    "bools": lambda T: (T.tensor([True, False]), T.tensor([True, True])),
    "a bool": lambda T: (True, False),
    "complex numbers": lambda T: (T.tensor([1 + 2j, 3j]), T.tensor([1 + 2j, 4j])),
    "complex numbers that are close": lambda T: (T.tensor([1 + 2j]), T.tensor([1 + 2.000001j])),
    "a complex number": lambda T: (1 + 2j, 1 + 3j),
    "infinities": lambda T: (T.tensor([T.inf, -T.inf]), T.tensor([T.inf, T.inf])),
    "infinity and a number": lambda T: (T.tensor([1.0]), T.tensor([T.inf])),
    "states": lambda T: (T.nn.Linear(2, 1).state_dict(), {}),
}


def said(T: Any, pair: Any, **settings: Any) -> str:
    try:
        T.testing.assert_close(*pair(T), **settings)
    except AssertionError as error:
        return str(error).replace("autokit.", "torch.")
    return ""


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    "settings", [{}, {"rtol": 0.1, "atol": 0.2}, {"equal_nan": True, "check_dtype": False}]
)
def test_it_says_what_pytorchs_says(name: str, settings: dict[str, Any]):
    ours, theirs = (said(T, PAIRS[name], **settings) for T in (autokit, torch))
    assert bool(ours) == bool(theirs)
    if "not" in theirs.partition("!")[0] and "difference" in theirs:
        assert ours.splitlines()[:3] == theirs.splitlines()[:3]
        assert [line.split("at index")[-1] for line in ours.splitlines()] == [
            line.split("at index")[-1] for line in theirs.splitlines()
        ]


def test_words_of_ones_own():
    with pytest.raises(AssertionError, match=r"^other words$"):
        autokit.testing.assert_close(1.0, 2.0, msg="other words")
    with pytest.raises(ValueError, match="both"):
        autokit.testing.assert_close(1.0, 2.0, rtol=1.0)
