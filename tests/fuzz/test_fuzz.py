"""A few random calls of every family of functions, beside PyTorch; ``python -m tests.fuzz`` makes 100,000."""

from __future__ import annotations

import pytest

from tests.fuzz.rows import ROWS
from tests.support import require

require("torch")
from tests.fuzz.calls import AGREED, CHOICE, difference, drawn  # noqa: E402

MENDED = """
x[c], y[]: F.cosine_similarity(x, y, 0)
x[]: T.norm(x, 0, 0, True)
x[]: abs(x.transpose(0, -1))
x[zb]: F.cross_entropy(x, T.zeros(z).long(), ignore_index=0)
x[ab], y[bc]: T.tensordot(x.half(), y.half(), 1)
"""
"""Rows that once found something."""

CALLS = 12
"""How many calls are made of each row here, and at least three of each alternative of its first choice."""


@pytest.mark.parametrize("row", (ROWS + MENDED).replace("\n\n", "\n").strip().split("\n"))
def test_random_calls_give_what_pytorch_gives(row: str):
    choice = CHOICE.search(row)
    alternatives = choice[1].split("|") if choice else [row]
    answered = set()
    for turn in range(max(CALLS, 3 * len(alternatives))):
        one = drawn(row, seed=turn, turn=turn)
        differs = difference(one.call, one.strided)
        assert differs in (None, AGREED), one.call
        if differs is not None:
            answered.add(alternatives[turn % len(alternatives)])
    assert answered == {*alternatives}, "PyTorch takes each of them"


def test_a_call_shows_how_to_repeat_it():
    call = drawn("x[ab], y[b]: {x @ y}", 0).call
    names = dict(call.operands)
    assert str(call).endswith("; x @ y") and all(f"{name} = T.tensor(" in str(call) for name in names)
