"""Every window beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

BOTH = autokit, torch
SETTINGS = {
    "exponential": st.sampled_from([{}, {"tau": 3.0}, {"center": 2.0, "sym": False}]),
    "gaussian": st.sampled_from([{}, {"std": 3.0}]),
    "general_cosine": st.sampled_from([{"a": [0.4, 0.3, 0.3]}, {"a": (1.0,)}]),
    "general_hamming": st.sampled_from([{}, {"alpha": 0.6}]),
    "kaiser": st.sampled_from([{}, {"beta": 0.0}, {"beta": 5.0}]),
}


def test_there_are_all():
    assert autokit.signal.windows.__all__ == sorted(torch.signal.windows.__all__)


@pytest.mark.parametrize("name", torch.signal.windows.__all__)
@given(st.data())
def test_windows_are_pytorchs(name: str, data: st.DataObject):
    settings = {"sym": data.draw(st.booleans()), **data.draw(SETTINGS.get(name, st.just({})))}
    count, dtype = data.draw(st.integers(0, 40)), data.draw(st.sampled_from([None, "float32", "float64"]))

    def made(T: Any) -> Any:
        of = getattr(T, dtype) if dtype else None
        return getattr(T.signal.windows, name)(count, dtype=of, requires_grad=True, **settings)

    ours, theirs = map(made, BOTH)
    assert str(ours.dtype) == str(theirs.dtype) and ours.requires_grad
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=3e-7)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda w, T: w.hann(-1),
        lambda w, T: w.hann(3, dtype=T.int64),
        lambda w, T: w.hann(3, dtype=T.float16),
        lambda w, T: w.hann(3, layout=T.sparse_coo),
        lambda w, T: w.gaussian(1, std=0),
        lambda w, T: w.exponential(3, tau=-1),
        lambda w, T: w.exponential(3, center=1),
        lambda w, T: w.kaiser(3, beta=-1),
        lambda w, T: w.general_cosine(3, a=[]),
        lambda w, T: w.general_cosine(3, a=3),
        lambda w, T: w.general_cosine(3),
        lambda w, T: w.hann(3, False),
    ],
)
def test_wrong_use_raises_as_in_pytorch(wrong: Callable[[Any, Any], Any]):
    messages = []
    for T in BOTH:
        with pytest.raises((TypeError, ValueError)) as caught:
            wrong(T.signal.windows, T)
        messages.append((caught.type, str(caught.value).partition(" ")[2][:20]))
    assert messages[0][0] is messages[1][0]
    if messages[0][0] is ValueError:
        assert messages[0][1] == messages[1][1]
