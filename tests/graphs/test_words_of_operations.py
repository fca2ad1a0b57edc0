"""Every operation has its teaching words, and stories of all kinds end with true gradients."""

from __future__ import annotations

from collections.abc import Callable
from string import Formatter

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
