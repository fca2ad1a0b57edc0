"""A warning names the learner's own line, not one of ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import autokit

F = autokit.nn.functional

WARNING: list[Callable[[Any], Any]] = [
    lambda x: F.softmax(x),
    lambda x: F.softmin(x),
    lambda x: F.mse_loss(x, x[:1]),
    lambda x: F.l1_loss(x, x, reduction="elementwise_mean"),
    lambda x: F.l1_loss(x, x, size_average=False),
    lambda x: F.kl_div(x, x),
    lambda x: F.cross_entropy(x.requires_grad_().softmax(1), autokit.tensor([0, 1])),
    lambda x: F.dropout2d(x[None]),
    lambda x: F.gumbel_softmax(x, eps=1e-3),
    lambda x: F.upsample(x[None], 2),
    lambda x: F.grid_sample(x[None, None], autokit.zeros(1, 1, 1, 2)),
    lambda x: autokit.var(x[:1], 0),
    lambda x: x[:1].std(dim=0),
    lambda x: autokit.abs(x, out=autokit.zeros(3)),
    lambda x: autokit.meshgrid(x[0], x[0]),
    lambda x: autokit.tensor(x),
    lambda x: autokit.where(x.byte(), x, 0),
    lambda x: autokit.lu(x),
    lambda x: autokit.qr(x),
    lambda x: autokit.cholesky(x @ x.T + autokit.eye(2)),
    lambda x: autokit.triangular_solve(x, x),
    lambda x: autokit.chain_matmul(x, x),
    lambda x: autokit.cross(autokit.ones(2, 3), autokit.ones(2, 3)),
    lambda x: autokit.nn.Softmax()(x),
    lambda x: autokit.nn.MSELoss()(x, x[:1]),
]


@pytest.mark.parametrize("call", WARNING)
def test_a_warning_points_at_the_call(call: Callable[[Any], Any]):
    with pytest.warns(UserWarning) as caught:
        call(autokit.tensor([[1.0, 2.0], [3.0, 4.0]]))
    where = inspect.getsourcelines(call)[1]
    told = [(each.filename, each.lineno) for each in caught if each.category is UserWarning]
    assert told == [(__file__, where)]
