"""``torch.masked`` beside PyTorch: values, dtypes and gradients, of masks with rows of nothing, too."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import autokit
from tests.ops.beside import assert_same
from tests.support import require

require("torch")
import torch  # noqa: E402
import torch.masked  # noqa: E402

VALUES = [[0.5, -1.0, 2.0, 3.0], [1.5, 1.5, -0.5, 0.25], [4.0, 0.0, -2.0, 1.0]]
MASK = [[True, False, True, True], [False, False, False, False], [True, True, True, True]]
REDUCTIONS = ("sum", "prod", "mean", "amax", "amin", "logsumexp", "std", "var", "norm")
ALONG = ("softmax", "log_softmax", "softmin", "cumsum", "cumprod")


def both(call: Any, dtype: str = "float64") -> list[Any]:
    """The result, and the gradient of a weighted sum of it, in each library."""
    made = []
    for library in (autokit, torch):
        x = library.tensor(VALUES, dtype=getattr(library, dtype))
        x.requires_grad_(x.is_floating_point())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = call(library, x, library.tensor(MASK))
            slope = None
            if out.requires_grad:
                weights = library.arange(out.numel(), dtype=out.dtype).reshape(out.shape) - 1.5
                (slope,) = library.autograd.grad(out, x, weights)
        made.append((out, slope))
    return made


def check(call: Any, dtype: str = "float64") -> None:
    (mine, my_slope), (other, slope) = both(call, dtype)
    assert_same(mine, other)
    assert (my_slope is None) == (slope is None)
    if slope is not None:
        assert_same(my_slope, slope)


@pytest.mark.parametrize("dim", [0, 1, -1, (0, 1), (), None])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, dim: Any):
    for settings in ({}, {"keepdim": True}, {"dtype": "float64"}):

        def call(T: Any, x: Any, mask: Any, settings: Any = settings) -> Any:
            given = {k: getattr(T, v) if k == "dtype" else v for k, v in settings.items()}
            return getattr(T.masked, name)(x, dim=dim, mask=mask, **given)

        check(call, "float32" if settings.get("dtype") else "float64")
    check(lambda T, x, mask: getattr(T.masked, name)(x, dim=dim))


@pytest.mark.parametrize("name", ALONG)
def test_along_a_dimension(name: str):
    for dim in (0, 1):
        check(lambda T, x, mask, dim=dim: getattr(T.masked, name)(x, dim, mask=mask))
        check(
            lambda T, x, mask, dim=dim: getattr(T.masked, name)(x, dim, dtype=T.float64, mask=mask[2]),
            "float32",
        )


CALLS = [
    lambda T, x, mask: T.masked.argmax(x, 1, mask=mask),
    lambda T, x, mask: T.masked.argmin(x, mask=mask, keepdim=True),
    lambda T, x, mask: T.masked.median(x, 1, mask=mask),
    lambda T, x, mask: T.masked.median(x, 0, keepdim=True),
    lambda T, x, mask: T.masked.norm(x, 1, 1, mask=mask),
    lambda T, x, mask: T.masked.norm(x, -float("inf"), 1, mask=mask),
    lambda T, x, mask: T.masked.normalize(x, 2.0, 1, mask=mask),
    lambda T, x, mask: T.masked.var(x, 1, False, mask=mask),
    lambda T, x, mask: T.masked.std(x, 0, correction=2, mask=mask),
    lambda T, x, mask: T.masked.logaddexp(x, x * 2, input_mask=mask, other_mask=~mask),
    lambda T, x, mask: T.masked.sum(x.detach().long(), 1, mask=mask),
    lambda T, x, mask: T.masked.amax(x.detach().int(), 1, mask=mask),
    lambda T, x, mask: T.masked.prod(x.detach().long(), 0, mask=mask[0]),
]


@pytest.mark.parametrize("call", CALLS)
def test_others(call: Any):
    check(call)


@pytest.mark.parametrize(
    "call",
    [
        lambda T, x, mask: T.masked.mean(x.detach().long(), 1, mask=mask),
        lambda T, x, mask: T.masked.sum(x, 5, mask=mask),
        lambda T, x, mask: T.masked.sum(x, 1, mask=mask[:, :2]),
        lambda T, x, mask: T.masked.var(x, 1, True, correction=1, mask=mask),
        lambda T, x, mask: T.masked.median(x.detach().long(), 1, mask=mask),
    ],
)
def test_mistakes_raise_as_in_pytorch(call: Any):
    with pytest.raises(Exception) as theirs:
        call(torch, torch.tensor(VALUES), torch.tensor(MASK))
    with pytest.raises(theirs.type):
        call(autokit, autokit.tensor(VALUES), autokit.tensor(MASK))


def test_a_tensor_that_holds_its_mask_says_what_to_use():
    with pytest.raises(AttributeError, match=r"torch.masked.MaskedTensor, autokit has not yet; use"):
        _ = autokit.masked.MaskedTensor
