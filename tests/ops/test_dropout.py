"""Dropout: PyTorch's masks from PyTorch's seeds, what it leaves alone, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import pytorch, refused
from tests.support import on_intel

NAMES = ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"]
SHAPES = {
    "dropout": [(), (7,), (3, 4), (0, 3)],
    "dropout1d": [(3, 4), (2, 3, 4)],
    "dropout2d": [(2, 3, 4), (2, 3, 4, 2)],
    "dropout3d": [(2, 3, 4, 2), (2, 3, 2, 2, 2)],
    "alpha_dropout": [(7,), (3, 4)],
}
CASES = [(name, shape) for name in NAMES for shape in SHAPES[name]]


def _outcome(T: Any, name: str, shape: tuple[int, ...], dtype: str, turned: bool, *how: Any) -> list[Any]:
    """The result, the gradient, and what the stream gives next."""
    T.manual_seed(5)
    leaf = T.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape).to(getattr(T, dtype))
    leaf = (leaf.transpose(0, 1).detach() if turned and len(shape) > 1 else leaf).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = getattr(T.nn.functional, name)(leaf * 1, *how)
    result.sum().backward()
    return [tensor.detach().numpy() for tensor in (result, leaf.grad, T.rand(2))]


@pytest.mark.skipif(on_intel(), reason="on Intel's processors PyTorch draws masks from another stream")
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(("name", "shape"), CASES)
def test_masks_and_gradients_are_pytorchs(name: str, shape: tuple[int, ...], dtype: str):
    for turned in (False, True):
        for p in (0, 0.1, 0.5, 1):
            for how in ((True, False), (True, True), (False, False)):
                ours = _outcome(autokit, name, shape, dtype, turned, p, *how)
                theirs = _outcome(pytorch, name, shape, dtype, turned, p, *how)
                for mine, other in zip(ours, theirs):
                    assert mine.dtype == other.dtype
                    near = 4e-3 if dtype == "float16" else 1e-6
                    np.testing.assert_allclose(mine, other, rtol=near, atol=near)


def test_in_place_overwrites():
    autokit.manual_seed(0)
    for name, shape in CASES[-7:]:
        x = autokit.ones(*shape)
        assert getattr(autokit.nn.functional, name)(x, 0.5, True, True) is x
        assert x.tolist() != autokit.ones(*shape).tolist()


def test_a_channel_is_dropped_as_a_whole():
    autokit.manual_seed(0)
    x = autokit.nn.functional.dropout2d(autokit.ones(50, 4, 3, 3), 0.5).numpy()
    assert set(x.reshape(200, 9).min(1)) == set(x.reshape(200, 9).max(1)) == {0, 2}


def test_without_training_it_is_the_tensor_itself():
    x = autokit.ones(3)
    assert autokit.nn.functional.dropout(x, 0.5, False) is x is autokit.nn.functional.dropout(x, 0.0)


REFUSED = [
    (lambda T: T.nn.functional.dropout(T.ones(3), 1.5), "between 0 and 1, but got 1.5"),
    (lambda T: T.nn.functional.dropout2d(T.ones(3, 2, 2, 2), -0.5), "between 0 and 1, but got -0.5"),
    (lambda T: T.nn.functional.dropout1d(T.ones(3)), "Expected 2D or 3D input, but got 1D"),
    (lambda T: T.nn.functional.dropout([1.0, 2.0]), "must be Tensor, not list"),
]

test_what_pytorch_refuses_is_refused_in_a_sentence = refused(REFUSED)
