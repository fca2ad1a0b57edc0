"""CTC beside PyTorch, and against a sum over all paths."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402


def compare(logits: np.ndarray, target: Any, *lengths: Any, **options: Any) -> None:
    found = []
    for library in (ak, torch):
        x = library.tensor(logits, requires_grad=True)
        y = library.tensor(target)
        loss = library.nn.functional.ctc_loss(x.log_softmax(-1), y, *lengths, **options)
        loss.backward(library.ones_like(loss))
        found.append((loss.detach().numpy(), x.grad.numpy(), loss.grad_fn.name()))
    tolerance = 1e-9 if logits.dtype == np.float64 else 2e-4
    for ours, theirs in zip(found[0][:2], found[1][:2]):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
        assert ours.dtype == theirs.dtype
    assert found[0][2] == found[1][2]


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["mean", "sum", "none"]),
    st.booleans(),
    st.sampled_from(["float32", "float64"]),
)
def test_ctc_loss(seed: int, reduction: str, in_line: bool, dtype: str):
    random = np.random.RandomState(seed)
    times, samples, classes, longest = random.randint(1, 7), random.randint(1, 4), 4, random.randint(1, 4)
    blank = int(random.randint(classes))
    labels = np.array([c for c in range(classes) if c != blank])
    target = labels[random.randint(0, classes - 1, (samples, longest))]
    lengths = random.randint(0, longest + 1, samples)
    if in_line:
        target = target[np.arange(longest) < lengths[:, None]]
    inputs = np.array([random.randint(min(2 * n + 1, times), times + 1) for n in lengths])
    possible = all(n + 1 <= t and 2 * n <= t for n, t in zip(lengths, inputs))
    options: dict[str, Any] = {"blank": blank, "reduction": reduction, "zero_infinity": not possible}
    if not possible and reduction == "none":
        options["reduction"] = "sum"  # PyTorch puts a choice behind the loss then, and so another name
    logits = random.randn(times, samples, classes).astype(dtype)
    compare(logits, target, tuple(inputs.tolist()), tuple(lengths.tolist()), **options)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_one_sample(reduction: str):
    logits = np.random.RandomState(0).randn(5, 4)
    compare(logits, [1, 3], (5,), (2,), reduction=reduction)


def test_what_cannot_be_spelled():
    logits = np.random.RandomState(0).randn(3, 2, 4)
    compare(logits, [[1, 1], [1, 2]], (2, 3), (2, 2), reduction="none")
    compare(logits, [[1, 1], [1, 2]], (2, 3), (2, 2), zero_infinity=True)
    compare(logits, [[1, 1], [1, 2]], (0, 3), (0, 2), reduction="sum")


def test_the_loss_is_a_sum_over_paths():
    probabilities = np.random.RandomState(1).dirichlet(np.ones(3), 4)
    target = (2, 1)
    likelihood = 0.0
    for path in itertools.product(range(3), repeat=4):
        merged = [c for c, _ in itertools.groupby(path)]
        if tuple(c for c in merged if c) == target:
            likelihood += np.prod(probabilities[np.arange(4), path])
    loss = ak.nn.functional.ctc_loss(
        ak.tensor(np.log(probabilities)), ak.tensor(target), [4], [2], reduction="none"
    )
    np.testing.assert_allclose(loss.item(), -np.log(likelihood), rtol=1e-12)


def test_there_is_no_second_derivative():
    for library in (ak, torch):
        x = library.zeros(3, 1, 2, requires_grad=True)
        loss = library.nn.functional.ctc_loss(x.log_softmax(2), library.tensor([[1]]), (3,), (1,))
        (slope,) = library.autograd.grad(loss, x, create_graph=True)
        with pytest.raises(RuntimeError, match="_ctc_loss_backward is not implemented"):
            library.autograd.grad(slope.sum(), x)


WRONG = {
    "too few targets": lambda T, c, x, y: c(x, y[0], (5, 5), (2, 2)),
    "input length": lambda T, c, x, y: c(x, y, (6, 5), (2, 2)),
    "target length": lambda T, c, x, y: c(x, y, (5, 5), (3, 2)),
    "input lengths": lambda T, c, x, y: c(x, y, (5,), (2, 2)),
    "target lengths": lambda T, c, x, y: c(x, y, (5, 5), (2,)),
    "blank": lambda T, c, x, y: c(x, y, (5, 5), (2, 2), blank=4),
    "negative blank": lambda T, c, x, y: c(x, y, (5, 5), (2, 2), blank=-1),
    "reduction": lambda T, c, x, y: c(x, y, (5, 5), (2, 2), reduction="avg"),
    "half": lambda T, c, x, y: c(x.half(), y, (5, 5), (2, 2)),
    "integers": lambda T, c, x, y: c(x.long(), y, (5, 5), (2, 2)),
    "negative input": lambda T, c, x, y: c(x, y, (-1, 5), (2, 2)),
    "negative target": lambda T, c, x, y: c(x, y, (5, 5), (-1, 2)),
    "float lengths": lambda T, c, x, y: c(x, y, (5.0, 5), (2, 2)),
    "tensor of floats": lambda T, c, x, y: c(x, y, T.tensor([5.0, 5]), T.tensor([2, 2])),
    "nothing": lambda T, c, x, y: c(x[:0], y, (0, 0), (2, 2)),
    "dimensions": lambda T, c, x, y: c(x, y[None], (5, 5), (2, 2)),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_refused_as_in_pytorch(call: Any):
    raised = []
    for library in (torch, ak):
        x, y = library.zeros(5, 2, 4), library.tensor([[1, 2], [3, 3]])
        with pytest.raises(Exception) as caught:
            call(library, library.nn.functional.ctc_loss, x, y)
        raised.append(caught)
    assert raised[1].type is raised[0].type
    assert " ".join(str(raised[0].value).split()[:2])[:10] in str(raised[1].value)


def test_a_target_that_is_no_class():
    with pytest.raises(RuntimeError, match="classes from 0 to 3, but 7 is among them"):
        ak.nn.functional.ctc_loss(ak.zeros(5, 1, 4), ak.tensor([[7]]), [5], [1])
