"""The width of text, and its shortening."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autokit.draw.metrics import ELLIPSIS, fit, width


@given(st.text(), st.floats(20, 300), st.booleans())
def test_what_is_fitted_fits(text: str, limit: float, bold: bool) -> None:
    shown = fit(text, 12, limit, bold)
    assert width(shown, 12, bold) <= limit
    if shown != text:
        begin, _, end = shown.partition(ELLIPSIS)
        assert width(text, 12, bold) > limit
        assert text.startswith(begin) and text.endswith(end)


@pytest.mark.parametrize("joined", ["e\u0301", "👩\u200d👩\u200d👧", "✔\ufe0f"])
def test_a_cut_never_parts_what_belongs_together(joined: str) -> None:
    for limit in range(20, 200, 7):
        shown = fit(joined * 30, 12, limit).replace(ELLIPSIS, "")
        assert shown == joined * (len(shown) // len(joined))
