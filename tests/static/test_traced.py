"""Every operation is traced, with its derivatives, and runs on other numbers as the eager one does."""

from __future__ import annotations

import numpy as np
import pytest

import autokit as torch
from autokit import nn
from autokit.engine.detours import Detour
from autokit.engine.operation import OPERATIONS
from autokit.nn import functional as F
from autokit.static.step import compile

PLACES = torch.tensor([[0, 2, 1], [1, 0, 0], [2, 2, 1]])
ROWS = torch.tensor([2, 0, 2])


def written(x, y):
    z = x * 1
    z[1:, 0] = y[0, :2]
    z[PLACES[0] > 5] = 0.0
    z[0] *= 2
    return z


def spd(x):
    return x @ x.T + 3 * torch.eye(3)


CALLS = {
    "images": lambda x, y: nn.functional.conv2d(x.reshape(1, 1, 3, 3), y[:2, :2].reshape(1, 1, 2, 2)),
    "images back": lambda x, y: F.conv_transpose2d(x.reshape(1, 1, 3, 3), y.reshape(1, 1, 3, 3), stride=2),
    "pooling": lambda x, y: F.max_pool2d(x[None], 2, 1) + F.avg_pool2d(y[None], 2, 1),
    "folding": lambda x, y: F.fold(F.unfold(x.reshape(1, 1, 3, 3), 2), (3, 3), 2) * y,
    "resizing": lambda x, y: F.interpolate((x * y).reshape(1, 1, 3, 3), scale_factor=2, mode="bilinear"),
    "indices": lambda x, y: x[ROWS] * y.gather(1, PLACES) + x.take_along_dim(PLACES, 0) + x[0],
    "rows": lambda x, y: F.embedding(ROWS, y) * x,
    "scattered": lambda x, y: x.scatter(1, PLACES, y) + x.scatter_add(1, PLACES, y) + x.index_add(0, ROWS, y),
    "brought together": lambda x, y: x.scatter_reduce(1, PLACES, y, "amax") + x.index_fill(0, ROWS, 2.0),
    "written": written,
    "joined": lambda x, y: torch.cat([x, y]).sum() + torch.stack([x, y]).roll(1, 0) + torch.rot90(x),
    "shapes": lambda x, y: x.T.reshape(9).view(3, 3).unsqueeze(0).squeeze(0) + y.permute(1, 0).movedim(0, 1),
    "parts": lambda x, y: (
        torch.tril(x.t()) + y.triu() + x.diagonal().diag_embed() + F.pad(x, (0, 1))[:, 1:] + y.flip(0)
    ),
    "repeated": lambda x, y: x.repeat(2, 1)[1:4] + y.expand(2, 3, 3)[1] + x.repeat_interleave(2, 0)[:3],
    "products": lambda x, y: (
        x @ y + torch.einsum("ij,kj->ik", x, y) + torch.bmm(x[None], y[None])[0] + x @ y[0]
    ),
    "dots": lambda x, y: x[0] @ y[0] + torch.linalg.cross(x, y) + torch.cdist(x, y) + F.linear(x, y, y[0]),
    "solving": lambda x, y: torch.linalg.solve(spd(x), y) + torch.linalg.inv(spd(x)),
    "inverted": lambda x, y: torch.linalg.pinv(spd(y)) * x,
    "powers": lambda x, y: torch.linalg.matrix_power(x, 3) + torch.linalg.lstsq(spd(x), y).solution,
    "triangles": lambda x, y: torch.linalg.solve_triangular(torch.linalg.cholesky(spd(x)), y, upper=False),
    "determinants": lambda x, y: torch.linalg.det(spd(x)) + torch.linalg.slogdet(spd(y))[1],
    "decomposed": lambda x, y: (
        torch.linalg.svd(x).S + torch.linalg.qr(y).R.abs() + torch.linalg.eigh(spd(x))[0]
    ),
    "sorted": lambda x, y: x.sort(1).values + y.topk(3).values + x.kthvalue(2, 1).values + y.mode(1).values,
    "extremes": lambda x, y: x.max() + y.min() + x.max(1).values + y.min(0).values + x.amax(1) + y.amin(),
    "more extremes": lambda x, y: x.median(1).values + x.cummax(0).values + y.cummin(1).values + x.median(),
    "scans": lambda x, y: x.cumsum(0) + y.cumprod(1) + x.logcumsumexp(1),
    "reduced": lambda x, y: x.sum() + y.mean(1) + x.prod() + y.prod(1) + x.var() + y.std(1),
    "summed": lambda x, y: x.nansum() + y.norm() + x.logsumexp(1),
    "counted": lambda x, y: (x > 1).any(1) + (y > 1).all() + (x > y).count_nonzero() + 0.0 * x,
    "places": lambda x, y: x.argmax(1) + y.argmin(0) + x.transpose(0, 1),
    "normalized": lambda x, y: F.layer_norm(x, (3,), y[0], y[1]) + F.batch_norm(y, None, None, training=True),
    "recurrent": lambda x, y: sum([layer(x[:, None])[0] * y[:1, :2] for layer in RECURRENT]),
    "losses": lambda x, y: F.mse_loss(x, y) + F.nll_loss(x, ROWS),
    "odds": lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid().detach()),
    "logits": lambda x, y: (
        F.binary_cross_entropy_with_logits(x, y.sigmoid().detach()) + F.cross_entropy(y, ROWS)
    ),
    "bounded": lambda x, y: x.clamp(0.5, 1.5) + F.hardtanh(y) + F.threshold(x, 1.0, 0.0) + x.clamp(min=y),
    "leaking": lambda x, y: F.prelu(x - 1, y[0, :1]) + F.elu(x) + F.leaky_relu(y) + F.gelu(x),
    "chosen": lambda x, y: torch.where(x > y, x, y) + x.masked_fill(y > 1, 0.0) + torch.heaviside(x, y),
    "softmax": lambda x, y: x.softmax(1) + y.log_softmax(0) + F.softplus(x) + torch.lerp(x, y, 0.3),
    "whole numbers": lambda x, y: (((PLACES & 1) | 2) ^ (~PLACES << 1)) // 2 + (x * 3).long() + 0.0 * x,
    "dtypes": lambda x, y: x.double() + y.long() + torch.div(x, y, rounding_mode="floor") + x.nan_to_num(),
    "found": lambda x, y: torch.isin(ROWS, PLACES[0]) + torch.isclose(x, x) + torch.polygamma(1, x),
    "tables": lambda x, y: F.hardshrink(x) + F.softshrink(y) + x.clone() + y.round() + (x / 4).logit(),
}
RECURRENT = [nn.LSTM(3, 2), nn.GRU(3, 2), nn.RNN(3, 2)]
PLAIN = {
    name
    for name, rule in OPERATIONS.items()
    if len(rule.operands) in (1, 2) and not (rule.defaults or rule.variadic or rule.optional or rule.view)
}
"""Operations of one or two tensors and nothing else."""
NOT_CALLED = {
    "drawn": "its numbers come from a generator: test_step.py",
    "normal": "its numbers come from a generator: test_step.py",
    **dict.fromkeys(("_gamma_draw", "_share_draw"), "a distribution's, once it is imported: a draw"),
    **dict.fromkeys(("_slope_of_gamma", "_slope_of_share"), "a derivative of these"),
    "eig": "its results are complex numbers, which autokit refuses",
    "i1": "a derivative of i0",
    "add_rows": "the derivative of embedding",
    "convolution_by_weight": "a derivative of convolution",
    "move": "it brings a tensor to another device",
    "copy_": "recorded where a tensor is written to",
}


class Names(Detour):
    """The operations that ran."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def apply(self, operation, operands, settings, proceed):
        self.seen.add(operation.name)
        return proceed(operands, settings)


def call_of(name):
    if name in CALLS:
        return CALLS[name]
    function, count = OPERATIONS[name].function, len(OPERATIONS[name].operands)
    whole = name.startswith("bitwise")
    if whole:
        return lambda x, y: function(*[(x * 9).long(), (y * 9).long() + 1][:count])
    if name in ("acosh", "asin", "acos", "atanh", "erfinv", "logit", "ndtri"):
        return lambda x, y: function(1 + x if name == "acosh" else x / 4)
    return lambda x, y: function(*[x, y][:count])


def outcome(call):
    """A function that computes results, gradients, and their gradients."""

    def run(x, y):
        result = call(x, y)
        found = [result]
        if result.requires_grad:
            weights = torch.linspace(0.5, 2, result.numel()).reshape(result.shape).to(result.dtype)
            found += torch.autograd.grad((result * weights).sum(), (x, y), allow_unused=True)
        return found

    return run


def inputs(seed):
    numbers = np.random.RandomState(seed).uniform(0.3, 3, (2, 3, 3)).astype(np.float32)
    return [torch.tensor(each).requires_grad_() for each in numbers]


ELSEWHERE = {
    *("mm", "mv", "dot", "bmm", "det", "slogdet", "inv", "solve", "eigh", "cholesky", "nll_loss"),
}
"""Operations that need operands of other shapes, which :data:`CALLS` has for them."""
NAMES = sorted({*CALLS, *PLAIN} - ELSEWHERE - set(NOT_CALLED))


@pytest.mark.parametrize("passes", ([], None), ids=("as it is", "all passes"))
@pytest.mark.parametrize("name", NAMES)
def test_a_traced_rule_runs_on_other_numbers(name, passes):
    run = outcome(call_of(name))
    static = compile(run, passes=passes)
    static(*inputs(0))
    for seed in (1, 2):
        for found, wanted in zip(static(*inputs(seed)), run(*inputs(seed)), strict=True):
            assert (found is None) == (wanted is None)
            if wanted is not None:
                assert found.dtype is wanted.dtype
                np.testing.assert_allclose(found.numpy(force=True), wanted.numpy(force=True), 2e-5, 1e-5)
    assert len(static.plans) == 1


def test_every_operation_is_traced():
    with Names() as names:
        for name in NAMES:
            outcome(call_of(name))(*inputs(0))
    missing = set(OPERATIONS) - names.seen - set(NOT_CALLED)
    assert not missing
