"""No crash, no hang, no silent wrong answer: random calls of every public function, beside PyTorch.

Each run here makes the same few calls; ``python -m tests.fuzz`` makes thousands, and compares errors too.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import require

require("torch")
from tests.fuzz.calls import draw_call  # noqa: E402
from tests.fuzz.compare import DAMAGE, finding  # noqa: E402
from tests.fuzz.signatures import Target, targets  # noqa: E402

EXAMPLES = 4


@pytest.mark.parametrize("target", targets(), ids=lambda target: f"{target.home}.{target.name}")
def test_random_calls_do_no_damage(target: Target):
    @settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None)
    @given(st.integers(0, 2**32))
    def try_calls(seed: int) -> None:
        found = finding(target.name, target.home, draw_call(random.Random(seed), target))
        assert found is None or found.kind not in DAMAGE, f"{found.kind}: {found.words}\n{found.call}"

    try_calls()
