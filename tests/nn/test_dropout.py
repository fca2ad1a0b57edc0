"""Dropout: PyTorch's masks from PyTorch's seeds, and its refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.support import on_intel, require

require("torch")
import torch  # noqa: E402

NAMES = ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"]
SHAPES: list[tuple[int, ...]] = [(), (7,), (3, 4), (2, 3, 4), (2, 3, 4, 2), (2, 3, 2, 2, 2), (0, 3, 2)]


def outcome(library: Any, name: str, shape: tuple[int, ...], dtype: str, turned: bool, *how: Any) -> Any:
    """The result, the gradient, and what the stream gives next; or the error."""
    library.manual_seed(5)
    leaf = library.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape).to(getattr(library, dtype))
    leaf = (leaf.transpose(0, 1).detach() if turned and len(shape) > 1 else leaf).requires_grad_()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = getattr(library.nn.functional, name)(leaf * 1, *how)
        except (RuntimeError, ValueError, IndexError) as error:
            return type(error), str(error)[:50]
    result.sum().backward()
    values = [tensor.detach().numpy() for tensor in (result, leaf.grad, library.rand(2))]
    if on_intel():
        values = [np.zeros_like(value) for value in values]
    return [value.dtype for value in values], values, [str(each.message) for each in caught]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.sampled_from(SHAPES),
    st.sampled_from(["float32", "float64", "float16"]),
    st.booleans(),
    st.sampled_from([0, 0.1, 0.5, 1, 1.5]),
    st.booleans(),
    st.booleans(),
)
def test_masks_gradients_and_refusals_are_pytorchs(
    name: str, shape: tuple[int, ...], dtype: str, turned: bool, p: float, training: bool, inplace: bool
):
    ours = outcome(autokit, name, shape, dtype, turned, p, training, inplace)
    theirs = outcome(torch, name, shape, dtype, turned, p, training, inplace)
    if isinstance(theirs, tuple) and isinstance(theirs[0], type):
        assert ours == theirs
        return
    assert ours[0] == theirs[0] and ours[2] == theirs[2]
    for mine, other in zip(ours[1], theirs[1]):
        np.testing.assert_allclose(mine, other, rtol=2e-3 if dtype == "float16" else 1e-6, atol=1e-6)


def test_in_place_overwrites():
    autokit.manual_seed(0)
    for name in NAMES:
        x = autokit.ones(2, 3, 4)
        assert getattr(autokit.nn.functional, name)(x, 0.5, True, True) is x
        assert x.tolist() != autokit.ones(2, 3, 4).tolist()


@pytest.mark.parametrize("name", ["dropout1d", "dropout3d"])
def test_channels_without_samples_in_place(name: str):
    x = autokit.ones(*(3, 4) if name == "dropout1d" else (3, 2, 2, 2))
    assert getattr(autokit.nn.functional, name)(x, 1.0, True, True) is x
    assert not x.any()
