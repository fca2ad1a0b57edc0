"""Calls that are refused, and calls with dtypes that are seldom met: on a GPU the answer is the CPU's.

NumPy and CuPy refuse in other words, or one of them does not refuse at all.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import autokit as torch
from autokit.nn import functional as F

pytestmark = pytest.mark.usefixtures("gpu")

CALLS: dict[str, Callable[[str], Any]] = {
    "neg bool": lambda d: -torch.tensor([True], device=d),
    "sub bool": lambda d: torch.tensor([True], device=d) - torch.tensor([False], device=d),
    "sub bool 1": lambda d: torch.tensor([True], device=d) - True,
    "bitand float": lambda d: torch.ones(2, device=d) & torch.ones(2, device=d),
    "invert float": lambda d: ~torch.ones(2, device=d),
    "lshift float": lambda d: torch.bitwise_left_shift(torch.ones(2, device=d), torch.ones(2, device=d)),
    "gcd bool": lambda d: torch.gcd(torch.tensor([True], device=d), torch.tensor([False], device=d)),
    "gcd float": lambda d: torch.gcd(torch.ones(2, device=d), torch.ones(2, device=d)),
    "positive bool": lambda d: +torch.tensor([True], device=d),
    "broadcast": lambda d: torch.ones(2, device=d) + torch.ones(3, device=d),
    "broadcast where": lambda d: torch.where(
        torch.ones(2, device=d) > 0, torch.ones(3, device=d), torch.ones(4, device=d)
    ),
    "matmul": lambda d: torch.ones(2, 3, device=d) @ torch.ones(2, 3, device=d),
    "mm vec": lambda d: torch.mm(torch.ones(2, device=d), torch.ones(2, 3, device=d)),
    "bmm": lambda d: torch.bmm(torch.ones(2, 2, 3, device=d), torch.ones(3, 3, 2, device=d)),
    "dot": lambda d: torch.dot(torch.ones(2, device=d), torch.ones(3, device=d)),
    "cat": lambda d: torch.cat([torch.ones(2, 3, device=d), torch.ones(2, 2, device=d)]),
    "stack": lambda d: torch.stack([torch.ones(2, 3, device=d), torch.ones(2, 2, device=d)]),
    "view": lambda d: torch.ones(2, 3, device=d).view(4, 2),
    "sum dim": lambda d: torch.ones(2, 3, device=d).sum(5),
    "max dim": lambda d: torch.ones(2, 3, device=d).max(5),
    "softmax dim": lambda d: torch.ones(2, 3, device=d).softmax(5),
    "transpose": lambda d: torch.ones(2, 3, device=d).transpose(0, 5),
    "squeeze": lambda d: torch.ones(2, 3, device=d).squeeze(5),
    "index": lambda d: torch.ones(2, 3, device=d)[5],
    "index neg": lambda d: torch.ones(2, 3, device=d)[:, -7],
    "index many": lambda d: torch.ones(2, 3, device=d)[0, 0, 0],
    "index float": lambda d: torch.ones(2, 3, device=d)[torch.ones(2, device=d)],
    "mask shape": lambda d: torch.ones(2, 3, device=d)[torch.ones(3, device=d) > 0],
    "set mask": lambda d: torch.ones(2, 3, device=d).__setitem__(
        torch.ones(2, 3, device=d) > 0, torch.ones(4, device=d)
    ),
    "set shape": lambda d: torch.ones(2, 3, device=d).__setitem__(0, torch.ones(4, device=d)),
    "add_ shape": lambda d: torch.ones(2, device=d).add_(torch.ones(3, 2, device=d)),
    "add_ dtype": lambda d: torch.ones(2, device=d).long().add_(torch.ones(2, device=d)),
    "int pow": lambda d: torch.tensor([2], device=d) ** -1,
    "gather": lambda d: torch.gather(torch.ones(2, 3, device=d), 0, torch.tensor([[5]], device=d)),
    "scatter": lambda d: torch.ones(2, 3, device=d).scatter(0, torch.tensor([[5]], device=d), 1.0),
    "embedding": lambda d: F.embedding(torch.tensor([9], device=d), torch.ones(3, 2, device=d)),
    "one_hot": lambda d: F.one_hot(torch.tensor([-1], device=d)),
    "nll": lambda d: F.cross_entropy(torch.ones(2, 3, device=d), torch.tensor([0, 9], device=d)),
    "linear": lambda d: F.linear(torch.ones(2, 3, device=d), torch.ones(4, 2, device=d)),
    "conv": lambda d: F.conv2d(torch.ones(1, 2, 4, 4, device=d), torch.ones(1, 3, 2, 2, device=d)),
    "conv small": lambda d: F.conv2d(torch.ones(1, 2, 2, 2, device=d), torch.ones(1, 2, 3, 3, device=d)),
    "pool": lambda d: F.max_pool2d(torch.ones(1, 2, 2, 2, device=d), 3),
    "layer_norm": lambda d: F.layer_norm(torch.ones(2, 3, device=d), (4,)),
    "batch_norm one": lambda d: F.batch_norm(torch.ones(1, 3, device=d), None, None, training=True),
    "mean int": lambda d: torch.ones(2, device=d).long().mean(),
    "argmax empty": lambda d: torch.ones(0, device=d).argmax(),
    "max empty": lambda d: torch.ones(0, device=d).max(),
    "median empty": lambda d: torch.ones(0, 3, device=d).max(0),
    "inv": lambda d: torch.linalg.inv(torch.zeros(2, 2, device=d)),
    "inv shape": lambda d: torch.linalg.inv(torch.zeros(2, 3, device=d)),
    "cholesky batch": lambda d: torch.linalg.cholesky(-torch.ones(3, 2, 2, device=d)),
    "solve": lambda d: torch.linalg.solve(torch.zeros(2, 2, device=d), torch.ones(2, device=d)),
    "item": lambda d: torch.ones(2, device=d).item(),
    "bool": lambda d: bool(torch.ones(2, device=d)),
    "int": lambda d: int(torch.ones(2, device=d)),
    "expand": lambda d: torch.ones(2, 3, device=d).expand(4, 3),
    "repeat": lambda d: torch.ones(2, 3, device=d).repeat(2),
    "unfold": lambda d: torch.ones(5, device=d).unfold(0, 9, 1),
    "topk": lambda d: torch.ones(2, device=d).topk(5),
    "kthvalue": lambda d: torch.ones(2, device=d).kthvalue(5),
    "masked_fill": lambda d: torch.ones(2, device=d).masked_fill(torch.ones(2, device=d), 1),
    "bincount": lambda d: torch.bincount(torch.tensor([-1], device=d)),
    "multinomial": lambda d: torch.multinomial(torch.zeros(3, device=d), 1),
    "bernoulli": lambda d: torch.bernoulli(torch.ones(3, device=d) * 2),
    "einsum": lambda d: torch.einsum("ij,jk->ik", torch.ones(2, 3, device=d), torch.ones(2, 3, device=d)),
    "backward": lambda d: (torch.ones(2, device=d, requires_grad=True) * 2).backward(),
    "bce": lambda d: F.binary_cross_entropy(torch.ones(2, device=d) * 3, torch.ones(2, device=d)),
    "index_add": lambda d: torch.ones(3, device=d).index_add(
        0, torch.tensor([5], device=d), torch.ones(1, device=d)
    ),
    "cross": lambda d: torch.linalg.cross(torch.ones(2, device=d), torch.ones(2, device=d)),
    "trace": lambda d: torch.ones(3, device=d).trace(),
    "quantile": lambda d: torch.ones(3, device=d).quantile(2.0),
    "logical ok": lambda d: torch.logical_and(torch.ones(2, device=d), torch.zeros(2, device=d)),
    "rsqrt int": lambda d: torch.tensor([4], device=d).rsqrt(),
    "floor bool": lambda d: torch.tensor([True], device=d).floor(),
    "sign bool": lambda d: torch.tensor([True], device=d).sign(),
    "abs bool": lambda d: torch.tensor([True], device=d).abs(),
    "pow bool": lambda d: torch.tensor([True], device=d) ** torch.tensor([True], device=d),
    "div bool": lambda d: torch.tensor([True], device=d) / torch.tensor([True], device=d),
    "fmod bool": lambda d: torch.fmod(torch.tensor([True], device=d), torch.tensor([True], device=d)),
    "max bool": lambda d: torch.tensor([True], device=d).max(),
    "cumsum bool": lambda d: torch.tensor([True, True], device=d).cumsum(0),
    "sort bool": lambda d: torch.tensor([True, False], device=d).sort(),
    "clamp bool": lambda d: torch.tensor([True], device=d).clamp(0, 1),
    "round int": lambda d: torch.tensor([15], device=d).round(decimals=-1),
    "reciprocal int": lambda d: torch.tensor([4], device=d).reciprocal(),
    "copysign int": lambda d: torch.copysign(torch.tensor([4], device=d), -1),
    "isnan int": lambda d: torch.tensor([4], device=d).isnan(),
    "uint8 neg": lambda d: -torch.tensor([1], dtype=torch.uint8, device=d),
    "half sum": lambda d: torch.full((3000,), 1.0, dtype=torch.float16, device=d).sum(),
    "bf16 add": lambda d: torch.ones(2, dtype=torch.bfloat16, device=d) + 1,
    "bf16 mm": lambda d: (
        torch.ones(2, 2, dtype=torch.bfloat16, device=d) @ torch.ones(2, 2, dtype=torch.bfloat16, device=d)
    ),
    "bf16 exp": lambda d: torch.ones(2, dtype=torch.bfloat16, device=d).exp(),
    "bf16 where": lambda d: torch.where(
        torch.ones(2, device=d) > 0, torch.ones(2, dtype=torch.bfloat16, device=d), 0.0
    ),
    "bf16 cat": lambda d: torch.cat([torch.ones(2, dtype=torch.bfloat16, device=d)] * 2),
    "bf16 sort": lambda d: torch.ones(2, dtype=torch.bfloat16, device=d).sort(),
    "bf16 gt": lambda d: torch.ones(2, dtype=torch.bfloat16, device=d) > 0,
    "bf16 abs": lambda d: torch.ones(2, dtype=torch.bfloat16, device=d).abs(),
    "bf16 max": lambda d: torch.ones(2, dtype=torch.bfloat16, device=d).max(),
    "bf16 add_": lambda d: torch.ones(2, dtype=torch.bfloat16, device=d).add_(1.5),
    "bf16 index": lambda d: torch.ones(2, dtype=torch.bfloat16, device=d)[torch.tensor([0], device=d)],
    "complex mul": lambda d: torch.ones(2, dtype=torch.complex64, device=d) * 1j,
    "complex abs": lambda d: torch.ones(2, dtype=torch.complex64, device=d).abs(),
}


def answer(call: Callable[[str], Any], where: str) -> tuple[str, str]:
    """The type and the text of the result, or of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = call(where)
        except Exception as error:
            made = error
    return type(made).__name__, re.sub(r",?\s*device='cuda:0'", "", str(made)).replace("cuda:0", "cpu")


@pytest.mark.parametrize("name", CALLS)
def test_the_answer_is_the_cpus(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")  # else errors come later: see test_late_errors.py
    assert answer(CALLS[name], "cuda") == answer(CALLS[name], "cpu")
