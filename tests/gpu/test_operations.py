"""Every operation on a GPU: the CPU's results and derivatives, and no copy to the CPU on the way.

The cases are those that stand beside PyTorch in ``tests/ops``.  They run on
the stand-in for CuPy everywhere, and on CuPy itself where there is a GPU.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit as torch
from tests.gpu import standin
from tests.ops.case import Case, flat
from tests.ops.cases import CASES

IDS = [f"{case.name}-{number}" for number, case in enumerate(CASES)]
every_case = pytest.mark.parametrize("case", CASES, ids=IDS)


FOR_THE_CPU = {
    *("apply_", "cpu", "is_nonzero", "map_", "tensor", "Tensor", "tensor_split", "to"),
    *("asarray", "from_dlpack", "from_numpy", "frombuffer", "type"),
    *("arange", "cov", "ctc_loss", "ctc_loss_backward", "linspace", "segment_reduce"),
}
"""Calls whose results are on the CPU, or that make Python numbers of a tensor: ends, lengths, counts."""

DRAWN_FROM_GIVEN = {"bernoulli", "bernoulli_", "binomial", "multinomial", "normal", "poisson"}
"""Draws of which a GPU's tensor says how: the generator is the CPU's, so that one seed gives one stream."""

STEP_BY_STEP = {"linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.ldl_solve", "plain_ldl"}
"""Eliminations that look for a pivot at each step: the CPU does them, and the GPU gets the result."""

SAY_THE_DEVICE = {"get_device", "type", "typename"}


def writes_twice(case: Case) -> bool:
    """Whether several values go to one place: on a GPU nobody knows which of them stays, as in PyTorch."""
    indices = [array for array in case.arrays if array.dtype.kind == "i"]
    return case.name in ("scatter", "scatter_") and any(len(np.unique(each)) < each.size for each in indices)


def run(case: Case, device: str, precision: str = "float32") -> tuple[list[Any], list[Any], list[Any]]:
    """The results on ``device``, and the first and second derivatives of a weighted sum of them."""
    torch.manual_seed(0)
    with torch.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = []
        for array in case.arrays:
            array = array.astype(precision) if array.dtype.kind == "f" else array
            tensors.append(torch.tensor(array, requires_grad=array.dtype.kind == "f"))
        standin.copies.clear()
        results = flat(case.call(torch, *tensors))
        leaves = [each for each in tensors if each.requires_grad]
        first, seeds = gradients(results, leaves, 1)
        second, _ = gradients(first, leaves + seeds, 100)
        return results, first, second


def gradients(results: list[Any], leaves: list[Any], seed: int) -> tuple[list[Any], list[Any]]:
    ends = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    if not ends or not leaves:
        return [None] * len(leaves), []
    random = np.random.RandomState(seed)
    seeds = [
        torch.tensor(random.uniform(-1, 1, tuple(end.shape))).to(end.dtype).requires_grad_() for end in ends
    ]
    return list(torch.autograd.grad(ends, leaves, seeds, create_graph=True, allow_unused=True)), seeds


def is_same(theirs: Any, ours: Any) -> bool:
    """Whether two are equal; where nothing depends on a leaf, its gradient may be None or zeros."""
    gradients = [each for each in (theirs, ours) if isinstance(each, torch.Tensor)]
    return not any(each.detach().cpu().numpy().any() for each in gradients) if gradients else theirs == ours


@every_case
def test_the_results_are_those_of_the_cpu(gpu: str, case: Case) -> None:
    """On the current GPU, and on the second where there are two: what computes goes where its tensors are."""
    here = run(case, "cpu")
    for where in ("cuda:0", "cuda:1")[: torch.cuda.device_count()]:
        there = run(case, where)
        copied = list(standin.copies)
        assert torch.cuda.current_device() == 0
        for theirs, ours in zip(there, here):
            assert len(theirs) == len(ours)
            for theirs_one, ours_one in zip(theirs, ours):
                compare(case, where, theirs_one, ours_one)
        assert not copied or case.name in FOR_THE_CPU | DRAWN_FROM_GIVEN | STEP_BY_STEP, (
            f"copied to the CPU: {copied}"
        )


def compare(case: Case, where: str, theirs: Any, ours: Any) -> None:
    if not isinstance(ours, torch.Tensor) or not isinstance(theirs, torch.Tensor):
        assert is_same(theirs, ours) or case.name in SAY_THE_DEVICE
        return
    assert str(theirs.device) == where or case.name in FOR_THE_CPU, "the result left the GPU"
    assert theirs.dtype == ours.dtype and theirs.shape == ours.shape
    if not writes_twice(case):
        found, expected = theirs.detach().cpu().numpy(), ours.detach().numpy()
        # A GPU adds up in another order: what nearly cancels is as exact as what it is made of.
        largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.1)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * largest)


LARGE = {
    "add": lambda T, x: x + x,
    "mul": lambda T, x: x * x,
    "exp": lambda T, x: x.exp(),
    "relu": lambda T, x: x.relu(),
    "sigmoid": lambda T, x: x.sigmoid(),
    "tanh": lambda T, x: x.tanh(),
    "gelu": lambda T, x: T.nn.functional.gelu(x),
    "silu": lambda T, x: T.nn.functional.silu(x),
    "leaky_relu": lambda T, x: T.nn.functional.leaky_relu(x),
    "clamp": lambda T, x: x.clamp(-0.5, 0.5),
    "where": lambda T, x: T.where(x > 0, x, x * 2),
    "maximum": lambda T, x: T.maximum(x, -x),
    "abs": lambda T, x: x.abs(),
    "pow": lambda T, x: x**3,
    "sqrt": lambda T, x: (x * x + 1).sqrt(),
    "sum": lambda T, x: x.sum(),
    "sum of rows": lambda T, x: x.sum(1),
    "mean": lambda T, x: x.mean(0),
    "var": lambda T, x: x.var(1),
    "max": lambda T, x: x.max(1).values,
    "sort": lambda T, x: x.sort(1).values,
    "topk": lambda T, x: x.topk(3).values,
    "cumsum": lambda T, x: x.cumsum(1),
    "prod": lambda T, x: (x / 10 + 1).prod(1),
    "softmax": lambda T, x: x.softmax(1),
    "log_softmax": lambda T, x: x.log_softmax(1),
    "logsumexp": lambda T, x: x.logsumexp(1),
    "norm": lambda T, x: x.norm(dim=1),
    "layer_norm": lambda T, x: T.nn.functional.layer_norm(x, (280,)),
    "batch_norm": lambda T, x: T.nn.functional.batch_norm(x, None, None, training=True),
    "cross_entropy": lambda T, x: T.nn.functional.cross_entropy(x, T.arange(280, device=x.device)),
    "bce": lambda T, x: T.nn.functional.binary_cross_entropy_with_logits(x, x.detach().sigmoid()),
    "conv": lambda T, x: T.nn.functional.conv2d(x.reshape(4, 1, 140, 140), T.ones(2, 1, 3, 3).to(x.device)),
    "max_pool": lambda T, x: T.nn.functional.max_pool2d(x.reshape(4, 1, 140, 140), 2),
    "matmul": lambda T, x: x @ x / 280,
    "gather": lambda T, x: x[T.arange(280, device=x.device).flip(0)],
}
"""Calls of an array so large that on the CPU another path is taken, made for NumPy alone."""


@pytest.mark.parametrize("name", LARGE)
def test_large_arrays_take_the_plain_way(gpu: str, name: str) -> None:
    values = np.random.RandomState(0).uniform(-2, 2, (280, 280)).astype(np.float32)
    found = []
    for where in ("cpu", "cuda"):
        x = torch.tensor(values, device=where, requires_grad=True)
        standin.copies.clear()
        made = LARGE[name](torch, x)
        weights = torch.linspace(-1, 1, made.numel(), device=where).reshape(made.shape)
        (made * weights).sum().backward()
        assert not standin.copies
        found.append((made.detach().cpu().numpy(), x.grad.cpu().numpy()))
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(theirs, ours, rtol=1e-3, atol=1e-3 * np.abs(ours).max())
