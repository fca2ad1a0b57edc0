"""Changes in place of a tensor of which one place in memory is several elements: expanded, or windows.

What is filled agrees with PyTorch; gradients are those of what was computed, where PyTorch counts one that
reaches a place once for each element there.  What reads and writes a place several times, as ``mul_`` of
windows, has no defined answer in PyTorch; here each place changes once.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

VIEWS = {
    "expanded": lambda T, y: y.expand(2, 3),
    "expanded to the right": lambda T, y: y.view(3, 1).expand(3, 4),
    "windows": lambda T, y: y.unfold(0, 2, 1),
    "as_strided": lambda T, y: y.as_strided((2, 2), (1, 1)),
}
FILLS = {
    "fill_": lambda T, v, w: v.fill_(0.5),
    "zero_": lambda T, v, w: v.zero_(),
    "masked_fill_": lambda T, v, w: v.masked_fill_(v > 1.5, 0.5),
    "masked_fill_, by what learns": lambda T, v, w: v.masked_fill_(v > 1.5, w),
    "masked_fill_, by what is there": lambda T, v, w: v.masked_fill_(T.eye(*v.shape) > 0, 2.0),
    "a mask": lambda T, v, w: v.__setitem__(v > 1.5, 0.5),
    "a mask, by what learns": lambda T, v, w: v.__setitem__(v > 1.5, w),
    "a number": lambda T, v, w: v.__setitem__(0, 0.5),
    "what learns": lambda T, v, w: v.__setitem__(0, w),
    "a column": lambda T, v, w: v.__setitem__((slice(None), 0), 0.5),
    "a list": lambda T, v, w: v.__setitem__([0], 0.5),
    "a list, by what learns": lambda T, v, w: v.__setitem__([0], w),
    "index_fill_": lambda T, v, w: v.index_fill_(0, T.tensor([0]), 0.5),
    "index_fill_, by what learns": lambda T, v, w: v.index_fill_(0, T.tensor([0]), w),
    "index_fill_, by what is there": lambda T, v, w: v.index_fill_(0, T.tensor([0]), w * 0 + 1),
    "index_put_": lambda T, v, w: v.index_put_((T.tensor([0]),), w),
    "tril_": lambda T, v, w: v.tril_(),
    "triu_": lambda T, v, w: v.triu_(1),
    "fill_diagonal_": lambda T, v, w: v.fill_diagonal_(0.5),
    "copy_ of one": lambda T, v, w: v.copy_(w),
}
OTHERS = {
    "scatter_": lambda T, v, w: v.scatter_(0, T.tensor([[0]]), 0.5),
    "put_": lambda T, v, w: v.put_(T.tensor([0]), T.tensor([0.5], dtype=T.float64)),
    "relu_": lambda T, v, w: v.relu_(),
    "clamp_": lambda T, v, w: v.clamp_(0, 2.5),
    "mul_": lambda T, v, w: v.mul_(2),
    "sin_": lambda T, v, w: v.sin_(),
    "mul_, by what learns": lambda T, v, w: v.mul_(w),
}
BASES = {"computed": lambda T, x: x * 1, "buffer": lambda T, x: x.detach().clone()}


def run(T: Any, base: str, view: str, change: Any, numbers: Any, unrecorded: bool = False) -> Any:
    """The leaves, what the change left, and a loss of it; or the error."""
    leaves = [T.tensor(each, dtype=T.float64, requires_grad=True) for each in numbers]
    x, w = leaves
    y = BASES[base](T, x)
    seen = VIEWS[view](T, y)
    with warnings.catch_warnings(), T.set_grad_enabled(not unrecorded):
        warnings.simplefilter("ignore")
        change(T, seen, w)
    end = (seen * seen).sum() + (y**3).sum() + 0 * (x.sum() + w)
    return leaves, (seen.tolist(), y.tolist(), seen._version, seen.requires_grad), end


def answer(T: Any, *arguments: Any) -> Any:
    """What the change left, and the gradients; or which of the two was refused."""
    try:
        leaves, left, end = run(T, *arguments)
    except RuntimeError as error:
        assert "more than one element" in str(error)
        return "refused", None
    try:
        return left, [each.tolist() for each in T.autograd.grad(end, leaves)]
    except RuntimeError as error:
        assert "more than one element" in str(error)
        return left, "refused"


NUMBERS = [1.0, 2.0, 3.0], 0.25


@pytest.mark.parametrize("unrecorded", [False, True], ids=["recorded", "unrecorded"])
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("change", FILLS)
def test_what_is_filled_answers_as_in_pytorch(change: str, view: str, base: str, unrecorded: bool) -> None:
    ours, theirs = (answer(T, base, view, FILLS[change], NUMBERS, unrecorded) for T in (autokit, torch))
    assert ours[0] == theirs[0]
    assert (ours[1] == "refused") == (theirs[1] == "refused")


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("change", FILLS | OTHERS)
def test_gradients_are_those_of_what_was_computed(change: str, view: str, base: str) -> None:
    function = (FILLS | OTHERS)[change]
    left, gradients = answer(autokit, base, view, function, NUMBERS)
    if "refused" in (left, gradients):
        return

    def end(x: Any, w: float) -> float:
        """The same loss, without a graph, a little aside."""
        y = autokit.tensor(x if base == "computed" else NUMBERS[0], dtype=autokit.float64)
        seen = VIEWS[view](autokit, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(autokit, seen, autokit.tensor(w, dtype=autokit.float64))
        return float((seen * seen).sum() + (y**3).sum())

    step = 1e-6
    for place in range(3):
        aside = [[each + sign * step * (n == place) for n, each in enumerate(NUMBERS[0])] for sign in (1, -1)]
        slope = (end(aside[0], NUMBERS[1]) - end(aside[1], NUMBERS[1])) / (2 * step)
        np.testing.assert_allclose(gradients[0][place], slope, rtol=1e-5, atol=1e-5)
    slope = (end(NUMBERS[0], NUMBERS[1] + step) - end(NUMBERS[0], NUMBERS[1] - step)) / (2 * step)
    np.testing.assert_allclose(gradients[1], slope, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("T", [autokit, torch], ids=["autokit", "torch"])
def test_a_part_that_names_each_place_once_is_written_alone(T: Any) -> None:
    """The other windows kept their old elements, and wrote them over the new ones."""
    y = T.tensor([1.0, 2.0, 3.0])
    y.unfold(0, 2, 1)[0] = 5.0
    assert y.tolist() == [5.0, 5.0, 3.0]
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    z = x * 1
    windows = z.unfold(0, 2, 1)
    windows[0] = 5.0
    assert windows.tolist() == [[5.0, 5.0], [5.0, 3.0]]
    (windows**2).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 6.0]
