"""Every operation has its teaching words, and stories of all kinds end with true gradients."""

from __future__ import annotations

import re
from collections.abc import Callable
from string import Formatter

import numpy as np
import pytest

import autokit as ak
from autokit import nn
from autokit.engine.operation import OPERATIONS
from autokit.graphs.words import fill
from autokit.nn import functional as F

x = ak.tensor([[0.5, 1.2, 2.0], [1.7, 0.3, 0.9]])
PROGRAMS: dict[str, Callable[[ak.Tensor], ak.Tensor]] = {
    "arithmetic": lambda x: 2 * x - x / 3 + 1 / x - x**3 + 2**x - (-x),
    "exponential": lambda x: x.exp() + x.log() + x.sqrt() + x.log1p() + x.expm1() + x.rsqrt(),
    "trigonometry": lambda x: x.sin() + x.cos() * x.tanh() + x.atan() + x.sinh(),
    "rounding": lambda x: x.abs() + x.floor() + x.sign() + x.frac(),
    "activations": lambda x: x.relu() + x.sigmoid() + F.gelu(x) + F.silu(x) + F.elu(x) + F.softplus(x),
    "choice": lambda x: x.clamp(0.4, 1.5) + x.clamp(min=1) + ak.where(x > 1, x, 0.0) + x.maximum(x.flip(0)),
    "reductions": lambda x: x.mean() + x.std() + x.var(0).sum() + x.norm() + x.prod() + x.logsumexp(1).sum(),
    "extremes": lambda x: x.max() + x.min(0).values + x.amax(1).sum() + x.topk(2).values.sum(),
    "scans": lambda x: x.cumsum(0) + x.cumprod(1) + x.sort(1).values + x.softmax(1) * x.log_softmax(0),
    "shapes": lambda x: x.T.reshape(2, 3) + x.view(6).unflatten(0, (2, 3)) + x.unsqueeze(0).squeeze(0),
    "joins": lambda x: ak.cat([x, x * 2]).sum() + ak.stack([x, x.flip(1)]).mean() + x.repeat(2, 1).sum(),
    "places": lambda x: x[0] + x[:, 1:].sum() + x.gather(1, ak.tensor([[0], [2]])).sum() + x[ak.tensor([1])],
    "masks": lambda x: x.masked_fill(x > 1, 0.0) + x.tril() + F.pad(x, (1, 1)).sum(),
    "products": lambda x: x @ x.T + (x[0] @ x[1]) + ak.outer(x[0, :2], x[1, :2]),
    "einsum": lambda x: ak.einsum("ij,kj->ik", x, x) + ak.bmm(x[None], x.T[None])[0],
    "linear algebra": lambda x: (a := x @ x.T).inverse() + ak.linalg.det(a) + ak.linalg.solve(a, x).sum(),
    "several results": lambda x: ak.linalg.svd(x).S.sum() + sum(map(ak.sum, ak.linalg.qr(x @ x.T))),
    "losses": lambda x: F.mse_loss(x, x.flip(0)) + F.smooth_l1_loss(x, x * 2) + F.huber_loss(x, x * 3),
    "classes": lambda x: (
        F.cross_entropy(x, ak.tensor([0, 2])) + F.binary_cross_entropy(x.sigmoid(), ak.ones(2, 3))
    ),
    "written": lambda x: write(x * 1),
    "layers": lambda x: nn.LayerNorm(3)(x) * F.layer_norm(x, (3,)) + nn.Linear(3, 3)(x),
    "images": lambda x: nn.Conv2d(1, 2, 2)(x[None, None]).sum() + F.max_pool2d(x[None], 2).sum(),
    "recurrence": lambda x: nn.LSTM(3, 2)(x[:, None])[0].sum() + nn.GRU(3, 2)(x[:, None])[1].sum(),
    "embedding": lambda x: F.embedding(ak.tensor([1, 0, 1]), x).sum() + F.dropout(x),
    "dtypes": lambda x: x.double() * ak.tensor([1, 2, 3]) + x,
}


def write(y: ak.Tensor) -> ak.Tensor:
    y[0, 1] = 5.0
    y[1] *= 3
    y += 1
    return y


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_has_a_symbol_a_formula_and_local_derivatives(name: str):
    operation = OPERATIONS[name]
    templates = [operation.formula, *filter(None, map(operation.local, operation.operands))]
    assert operation.symbol and operation.formula
    assert len(templates) > 1 or not operation.derivatives
    known = {*operation.operands, *operation.defaults, "out"}
    for template in templates:
        assert {field for _, field, _, _ in Formatter().parse(template) if field is not None} <= known
        for words in (dict.fromkeys(known, "x"), {"out": "y"}):
            assert not set("{}") & set(fill(template, words))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_story_is_told_to_its_end_and_central_differences_agree(name: str):
    ak.manual_seed(0)
    leaf = x.clone().requires_grad_()
    result = PROGRAMS[name](leaf)
    timeline = ak.record((result * ak.linspace(0.5, 2, result.numel()).reshape(result.shape)).sum())
    for step in timeline:
        assert step.sentence.strip() and not set("{}") & set(step.formula), step
    assert all(account.agrees for account in timeline.accounts if account.agrees is not None)
    assert timeline.accounts and timeline.steps[-1].sentence.startswith("Done")


rows = ak.tensor([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]], requires_grad=True)
w = ak.tensor([[0.5, 1.0, -1.5], [2.0, 0.125, 0.75]], requires_grad=True)
b = ak.tensor([0.1, 0.2], requires_grad=True)
right, image = ak.tensor([0, 2]), ak.arange(32.0).reshape(2, 1, 4, 4).requires_grad_()
kernel, per_channel = ak.ones(3, 1, 2, 2, requires_grad=True), ak.ones(3, requires_grad=True)

SENTENCES: dict[str, tuple[Callable[[], ak.Tensor], list[str]]] = {
    "linear": (
        lambda: F.linear(rows, w, b),
        [
            "Entry j of a row of rows gets the sum over all outputs i of the upstream gradient "
            "times w[i, j].",
            "Row i of the gradient of w is the upstream gradient of output i times the numbers of rows, "
            "summed over the 2 rows.",
            "The gradient of b is the upstream gradient, summed over the 2 rows.",
        ],
    ),
    "matmul": (
        lambda: rows @ w.T,
        [
            "Row i of rows made row i of out: its gradient is the upstream gradient of that row times wᵀ",
            "Row j of wᵀ was multiplied by column j of rows: its gradient adds up the rows of the upstream",
        ],
    ),
    "relu": (
        lambda: rows.relu(),
        ["2 of 6 values were below 0: there the gradient stops, the others pass it on."],
    ),
    "softmax": (lambda: rows.softmax(-1), ["Shares add up to 1, so one grows at the cost"]),
    "cross_entropy": (
        lambda: F.cross_entropy(rows, right),
        ["In each row only the right class, which right names,", "Every score gets its upstream gradient"],
    ),
    "mse_loss": (lambda: F.mse_loss(rows, w.detach()), ["Each prediction gets its own error, rows − "]),
    "layer_norm": (
        lambda: F.layer_norm(rows, (3,), per_channel, per_channel * 1),
        [
            "Moving or stretching a whole group changes nothing",
            "times the standardized values",
            "upstream gradient, added up",
        ],
    ),
    "batch_norm": (lambda: nn.BatchNorm1d(3)(rows), ["Moving or stretching a whole group changes nothing"]),
    "dropout": (lambda: F.dropout(rows, 0.5), ["Element by element, the upstream gradient times v1, here "]),
    "embedding": (
        lambda: F.embedding(right, image.view(8, 4)),
        ["adds up the upstream gradients of the places that read it."],
    ),
    "conv2d": (
        lambda: F.conv2d(image, kernel, per_channel),
        [
            "Each input adds up, over its windows, the upstream gradient times the weight it met",
            "Each weight adds up, over all windows, the upstream gradient times the input it met",
            "The gradient of per_channel is the upstream gradient, summed over all positions.",
        ],
    ),
    "max_pool": (
        lambda: F.max_pool2d(image, 2),
        ["The upstream gradient passes at the largest value of each window; elsewhere it stops."],
    ),
    "mean": (lambda: rows.mean(0), ["Each value gets 1/2 of the upstream gradient"]),
    "sum": (lambda: rows.sum(), ["Each value gets the upstream gradient of its sum."]),
    "cat": (lambda: ak.cat([rows, w]), ["Each part gets its own part of the upstream"]),
    "index": (
        lambda: rows[0],
        ["each number goes back to the place it came from, and what was not read gets 0."],
    ),
    "reshape": (
        lambda: rows.reshape(6),
        ["Nothing is computed: each number goes back to the place it came from."],
    ),
    "transpose": (lambda: rows.T, ["Nothing is computed: each number goes back to the place it came from."]),
    "expand": (
        lambda: b.expand(3, 2),
        ["Each copy of a value passes its upstream gradient on to that value."],
    ),
    "sigmoid": (
        lambda: rows.sigmoid(),
        ["Element by element, the upstream gradient times out · (1 − out), here "],
    ),
    "tanh": (
        lambda: rows.tanh(),
        ["Element by element, the upstream gradient times 1 − out², here 0.0099 to 0.94."],
    ),
    "exp": (lambda: rows.exp(), ["Element by element, the upstream gradient times out, here 0.14 to 20."]),
    "log": (lambda: image.log(), ["Element by element, the upstream gradient times 1 / image"]),
    "pow": (
        lambda: rows**2,
        ["Element by element, the upstream gradient times 2 · rows", ", here −4.0 to 6.0."],
    ),
    "div": (lambda: rows / 4.0, ["Element by element, the upstream gradient times 1 / 4, here all 0.25."]),
    "where": (lambda: ak.where(rows > 0, rows, 0.0), ["The upstream gradient passes where "]),
    "add": (lambda: rows + w, ["rows gets the upstream gradient unchanged.", "w gets the upstream gradient"]),
    "sub": (lambda: rows - w, ["w gets the upstream gradient, with the other sign."]),
}
"""For the operations that the lessons use: what is said of their derivatives, and in which words."""


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_about_tensors_says_what_happens(name: str) -> None:
    made, wanted = SENTENCES[name]
    out = made()
    with np.errstate(divide="ignore"):
        steps = ak.record(out.sum() if out.ndim else out).steps
    told = [step.sentence for step in steps if step.kind == "local"]
    for part in wanted:
        assert any(part in sentence for sentence in told), told
    for step in steps:
        assert re.match(r"[^\W\d_]|∂|−?\d", step.sentence) and not step.sentence.startswith("Number ")
        assert " … " not in step.sentence and "gᵀ" not in step.sentence
